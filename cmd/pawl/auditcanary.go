package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/audit"
	"pawl/audit/attack"
	"pawl/audit/bound"
	"pawl/audit/inference"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/dataset"
	"pawl/images"
	"pawl/workflow"
)

type canaryFlags struct {
	train    trainFlags
	data     string
	canaries int
	blackBox bool
}

// fewestCanaries shows something at epsilon 1 and less.
const fewestCanaries = 100

func (a *app) auditCanary() *cobra.Command {
	var f canaryFlags
	c := &cobra.Command{
		Use:   "canary --data DATA --model NAME (--epsilon E | --noise-multiplier S)",
		Short: "Audit one run of DP-SGD by thousands of canaries",
		Long: `Audit the training that pawl train would run, by canaries in one run: a fair coin puts
each in or leaves it out, and from what was trained it is guessed which are in.

The canaries are gradients, each in a direction of its own and as long as clipping
leaves it, at the noise, the sampling rate and the steps of the training: an auditor who
sees every step. Of DATA only the number of rows is used. --black-box puts images with
wrong labels among those of DATA (built-in, public) and looks at the answers of the
trained model alone, which shows far less.

A thousand canaries cannot certify more than an epsilon of 5.8, whatever leaks.`,
		Example: `  pawl audit canary --data mnist --model mnist-paw-fcn --epsilon 4 --canaries 5000 --json
  pawl audit canary --data mnist --model mnist-paw-fcn --epsilon 4 --canaries 1000 --black-box`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "data", "model"); err != nil {
				return err
			}
			if f.train.epsilon == "" && !(f.train.noise > 0) {
				return &usageError{"no claim to audit: --epsilon or --noise-multiplier is missing", "example: --epsilon 4"}
			}
			return a.runCanary(c.Context(), f)
		},
	}
	trainDefaults(&f.train)
	s := c.Flags()
	s.StringVar(&f.data, "data", "", "built-in set of images (required)")
	s.StringVar(&f.train.model, "model", "", "network: a name of pawl models list, or a YAML file (required)")
	s.StringVar(&f.train.epsilon, "epsilon", "", "privacy budget of the training")
	s.Float64Var(&f.train.noise, "noise-multiplier", 0, "noise over clipping norm, in place of --epsilon")
	s.StringVar(&f.train.delta, "delta", "", "failure chance (default: largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.train.preset, "preset", "balanced", "quick, balanced or thorough: batch and epochs, never epsilon")
	s.IntVar(&f.train.batch, "batch", 0, "expected number of examples in a step")
	s.Float64Var(&f.train.epochs, "epochs", 0, "expected passes over the data")
	s.Float64Var(&f.train.clippingNorm, "clipping-norm", 0, "bound on one example's gradient (default: the model's, else 0.5)")
	s.IntVar(&f.canaries, "canaries", 1000, "number of canaries")
	s.BoolVar(&f.blackBox, "black-box", false, "insert images with wrong labels and look at the trained model's answers")
	s.StringVar(&f.train.seed, "seed", "", "repeat an audit exactly")
	f.train.accountant = string(accountant.MethodMin)
	return c
}

// canaryAudit is what is printed.
type canaryAudit struct {
	Data   string `json:"data"`
	Model  string `json:"model"`
	Access string `json:"access"` // "white_box_gradients" or "black_box"
	// Stated is the claim as the training states it; OneRun holds the same at the δ that
	// the audit judges at.
	Stated   bound.Claim       `json:"stated_claim"`
	Privacy  trainedWith       `json:"training"`
	Canaries int               `json:"canaries"`
	OneRun   *inference.OneRun `json:"one_run"`
	// ShownClaim is the claim at the δ of the bound at 95 %, and Share that bound over it.
	ShownClaim bound.Claim `json:"claim_of_the_bound"`
	Share      float64     `json:"bound_over_claim"`
	// MostShown is what so many canaries could show at most, were every guess right.
	MostShown float64        `json:"most_that_the_canaries_can_show"`
	Report    *attack.Report `json:"report,omitempty"`
	Seed      *uint64        `json:"seed,omitempty"`
	Notes     []string       `json:"notes"`
}

type trainedWith struct {
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	ClippingNorm    float64 `json:"clipping_norm"`
}

