package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/encode"
	"pawl/data/text"
	"pawl/evidence/advise"
	"pawl/model"
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
	// Published allows a front end that looks at rows without paying, on public data; the
	// outcome then claims nothing.
	Published bool
	// Augment averages the gradients of variants of an example before clipping.
	Augment Augment
	// TrainLast and FrontEnd are the operator's words on Layers, for the record.
	TrainLast int    `json:",omitempty"`
	FrontEnd  string `json:",omitempty"`
	// Rules say why the network and the numbers of its training were chosen, where a rule
	// chose them.
	Rules []advise.Rule `json:"-"`
	// Initial seeds the first weights of a run that may be interrupted, nil for others.
	Initial *uint64 `json:"-"`
	// Memory bounds the working memory of a step in bytes; 0 means 256 MiB.
	Memory int64
}

// network is the part of a plan that trains a network.
type network struct {
	TrainInput
	net   *nn.Net // behind the data-free prefix, or whole
	whole *nn.Net
	// encoding is that of rows of a table, nil for dense inputs.
	encoding *encode.Encoding
	// initial are the trained parameters' first values. They and the frozen ones are
	// drawn when the plan is made: images pass through frozen layers before they are
	// sealed.
	initial    []float32
	steps      int
	rate       float64 // sampling rate
	lot        float64 // expected number of examples in a step
	microbatch int
	// alone keeps a training on one goroutine, beside others of a search; simulated runs
	// it on public rows without a permit.
	alone, simulated bool
	norm             float64 // of the last step, where it follows a quantile; 0 before it
}

