package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/linear"
	"pawl/data/encode"
)

// apartOf is k, or 2k where a unit is replaced.
func apartOf(relation dp.Relation, k int) float64 {
	if relation == dp.ReplaceOne {
		return 2 * float64(k)
	}
	return float64(k)
}

func named(name string, relation dp.Relation) string {
	if relation == dp.ReplaceOne {
		return name + ", replaced"
	}
	return name
}

func reference(src *entropy.Source) *rand.Rand {
	return rand.New(rand.NewPCG(src.Uint64(), src.Uint64()))
}

// Two steps, of which the second one's sum depends on the first one's noise: the residual
// moves by it against itself. Each run leaves z₂ − z₁/2, so noise that is used twice leaves
// a fifth of the variance, and what the mean of weights hides else shows.
func descentSpec(relation dp.Relation) Specification {
	const n, k, runs, outputs = 200, 3, 1500, 600
	return Specification{Name: named("descent, steps", relation), Entry: "linear.Descend", Rows: "200 equal rows at a rate at which a step undoes one and a half times the last",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			enc, err := constant()
			if err != nil {
				return nil, err
			}
			rows, err := oneRowEach("u", n, 0).seal(k)
			if err != nil {
				return nil, err
			}
			apart := apartOf(relation, k)
			d := linear.Descent{Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.5, NoiseMultiplier: 1, Steps: 2, SamplingRate: 1},
				Encoding: enc, Loss: linear.Residual, Outputs: 1, Target: func([]float64) float64 { return 0 }, ExpectedRows: n, LearningRate: 1.5}
			desk := &desk{relation: relation, rowsPerUnit: k, events: []dp.Event{d.Event()}}
			z := make([]float64, runs)
			for i := range z {
				w, err := desk.descend(ctx, src, rows, d)
				if err != nil {
					return nil, err
				}
				z[i] = w[0] * n / 1.5 / (0.5 * apart * math.Sqrt(1.25))
			}
			// Rows without a target: what is left of two steps is noise, on many coordinates.
			d.Loss, d.Outputs, d.Target = linear.Softmax, outputs, func([]float64) float64 { return math.NaN() }
			w, err := desk.descend(ctx, src, rows, d)
			if err != nil {
				return nil, err
			}
			for j := range w {
				w[j] *= n / 1.5 / (0.5 * apart * math.Sqrt2)
			}
			return []Check{
				ScaleCheck("two steps have independent noise of the priced standard deviation", z),
				ScaleCheck("noise has the priced standard deviation on every coordinate", w),
				ReuseCheck("coordinates do not share noise", [][]float64{w}),
			}, nil
		}}
}

// Two sampled steps of a unit, nearly without noise: the weight says how often it joined.
func descentLotsSpec() Specification {
	const k, runs, rate, clip, sigma = 3, 800, 0.3, 0.25, 0.01
	return Specification{Name: "descent, lots", Entry: "linear.Descend", Rows: "one unit of 5 rows, of which 3 count, in two sampled steps",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			enc, err := constant()
			if err != nil {
				return nil, err
			}
			rows, err := oneUnit(k+2, 0, 1).seal(k)
			if err != nil {
				return nil, err
			}
			d := linear.Descent{Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 2, SamplingRate: rate},
				Encoding: enc, Loss: linear.Logistic, Outputs: 1, Target: target, ExpectedRows: 1 / rate, LearningRate: 1e-4}
			desk := &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: k, events: []dp.Event{d.Event()}}
			var z []float64
			joined, both, once, torn, over := 0, 0, 0, 0, 0
			for range runs {
				w, err := desk.descend(ctx, src, rows, d)
				if err != nil {
					return nil, err
				}
				part := w[0] / 1e-4 / clip // rows that joined, over both steps
				level := math.Round(part)
				z = append(z, (part-level)/(sigma*k*math.Sqrt2))
				switch level {
				case 0:
				case k:
					joined, once = joined+1, once+1
				case 2 * k:
					joined, both = joined+2, both+1
				default:
					if level > 2*k {
						over++
					}
					torn++
				}
			}
			return []Check{
				ShareCheck("a unit joins lots at the sampling rate", joined, 2*runs, rate),
				ShareCheck("lots of different steps are independent", both, runs, rate*rate),
				NeverCheck("a unit joins with all its rows or none", torn, runs),
				NeverCheck("a unit's rows beyond its bound add nothing", over, runs),
				ScaleCheck("noise has the priced standard deviation", z),
			}, nil
		}}
}

// One row's part of the sum under every loss, nearly without noise.
func descentClipSpec() Specification {
	const clip, sigma, runs = 0.25, 0.01, 40
	return Specification{Name: "descent, clipping", Entry: "linear.Descend", Rows: "one row under each loss",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			enc, err := constant()
			if err != nil {
				return nil, err
			}
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			var checks []Check
			for _, c := range []struct {
				loss    linear.Loss
				outputs int
				target  float64
				part    []float64
			}{
				{linear.Logistic, 1, 1, []float64{-clip}}, {linear.Residual, 1, 5, []float64{-clip}},
				{linear.Softmax, 2, 1, []float64{clip / math.Sqrt2, -clip / math.Sqrt2}},
			} {
				d := linear.Descent{Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 1, SamplingRate: 1},
					Encoding: enc, Loss: c.loss, Outputs: c.outputs, Target: func([]float64) float64 { return c.target }, ExpectedRows: 1, LearningRate: 1}
				desk := &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: 1, events: []dp.Event{d.Event()}}
				var z []float64
				for range runs {
					w, err := desk.descend(ctx, src, rows, d)
					if err != nil {
						return nil, err
					}
					for j, v := range w {
						z = append(z, (-v-c.part[j])/(sigma*clip))
					}
				}
				checks = append(checks, ScaleCheck(fmt.Sprintf("a row adds the clipping norm under %s loss", c.loss), z))
			}
			return checks, nil
		}}
}

