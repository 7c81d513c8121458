package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/compute/nn"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/evidence/advise"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/study"
)

// NetSearchInput asks for the best network of a space within one budget. TrainInput
// holds what all candidates share: data, budget, batch, epochs; a point gives layers and
// what depends on them.
type NetSearchInput struct {
	TrainInput
	SearchSettings
	// Build makes the network of a point.
	Build func(p space.Point) (Candidate, error) `json:"-"`
}

// Candidate is the network of a point. Zero fields follow the search's settings and the
// rule; none of them changes what a training costs.
type Candidate struct {
	Layers                     nn.Spec
	Radius, Kappa              float64
	ClippingNorm, LearningRate float64
	Optimizer                  string
	Momentum, Average          float64
	// StepFactor and ClippingFactor multiply what the rules choose; 0 stands for 1.
	StepFactor, ClippingFactor float64
}

// netSearch are the trials of a search among networks.
type netSearch struct {
	NetSearchInput
	front  int      // layers that every candidate begins with and that images pass before sealing
	images *network // that front end, with one layer behind it
	// centred says that every training begins with the release of a mean.
	centred bool
	// uses is the mean number of products of a forward pass.
	uses float64
	// built names what Build makes of some points: the space does not say which network
	// it is that settings are searched for.
	built string
}

// NewNetSearchPlan validates the input and prices the strategy. Errors are *UsageError,
// *nn.LayerError, or the accountant's.
func NewNetSearchPlan(in NetSearchInput) (*Plan, error) {
	if in.NoiseMultiplier != 0 || in.NonPrivate {
		return nil, usage("give --epsilon", "a search is priced by the epsilon of the whole")
	}
	if err := in.check(in.Public); err != nil {
		return nil, err
	}
	if in.Epochs == 0 {
		in.Epochs = searchEpochs(in.Preset)
	}
	s := &netSearch{NetSearchInput: in}
	if err := s.commonFront(); err != nil {
		return nil, err
	}
	plan, err := s.representative()
	if err != nil {
		return nil, err
	}
	s.images = plan.network
	plan.hunt = &hunt{SearchSettings: in.SearchSettings, trials: s}
	return plan, plan.planHunt()
}

// searchEpochs is a third of what one network is trained for: many are, each with a part
// of the budget, and the smaller that is the fewer steps it bears.
func searchEpochs(p advise.Preset) float64 {
	switch p {
	case advise.Quick:
		return 8
	case advise.Thorough:
		return 60
	}
	return 20
}

// sampleOfSpace is how many candidates are built before anything is charged.
const sampleOfSpace = 64

// commonFront builds some candidates, so that a space of nets that do not compile is
// found before anything is charged, counts the layers without parameters that they
// all begin with, and names what Build makes.
func (s *netSearch) commonFront() error {
	rng := rand.New(rand.NewPCG(1, 2))
	built := sha256.New()
	defer func() { s.built = hex.EncodeToString(built.Sum(nil)) }()
	var first []nn.Layer
	var all [sampleOfSpace][]nn.Layer
	for i := range sampleOfSpace {
		p := s.Rule
		if i > 0 {
			var err error
			if p, err = s.Space.Draw(rng); err != nil {
				return err
			}
		}
		c, err := s.Build(p)
		if err != nil {
			return err
		}
		b, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("candidate %s: %w", p, err)
		}
		built.Write(b)
		all[i] = c.Layers.Layers
		net, err := nn.Compile(c.Layers, s.Shape, s.Outputs)
		if err != nil {
			return fmt.Errorf("candidate %s: %w", p, err)
		}
		if _, waits := net.Released(); waits {
			return usage("choose a front end that looks at no row", "candidate %s waits for a release about the rows; a search pays for trainings and scores only", p)
		}
		if _, fitted := net.Components(); fitted > 0 {
			return usage("choose a front end that looks at no row", "candidate %s has principal components, which are fitted on rows", p)
		}
		s.uses += float64((&network{net: net, TrainInput: TrainInput{Augment: Augment{Variants: 1}}}).uses()) / sampleOfSpace
		front := 0
		for front < net.FrozenPrefix() && net.Layers()[front].Parameters == 0 {
			front++
		}
		if i == 0 {
			s.front, s.centred, first = front, net.Centred() > 0, c.Layers.Layers
			continue
		}
		if s.centred != (net.Centred() > 0) {
			return usage("give all of them a centre layer, or none", "some candidates release a mean of their inputs and others do not; a search pays for one kind of training")
		}
		s.front = min(s.front, front)
		for s.front > 0 && !slices.Equal(c.Layers.Layers[:s.front], first[:s.front]) {
			s.front--
		}
	}
	for _, layers := range all {
		if s.centred && layers[s.front].Kind != "centre" {
			return usage("put the same layers before centre in all of them", "candidates differ in what stands before their centre layer; its mean is of inputs that all share")
		}
	}
	return nil
}

