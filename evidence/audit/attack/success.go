package attack

import (
	"math"
	"math/rand/v2"

	"pawl/evidence/audit/bound"
)

// Success is the share of right answers of an attack that knows how frequent members are.
type Success struct {
	// Prior is the share of members among the records that the attacker meets.
	Prior float64 `json:"prior"`
	// Rate is prior·TPR + (1−prior)·TNR at a threshold that was chosen on other records.
	// Its interval combines those of the two rates, each at half the error.
	Rate bound.Interval `json:"rate"`
	// Baseline is max(prior, 1−prior), the success of an answer without an attack.
	Baseline float64 `json:"baseline"`
	// Ceiling is what the claim allows, 1 where there is none: for records whose membership
	// was drawn by this prior, independently of each other.
	Ceiling float64 `json:"ceiling"`
	// Exceeds says that the interval lies above Ceiling. The records of one model are not
	// independent trials, so it is a strong sign and no proof; a proof is the bound of an
	// audit in one run (Options.Coins), or one in two worlds.
	Exceeds bool `json:"exceeds_ceiling"`
}

// leastHalf is the number of records of either kind without which halves say nothing.
const leastHalf = 2

// Success is the success rate at a prior. The threshold is chosen on one random half of
// the records and judged on the other. Fewer than four members or others are an error.
func (s Scored) Success(prior, confidence float64) (Success, error) {
	if err := s.Check(); err != nil {
		return Success{}, err
	}
	if !(prior > 0 && prior < 1) {
		return Success{}, invalid("a prior must lie strictly between 0 and 1, got %g", prior)
	}
	choose, judge, err := s.halves()
	if err != nil {
		return Success{}, err
	}
	threshold := choose.threshold(prior)
	in, out := judge.split()
	tp, fp := above(in, threshold), above(out, threshold)
	half := 1 - (1-confidence)/2
	t, err := bound.ClopperPearson(tp, len(in), half)
	if err != nil {
		return Success{}, err
	}
	f, err := bound.ClopperPearson(len(out)-fp, len(out), half)
	mix := func(a, b float64) float64 { return prior*a + (1-prior)*b }
	return Success{
		Prior: prior, Baseline: max(prior, 1-prior), Ceiling: 1,
		Rate: bound.Interval{Estimate: mix(t.Estimate, f.Estimate), Lower: mix(t.Lower, f.Lower), Upper: mix(t.Upper, f.Upper)},
	}, err
}

// threshold is the one with the largest success on these records; a score of at least it
// says "member". +MaxFloat64 says it to none.
func (s Scored) threshold(prior float64) float64 {
	in, out := s.split()
	best, chosen := 1-prior, math.MaxFloat64
	all := s.steps()
	for i, at := range all {
		v := prior*float64(at.in)/float64(len(in)) + (1-prior)*(1-float64(at.out)/float64(len(out)))
		if v > best {
			best, chosen = v, at.score
			if i+1 < len(all) { // halfway to the next, as other records will fall
				chosen = at.score/2 + all[i+1].score/2
			}
		}
	}
	return chosen
}

func above(scores []float64, threshold float64) int {
	n := 0
	for _, v := range scores {
		if v >= threshold {
			n++
		}
	}
	return n
}

// halves deals members and others into two halves each, at random by a fixed seed.
func (s Scored) halves() (a, b Scored, err error) {
	rng := rand.New(rand.NewPCG(0x61747461636b, 1))
	seen := map[bool]int{}
	for _, i := range rng.Perm(len(s.Score)) {
		half := &a
		if seen[s.Member[i]]%2 == 1 {
			half = &b
		}
		seen[s.Member[i]]++
		half.Score, half.Member = append(half.Score, s.Score[i]), append(half.Member, s.Member[i])
		if s.Class != nil {
			half.Class = append(half.Class, s.Class[i])
		}
	}
	if seen[true] < 2*leastHalf || seen[false] < 2*leastHalf {
		return a, b, invalid("a success rate needs at least %d members and %d others, there are %d and %d", 2*leastHalf, 2*leastHalf, seen[true], seen[false])
	}
	return a, b, nil
}
