package workflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/model"
)

// training is the training of one network on one scope with one noise.
type training struct {
	TrainInput
	problem *problem
	rows    int64 // nominal, of which scope is a part
	scope   dp.Scope
	noise   float64 // multiplier of each step
	// factor multiplies the rule's step; 0 stands for 1.
	factor float64
	net    *nn.Net // behind the data-free prefix, or whole
	whole  *nn.Net
	// encoding is that of rows of a table, nil for dense inputs.
	encoding *encode.Encoding
	// initial are the trained parameters' first values. They and the frozen ones are
	// drawn when the plan is made: images pass through frozen layers before they are
	// sealed.
	initial []float32
	bands
	steps      int
	rate       float64 // sampling rate
	lot        float64 // expected number of examples in a step
	microbatch int
	// alone keeps a training on one goroutine, beside others of a search; simulated runs
	// it on public rows without a permit.
	alone, simulated bool
}

// newTraining validates the input. The training has no noise yet. Errors are *UsageError,
// *nn.LayerError, or the accountant's.
func newTraining(in TrainInput) (n *training, err error) {
	in.Dense = in.Encoding == nil
	if in.Rows < 1 {
		return nil, usage("declare rows: about N in the schema", "a network needs a public number of rows: sampling rate and steps follow from it")
	}
	in.defaults(in.Rows, in.Preset)
	if err := in.checkTraining(); err != nil {
		return nil, err
	}
	n = &training{TrainInput: in, rows: in.Rows}
	if err := n.encodeTable(); err != nil {
		return nil, err
	}
	if err := n.weigh(); err != nil {
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
	n.scope, _ = holdOut(in.Test, in.Rows)
	if n.rate = n.SamplingRate; n.rate == 0 {
		n.rate = min(1, float64(n.Batch)/n.expectedRows())
	}
	if err := n.pass(); err != nil {
		return nil, err
	}
	n.size()
	n.steps = n.wholeSteps(max(1, int(math.Ceil(n.Epochs*n.expectedRows()/n.lot-1e-9))))
	if err := n.band(); err != nil {
		return nil, err
	}
	if err := n.priceGivenNoise(); err != nil {
		return nil, err
	}
	if n.problem, err = n.Input.check(); err != nil {
		return nil, err
	}
	n.chooseBands()
	if n.rate == 1 {
		n.problem.warnings = append(n.problem.warnings, fmt.Sprintf("a batch of %d rows is all of them: every step takes all rows (sampling rate 1)", n.Batch))
	}
	return n, nil
}

// size sets what follows from the scope and the sampling rate.
func (n *training) size() {
	n.lot = n.rate * n.expectedRows()
	n.Batch = max(1, int(math.Round(n.lot)))
	n.microbatch = n.fit()
}

// expectedRows is the nominal number of rows in the scope.
func (n *training) expectedRows() float64 { return float64(n.rows) * n.scope.Fraction() }

// uses counts the products of one example's forward pass.
func (n *training) uses() int {
	total := 0
	for _, l := range n.net.Layers() {
		total += l.Positions() * l.Parameters
	}
	return total * n.Augment.Variants
}

func (n *training) privacy(scope dp.Scope, noise float64) gradient.Privacy {
	return gradient.Privacy{Scope: scope, ClippingNorm: n.ClippingNorm, NoiseMultiplier: noise, Steps: n.steps, SamplingRate: n.rate, Coefficients: n.coefficients, Groups: n.groups}
}

// priceGivenNoise turns a given noise multiplier into the epsilon that it costs.
func (n *training) priceGivenNoise() error {
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
		delta, _ = n.ownDelta()
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
	price, err := accountant.Epsilon(n.event(n.scope, n.NoiseMultiplier), dp.AddOrRemoveOne, f, method)
	if err != nil || math.IsInf(price.Epsilon, 0) {
		return usage("raise --noise-multiplier", "noise multiplier %g has no finite epsilon at delta %s", n.NoiseMultiplier, delta)
	}
	n.Epsilon = meaning.RoundUp(price.Epsilon, 6)
	return nil
}

// stepSize is the operator's learning rate, or the rule's: the largest of the schedule.
func (n *training) stepSize() (float64, error) {
	if n.LearningRate > 0 {
		return n.LearningRate, nil
	}
	return n.ruleStep()
}

func (n *training) ruleStep() (rate float64, err error) {
	noise := optim.Noise{ClippingNorm: n.ClippingNorm, NoiseMultiplier: n.effective(), ExpectedBatchSize: n.lot}
	rule := optim.StepRule{Noise: noise, Kappa: n.Kappa, Radius: n.Radius, Steps: n.steps, Schedule: n.Schedule, Scores: n.net.Outputs(), Momentum: n.momentum()}
	switch {
	case n.NonPrivate && n.Optimizer == "adam":
		rate = 1e-3 // without noise the rule has no meaning; these are common defaults
	case n.NonPrivate:
		rate = 0.1
	case n.Optimizer == "adam":
		rate, err = rule.Base(), rule.Validate()
	default:
		rate, err = rule.LearningRate()
	}
	return cmp.Or(n.factor, 1) * rate, err
}

// momentum is the share of the last step that the optimizer keeps; 0 for those whose first
// steps are whole ones.
func (n *training) momentum() float64 {
	if n.Optimizer == "momentum" {
		return cmp.Or(n.Momentum, 0.9)
	}
	return 0
}

func (n *training) optimizer() (optim.Optimizer, error) {
	rate, err := n.stepSize()
	if err != nil {
		return nil, err
	}
	var o optim.Optimizer
	switch n.Optimizer {
	case adadp:
		return &optim.ADADP{Steps: n.steps, Tolerance: n.Tolerance, LearningRate: n.LearningRate, KeepAll: n.KeepAll}, nil
	case "sgd":
		o = &optim.SGD{LearningRate: rate}
	case "adam":
		o = &optim.Adam{LearningRate: rate}
	case "adam-wosm":
		o = &optim.AdamWOSM{StepSize: rate}
	default:
		o = &optim.Momentum{LearningRate: rate, Momentum: n.momentum(), Dampened: true}
	}
	return optim.NewScheduled(o, n.Schedule, n.steps), nil
}

// averaging is what the run releases of its iterates.
func (n *training) averaging() optim.Average {
	if n.EMA > 0 {
		return &optim.EMA{Decay: n.EMA}
	}
	return optim.NewTail(n.iterates(), n.Average)
}

// run trains: DP-SGD, or its control without noise. public draws for the control,
// and for simulations on public rows; what the permit pays for has its own streams.
func (n *training) run(ctx context.Context, env Env, permit *ledger.Permit, public *entropy.Source, out *Outcome) error {
	p := n.problem
	if got := env.Rows.InputDim(); n.encoding == nil && got != n.net.Inputs() {
		// Here nothing has been opened, so the reservation is cancelled.
		return usage("choose a model for this size", "inputs of %d numbers for a network that takes %d", got, n.net.Inputs())
	}
	step, err := n.optimizer()
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
		Privacy: n.privacy(n.scope, n.noise), Clipping: n.Clipping, Network: n.net,
		Target:       n.truth(),
		Encode:       n.encode(),
		ExpectedRows: n.expectedRows(), Microbatch: n.microbatch, Multiplicity: n.Augment.Variants, Augment: n.Augment.variant(),
		Update:   n.update(step, average, &out.norm),
		Progress: func(done, steps int) { env.Progress.step("train", done, steps) }, Alone: n.alone,
	}
	n.follow(&t, &out.norm)
	state.attach(&t)
	if n.NonPrivate {
		err = n.centrePublic(env)
	} else {
		err = n.centre(ctx, env, permit, public)
	}
	if err != nil {
		return err
	}
	if err := n.components(ctx, env, permit, out); err != nil {
		return err
	}
	if t.First == 0 {
		if err := n.teach(ctx, env, params, public.Split("teach")); err != nil {
			return err
		}
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
		Net: n.whole, Layers: n.Layers, Parameters32: average.Value(), NotPrivate: n.NonPrivate || n.AsPublished}
	out.network = n
	return nil
}
