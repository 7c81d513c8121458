package workflow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"pawl/compute/nn"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/core/release"
	"pawl/evidence/advise"
	"pawl/report"
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
	plan *Plan
	of   *searching
	// shared is the training of the front end that all candidates have, with one layer behind
	// it. Images pass that front end before they are sealed.
	shared *training
	front  int // layers that every candidate begins with and that images pass before sealing
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
		return nil, usage("give --epsilon", "the price of a search is the epsilon of the whole")
	}
	if len(in.ClassWeights) > 0 {
		return nil, usage("leave out one of them", "a search and class weights exclude each other")
	}
	if err := in.SearchSettings.check(&in.Input); err != nil {
		return nil, err
	}
	if in.Epochs == 0 {
		in.Epochs = searchEpochs(in.Preset)
	}
	s := &netSearch{NetSearchInput: in}
	if err := s.commonFront(); err != nil {
		return nil, err
	}
	var err error
	if s.shared, err = s.representative(); err != nil {
		return nil, err
	}
	s.plan = newPlan(s.shared.problem)
	s.of = newSearching(s.plan, in.SearchSettings, s, in.AsPublished)
	s.plan.Recipe = advise.Recipe{Rules: in.TrainInput.Rules}
	return s.plan, s.of.price()
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
			return usage("choose a front end that uses no row", "candidate %s needs a release about the rows; a search pays only for training runs and scores", p)
		}
		if _, fitted := net.Components(); fitted > 0 {
			return usage("choose a front end that uses no row", "candidate %s has principal components, which are fitted on rows", p)
		}
		s.uses += float64((&training{net: net, TrainInput: TrainInput{Augment: Augment{Variants: 1}}}).uses()) / sampleOfSpace
		front := 0
		for front < net.FrozenPrefix() && net.Layers()[front].Parameters == 0 {
			front++
		}
		if i == 0 {
			s.front, s.centred, first = front, net.Centred() > 0, c.Layers.Layers
			continue
		}
		if s.centred != (net.Centred() > 0) {
			return usage("give all of them a centre layer, or none", "some candidates release a mean of their inputs and others do not; a search pays for one kind of training run")
		}
		s.front = min(s.front, front)
		for s.front > 0 && !slices.Equal(c.Layers.Layers[:s.front], first[:s.front]) {
			s.front--
		}
	}
	for _, layers := range all {
		if s.centred && layers[s.front].Kind != "centre" {
			return usage("put the same layers before centre in all of them", "candidates differ in the layers before centre, but its mean is released once, for inputs that all candidates share")
		}
	}
	return nil
}

// representative is the training of the front end with one layer behind it: what images pass
// before they are sealed is the same for all candidates.
func (s *netSearch) representative() (*training, error) {
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
	in.AsPublished = false // the search is, not its trainings
	return newTraining(in)
}

// sealing: images pass the front end that all candidates have.
func (h *searching) sealing() *training { return h.trials.(*netSearch).shared }

func (s *netSearch) noun() string { return "networks" }

func (s *netSearch) preflight(context.Context) error { return s.shared.preflight() }

// family is what a training and its score cost.
func (s *netSearch) family() search.Trial { return s.shared.family() }

// family is what a training of the network and its score cost.
func (n *training) family() search.Trial {
	return search.Trial{
		Train: func(x float64) dp.Event { return n.event(dp.WholeScope, x) },
		Score: func(x float64) []dp.Event { return []dp.Event{release.Accuracy{NoiseMultiplier: x}.Event()} },
	}
}

// candidate is the training of a point on a scope of so many nominal rows.
func (s *netSearch) candidate(p space.Point, rows int64, scope dp.Scope, noise float64, src *entropy.Source) (*training, error) {
	c, err := s.Build(p)
	if err != nil {
		return nil, err
	}
	n := *s.shared
	n.rows, n.scope, n.noise, n.alone = rows, scope, noise, true
	n.Layers, n.Radius, n.Name = c.Layers, c.Radius, s.Space.Name()+" "+p.String()
	if c.Kappa > 0 {
		n.Kappa = c.Kappa
	}
	if c.ClippingNorm > 0 {
		n.ClippingNorm = c.ClippingNorm
	}
	n.factor = c.StepFactor
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
	n.size()
	return &n, nil
}

// train trains a candidate. permit is nil where nothing is paid for.
func (s *netSearch) train(ctx context.Context, env Env, permit *ledger.Permit, n *training, src *entropy.Source) (*Outcome, error) {
	var out Outcome
	if err := n.run(ctx, env, permit, src, &out); err != nil {
		return nil, err
	}
	return &out, out.Model.Validate()
}

// trial trains the candidate of a point with what the permit pays for.
func (s *netSearch) trial(ctx context.Context, env Env, permit *ledger.Permit, p space.Point, scope dp.Scope, noise float64) (*Outcome, error) {
	src := permit.Randomness("train")
	n, err := s.candidate(p, s.shared.rows, scope, noise, src)
	if err != nil {
		return nil, err
	}
	n.simulated = s.of.asPublished
	return s.train(ctx, env, permit, n, src)
}

