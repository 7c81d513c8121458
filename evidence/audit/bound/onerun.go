package bound

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Guesses are the outcome of an audit in one run: of Canaries that were each put in or
// left out by a fair coin of their own, an attacker who sees the output alone guessed
// about Made, abstained on the others, and was right about Right.
type Guesses struct {
	Canaries int `json:"canaries"`
	Made     int `json:"made"`
	Right    int `json:"right"`
}

// Check reports guesses that no audit can have made.
func (g Guesses) Check() error {
	if g.Canaries < 1 || g.Made < 0 || g.Made > g.Canaries || g.Right < 0 || g.Right > g.Made {
		return invalid("%d right of %d guesses about %d canaries", g.Right, g.Made, g.Canaries)
	}
	return nil
}

// PValue bounds the probability that an (ε, δ)-DP mechanism lets an attacker be right at
// least this often:
//
//	β + 2·m·δ·α,   q = 1/(1+e^(−ε)),   β = P[Bin(r, q) >= v],
//	α = max over i = 1…v of (1/i)·P[v > Bin(r, q) >= v−i],
//
// for v right of r guesses about m canaries. Steinke, Nasr and Jagielski, "Privacy
// auditing with one (1) training run", arXiv:2305.08846, Theorem 5.2 and Appendix D. The
// canaries need not be independent of each other; the coins must be. It holds under
// AddOrRemoveOne (or ZeroOut), a canary being one unit. Out of range: 1.
func (g Guesses) PValue(epsilon, delta float64) float64 {
	if g.Check() != nil || !(epsilon >= 0) || !(delta >= 0 && delta <= 1) {
		return 1
	}
	if g.Right == 0 {
		return 1
	}
	law := distuv.Binomial{N: float64(g.Made), P: 1 / (1 + math.Exp(-epsilon))}
	// P[X >= v] as a sum from the top: one minus a distribution function near 1 would
	// lose the small values that matter.
	beta := 0.0
	for x := g.Made; x >= g.Right; x-- {
		beta += law.Prob(float64(x))
	}
	alpha, sum := 0.0, 0.0
	if delta > 0 {
		for i := 1; i <= g.Right; i++ {
			sum += law.Prob(float64(g.Right - i))
			alpha = max(alpha, sum/float64(i))
		}
	}
	return min(1, beta+2*float64(g.Canaries)*delta*alpha)
}

// Epsilon is the lower bound on ε at δ: the largest ε such that all below it are refused
// at the stated confidence. 0 says that nothing was found, as it must where 2·m·δ is not
// small against 1−confidence: the theorem then allows any guesses.
func (g Guesses) Epsilon(delta, confidence float64) (float64, error) {
	if err := g.Check(); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if err := checkConfidence(confidence); err != nil {
		return 0, err
	}
	limit := 1 - confidence
	refused := func(epsilon float64) bool { return g.PValue(epsilon, delta) <= limit }
	// The first ε that is not refused, from below: a mechanism that is (ε, δ)-DP is also
	// (ε', δ)-DP for every larger ε', so refusals beyond a gap would say nothing.
	const step, most = 0.25, 60.0
	low := 0.0
	if !refused(low) {
		return 0, nil
	}
	for low+step <= most && refused(low+step) {
		low += step
	}
	high := low + step
	for high-low > 1e-9 {
		if mid := (low + high) / 2; refused(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// Canaries are the scores of an audit in one run, and which of them were in.
type Canaries struct {
	Score []float64 `json:"score"`
	In    []bool    `json:"in"`
}

// Guesser guesses "in" above Upper and "out" below Lower, or the other way round where
// Reversed is set, and abstains between.
type Guesser struct {
	Upper    float64 `json:"upper"`
	Lower    float64 `json:"lower"`
	Reversed bool    `json:"reversed"`
}

// OneRun is a lower bound on ε from canaries of one run.
type OneRun struct {
	Epsilon    float64    `json:"epsilon"`
	Delta      float64    `json:"delta"`
	Confidence float64    `json:"confidence"`
	Guesser    Guesser    `json:"guesser"`
	Guesses    Guesses    `json:"guesses"`
	Correction Correction `json:"correction"`
}

// leastCanaries is where a half is too small to choose a guesser.
const leastCanaries = 8

// Epsilon is a lower bound on ε at δ. How many guesses to make, and which sign means
// "in", is chosen on one half of the
// canaries and judged on the other: given the coins of the
// first half the mechanism is (ε, δ)-DP in those of the second, so the theorem applies
// to the second half alone, with its number of canaries as m.
//
// Errors: fewer than 8 canaries, lists of different lengths, a score that is not finite.
func (c Canaries) Epsilon(delta, confidence float64) (OneRun, error) {
	if err := c.check(); err != nil {
		return OneRun{}, err
	}
	if err := checkDelta(delta); err != nil {
		return OneRun{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return OneRun{}, err
	}
	var choose, judge Canaries
	for k, i := range splitter().Perm(len(c.Score)) {
		half := &choose
		if k%2 == 1 {
			half = &judge
		}
		half.Score, half.In = append(half.Score, c.Score[i]), append(half.In, c.In[i])
	}
	guesser := choose.choose(confidence)
	g := judge.guess(guesser)
	epsilon, err := g.Epsilon(delta, confidence)
	return OneRun{epsilon, delta, confidence, guesser, g, Split}, err
}

func (c Canaries) check() error {
	switch {
	case len(c.Score) != len(c.In):
		return invalid("%d scores for %d canaries", len(c.Score), len(c.In))
	case len(c.Score) < leastCanaries:
		return invalid("an audit in one run needs at least %d canaries, got %d", leastCanaries, len(c.Score))
	case slices.ContainsFunc(c.Score, notFinite):
		return invalid("a score is not a finite number")
	}
	return nil
}

func (c Canaries) guess(g Guesser) Guesses {
	out := Guesses{Canaries: len(c.Score)}
	for i, v := range c.Score {
		in, guessed := v >= g.Upper, v >= g.Upper || v <= g.Lower
		if guessed {
			out.Made++
			if in != g.Reversed == c.In[i] {
				out.Right++
			}
		}
	}
	return out
}

// shares are the fractions of canaries about which a guesser that is tried says "in", and
// "out".
var shares = []float64{0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}

// choose takes the guesser whose share of right guesses has the largest lower bound on
// these canaries, by an approximate one of the given confidence: the bound on ε grows
// with it as long as δ is small.
func (c Canaries) choose(confidence float64) Guesser {
	sorted := slices.Clone(c.Score)
	slices.Sort(sorted)
	n := len(sorted)
	z := distuv.UnitNormal.Quantile(confidence)
	at := func(share float64) int { return int(math.Round(share * float64(n))) }
	best, chosen := -1.0, Guesser{}
	for _, top := range shares {
		for _, bottom := range shares {
			g := Guesser{Upper: math.MaxFloat64, Lower: -math.MaxFloat64}
			if k := at(top); k > 0 {
				g.Upper = sorted[n-k]
			}
			if k := at(bottom); k > 0 {
				g.Lower = sorted[k-1]
			}
			if g.Lower >= g.Upper {
				continue // ties: no score may be guessed both ways
			}
			for _, g.Reversed = range []bool{false, true} {
				made := c.guess(g)
				if made.Made == 0 {
					continue
				}
				if v := wilson(made.Right, made.Made, -z); v > best {
					best, chosen = v, g
				}
			}
		}
	}
	return chosen
}
