package quality

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// runs of each setting: go test ./evidence/quality -run Coverage -runs 400 -v is the whole study.
var runs = flag.Int("runs", 0, "simulated scorings of each setting of the coverage tests; 0 for the few of the ordinary test")

// law is that of the noise: discrete Laplace at a pure epsilon, or discrete Gaussian at epsilon and a
// delta of 1e-6, with each part's share of epsilon, or of the precision, as package workflow has them.
type law bool

const (
	laplace  law = false
	gaussian law = true
)

func (l law) String() string {
	if l == gaussian {
		return "Gaussian"
	}
	return "Laplace"
}

// std is the deviation of a part's noise.
func (l law) std(epsilon, pure, precision float64) float64 {
	if l == laplace {
		return math.Sqrt2 / (pure * epsilon)
	}
	low, high := 1e-4, 100.0 // of 1/σ
	for range 60 {
		m := math.Sqrt(low * high)
		if normalCDF(m/2-epsilon/m)-math.Exp(epsilon)*normalCDF(-m/2-epsilon/m) > 1e-6 {
			high = m
		} else {
			low = m
		}
	}
	return 1 / low / math.Sqrt(precision)
}

// noisy adds noise of standard deviation about std.
func (l law) noisy(rng *rand.Rand, xs []float64, std float64) {
	for i := range xs {
		e := rng.NormFloat64() * std
		if l == laplace {
			e = (rng.ExpFloat64() - rng.ExpFloat64()) * std / math.Sqrt2
		}
		xs[i] += math.Round(e)
	}
}

// scoring is a simulated binary scoring: positives score N(gap, 1), negatives N(0, 1), as raw
// scores around the log odds of the prevalence, times slope.
type scoring struct {
	n               int
	prevalence, gap float64
	slope           float64
	epsilon         float64
	law             law
}

func (s scoring) edges() float64  { return s.law.std(s.epsilon, .05, .05) }
func (s scoring) bins() float64   { return s.law.std(s.epsilon, .67, .65) }
func (s scoring) labels() float64 { return s.law.std(s.epsilon, .28, .30) }

func (s scoring) score(rng *rand.Rand, positive bool) float64 {
	x := rng.NormFloat64()
	if positive {
		x += s.gap
	}
	// The log odds of the two normal laws.
	z := math.Log(s.prevalence/(1-s.prevalence)) + s.gap*x - s.gap*s.gap/2
	return z / s.slope
}

