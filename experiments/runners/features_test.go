package runners

import (
	"context"
	"math"
	"testing"

	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/experiments/replay"
	"pawl/search/feature/aware"
)

// faked is a table of the folder whose cells are those that the functions make of their arguments, by kind.
func faked(t *testing.T, name string, kinds map[string]replay.Kind, functions map[string]any) *experiments.Table {
	t.Helper()
	content, err := files.ReadFile("tables/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := set()
	own := s.Functions
	s.Functions = func(ctx context.Context, r *experiments.Run) map[string]any {
		all := own(ctx, r)
		for name, f := range functions {
			all[name] = f
		}
		return all
	}
	for name, k := range kinds {
		s.Kinds[name] = k
	}
	e, err := s.Decode(name, content)
	if err != nil {
		t.Fatal(err)
	}
	got, err := experiments.Replay(t.Context(), e, experiments.Restored(e.Name, experiments.Smoke, map[string][]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func kind[A any](f func(a *A) []float64) replay.Kind {
	return replay.Of(func(_ context.Context, _ *experiments.Run, a *A) []float64 { return f(a) })
}

// about are values of four splits, whose differences to another mean are all but equal.
func about(mean float64) []float64 { return []float64{mean - .3, mean, mean + .3, mean + .001*mean} }

func verdicts(claims []experiments.Claim) (v []experiments.Verdict) {
	for _, c := range claims {
		v = append(v, c.Verdict)
	}
	return v
}

func same(a, b []experiments.Verdict) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

const r, s, n = experiments.Reproduced, experiments.SameSign, experiments.Not

func TestClaimsOfTable10(t *testing.T) {
	for _, c := range []struct {
		name                   string
		step, majority, honest float64
		want                   []experiments.Verdict // PAFS, Random, majority, honest
	}{
		{"methods above All", 2, 70, 80, []experiments.Verdict{r, r, r, r}},
		{"methods below All", -2, 70, 80, []experiments.Verdict{n, n, r, r}},
		{"a weak majority", 2, 51, 80, []experiments.Verdict{r, r, n, r}},
		{"a workflow that wins only where little is left", 2, 70, 70, []experiments.Verdict{r, r, r, s}},
		{"a workflow that loses", 2, 70, 40, []experiments.Verdict{r, r, r, n}},
	} {
		step := map[string]float64{"all": 0, "sets": 1, "greedy": 2, "random": 4}
		got := faked(t, "table-10", map[string]replay.Kind{
			"choose columns":     kind(func(a *choosing) []float64 { return []float64{1, 0, 1, 0, 1, 0, 1, 0} }),
			"fit chosen columns": kind(func(a *chosenFits) []float64 { return about(60 + c.step*step[a.How]) }),
			"fit":                kind(func(a *fitting) []float64 { return about(c.honest) }),
		}, map[string]any{
			"majorities":     func(string, string, int, int, int, float64) []float64 { return about(c.majority) },
			"majority_rates": func(string, string, int, int, int) []float64 { return about(70) },
		})
		if len(got.Rows) != 13*5 || !same(verdicts(got.Claims), c.want) {
			t.Errorf("%s: %d rows, %q, want %q", c.name, len(got.Rows), verdicts(got.Claims), c.want)
		}
	}
}

func TestClaimsOfTable2(t *testing.T) {
	noMajority := map[string]any{"majorities": func(string, string, int, int, int, float64) []float64 { return about(70) }}
	rises := func(size int) float64 { return 70 + float64(size)/10 }
	falls := func(size int) float64 { return 80 - float64(size)/10 }
	for _, c := range []struct {
		name       string
		sgd        func(int) float64
		fast, slow func(epsilon float64, size int) float64
		want       []experiments.Verdict
	}{
		{"as printed", rises, func(_ float64, k int) float64 { return falls(k) }, func(_ float64, k int) float64 { return rises(k) }, []experiments.Verdict{r, r, n}},
		{"SGD prefers a subset, DP-SGD at one ε of two", falls, func(e float64, k int) float64 {
			if e > .2 {
				return falls(k)
			}
			return rises(k)
		}, func(_ float64, k int) float64 { return falls(k) }, []experiments.Verdict{n, s, r}},
	} {
		got := faked(t, "table-2", map[string]replay.Kind{
			"fit columns": kind(func(a *noisyFits) []float64 { return about(c.sgd(a.Sizes[0])) }),
			"descend": kind(func(a *descents) []float64 {
				if a.Rate == aware.DescentRate {
					return about(c.fast(a.Epsilon, a.Size))
				}
				return about(c.slow(a.Epsilon, a.Size))
			}),
			"fit": kind(func(a *fitting) []float64 { return about(75) }),
		}, noMajority)
		if !same(verdicts(got.Claims), c.want) {
			t.Errorf("%s: %q, want %q for Breast Cancer", c.name, verdicts(got.Claims), c.want)
		}
		// A subset that differs stands for its difference from all features.
		for _, row := range got.Rows {
			if row.Name == "ε = 0.236, 2 features" && c.sgd(2) == rises(2) && row.Verdict != s {
				t.Errorf("%+v, want the same sign: 67.37 against 66.32 as published", row)
			}
		}
	}
}

func TestDescentIsThatOfThePaper(t *testing.T) {
	d, err := aware.CalibratedDescent(22750, .0196)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.NoiseMultiplier-100) > .5 || d.Steps != 3640 {
		t.Errorf("noise %.2f, %d steps, want 100 and 3640", d.NoiseMultiplier, d.Steps)
	}
	if d, err = aware.CalibratedDescent(191, .236); err != nil || d.SamplingRate != 1 || d.Steps != aware.DescentEpochs {
		t.Errorf("Breast Cancer: %+v (%v), want %d full steps", d, err, aware.DescentEpochs)
	}
}

func TestClaimsOfTable16(t *testing.T) {
	for _, c := range []struct {
		name string
		gain []float64 // of one-hot against none, by ε
		want []experiments.Verdict
	}{
		{"as printed", []float64{4, 1, -5, -7, -1, 1}, []experiments.Verdict{r, r}},
		{"none is always better", []float64{-4, -1, -5, -7, -1, -2}, []experiments.Verdict{r, n}},
		{"mixed", []float64{4, 1, -5, -7, 3, -2}, []experiments.Verdict{s, s}},
	} {
		got := faked(t, "table-16", map[string]replay.Kind{
			"fit all columns": kind(func(a *everyFit) (v []float64) {
				for k := range a.Epsilons {
					base := map[string]float64{"numeric": 60, "one-hot": 60 + c.gain[k], "codes": 40}[a.Encoding]
					if a.Encoding == "one-hot" {
						base += .001 * float64(a.Split) // splits do not agree exactly
					}
					v = append(v, 75, base+float64(a.Split))
				}
				return v
			}),
			"fit": kind(func(a *fitting) []float64 { return about(80) }),
		}, nil)
		if !same(verdicts(got.Claims), c.want) {
			t.Errorf("%s: %q, want %q", c.name, verdicts(got.Claims), c.want)
		}
	}
}

func TestClaimsOfCurves(t *testing.T) {
	for _, c := range []struct {
		name string
		best int // size with the largest mean
		want []experiments.Verdict
	}{
		// 5 is best at 0.1; a subset is; all are best without privacy; the workflow is above.
		{"five are best", 5, []experiments.Verdict{r, r, n, r}},
		{"all are best", 108, []experiments.Verdict{n, n, r, r}},
	} {
		got := faked(t, "figure-3", map[string]replay.Kind{
			"fit columns": kind(func(a *noisyFits) (v []float64) {
				for _, size := range a.Sizes {
					mean := 60.
					if size == c.best {
						mean = 80
					}
					v = append(v, mean, mean+1+.01*float64(size))
				}
				return v
			}),
			"fit": kind(func(a *fitting) []float64 { return []float64{90, 91.3} }),
		}, map[string]any{"majorities": func(string, string, int, int, int, float64) []float64 { return about(75) }})
		if !same(verdicts(got.Claims), c.want) {
			t.Errorf("%s: %q, want %q", c.name, verdicts(got.Claims), c.want)
		}
		if got.Rows[0].Name != published.EpsilonName(.1)+", best 5 features" || *got.Rows[0].Published != 78.58 {
			t.Errorf("row %+v", got.Rows[0])
		}
	}
}
