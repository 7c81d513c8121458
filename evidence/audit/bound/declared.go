package bound

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// BestOfTwo: a test that was declared and one that was chosen on half of the scores, each
// judged at half the error.
const BestOfTwo Correction = "best_of_declared_and_split"

// EpsilonDeclared is a lower bound on ε at δ from a number of guesses that was fixed before
// scores were seen: "in" of the each largest scores and "out" of the each smallest, ties
// going by position. No canary is spent on choosing, so that all count. A white-box
// auditor knows beforehand which sign means "in".
//
// Errors: those of Epsilon; fewer than one guess of a kind or more than half of all.
func (c Canaries) EpsilonDeclared(each int, delta, confidence float64) (OneRun, error) {
	order, g, err := c.outermost(each)
	if err != nil {
		return OneRun{}, err
	}
	n := len(order)
	epsilon, err := g.Epsilon(delta, confidence)
	return OneRun{epsilon, delta, confidence, Guesser{Upper: c.Score[order[n-each]], Lower: c.Score[order[each-1]]}, g, Fixed}, err
}

// EpsilonBest is the larger one of EpsilonDeclared and Epsilon, each at half the error: the
// first sees what was expected, the second what was not, such as noise that is missing.
func (c Canaries) EpsilonBest(each int, delta, confidence float64) (OneRun, error) {
	half := 1 - (1-confidence)/2
	fixed, err := c.EpsilonDeclared(each, delta, half)
	if err != nil {
		return OneRun{}, err
	}
	best, err := c.Epsilon(delta, half)
	if err != nil {
		return OneRun{}, err
	}
	if fixed.Epsilon >= best.Epsilon {
		best = fixed
	}
	best.Confidence, best.Correction = confidence, BestOfTwo
	return best, nil
}

// DeclaredFor is the number of guesses of each kind that is expected to show most where a
// canary's score is normal of deviation 1 and moves by mu when it is in. It depends on
// public numbers alone. An honest mechanism of this mu is the case for which it is best.
func DeclaredFor(canaries int, mu, delta, confidence float64) int {
	best, chosen := -1.0, max(1, canaries/4)
	for _, share := range shares[1:] {
		each := min(max(1, int(share*float64(canaries))), canaries/2)
		// The upper quantile of the mixture of N(0, 1) and N(mu, 1) by bisection.
		lo, hi := -40.0, 40+max(mu, 0)
		for range 80 {
			mid := (lo + hi) / 2
			if (distuv.UnitNormal.Survival(mid)+distuv.UnitNormal.Survival(mid-mu))/2 > share {
				lo = mid
			} else {
				hi = mid
			}
		}
		in, out := distuv.UnitNormal.Survival(hi-mu), distuv.UnitNormal.Survival(hi)
		if !(in+out > 0) {
			continue
		}
		right := int(math.Round(2 * float64(each) * in / (in + out)))
		epsilon, err := Guesses{Canaries: canaries, Made: 2 * each, Right: right}.Epsilon(delta, confidence)
		if err == nil && epsilon > best {
			best, chosen = epsilon, each
		}
	}
	return chosen
}
