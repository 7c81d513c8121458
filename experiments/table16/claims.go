package table16

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"pawl/experiments"
	"pawl/experiments/published"
)

// means are over the fits of each split.
func means(fits []float64, splits int) []float64 {
	per := len(fits) / splits
	m := make([]float64, splits)
	for i := range m {
		m[i] = stat.Mean(fits[i*per:][:per], nil)
	}
	return m
}

func deviation(fits []float64) float64 {
	if len(fits) < 2 {
		return 0
	}
	return stat.StdDev(fits, nil)
}

// gains is one-hot minus none, split by split, at every epsilon.
func gains(fits [][][]float64, splits int) []*experiments.Estimate {
	var out []*experiments.Estimate
	for e := range epsilons {
		d := means(fits[1][e], splits)
		for i, v := range means(fits[0][e], splits) {
			d[i] -= v
		}
		out = append(out, experiments.Of(d))
	}
	return out
}

func claims(fits [][][]float64, splits int) []experiments.Claim {
	without := experiments.Claim{Statement: "at ε of 0.01 and less it is better to leave the categorical columns out"}
	with := experiments.Claim{Statement: "at ε of 0.05 and more, and without privacy, one-hot columns help: the crossover lies in [0.01, 0.05]"}
	var small, large, wrongSmall, wrongLarge, clearSmall, clearLarge int
	var low, high []string
	for e, g := range gains(fits, splits) {
		text := fmt.Sprintf("%s: %+.1f", published.EpsilonName(epsilons[e]), g.Mean)
		if g.Runs > 1 {
			text += fmt.Sprintf(" ± %.1f", (g.High-g.Low)/2)
		}
		if epsilons[e] <= .01 {
			small++
			low = append(low, text)
			if g.High < 0 {
				clearSmall++
			}
			if g.Low > 0 {
				wrongSmall++
			}
			continue
		}
		large++
		high = append(high, text)
		if g.Low > 0 {
			clearLarge++
		}
		if g.High < 0 {
			wrongLarge++
		}
	}
	without.Verdict, without.Evidence = verdict(clearSmall, wrongSmall, small), "one-hot minus none, "+strings.Join(low, "; ")
	with.Verdict, with.Evidence = verdict(clearLarge, wrongLarge, large), "one-hot minus none, "+strings.Join(high, "; ")
	return []experiments.Claim{without, with}
}

// verdict: every epsilon clearly so, or more of them than the other way round.
func verdict(so, otherwise, of int) experiments.Verdict {
	switch {
	case so == of:
		return experiments.Reproduced
	case so > otherwise:
		return experiments.SameSign
	}
	return experiments.Not
}

// signs: where a number differs, the table stands for which of its two columns is better.
func signs(t *experiments.Table) {
	for i := 0; i+1 < len(t.Rows); i += 2 {
		pair := t.Rows[i : i+2]
		printed := *pair[1].Published - *pair[0].Published
		ours := pair[1].AsPublished.Mean - pair[0].AsPublished.Mean
		for k := range pair {
			if pair[k].Verdict == experiments.Not && printed*ours > 0 {
				pair[k].Verdict = experiments.SameSign
				pair[k].Why += fmt.Sprintf("; one-hot minus none %+.1f, published %+.1f", ours, printed)
			}
		}
	}
}