func (a *app) runCanary(ctx context.Context, f canaryFlags) error {
	if _, ok := dataset.Images(f.data); !ok {
		return &usageError{fmt.Sprintf("%s: canaries are trained at the settings of built-in images", f.data), "pawl data list"}
	}
	if f.canaries < fewestCanaries || f.canaries > audit.MostCanaries {
		return &usageError{fmt.Sprintf("--canaries: %d does not lie between %d and %d", f.canaries, fewestCanaries, audit.MostCanaries), "1000 at epsilon 1, 5000 at epsilon 4"}
	}
	src, seed, err := auditSource(f.train.seed)
	if err != nil {
		return err
	}
	p, err := a.openPictures(f.data, &f.train)
	if err != nil {
		return err
	}
	in, err := f.train.input(p, p.schema())
	if err != nil {
		return err
	}
	if f.blackBox {
		in.Rows += int64(f.canaries / 2)
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return err
	}
	q, err := plan.Statement(version(), reproducible)
	if err != nil {
		return err
	}
	h := q.Choice.Hyperparameters
	out := &canaryAudit{Data: p.name, Model: q.Choice.Model, Access: "white_box_gradients", Canaries: f.canaries, Seed: seed, Notes: []string{}}
	out.Privacy.SamplingRate, _ = h["sampling_rate"].(float64)
	out.Privacy.Steps, _ = h["steps"].(int)
	out.Privacy.NoiseMultiplier, _ = h["noise_multiplier"].(float64)
	out.Privacy.ClippingNorm, _ = h["clipping_norm"].(float64)
	out.Stated = bound.Claim{Epsilon: float64(q.Privacy.Epsilon), Delta: float64(q.Privacy.Delta)}
	delta := min(out.Stated.Delta, inference.Delta(f.canaries))
	// Half of the canaries choose the guesser, the other half are guessed about.
	perfect := bound.Guesses{Canaries: f.canaries / 2, Made: f.canaries / 2, Right: f.canaries / 2}
	if out.MostShown, err = perfect.Epsilon(shownDelta(out), bound.Printed); err != nil {
		return err
	}
	if f.blackBox {
		err = a.blackBox(ctx, p, in, out, delta, src)
	} else {
		err = a.whiteBox(ctx, out, delta, src)
	}
	if err != nil {
		return err
	}
	if out.ShownClaim, err = bound.ClaimOf(dp.Unscoped(plan.Event), dp.AddOrRemoveOne, out.OneRun.Shown.Delta); err != nil {
		return err
	}
	out.Share = out.OneRun.Shown.Epsilon / out.ShownClaim.Epsilon
	out.Notes = append(out.Notes, fmt.Sprintf("the claim of epsilon %s at delta %s is judged at delta %s, where it is %s: 2·canaries·delta has to be small against the error of the verdict",
		figure(out.Stated.Epsilon), full(out.Stated.Delta), figure(delta), figure(out.OneRun.Claim.Epsilon)))
	if !out.OneRun.Convicted {
		out.Notes = append(out.Notes, proves)
	}
	return a.finishCanary(out)
}

// shownDelta is the δ of the training, or the largest for which the bound at 95 % spends a
// fifth of its error.
func shownDelta(out *canaryAudit) float64 {
	return min(out.Stated.Delta, (1-bound.Printed)/(10*float64(out.Canaries)))
}

func (a *app) whiteBox(ctx context.Context, out *canaryAudit, delta float64, src *entropy.Source) error {
	t := out.Privacy
	fmt.Fprintf(a.err, "stage: %d steps with %d canaries\n", t.Steps, out.Canaries)
	r, err := audit.GradientCanaries{Canaries: out.Canaries, Delta: delta, ShownDelta: shownDelta(out), Privacy: gradient.Privacy{
		ClippingNorm: t.ClippingNorm, NoiseMultiplier: t.NoiseMultiplier, Steps: t.Steps, SamplingRate: t.SamplingRate,
	}}.Run(ctx, bound.Conviction, src)
	if err != nil {
		return attackError("canaries", err)
	}
	out.OneRun = &inference.OneRun{Claim: r.Claim, Shown: r.Shown, Sure: r.Bound, Convicted: r.Convicted}
	return nil
}

