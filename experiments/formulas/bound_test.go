package formulas

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"pawl/evidence/theory"
)

// gaps gives populations of unit variance whose first nonzero(p) features differ by
// gap between the classes.
func gaps(gap float64, nonzero func(p int) int) func(int, *rand.Rand) (*Population, error) {
	return func(p int, _ *rand.Rand) (*Population, error) {
		q := new(Population)
		for k := range 2 {
			q.Mean[k], q.Variance[k] = make([]float64, p), make([]float64, p)
			for j := range p {
				q.Variance[k][j] = 1
			}
		}
		for j := range nonzero(p) {
			q.Mean[1][j] = gap
		}
		return q, nil
	}
}

func ten(int) int    { return 10 }
func all(p int) int  { return p }
func none(int) int   { return 0 }
func some(p int) int { return p / 10 }

// Theorem 6 is Theorem 1 of Fan and Fan with n_1 = n_2 and no correlation:
// 1 − Φ([√(n1n2/(pn))·Γ] / (2·√(1 + n1n2·Γ/(pn)))).
func TestBoundAgreesWithFanAndFan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := MixtureBound{rapid.IntRange(1, 1e6).Draw(t, "p"), 2 * rapid.IntRange(2, 1e4).Draw(t, "n/2"), rapid.Float64Range(1e-6, 1e4).Draw(t, "gamma")}
		h := float64(b.Rows) / 4 / float64(b.Features)
		want := math.Sqrt(h) * b.Gamma / (2 * math.Sqrt(1+h*b.Gamma))
		if got := b.Argument(); math.Abs(got-want) > 1e-12*want {
			t.Errorf("argument %v, want %v", got, want)
		}
		if e := b.Error(); !(e >= 0 && e < .5) {
			t.Errorf("bound %v", e)
		}
	})
	if e := (MixtureBound{10, 20, 0}).Error(); e != .5 {
		t.Errorf("no signal: bound %v", e)
	}
}

// [D] Eq. (11): with noise as published Γ stays below 1/τ².
func TestGammaLimit(t *testing.T) {
	for _, m := range []Mixture{SparseMixture(), DenseMixture()} {
		m.Features = 300
		rng := seeded(1)
		p, err := m.Draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		norms := MaxNorms(p.Rows(30, rng))
		for _, epsilon := range []float64{1, 5, 100, 1e4} {
			b := Budget{epsilon, 1e-4}
			s, _ := Published.StdDev(norms, b)
			if g := Gamma(p, s); !(g > 0 && g < GammaLimit(b)) {
				t.Errorf("ε %v: Γ %v, limit %v", epsilon, g, GammaLimit(b))
			}
		}
	}
	if g := Gamma(&Population{Mean: [2][]float64{{1}, {1}}, Variance: [2][]float64{{0}, {0}}}, 0); g != 0 {
		t.Errorf("no signal without variance: %v", g)
	}
}

func slopes(t *testing.T, points []BoundPoint, x func(BoundPoint) float64) (bound, noisy, clean float64) {
	t.Helper()
	var xs, b, n, c []float64
	for _, p := range points {
		xs, b, n, c = append(xs, x(p)), append(b, p.BoundArgument), append(n, p.NoisyArgument), append(c, p.CleanArgument)
	}
	for i, y := range [][]float64{b, n, c} {
		slope, _, err := Slope(xs, y)
		if err != nil {
			t.Fatal(err)
		}
		*[]*float64{&bound, &noisy, &clean}[i] = slope
	}
	return bound, noisy, clean
}

