package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/data/encode"
	"pawl/data/text"
	"pawl/evidence/advise"
	"pawl/evidence/quality"
	"pawl/model"
	"pawl/report"
)

// TrainInput asks for one network, trained by DP-SGD. Input holds what it shares
// with fit; its Epsilon may stay empty when NoiseMultiplier or NonPrivate is set.
type TrainInput struct {
	Input
	// Name, Layers, Input shape and Outputs make the network.
	Name    string
	Layers  nn.Spec
	Shape   nn.Shape
	Outputs int
	// Encoding makes rows of a table the inputs of the network; nil where rows bring a
	// dense input, such as an image. Shape then follows from it.
	Encoding *encode.Options `json:",omitempty"`
	// Vocabulary numbers the tokens of texts, nil where a hash does. It is public by the
	// operator's word.
	Vocabulary *text.Vocabulary `json:",omitempty"`
	// Radius and Kappa are those of the step rule (optim.StepRule).
	Radius, Kappa float64
	// NoiseMultiplier is given in place of Epsilon when it is above 0.
	NoiseMultiplier float64
	// NonPrivate trains without noise, on public data only.
	NonPrivate bool
	// Batch is the expected lot, Epochs the expected passes; 0 asks for the preset's.
	Batch  int
	Epochs float64
	// ClippingNorm and Clipping ("flat", "automatic", "per-layer", "quantile" or, for
	// public data without noise, "none"); LearningRate 0 asks for the rule.
	ClippingNorm float64
	Clipping     gradient.Clipping
	LearningRate float64
	// Quantile is the share of gradients that clipping "quantile" leaves as they are; 0
	// means 0.5. ClippingNorm is then the first norm.
	Quantile float64 `json:",omitempty"`
	// Optimizer is "sgd", "momentum", "adam", "adam-wosm" or "adadp".
	Optimizer string
	// Tolerance is that of optimizer "adadp"; 0 asks for its default.
	Tolerance float64 `json:",omitempty"`
	// Mechanism is "dp-sgd" (or empty) or "banded": noise that is correlated over the steps, with
	// Bands coefficients, 0 for the number that fits best. Its Lots are "poisson" (or empty) within
	// public groups, or "passes": each group is a lot, in turn, and nothing is amplified.
	Mechanism string `json:",omitempty"`
	Bands     int    `json:",omitempty"`
	Lots      string `json:",omitempty"`
	// KeepAll lets it keep steps of a larger error.
	KeepAll bool `json:",omitempty"`
	// Momentum is that of optimizer "momentum"; 0 means 0.9.
	Momentum float64 `json:",omitempty"`
	// SamplingRate is given in place of Batch when it is above 0: the expected lot is
	// that share of the training rows.
	SamplingRate float64
	// Average is the share of the last steps whose parameters are averaged. EMA is the
	// decay of an exponential average over all steps, given in its place.
	Average, EMA float64
	// Schedule is how the step size changes over the run.
	Schedule optim.Schedule
	// Augment averages the gradients of variants of an example before clipping.
	Augment Augment
	// TrainLast and FrontEnd are the operator's words on Layers, for the record.
	TrainLast int    `json:",omitempty"`
	FrontEnd  string `json:",omitempty"`
	// Extracted says that the first layer is a public network of the operator's.
	Extracted bool `json:",omitempty"`
	// PublicSet is what the network is trained on first, nil for none.
	PublicSet *PublicSet `json:",omitempty"`
	// Rules say why the network and the numbers of its training were chosen, where a rule
	// chose them.
	Rules []advise.Rule `json:"-"`
	// Initial seeds the first weights of a run that may be interrupted, nil for others.
	Initial *uint64 `json:"-"`
	// Memory bounds the working memory of a step in bytes; 0 means 256 MiB.
	Memory int64
}

