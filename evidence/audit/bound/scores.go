package bound

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Scores are what an attack made of independent trials of the two worlds. A larger score
// need not mean "in": the direction is found.
type Scores struct {
	In  []float64 `json:"in"`
	Out []float64 `json:"out"`
}

// leastTrials is the number of trials of a world below which its halves are too small
// to choose and to judge anything.
const leastTrials = 4

// Check refuses scores that are not finite and worlds of fewer than four trials.
func (s Scores) Check() error {
	if len(s.In) < leastTrials || len(s.Out) < leastTrials {
		return invalid("an audit needs at least %d trials in each world, got %d and %d", leastTrials, len(s.In), len(s.Out))
	}
	for _, side := range [][]float64{s.In, s.Out} {
		if slices.ContainsFunc(side, notFinite) {
			return invalid("a score is not a finite number")
		}
	}
	return nil
}

// Test says "in" where a score is at least Threshold, or at most Threshold where Below
// is set.
type Test struct {
	Threshold float64 `json:"threshold"`
	Below     bool    `json:"below"`
}

// Says reports whether the test takes a score for one of the world that holds the unit.
func (t Test) Says(score float64) bool {
	if t.Below {
		return score <= t.Threshold
	}
	return score >= t.Threshold
}

// At returns the counts of a test. They are those of a fixed test only if the test was
// not chosen by these scores.
func (s Scores) At(t Test) Counts {
	c := Counts{Positives: len(s.In), Negatives: len(s.Out)}
	for _, v := range s.In {
		if t.Says(v) {
			c.TruePositives++
		}
	}
	for _, v := range s.Out {
		if t.Says(v) {
			c.FalsePositives++
		}
	}
	return c
}

func notFinite(v float64) bool { return v-v != 0 }

// splitter is the generator of all splits.
func splitter() *rand.Rand { return rand.New(rand.NewPCG(0x61756469742f32, 1)) }

// Halves deals the scores of each world into two halves at random, by a fixed seed: the
// result is a function of the scores and their order, and a list that was sorted is
// split as well as any other.
func (s Scores) Halves() (choose, judge Scores) {
	rng := splitter()
	deal := func(from []float64) (a, b []float64) {
		mixed := slices.Clone(from)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		return mixed[:len(mixed)/2], mixed[len(mixed)/2:]
	}
	choose.In, judge.In = deal(s.In)
	choose.Out, judge.Out = deal(s.Out)
	return choose, judge
}

// A Criterion says by what a test is chosen.
type Criterion string

const (
	// ByEpsilon takes the test with the largest bound on ε: tails, as a rule.
	ByEpsilon Criterion = "epsilon"
	// ByMu takes the one with the largest bound on μ, which sees a fault in the noise of
	// a Gaussian mechanism from far fewer trials.
	ByMu Criterion = "mu"
)

// Choose returns the test, among all thresholds and both directions, that does best on
// these scores by approximate bounds of the given confidence. Its counts on the same
// scores are biased: judge it on others. delta matters for ByEpsilon only.
func (s Scores) Choose(by Criterion, delta, confidence float64) Test {
	z := distuv.UnitNormal.Quantile(1 - (1-confidence)/2)
	worth := func(c Counts) float64 {
		p, q := wilson(c.TruePositives, c.Positives, -z), wilson(c.FalsePositives, c.Negatives, z)
		if by == ByMu {
			return muAt(p, q)
		}
		return epsilonAt(p, q, delta)
	}
	type mark struct {
		score float64
		in    bool
	}
	all := make([]mark, 0, len(s.In)+len(s.Out))
	for _, v := range s.In {
		all = append(all, mark{v, true})
	}
	for _, v := range s.Out {
		all = append(all, mark{v, false})
	}
	slices.SortFunc(all, func(a, b mark) int { return cmp.Compare(a.score, b.score) })
	best, chosen := -1.0, Test{Threshold: all[0].score} // where no score differs it says "in" to all
	consider := func(c Counts, t Test) {
		if v := worth(c); v > best {
			best, chosen = v, t
		}
	}
	// Thresholds lie between scores, halfway, so that other trials of the same law fall
	// on the same side as these did. Equal scores stay together.
	below := Counts{Positives: len(s.In), Negatives: len(s.Out)}
	for i := range all {
		if i > 0 && all[i].score > all[i-1].score {
			low, high := all[i-1].score, all[i].score
			if mid := low/2 + high/2; low < mid && mid < high {
				low, high = mid, mid
			}
			consider(below, Test{Threshold: low, Below: true})
			consider(below.Reversed(), Test{Threshold: high})
		}
		if all[i].in {
			below.TruePositives++
		} else {
			below.FalsePositives++
		}
	}
	return chosen
}

// Estimate is a lower bound on ε with all that it rests on.
type Estimate struct {
	// Epsilon is the bound; 0 says that nothing was found.
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
	// Test was fixed or chosen as Correction says; Counts are those it was judged on.
	Test       Test       `json:"test"`
	Counts     Counts     `json:"counts"`
	Correction Correction `json:"correction"`
}

// Correction says how a bound pays for the choice of its test.
type Correction string

const (
	// Fixed: the test was declared before scores were seen.
	Fixed Correction = "fixed_test"
	// Split: threshold and direction were chosen on one half of the scores and judged on
	// the other.
	Split Correction = "sample_splitting"
)

// Epsilon is a lower bound on ε at δ with a test that is chosen on half of the scores
// and judged on the other half. Where worlds cannot be told apart it exceeds 0 with
// probability 1−confidence at most.
func (s Scores) Epsilon(delta, confidence float64) (Estimate, error) {
	if err := s.Check(); err != nil {
		return Estimate{}, err
	}
	choose, judge := s.Halves()
	e, err := judge.EpsilonAt(choose.Choose(ByEpsilon, delta, confidence), delta, confidence)
	e.Correction = Split
	return e, err
}

// EpsilonAt is a lower bound on ε at δ by a test that these scores did not choose.
func (s Scores) EpsilonAt(t Test, delta, confidence float64) (Estimate, error) {
	if err := s.Check(); err != nil {
		return Estimate{}, err
	}
	c := s.At(t)
	epsilon, err := c.Epsilon(delta, confidence)
	return Estimate{Epsilon: epsilon, Delta: delta, Confidence: confidence, Test: t, Counts: c, Correction: Fixed}, err
}
