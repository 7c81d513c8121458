package quality

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/release"
)

// answering is a simulated scoring of many classes: of class k the score k is N(gap, 1) and the others
// are N(0, 1), as raw scores gap·x/slope, which are too extreme for a slope below 1.
type answering struct {
	n, classes       int
	gap, slope, rare float64 // the share of the last class is rare/classes
	epsilon          float64
	law              law
}

func (s answering) edges() float64    { return s.law.std(s.epsilon, .05, .05) }
func (s answering) bins() float64     { return s.law.std(s.epsilon, .45, .45) }
func (s answering) accuracy() float64 { return s.law.std(s.epsilon, .5, .5) * math.Sqrt2 } // a row moves two cells

// draw is a row: its class, what is predicted, and how confidently.
func (s answering) draw(rng *rand.Rand, x []float64) (class, predicted int, confidence float64) {
	class = rng.IntN(s.classes)
	if class == s.classes-1 && rng.Float64() > s.rare {
		class = rng.IntN(s.classes - 1)
	}
	for k := range x {
		if x[k] = rng.NormFloat64(); k == class {
			x[k] += s.gap
		}
		x[k] *= s.gap / s.slope
		if x[k] > x[predicted] {
			predicted = k
		}
	}
	rest := 0.0
	for k, v := range x {
		if k != predicted {
			rest += math.Exp(v - x[predicted])
		}
	}
	return class, predicted, -math.Log(rest)
}

// recall is that of each class, ∫φ(x−gap)·Φ(x)^(classes−1): the prediction does not know which is rare.
func (s answering) recall() (r float64) {
	const step = 1e-3
	for x := -8.0; x < 12; x += step {
		r += step * math.Exp(-(x-s.gap)*(x-s.gap)/2) / math.Sqrt(2*math.Pi) * math.Pow(normalCDF(x), float64(s.classes-1))
	}
	return r
}

func (s answering) release(rng *rand.Rand) (halves []*Answers, totals Totals) {
	k := s.classes
	type row struct {
		half, class, predicted int
		confidence             float64
	}
	rows, x := make([]row, s.n), make([]float64, k)
	fine := make([]float64, FineBins(float64(s.n), s.edges()))
	counts := make([]float64, 2+k)
	for i := range rows {
		r := row{half: rng.IntN(2)}
		r.class, r.predicted, r.confidence = s.draw(rng, x)
		fine[FineBin(r.confidence, len(fine))]++
		counts[1-one(r.class == r.predicted)]++
		counts[2+r.class]++
		rows[i] = r
	}
	s.law.noisy(rng, fine, s.edges())
	s.law.noisy(rng, counts, s.accuracy())
	bins := ConfidenceBins(float64(s.n), k, s.bins())
	base := &Table{PerUnit: 1}
	if bins > 1 {
		base = Fine{fine, s.edges()}.TableOf(bins, 1)
	}
	for h := range 2 {
		cells := make([]float64, bins*k*k)
		for _, r := range rows {
			if r.half == h {
				cells[k*k*base.Bin(r.confidence)+k*r.class+r.predicted]++
			}
		}
		s.law.noisy(rng, cells, s.bins())
		halves = append(halves, AnswersIn(base, k, cells, s.bins()))
	}
	return halves, TotalsOf(release.AccuracyScore{Counts: counts, CountStd: s.accuracy()})
}

// TestCoverageOfAnswers: intervals hold of what a score of more than two classes has, and a calibration
// is not worse than none; with judge's power. The whole study is -runs 100.
func TestCoverageOfAnswers(t *testing.T) {
	n := *runs
	if n == 0 {
		n = 20
	}
	for _, l := range []law{laplace, gaussian} {
		coverageOfAnswers(t, l, n)
	}
}