// What the argument of Φ does as p or τ grows, beside Remark 2 of [D] (−1/2 in p, −2 in
// τ). Seeds are fixed; tolerances are several times the spread of the averages.
func TestRemarkSlopes(t *testing.T) {
	ctx := context.Background()
	features := func(p BoundPoint) float64 { return float64(p.Features) }
	study := func(s BoundStudy) []BoundPoint {
		t.Helper()
		s.Rows, s.Confidence, s.Seed = 30, .95, 1
		points, err := s.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			// The bound without its o(1) terms is passed by the mean error, a little.
			if d := p.NoisyQuery.Estimate - p.Bound; math.Abs(d) > .02 {
				t.Errorf("p %d: error %v, bound %v", p.Features, p.NoisyQuery, p.Bound)
			}
			if p.Gamma > 0 && p.StdDev > 0 && p.CleanQuery.Estimate >= p.NoisyQuery.Estimate {
				t.Errorf("p %d: clean queries %v, noisy %v", p.Features, p.CleanQuery, p.NoisyQuery)
			}
		}
		return points
	}

	fixed := []Noise{{Fixed: 1}}
	bound, noisy, clean := slopes(t, study(BoundStudy{Populations: gaps(2, ten), Features: []int{500, 1000, 2000, 4000}, Noise: fixed, Replicates: 20}), features)
	t.Logf("fixed noise, ten features differ: bound %.2f, error %.2f, clean queries %.2f in p", bound, noisy, clean)
	near(t, "fixed Γ, bound", bound, -.42, .05) // −1/2 in the limit
	near(t, "fixed Γ, error", noisy, bound, .1)

	bound, noisy, _ = slopes(t, study(BoundStudy{Populations: gaps(.5, some), Features: []int{500, 1000, 2000}, Noise: fixed, Replicates: 20}), features)
	t.Logf("fixed noise, a tenth of the features differ: bound %.2f, error %.2f in p", bound, noisy)
	near(t, "Γ ∝ p, bound", bound, .5, 1e-9) // the error falls
	near(t, "Γ ∝ p, error", noisy, .5, .1)

	tau := func(p BoundPoint) float64 { return p.Noise.Budget.MixtureNoiseMultiplier() }
	var noises []Noise
	for _, epsilon := range []float64{1200, 800, 600, 400, 300} {
		noises = append(noises, Noise{Calibration: Published, Budget: Budget{epsilon, 1e-4}})
	}
	bound, noisy, clean = slopes(t, study(BoundStudy{Populations: gaps(2, all), Features: []int{400}, Noise: noises, Replicates: 60}), tau)
	t.Logf("published noise: bound %.2f, error %.2f, clean queries %.2f in τ", bound, noisy, clean)
	near(t, "τ, bound", bound, -1.9, .05) // −2 in the limit
	near(t, "τ, error", noisy, bound, .1)
	near(t, "τ, clean queries", clean, bound+1, .1)
}

// With noise as published C_p grows with p, and the bound's argument falls faster
// than p^(−1/2): near −3/2 where all features differ, −5/2 where ten do.
func TestRemarkSlopesWithPublishedNoise(t *testing.T) {
	for _, c := range []struct {
		name    string
		nonzero func(int) int
		want    float64
	}{{"all differ", all, -1.46}, {"ten differ", ten, -2.36}} {
		s := BoundStudy{
			Populations: gaps(2, c.nonzero), Features: []int{100, 300, 1000, 3000}, Rows: 30,
			Noise: []Noise{{Calibration: Published, Budget: Budget{5, 1e-4}}}, Replicates: 4, Confidence: .95, Seed: 1,
		}
		points, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var xs, ys []float64
		for _, p := range points {
			xs, ys = append(xs, float64(p.Features)), append(ys, p.BoundArgument)
			near(t, "the bound says nothing", p.Bound, .5, 1e-3)
		}
		slope, _, err := Slope(xs, ys)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.2f in p at ε 5", c.name, slope)
		near(t, c.name, slope, c.want, .06)
	}
}

func TestSlope(t *testing.T) {
	slope, se, err := Slope([]float64{1, 2, 4, 8}, []float64{3, 3 * math.Pow(2, -1.5), 3 * math.Pow(4, -1.5), 3 * math.Pow(8, -1.5)})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", slope, -1.5, 1e-12)
	near(t, "standard error", se, 0, 1e-9)
	for name, xy := range map[string][2][]float64{
		"two points": {{1, 2}, {1, 2}}, "lengths": {{1, 2, 3}, {1, 2}}, "zero": {{1, 2, 3}, {1, 0, 2}}, "one abscissa": {{2, 2, 2}, {1, 2, 3}},
	} {
		if _, _, err := Slope(xy[0], xy[1]); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestBoundStudyEdges(t *testing.T) {
	ok := BoundStudy{Populations: gaps(1, none), Features: []int{4}, Rows: 5, Noise: []Noise{{Fixed: 1}}, Replicates: 3, Confidence: .9, Seed: 1}
	points, err := ok.Run(context.Background())
	if err != nil || points[0].Bound != .5 || points[0].Gamma != 0 {
		t.Fatalf("no signal: %+v, %v", points, err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ok.Run(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for name, change := range map[string]func(s *BoundStudy){
		"no population":  func(s *BoundStudy) { s.Populations = nil },
		"one replicate":  func(s *BoundStudy) { s.Replicates = 1 },
		"no noise":       func(s *BoundStudy) { s.Noise = nil },
		"negative noise": func(s *BoundStudy) { s.Noise = []Noise{{Fixed: -1}} },
		"NaN noise":      func(s *BoundStudy) { s.Noise = []Noise{{Fixed: math.NaN()}} },
		"bad delta":      func(s *BoundStudy) { s.Noise = []Noise{{Calibration: Published, Budget: Budget{1, 2}}} },
		"confidence":     func(s *BoundStudy) { s.Confidence = 0 },
	} {
		s := ok
		change(&s)
		if _, err := s.Run(context.Background()); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
