package campaign

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/source"
	"pawl/evidence/audit"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/evidence/audit/membership"
	"pawl/internal/build"
	"pawl/internal/cost"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/workflow"
)

// Training is one training to audit with canaries.
type Training struct {
	Train request.Train // its settings and the seed of the audit
	// Data is a built-in set of images; DataDir holds those.
	Data, DataDir string
	Canaries      int       // their number, at least 100
	Runs          int       // training runs whose evidence is pooled, 1 to 50; white box alone takes several
	BlackBox      bool      // insert images and use the model's answers alone
	Log           io.Writer // of what is done now
	// Progress begins to show a training of about that time: what to call with each step, and
	// what to call at its end.
	Progress func(expected time.Duration) (step func(stage string, done, steps int), done func())
}

// mostCanaries keeps a lot of them small; a network has room for as many as its largest weight
// has numbers.
const mostCanaries = 1 << 16

// mostTrainings keeps an audit within minutes.
const mostTrainings = 50

// fewestCanaries shows something at epsilon 1 and less.
const fewestCanaries = 100

// Canaries is what an audit of one training with canaries found.
type Canaries struct {
	Data   string `json:"data"`
	Model  string `json:"model"`
	Access string `json:"access"` // "white_box_gradients" or "black_box"
	// Stated is the claim as the training states it; OneRun holds the same at the δ that
	// the audit judges at.
	Stated   bound.Claim       `json:"stated_claim"`
	Privacy  TrainedWith       `json:"training"`
	Canaries int               `json:"canaries"`
	OneRun   *inference.OneRun `json:"one_run"`
	// ShownClaim is the claim at the δ of the bound at 95 %, and Share that bound over it.
	ShownClaim bound.Claim `json:"claim_of_the_bound"`
	Share      float64     `json:"bound_over_claim"`
	// MostShown is what so many canaries could show at most, were every guess right.
	MostShown float64 `json:"most_that_the_canaries_can_show"`
	// Specification is what a white-box audit tests first: core behind this network's layers.
	Specification []audit.Check `json:"specification,omitempty"`
	// Curve holds the canaries against the whole trade-off curve of the claim.
	Curve *bound.FDP `json:"one_run_against_the_curve,omitempty"`
	// Runs holds several runs against that curve, in place of the verdict of the first.
	Runs *bound.FewRuns `json:"few_runs_against_the_curve,omitempty"`
	// Tests is the number of tests over which Confidence holds, and Convicted what they say.
	Tests      int            `json:"tests"`
	Confidence float64        `json:"confidence"`
	Convicted  bool           `json:"convicted"`
	Report     *attack.Report `json:"report,omitempty"`
	Seed       *uint64        `json:"seed,omitempty"`
	Notes      []string       `json:"notes"`
}

// TrainedWith are the settings of the training.
type TrainedWith struct {
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	ClippingNorm    float64 `json:"clipping_norm"`
}

