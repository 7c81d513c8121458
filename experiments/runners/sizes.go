package runners

import (
	"math"

	"pawl/evidence/theory"
	"pawl/experiments"
)

// reached is the ε at which scores reach a value, linear in ln ε between two; path has ε and score in turn. One that is
// there at the first ε is not counted: where it began is not known.
func reached(path []float64, value float64) []float64 {
	for k := 3; k < len(path); k += 2 {
		if was, is := path[k-2], path[k]; is >= value && was < value {
			a, b := math.Log(path[k-3]), math.Log(path[k-1])
			return []float64{math.Exp(a + (b-a)*(value-was)/(is-was))}
		}
	}
	return nil
}

// sizeFit is a fit of ε = ln(α + β/n), with the rows at ε = 1; an estimate is nil where it is more than any number. Why
// says why there is none.
type sizeFit struct {
	Alpha, Beta, Rows *experiments.Estimate
	Slope             float64
	Needed            *theory.Interval
	Why               string
}

// fitSizes fits to the ε that runs found at each number of rows, of so many tried.
func fitSizes(rows []float64, found [][]float64, tried int) *sizeFit {
	var runs []theory.SizeRuns
	for i, x := range found {
		runs = append(runs, theory.SizeRuns{Rows: rows[i], Epsilons: x, Tried: tried})
	}
	fit, err := theory.FitSizes(runs, theory.Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1})
	if err != nil {
		return &sizeFit{Why: err.Error()}
	}
	estimate := func(i theory.Interval) *experiments.Estimate {
		if math.IsInf(i.Estimate, 0) || math.IsNaN(i.Estimate) {
			return nil
		}
		return &experiments.Estimate{Mean: i.Estimate, Low: i.Lower, High: i.Upper, Runs: tried}
	}
	needed := fit.RowsInterval(1)
	return &sizeFit{estimate(fit.AlphaInterval), estimate(fit.BetaInterval), estimate(needed), fit.Beta, &needed, ""}
}
