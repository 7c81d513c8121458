package formulas

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/evidence/theory"
)

func small() Grid {
	g := PublishedGrid()
	g.Data.Features = 50
	g.Counts = []int{3, 50}
	g.Epsilons = []float64{5, math.Inf(1)}
	g.Rankings = []Ranking{Distance, TStatistic, InOrder}
	g.Replicates = 3
	return g
}

// The study by its fast path against rows that are cut, noised and trained on one by
// one, in both orders, with all calibrations.
func TestStudyAgainstExplicitRows(t *testing.T) {
	for _, order := range []Procedure{CutThenNoise, NoiseThenCut} {
		for _, calibration := range []Calibration{Published, PublishedAsVariance, Analytic} {
			s := small()
			s.Procedure, s.Calibration, s.NoisyQueries = order, calibration, calibration == Analytic
			out, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range out.All {
				for r := range s.Replicates {
					near(t, string(order)+" "+string(calibration), o.Errors[r], explicit(t, s, o.Arm, r), 1e-9)
				}
			}
		}
	}
}

func explicit(t *testing.T, s Grid, a Arm, replicate int) float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(s.Seed, uint64(replicate)))
	p, err := s.Data.Draw(rng)
	if err != nil {
		t.Fatal(err)
	}
	rows := p.Rows(s.Data.Rows, rng)
	noise := unitNoise(rows, rng)
	add := func(x, z [2][][]float64, by float64) [2][][]float64 {
		var sum [2][][]float64
		for k := range x {
			for i := range x[k] {
				row := make([]float64, len(x[k][i]))
				for j := range row {
					row[j] = x[k][i][j] + by*z[k][i][j]
				}
				sum[k] = append(sum[k], row)
			}
		}
		return sum
	}
	cut := func(x [2][][]float64, features []int) [2][][]float64 {
		var out [2][][]float64
		for k := range x {
			for i := range x[k] {
				row := make([]float64, len(features))
				for c, j := range features {
					row[c] = x[k][i][j]
				}
				out[k] = append(out[k], row)
			}
		}
		return out
	}
	ranked := rows
	var sd float64
	if s.Procedure == NoiseThenCut {
		if sd, err = s.Calibration.StdDev(MaxNorms(rows), Budget{a.Epsilon, s.Delta}); err != nil {
			t.Fatal(err)
		}
		ranked = add(rows, noise, sd)
	}
	order, err := RankFeatures(a.Ranking, ranked)
	if err != nil {
		t.Fatal(err)
	}
	kept := order[:a.Count]
	if s.Procedure == CutThenNoise {
		if sd, err = s.Calibration.StdDev(MaxNorms(cut(rows, kept)), Budget{a.Epsilon, s.Delta}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := TrainFisher(add(cut(rows, kept), cut(noise, kept), sd))
	if err != nil {
		t.Fatal(err)
	}
	q := new(Population)
	for k := range 2 {
		q.Mean[k] = cut([2][][]float64{{p.Mean[k]}}, kept)[0][0]
		q.Variance[k] = cut([2][][]float64{{p.Variance[k]}}, kept)[0][0]
	}
	query := 0.0
	if s.NoisyQueries {
		query = sd
	}
	return f.Error(q, query)
}

func TestStudyReplaysAndPairs(t *testing.T) {
	s := small()
	a, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, _ := s.Run(context.Background())
	if d := cmp.Diff(a, b); d != "" {
		t.Error("one seed, two results", d)
	}
	// All features: every ranking is the same classifier, up to the order of sums.
	for _, epsilon := range s.Epsilons {
		x, _ := a.Find(Distance, 50, epsilon)
		y, _ := a.Find(InOrder, 50, epsilon)
		for i := range x.Errors {
			near(t, "all features", x.Errors[i], y.Errors[i], 1e-9)
		}
	}
	if _, err := a.Find(Distance, 4, 5); !errors.Is(err, theory.ErrInput) {
		t.Errorf("missing arm: %v", err)
	}
	if _, err := a.Below(Distance, TStatistic, 4, .95); !errors.Is(err, theory.ErrInput) {
		t.Errorf("missing arms: %v", err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The claim of [D] Sec. 4.1 under two readings of its settings. As written, noise
// drowns both rankings; with the noise's second argument as a variance, variances of
// mean 0.1, dense means and noisy queries, the distance is below at every ε.
func TestDistanceBelowTStatistic(t *testing.T) {
	s := PublishedGrid()
	s.Epsilons = []float64{1, 3, 10}
	s.Replicates = 40
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.Below(Distance, TStatistic, 20, .95)
	if err != nil {
		t.Fatal(err)
	}
	if c.Verdict == Holds {
		t.Errorf("as written: %+v", c)
	}
	for _, p := range c.Points {
		if p.First < .48 || p.Second < .48 {
			t.Errorf("as written, ε %v: errors %v and %v", p.Epsilon, p.First, p.Second)
		}
	}

	s.Data.Mixture = DenseMixture()
	s.Data.MeanVariance = .1
	s.Calibration, s.NoisyQueries, s.Counts = PublishedAsVariance, true, []int{5}
	if out, err = s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c, _ = out.Below(Distance, TStatistic, 5, .95); c.Verdict != Holds {
		t.Errorf("other reading: %+v", c)
	}
	if c, _ = out.Below(TStatistic, Distance, 5, .95); c.Verdict != Refuted {
		t.Errorf("the reverse claim: %+v", c)
	}
}

// The table of docs/READING.md: every reading of the study's settings, 200 replicates
// each, about two minutes. PAWL_FULL=1 go test ./evidence/theory -run Readings -v
func TestReadingsOfTheStudy(t *testing.T) {
	if os.Getenv("PAWL_FULL") == "" {
		t.Skip("set PAWL_FULL=1")
	}
	for _, weight := range []Mixture{SparseMixture(), DenseMixture()} {
		for _, variance := range []float64{10, .1} {
			for _, calibration := range []Calibration{Published, Analytic, PublishedAsVariance} {
				for _, noisy := range []bool{false, true} {
					s := PublishedGrid()
					s.Data.Mixture = weight
					s.Data.MeanVariance = variance
					s.Calibration, s.NoisyQueries, s.Replicates, s.Counts = calibration, noisy, 200, []int{5, 20}
					out, err := s.Run(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					for _, count := range s.Counts {
						c, err := out.Below(Distance, TStatistic, count, .95)
						if err != nil {
							t.Fatal(err)
						}
						p := c.Points[4] // ε = 5
						t.Logf("share %.2f, variance %-4v %-21s noisy queries %-5v m %-2d: %-7s at ε %v: %.3f and %.3f, difference %+.4f [%+.4f, %+.4f]",
							weight.NonzeroShare, variance, calibration, noisy, count, c.Verdict, p.Epsilon, p.First, p.Second,
							p.Difference.Estimate, p.Difference.Lower, p.Difference.Upper)
					}
				}
			}
		}
	}
}

// A claim between two equal rankings stays open: no interval leaves zero.
func TestClaimStaysOpen(t *testing.T) {
	s := small()
	s.Counts = []int{50}
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.Below(InOrder, InOrder, 50, .95)
	if err != nil || c.Verdict != Open {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestStudyRefuses(t *testing.T) {
	for name, change := range map[string]func(s *Grid){
		"too many features": func(s *Grid) { s.Counts = []int{51} },
		"no features":       func(s *Grid) { s.Counts = []int{-1} },
		"no epsilons":       func(s *Grid) { s.Epsilons = nil },
		"epsilon 0":         func(s *Grid) { s.Epsilons = []float64{0} },
		"delta 1":           func(s *Grid) { s.Delta = 1 },
		"ranking":           func(s *Grid) { s.Rankings = []Ranking{"other"} },
		"calibration":       func(s *Grid) { s.Calibration = "other" },
		"order":             func(s *Grid) { s.Procedure = "" },
		"one row":           func(s *Grid) { s.Data.Rows = 1 },
		"data":              func(s *Grid) { s.Data.LaplaceScale = 0 },
	} {
		s := small()
		change(&s)
		if _, err := s.Run(context.Background()); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