// AuditTraining trains once with canaries, holds the run to its specification and to its claim,
// and says what was rejected. A conviction is no error.
func AuditTraining(ctx context.Context, f Training) (*Canaries, error) {
	if _, ok := dataset.Images(f.Data); !ok {
		return nil, usage.New(fmt.Sprintf("%s is not a built-in set of images, which canaries need", f.Data), "pawl data list")
	}
	if f.Canaries < fewestCanaries || f.Canaries > mostCanaries {
		return nil, usage.New(fmt.Sprintf("--canaries: %d is not between %d and %d", f.Canaries, fewestCanaries, mostCanaries), "use 5000 or more, and 20000 for a claim of epsilon 1")
	}
	if f.Runs < 1 || f.Runs > mostTrainings {
		return nil, usage.New(fmt.Sprintf("--runs: %d is not between 1 and %d", f.Runs, mostTrainings), "1 is usual; 10 runs can show what one run hardly shows")
	}
	if f.Runs > 1 && f.BlackBox {
		return nil, usage.New("--runs pools white-box runs, and --black-box trains once", "leave out one of them")
	}
	src, seed, err := Source(f.Train.Seed)
	if err != nil {
		return nil, err
	}
	p, err := source.OpenImages(f.Data, f.DataDir, "", "", "")
	if err != nil {
		return nil, err
	}
	in, err := f.Train.Input(p, p.Schema())
	if err != nil {
		return nil, err
	}
	if f.BlackBox {
		in.Rows += int64(f.Canaries / 2)
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return nil, err
	}
	q, err := plan.Statement(build.Version(), membership.Reproducible)
	if err != nil {
		return nil, err
	}
	h := q.Choice.Hyperparameters
	out := &Canaries{Data: p.Name, Model: q.Choice.Model, Access: "white_box_gradients", Canaries: f.Canaries, Seed: seed, Notes: []string{}}
	out.Privacy.SamplingRate, _ = h["sampling_rate"].(float64)
	out.Privacy.Steps, _ = h["steps"].(int)
	out.Privacy.NoiseMultiplier, _ = h["noise_multiplier"].(float64)
	out.Privacy.ClippingNorm, _ = h["clipping_norm"].(float64)
	out.Stated = bound.Claim{Epsilon: float64(q.Privacy.Epsilon), Delta: float64(q.Privacy.Delta)}
	delta := min(out.Stated.Delta, inference.Delta(f.Canaries))
	// Half of the canaries choose the guesser, the other half are guessed about.
	perfect := bound.Guesses{Canaries: f.Canaries / 2, Made: f.Canaries / 2, Right: f.Canaries / 2}
	if out.MostShown, err = perfect.Epsilon(shownDelta(out), bound.Printed); err != nil {
		return nil, err
	}
	if f.BlackBox {
		err = f.blackBox(ctx, p, in, out, delta, src)
	} else {
		err = f.whiteBox(ctx, plan, out, delta, src)
	}
	if err != nil {
		return nil, err
	}
	if out.ShownClaim, err = bound.ClaimOf(dp.Unscoped(plan.Event), dp.AddOrRemoveOne, out.OneRun.Shown.Delta); err != nil {
		return nil, err
	}
	out.Share = out.OneRun.Shown.Epsilon / out.ShownClaim.Epsilon
	if f.BlackBox {
		out.Tests, out.Confidence, out.Convicted = 1, bound.Conviction, out.OneRun.Convicted
		out.Notes = append(out.Notes, blackBoxSays)
		if !(out.MostShown > out.ShownClaim.Epsilon) {
			out.Notes = append(out.Notes, fmt.Sprintf("NO POWER: %d canaries can show at most epsilon %s, however good the attack; the claim is %s", out.Canaries, bound.Figure(out.MostShown), bound.Figure(out.ShownClaim.Epsilon)))
		}
	} else if out.Share > 1 && !out.Convicted {
		out.Notes = append(out.Notes, "the lower bound (95 %) is above the claim, which happens by chance in one of 20 audits of a true claim: audit again")
	}
	out.Notes = append(out.Notes, fmt.Sprintf("the claim of epsilon %s at delta %s is tested at delta %s, where it is epsilon %s: 2·canaries·delta must be small against the error of the verdict",
		bound.Figure(out.Stated.Epsilon), cost.Full(out.Stated.Delta), bound.Figure(delta), bound.Figure(out.OneRun.Claim.Epsilon)))
	if !out.Convicted {
		out.Notes = append(out.Notes, Proves)
	}
	return out, nil
}

// shownDelta is the δ of the training, or the largest for which the bound at 95 % spends a
// fifth of its error.
func shownDelta(out *Canaries) float64 {
	return min(out.Stated.Delta, (1-bound.Printed)/(10*float64(out.Canaries)))
}