func (s scoring) release(rng *rand.Rand) (halves []Half, labels Labels, final Calibration, applied bool) {
	type row struct {
		score    float64
		positive bool
	}
	var parts [2][]row
	fine := make([]float64, FineBins(float64(s.n), s.edges()))
	for range s.n {
		r := row{positive: rng.Float64() < s.prevalence}
		r.score = s.score(rng, r.positive)
		h := rng.IntN(2)
		parts[h] = append(parts[h], r)
		fine[FineBin(r.score, len(fine))]++
	}
	s.law.noisy(rng, fine, s.edges())
	base := Fine{fine, s.edges()}.Table(s.bins()*math.Sqrt2, 1)
	for h := range parts {
		t := *base
		t.Positives, t.Negatives, t.Std = make([]float64, len(t.Mids)), make([]float64, len(t.Mids)), s.bins()
		for _, r := range parts[h] {
			if b := t.Bin(r.score); r.positive {
				t.Positives[b]++
			} else {
				t.Negatives[b]++
			}
		}
		s.law.noisy(rng, t.Positives, t.Std)
		s.law.noisy(rng, t.Negatives, t.Std)
		halves = append(halves, Half{Table: &t})
	}
	Cross(halves)
	final, applied = halves[0].Table.Plus(halves[1].Table).Calibrate()
	labels = Labels{Std: s.labels(), PerUnit: 1}
	for h := range parts {
		cut, _ := Decision{}.Cut(halves[h].Table, halves[h].Calibration)
		for _, r := range parts[h] {
			labels.Rows[one(r.positive)][one(r.score > cut)]++
		}
	}
	for i := range labels.Rows {
		s.law.noisy(rng, labels.Rows[i][:], labels.Std)
	}
	return halves, labels, final, applied
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

type tally struct{ held, of, unknown int }

func (t *tally) add(e Estimate, truth float64) {
	t.of++
	if !e.Known() {
		t.unknown++
		t.held++
	} else if e.Interval[0] <= truth && truth <= e.Interval[1] {
		t.held++
	}
}

func (t tally) share() float64 { return float64(t.held) / float64(t.of) }

func TestCoverageOfClassification(t *testing.T) {
	n := *runs
	if n == 0 {
		n = 40
	}
	for _, l := range []law{laplace, gaussian} {
		coverageOfClassification(t, l, n)
	}
}

func coverageOfClassification(t *testing.T, l law, n int) {
	rng := rand.New(rand.NewPCG(1, 20))
	pooled := map[string]*tally{}
	bad, cells := map[string]int{}, map[string]int{}
	for _, epsilon := range []float64{.1, 1, 8} {
		for _, size := range []int{500, 2000, 10000, 20000} {
			for _, prevalence := range []float64{.02, .1, .5} {
				s := scoring{n: size, prevalence: prevalence, gap: 1.2, slope: 1, epsilon: epsilon, law: l}
				here := map[string]*tally{}
				add := func(name string, e Estimate, truth float64) {
					if here[name] == nil {
						here[name] = &tally{}
					}
					here[name].add(e, truth)
				}
				rms, m := 0.0, 0.0
				for range n {
					halves, labels, final, applied := s.release(rng)
					c := Judge(halves, final, applied)
					truth := normalCDF(s.gap / math.Sqrt2)
					add("auroc", *c.AUROC, truth)
					if c.AUROC.Known() {
						rms, m = rms+sq(*c.AUROC.Value-truth), m+1
					}
					pooledTable := halves[0].Table.Plus(halves[1].Table)
					if c.Advised != nil {
						// The truth at each half's own edge, weighted by the other half.
						at := func(cut float64) float64 {
							x := (cut - math.Log(prevalence/(1-prevalence)) + s.gap*s.gap/2) / s.gap
							return (1 - normalCDF(x-s.gap) + normalCDF(x)) / 2
						}
						add("balanced", c.Advised.BalancedAccuracy, (at(pooledTable.Edges[halves[0].Advised])+at(pooledTable.Edges[halves[1].Advised]))/2)
					}
					right := func() float64 { // of labels at a probability of a half
						x := (-math.Log(prevalence/(1-prevalence)) + s.gap*s.gap/2) / s.gap
						return prevalence*(1-normalCDF(x-s.gap)) + (1-prevalence)*normalCDF(x)
					}()
					if halves[0].Calibration == None && halves[1].Calibration == None {
						add("accuracy", labels.Accuracy(), right)
					}
				}
				line := ""
				for _, name := range []string{"auroc", "balanced", "accuracy"} {
					h := here[name]
					if h == nil {
						continue
					}
					if pooled[name] == nil {
						pooled[name] = &tally{}
					}
					pooled[name].held += h.held
					pooled[name].of += h.of
					cells[name]++
					if h.share() < .9 {
						bad[name]++
					}
					line += fmt.Sprintf(" %s %.3f (%d unknown)", name, h.share(), h.unknown)
				}
				t.Logf("%v, eps %g n %d prev %g:%s; auroc rms %.4f", l, epsilon, size, prevalence, line, math.Sqrt(rms/m))
			}
		}
	}
	for name, p := range pooled {
		t.Logf("%v, %s: pooled %.4f, %d of %d cells below .9", l, name, p.share(), bad[name], cells[name])
		judge(t, fmt.Sprintf("%v, %s", l, name), *p, bad[name], cells[name], n)
	}
}

// judge wants 94 % of all intervals to hold and 95 % of the settings above 90 %. With few runs a
// setting of true coverage .95 is below .9 by chance in some cases (7 % at 60 runs), so these are
// told only by the whole study; the pooled share, of 2,000 and more, has a standard error of .005:
// coverage of .92 is convicted in 19 of 20 cases.
func judge(t *testing.T, name string, pooled tally, bad, settings, runs int) {
	t.Helper()
	least := 0.94
	if runs < 200 {
		least -= 2 * math.Sqrt(0.05*0.95/float64(pooled.of))
	}
	if pooled.share() < least {
		t.Errorf("%s: intervals held in %.4f", name, pooled.share())
	}
	if runs >= 200 && float64(bad) > 0.05*float64(settings) {
		t.Errorf("%s: %d of %d settings below .9", name, bad, settings)
	}
}

// Intervals of a mean absolute error, of R² and of the gain over the median hold.
func TestCoverageOfRegression(t *testing.T) {
	n := *runs
	if n == 0 {
		n = 40
	}
	for _, l := range []law{laplace, gaussian} {
		coverageOfRegression(t, l, n)
	}
}

func coverageOfRegression(t *testing.T, l law, n int) {
	rng := rand.New(rand.NewPCG(2, 20))
	pooled, bad, settings := map[string]*tally{}, map[string]int{}, 0
	for _, epsilon := range []float64{.1, 1, 8} {
		for _, size := range []int{500, 2000, 20000} {
			for _, off := range []float64{.01, .05, .15} {
				// Targets of N(.5, .15), held to [0, 1]; predictions off by N(0, off).
				draw := func() (y, r float64) {
					return min(max(.5+.15*rng.NormFloat64(), 0), 1), math.Abs(off * rng.NormFloat64())
				}
				var e1, e2, d1, d2, g1 float64
				const many = 1_000_000
				for range many {
					y, r := draw()
					r = min(r, 1)
					e1, e2, d1, d2, g1 = e1+r, e2+r*r, d1+y, d2+y*y, g1+math.Abs(y-.5)-r
				}
				mae, r2, gain := e1/many, 1-e2/(d2-d1*d1/many), g1/many
				here := map[string]*tally{"mae": {}, "r2": {}, "gain": {}}
				for range n {
					targets := Spread{Nodes: TargetNodes, Rows: make([]float64, len(TargetNodes)), Std: l.std(epsilon, .25, .2), PerUnit: 1}
					errors := Spread{Nodes: ErrorNodes, Rows: make([]float64, len(ErrorNodes)), Std: l.std(epsilon, .45, .5), PerUnit: 1}
					gains := Spread{Nodes: GainNodes, Rows: make([]float64, len(GainNodes)), Std: l.std(epsilon, .3, .3), PerUnit: 1}
					put := func(s *Spread, v float64) {
						i, next := Place(s.Nodes, v)
						s.Rows[i] += 1 - next
						s.Rows[min(i+1, len(s.Rows)-1)] += next
					}
					for range size {
						y, r := draw()
						put(&targets, y)
						put(&errors, min(r, 1))
						put(&gains, math.Abs(y-.5)-min(r, 1))
					}
					for _, s := range []*Spread{&targets, &errors, &gains} {
						l.noisy(rng, s.Rows, s.Std)
					}
					a, g, r := RegressionScores(errors, targets, gains, 1)
					here["mae"].add(a, mae)
					here["r2"].add(r.R2, r2)
					here["gain"].add(g, gain)
				}
				settings++
				line := ""
				for _, name := range []string{"mae", "r2", "gain"} {
					h := here[name]
					if pooled[name] == nil {
						pooled[name] = &tally{}
					}
					pooled[name].held, pooled[name].of = pooled[name].held+h.held, pooled[name].of+h.of
					if h.share() < .9 {
						bad[name]++
					}
					line += fmt.Sprintf(" %s %.3f (%d unknown)", name, h.share(), h.unknown)
				}
				t.Logf("%v, eps %g n %d off %g:%s", l, epsilon, size, off, line)
			}
		}
	}
	for name, p := range pooled {
		t.Logf("%v, %s: pooled %.4f, %d of %d settings below .9", l, name, p.share(), bad[name], settings)
		judge(t, fmt.Sprintf("%v, %s", l, name), *p, bad[name], settings, n)
	}
}

// The noise's part in the error of the area under the curve, at a pure epsilon of 1 with 10,000 rows
// scored of which one in twenty is positive, is at most .012; and the accuracy's interval of
// 1,000 rows is at most a fifth wider than that of right, wrong and two class counts with Gaussian
// noise of multiplier 4.2, as the score was released before.
func TestNoiseIsSmall(t *testing.T) {
	n := max(*runs, 150)
	rng := rand.New(rand.NewPCG(3, 20))
	s := scoring{n: 10000, prevalence: .05, gap: 1.2, slope: 1, epsilon: 1}
	exact := s
	exact.epsilon = 1e4
	spread := func(s scoring) (square float64) {
		for range n {
			halves, _, final, ok := s.release(rng)
			square += sq(*Judge(halves, final, ok).AUROC.Value-normalCDF(s.gap/math.Sqrt2)) / float64(n)
		}
		return square
	}
	if noise := math.Sqrt(max(spread(s)-spread(exact), 0)); noise > .012 {
		t.Errorf("noise's part in the error of the area is %.4f", noise)
	} else {
		t.Logf("noise's part in the error of the area is %.4f", noise)
	}
	for _, right := range []float64{.5, .7, .85, .95} {
		labels := Labels{Std: s.labels(), PerUnit: 1}
		labels.Rows = [2][2]float64{{500 * right, 500 * (1 - right)}, {500 * (1 - right), 500 * right}}
		i := labels.Accuracy().Interval
		v := 4.2 * 4.2 * 2 / 4
		before := math.Sqrt(1000*right*(1-right)+v*(3-4*right+4*right*right)) / 1000 * 2 * z95
		t.Logf("accuracy %g: interval %.4f wide, before %.4f", right, i[1]-i[0], before)
		if i[1]-i[0] > 1.2*before {
			t.Errorf("accuracy %g: the interval is %.4f wide, before %.4f", right, i[1]-i[0], before)
		}
	}
}

// Each half is judged by what the other chose.
func TestHalvesChooseForEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 20))
	a, _, _, _ := scoring{n: 8000, prevalence: .3, gap: 1.4, slope: .5, epsilon: 4}.release(rng)
	b, _, _, _ := scoring{n: 8000, prevalence: .05, gap: 1.4, slope: .9, epsilon: 4}.release(rng)
	halves := []Half{{Table: a[0].Table}, {Table: b[0].Table}}
	Cross(halves)
	for i := range halves {
		want, _ := halves[1-i].Table.Calibrate()
		own, _ := halves[i].Table.Calibrate()
		if halves[i].Calibration != want || want == own {
			t.Errorf("half %d is judged by %+v, its own is %+v, the other's %+v", i, halves[i].Calibration, own, want)
		}
	}
	one := []Half{{Table: a[0].Table}}
	Cross(one)
	if one[0].Advised >= 0 || one[0].Calibration != None {
		t.Errorf("a single half chose for itself: %+v", one[0])
	}
}
