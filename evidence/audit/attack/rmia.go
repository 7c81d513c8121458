package attack

import (
	"slices"
	"sort"
)

// RMIA is the robust membership inference attack (Zarifzadeh, Liu and Shokri,
// arXiv:2312.03262). It asks of how many records z of the population the target's
// surprise at x exceeds that at z γ times,
//
//	score(x) = Pr_z[ (p(x|θ)/p(x)) / (p(z|θ)/p(z)) >= γ ],
//
// where p(·|θ) is the target's probability of the true class and p(·) its mean over
// models that were trained on the record and models that were not, in equal parts. From
// models that were not alone it is estimated as ((1+a)·p_out + 1 − a)/2.
//
// It works from one shadow model on, which makes it the attack of choice for few.
type RMIA struct {
	// Gamma is γ >= 1; 0 means 2.
	Gamma float64
	// Offline is a in [0, 1], how far p_out stands for p where no shadow model was trained
	// on a record; the paper takes 0.3 for CIFAR-10.
	Offline float64
}

// Scores attacks records with the target's probabilities of their true classes.
// population are records of the same law that are no members of anything, with the
// probabilities of the target and of the shadow models.
//
// Errors: no population, probabilities outside of [0, 1], lengths that do not fit, γ < 1.
func (r RMIA) Scores(target []float64, shadows Shadows, population []float64, populationShadows Shadows) ([]float64, error) {
	if r.Gamma == 0 {
		r.Gamma = 2
	}
	if !(r.Gamma >= 1) || !(r.Offline >= 0 && r.Offline <= 1) {
		return nil, invalid("γ must be at least 1 and the offline share within [0, 1], got %g and %g", r.Gamma, r.Offline)
	}
	if len(target) == 0 || len(population) == 0 {
		return nil, invalid("%d records and a population of %d", len(target), len(population))
	}
	if populationShadows.In != nil {
		return nil, invalid("the population is of records that no model was trained on")
	}
	x, err := r.ratios(target, shadows)
	if err != nil {
		return nil, err
	}
	z, err := r.ratios(population, populationShadows)
	if err != nil {
		return nil, err
	}
	slices.Sort(z)
	scores := make([]float64, len(x))
	for i, v := range x {
		scores[i] = float64(sort.Search(len(z), func(k int) bool { return v < r.Gamma*z[k] })) / float64(len(z))
	}
	return scores, nil
}

// ratios are p(x|θ)/p(x).
func (r RMIA) ratios(target []float64, shadows Shadows) ([]float64, error) {
	if err := shadows.check(len(target)); err != nil {
		return nil, err
	}
	probability := func(v float64) bool { return v >= 0 && v <= 1 }
	for _, list := range append(slices.Clone(shadows.Score), target) {
		if slices.ContainsFunc(list, func(v float64) bool { return !probability(v) }) {
			return nil, invalid("a probability lies outside of [0, 1]")
		}
	}
	out := make([]float64, len(target))
	for i, p := range target {
		in, not := shadows.of(i)
		if len(not) == 0 {
			return nil, invalid("some record was in the training data of every shadow model")
		}
		prior := ((1+r.Offline)*meanOf(not) + 1 - r.Offline) / 2
		if len(in) > 0 {
			prior = (meanOf(in) + meanOf(not)) / 2
		}
		out[i] = p / max(prior, leastProbability)
	}
	return out, nil
}

func meanOf(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}
