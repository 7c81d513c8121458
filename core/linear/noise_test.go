package linear

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

// wideEncoding has about a thousand coordinates, so that few runs give many draws.
func wideEncoding(t *testing.T) (*encode.Encoding, *schema.Schema) {
	s := testSchema(1, false)
	for i := range 300 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("wide", i), Type: schema.Categorical, Categories: []string{"a", "b", "c"}})
	}
	enc, err := encode.New(s, "y", encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return enc, s
}

// steps recovers the noise of the three steps of a run from the outputs of runs with
// three momenta, which are not part of the event and so leave its stream alone. At zero
// gradient and momentum m the output, the average of the last two of three iterates, is
// minus (1+m+m²/2)·z₁ + (1+m/2)·z₂ + z₃/2.
func steps(t *testing.T, d Descent, s *schema.Schema, rel dp.Relation, k int, src *entropy.Source) (z [3][]float64) {
	t.Helper()
	momenta := [3]float64{0, 0.5, 0.75}
	var out [3][]float64
	d.Steps, d.Target = 3, noTarget
	for i := range out {
		d.Momentum = momenta[i]
		w, err := Descend(context.Background(), permitWith(t, src, rel, k, d.Event()), sealed.New("d", s, make([]float64, 2*len(s.Columns)), []uint64{1, 2}), d)
		if err != nil {
			t.Fatal(err)
		}
		for j := range w {
			w[j] *= -d.SamplingRate * d.ExpectedRows / d.LearningRate
		}
		out[i] = w
	}
	for j := range out[0] {
		a, b := out[1][j]-out[0][j], out[2][j]-out[0][j] // 0.625·z₁ + 0.25·z₂ and 1.03125·z₁ + 0.375·z₂
		const det = 0.625*0.375 - 0.25*1.03125
		z1, z2 := (0.375*a-0.25*b)/det, (0.625*b-1.03125*a)/det
		z[0], z[1] = append(z[0], z1), append(z[1], z2)
		z[2] = append(z[2], 2*(out[0][j]-z1-z2))
	}
	return z
}

// Null: at zero gradient the weights are sums of independent N(0, (σ·C·k)²), twice
// that deviation under replace-one. About 5·10⁴ draws a case: the variance has a
// standard error of 0.6 %, |z| <= 4.89 is passed with probability 1e-6. Convicts
// noise that is off, halved, reused in the next step, shared by coordinates, or
// that forgets k, the relation or the clipping norm, and noise divided by a number
// other than the public divisor. Empty lots are noised like any other.
func TestNoiseOfSteps(t *testing.T) {
	enc, s := wideEncoding(t)
	for _, tt := range []struct {
		name    string
		loss    Loss
		outputs int
		clip    float64
		rel     dp.Relation
		k       int
		rate    float64
		stdDev  float64 // in units of σ
	}{
		{"full batch", Logistic, 1, 0.5, dp.AddOrRemoveOne, 1, 1, 0.5},
		{"three rows per unit", Residual, 1, 0.25, dp.AddOrRemoveOne, 3, 1, 0.75},
		{"zero out", Residual, 1, 0.5, dp.ZeroOut, 1, 1, 0.5},
		{"replace one", Logistic, 1, 0.5, dp.ReplaceOne, 1, 1, 1},
		{"classes", Softmax, 3, 2, dp.AddOrRemoveOne, 2, 1, 4},
		{"empty lots", Logistic, 1, 0.5, dp.AddOrRemoveOne, 1, 1e-9, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := descent(enc, tt.loss, tt.outputs)
			d.ClippingNorm, d.SamplingRate, d.NoiseMultiplier, d.ExpectedRows, d.LearningRate = tt.clip, tt.rate, 1.5, 250, 0.1
			var z [3][]float64
			for run := range uint64(51 / tt.outputs) {
				for i, v := range steps(t, d, s, tt.rel, tt.k, entropy.Seeded(77).Split(tt.name, run)) {
					z[i] = append(z[i], v...)
				}
			}
			sd := 1.5 * tt.stdDev
			normal := stattest.Moments{Variance: sd * sd, Kurtosis: 3}
			for i := range z {
				stattest.Accept(t, stattest.Mean(fmt.Sprint("step ", i+1), z[i], normal))
				stattest.Accept(t, stattest.Variance(fmt.Sprint("step ", i+1), z[i], normal))
				stattest.Accept(t, stattest.Correlation("neighbouring coordinates", z[i][1:], z[i][:len(z[i])-1]))
				stattest.Accept(t, stattest.Correlation("successive runs", z[i][enc.Dim*tt.outputs:], z[i][:len(z[i])-enc.Dim*tt.outputs]))
				stattest.Accept(t, stattest.Correlation("successive steps", z[i], z[(i+1)%3]))
			}
			stattest.Convict(t, stattest.Variance("halved", stattest.Scaled(z[0], 0.5), normal))
			stattest.Convict(t, stattest.Variance("off", stattest.Scaled(z[0], 0), normal))
			stattest.Convict(t, stattest.Correlation("reused", z[0], z[0]))
		})
	}
}

