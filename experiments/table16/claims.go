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

// gains is one-hot minus another arm, split by split, at every epsilon.
func gains(fits [][][]float64, other, splits int) []*experiments.Estimate {
	var out []*experiments.Estimate
	for e := range epsilons {
		d := means(fits[oneHot][e], splits)
		for i, v := range means(fits[other][e], splits) {
			d[i] -= v
		}
		out = append(out, experiments.Of(d))
	}
	return out
}

func claims(fits [][][]float64, splits int) []experiments.Claim {
	return append(crossover(fits, without, splits, "the six columns"), crossover(fits, codes, splits, "categories as codes")...)
}

func crossover(fits [][][]float64, other, splits int, reading string) []experiments.Claim {
	without := experiments.Claim{Statement: fmt.Sprintf("at ε of 0.01 and less it is better to have no one-hot columns (against %s)", reading)}
	with := experiments.Claim{Statement: fmt.Sprintf("at ε of 0.05 and more, and without privacy, one-hot columns help: the crossover lies in [0.01, 0.05] (against %s)", reading)}
	var small, large, wrongSmall, wrongLarge, clearSmall, clearLarge int
	var low, high []string
	for e, g := range gains(fits, other, splits) {
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
	without.Verdict, without.Evidence = verdict(clearSmall, wrongSmall, small), "one-hot minus these, "+strings.Join(low, "; ")
	with.Verdict, with.Evidence = verdict(clearLarge, wrongLarge, large), "one-hot minus these, "+strings.Join(high, "; ")
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

// signs: where a number differs, it stands for which of with and without is better.
func signs(t *experiments.Table) {
	for i := 0; i+len(arms) <= len(t.Rows); i += len(arms) {
		at := t.Rows[i : i+len(arms)]
		for k := range at {
			// With one-hot is judged against the first reading of without.
			other := k
			if k == oneHot {
				other = without
			}
			printed := *at[oneHot].Published - *at[other].Published
			ours := at[oneHot].AsPublished.Mean - at[other].AsPublished.Mean
			if at[k].Verdict == experiments.Not && printed*ours > 0 {
				at[k].Verdict = experiments.SameSign
				at[k].Why += fmt.Sprintf("; one-hot minus none %+.1f, published %+.1f", ours, printed)
			}
		}
	}
}
