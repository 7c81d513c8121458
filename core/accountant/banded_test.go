package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
)

// bandedPair are the outputs of a Banded on scalar sums with and without a unit of group 0 that adds 1
// to every sum that it joins, from the definition alone: o = x + s·C⁻¹z, with the covariance of that, no
// argument about blocks.
type bandedPair struct {
	steps   int
	scale   float64
	inverse [][]float64
	log     []float64   // of each pattern of joined rounds: its chance
	mean    [][]float64 // and what the unit adds
	dual    [][]float64 // CᵀC·mean/s²
	half    []float64   // ½·meanᵀCᵀC·mean/s²
}

func newBandedPair(e dp.Banded) *bandedPair {
	steps, norm := int(e.Steps), 0.0
	c, gram := matrix(steps), matrix(steps)
	for _, x := range e.Coefficients {
		norm += x * x
	}
	for t := range steps {
		for j, x := range e.Coefficients {
			if t-j >= 0 {
				c[t][t-j] = x
			}
		}
	}
	for i := range steps {
		for j := range steps {
			for t := range steps {
				gram[i][j] += c[t][i] * c[t][j]
			}
		}
	}
	p := &bandedPair{steps: steps, scale: e.NoiseMultiplier * math.Sqrt(norm), inverse: matrix(steps)}
	for s := range steps { // by forward substitution
		for t := s; t < steps; t++ {
			v := 0.0
			if t == s {
				v = 1
			}
			for r := s; r < t; r++ {
				v -= c[t][r] * p.inverse[r][s]
			}
			p.inverse[t][s] = v / c[t][t]
		}
	}
	var at []int
	for t := 0; t < steps; t += e.Groups {
		at = append(at, t)
	}
	for pattern := range 1 << len(at) {
		mean, log := make([]float64, steps), 0.0
		for k, t := range at {
			if pattern>>k&1 == 1 {
				mean[t] = 1
				log += math.Log(e.Rate)
			} else {
				log += math.Log1p(-e.Rate)
			}
		}
		dual, half := make([]float64, steps), 0.0
		for i := range steps {
			for j := range steps {
				dual[i] += gram[i][j] * mean[j] / (p.scale * p.scale)
			}
			half += dual[i] * mean[i] / 2
		}
		p.log, p.mean, p.dual, p.half = append(p.log, log), append(p.mean, mean), append(p.dual, dual), append(p.half, half)
	}
	return p
}

