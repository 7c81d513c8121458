package formulas

import (
	"errors"
	"math"
	"testing"

	"pawl/evidence/theory"
	"pawl/internal/stattest"
)

// Null: the law in the doc comment; 3e5 features; 1e-6 a check.
func TestMixtureLaw(t *testing.T) {
	m := SparseMixture()
	m.Features = 3e5
	p, err := m.Draw(seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	var nonzero []float64
	for j, v := range p.Mean[1] {
		if p.Mean[0][j] != 0 {
			t.Fatal("first class must be centered")
		}
		if v != 0 {
			nonzero = append(nonzero, v)
		}
	}
	stattest.Accept(t, stattest.Proportion("share", len(nonzero), m.Features, .12))
	laplace := stattest.Moments{Mean: 0, Variance: 2 * .25, Kurtosis: 6}
	stattest.Accept(t, stattest.Mean("mean", nonzero, laplace))
	stattest.Accept(t, stattest.Variance("variance", nonzero, laplace))
	for k := range 2 {
		stattest.Accept(t, stattest.Mean("class variance", p.Variance[k], stattest.Moments{Mean: 10, Variance: 100}))
	}
	stattest.Accept(t, stattest.Correlation("variances of the classes", p.Variance[0], p.Variance[1]))
	// The mixture as our copy prints it has mass (1−c) + c/2.
	near(t, "printed mass", 1-.88+.88/2, .56, 1e-12)
}

func TestPopulationsOfTwoSharesAreCoupled(t *testing.T) {
	sparse, _ := SparseMixture().Draw(seeded(2))
	dense, _ := DenseMixture().Draw(seeded(2))
	for j, v := range sparse.Mean[1] {
		if v != 0 && v != dense.Mean[1][j] || sparse.Variance[0][j] != dense.Variance[0][j] {
			t.Fatalf("feature %d differs", j)
		}
	}
}

func TestCalibrations(t *testing.T) {
	rows := [2][][]float64{{{3, -4}, {1, 1}}, {{0, 5}, {2, 2}}}
	n := MaxNorms(rows)
	if n != (Norms{7, 5}) {
		t.Fatalf("norms %+v", n)
	}
	b := Budget{5, 1e-4}
	for c, want := range map[Calibration]float64{
		Published:           2 * 7 * math.Log(1e4) / 5,
		PublishedAsVariance: math.Sqrt(2 * 7 * math.Log(1e4) / 5),
		Analytic:            2 * 5 * .796,
	} {
		got, err := c.StdDev(n, b)
		if err != nil {
			t.Fatal(err)
		}
		near(t, string(c), got, want, 5e-3)
		if got, err = c.StdDev(n, Budget{math.Inf(1), 1e-4}); got != 0 || err != nil {
			t.Errorf("%s without privacy: %v, %v", c, got, err)
		}
		if _, err = c.StdDev(n, Budget{5, 0}); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s at δ 0: %v", c, err)
		}
	}
	if _, err := Calibration("other").StdDev(n, b); !errors.Is(err, theory.ErrInput) {
		t.Errorf("unknown calibration: %v", err)
	}
	// Read as a variance, the noise is too small for any norm above about 1.5.
	for l1, valid := range map[float64]bool{1: true, 1.4: true, 1.5: false, 40: false} {
		s, _ := PublishedAsVariance.StdDev(Norms{l1, l1}, b)
		if got := TrueDelta(s/(2*l1), b.Epsilon) <= b.Delta; got != valid {
			t.Errorf("as a variance at norm %v: valid is %v", l1, got)
		}
	}
}

// exactRows have the mean and the sample variance asked for, feature by feature.
func exactRows(n int, mean, variance [2][]float64) [2][][]float64 {
	var rows [2][][]float64
	for k := range rows {
		for i := range n {
			x := make([]float64, len(mean[k]))
			for j := range x {
				x[j] = mean[k][j] + (1-2*float64(i%2))*math.Sqrt(variance[k][j]*float64(n-1)/float64(n))
			}
			rows[k] = append(rows[k], x)
		}
	}
	return rows
}

