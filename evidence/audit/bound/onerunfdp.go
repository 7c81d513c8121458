package bound

import (
	"cmp"
	"math"
	"slices"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Curve is a claim's trade-off curve from a number of its (ε, δ): sound wherever they are,
// and as sharp as they are many.
type Curve struct{ epsilon, delta []float64 }

// CurveOf takes the points of an event's curve, ε 0 to beyond its price at δ 1e-9 or so.
func CurveOf(event dp.Event, relation dp.Relation, most float64) (Curve, error) {
	var c Curve
	const points = 40
	for i := range points {
		e := most * 1.5 * float64(i) / (points - 1)
		r, err := accountant.Delta(event, relation, e, accountant.MethodMin)
		if err != nil {
			return c, err
		}
		c.epsilon, c.delta = append(c.epsilon, e), append(c.delta, r.Delta)
	}
	return c, nil
}

// FalsePositives is the least false positive rate that the claim leaves to a test with this
// true positive rate.
func (c Curve) FalsePositives(truePositives float64) float64 {
	least := 0.0
	for i, e := range c.epsilon {
		least = max(least, (truePositives-c.delta[i])*math.Exp(-e), 1-c.delta[i]-(1-truePositives)*math.Exp(e))
	}
	return least
}

// FDP is the verdict of an audit in one run against a whole trade-off curve (Mahloujifar,
// Melis and Chaudhuri, "Auditing f-Differential Privacy in One Run", arXiv:2410.22235): of
// Guesses.Made declared guesses so many were right.
type FDP struct {
	Guesses Guesses `json:"guesses"`
	// LeastRight is the number of right guesses from which on the claim is convicted; above
	// Made where no attack could, however good.
	LeastRight int     `json:"right_guesses_that_convict"`
	Confidence float64 `json:"confidence"`
	Power      bool    `json:"a_perfect_attack_would_convict"`
	Convicted  bool    `json:"convicted"`
}

// refuted says whether c of made right guesses about m canaries are more than the curve allows,
// with an error of alpha.
func (c Curve) refuted(right, made, m int, alpha float64) bool {
	if right < 1 {
		return false
	}
	r, h := alpha*float64(right)/float64(m), alpha*float64(made-right)/float64(m)
	limit := float64(made) / float64(m)
	for i := right - 1; i >= 0; i-- {
		next := max(h, c.FalsePositives(min(r, 1)))
		r += float64(i) / float64(made-i) * (next - h)
		if h = next; r+h > limit {
			return true
		}
	}
	return r+h > limit
}

// Judge guesses "in" about the each largest scores and "out" about the each smallest, a
// number that is fixed beforehand, and holds them against the curve.
func (c Canaries) Judge(curve Curve, each int, confidence float64) (FDP, error) {
	_, g, err := c.outermost(each)
	if err != nil {
		return FDP{}, err
	}
	n, out := g.Canaries, FDP{Guesses: g, Confidence: confidence}
	// More right guesses are never less evidence.
	low, high := 0, out.Guesses.Made+1
	for high-low > 1 {
		if mid := (low + high) / 2; curve.refuted(mid, out.Guesses.Made, n, 1-confidence) {
			high = mid
		} else {
			low = mid
		}
	}
	out.LeastRight = high
	out.Power = high <= out.Guesses.Made
	out.Convicted = out.Guesses.Right >= high
	return out, nil
}

// PValue is the least error at which the guesses refute the curve: under a true claim it is
// at most x with probability x at most.
func (c Curve) PValue(g Guesses) float64 {
	if g.Check() != nil || !c.refuted(g.Right, g.Made, g.Canaries, 1) {
		return 1
	}
	low, high := math.Log(1e-300), 0.0
	if c.refuted(g.Right, g.Made, g.Canaries, math.Exp(low)) {
		return math.Exp(low)
	}
	for range 60 {
		if mid := (low + high) / 2; c.refuted(g.Right, g.Made, g.Canaries, math.Exp(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(high)
}

// FewRuns is the evidence of several independent runs against one claim, pooled.
type FewRuns struct {
	Runs int `json:"runs"`
	// PValues are those of the runs, PValue that of all together.
	PValues    []float64 `json:"p_values"`
	PValue     float64   `json:"p_value"`
	Confidence float64   `json:"confidence"`
	Convicted  bool      `json:"convicted"`
}

// Pool joins p-values of independent runs by Fisher's method: −2·Σ ln p is at most as large as
// a χ² of 2·runs degrees of freedom where every claim is true. Runs that each show little show
// much together. Without a run, or with one that is no probability, nothing is convicted.
func Pool(p []float64, confidence float64) FewRuns {
	out := FewRuns{Runs: len(p), PValues: p, PValue: 1, Confidence: confidence}
	x := 0.0
	for _, v := range p {
		if !(v > 0 && v <= 1) {
			return out
		}
		x -= math.Log(v)
	}
	// The tail of χ² with an even number of degrees of freedom is a Poisson sum.
	tail, term := 0.0, math.Exp(-x)
	for k := range p {
		tail += term
		term *= x / float64(k+1)
	}
	if len(p) > 0 {
		out.PValue = min(1, tail)
	}
	out.Convicted = out.PValue <= 1-confidence
	return out
}

// outermost orders the canaries by score, the smallest first, and counts the guesses that are right of "in" about the
// each largest and "out" about the each smallest.
func (c Canaries) outermost(each int) (order []int, g Guesses, err error) {
	if err := c.check(); err != nil {
		return nil, g, err
	}
	n := len(c.Score)
	if each < 1 || each > n/2 {
		return nil, g, invalid("%d guesses of a kind about %d canaries", each, n)
	}
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.Score[a], c.Score[b]) })
	g = Guesses{Canaries: n, Made: 2 * each}
	for k := range each {
		if !c.In[order[k]] {
			g.Right++
		}
		if c.In[order[n-1-k]] {
			g.Right++
		}
	}
	return order, g, nil
}
