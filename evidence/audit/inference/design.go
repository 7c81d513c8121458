package inference

import (
	"fmt"
	"math/rand/v2"
)

// Kind names an attack.
type Kind string

// The attacks. Those that look at nothing but the target's posteriors need no shadow
// models.
const (
	LiRA            Kind = "lira"
	RMIA            Kind = "rmia"
	SVM             Kind = "svm"
	Logistic        Kind = "logistic"
	Loss            Kind = "loss"
	Confidence      Kind = "confidence"
	Entropy         Kind = "entropy"
	ModifiedEntropy Kind = "modified-entropy"
)

// Kinds lists every attack.
func Kinds() []Kind {
	return []Kind{LiRA, RMIA, SVM, Logistic, Loss, Confidence, Entropy, ModifiedEntropy}
}

// Shadows is the number of shadow models that an attack takes by default.
func (k Kind) Shadows() int {
	switch k {
	case LiRA:
		return 16
	case RMIA:
		return 4
	case SVM, Logistic:
		return 1
	}
	return 0
}

// least is the number of shadow models below which an attack says nothing: LiRA takes a
// variance from those that were trained on a record and one from those that were not, RMIA
// a mean of either.
func (k Kind) least() int {
	switch k {
	case LiRA:
		return 4
	case RMIA:
		return 2
	case SVM, Logistic:
		return 1
	}
	return 0
}

// design says who is trained on what.
type design struct {
	// attacked are the records under attack and in[i] whether a coin put the i-th of them
	// into the target's training data.
	attacked []int
	in       []bool
	// shadows[m] says for each of pool[m] whether shadow model m was trained on it.
	pool    [][]int
	shadows [][]bool
	// population are records that no model is trained on.
	population []int
	// common says that shadow models are trained on the records under attack.
	common bool
}

// newDesign deals n records.
//
// LiRA and RMIA train every shadow model on half of the records under attack, so that each
// record is in half of the models; RMIA keeps a quarter of all as its population. The
// attack models of SVM and Logistic are trained on shadow models whose pools are disjoint
// from each other and from the target's, all of one size, so that all models see equally
// many records.
func newDesign(kind Kind, n, shadows int, rng *rand.Rand) (*design, error) {
	if shadows < kind.least() {
		return nil, fmt.Errorf("%w: %s needs at least %d shadow models, not %d", ErrInput, kind, kind.least(), shadows)
	}
	d, order := &design{}, rng.Perm(n)
	switch kind {
	case LiRA:
		d.attacked, d.common = order, true
	case RMIA:
		d.population, d.attacked, d.common = order[:n/4], order[n/4:], true
	case SVM, Logistic:
		size := n / (shadows + 1)
		d.attacked = order[:size]
		for m := range shadows {
			d.pool = append(d.pool, order[(m+1)*size:(m+2)*size])
		}
	default:
		d.attacked = order
	}
	if len(d.attacked) < fewest {
		return nil, fmt.Errorf("%w: %d records under attack; it takes at least %d", ErrInput, len(d.attacked), fewest)
	}
	d.in = coins(len(d.attacked), rng)
	if d.common {
		d.pool, d.shadows = make([][]int, shadows), make([][]bool, shadows)
		for m := range shadows {
			d.pool[m], d.shadows[m] = d.attacked, make([]bool, len(d.attacked))
		}
		for i := range d.attacked {
			// Exactly half of the models, so that each record has enough of either kind.
			for _, m := range rng.Perm(shadows)[:halfOf(shadows, rng)] {
				d.shadows[m][i] = true
			}
		}
		return d, nil
	}
	for _, p := range d.pool {
		d.shadows = append(d.shadows, coins(len(p), rng))
	}
	return d, nil
}

// halfOf is half of n, an odd one rounded by a coin.
func halfOf(n int, rng *rand.Rand) int { return (n + rng.IntN(2)) / 2 }

// coins are fair and independent of each other.
func coins(n int, rng *rand.Rand) []bool {
	c := make([]bool, n)
	for i := range c {
		c[i] = rng.IntN(2) == 1
	}
	return c
}

// chosen are the records whose coin fell.
func chosen(records []int, in []bool) []int {
	var out []int
	for i, r := range records {
		if in[i] {
			out = append(out, r)
		}
	}
	return out
}

// Nominal is the number of records that a model of the audit is expected to be trained on:
// half of those that are tossed for. It is what a recipe plans with, since the exact number
// is not public to it.
func Nominal(kind Kind, records, shadows int) int {
	switch kind {
	case RMIA:
		records -= records / 4
	case SVM, Logistic:
		if shadows == 0 {
			shadows = kind.Shadows()
		}
		records /= shadows + 1
	}
	return records / 2
}
