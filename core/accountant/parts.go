package accountant

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"pawl/core/accountant/search"
	"pawl/core/dp"
)

// ErrRelation is wrapped if an event has no known cost under the relation.
var ErrRelation = errors.New("no bound under this neighbouring relation")

// part is count adaptive uses of one event that cannot be taken apart further.
type part struct {
	event dp.Event
	count float64
	// loose says that taking the event apart already gave something away: sampling that
	// was not counted, batches of unknown place. Nobody need attain what is left.
	loose bool
}

// flatten takes a scope-free event apart. What remains are leaf mechanisms,
// Poisson-sampled ones (sampledpure.go), FixedSizeSampled and Select; equal events are
// merged. It is here that sampling which no theorem covers loses its
// amplification: running on a data-independent sample is a mixture of the inner
// mechanism with and without the unit, which costs at most the inner mechanism.
func flatten(e dp.Event, rel dp.Relation) ([]part, error) {
	f := flattener{rel: rel, index: map[key]int{}}
	if err := f.add(e, 1); err != nil {
		return nil, err
	}
	return f.parts, nil
}

type flattener struct {
	rel   dp.Relation
	parts []part
	index map[key]int
	loose bool
}

type key struct {
	event dp.Event
	loose bool
}

// addLoosely adds an event that costs at least what it stands for.
func (f *flattener) addLoosely(e dp.Event, count float64) error {
	was := f.loose
	f.loose = true
	err := f.add(e, count)
	f.loose = was
	return err
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
		return f.addLoosely(e.Event, count*float64(e.Epochs))
	case dp.PoissonSampled:
		return f.addSampled(e, count)
	case dp.Banded:
		if e.Whole() {
			return f.add(e.Rounds(), count)
		}
		return f.addLoosely(e.Rounds(), count)
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
	switch {
	case e.Rate == 0:
		return nil
	case e.Rate == 1:
		return f.add(e.Event, count)
	}
	if inner, ok := e.Event.(dp.PoissonSampled); ok {
		switch {
		case f.rel != dp.ReplaceOne || inner.OneSided != nil:
			// Two independent samplings are one at the product of their rates.
			return f.addSampled(dp.PoissonSampled{Rate: product(e.Rate, inner.Rate), Event: inner.Event, OneSided: inner.OneSided}, count)
		default:
			return f.addLoosely(dp.PoissonSampled{Rate: e.Rate, Event: inner.Event, OneSided: e.OneSided}, count)
		}
	}
	if f.rel == dp.ReplaceOne {
		return f.addReplaced(e, count)
	}
	inner, err := flatten(e.Event, f.rel)
	if err != nil || len(inner) == 0 {
		return err
	}
	if g, some, others := gaussians(inner); len(others) == 0 {
		if len(some) == 1 && some[0].count == 1 {
			g = some[0].event.(dp.Gaussian)
		}
		// Several on one sample are one on that sample.
		f.append(dp.PoissonSampled{Rate: e.Rate, Event: g}, count)
		return nil
	}
	if len(inner) == 1 && inner[0].count == 1 {
		switch x := inner[0].event.(type) {
		case dp.Laplace, dp.DiscreteLaplace, dp.ExponentialMechanism, dp.Pure:
			if !math.IsInf(pureEpsilon(x, f.rel), 1) {
				f.append(dp.PoissonSampled{Rate: e.Rate, Event: x}, count)
				return nil
			}
		case dp.Approximate:
			// (ε, δ) at rate q is (ln(1+q(e^ε−1)), qδ): Balle, Barthe and Gaboardi,
			// arXiv:1807.01647, Theorem 8.
			remove, _ := SampledPure(e.Rate, x.Epsilon)
			f.append(dp.Approximate{Epsilon: remove, Delta: product(e.Rate, x.Delta)}, count)
			return nil
		}
	}
	// Whatever else has a pure epsilon counts as a pure mechanism where that is less
	// than doing without the amplification at every order, and else it does without.
	if epsilon := pureSum(e.Event, f.rel); !math.IsInf(epsilon, 1) {
		remove, _ := SampledPure(e.Rate, epsilon)
		plain, err := curveOf(inner, f.rel)
		if err != nil {
			return err
		}
		sampled, less := pureCurve(remove), true
		for _, alpha := range search.Orders() {
			less = less && sampled(alpha) <= plain(alpha)
		}
		if less {
			f.append(dp.PoissonSampled{Rate: e.Rate, Event: dp.Pure{Epsilon: epsilon}}, count)
			return nil
		}
	}
	return f.addLoosely(e.Event, count)
}

// addReplaced adds a sampled event under ReplaceOne, where the pair is a mixture with
// two components: only a one-sided bound makes sampling count.
func (f *flattener) addReplaced(e dp.PoissonSampled, count float64) error {
	if e.OneSided == nil {
		return f.addLoosely(e.Event, count)
	}
	inner, err := flatten(e.Event, dp.ReplaceOne)
	if err != nil || len(inner) == 0 {
		return err
	}
	if _, err := flatten(e.OneSided, dp.AddOrRemoveOne); err != nil {
		return err
	}
	f.append(dp.PoissonSampled{Rate: e.Rate, Event: e.Event, OneSided: e.OneSided}, count)
	return nil
}

// gaussians finds the full-batch Gaussians among parts, and the one that they are together: their adaptive
// composition is dominated by a single Gaussian pair of precision Σ1/σ².
func gaussians(parts []part) (together dp.Gaussian, some, others []part) {
	precision := 0.0
	for _, p := range parts {
		if g, ok := p.event.(dp.Gaussian); ok {
			precision += p.count / g.NoiseMultiplier / g.NoiseMultiplier
			some = append(some, p)
		} else {
			others = append(others, p)
		}
	}
	return dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(atLeastTiny(precision))}, some, others
}

func (f *flattener) append(e dp.Event, count float64) {
	// An event that holds a Compose holds a slice and cannot be a map key.
	if reflect.ValueOf(e).Comparable() {
		k := key{e, f.loose}
		if i, ok := f.index[k]; ok {
			f.parts[i].count += count
			return
		}
		f.index[k] = len(f.parts)
	}
	f.parts = append(f.parts, part{e, count, f.loose})
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
	case dp.PoissonSampled:
		return sampledPureEpsilon(e, rel)
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

// pureSum is the pure epsilon of an event.
func pureSum(e dp.Event, rel dp.Relation) float64 {
	parts, err := flatten(e, rel)
	if err != nil {
		return inf
	}
	return pureOf(parts, rel)
}

// pureOf is basic composition of pure epsilons, +Inf where a part has none.
func pureOf(parts []part, rel dp.Relation) float64 {
	sum := 0.0
	for _, p := range parts {
		sum += p.count * pureEpsilon(p.event, rel)
	}
	return sum
}