// whiteBox holds the network named to its specification, and then its claim to what a run
// with canaries shows. Half of the error goes to the specification; a quarter each to the
// two forms of the claim.
func (f *Training) whiteBox(ctx context.Context, plan *workflow.Plan, out *Canaries, delta float64, src *entropy.Source) error {
	training, params, err := plan.Audited()
	if err != nil {
		return err
	}
	alpha := 1 - bound.Conviction
	c := audit.NetworkCanaries{Training: training, Params: params}
	fmt.Fprintf(f.Log, "stage: specification of %s\n", out.Model)
	checks, err := c.Specify(ctx, src.Split("specification"))
	if err != nil {
		return membership.Refusal("canaries", err)
	}
	var failed bool
	out.Specification, failed = audit.Settle(checks, alpha/2)
	out.Tests, out.Confidence = len(checks)+2, bound.Conviction
	most, err := c.Most(ctx)
	if err != nil {
		return membership.Refusal("canaries", err)
	}
	if most < out.Canaries {
		out.Notes = append(out.Notes, fmt.Sprintf("%d canaries instead of %d: the largest weight of the network has no more entries", most, out.Canaries))
		out.Canaries = most
	}
	fmt.Fprintf(f.Log, "stage: %d steps with %d canaries\n", training.Steps, out.Canaries)
	scores, err := c.Score(ctx, out.Canaries, src.Split("claim"))
	if err != nil {
		return membership.Refusal("canaries", err)
	}
	claim, err := bound.ClaimOf(dp.Unscoped(plan.Event), dp.AddOrRemoveOne, delta)
	if err != nil {
		return err
	}
	each := out.Canaries / 20
	if sigma, err := accountant.GaussianNoiseMultiplier(claim.Epsilon, delta); err == nil && sigma > 0 {
		each = bound.DeclaredFor(out.Canaries, 1/sigma, delta, bound.Printed)
	}
	out.OneRun = &inference.OneRun{Claim: claim}
	if out.OneRun.Sure, err = scores.EpsilonBest(each, delta, 1-alpha/4); err != nil {
		return membership.Refusal("canaries", err)
	}
	if out.OneRun.Shown, err = scores.EpsilonBest(each, shownDelta(out), bound.Printed); err != nil {
		return membership.Refusal("canaries", err)
	}
	out.OneRun.Convicted = out.OneRun.Sure.Epsilon > claim.Epsilon
	curve, err := bound.CurveOf(dp.Unscoped(plan.Event), dp.AddOrRemoveOne, claim.Epsilon)
	if err != nil {
		return err
	}
	fdp, err := scores.Judge(curve, max(1, out.Canaries/25), 1-alpha/4)
	if err != nil {
		return membership.Refusal("canaries", err)
	}
	out.Curve = &fdp
	against := fdp.Convicted
	if f.Runs > 1 {
		p := []float64{curve.PValue(fdp.Guesses)}
		for run := 1; run < f.Runs; run++ {
			fmt.Fprintf(f.Log, "stage: run %d of %d\n", run+1, f.Runs)
			again, err := c.Score(ctx, out.Canaries, src.Split("claim again", uint64(run)))
			if err != nil {
				return membership.Refusal("canaries", err)
			}
			next, err := again.Judge(curve, max(1, out.Canaries/25), 1-alpha/4)
			if err != nil {
				return membership.Refusal("canaries", err)
			}
			p = append(p, curve.PValue(next.Guesses))
		}
		pooled := bound.Pool(p, 1-alpha/4)
		out.Runs, against = &pooled, pooled.Convicted
	}
	out.Convicted = failed || out.OneRun.Convicted || against
	if !fdp.Power {
		out.Notes = append(out.Notes, fmt.Sprintf("NO POWER against the claim: %d canaries could not reject it even if every guess were right; only the specification was tested", out.Canaries))
	}
	out.Notes = append(out.Notes,
		"the specification is tested first: a failure means that the code does not do what the accounting assumes, whatever the claim; it detects half the noise at once, where the claim needs thousands of canaries",
		fmt.Sprintf("%s confidence holds over all %d tests together: the specification tests share half of the error, the one-run bound at delta has a quarter, and the test of the whole curve a quarter", bound.Percent(bound.Conviction), out.Tests))
	return nil
}