// representative is the plan of the front end with one layer behind it: what images pass
// before they are sealed is the same for all candidates.
func (s *netSearch) representative() (*Plan, error) {
	c, err := s.Build(s.Rule)
	if err != nil {
		return nil, err
	}
	in := s.TrainInput
	layers := slices.Clone(c.Layers.Layers[:s.front])
	if s.centred {
		layers = append(layers, nn.Layer{Kind: "centre"})
	}
	in.Layers = nn.Spec{Loss: c.Layers.Loss, Layers: append(layers, nn.Layer{Kind: "dense", Units: s.Outputs})}
	in.Radius, in.Kappa, in.Name = 1, c.Kappa, s.Space.Name()
	return NewTrainPlan(in)
}

func (s *netSearch) noun() string { return "networks" }

// family is what a training and its score cost.
func (s *netSearch) family(plan *Plan) search.Trial {
	n := plan.network
	return search.Trial{
		Train: func(x float64) dp.Event { return n.event(dp.WholeScope, x) },
		Score: func(x float64) []dp.Event { return []dp.Event{release.Accuracy{NoiseMultiplier: x}.Event()} },
	}
}

// candidatePlan is the plan of one training: the same job with the candidate's network.
func (plan *Plan) candidatePlan(p space.Point, scope dp.Scope, noise float64, src *entropy.Source) (*Plan, error) {
	s := plan.hunt.trials.(*netSearch)
	c, err := s.Build(p)
	if err != nil {
		return nil, err
	}
	one, n := *plan, *plan.network
	one.network, one.trainScope, one.noise, one.hunt = &n, scope, noise, nil
	n.Layers, n.Radius, n.Name = c.Layers, c.Radius, s.Space.Name()+" "+p.String()
	if c.Kappa > 0 {
		n.Kappa = c.Kappa
	}
	if c.ClippingNorm > 0 {
		n.ClippingNorm = c.ClippingNorm
	}
	if c.StepFactor > 0 {
		n.Kappa *= c.StepFactor // the rule's step is in proportion to it
	}
	if c.ClippingFactor > 0 {
		n.ClippingNorm *= c.ClippingFactor
	}
	n.LearningRate, n.Momentum = c.LearningRate, c.Momentum
	if c.Optimizer != "" {
		n.Optimizer = c.Optimizer
	}
	if c.Average > 0 {
		n.Average, n.EMA = c.Average, 0
	}
	if n.whole, err = nn.Compile(c.Layers, s.Shape, s.Outputs); err != nil {
		return nil, err
	}
	if n.net = n.whole.Behind(s.front); n.Augment.Variants > 1 {
		n.net = n.whole
	}
	n.initial = n.whole.Init(rand.New(src.Split("initial")))
	n.lot = n.rate * one.trainingRows(float64(plan.problem.Rows))
	n.Batch = max(1, int(math.Round(n.lot)))
	n.microbatch = n.fit()
	n.alone, n.simulated = true, s.SearchSettings.AsPublished
	return &one, nil
}

func (plan *Plan) trainCandidate(ctx context.Context, env Env, permit *ledger.Permit, p space.Point, scope dp.Scope, noise float64) (trained, error) {
	src := permit.Randomness("train")
	one, err := plan.candidatePlan(p, scope, noise, src)
	if err != nil {
		return trained{}, err
	}
	env.Progress = nil
	var out Outcome
	if err := one.trainNetwork(ctx, env, permit, src, &out); err != nil {
		return trained{}, err
	}
	return trained{plan: one, model: out.Model}, out.Model.Validate()
}

// work is what a study does with one candidate.
func (s *netSearch) work(plan *Plan, env Env) study.Work[space.Point, trained] {
	h := plan.hunt
	return study.Work[space.Point, trained]{
		Try: func(ctx context.Context, permit *ledger.Permit, p space.Point) (trained, float64, error) {
			t, err := plan.trainCandidate(ctx, env, permit, p, h.scopes.Train, h.quote.Noise)
			if err != nil {
				return t, 0, err
			}
			if h.AsPublished {
				score, err := t.publishedScore(env, h.scopes.Validate, permit.Randomness("score"))
				return t, score, err
			}
			a := release.Accuracy{Scope: h.scopes.Validate, NoiseMultiplier: h.quote.ScoreNoise, Column: plan.problem.targetColumn,
				Levels: len(t.model.Classes()), PredictInput: t.predictor()}
			released, err := a.Release(ctx, permit, env.Rows)
			return t, known(released.Value, 0), err
		},
		Finish: func(ctx context.Context, permit *ledger.Permit, p space.Point) (trained, error) {
			noise := h.quote.Noise
			if h.quote.FinalNoise > 0 {
				noise = h.quote.FinalNoise
			}
			return plan.trainCandidate(ctx, env, permit, p, h.scopes.Final, noise)
		},
		Elsewhere: func(ctx context.Context, p space.Point, src *entropy.Source) (float64, error) {
			return s.scoreElsewhere(ctx, plan, env, p, src)
		},
	}
}

func (t trained) predictor() func(input []float32) int {
	behind := *t.model
	behind.Net = t.plan.network.net
	predict := behind.InputPredictor()
	return func(input []float32) int { return int(predict(input)) }
}

