// Package dfsexample1 replays Example 1: two features, of which the t-statistic prefers
// the first on clean rows and the second on noisy ones, while the distance prefers the
// second on both.
package dfsexample1

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/experiments"
	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "dfs-example-1", Title: "Two features ranked by t-statistic and by distance, without and with noise", Source: dfs.Paper + ", Example 1",
		Quick: 5, Run: run,
	}
}

// Settings of the example.
const (
	perClass = 200
	epsilon  = 3
	// noiseVariance is the difference between the variances of its two tables.
	noiseVariance = 9
	// delta is that of Sec. 4; the example names none.
	delta = 1e-4
	// norm is the public bound on a row of the honest column: 20 is beyond both means
	// (norms 0 and 11.2) by more than two standard deviations.
	norm = 20
)

func population() *formulas.Population {
	return &formulas.Population{
		Mean:     [2][]float64{{0, 0}, {5, 10}},
		Variance: [2][]float64{{1, 10}, {1, 10}},
	}
}

// published are the example's tables: distance, variance and t-statistic of features 1
// and 2, on clean rows and on noisy ones.
var published = map[string][2]float64{
	"clean distance": {5, 10}, "clean variance": {1, 10}, "clean t-statistic": {50, 31.62},
	"noisy distance": {5, 10}, "noisy variance": {10, 19}, "noisy t-statistic": {15.82, 22.94},
}

// statistics are in the order of a cell's values.
var statistics = []string{"distance", "variance", "t-statistic"}

// arm is one noise on rows. The points that a classifier meets carry what the arm says.
type arm struct {
	name   string
	stdDev float64
	points float64
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	replicates := experiments.Pick(r.Scale, 20, 1000, 1000)
	multiplier, err := formulas.Budget{Epsilon: epsilon, Delta: delta}.AnalyticNoiseMultiplier()
	if err != nil {
		return nil, err
	}
	honest := arm{"honest", 2 * norm * multiplier, 0}
	noisy := arm{"noisy", math.Sqrt(noiseVariance), math.Sqrt(noiseVariance)}
	cells := map[string][][]float64{}
	for _, a := range []arm{{"clean", 0, 0}, noisy, honest} {
		if cells[a.name], err = measure(ctx, r, a, replicates); err != nil {
			return nil, err
		}
	}
	t := &experiments.Table{
		Unit: "units of the features, unless a row says %",
		Notes: []string{
			fmt.Sprintf("as published: noise of variance %d, which the example states for ε = %d; it names no δ", noiseVariance, epsilon),
			fmt.Sprintf("honest: rows clipped to norm %d, which is public, and analytic Gaussian noise of standard deviation %.1f for (%d, %g)-DP when one row is replaced within its class; ranked on the noisy rows", norm, honest.stdDev, epsilon, delta),
			"baseline: chance, or the feature that is not chosen",
		},
	}
	for _, noise := range []string{"clean", "noisy"} {
		for s, name := range statistics {
			for feature := range 2 {
				row := experiments.Row{
					Name: fmt.Sprintf("%s of feature %d, %s rows", name, feature+1, noise), Data: data,
					Published:   experiments.Value(published[noise+" "+name][feature]),
					AsPublished: experiments.Of(column(cells[noise], 2*s+feature)),
				}
				if noise == "noisy" {
					row.Honest = experiments.Of(column(cells["honest"], 2*s+feature))
				}
				// The example's values are those of the populations; samples scatter.
				row.Judge(.02*row.AsPublished.Mean, "away from the value of the population")
				t.Rows = append(t.Rows, row)
			}
		}
	}
	choices(t, cells)
	t.Claims = append(t.Claims, claims(cells, noisy)...)
	return t, nil
}

const data = "synthetic, 2 features, 200 rows a class"

// The columns of a cell: statistics of both features, then these.
const (
	byStatistic = 6 + iota // 1 where the t-statistic prefers feature 2
	byDistance             // 1 where the distance does
	errorFirst             // error of the classifier on feature 1 alone
	errorSecond            // on feature 2 alone
	errorClean             // columns 8 and 9 again, on clean points
	errorCleanSecond
	columns
)

// measure draws both classes again and again.
func measure(ctx context.Context, r *experiments.Run, a arm, replicates int) ([][]float64, error) {
	values, err := r.Cell(ctx, fmt.Sprintf("%s rows, noise %.6g, points %.6g, %d replicates", a.name, a.stdDev, a.points, replicates), func() ([]float64, error) {
		var values []float64
		p := population()
		for i := range replicates {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			rows := p.Rows(perClass, rng)
			if a.name == "honest" {
				rows = dfs.Clip(rows, norm)
			}
			rows = formulas.AddNoise(rows, a.stdDev, rng)
			v, err := once(p, rows, a.points)
			if err != nil {
				return nil, err
			}
			values = append(values, v...)
		}
		return values, nil
	})
	return dfs.Split(values, columns), err
}

