package formulas

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/evidence/theory"
	"pawl/internal/stattest"
)

// The rule of [B] Eq. (4) is the comparison of private errors.
func TestComparisonRuleIsPrivateComparison(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0, 1)
		h1 := Errors{e.Draw(t, "p1"), e.Draw(t, "q1")}
		h2 := Errors{e.Draw(t, "p2"), e.Draw(t, "q2")}
		if math.Abs(h1.Private-h2.Private) < 1e-12 {
			return
		}
		if printed := h1.Cost() < h2.Cost()-(h1.Plain-h2.Plain); printed != SimplerWins(h1, h2) {
			t.Errorf("printed rule %v for %v and %v", printed, h1, h2)
		}
	})
	if SimplerWins(Errors{.3, .1}, Errors{.3, .2}) || SimplerWins(Errors{math.NaN(), 0}, Errors{.3, 0}) {
		t.Error("ties and NaN must go to the complex model")
	}
}

// Null: ‖z‖² has mean mσ² and is χ²; n = 1e5; 1e-6 a check.
func TestOutputNoise(t *testing.T) {
	n := OutputNoise{Parameters: 7, StdDev: .4}
	rng := seeded(2)
	squares, norms := make([]float64, 1e5), make([]float64, 1e5)
	below := 0
	limit := n.SquaredNormQuantile(.9)
	for i := range squares {
		for range n.Parameters {
			z := n.StdDev * rng.NormFloat64()
			squares[i] += z * z
		}
		norms[i] = math.Sqrt(squares[i])
		if squares[i] <= limit {
			below++
		}
	}
	mean, standardError := meanStdErr(squares)
	stattest.Accept(t, stattest.Z("squared norm", mean, n.ExpectedSquaredNorm(), standardError))
	stattest.Convict(t, stattest.Z("one parameter too many", mean, n.ExpectedSquaredNorm()*8/7, standardError))
	mean, standardError = meanStdErr(norms)
	stattest.Accept(t, stattest.Z("norm", mean, n.ExpectedNorm(), standardError))
	stattest.Accept(t, stattest.Proportion("quantile", below, len(squares), .9))
	if e := (OutputNoise{1e6, 1}).ExpectedNorm(); e < math.Sqrt(1e6-.5) || e > 1e3 {
		t.Errorf("mean norm at a million parameters: %v", e)
	}
	var none OutputNoise
	if none.ExpectedSquaredNorm() != 0 || none.ExpectedNorm() != 0 || none.SquaredNormQuantile(.5) != 0 {
		t.Error("no parameters must have no noise")
	}
}

func TestNoiseMultipliers(t *testing.T) {
	// The classic formula beyond its proof: the true δ.
	near(t, "δ at ε 10", TrueDelta(Budget{10, 1e-5}.ClassicNoiseMultiplier(), 10), 2.27e-5, 1e-7)
	near(t, "δ at ε 50", TrueDelta(Budget{50, 1e-6}.ClassicNoiseMultiplier(), 50), .2474, 5e-5)
	for epsilon, want := range map[float64]float64{1: 3.186, 2: 1.734, 3: 1.223, 5: .796, 6: .685, 10: .455} {
		got, err := Budget{epsilon, 1e-4}.AnalyticNoiseMultiplier()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "analytic multiplier", got, want, 6e-4)
	}
	near(t, "[D] at ε 5", Budget{5, 1e-4}.MixtureNoiseMultiplier(), 1.842, 5e-4)
	if m, err := (Budget{math.Inf(1), 1e-4}).AnalyticNoiseMultiplier(); m != 0 || err != nil {
		t.Errorf("ε = +Inf gives %v, %v", m, err)
	}
	for _, b := range []Budget{{0, .1}, {math.NaN(), .1}, {1, 0}, {1, 1}, {1, math.NaN()}} {
		if _, err := b.AnalyticNoiseMultiplier(); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%v: error %v", b, err)
		}
	}
}

// The multiplier of [D] Definition 2 is valid until ε is about a hundred.
func TestMixtureMultiplierIsValidUntil(t *testing.T) {
	for _, c := range []struct{ delta, valid, invalid float64 }{{1e-4, 102, 103}, {1e-5, 168, 169}} {
		for epsilon, want := range map[float64]bool{.01: true, .1: true, 1: true, 5: true, c.valid: true, c.invalid: false} {
			b := Budget{epsilon, c.delta}
			if got := TrueDelta(b.MixtureNoiseMultiplier(), epsilon) <= c.delta; got != want {
				t.Errorf("ε %v, δ %v: valid is %v", epsilon, c.delta, got)
			}
		}
	}
}