func matrix(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// loss draws an output, with or without the unit, and returns the log ratio of the densities there.
func (p *bandedPair) loss(src *rand.Rand, with bool) float64 {
	o, z := make([]float64, p.steps), make([]float64, p.steps)
	for i := range z {
		z[i] = src.NormFloat64()
	}
	pattern := 0
	if with {
		for u := src.Float64(); pattern < len(p.log)-1; pattern++ {
			if u -= math.Exp(p.log[pattern]); u < 0 {
				break
			}
		}
	}
	for t := range o {
		for s := range t + 1 {
			o[t] += p.scale * p.inverse[t][s] * z[s]
		}
		if with {
			o[t] += p.mean[pattern][t]
		}
	}
	ratio := 0.0
	for i, log := range p.log {
		if math.IsInf(log, -1) {
			continue
		}
		x := log - p.half[i]
		for t, v := range o {
			x += p.dual[i][t] * v
		}
		ratio += math.Exp(x)
	}
	return math.Log(ratio)
}

// The price is that of the definition: delta at some epsilons, by simulation of both neighbours. Null: the
// share of the losses is within 4.89 standard errors of the accountant's, which is passed with probability
// 1e-6; where the last round is cut off it is not above it. Convicts a price of Steps rounds or of one, a
// norm that is not divided out, a rate that is ignored.
func TestBandedIsItsDefinition(t *testing.T) {
	const draws = 100_000
	for i, e := range []dp.Banded{
		{Steps: 4, Groups: 2, Rate: 0.5, NoiseMultiplier: 0.8, Coefficients: []float64{1, 0.6}},
		{Steps: 6, Groups: 3, Rate: 0.3, NoiseMultiplier: 0.7, Coefficients: []float64{2, 1, 0.5}},
		{Steps: 6, Groups: 3, Rate: 0.4, NoiseMultiplier: 1, Coefficients: []float64{1, -0.7}},
		{Steps: 4, Groups: 4, Rate: 1, NoiseMultiplier: 1.1, Coefficients: []float64{1, 0.5, 0.375}},
		{Steps: 6, Groups: 2, Rate: 1, NoiseMultiplier: 2, Coefficients: []float64{1, 0.9}},
		{Steps: 5, Groups: 2, Rate: 0.5, NoiseMultiplier: 0.8, Coefficients: []float64{1, 1}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			pair, src := newBandedPair(e), rand.New(rand.NewPCG(7, uint64(i)))
			removed, added := make([]float64, draws), make([]float64, draws)
			for k := range draws {
				removed[k], added[k] = pair.loss(src, true), -pair.loss(src, false)
			}
			for _, epsilon := range []float64{0.1, 0.5, 1, 2} {
				got, err := Delta(e, dp.AddOrRemoveOne, epsilon, MethodMin)
				if err != nil {
					t.Fatal(err)
				}
				want, spread := 0.0, 0.0
				for _, losses := range [][]float64{removed, added} {
					sum, squares := 0.0, 0.0
					for _, l := range losses {
						x := max(0, -math.Expm1(epsilon-l))
						sum, squares = sum+x, squares+x*x
					}
					if mean := sum / draws; mean > want {
						want, spread = mean, math.Sqrt((squares/draws-mean*mean)/draws)
					}
				}
				below := want - got.Delta
				if below > 4.89*spread+1e-12 || e.Whole() && -below > 4.89*spread+2e-3*want {
					t.Errorf("epsilon %g: delta %.6f by the accountant, %.6f ± %.6f by its definition", epsilon, got.Delta, want, spread)
				}
				if (got.Lower > 0) && !e.Whole() {
					t.Errorf("a lower bound of %g, and the last round is cut off", got.Lower)
				}
			}
		})
	}
}

// What it is made of is the only thing that its price depends on, under every relation.
func TestBandedIsItsRounds(t *testing.T) {
	e := dp.Banded{Steps: 640, Groups: 8, Rate: 0.12, NoiseMultiplier: 1.1, Coefficients: []float64{1, 0.5}}
	g := dp.Gaussian{NoiseMultiplier: 1.1}
	for _, c := range []struct {
		relation dp.Relation
		rounds   dp.Event
	}{
		{dp.AddOrRemoveOne, dp.Repeat{Count: 80, Event: dp.PoissonSampled{Rate: 0.12, Event: g}}},
		{dp.ZeroOut, dp.Repeat{Count: 80, Event: dp.PoissonSampled{Rate: 0.12, Event: g}}},
		// A unit that is replaced may change its group: nothing is amplified.
		{dp.ReplaceOne, dp.Repeat{Count: 80, Event: g}},
	} {
		for _, method := range []Method{MethodRDP, MethodMin} {
			a, b := mustEpsilon(t, e, c.relation, 1e-5, method), mustEpsilon(t, c.rounds, c.relation, 1e-5, method)
			if a.Epsilon != b.Epsilon {
				t.Errorf("%v, %v: epsilon %g, its rounds %g", c.relation, method, a.Epsilon, b.Epsilon)
			}
		}
	}
	short := e
	short.Steps = 633 // the last round has a step
	if a, b := mustEpsilon(t, e, addRemove, 1e-5, MethodMin), mustEpsilon(t, short, addRemove, 1e-5, MethodMin); a.Epsilon != b.Epsilon {
		t.Errorf("a round that is cut off costs %g, a whole one %g", b.Epsilon, a.Epsilon)
	}
}