func once(p *formulas.Population, rows [2][][]float64, points float64) ([]float64, error) {
	v := make([]float64, columns)
	for feature := range 2 {
		var mean, variance [2]float64
		for k := range rows {
			of := experiments.Of(column(rows[k], feature))
			mean[k] = of.Mean
			for _, x := range rows[k] {
				variance[k] += (x[feature] - mean[k]) * (x[feature] - mean[k]) / (perClass - 1)
			}
		}
		v[feature] = math.Abs(mean[0] - mean[1])
		v[2+feature] = (variance[0] + variance[1]) / 2
		v[4+feature] = v[feature] / math.Sqrt((variance[0]+variance[1])/perClass)
		f, err := formulas.TrainFisher(dfs.Cut(rows, []int{feature}))
		if err != nil {
			return nil, err
		}
		only := &formulas.Population{}
		for k := range 2 {
			only.Mean[k], only.Variance[k] = p.Mean[k][feature:feature+1], p.Variance[k][feature:feature+1]
		}
		v[errorFirst+feature] = f.Error(only, points)
		v[errorClean+feature] = f.Error(only, 0)
	}
	for at, ranking := range map[int]formulas.Ranking{byStatistic: formulas.TStatistic, byDistance: formulas.Distance} {
		order, err := formulas.RankFeatures(ranking, rows)
		if err != nil {
			return nil, err
		}
		v[at] = float64(order[0]) // feature 2 has index 1
	}
	return v, nil
}

// column takes one entry of every row.
func column(rows [][]float64, at int) []float64 {
	values := make([]float64, len(rows))
	for i, x := range rows {
		values[i] = x[at]
	}
	return values
}

// choices are which feature is chosen, and what each choice costs.
func choices(t *experiments.Table, cells map[string][][]float64) {
	percent := func(noise string, at int) *experiments.Estimate {
		return dfs.Percent(column(cells[noise], at), false)
	}
	for _, c := range []struct {
		name      string
		noise     string
		at        int
		published float64
	}{
		{"% of runs in which the t-statistic chooses feature 2, clean rows", "clean", byStatistic, 0},
		{"% of runs in which the t-statistic chooses feature 2, noisy rows", "noisy", byStatistic, 100},
		{"% of runs in which the distance chooses feature 2, clean rows", "clean", byDistance, 100},
		{"% of runs in which the distance chooses feature 2, noisy rows", "noisy", byDistance, 100},
	} {
		row := experiments.Row{Name: c.name, Data: data, Published: experiments.Value(c.published), AsPublished: percent(c.noise, c.at), Baseline: experiments.Exact(50)}
		if c.noise == "noisy" {
			row.Honest = percent("honest", c.at)
		}
		row.Judge(1, "the choice varies between samples")
		t.Rows = append(t.Rows, row)
	}
	for _, c := range []struct {
		name        string
		noise       string
		chosen, not int
	}{
		{"% error with feature 1 alone, clean rows and points", "clean", errorFirst, errorSecond},
		{"% error with feature 2 alone, noisy rows and points", "noisy", errorSecond, errorFirst},
		{"% error with feature 2 alone, noisy rows, clean points", "noisy", errorCleanSecond, errorClean},
	} {
		row := experiments.Row{Name: c.name, Data: data, AsPublished: percent(c.noise, c.chosen), Baseline: percent(c.noise, c.not)}
		if c.chosen == errorCleanSecond {
			row.Honest = percent("honest", c.chosen)
		}
		t.Rows = append(t.Rows, row)
	}
}

func claims(cells map[string][][]float64, noisy arm) []experiments.Claim {
	share := func(noise string, at int) float64 { return 100 * experiments.Of(column(cells[noise], at)).Mean }
	verdict := func(ok bool) experiments.Verdict {
		if ok {
			return experiments.Reproduced
		}
		return experiments.Not
	}
	first, second := share("clean", byStatistic), share("noisy", byStatistic)
	before, after := share("clean", byDistance), share("noisy", byDistance)
	e1, e2 := share("noisy", errorFirst), share("noisy", errorSecond)
	c1, c2 := share("noisy", errorClean), share("noisy", errorCleanSecond)
	// The means alone are a row of L1 norm 15 and L2 norm 11.2.
	equation := 2 * 15 * formulas.Budget{Epsilon: epsilon, Delta: delta}.MixtureNoiseMultiplier()
	reached := formulas.TrueDelta(noisy.stdDev/(2*math.Hypot(5, 10)), epsilon)
	return []experiments.Claim{
		{Statement: "noise turns the order by t-statistic", Verdict: verdict(first < 1 && second > 99), Evidence: fmt.Sprintf("feature 2 is chosen in %.3g %% of runs on clean rows, in %.3g %% on noisy ones", first, second)},
		{Statement: "noise leaves the order by distance", Verdict: verdict(before > 99 && after > 99), Evidence: fmt.Sprintf("feature 2 is chosen in %.3g %% and %.3g %% of runs", before, after)},
		{Statement: "feature 2 is the better choice under noise", Verdict: sides(e2 < e1, c2 < c1), Evidence: fmt.Sprintf(
			"for points that carry the noise: error %.3g %% against %.3g %% with feature 1; for clean points: %.3g %% against %.3g %%, so that the order by t-statistic on clean rows is the right one for them", e2, e1, c2, c1)},
		{Statement: "the noise of the example is that of ε = 3", Verdict: verdict(noisy.stdDev >= equation), Evidence: fmt.Sprintf(
			"its standard deviation is %.3g; Eq. (4) gives at least %.3g at δ = %g, from the L1 norm of a mean alone. With the L2 norm of a mean as bound, noise of %.3g has δ = %.2g at ε = %d", noisy.stdDev, equation, delta, noisy.stdDev, reached, epsilon)},
	}
}

// sides: true for both kinds of points, for one, or for none.
func sides(noisy, clean bool) experiments.Verdict {
	switch {
	case noisy && clean:
		return experiments.Reproduced
	case noisy:
		return experiments.SameSign
	}
	return experiments.Not
}
