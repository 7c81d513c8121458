package runners

import (
	"context"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/experiments"
)

// candidates are trainings of which the best is chosen: noise 4, lots of 250, 10,000 iterations on so many rows.
type candidates struct {
	Rows  float64 `json:"rows"`
	Delta float64 `json:"delta"`
	// How prices them: as published, honest, or against selection.
	How        string `json:"how"`
	Candidates int    `json:"candidates"`
}

// mostCandidates is where the search for a crossing ends.
const mostCandidates = 200

func (s *candidates) training() dp.Event {
	return dp.Repeat{Count: 10000, Event: dp.PoissonSampled{Rate: 250 / s.Rows, Event: dp.Gaussian{NoiseMultiplier: 4}}}
}

type price func(k int) (float64, error)

// prices are those of composition and random stopping as published, and of composition, random stopping and private
// selection by our accountant.
func (s *candidates) prices() []price {
	replay := meaning.Replay{Relation: dp.AddOrRemoveOne, Event: s.training()}
	return []price{
		func(k int) (float64, error) { return replay.ComposedCandidates(k, s.Delta) },
		func(k int) (float64, error) { return replay.LiuTalwar(k, s.Delta) },
		s.composed, s.stopped, s.selected,
	}
}

// crossPrices is the largest number of candidates, from 2 on, up to which composition is not dearer than the other; 1
// where it is from 2 on.
func crossPrices(_ context.Context, _ *experiments.Run, s *candidates) ([]float64, error) {
	p := s.prices()
	composed, other := p[2], p[4]
	switch s.How {
	case "as published":
		composed, other = p[0], p[1]
	case "honest":
		other = p[3]
	}
	at := 1.
	for k := 2; k <= mostCandidates; k++ {
		a, err := composed(k)
		if err != nil {
			return nil, err
		}
		b, err := other(k)
		if err != nil {
			return nil, err
		}
		if a > b {
			break
		}
		if math.IsInf(b, 1) {
			// No bound on the other side is no price to compare with.
			return nil, fmt.Errorf("%s: no finite price for %d candidates", s.How, k)
		}
		at = float64(k)
	}
	return []float64{at}, nil
}

// priceCandidates are all prices of so many.
func priceCandidates(_ context.Context, _ *experiments.Run, s *candidates) ([]float64, error) {
	var out []float64
	for _, price := range s.prices() {
		v, err := price(s.Candidates)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (s *candidates) price(e dp.Event) (float64, error) {
	r, err := accountant.Epsilon(e, dp.AddOrRemoveOne, s.Delta, accountant.MethodRDP)
	return r.Epsilon, err
}

func (s *candidates) composed(k int) (float64, error) {
	return s.price(dp.Repeat{Count: int64(k), Event: s.training()})
}

func (s *candidates) stopped(k int) (float64, error) {
	return s.price(dp.Select{Runs: dp.RandomStopping{Gamma: 1 / float64(k), Delta2: s.Delta / 2}, Event: s.training()})
}

func (s *candidates) selected(k int) (float64, error) {
	return s.price(dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: float64(k)}, Event: s.training()})
}