// One row's part of the sum where the levels of blocks have vectors of many lengths, as in an
// additive model, nearly without noise.
func descentMapsSpec() Specification {
	const clip, sigma, runs = 0.1, 0.01, 40
	return Specification{Name: "descent, maps", Entry: "linear.Descend", Rows: "one row at short and long vectors, and at a level that has none",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			at := func(level int) func([]int) int { return func([]int) int { return level } }
			enc, err := encode.OfMaps(1, nil, []encode.Map{
				{Name: "a", Level: at(1), Vectors: [][]float64{{1, 0}, {0, 2}}}, {Name: "b", Level: at(0), Vectors: [][]float64{{3}, {0.5}}},
				{Name: "c", Level: at(2), Vectors: [][]float64{{7}, {7}}},
			})
			if err != nil {
				return nil, err
			}
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			x := []float64{1, 0, 2, 3, 0} // in units of Scale
			var checks []Check
			for _, c := range []struct {
				loss   linear.Loss
				target float64
				part   []float64 // of each score, of norm 1
			}{{linear.Bounded, 5, []float64{1}}, {linear.Logistic, 1, []float64{1}}, {linear.Softmax, 1, []float64{-math.Sqrt(0.5), math.Sqrt(0.5)}}} {
				d := linear.Descent{Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 1, SamplingRate: 1},
					Encoding: enc, Loss: c.loss, Outputs: len(c.part), Target: func([]float64) float64 { return c.target }, ExpectedRows: 1, LearningRate: 1}
				desk := &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: 1, events: []dp.Event{d.Event()}}
				var z []float64
				for range runs {
					w, err := desk.descend(ctx, src, rows, d)
					if err != nil {
						return nil, err
					}
					for j, v := range w {
						z = append(z, (v-clip*x[j/len(c.part)]*c.part[j%len(c.part)]/math.Sqrt(14))/(sigma*clip))
					}
				}
				checks = append(checks, ScaleCheck(fmt.Sprintf("a row adds the clipping norm over all blocks under %s loss", c.loss), z))
			}
			return checks, nil
		}}
}

// Two epochs over two terms of many cells.
func boostSpec(relation dp.Relation) Specification {
	const levels, epochs, terms, k, clip, share, sigma, rate = 800, 2, 2, 3, 0.01, 0.3, 2.0, 1e-6
	return Specification{Name: named("boosting, terms", relation), Entry: "linear.TrainBoost", Rows: "40 units of 5 rows, of which 3 count, in one cell of two terms; two epochs",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			const units = 40
			p := &people{}
			for u := range units {
				for range k + 2 {
					p.add(fmt.Sprint("u", u), 0, 1)
				}
			}
			rows, err := p.seal(k)
			if err != nil {
				return nil, err
			}
			first := func([]float64) int { return 0 }
			b := linear.Boost{Scope: dp.WholeScope, NoiseMultiplier: sigma, ClippingNorm: clip, CountShare: share, Epochs: epochs, Tail: 1, Outputs: 1,
				Terms: []linear.Term{{Name: "a", Levels: levels, Level: first}, {Name: "b", Levels: levels, Level: first}},
				Loss:  linear.Residual, Target: target, LearningRate: rate, Floor: 1e-9}
			permit, err := permitFor(ctx, relation, k, src.Uint64(), b.Event())
			if err != nil {
				return nil, err
			}
			m, err := linear.TrainBoost(ctx, permit, rows, b)
			if err != nil {
				return nil, err
			}
			apart := apartOf(relation, k)
			onCount := sigma / math.Sqrt(share) * math.Sqrt(terms) * apart
			onSum := sigma * math.Sqrt(epochs*terms/(1-share)) * clip * apart * math.Sqrt(epochs)
			var counts, sums [][]float64
			for t := range terms {
				c, s := make([]float64, levels), make([]float64, levels)
				for j := range levels {
					n := m.Counts[t][j]
					c[j], s[j] = n/onCount, -m.Tables[t][j]*max(n, 1)/rate/onSum
				}
				c[0] -= units * k / onCount
				s[0] += units * k * clip * epochs / onSum
				counts, sums = append(counts, c), append(sums, s)
			}
			return []Check{
				ScaleCheck("noise on counts has the priced standard deviation", append(append([]float64{}, counts[0]...), counts[1]...)),
				ScaleCheck("the sums of two epochs have independent noise of the priced standard deviation", append(append([]float64{}, sums[0]...), sums[1]...)),
				ReuseCheck("counts and sums of terms do not share noise", append(counts, sums...)),
			}, nil
		}}
}