// blackBox trains the network with canaries among the images: images of the test set with
// a wrong label each. The score of a canary is the logit of its label.
func (a *app) blackBox(ctx context.Context, p *pictures, in workflow.TrainInput, out *canaryAudit, delta float64, src *entropy.Source) error {
	out.Access = "black_box"
	if p.test == nil || p.test.Len() < out.Canaries+blackBoxTest {
		return &usageError{fmt.Sprintf("%s has too few test images to make %d canaries of", p.name, out.Canaries), "fewer --canaries"}
	}
	rng := rand.New(rand.NewPCG(src.Split("canaries").Uint64(), src.Split("canaries", 1).Uint64()))
	order := rng.Perm(p.test.Len())
	made := p.test.Some(order[:out.Canaries])
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
		in.Seed = seedOf(out.Seed, 0)
	}
	in.Public, in.Test = true, workflow.Official
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return err
	}
	all := *p
	all.train = joined(p.train, made.Some(members))
	env := throwAway()
	key, err := env.Ledger.Key(ctx, p.name)
	if err != nil {
		return err
	}
	if env.Rows, err = all.seal(plan, p.schema(), key); err != nil {
		return err
	}
	env.Images = p.test.Some(order[out.Canaries : out.Canaries+blackBoxTest])
	bar := newProgress(a.err, plan.Expected())
	env.Progress = bar.step
	trained, err := plan.Run(ctx, env)
	bar.done()
	if err != nil {
		return err
	}
	posteriors := attack.Posteriors{Classes: len(made.Classes), P: make([]float64, made.Len()*len(made.Classes))}
	input := make([]float32, made.Size())
	for i, y := range made.Labels {
		made.At(i, input)
		trained.Model.InputProbabilities(posteriors.P[i*posteriors.Classes:(i+1)*posteriors.Classes], input)
		posteriors.Label = append(posteriors.Label, int(y))
	}
	if s.Score, err = posteriors.Scores(attack.Logit); err != nil {
		return attackError("canaries", err)
	}
	if out.Report, err = attack.Evaluate(s, attack.Options{Claim: &out.Stated}); err != nil {
		return attackError("canaries", err)
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

func (a *app) finishCanary(out *canaryAudit) error {
	o := out.OneRun
	var convicted error
	if o.Convicted {
		convicted = &convictedError{fmt.Sprintf("epsilon is at least %s at delta %s (%s), the claim is %s", figure(o.Sure.Epsilon), figure(o.Claim.Delta), percent(bound.Conviction), figure(o.Claim.Epsilon)), convictedAdvice}
	}
	headline := fmt.Sprintf("CONVICTED at %s: the claim of epsilon %s does not hold", percent(bound.Conviction), figure(out.Stated.Epsilon))
	return a.conclude(convicted, headline, out, func(w io.Writer) error { return a.printCanary(w, out) })
}

func (a *app) printCanary(to io.Writer, out *canaryAudit) error {
	w, o := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0), out.OneRun
	fmt.Fprintf(w, "training\t%s on %s: %d steps, sampling rate %s, noise multiplier %s\n", out.Model, out.Data, out.Privacy.Steps, figure(out.Privacy.SamplingRate), figure(out.Privacy.NoiseMultiplier))
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s; %s at delta %s\n", figure(out.Stated.Epsilon), full(out.Stated.Delta), figure(o.Claim.Epsilon), figure(o.Claim.Delta))
	fmt.Fprintf(w, "canaries\t%d, %s; they can show %s at most\n", out.Canaries, strings.ReplaceAll(out.Access, "_", " "), figure(out.MostShown))
	fmt.Fprintf(w, "lower bound\tepsilon is at least %s (%s), %.2f of the claim; %d of %d guesses right\n", figure(o.Shown.Epsilon), percent(bound.Printed), out.Share, o.Shown.Guesses.Right, o.Shown.Guesses.Made)
	verdict := "not convicted"
	if o.Convicted {
		verdict = "CONVICTED"
	}
	fmt.Fprintf(w, "verdict\t%s at %s\n", verdict, percent(bound.Conviction))
	if err := w.Flush(); err != nil {
		return err
	}
	return a.notes(to, out.Notes)
}