// blackBox trains the network with canaries among the images: images of the test set with
// a wrong label each. The score of a canary is the logit of its label.
func (f *Training) blackBox(ctx context.Context, p *source.Images, in workflow.TrainInput, out *Canaries, delta float64, src *entropy.Source) error {
	out.Access = "black_box"
	if p.Test == nil || p.Test.Len() < out.Canaries+blackBoxTest {
		return usage.New(fmt.Sprintf("%s has too few test images for %d canaries", p.Name, out.Canaries), "reduce --canaries")
	}
	rng := rand.New(rand.NewPCG(src.Split("canaries").Uint64(), src.Split("canaries", 1).Uint64()))
	order := rng.Perm(p.Test.Len())
	made := p.Test.Some(order[:out.Canaries])
	for i, y := range made.Labels {
		made.Labels[i] = (y + 1 + rng.Int32N(int32(len(made.Classes)-1))) % int32(len(made.Classes))
	}
	s := attack.Scored{Member: make([]bool, out.Canaries)}
	var members []int
	for i := range s.Member {
		if s.Member[i] = rng.IntN(2) == 1; s.Member[i] {
			members = append(members, i)
		}
	}
	in.Seed = nil
	if out.Seed != nil {
		in.Seed = membership.SeedOf(out.Seed, 0)
	}
	in.Public, in.Test = true, workflow.Official
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return err
	}
	all := *p
	all.Train = joined(p.Train, made.Some(members))
	env := membership.ThrowAway()
	key, err := env.Ledger.Key(ctx, p.Name)
	if err != nil {
		return err
	}
	if env.Rows, err = all.Seal(ctx, plan, p.Schema(), key); err != nil {
		return err
	}
	env.Images = p.Test.Some(order[out.Canaries : out.Canaries+blackBoxTest])
	step, done := f.Progress(plan.Expected())
	env.Progress = step
	trained, err := plan.Run(ctx, env)
	done()
	if err != nil {
		return err
	}
	posteriors := attack.Posteriors{Classes: len(made.Classes), P: trained.Model.Answers(made.Len(), made.At)}
	for _, y := range made.Labels {
		posteriors.Label = append(posteriors.Label, int(y))
	}
	if s.Score, err = posteriors.Scores(attack.Logit); err != nil {
		return membership.Refusal("canaries", err)
	}
	if out.Report, err = attack.Evaluate(s, attack.Options{Claim: &out.Stated}); err != nil {
		return membership.Refusal("canaries", err)
	}
	price, err := accountant.Epsilon(dp.Unscoped(plan.Event), dp.AddOrRemoveOne, delta, accountant.MethodMin)
	if err != nil {
		return err
	}
	out.OneRun, err = inference.Judge(s, bound.Claim{Epsilon: price.Epsilon, Delta: delta})
	return err
}

// blackBoxTest is the number of test images that score a training with canaries.
const blackBoxTest = 100

// joined are the images of both sets.
func joined(a, b *images.Set) *images.Set {
	out := &images.Set{Shape: a.Shape, Classes: a.Classes}
	for _, s := range []*images.Set{a, b} {
		out.Bytes, out.Floats = append(out.Bytes, s.Bytes...), append(out.Floats, s.Floats...)
		out.Labels = append(out.Labels, s.Labels...)
	}
	return out
}

// blackBoxSays is what the answers of a trained model can show.
const blackBoxSays = "black box: uses only the answers of the trained model. It can show that single rows are memorized, as when noise or clipping is missing; " +
	"it cannot show half the noise, shared noise, wrong batches or a wrong bound on units; leave out --black-box to test these"

// Why is the first test that convicts, in words.
func (out *Canaries) Why() string {
	for _, c := range out.Specification {
		if c.Convicted {
			return fmt.Sprintf("the training run does not meet its specification, so its claim of epsilon %s is unfounded: %s (%s, expected %s)", bound.Figure(out.Stated.Epsilon), c.What, bound.Figure(c.Statistic), bound.Figure(c.Expected))
		}
	}
	if o := out.OneRun; o.Convicted {
		return fmt.Sprintf("epsilon is at least %s at delta %s, the claim is %s", bound.Figure(o.Sure.Epsilon), bound.Figure(o.Claim.Delta), bound.Figure(o.Claim.Epsilon))
	}
	if r := out.Runs; r != nil {
		return fmt.Sprintf("the guesses of %d runs together have p %s under the claim of epsilon %s", r.Runs, bound.Figure(r.PValue), bound.Figure(out.Stated.Epsilon))
	}
	if c := out.Curve; c != nil {
		return fmt.Sprintf("%d of %d guesses right, where the claim of epsilon %s allows %d", c.Guesses.Right, c.Guesses.Made, bound.Figure(out.Stated.Epsilon), c.LeastRight-1)
	}
	return ""
}
