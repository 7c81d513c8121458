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

// laplace draws discrete-like noise of standard deviation about std.
func noisy(rng *rand.Rand, xs []float64, std float64) {
	for i := range xs {
		e := rng.ExpFloat64() - rng.ExpFloat64()
		xs[i] += math.Round(e * std / math.Sqrt2)
	}
}

// scoring is a simulated binary scoring: positives score N(gap, 1), negatives N(0, 1), as raw
// scores around the log odds of the prevalence, times slope.
type scoring struct {
	n               int
	prevalence, gap float64
	slope           float64
	epsilon         float64
}

// the shares of epsilon, as package workflow has them.
const edgeShare, binShare, labelShare = 0.1, 0.55, 0.35

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
	std := func(share float64) float64 { return math.Sqrt2 / (share * s.epsilon) }
	type row struct {
		score    float64
		positive bool
	}
	var parts [2][]row
	fine := make([]float64, Fine)
	for range s.n {
		r := row{positive: rng.Float64() < s.prevalence}
		r.score = s.score(rng, r.positive)
		h := rng.IntN(2)
		parts[h] = append(parts[h], r)
		fine[FineBin(r.score)]++
	}
	noisy(rng, fine, std(edgeShare))
	noisy(rng, fine, 0)
	base := NewTable(fine, std(edgeShare)*math.Sqrt2, std(binShare)*math.Sqrt2, 1)
	for h := range parts {
		t := *base
		t.Positives, t.Negatives, t.Std = make([]float64, len(t.Mids)), make([]float64, len(t.Mids)), std(binShare)
		for _, r := range parts[h] {
			if b := t.Bin(r.score); r.positive {
				t.Positives[b]++
			} else {
				t.Negatives[b]++
			}
		}
		noisy(rng, t.Positives, t.Std)
		noisy(rng, t.Negatives, t.Std)
		halves = append(halves, Half{Table: &t})
	}
	Cross(halves)
	final, applied = halves[0].Table.Plus(halves[1].Table).Calibrate()
	labels = Labels{Std: std(labelShare) * math.Sqrt2, PerUnit: 1}
	for h := range parts {
		cut, _ := Decision{}.Cut(halves[h].Table, halves[h].Calibration)
		for _, r := range parts[h] {
			labels.Rows[one(r.positive)][one(r.score > cut)]++
		}
	}
	for i := range labels.Rows {
		noisy(rng, labels.Rows[i][:], labels.Std)
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
		n = 60
	}
	rng := rand.New(rand.NewPCG(1, 20))
	pooled := map[string]*tally{}
	bad, cells := map[string]int{}, map[string]int{}
	for _, epsilon := range []float64{.1, 1, 8} {
		for _, size := range []int{500, 2000, 10000, 20000} {
			for _, prevalence := range []float64{.02, .1, .5} {
				s := scoring{n: size, prevalence: prevalence, gap: 1.2, slope: 1, epsilon: epsilon}
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
					x := (0 - math.Log(prevalence/(1-prevalence)) + s.gap*s.gap/2) / s.gap
					_ = x
					_ = labels
				}
				line := ""
				for _, name := range []string{"auroc", "balanced"} {
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
				t.Logf("eps %g n %d prev %g:%s; auroc rms %.4f", epsilon, size, prevalence, line, math.Sqrt(rms/m))
			}
		}
	}
	for name, p := range pooled {
		t.Logf("%s: pooled %.4f, %d of %d cells below .9", name, p.share(), bad[name], cells[name])
	}
}
