package runners

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"pawl/experiments/formulas"
)

// exampleRows are the rows of each class of the example of two features.
const exampleRows = 200

func examplePopulation() *formulas.Population {
	return &formulas.Population{
		Mean:     [2][]float64{{0, 0}, {5, 10}},
		Variance: [2][]float64{{1, 10}, {1, 10}},
	}
}

// The columns of a cell: statistics of both features, then these.
const (
	byStatistic = 6 + iota // 1 where the t-statistic prefers feature 2
	byDistance             // 1 where the distance does
	errorFirst             // error of the classifier on feature 1 alone
	errorSecond            // on feature 2 alone
	errorClean             // both again, on clean points
	errorCleanSecond
	columns
)

// rankTwo draws both classes and adds noise to rows, which are clipped to the norm where it is not 0, and to the points
// that a classifier meets.
func rankTwo(replicate int, noise, points, norm float64) []float64 {
	p, rng := examplePopulation(), rand.New(rand.NewPCG(1, uint64(replicate)))
	rows := p.Rows(exampleRows, rng)
	if norm > 0 {
		rows = formulas.Clip(rows, norm)
	}
	rows = formulas.AddNoise(rows, noise, rng)
	v := make([]float64, columns)
	for feature := range 2 {
		var mean, variance [2]float64
		alone := formulas.Cut(rows, []int{feature})
		for k := range rows {
			values := slices.Concat(alone[k]...)
			mean[k] = stat.Mean(values, nil)
			for _, x := range values {
				variance[k] += (x - mean[k]) * (x - mean[k]) / (exampleRows - 1)
			}
		}
		v[feature] = math.Abs(mean[0] - mean[1])
		v[2+feature] = (variance[0] + variance[1]) / 2
		v[4+feature] = v[feature] / math.Sqrt((variance[0]+variance[1])/exampleRows)
		f := must(formulas.TrainFisher(alone))
		only := &formulas.Population{}
		for k := range 2 {
			only.Mean[k], only.Variance[k] = p.Mean[k][feature:feature+1], p.Variance[k][feature:feature+1]
		}
		v[errorFirst+feature] = f.Error(only, points)
		v[errorClean+feature] = f.Error(only, 0)
	}
	for at, ranking := range map[int]formulas.Ranking{byStatistic: formulas.TStatistic, byDistance: formulas.Distance} {
		v[at] = float64(must(formulas.RankFeatures(ranking, rows))[0]) // feature 2 has index 1
	}
	return v
}

func analyticMultiplier(epsilon, delta float64) (float64, error) {
	return formulas.Budget{Epsilon: epsilon, Delta: delta}.AnalyticNoiseMultiplier()
}