func coverageOfAnswers(t *testing.T, l law, n int) {
	rng := rand.New(rand.NewPCG(4, 20))
	pooled := map[string]*tally{}
	bad, cells := map[string]int{}, map[string]int{}
	tried, worse := 0, 0
	epsilons, sizes, many := []float64{1}, []int{500, 3000}, 20_000 // rows by which the truth is known
	if *runs > 0 {
		epsilons, sizes, many = []float64{.1, 1, 8}, []int{500, 2000, 20000}, 400_000
	}
	for _, epsilon := range epsilons {
		for _, size := range sizes {
			for _, classes := range []int{3, 10, 26} {
				for _, slope := range []float64{1, .5} {
					s := answering{n: size, classes: classes, gap: 2, slope: slope, rare: 1, epsilon: epsilon, law: l}
					if classes == 10 {
						s.rare = .2
					}
					// Right and wrong answers by confidence, in steps of 1/100.
					truth, x := map[int]*[2]float64{}, make([]float64, classes)
					for range many {
						class, predicted, z := s.draw(rng, x)
						at := int(math.Round(100 * z))
						if truth[at] == nil {
							truth[at] = &[2]float64{}
						}
						truth[at][one(class != predicted)] += 1 / float64(many)
					}
					balanced := s.recall()
					gain := balanced - (1+(1-s.rare)/float64(classes-1))/float64(classes)
					losses := func(c Calibration) (log, brier float64) {
						for at, n := range truth {
							p := c.Confidence(float64(at)/100, classes)
							log -= n[0]*math.Log(p) + n[1]*math.Log(1-p)
							brier += n[0]*sq(1-p) + n[1]*sq(p)
						}
						return log, brier
					}
					raw, _ := losses(None)
					here := map[string]*tally{}
					add := func(name string, e Estimate, truth float64) {
						if here[name] == nil {
							here[name] = &tally{}
						}
						here[name].add(e, truth)
					}
					applied, mean := 0, 0.0
					for range n {
						halves, totals := s.release(rng)
						all := halves[0].Plus(halves[1])
						final, ok := all.Calibrate()
						chosen := CrossAnswers(halves)
						c := JudgeAnswers(halves, all, chosen, final, ok, totals)
						labels := all.Labels()
						labels.Fill(c, nil, totals)
						add("balanced", c.BalancedAccuracy, balanced)
						add("gain", labels.Gain(totals), gain)
						if !c.TopLabel {
							continue
						}
						l0, b0 := losses(chosen[0])
						l1, b1 := losses(chosen[1])
						add("log-loss", *c.LogLoss, (l0+l1)/2)
						add("raw log-loss", *c.RawLogLoss, raw)
						add("brier", *c.Brier, (b0+b1)/2)
						if ok {
							applied++
						}
						after, _ := losses(final)
						mean += after / float64(n)
						if tried++; after > raw+.01 {
							worse++
						}
					}
					line := ""
					for _, name := range []string{"balanced", "gain", "log-loss", "raw log-loss", "brier"} {
						h := here[name]
						if h == nil {
							continue
						}
						if pooled[name] == nil {
							pooled[name] = &tally{}
						}
						pooled[name].held, pooled[name].of = pooled[name].held+h.held, pooled[name].of+h.of
						if cells[name]++; h.share() < .9 {
							bad[name]++
						}
						line += fmt.Sprintf(" %s %.3f (%d unknown)", name, h.share(), h.unknown)
					}
					t.Logf("%v, eps %g n %d classes %d slope %g:%s; applied %.2f, loss %.4f raw %.4f", l, epsilon, size, classes, slope, line, float64(applied)/float64(n), mean, raw)
				}
			}
		}
	}
	for name, p := range pooled {
		t.Logf("%v, %s: pooled %.4f, %d of %d settings below .9", l, name, p.share(), bad[name], cells[name])
		judge(t, fmt.Sprintf("%v, %s", l, name), *p, bad[name], cells[name], n)
	}
	if t.Logf("%v: a calibration is worse by more than .01 in %d of %d", l, worse, tried); float64(worse) > .03*float64(tried)+3*math.Sqrt(.03*float64(tried)) {
		t.Errorf("%v: a calibration is worse by more than .01 in %d of %d", l, worse, tried)
	}
}

// Each half of the answers is judged by the calibration that the other chose, with the wrong answers' greater noise,
// and a single one by none.
func TestHalvesOfAnswersChooseForEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 20))
	a, _ := answering{n: 6000, classes: 3, gap: 2, slope: .4, rare: 1, epsilon: 8}.release(rng)
	b, _ := answering{n: 6000, classes: 3, gap: 2, slope: .7, rare: 1, epsilon: 8}.release(rng)
	halves := []*Answers{a[0], b[1]}
	chosen := CrossAnswers(halves)
	for i, c := range chosen {
		want, _ := halves[1-i].Calibrate()
		own, _ := halves[i].Calibrate()
		if c != want || want == own || want == None {
			t.Errorf("half %d is judged by %+v, its own is %+v, the other's %+v", i, c, own, want)
		}
	}
	if one := CrossAnswers(halves[:1]); len(one) != 1 || one[0] != None {
		t.Errorf("a single half chose for itself: %+v", one)
	}
	noisy := *a[0]
	noisy.Std *= 300
	if _, ok := noisy.Calibrate(); ok {
		t.Error("a calibration is applied that the noise may have made")
	}
}