// Networks are trained with these numbers unless the operator gives others. They
// follow from the number of rows alone: signal to noise grows with batch·√steps/σ
// and is within a tenth of its limit here (measured on MNIST and Fashion-MNIST).
func (n *network) defaults(rows int64, preset advise.Preset) {
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

// NewTrainPlan validates the input and prices the training. Errors are
// *UsageError, *nn.LayerError, or the accountant's.
func NewTrainPlan(in TrainInput) (*Plan, error) {
	in.Dense = in.Encoding == nil
	n := &network{TrainInput: in}
	if in.Rows < 1 {
		return nil, usage("declare rows: about N in the schema", "a network needs a public number of rows: sampling rate and steps follow from it")
	}
	n.defaults(in.Rows, in.Preset)
	if err := n.check(); err != nil {
		return nil, err
	}
	err := n.encodeTable()
	if err != nil {
		return nil, err
	}
	if n.whole, err = nn.Compile(n.Layers, n.Shape, n.Outputs); err != nil {
		return nil, err
	}
	if err := n.checkTable(); err != nil {
		return nil, err
	}
	if err := n.checkPublished(); err != nil {
		return nil, err
	}
	if n.net, err = n.behindPrefix(); err != nil {
		return nil, err
	}
	first := rand.Uint64() // data-free; protects nobody
	if in.Seed != nil {
		first = *in.Seed
	} else if in.Initial != nil {
		first = *in.Initial
	}
	n.initial = n.whole.Init(rand.New(rand.NewPCG(first, 0)))
	plan := &Plan{trainScope: dp.WholeScope, network: n, SignalRatio: math.NaN(), Recipe: advise.Recipe{Rules: in.Rules}}
	if in.Test == HeldOut {
		cut := 1 - heldOutShare(in.Rows)
		plan.trainScope, plan.scoreScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
	}
	rows := plan.trainingRows(float64(in.Rows))
	if n.rate = n.SamplingRate; n.rate == 0 {
		n.rate = min(1, float64(n.Batch)/rows)
	}
	n.lot = n.rate * rows
	n.Batch = max(1, int(math.Round(n.lot)))
	n.steps = n.wholeSteps(max(1, int(math.Ceil(n.Epochs*rows/n.lot-1e-9))))
	n.microbatch = n.fit()
	if err := plan.priceGivenNoise(); err != nil {
		return nil, err
	}
	if plan.problem, err = n.Input.check(); err != nil {
		return nil, err
	}
	if n.rate == 1 {
		plan.problem.warnings = append(plan.problem.warnings, fmt.Sprintf("a batch of %d rows is all of them: every step takes all rows (sampling rate 1)", n.Batch))
	}
	if n.NonPrivate {
		return plan, plan.planWithoutNoise()
	}
	if err := plan.planNetwork(); err != nil {
		return nil, err
	}
	plan.warnOfStep()
	return plan, nil
}

// uses counts the products of one example's forward pass.
func (n *network) uses() int {
	total := 0
	for _, l := range n.net.Layers() {
		total += l.Positions() * l.Parameters
	}
	return total * n.Augment.Variants
}

func (n *network) privacy(scope dp.Scope, noise float64) gradient.Privacy {
	return gradient.Privacy{Scope: scope, ClippingNorm: n.ClippingNorm, NoiseMultiplier: noise, Steps: n.steps, SamplingRate: n.rate}
}

// priceGivenNoise turns a given noise multiplier into the epsilon that it costs.
func (plan *Plan) priceGivenNoise() error {
	n := plan.network
	if n.NonPrivate {
		// Input.check wants a number; nothing is paid and nothing is claimed.
		n.Epsilon = "1"
		return nil
	}
	if n.NoiseMultiplier == 0 {
		return nil
	}
	delta := n.Delta
	if delta == "" {
		_, delta = DefaultDelta(n.Rows)
	}
	d, ok := decimal(delta)
	if !ok {
		return nil // Input.check says so
	}
	f, _ := d.Float64()
	method := n.Accountant
	if method == "" {
		method = accountant.MethodMin
	}
	price, err := accountant.Epsilon(n.event(plan.trainScope, n.NoiseMultiplier), dp.AddOrRemoveOne, f, method)
	if err != nil || math.IsInf(price.Epsilon, 0) {
		return usage("raise --noise-multiplier", "noise multiplier %g has no finite epsilon at delta %s", n.NoiseMultiplier, delta)
	}
	n.Epsilon = accountant.RoundUp(price.Epsilon, 6)
	return nil
}

func (plan *Plan) planNetwork() (err error) {
	n, p := plan.network, plan.problem
	plan.noise = n.NoiseMultiplier
	if plan.noise == 0 {
		plan.noise, err = plan.smallest(func(x float64) dp.Event { return n.event(plan.trainScope, x) })
		if err != nil {
			return err
		}
	}
	if p.delta == 0 {
		return usage("give a delta above 0", "DP-SGD has no pure epsilon")
	}
	if err := plan.checkComponents(); err != nil {
		return err
	}
	if n.net.Centred() > 0 {
		plan.add("centre", plan.trainScope, fmt.Sprintf("mean of %d features", n.net.Centred()), dp.Gaussian{NoiseMultiplier: n.centreNoise(plan.noise)})
	}
	plan.planComponents()
	plan.add("train", plan.trainScope, fmt.Sprintf("%s by DP-SGD, %d steps of about %d rows", n.Name, n.steps, n.Batch), n.privacy(plan.trainScope, plan.noise).Event())
	if err := plan.planScore(); err != nil {
		return err
	}
	return plan.priceAll()
}

// planWithoutNoise is the control on public data. It claims nothing.
func (plan *Plan) planWithoutNoise() error {
	n := plan.network
	plan.add("train", plan.trainScope, n.Name+" without noise: no protection", dp.NonPrivate{})
	if err := plan.checkComponents(); err != nil {
		return err
	}
	if plan.problem.Test == HeldOut {
		return usage("use a data set with a test set", "training without noise is scored on a public test set only")
	}
	if err := plan.planScore(); err != nil {
		return err
	}
	plan.Event = dp.NonPrivate{}
	plan.Price = accountant.Result{Epsilon: math.Inf(1), Method: "none"}
	plan.Epsilon = math.Inf(1)
	plan.Warnings = append(plan.problem.warnings, "NOT PRIVATE: trained without noise")
	return nil
}

// stepSize is the rule's learning rate, or the operator's: the largest of the
// schedule.
func (plan *Plan) stepSize() (rate, base float64, err error) {
	n := plan.network
	noise := optim.Noise{ClippingNorm: n.ClippingNorm, NoiseMultiplier: plan.noise, ExpectedBatchSize: n.lot}
	if n.NonPrivate {
		// Without noise the rule has no meaning; this is a common default.
		if noise.NoiseMultiplier = 1; n.LearningRate == 0 {
			return 0.1, 1e-3, nil
		}
	}
	rule := optim.StepRule{Noise: noise, Kappa: n.Kappa, Radius: n.Radius, Steps: n.steps, Schedule: n.Schedule}
	if n.LearningRate > 0 {
		return n.LearningRate, n.LearningRate, nil
	}
	rate, err = rule.LearningRate()
	return rate, rule.Base(), err
}

func (plan *Plan) optimizer() (optim.Optimizer, error) {
	n := plan.network
	rate, base, err := plan.stepSize()
	if err != nil {
		return nil, err
	}
	momentum := n.Momentum
	if momentum == 0 {
		momentum = 0.9
	}
	if n.Optimizer == adadp {
		return &optim.ADADP{Steps: n.steps, Tolerance: n.Tolerance, LearningRate: n.LearningRate, KeepAll: n.KeepAll}, nil
	}
	var o optim.Optimizer = &optim.Momentum{LearningRate: rate, Momentum: momentum, Dampened: true}
	switch n.Optimizer {
	case "sgd":
		o = &optim.SGD{LearningRate: rate}
	case "adam":
		o = &optim.Adam{LearningRate: base}
	case "adam-wosm":
		if n.LearningRate == 0 {
			base = optim.Noise{ClippingNorm: n.ClippingNorm, NoiseMultiplier: plan.noise, ExpectedBatchSize: n.lot}.EffectiveStep(base)
		}
		o = &optim.AdamWOSM{StepSize: base}
	}
	return optim.NewScheduled(o, n.Schedule, n.steps), nil
}

// averaging is what the run releases of its iterates.
func (n *network) averaging() optim.Average {
	if n.EMA > 0 {
		return &optim.EMA{Decay: n.EMA}
	}
	return optim.NewTail(n.iterates(), n.Average)
}

// trainNetwork runs DP-SGD, or its control without noise. public draws for the control,
// and for simulations on public rows; what the permit pays for has its own streams.
func (plan *Plan) trainNetwork(ctx context.Context, env Env, permit *ledger.Permit, public *entropy.Source, out *Outcome) error {
	n, p := plan.network, plan.problem
	if got := env.Rows.InputDim(); n.encoding == nil && got != n.net.Inputs() {
		// Here nothing has been opened, so the reservation is cancelled.
		return usage("choose a model for this size", "inputs of %d numbers for a network that takes %d", got, n.net.Inputs())
	}
	step, err := plan.optimizer()
	if err != nil {
		return err
	}
	params := slices.Clone(n.initial)
	average := n.averaging()
	state := &kept{file: env.Checkpoint, params: params, optimizer: step, average: average}
	if err := state.restore(); err != nil {
		return err
	}
	t := gradient.Training{
		Privacy: n.privacy(plan.trainScope, plan.noise), Clipping: n.Clipping, Network: n.net,
		Target:       plan.truth(),
		Encode:       n.encode(),
		ExpectedRows: plan.trainingRows(float64(p.Rows)), Microbatch: n.microbatch, Multiplicity: n.Augment.Variants, Augment: n.Augment.variant(),
		Update:   n.update(step, average),
		Progress: func(done, steps int) { env.Progress.step("train", done, steps) }, Alone: n.alone,
	}
	n.follow(&t)
	state.attach(&t)
	if n.NonPrivate {
		err = plan.centrePublic(env)
	} else {
		err = plan.centre(ctx, env, permit, public)
	}
	if err != nil {
		return err
	}
	if err := plan.components(ctx, env, permit, out); err != nil {
		return err
	}
	if n.NonPrivate {
		err = gradient.TrainPublic(ctx, env.Rows, t, params, public.Split("train"))
	} else if n.simulated {
		err = gradient.SimulatePublic(ctx, env.Rows, t, params, public.Split("train"))
	} else {
		err = gradient.Train(ctx, permit, env.Rows, t, params)
	}
	if err != nil {
		if ctx.Err() != nil {
			state.stopped()
		}
		return err
	}
	out.Model = &model.Model{Task: p.task, Kind: model.Network, Schema: p.Schema, Target: p.Target, Encoding: n.encoding, Vocabulary: n.Vocabulary, Scale: p.scale,
		Net: n.whole, Layers: n.Layers, Parameters32: average.Value(), NotPrivate: n.NonPrivate || n.Published}
	return nil
}

// scoreNetwork fills the score of a network.
func (plan *Plan) scoreNetwork(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	n, p := plan.network, plan.problem
	if n.encoding != nil {
		return plan.scoreStage(ctx, env, permit, out)
	}
	behind := *out.Model
	behind.Net = n.net
	predict := behind.InputPredictor()
	if p.Test != HeldOut {
		e := newExact(plan, out.Model)
		err := plan.Inputs(env.Images, func(i int, input []float32) error {
			e.tally(float64(env.Images.Labels[i]), predict(input), math.NaN())
			return nil
		})
		if err != nil {
			return err
		}
		return e.publish(out)
	}
	err := plan.releaseAccuracy(ctx, env, permit, out,
		release.Accuracy{PredictInput: func(input []float32) int { return int(predict(input)) }})
	if err != nil || !p.Public {
		return err
	}
	e := newExact(plan, out.Model)
	err = release.PublicInputs(env.Rows, plan.scoreScope, func(cells []float64, input []float32) {
		e.tally(cells[p.targetColumn], predict(input), math.NaN())
	})
	if err == nil {
		e.accompany(out)
	}
	return err
}

// ownKey is what a network or a selection depends on beside the plan's own input.
func (plan *Plan) ownKey() any {
	if c := plan.choosing; c != nil {
		in := c.SelectInput
		in.Input = Input{}
		return in
	}
	if plan.hunt != nil {
		return plan.hunt.key()
	}
	if plan.network == nil {
		return nil
	}
	in := plan.network.TrainInput
	in.Input = Input{}
	return in
}
