package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"

	"pawl/core/accountant/calibrate"
	"pawl/core/entropy"
	"pawl/data/schema"
	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
	"pawl/internal/cost"
	"pawl/internal/usage"
)

// Mechanism is what to audit, in the words of an operator.
type Mechanism struct {
	// Name is a mechanism, a specification, or "all".
	Name string
	// Epsilon is what to claim, "" for that of the tested noise.
	Epsilon string
	// Runs is the number of runs on each of two data sets; all are audited with fewer unless
	// RunsGiven.
	Runs      string
	RunsGiven bool
	// Confidence is that of a conviction over all tests, "" for the usual one.
	Confidence string
	Seed       string    // repeats an audit, "" for none
	Log        io.Writer // of what is done now
}

// mostRuns keeps the scores of an audit in memory.
const mostRuns = 20_000_000

// Worlds is what an audit of one mechanism on two data sets found.
type Worlds struct {
	audit.Result
	Name string `json:"name"`
	// MostShown is the largest bound that so many runs can show.
	MostShown float64 `json:"most_that_the_runs_can_show"`
	// Specifications are those of the same function of core; absent among those of all.
	Specifications []audit.Conformity `json:"specifications,omitempty"`
	Tests          int                `json:"tests,omitempty"`
	Seed           *uint64            `json:"seed,omitempty"`
	Notes          []string           `json:"notes"`
}

// Mechanisms is what several audits found.
type Mechanisms struct {
	Specifications []audit.Conformity `json:"specifications"`
	Worlds         []Worlds           `json:"worlds"`
	// Tests is the number of tests of this command, over all of which Confidence holds.
	Tests      int      `json:"tests"`
	Confidence float64  `json:"confidence"`
	Convicted  []string `json:"convicted"`
	Seed       *uint64  `json:"seed,omitempty"`
	Notes      []string `json:"notes"`
}

// runsOfAll is the number of runs of each where all are audited and none is asked for.
const runsOfAll = 5000

// AuditMechanisms holds specifications and mechanisms to what they claim, with one error over
// all tests. A conviction is no error.
func AuditMechanisms(ctx context.Context, f Mechanism) (*Mechanisms, error) {
	runs, err := cost.ParseWhole("runs", f.Runs)
	if err != nil {
		return nil, err
	}
	if f.Name == "all" && !f.RunsGiven {
		runs = runsOfAll
	}
	if runs < 100 || runs > mostRuns {
		return nil, usage.New(fmt.Sprintf("--runs: %s is not between 100 and %d", f.Runs, mostRuns), "20000 runs detect half the noise at epsilon 1")
	}
	confidence, err := parseConfidence(f.Confidence)
	if err != nil {
		return nil, err
	}
	src, seed, err := Source(f.Seed)
	if err != nil {
		return nil, err
	}
	specs, worlds, err := chooseAudits(f.Name, f.Epsilon)
	if err != nil {
		return nil, err
	}
	out := &Mechanisms{Confidence: confidence, Specifications: []audit.Conformity{}, Worlds: []Worlds{}, Convicted: []string{}, Seed: seed, Notes: []string{}}
	// Every specification and every pair of worlds has an equal share of the error, which its
	// own tests share again: an honest build passes all of them with the stated confidence.
	share := (1 - confidence) / float64(len(specs)+len(worlds))
	for _, s := range specs {
		fmt.Fprintf(f.Log, "stage: specification, %s\n", s.Name)
		r, err := audit.Conform(ctx, s, share, src)
		if err != nil {
			return nil, err
		}
		out.Tests += len(r.Checks)
		if r.Convicted {
			out.Convicted = append(out.Convicted, s.Slug())
		}
		out.Specifications = append(out.Specifications, r)
	}
	for _, m := range worlds {
		own := src
		if f.Name == "all" {
			own = src.Split(m.Name)
		}
		r, err := f.auditWorlds(ctx, m, int(runs), 1-share, own)
		if err != nil {
			return nil, err
		}
		out.Tests += len(r.Verdict.Evidence)
		if r.Verdict.Convicted {
			out.Convicted = append(out.Convicted, m.Slug())
		}
		out.Worlds = append(out.Worlds, r)
	}
	out.Notes = append(out.Notes, fmt.Sprintf("%s confidence holds over all %d tests of this command together (Bonferroni): a correct program passes all of them with that probability", bound.Percent(out.Confidence), out.Tests))
	return out, nil
}

// chooseAudits is everything, or a pair of worlds with the specifications of the same
// function, or one specification.
func chooseAudits(name, epsilon string) ([]audit.Specification, []audit.Mechanism, error) {
	if name == "all" {
		if epsilon != "" {
			return nil, nil, usage.New("--epsilon needs a single mechanism", "give one mechanism with --name")
		}
		worlds, err := audit.Mechanisms()
		return audit.Specifications(), worlds, err
	}
	var specs []audit.Specification
	for _, s := range audit.Specifications() {
		if s.Slug() == name || s.Name == name {
			if epsilon != "" {
				return nil, nil, usage.New("--epsilon does not apply to a specification", "leave it out")
			}
			return append(specs, s), nil, nil
		}
	}
	m, err := chooseMechanism(name, epsilon)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range audit.Specifications() {
		if s.Entry == m.Entry {
			specs = append(specs, s)
		}
	}
	return specs, []audit.Mechanism{m}, nil
}

func (f *Mechanism) auditWorlds(ctx context.Context, m audit.Mechanism, runs int, confidence float64, src *entropy.Source) (out Worlds, err error) {
	out = Worlds{Name: m.Slug(), Notes: []string{}}
	if out.MostShown, err = mostShown(runs/2, m.Delta); err != nil {
		return out, err
	}
	claim, err := m.Claim()
	if err != nil {
		return out, err
	}
	if out.MostShown <= claim.Epsilon {
		out.Notes = append(out.Notes, fmt.Sprintf("NO POWER: %d runs can show at most epsilon %.3g, which is not above the claim: increase --runs", runs, out.MostShown))
	}
	fmt.Fprintf(f.Log, "stage: %s, %d runs on each of two data sets\n", m.Name, runs)
	if out.Result, err = audit.Run(ctx, m, audit.Options{Runs: runs, Source: src, Confidence: confidence}); err != nil {
		return out, err
	}
	switch v := out.Verdict; {
	case v.Convicted:
	case v.Suspected:
		out.Notes = append(out.Notes, "the lower bound (95 %) is above the claim, which happens by chance in one of 20 audits of a true claim: audit again with more runs")
	default:
		out.Notes = append(out.Notes, Proves)
	}
	return out, nil
}

func chooseMechanism(name, epsilon string) (m audit.Mechanism, err error) {
	if epsilon == "" {
		m, err = audit.Find(name)
	} else {
		var e float64
		if e, err = cost.ParseEpsilon(epsilon, false); err != nil {
			return m, err
		}
		m, err = audit.Calibrated(name, e)
	}
	switch {
	case errors.Is(err, audit.ErrUnknown):
		var names []string
		if all, err := audit.Mechanisms(); err == nil {
			for _, m := range all {
				names = append(names, m.Slug())
			}
		}
		return m, usage.Newf(schema.Meant(name, names, "pawl audit mechanism --name list shows all"), "unknown mechanism %q", name)
	case errors.Is(err, calibrate.ErrUnreachable):
		return m, usage.New(fmt.Sprintf("--epsilon: %s is out of range for %s", epsilon, m.Name), "audits work for epsilon from about 0.05 to 10")
	}
	return m, err
}
