package membership

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/internal/build"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/model"
	"pawl/report"
	"pawl/store/memory"
	"pawl/workflow"
)

// Options say what is attacked and how.
type Options struct {
	// Model is the output directory of a training, Data what it was trained on. Index, where
	// given, is a file of the rows that it was trained on: its weights are attacked then.
	Model, Data, Schema, Index, DataDir string
	Attack                              inference.Kind
	Shadows, Records                    int
	Rates, Priors                       []float64
	Source                              *entropy.Source
	Seed                                *uint64 // of Source, nil for none
	// Ledger decides whether the data are public, and is charged by Release alone.
	Ledger   *ledger.Ledger
	Progress func(stage string, done, of int)
}

// Recipe trains models of an audit by the settings of one that was trained before.
type Recipe struct {
	o         Options
	model     *model.Model
	statement *report.Statement
	// data is the name of the data set, label the class of every record, and classes their
	// number; declared is the number of rows that the schema makes public, or 0.
	data     string
	label    []int
	classes  int
	public   bool
	declared int64
	// plan makes a plan for a nominal number of rows; number sets its randomness.
	plan func(nominal, number int) (*workflow.Plan, error)
	// env seals the members; some other records are scored, since every plan scores.
	env func(plan *workflow.Plan, key *intake.Key, members, others []int) (workflow.Env, error)
	// answer returns the probabilities of every record.
	answer func(m *model.Model) []float64
}

// reopen reads a model with its statement.
func reopen(dir string) (*model.Model, *report.Statement, error) {
	m, err := request.LoadModel(dir)
	if err != nil {
		return nil, nil, err
	}
	advice := "--model takes the output directory of pawl fit or pawl train, with its statement.json"
	text, err := os.ReadFile(filepath.Join(dir, workflow.StatementFile))
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(dir)), workflow.StatementFile))
	}
	if err != nil {
		return nil, nil, usage.New(fmt.Sprintf("%s: there is no statement beside the model, so its settings are unknown", dir), advice)
	}
	s := &report.Statement{}
	if err := json.Unmarshal(text, s); err != nil || s.Software.Name != "pawl" {
		return nil, nil, usage.New(fmt.Sprintf("%s: the statement beside the model cannot be read", dir), advice)
	}
	if m.Task != model.Classification {
		return nil, nil, usage.New("membership inference needs a classifier, and this model predicts a number", "")
	}
	return m, s, nil
}

// Open reads the model and its data.
func Open(ctx context.Context, o Options) (*Recipe, error) {
	m, s, err := reopen(o.Model)
	if err != nil {
		return nil, err
	}
	r := &Recipe{o: o, model: m, statement: s, classes: len(m.Classes())}
	if m.OfTable() {
		return r, r.openTable(ctx)
	}
	return r, r.openImages(ctx)
}

// Public says whether the data are.
func (r *Recipe) Public() bool { return r.public }

// Attack attacks a target of its own, or where an index is given the weights of the model.
func (r *Recipe) Attack(ctx context.Context) (*Audit, *attack.Manifest, error) {
	if r.o.Index != "" {
		return r.attackWeights()
	}
	f, kind, src := r.o, r.o.Attack, r.o.Source
	nominal := inference.Nominal(kind, len(r.label), f.Shadows)
	first, err := r.plan(max(nominal, 1), 0)
	if err != nil {
		return nil, nil, err
	}
	claim, at, err := claimsOf(first, len(r.label))
	if err != nil {
		return nil, nil, err
	}
	audit := inference.Audit{
		Label: r.label, Classes: r.classes, Attack: kind, Shadows: f.Shadows, Claim: claim, At: at, Rates: f.Rates, Priors: f.Priors,
		Seed:     [2]uint64{src.Split("members").Uint64(), src.Split("members", 1).Uint64()},
		Progress: func(done, of int) { f.Progress("target and shadow models", done, of) },
		Train: func(ctx context.Context, number int, members []int) ([]float64, error) {
			plan, err := r.plan(nominal, number)
			if err != nil {
				return nil, err
			}
			return r.train(ctx, plan, members)
		},
	}
	for i := range r.label {
		audit.Identity = append(audit.Identity, fmt.Append(nil, i))
	}
	result, err := audit.Run(ctx)
	if err != nil {
		return nil, nil, Refusal("audit of "+f.Model, err)
	}
	text, err := json.Marshal(result.Manifest)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(text)
	out := &Audit{
		Attack: string(kind), Model: f.Model, Data: r.data, Internal: !r.public, Claim: claim, Report: result.Report, Classes: result.Classes, OneRun: result.OneRun,
		Shadows: result.Shadows, Trained: result.Trained, Pools: result.Sizes, Manifest: hex.EncodeToString(sum[:]), Seed: f.Seed,
		Notes: []string{"the audit trained its own target, with the settings of the model, on a random draw of the records; the weights in the directory were not attacked"},
	}
	for _, r := range reportsOf(result, r.public) {
		r.Notes = slices.DeleteFunc(r.Notes, func(n string) bool { return strings.Contains(n, "stay inside") })
	}
	if claim == nil {
		out.Notes = append(out.Notes, "the training makes no claim that could be rejected")
	}
	if f.Shadows > 0 && result.Shadows == 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("attack %s needs no shadow models, so none were trained", kind))
	}
	return out, result.Manifest, nil
}

