package cli

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
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/internal/build"
	"pawl/model"
	"pawl/report"
	"pawl/workflow"
)

// recipe trains models of an audit by the settings of one that was trained before.
type recipe struct {
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
	m, err := loadModel(dir)
	if err != nil {
		return nil, nil, err
	}
	advice := "--model takes the output directory of pawl fit or pawl train, with its statement.json"
	text, err := os.ReadFile(filepath.Join(dir, workflow.StatementFile))
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(dir)), workflow.StatementFile))
	}
	if err != nil {
		return nil, nil, &usageError{fmt.Sprintf("%s: there is no statement beside the model, so its settings are unknown", dir), advice}
	}
	s := &report.Statement{}
	if err := json.Unmarshal(text, s); err != nil || s.Software.Name != "pawl" {
		return nil, nil, &usageError{fmt.Sprintf("%s: the statement beside the model cannot be read", dir), advice}
	}
	if m.Task != model.Classification {
		return nil, nil, &usageError{"membership inference needs a classifier, and this model predicts a number", ""}
	}
	return m, s, nil
}

func (a *app) miaModel(ctx context.Context, f miaFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	kind, err := parseAttack(f.attack)
	if err != nil {
		return err
	}
	if f.epsilon != "" || f.delta != "" || f.coins {
		return &usageError{"--epsilon, --delta and --coins need --scores", "with --model, the claim comes from the model's statement"}
	}
	if f.shadows < 0 || f.shadows > 1024 || f.records < 0 {
		return &usageError{"--shadows must be between 1 and 1024, and --records at least 1", ""}
	}
	src, seed, err := auditSource(f.seed)
	if err != nil {
		return err
	}
	m, s, err := reopen(f.model)
	if err != nil {
		return err
	}
	r, err := a.recipe(ctx, f, m, s, seed, src)
	if err != nil {
		return err
	}
	if f.release != "" && !r.public {
		return a.releaseMIA(ctx, f, r, seed, src)
	}
	if f.index != "" {
		return a.attackWeights(f, kind, r, src, o)
	}
	return a.attackRecipe(ctx, f, kind, r, src, seed, o.Rates, o.Priors)
}

func (a *app) attackRecipe(ctx context.Context, f miaFlags, kind inference.Kind, r *recipe, src *entropy.Source, seed *uint64, rates, priors []float64) error {
	nominal := inference.Nominal(kind, len(r.label), f.shadows)
	first, err := r.plan(max(nominal, 1), 0)
	if err != nil {
		return err
	}
	claim, at, err := claimsOf(first, len(r.label))
	if err != nil {
		return err
	}
	bar := newProgress(a.err, 0)
	audit := inference.Audit{
		Label: r.label, Classes: r.classes, Attack: kind, Shadows: f.shadows, Claim: claim, At: at, Rates: rates, Priors: priors,
		Seed:     [2]uint64{src.Split("members").Uint64(), src.Split("members", 1).Uint64()},
		Progress: func(done, of int) { bar.step("target and shadow models", done, of) },
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
	bar.done()
	if err != nil {
		return attackError("audit of "+f.model, err)
	}
	text, err := json.Marshal(result.Manifest)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	out := &miaAudit{
		Attack: string(kind), Model: f.model, Data: r.data, Internal: !r.public, Claim: claim, Report: result.Report, Classes: result.Classes, OneRun: result.OneRun,
		Shadows: result.Shadows, Trained: result.Trained, Pools: result.Sizes, Manifest: hex.EncodeToString(sum[:]), Seed: seed,
		Notes: []string{"the audit trained its own target, with the settings of the model, on a random draw of the records; the weights in the directory were not attacked"},
	}
	for _, r := range reportsOf(result, r.public) {
		r.Notes = slices.DeleteFunc(r.Notes, func(n string) bool { return strings.Contains(n, "stay inside") })
	}
	if claim == nil {
		out.Notes = append(out.Notes, "the training makes no claim that could be rejected")
	}
	if f.release != "" {
		out.Notes = append(out.Notes, "the data are public: the results may be published as they are, and --release charged nothing")
	}
	if f.shadows > 0 && result.Shadows == 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("attack %s needs no shadow models, so none were trained", kind))
	}
	return a.finishMIA(out, result.Manifest, f.out)
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
	q, err := plan.Statement(build.Version(), reproducible)
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
func (r *recipe) train(ctx context.Context, plan *workflow.Plan, members []int) ([]float64, error) {
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
	own := throwAway()
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

// throwAway is a ledger in memory.
func throwAway() workflow.Env {
	return workflow.Env{
		Ledger: ledger.New(ledger.NewMemory(), pricing.Accountant{}, ledger.Options{User: "audit"}), Digest: bytes.Repeat([]byte{1}, len(ledger.Hash{})),
	}
}

// some are n of the numbers below of, in random order, or all of them where n is 0. An
// index file speaks of all rows in their order.
func (f miaFlags) some(n, of int, src *entropy.Source) ([]int, error) {
	if n > of {
		return nil, &usageError{fmt.Sprintf("--records %d: there are %d", n, of), ""}
	}
	order := rand.New(rand.NewPCG(src.Split("records").Uint64(), 0)).Perm(of)
	if f.index != "" {
		slices.Sort(order)
	} else if n > 0 {
		order = order[:n]
	}
	return order, nil
}

// ledgersWord asks the ledger whether a data set is public: its schema alone does not
// decide.
func (a *app) ledgersWord(ctx context.Context, name string, sc *schema.Schema) error {
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	return source.EffectivePublic(ctx, l, name, sc)
}

// sameData refuses a data set that is not the one of the training. The fingerprint is
// keyed: it tells something in the ledger of that training alone, so that for a built-in
// data set, whose bytes are checked, the name decides.
func (a *app) sameData(ctx context.Context, s *report.Statement, name string, builtin bool, content io.Reader) error {
	if s.Data.Name != name {
		return &usageError{fmt.Sprintf("the model was trained on data set %q, not %q", s.Data.Name, name), "--data " + shell(s.Data.Name)}
	}
	if builtin {
		return nil
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	digest, err := l.Digest(ctx, content)
	if err != nil {
		return err
	}
	if hex.EncodeToString(digest[:8]) != s.Data.Fingerprint {
		return &usageError{fmt.Sprintf("%s: the file or the ledger is not the one used in training", name), "give the file and the --ledger of the training run"}
	}
	return nil
}