// publicScore is the exact accuracy on a scope of public rows, and their number.
func (t trained) publicScore(env Env, scope dp.Scope) (score, rows float64, err error) {
	right, predict, column := 0.0, t.predictor(), t.plan.problem.targetColumn
	err = release.PublicInputs(env.Rows, scope, func(cells []float64, input []float32) {
		if y := cells[column]; y == y {
			rows++
			if predict(input) == int(y) {
				right++
			}
		}
	})
	if err == nil && rows == 0 {
		err = errors.New("no row scores")
	}
	return right / max(rows, 1), rows, err
}

// scoreEpsilon is the papers' ε' of one validation score.
const scoreEpsilon = 0.02

// publishedScore is the papers' validation accuracy, with Laplace noise of scale 1/(n·ε').
func (t trained) publishedScore(env Env, scope dp.Scope, src *entropy.Source) (float64, error) {
	score, rows, err := t.publicScore(env, scope)
	u := src.Open01() - 0.5
	return score - math.Copysign(math.Log1p(-2*math.Abs(u)), u)/(rows*scoreEpsilon), err
}

// scoreElsewhere trains and scores on the other, public data with the noise that the
// last training will have, so that the choice anticipates it.
// Strategy stw trains without noise on the data themselves.
func (s *netSearch) scoreElsewhere(ctx context.Context, plan *Plan, env Env, p space.Point, src *entropy.Source) (float64, error) {
	if plan.hunt.Strategy.Kind == search.STW {
		return s.scoreWithoutNoise(ctx, plan, env, p, src)
	}
	cut := 1 - s.Strategy.Validation
	other := *plan
	problem := *plan.problem
	problem.Rows, other.problem = s.OnRows, &problem
	one, err := other.candidatePlan(p, dp.Scope{Lower: 0, Upper: cut}, plan.hunt.quote.Noise, src.Split("train"))
	if err != nil {
		return 0, err
	}
	one.network.simulated = true
	env.Rows, env.Progress = env.Other, nil
	var out Outcome
	if err := one.trainNetwork(ctx, env, nil, src.Split("train"), &out); err != nil {
		return 0, err
	}
	if err := out.Model.Validate(); err != nil {
		return 0, err
	}
	score, _, err := trained{plan: one, model: out.Model}.publicScore(env, dp.Scope{Lower: cut, Upper: 1})
	return score, err
}

func (s *netSearch) scoreWithoutNoise(ctx context.Context, plan *Plan, env Env, p space.Point, src *entropy.Source) (float64, error) {
	within := plan.trainScope
	cut := within.Upper - (within.Upper-within.Lower)*s.Strategy.Validation
	one, err := plan.candidatePlan(p, dp.Scope{Lower: within.Lower, Upper: cut}, plan.hunt.quote.Noise, src.Split("train"))
	if err != nil {
		return 0, err
	}
	one.network.NonPrivate, one.network.Clipping, env.Progress = true, gradient.Unclipped, nil
	var out Outcome
	if err := one.trainNetwork(ctx, env, nil, src.Split("train"), &out); err != nil {
		return 0, err
	}
	if err := out.Model.Validate(); err != nil {
		return 0, err
	}
	score, _, err := trained{plan: one, model: out.Model}.publicScore(env, dp.Scope{Lower: cut, Upper: within.Upper})
	return score, err
}

// adopt makes the winner the plan's network.
func (s *netSearch) adopt(plan *Plan, winner trained, out *Outcome) {
	out.Model = winner.model
	n := *winner.plan.network
	n.simulated = false
	plan.network, plan.noise = &n, winner.plan.noise
}

// ready refuses rows that candidates do not take, before the rows are opened.
func (s *netSearch) ready(plan *Plan, env Env) error {
	if got := env.Rows.InputDim(); got != plan.network.net.Inputs() {
		return usage("choose a space for this size", "inputs of %d numbers for networks that take %d", got, plan.network.net.Inputs())
	}
	return nil
}

// unsearched is the exact test score of the rule's candidate with the whole budget.
func (s *netSearch) unsearched(ctx context.Context, plan *Plan, env Env, noise float64, src *entropy.Source) (Score, error) {
	one, err := plan.candidatePlan(s.Rule, plan.trainScope, noise, src)
	if err != nil {
		return Score{}, err
	}
	one.network.simulated, one.network.alone = true, false
	env.Progress = nil
	var other Outcome
	if err := one.trainNetwork(ctx, env, nil, src, &other); err != nil {
		return Score{}, err
	}
	one.hunt = plan.hunt // images pass the search's front end
	err = one.scoreNetwork(ctx, env, nil, &other)
	return other.Score, err
}

// ownKey is what the computation depends on beside the plan's own input. Another network
// to search settings for is another computation: under the key of the first it would be
// trained with noise that was drawn, and not charged.
func (s *netSearch) ownKey() any {
	in := s.TrainInput
	in.Input = Input{}
	return struct {
		TrainInput
		Built string
	}{in, s.built}
}

func (s *netSearch) seconds(plan *Plan) float64 {
	n := plan.network
	variants := float64(max(s.Augment.Variants, 1))
	// Six operations per parameter and use, at a speed that one core exceeds.
	return 6 * float64(n.steps) * float64(n.Batch) * s.uses * variants / 30e9
}
