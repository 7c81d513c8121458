// Package table16 replays Table XVI: logistic regression on Adult with and without the
// one-hot columns, under objective perturbation.
package table16

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pawl/core/entropy"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/search/feature/aware"
	"pawl/workflow"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "table-16", Title: "Adult with and without one-hot columns, logistic regression under objective perturbation",
		Source: "Bao, Bauer and Bindschaedler, Table XVI", Data: []string{"adult"}, Quick: 100, Run: run,
	}
}

var epsilons = []float64{.1, .05, .01, .001, .0001, aware.NoPrivacy}

// arm is one column of the table.
type arm struct {
	name      string
	encoding  published.Encoding
	mean, dev []float64 // by epsilon; the table has no deviation without privacy
	attribute []string  // of the honest workflow, nil for all
}

var arms = []arm{
	{"without one-hot", published.AdultNumeric(), []float64{65.93, 65.5, 64.33, 57.86, 50.58, 84.44}, []float64{5.36, 4.73, 4.47, 16.64, 23.98},
		[]string{"age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "sex"}},
	{"with one-hot", published.AdultOneHot(), []float64{69.65, 66.13, 59.03, 50.98, 50.07, 84.85}, []float64{3.33, 4.48, 9.81, 16.06, 17.26}, nil},
	// Another reading of the first: categories as numbers, not left out.
	{"without one-hot, categories as codes", published.AdultCodes(), []float64{65.93, 65.5, 64.33, 57.86, 50.58, 84.44}, []float64{5.36, 4.73, 4.47, 16.64, 23.98}, nil},
}

// The arms by position.
const (
	without = iota
	oneHot
	codes
)

type replay struct {
	run             *experiments.Run
	splits, repeats int
	honest          int
	train, test     int
	data            *lab.Table // opened for the first cell of the workflow
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := &replay{
		run: r, splits: experiments.Pick(r.Scale, 2, 8, 20), repeats: experiments.Pick(r.Scale, 1, 6, 50),
		honest: experiments.Pick(r.Scale, 1, 5, 10),
		train:  experiments.Pick(r.Scale, 2000, published.AdultTrain, published.AdultTrain),
		test:   experiments.Pick(r.Scale, 1000, published.AdultTest, published.AdultTest),
	}
	t := &experiments.Table{
		Unit: "% of test rows",
		Notes: []string{
			fmt.Sprintf("means over %d random splits of the training file into %d and %d rows, with %d noisy fits on each; one fit without privacy", p.splits, p.train, p.test, p.repeats),
			"as published: one-hot columns of the levels that occur (“?” is one), numeric columns to [0, 1] by the range of the data, data norm of the data, C = 1, the calibration of diffprivlib's releases up to 2025 (docs/READING.md, H6, H12)",
			"without one-hot: 5 numeric columns and sex; the text says 7 (E23), and its accuracy without privacy is above what these six give at C = 1",
			"the crossover in [0.01, 0.05] hangs on what “without” means. With six columns ours at ε of 0.05 and 0.1 lies about 11 points above the printed value: few columns carry little noise, so one-hot columns are not yet better there. Printed values of 64 to 66 %, well below the majority and nearly the same from 0.01 to 0.1, belong to more columns: of the readings tried (standardized or raw numbers, fnlwgt kept, marital status added, all categories as codes) codes in [0, 1], 14 columns, come nearest, and are the third arm. No reading tried also has the printed accuracy without privacy: codes give 82.1 %",
			fmt.Sprintf("honest: our workflow at the same total ε, δ at most 1/(10n), on the same rows, %d splits; “without” has the same six attributes", p.honest),
			"baseline: the class with the larger noisy count at the same ε, in closed form",
		},
	}
	fits := make([][][]float64, len(arms)) // by arm and epsilon, every fit
	var majority [][]float64
	for a, arm := range arms {
		var err error
		if fits[a], majority, err = p.measure(ctx, arm); err != nil {
			return nil, err
		}
	}
	var spread []string
	for e, epsilon := range epsilons {
		for a, arm := range arms {
			var honest []float64 // the workflow has no codes
			if a != codes {
				var err error
				if honest, err = p.workflow(ctx, arm, epsilon); err != nil {
					return nil, err
				}
			}
			perSplit := means(fits[a][e], p.splits)
			row := experiments.Row{
				Name: published.EpsilonName(epsilon) + ", " + arm.name, Data: "adult", Published: experiments.Value(arm.mean[e]),
				AsPublished: experiments.Of(perSplit), Honest: experiments.Of(honest), Baseline: experiments.Of(majority[e]),
			}
			row.Judge(1, fmt.Sprintf("ours differs by %+.1f points", row.AsPublished.Mean-arm.mean[e]))
			t.Rows = append(t.Rows, row)
			if e < len(arm.dev) {
				spread = append(spread, fmt.Sprintf("%s %s: ours %.1f, published %.1f", published.EpsilonName(epsilon), arm.name, deviation(fits[a][e]), arm.dev[e]))
			}
		}
	}
	t.Notes = append(t.Notes, "standard deviation of single fits: "+strings.Join(spread, "; "))
	t.Claims = claims(fits, p.splits)
	signs(t)
	return t, nil
}

// measure returns every fit of an arm and the baseline, by epsilon. A cell is one split, so
// that only one lies in memory.
func (p *replay) measure(ctx context.Context, a arm) (fits, majority [][]float64, err error) {
	fits, majority = make([][]float64, len(epsilons)), make([][]float64, len(epsilons))
	var table *aware.Table
	for i := range p.splits {
		cell := fmt.Sprintf("%s, split %d, %d fits at ε of %v", a.name, i, p.repeats, epsilons)
		values, err := p.run.Cell(ctx, cell, func() (values []float64, err error) {
			if table == nil {
				if table, err = published.Open("adult", p.run.DataDir, published.AdultClass, a.encoding); err != nil {
					return nil, err
				}
			}
			s, err := table.Split(p.train, p.test, uint64(i))
			if err != nil {
				return nil, err
			}
			for _, epsilon := range epsilons {
				values = append(values, s.PrivateMajority(epsilon))
				repeats := p.repeats
				if epsilon == aware.NoPrivacy {
					repeats = 1
				}
				got, err := s.Accuracies(ctx, aware.Fits{Columns: table.All(), Epsilon: epsilon, Repeats: repeats}, entropy.Seeded(uint64(i)).Split(published.EpsilonName(epsilon)))
				if err != nil {
					return nil, err
				}
				for len(got) < p.repeats { // without noise all fits are the same
					got = append(got, got[0])
				}
				values = append(values, got...)
			}
			return values, nil
		})
		if err != nil {
			return nil, nil, err
		}
		for e := range epsilons {
			part := values[e*(p.repeats+1):][:p.repeats+1]
			majority[e] = append(majority[e], part[0])
			fits[e] = append(fits[e], part[1:]...)
		}
	}
	return fits, majority, nil
}

// workflow runs the library's own workflow; without privacy it has no counterpart.
func (p *replay) workflow(ctx context.Context, a arm, epsilon float64) ([]float64, error) {
	if epsilon == aware.NoPrivacy {
		return nil, nil
	}
	return p.run.Cell(ctx, fmt.Sprintf("workflow, %s, %s, %d splits", a.name, published.EpsilonName(epsilon), p.honest), func() ([]float64, error) {
		if p.data == nil {
			var err error
			if p.data, err = lab.Open("adult", p.run.DataDir); err != nil {
				return nil, err
			}
		}
		var values []float64
		for i := range p.honest {
			split := p.data.Split(p.train, uint64(i))
			split.Test = split.Test[:p.test]
			out, err := split.Fit(ctx, strconv.FormatFloat(epsilon, 'g', -1, 64), "", uint64(i), func(in *workflow.Input) { in.Features = a.attribute })
			if err != nil {
				return nil, err
			}
			values = append(values, 100**out.Score.Exact)
		}
		return values, nil
	})
}
