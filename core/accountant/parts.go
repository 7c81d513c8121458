package accountant

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"pawl/core/dp"
)

// ErrRelation is wrapped where an event has no known cost under the relation.
var ErrRelation = errors.New("no bound under this neighboring relation")

// part is count adaptive uses of one event that cannot be taken apart further.
type part struct {
	event dp.Event
	count float64
}

// flatten takes a scope-free event apart. What remains are leaf mechanisms,
// Poisson-sampled Gaussians, FixedSizeSampled and Select; equal events are
// merged. It is here that sampling which no theorem covers loses its
// amplification: running on a data-independent sample is a mixture of the inner
// mechanism with and without the unit, which costs at most the inner mechanism.
func flatten(e dp.Event, rel dp.Relation) ([]part, error) {
	f := flattener{rel: rel, index: map[dp.Event]int{}}
	if err := f.add(e, 1); err != nil {
		return nil, err
	}
	return f.parts, nil
}

type flattener struct {
	rel   dp.Relation
	parts []part
	index map[dp.Event]int
}

func (f *flattener) add(e dp.Event, count float64) error {
	if count == 0 {
		return nil
	}
	switch e := e.(type) {
	case dp.NoOp:
		return nil
	case dp.Repeat:
		return f.add(e.Event, count*float64(e.Count))
	case dp.Compose:
		for _, c := range e.Events {
			if err := f.add(c, count); err != nil {
				return err
			}
		}
		return nil
	case dp.Scoped:
		return fmt.Errorf("scope %v was not resolved", e.Scope)
	case dp.Shuffled:
		// Adding a unit to a shuffled data set moves others between batches, so one
		// use an epoch is proven only where the number of units does not change.
		if f.rel == dp.AddOrRemoveOne {
			return fmt.Errorf("%w: shuffled batches need replace_one or zero_out, not %v", ErrRelation, f.rel)
		}
		return f.add(e.Event, count*float64(e.Epochs))
	case dp.PoissonSampled:
		return f.addSampled(e, count)
	case dp.FixedSizeSampled:
		switch {
		case e.SampleSize == 0:
			return nil
		case e.SampleSize == e.SourceSize:
			return f.add(e.Event, count)
		case f.rel != dp.ReplaceOne:
			return fmt.Errorf("%w: fixed-size sampling needs replace_one, not %v", ErrRelation, f.rel)
		}
	case dp.RandomizedResponse:
		if f.rel != dp.ReplaceOne {
			return fmt.Errorf("%w: randomized response needs replace_one, not %v", ErrRelation, f.rel)
		}
	}
	f.append(e, count)
	return nil
}

func (f *flattener) addSampled(e dp.PoissonSampled, count float64) error {
	if e.Rate == 0 {
		return nil
	}
	// Two independent samplings are one at the product of their rates.
	if inner, ok := e.Event.(dp.PoissonSampled); ok {
		return f.addSampled(dp.PoissonSampled{Rate: e.Rate * inner.Rate, Event: inner.Event}, count)
	}
	// Under ReplaceOne the pair is a mixture with two components, not covered here.
	if e.Rate == 1 || f.rel == dp.ReplaceOne {
		return f.add(e.Event, count)
	}
	inner, err := flatten(e.Event, f.rel)
	if err != nil {
		return err
	}
	// Several Gaussians on one sample are one Gaussian on that sample, because
	// their adaptive composition is dominated by a single Gaussian pair.
	precision := 0.0
	for _, p := range inner {
		g, ok := p.event.(dp.Gaussian)
		if !ok {
			return f.add(e.Event, count)
		}
		precision += p.count / g.NoiseMultiplier / g.NoiseMultiplier
	}
	if len(inner) == 1 && inner[0].count == 1 {
		f.append(dp.PoissonSampled{Rate: e.Rate, Event: inner[0].event}, count)
	} else if len(inner) > 0 {
		f.append(dp.PoissonSampled{Rate: e.Rate, Event: dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(precision)}}, count)
	}
	return nil
}

func (f *flattener) append(e dp.Event, count float64) {
	// An event that holds a Compose holds a slice and cannot be a map key.
	if reflect.ValueOf(e).Comparable() {
		if i, ok := f.index[e]; ok {
			f.parts[i].count += count
			return
		}
		f.index[e] = len(f.parts)
	}
	f.parts = append(f.parts, part{e, count})
}

// pureEpsilon is the pure epsilon of one use of a flattened event, +Inf where it
// has none.
func pureEpsilon(e dp.Event, rel dp.Relation) float64 {
	switch e := e.(type) {
	case dp.Laplace:
		return atLeastTiny(1 / e.NoiseMultiplier)
	case dp.DiscreteLaplace:
		return atLeastTiny(1 / e.NoiseMultiplier)
	case dp.RandomizedResponse:
		// ln of the largest ratio of answer probabilities.
		return math.Log1p(float64(e.Categories) * (1 - e.NoiseProbability) / e.NoiseProbability)
	case dp.ExponentialMechanism:
		return e.Epsilon
	case dp.Pure:
		return e.Epsilon
	case dp.Approximate:
		if e.Delta == 0 {
			return e.Epsilon
		}
	case dp.FixedSizeSampled:
		return pureSum(e.Event, rel)
	case dp.Select:
		// Papernot and Steinke, Corollary 4: (2+η)ε.
		if runs, ok := e.Runs.(dp.TruncatedNegativeBinomial); ok {
			return (2 + runs.Eta) * pureSum(e.Event, rel)
		}
	}
	return inf
}

// pureSum is the pure epsilon of an event by basic composition.
func pureSum(e dp.Event, rel dp.Relation) float64 {
	parts, err := flatten(e, rel)
	if err != nil {
		return inf
	}
	sum := 0.0
	for _, p := range parts {
		sum += p.count * pureEpsilon(p.event, rel)
	}
	return sum
}