// The rows of a unit join a lot together, each unit with the stated chance and
// apart from the others. Null: proportions of 4000 lots; |z| <= 4.89 has a
// false-alarm rate of 1e-6. Convicts rows that are drawn one by one.
func TestUnitsJoinLotsWhole(t *testing.T) {
	const units, k, trials = 20, 3, 4000
	var hash []uint64
	for i := range units * k {
		hash = append(hash, uint64(i%units)<<50)
	}
	for _, rate := range []float64{0.05, 0.4} {
		v := mustOpen(t, rowsOf(k, true, make([]float64, len(hash)*columns), hash))
		l := sum.NewLots(v, rate, entropy.Seeded(5))
		joined, pairs := 0, 0
		for range trials {
			in := l.Draw()
			for i := range hash {
				if in[i] != in[i%units] {
					t.Fatal("a unit joined a lot with some of its rows")
				}
			}
			for u := range units {
				if in[u] {
					joined++
				}
				if in[u] && in[(u+1)%units] {
					pairs++
				}
			}
		}
		stattest.Accept(t, stattest.Proportion("a unit joins", joined, units*trials, rate))
		// Pairs that share a unit are dependent: the variance of their mean is
		// p²(1−p²) + 2(p³−p⁴) to leading order.
		p2 := rate * rate
		n := float64(units * trials)
		variance := p2*(1-p2) + 2*(rate*p2-p2*p2)
		stattest.Accept(t, stattest.Z("two units join", float64(pairs)/n, p2, math.Sqrt(variance/n)))
	}
	// The rows of a lot are those that are in it.
	for _, v := range []*sealed.View{mustOpen(t, rowsOf(k, true, make([]float64, len(hash)*columns), hash)), mustOpen(t, rowsOf(1, true, make([]float64, len(hash)*columns), hash))} {
		marked, listed := sum.NewLots(v, 0.3, entropy.Seeded(6)), sum.NewLots(v, 0.3, entropy.Seeded(6))
		for range 50 {
			var want []int32
			for i, in := range marked.Draw() {
				if in {
					want = append(want, int32(i))
				}
			}
			if got, all := listed.Rows(); all || !slices.Equal(got, want) {
				t.Fatalf("rows %v (all %v) of a lot of %v", got, all, want)
			}
		}
	}
	whole := sum.NewLots(mustOpen(t, rowsOf(k, true, make([]float64, len(hash)*columns), hash)), 1, entropy.Seeded(6))
	if got, all := whole.Rows(); !all || got != nil {
		t.Fatalf("a lot of all rows is %v, all %v", got, all)
	}
	// Equal rows of a data set of one row per unit are units of their own.
	v := mustOpen(t, rowsOf(1, true, make([]float64, 40*columns), make([]uint64, 40)))
	l := sum.NewLots(v, 0.5, entropy.Seeded(5))
	if in := l.Draw(); len(in) != 40 || !mixed(in) {
		t.Fatalf("equal rows joined a lot as one: %v", in)
	}
}

func mixed(in []bool) bool {
	some, all := false, true
	for _, b := range in {
		some, all = some || b, all && b
	}
	return some && !all
}