// Example 1 of [D]: noise of variance 9 changes the order of t, not that of the
// distance. (That variance is not what [D] Eq. (4) gives at the ε = 3 of the example:
// the means alone have L1 norm 15.)
func TestRankingExampleOfTheSource(t *testing.T) {
	means := [2][]float64{{0, 0}, {5, 10}}
	clean := exactRows(200, means, [2][]float64{{1, 10}, {1, 10}})
	noisy := exactRows(200, means, [2][]float64{{10, 19}, {10, 19}})
	for _, c := range []struct {
		name  string
		rows  [2][][]float64
		t     [2]float64
		first int
	}{{"clean", clean, [2]float64{50, 31.62}, 0}, {"noisy", noisy, [2]float64{15.81, 22.94}, 1}} {
		m, err := momentsOf(c.rows, [2][][]float64{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			near(t, c.name+" t", m.score(TStatistic, j, 0), c.t[j], 5e-3)
			near(t, c.name+" distance", m.score(Distance, j, 0), means[1][j], 1e-9)
		}
		byT, _ := RankFeatures(TStatistic, c.rows)
		byDistance, _ := RankFeatures(Distance, c.rows)
		if byT[0] != c.first || byDistance[0] != 1 {
			t.Errorf("%s: t chooses %d, distance %d", c.name, byT[0], byDistance[0])
		}
	}
	s, _ := Published.StdDev(Norms{L1: 15, L2: math.Sqrt(125)}, Budget{3, 1e-4})
	near(t, "noise of Eq. (4), at least", s, 92.1, .05)
}

// Null: the error of Fisher.Error is the share of fresh points on the wrong side;
// 1e5 points a class; 1e-6 a check. The printed denominator is convicted on clean
// queries and acquitted by nothing.
func TestFisherErrorAgainstFreshPoints(t *testing.T) {
	rng := seeded(4)
	p := &Population{
		Mean:     [2][]float64{{0, 0, 1}, {1, -2, 1}},
		Variance: [2][]float64{{1, 4, 2}, {2, 3, 1}},
	}
	const noise, fresh = 2.0, 100000
	f, err := TrainFisher(AddNoise(p.Rows(30, rng), noise, rng))
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []float64{0, noise} {
		wrong := [2]int{}
		points := AddNoise(p.Rows(fresh, rng), query, rng)
		for k := range points {
			for _, x := range points[k] {
				if (f.Score(x) > 0) != (k == 0) {
					wrong[k]++
				}
			}
			stattest.Accept(t, stattest.Proportion("wrong", wrong[k], fresh, normalTail(f.Psi(p, k, query))))
		}
		near(t, "error", f.Error(p, query), (normalTail(f.Psi(p, 0, query))+normalTail(f.Psi(p, 1, query)))/2, 1e-12)
		if query == 0 {
			stattest.Convict(t, stattest.Proportion("printed denominator", wrong[0], fresh, normalTail(f.PrintedPsi(p))))
		}
	}
}

func normalTail(x float64) float64 { return .5 * math.Erfc(x/math.Sqrt2) }

// The printed denominator is right where the covariance is estimated well and
// queries carry the noise of the rows; on clean queries Ψ is larger by √((σ²+s²)/σ²).
func TestPrintedPsi(t *testing.T) {
	rng := seeded(5)
	p := &Population{Mean: [2][]float64{{0, 0}, {1, 1}}, Variance: [2][]float64{{1, 1}, {1, 1}}}
	f, err := TrainFisher(AddNoise(p.Rows(20000, rng), 3, rng))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "noisy queries", f.PrintedPsi(p)/f.Psi(p, 0, 3), 1, .02)
	near(t, "clean queries", f.Psi(p, 0, 0)/f.PrintedPsi(p), math.Sqrt(10), .05)
}

// Means and variances of x + s·z from moments are those of the noisy rows themselves.
func TestMomentsAgainstExplicitNoise(t *testing.T) {
	rng := seeded(6)
	m := SparseMixture()
	m.Features = 40
	p, _ := m.Draw(rng)
	rows := p.Rows(30, rng)
	noise := unitNoise(rows, rng)
	fast, err := momentsOf(rows, noise)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{0, .3, 200} {
		var noisy [2][][]float64
		for k := range rows {
			for i, x := range rows[k] {
				z := make([]float64, len(x))
				for j := range x {
					z[j] = x[j] + s*noise[k][i][j]
				}
				noisy[k] = append(noisy[k], z)
			}
		}
		want, err := TrainFisher(noisy)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := fast.fisher(Identity(40), s)
		for j := range want.Weights {
			near(t, "weight", got.Weights[j], want.Weights[j], 1e-9*(1+math.Abs(want.Weights[j])))
			near(t, "center", got.Center[j], want.Center[j], 1e-9*(1+s))
		}
		for _, r := range []Ranking{Distance, TStatistic, InOrder} {
			a, _ := fast.order(r, s)
			b, _ := RankFeatures(r, noisy)
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("%s at s %v: rank %d is %d, want %d", r, s, i, a[i], b[i])
				}
			}
		}
	}
}

func TestFisherEdges(t *testing.T) {
	flat := [2][][]float64{{{1, 0}, {1, 1}}, {{1, 2}, {1, 4}}}
	f, err := TrainFisher(flat)
	if err != nil || f.Weights[0] != 0 {
		t.Fatalf("a constant feature: %+v, %v", f, err)
	}
	p := &Population{Mean: [2][]float64{{0, 0}, {0, 0}}, Variance: [2][]float64{{1, 1}, {1, 1}}}
	if e := (&Fisher{Center: []float64{0, 0}, Weights: []float64{0, 0}, Difference: []float64{0, 0}}).Error(p, 0); e != .5 {
		t.Errorf("no weights: error %v", e)
	}
	for name, rows := range map[string][2][][]float64{
		"one row":                {{{1}}, {{2}}},
		"unequal classes":        {{{1}, {2}}, {{2}, {3}, {4}}},
		"ragged":                 {{{1, 2}, {2}}, {{2, 1}, {3, 1}}},
		"constant, unequal mean": {{{1}, {1}}, {{2}, {2}}},
	} {
		if _, err := TrainFisher(rows); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := RankFeatures("other", flat); !errors.Is(err, theory.ErrInput) {
		t.Errorf("unknown ranking: %v", err)
	}
	for _, m := range []Mixture{{}, {Features: 1, NonzeroShare: 2, LaplaceScale: 1, MeanVariance: 1}, {Features: 1, MeanVariance: 1}} {
		if _, err := m.Draw(seeded(1)); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%+v: error %v", m, err)
		}
	}
}