// Networks are trained with these numbers unless the operator gives others. They
// follow from the number of rows alone: signal to noise grows with batch·√steps/σ
// and is within a tenth of its limit here (measured on MNIST and Fashion-MNIST).
func (n *TrainInput) defaults(rows int64, preset advise.Preset) {
	batch, epochs := 4096, 60.0
	switch preset {
	case advise.Quick:
		batch, epochs = 2048, 15
	case advise.Thorough:
		batch, epochs = 8192, 120
	}
	if n.Batch == 0 {
		n.Batch = int(min(int64(batch), max(rows/8, 1)))
	}
	if n.Epochs == 0 {
		n.Epochs = epochs
	}
	if n.ClippingNorm == 0 {
		n.ClippingNorm = 0.5
	}
	if n.Clipping == "" {
		n.Clipping = gradient.Flat
	}
	if n.Clipping == gradient.Quantile && n.Quantile == 0 {
		n.Quantile = 0.5
	}
	if n.Optimizer == "" {
		n.Optimizer = "momentum"
	}
	if n.Kappa == 0 {
		n.Kappa = 2.5
	}
	if n.Average == 0 && n.EMA == 0 {
		n.Average = 0.25
	}
	n.Augment.Variants = max(n.Augment.Variants, 1)
	if n.Memory == 0 {
		n.Memory = 256 << 20
	}
}

// train is the job of one network.
type train struct {
	*Plan
	of *training
}

// NewTrainPlan validates the input and prices the training. Errors are
// *UsageError, *nn.LayerError, or the accountant's.
func NewTrainPlan(in TrainInput) (*Plan, error) {
	n, err := newTraining(in)
	if err != nil {
		return nil, err
	}
	j := &train{Plan: newPlan(n.problem), of: n}
	j.job, j.SignalRatio, j.Recipe = j, math.NaN(), advise.Recipe{Rules: in.Rules}
	if n.NonPrivate {
		return j.Plan, j.planWithoutNoise()
	}
	if err := j.plan(); err != nil {
		return nil, err
	}
	j.Warnings = append(j.Warnings, n.warnOfStep()...)
	return j.Plan, nil
}

// plan prices the network's stages and its score.
func (j *train) plan() (err error) {
	n, p := j.of, j.problem
	n.noise = n.NoiseMultiplier
	if n.noise == 0 {
		n.noise, err = j.smallest(func(x float64) dp.Event { return n.event(n.scope, x) })
		if err != nil {
			return err
		}
	}
	if p.delta == 0 {
		return usage("give a delta above 0", "DP-SGD has no pure epsilon")
	}
	if err := n.checkComponents(); err != nil {
		return err
	}
	if n.net.Centred() > 0 {
		j.add("centre", n.scope, fmt.Sprintf("mean of %d features", n.net.Centred()), dp.Gaussian{NoiseMultiplier: n.centreNoise(n.noise)})
	}
	j.planComponents()
	j.add("train", n.scope, fmt.Sprintf("%s by %s, %d steps of about %d rows", n.Name, n.mechanismWords(), n.steps, n.Batch), n.privacy(n.scope, n.noise).Event())
	if err := j.planScore(); err != nil {
		return err
	}
	return j.priceAll()
}

// planWithoutNoise is the control on public data. It claims nothing.
func (j *train) planWithoutNoise() error {
	j.add("train", j.trainScope, j.of.Name+" without noise: no protection", dp.NonPrivate{})
	if err := j.of.checkComponents(); err != nil {
		return err
	}
	if j.problem.Test == HeldOut {
		return usage("use a data set with a test set", "training without noise is scored on a public test set only")
	}
	if err := j.planScore(); err != nil {
		return err
	}
	j.priceNothing("NOT PRIVATE: trained without noise")
	return nil
}

func (j *train) key() any { return j.of.key() }

// key is the input but for what all plans have.
func (n *training) key() any {
	in := n.TrainInput
	in.Input = Input{}
	return in
}

func (j *train) expected() time.Duration {
	return time.Duration(j.of.operations() / 60e9 * float64(time.Second)) // a speed that two cores exceed
}

// operations are six for each parameter and use.
func (n *training) operations() float64 {
	return 6 * float64(n.steps) * float64(n.Batch) * float64(n.uses())
}

