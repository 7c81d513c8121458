package audit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/core/entropy"
	"pawl/core/gradient"
)

// An interrupt is no failure of the mechanism under audit.
func TestConformInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, s := range Specifications()[:3] {
		if _, err := Conform(ctx, s, 1e-6, entropy.Seeded(3)); err != nil && (!errors.Is(err, context.Canceled) || errors.Is(err, ErrMechanism)) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	failing := Specification{Name: "failing", observe: func(ctx context.Context, _ *entropy.Source) ([]Check, error) { return nil, ctx.Err() }}
	if _, err := Conform(ctx, failing, 1e-6, entropy.Seeded(3)); err == nil || errors.Is(err, ErrMechanism) {
		t.Errorf("interrupted: %v", err)
	}
}

// Null hypothesis: core keeps its specifications. All of their tests together convict it
// with probability 1e-6.
func TestEverySpecification(t *testing.T) {
	all := Specifications()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			c, err := Conform(context.Background(), s, 1e-6/float64(len(all)), entropy.Seeded(3))
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range c.Checks {
				if check.Convicted {
					t.Errorf("%+v", check)
				}
			}
		})
	}
}

// The tests see what they are for, and a network's honest canaries pass.
func TestChecksConvict(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	draw := func(n int, scale float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = scale * rng.NormFloat64()
		}
		return z
	}
	a, b := draw(600, 1), draw(600, 1)
	mixed := append(draw(100, 1), a[:500]...)
	for _, c := range []struct {
		name  string
		check Check
		want  bool
	}{
		{"noise", ScaleCheck("", a), false}, {"half the noise", ScaleCheck("", draw(100, 0.5)), true}, {"noise over √2", ScaleCheck("", draw(600, 0.7071)), true},
		{"no noise", ScaleCheck("", make([]float64, 10)), true}, {"not a number", ScaleCheck("", []float64{math.NaN()}), true},
		{"apart", ReuseCheck("", [][]float64{a, b}), false}, {"twice the same", ReuseCheck("", [][]float64{a, a[:]}), false},
		{"reused", ReuseCheck("", [][]float64{a, append([]float64{}, a...)}), true}, {"reused elsewhere", ReuseCheck("", [][]float64{a, mixed}), true},
		{"share", ShareCheck("", 260, 1000, 0.25), false}, {"twice the share", ShareCheck("", 500, 1000, 0.25), true}, {"none", ShareCheck("", 0, 1000, 0.25), true},
		{"never", NeverCheck("", 0, 5), false}, {"once", NeverCheck("", 1, 5), true},
		{"mean", MeanCheck("", a), false}, {"moved", MeanCheck("", append(draw(100, 0), 1e4)), true},
		{"law", lawCheck("", a, draw(5000, 1)), false}, {"another law", lawCheck("", draw(3000, 1.4), draw(9000, 1)), true},
	} {
		if _, convicted := Settle([]Check{c.check}, 1e-6); convicted != c.want {
			t.Errorf("%s: %+v", c.name, c.check)
		}
	}
}

func TestNetworkCanaries(t *testing.T) {
	const banded = gradient.Clipping("banded")
	for _, clipping := range []gradient.Clipping{gradient.Flat, gradient.PerLayer, gradient.Automatic, gradient.Quantile, banded} {
		c := NetworkCanaries{Params: make([]float32, 2400), Training: gradient.Training{
			Privacy:  gradient.Privacy{ClippingNorm: 0.5, NoiseMultiplier: 1, Steps: 20, SamplingRate: 0.2},
			Clipping: clipping, Network: diracNet{layers: 3, size: 800}, Microbatch: 8, Multiplicity: 1,
		}}
		if clipping == gradient.Quantile {
			c.Training.UnclippedShare = 0.5
		}
		if clipping == banded {
			c.Training.Clipping, c.Training.Coefficients, c.Training.Groups = gradient.Flat, []float64{1, 0.6, 0.4}, 4
		}
		checks, err := c.Specify(context.Background(), entropy.Seeded(2))
		if err != nil {
			t.Fatalf("%s: %v", clipping, err)
		}
		if checks, convicted := Settle(checks, 1e-6); convicted {
			t.Errorf("%s: %+v", clipping, checks)
		}
		s, err := c.Score(context.Background(), 800, entropy.Seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		in, out := 0.0, 0.0
		for i, v := range s.Score {
			if s.In[i] {
				in += v
			} else {
				out += v
			}
		}
		if clipping == banded {
			// Five lots of its group, which it joins with chance 4/5: the most likely half has nine in ten of those
			// that are in.
			right := 0
			order := slices.SortedFunc(slices.Values(index(len(s.Score))), func(i, j int) int { return cmp.Compare(s.Score[j], s.Score[i]) })
			for _, i := range order[:100] {
				if s.In[i] {
					right++
				}
			}
			if right < 80 {
				t.Errorf("banded: of the 100 most likely canaries %d are in", right)
			}
			continue
		}
		// 20 steps at rate 1/5: a canary that is in moves its score by 4.
		if moved := (in - out) / 400; moved < 2 || moved > 6 {
			t.Errorf("%s: canaries move their scores by %g", clipping, moved)
		}
	}
}

func index(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
