package workflow

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"pawl/core/accountant"
	"pawl/evidence/advise"
	mistake "pawl/internal/usage"
)

// ErrHopeless is every *HopelessError by errors.Is.
var ErrHopeless = errors.New("hopeless by public rules")

// HopelessError refuses a job that public rules call hopeless, before anything is charged.
type HopelessError struct{ Rules []advise.Rule }

func (e *HopelessError) Error() string {
	return "hopeless by public rules: " + reasons(e.Rules)
}

// Hint says what would help, and how to run the job all the same.
func (e *HopelessError) Hint() string {
	var mends []string
	for _, r := range e.Rules {
		mends = append(mends, r.Changes)
	}
	return strings.Join(mends, "; ") + "; or run it nevertheless with --anyway, which every statement records (evidence: pawl advise rules)"
}

// ExitStatus is that of wrong usage.
func (e *HopelessError) ExitStatus() int { return mistake.Status }

// Is says that it is ErrHopeless and an operator's mistake.
func (e *HopelessError) Is(target error) bool {
	return target == ErrHopeless || target == mistake.Err
}

func reasons(rules []advise.Rule) string {
	var all []string
	for _, r := range rules {
		all = append(all, fmt.Sprintf("%s (%s)", strings.TrimPrefix(r.Rule, "stop: "), r.Because))
	}
	return strings.Join(all, "; ")
}

// Worth refuses a plan that public rules call hopeless, with a *HopelessError; with anyway it
// is a warning of the plan, and so of its statement. What costs nothing, or replays a published
// procedure, passes.
func (plan *Plan) Worth(anyway bool) error {
	rules := plan.hopeless()
	switch {
	case len(rules) == 0:
		return nil
	case !anyway:
		return &HopelessError{rules}
	}
	plan.Warnings = append(plan.Warnings, "hopeless by public rules, and run only with --anyway: "+reasons(rules))
	return nil
}

func (plan *Plan) hopeless() []advise.Rule {
	p := plan.problem
	if d := plan.job.describe(); plan.free || p.Workflow == STW || d.unprotected || d.asPublished {
		return nil
	}
	rules := advise.Hopeless(plan.wholeFacts(), p.Dense)
	if t, ok := plan.job.(*train); ok {
		rules = append(rules, t.of.stuck()...)
	}
	return rules
}

// wholeFacts are the facts of the whole job as if it were one release, which flatters it.
func (plan *Plan) wholeFacts() advise.Facts {
	p := plan.problem
	f := advise.Facts{Schema: p.Schema, Target: p.Target, Task: p.task, Rows: float64(p.Rows) * plan.trainScope.Fraction(), Delta: p.delta,
		Preset: p.Preset, Attributes: p.Features, Learner: advise.Learner(p.Model)}
	f.Epsilon, _ = p.epsilon.Float64()
	if p.delta > 0 {
		var err error
		if f.NoiseMultiplier, err = accountant.GaussianNoiseMultiplier(f.Epsilon, p.delta); err != nil && f.Epsilon < 1 {
			f.NoiseMultiplier = math.Inf(1) // no noise is enough
		}
	}
	return f
}

// stuck are the rules by which the steps of the training lead nowhere.
func (n *training) stuck() []advise.Rule {
	rate := 1.0
	if ratio, _, ok := n.besideRule(); ok {
		rate = ratio
	}
	return advise.Step(rate, n.ClippingNorm)
}