func (j *train) preflight(context.Context) error { return j.of.preflight() }

func (j *train) run(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	if err := j.of.run(ctx, env, permit, permit.Randomness("train"), out); err != nil {
		return err
	}
	if err := out.Model.Validate(); err != nil {
		// The same numbers would come again.
		return errors.Join(fmt.Errorf("training diverged (a smaller --learning-rate may help): %w", err), env.Checkpoint.Erase())
	}
	env.Progress.step("score", 0, 0)
	return j.scoreNetwork(ctx, env, permit, out)
}

func (j *train) describe() description {
	n := j.of
	d := description{choice: n.choice(0), features: features{none: true}, uncovered: n.uncovered(), lots: n.rate < 1, sampling: n.samplingWords(), unprotected: n.NonPrivate, asPublished: n.AsPublished}
	if n.AsPublished {
		epsilon := j.Epsilon
		d.claimed, d.warning = &epsilon, "NOT a privacy guarantee: as published, principal components use rows without charge"
	}
	return d
}

func (n *training) uncovered() (all []string) {
	if n.Vocabulary != nil {
		all = append(all, "The vocabulary: the list of tokens is declared public (--vocabulary).")
	}
	if n.Extracted {
		g := n.Layers.Layers[0].Graph
		all = append(all, fmt.Sprintf("The extractor: the network in %s (SHA-256 %.16s…) is declared public (--extractor); nothing is known about the images that it was trained on.", g.File, g.SHA256))
	}
	if n.PublicSet != nil {
		all = append(all, n.PublicSet.taughtWords("examples"))
	}
	return all
}

func (j *train) complete(s *report.Statement, out *Outcome) {
	s.Command = "train"
	out.completeNetwork(s)
}

// completeNetwork states the network that a run has trained.
func (out *Outcome) completeNetwork(s *report.Statement) {
	s.Choice = out.network.choice(out.norm)
	s.Warnings = append(append(s.Warnings, out.Components.warnings()...), out.diverged()...)
	if c := out.Components; c != nil {
		s.Choice.Hyperparameters["components_kept"] = c.Kept
	}
}

// scoreNetwork fills the score of a network.
func (plan *Plan) scoreNetwork(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	n, p := out.network, plan.problem
	if n.encoding != nil {
		return plan.scoreRows(ctx, env, permit, out)
	}
	predict, score := out.behindPrefix()
	// After the release, which may give the model a calibration and a threshold.
	tally := func(e *exact) func(truth float64, input []float32) {
		label, _ := out.behindPrefix()
		return func(truth float64, input []float32) {
			if score != nil {
				e.scores = append(e.scores, score(input))
			}
			e.tally(truth, label(input), math.NaN())
		}
	}
	if p.Test != HeldOut {
		plan.operate(out, nil, quality.None, false)
		e := newExact(p, out.Model)
		add := tally(e)
		err := plan.sealing().inputs(env.Images, func(i int, input []float32) error {
			add(float64(env.Images.Labels[i]), input)
			return nil
		})
		if err != nil {
			return err
		}
		return e.publish(out)
	}
	if err := plan.releaseClasses(ctx, env, permit, out, scorer{input: predict}, scorer{input: score}); err != nil || !p.Public {
		return err
	}
	e := newExact(p, out.Model)
	add := tally(e)
	err := public.VisitInputs(env.Rows, plan.scoreScope, func(cells []float64, input []float32) {
		add(cells[p.targetColumn], input)
	})
	if err == nil {
		e.accompany(out)
	}
	return err
}

// behind is the outcome's network without its frozen front.
func (out *Outcome) behind() *model.Model {
	m := *out.Model
	m.Net = out.network.net
	return &m
}

// behindPrefix predicts from what the trained layers of the outcome's network take; score is nil
// without classes.
func (out *Outcome) behindPrefix() (predict, score func(input []float32) float64) {
	behind := out.behind()
	if behind.Scored() {
		score = behind.InputScorer()
	}
	return behind.InputPredictor(), score
}