// reportsOf are all reports on public records, of which the word on numbers that must not
// leave is not true.
func reportsOf(r *inference.Result, public bool) []*attack.Report {
	if !public {
		return nil
	}
	all := []*attack.Report{r.Report}
	for _, c := range r.Classes {
		if c.Report != nil {
			all = append(all, c.Report)
		}
	}
	return all
}

// claimsOf is what a training promises at its own δ, and at one that an audit in one run
// over so many records can judge; nil where it promises nothing.
func claimsOf(plan *workflow.Plan, records int) (claim, at *bound.Claim, err error) {
	q, err := plan.Statement(build.Version(), Reproducible)
	if err != nil {
		return nil, nil, err
	}
	event := dp.Unscoped(plan.Event)
	r, err := accountant.Epsilon(event, dp.AddOrRemoveOne, float64(q.Privacy.Delta), accountant.MethodMin)
	if err != nil || !(r.Epsilon < 1e6) {
		return nil, nil, nil // no bound, no claim
	}
	claim = &bound.Claim{Epsilon: r.Epsilon, Delta: float64(q.Privacy.Delta)}
	at = &bound.Claim{Delta: min(claim.Delta, inference.Delta(records))}
	r, err = accountant.Epsilon(event, dp.AddOrRemoveOne, at.Delta, accountant.MethodMin)
	at.Epsilon = r.Epsilon
	return claim, at, err
}

// train runs a plan, booked in a ledger of its own that is thrown away: what leaves the
// audit is public, internal, or booked by releaseMIA.
func (r *Recipe) train(ctx context.Context, plan *workflow.Plan, members []int) ([]float64, error) {
	in := make(map[int]bool, len(members))
	for _, m := range members {
		in[m] = true
	}
	var others []int
	for i := range r.label {
		if !in[i] && len(others) < 200 {
			others = append(others, i)
		}
	}
	own := ThrowAway()
	key, err := own.Ledger.Key(ctx, r.data)
	if err != nil {
		return nil, err
	}
	env, err := r.env(plan, key, members, others)
	if err != nil {
		return nil, err
	}
	env.Ledger, env.Digest = own.Ledger, own.Digest
	out, err := plan.Run(ctx, env)
	if err != nil {
		return nil, err
	}
	return r.answer(out.Model), nil
}

// ThrowAway is a ledger in memory.
func ThrowAway() workflow.Env {
	return workflow.Env{
		Ledger: ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "audit"}), Digest: bytes.Repeat([]byte{1}, len(ledger.Hash{})),
	}
}

// some are n of the numbers below of, in random order, or all of them where n is 0. An
// index file speaks of all rows in their order.
func (f Options) some(n, of int) ([]int, error) {
	if n > of {
		return nil, usage.New(fmt.Sprintf("--records %d: there are %d", n, of), "")
	}
	order := rand.New(rand.NewPCG(f.Source.Split("records").Uint64(), 0)).Perm(of)
	if f.Index != "" {
		slices.Sort(order)
	} else if n > 0 {
		order = order[:n]
	}
	return order, nil
}

// sameData refuses a data set that is not the one of the training. The fingerprint is
// keyed: it tells something in the ledger of that training alone, so that for a built-in
// data set, whose bytes are checked, the name decides.
func (r *Recipe) sameData(ctx context.Context, name string, builtin bool, content io.Reader) error {
	s := r.statement
	if s.Data.Name != name {
		return usage.New(fmt.Sprintf("the model was trained on data set %q, not %q", s.Data.Name, name), "--data "+usage.Shell(s.Data.Name))
	}
	if builtin {
		return nil
	}
	digest, err := r.o.Ledger.Digest(ctx, content)
	if err != nil {
		return err
	}
	if hex.EncodeToString(digest[:8]) != s.Data.Fingerprint {
		return usage.New(fmt.Sprintf("%s: the file or the ledger is not the one used in training", name), "give the file and the --ledger of the training run")
	}
	return nil
}