// work is what a study does with one candidate.
func (s *netSearch) work(env Env) study.Work[space.Point, *Outcome] {
	h := s.of
	env.Progress = nil // trainings run side by side
	return study.Work[space.Point, *Outcome]{
		Try: func(ctx context.Context, permit *ledger.Permit, p space.Point) (*Outcome, float64, error) {
			t, err := s.trial(ctx, env, permit, p, h.scopes.Train, h.quote.Noise)
			if err != nil {
				return t, 0, err
			}
			if h.asPublished {
				score, err := t.publishedScore(env, h.scopes.Validate, permit.Randomness("score"))
				return t, score, err
			}
			if h.Metric != "" {
				value, err := s.plan.problem.metricValue(ctx, permit, env.Rows, h.Metric, t.behind(), true, h.scopes.Validate, h.quote.ScoreNoise)
				return t, value, err
			}
			a := release.Accuracy{Scope: h.scopes.Validate, NoiseMultiplier: h.quote.ScoreNoise, Column: s.plan.problem.targetColumn,
				Levels: len(t.Model.Classes()), PredictInput: t.classOfInput()}
			released, err := a.Release(ctx, permit, env.Rows)
			return t, known(released.Value, 0), err
		},
		Finish: func(ctx context.Context, permit *ledger.Permit, p space.Point) (*Outcome, error) {
			return s.trial(ctx, env, permit, p, h.scopes.Final, h.finalNoise())
		},
		Elsewhere: func(ctx context.Context, permit *ledger.Permit, p space.Point) (float64, error) {
			src := permit.Randomness("trial")
			if h.Strategy.Kind == search.STW {
				return s.scoreWithoutNoise(ctx, env, p, src)
			}
			return s.scoreElsewhere(ctx, env, p, src)
		},
	}
}

func (out *Outcome) classOfInput() func(input []float32) int {
	predict, _ := out.behindPrefix()
	return func(input []float32) int { return int(predict(input)) }
}

// publicScore is the exact value of a metric on a scope of public rows, and their number.
func (out *Outcome) publicScore(env Env, scope dp.Scope, by Metric) (score, rows float64, err error) {
	q := out.network.problem.measure(by, out.behind(), true)
	add, value := q.exactly()
	if err = public.VisitInputs(env.Rows, scope, add); err != nil {
		return 0, 0, err
	}
	if score, rows = value(); rows == 0 {
		err = errors.New("no row scores")
	}
	return known(score, q.worst), rows, err
}

// scoreElsewhere trains and scores on the other, public data with the noise that the
// last training will have, so that the choice anticipates it.
func (s *netSearch) scoreElsewhere(ctx context.Context, env Env, p space.Point, src *entropy.Source) (float64, error) {
	cut := 1 - s.Strategy.Validation
	n, err := s.candidate(p, s.OnRows, dp.Scope{Lower: 0, Upper: cut}, s.of.quote.Noise, src.Split("train"))
	if err != nil {
		return 0, err
	}
	n.simulated, env.Rows = true, env.Other
	return s.scorePublic(ctx, env, n, src, dp.Scope{Lower: cut, Upper: 1})
}

// scoreWithoutNoise trains and scores on the data themselves, which are public.
func (s *netSearch) scoreWithoutNoise(ctx context.Context, env Env, p space.Point, src *entropy.Source) (float64, error) {
	within := s.plan.trainScope
	cut := within.Upper - (within.Upper-within.Lower)*s.Strategy.Validation
	n, err := s.candidate(p, s.shared.rows, dp.Scope{Lower: within.Lower, Upper: cut}, s.of.quote.Noise, src.Split("train"))
	if err != nil {
		return 0, err
	}
	n.NonPrivate, n.Clipping = true, gradient.Unclipped
	return s.scorePublic(ctx, env, n, src, dp.Scope{Lower: cut, Upper: within.Upper})
}

// scorePublic trains on public rows and scores on a scope of them.
func (s *netSearch) scorePublic(ctx context.Context, env Env, n *training, src *entropy.Source, validate dp.Scope) (float64, error) {
	out, err := s.train(ctx, env, nil, n, src.Split("train"))
	if err != nil {
		return 0, err
	}
	score, _, err := out.publicScore(env, validate, cmp.Or(s.of.Metric, ByAccuracy))
	return score, err
}

func (s *netSearch) adopt(winner, out *Outcome) {
	out.Model, out.network, out.norm = winner.Model, winner.network, winner.norm
}

// ready refuses rows that candidates do not take, before the rows are opened.
func (s *netSearch) ready(env Env) error {
	if got := env.Rows.InputDim(); got != s.shared.net.Inputs() {
		return usage("choose a space for this size", "inputs of %d numbers for networks that take %d", got, s.shared.net.Inputs())
	}
	return nil
}

// score is that of the winner's network. Images pass the front end of all.
func (s *netSearch) score(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	return s.plan.scoreNetwork(ctx, env, permit, out)
}

// unsearched is the exact test score of the rule's candidate with the whole budget.
func (s *netSearch) unsearched(ctx context.Context, env Env, noise float64, src *entropy.Source) (Score, error) {
	n, err := s.candidate(s.Rule, s.shared.rows, s.plan.trainScope, noise, src)
	if err != nil {
		return Score{}, err
	}
	n.simulated, n.alone, env.Progress = true, false, nil
	out, err := s.train(ctx, env, nil, n, src)
	if err != nil {
		return Score{}, err
	}
	err = s.score(ctx, env, nil, out)
	return out.Score, err
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

// seconds is at a speed that one core exceeds.
func (s *netSearch) seconds() float64 {
	n := s.shared
	return 6 * float64(n.steps) * float64(n.Batch) * s.uses * float64(max(s.Augment.Variants, 1)) / 30e9
}

func (s *netSearch) lots() bool { return s.shared.rate < 1 }

func (s *netSearch) features() features { return features{none: true} }

func (s *netSearch) complete(st *report.Statement, out *Outcome) {
	out.completeNetwork(st)
}

// parameters is the number of trained parameters of a candidate.
func (s *netSearch) parameters(p space.Point) (int, error) {
	c, err := s.Build(p)
	if err != nil {
		return 0, err
	}
	net, err := nn.Compile(c.Layers, s.Shape, s.Outputs)
	if err != nil {
		return 0, err
	}
	return net.Parameters(), nil
}
