package search

import (
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Trial is one family of trainings: what one costs with a given noise. All candidates
// of a space share it, because a selection pays for the dearest candidate.
type Trial struct {
	// Train is the event of one training on the units of its scope.
	Train func(noise float64) dp.Event
	// Score is the event of one validation score of a given noise multiplier.
	Score func(noise float64) []dp.Event
}

// ScoreNoise is the multiplier at which one score, a count with discrete Gaussian
// noise, costs no more than train at any order: the units that score are others than
// those that train, so the score is then free.
//
//	α/(2σ²) <= R_train(α) for all α
//
// R_train(α)/α is looked at on a grid of orders; between them nothing is lost but that
// the score may cost a hair, which the accountant sees and calibration takes off. A
// training without a Rényi curve gives an error: it must not stand in a selection.
func ScoreNoise(train dp.Event, rel dp.Relation) (float64, error) {
	least := math.Inf(1)
	for _, alpha := range []float64{1.01, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256} {
		r, err := accountant.RDP(train, rel, alpha)
		if err != nil {
			return 0, err
		}
		least = math.Min(least, r/alpha)
	}
	if !(least > 0) || math.IsInf(least, 0) {
		return 0, fmt.Errorf("a training run without a finite Rényi curve cannot be searched over")
	}
	return math.Sqrt(1 / (2 * least)), nil
}

// Job is what a search is for: a family of trainings on divided units, and how it is
// accounted.
type Job struct {
	Trial
	Scopes   Scopes
	Relation dp.Relation
	// Epsilon is the total that the whole strategy may cost at Delta > 0.
	Epsilon, Delta float64
	// Accountant is MethodMin where it is empty.
	Accountant accountant.Method
}

// Event is what the strategy does to the data when each training of the search has
// noise multiplier noise and the final training of split and subset has final (the
// others have none of their own).
func (s Strategy) Event(j Job, noise, final float64) (dp.Event, error) {
	choose, err := s.choice(j, noise)
	if err != nil || !s.twoSteps() {
		return choose, err
	}
	return dp.Compose{Events: []dp.Event{choose, j.finalEvent(final)}}, nil
}

// twoSteps says that the winner is trained once more on units of its own choice.
func (s Strategy) twoSteps() bool { return s.Kind == Split || s.Kind == Subset }

func (j Job) finalEvent(noise float64) dp.Event {
	return dp.Scoped{Scope: j.Scopes.Final, Event: j.Train(noise)}
}

func (s Strategy) choice(j Job, noise float64) (dp.Event, error) {
	one, err := s.trial(j, noise)
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case None, Public, STW:
		return one, nil
	case Split, Subset, PS, RS:
		return s.selection(s.Mean, one), nil
	case PSPoisson:
		return dp.Select{Runs: dp.PoissonRuns{Mean: s.Mean}, Event: one}, nil
	case LT:
		// Little of delta, so that other jobs fit beside it: the ledger takes it at delta/16.
		return dp.Select{Runs: dp.RandomStopping{Gamma: 1 / s.Mean, Delta2: j.Delta / 32}, Event: one}, nil
	case MGRS:
		var all dp.Compose
		for _, mean := range s.Sizes {
			all.Events = append(all.Events, s.selection(mean, one))
		}
		return all, nil
	}
	_, n := s.Trainings()
	all := dp.Compose{Events: make([]dp.Event, n)}
	for i := range all.Events {
		all.Events[i] = one
	}
	return all, nil
}

func (s Strategy) selection(mean float64, one dp.Event) dp.Select {
	return dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: s.Eta, Mean: mean}, Event: one}
}

// trial is one training with its score.
func (s Strategy) trial(j Job, noise float64) (dp.Event, error) {
	train := j.Train(noise)
	if s.Once() {
		return dp.Scoped{Scope: j.Scopes.Final, Event: train}, nil
	}
	v, err := ScoreNoise(train, j.Relation)
	if err != nil {
		return nil, err
	}
	return dp.Compose{Events: []dp.Event{
		dp.Scoped{Scope: j.Scopes.Train, Event: train},
		dp.Scoped{Scope: j.Scopes.Validate, Event: dp.Compose{Events: j.Score(v)}},
	}}, nil
}
