// Package dfs holds what the replays of feature selection by distance have in common:
// the readings of the synthetic study, its measurement in cells that are kept, and
// the honest procedure that stands beside the published one.
package dfs

import (
	"context"
	"fmt"
	"strings"

	"pawl/experiments"
	"pawl/experiments/formulas"
)

// Paper names the source of all replays that use this package.
const Paper = "“Larger Model Causes Lower Classification Accuracy” (under review)"

// Reading is one way of reading the settings of Sec. 4.1, whose wording leaves several
// open (docs/READING.md, E14 and E16).
type Reading struct {
	// Dense: 88 % of the features differ in mean, else 12 %.
	Dense bool
	// MeanVariance is 10 where exp(0.1) names a rate, 0.1 where it names a mean.
	MeanVariance float64
	// Calibration is the noise on rows.
	Calibration formulas.Calibration
	// NoisyPoints: points that are classified carry the noise too (“all data except
	// labels”), else they are clean (Definition 5).
	NoisyPoints bool
}

// Literal is the reading nearest to the letter of our copy: noise by Eq. (4), a rate of
// 0.1, sparse means, clean points.
func Literal() Reading { return Reading{MeanVariance: 10, Calibration: formulas.Published} }

// Kindest is the reading in which distance gains most over the t-statistic: the second
// argument of Algorithm 1 taken for a variance, which is too little noise for the ε
// that it is stated for.
func Kindest() Reading {
	return Reading{Dense: true, MeanVariance: .1, Calibration: formulas.PublishedAsVariance, NoisyPoints: true}
}

// Readings are all of them, data by data, the literal one first.
func Readings() []Reading {
	var all []Reading
	for _, m := range Mixtures() {
		for _, calibration := range []formulas.Calibration{formulas.Published, formulas.Analytic, formulas.PublishedAsVariance} {
			for _, noisy := range []bool{false, true} {
				m.Calibration, m.NoisyPoints = calibration, noisy
				all = append(all, m)
			}
		}
	}
	return all
}

// Mixtures are the readings of the data alone.
func Mixtures() []Reading {
	return []Reading{{MeanVariance: 10}, {Dense: true, MeanVariance: 10}, {MeanVariance: .1}, {Dense: true, MeanVariance: .1}}
}

// Data says which data are read.
func (r Reading) Data() string {
	share := "12 %"
	if r.Dense {
		share = "88 %"
	}
	return fmt.Sprintf("synthetic, %s of means differ, mean variance %g", share, r.MeanVariance)
}

// Noise says which noise is read.
func (r Reading) Noise() string {
	name := map[formulas.Calibration]string{
		formulas.Published: "noise of Eq. (4)", formulas.PublishedAsVariance: "noise as a variance", formulas.Analytic: "analytic noise",
	}[r.Calibration]
	if r.NoisyPoints {
		return name + ", noisy points"
	}
	return name + ", clean points"
}

// Mixture is the law of the data.
func (r Reading) Mixture() formulas.Mixture {
	m := formulas.SparseMixture()
	if r.Dense {
		m = formulas.DenseMixture()
	}
	m.MeanVariance = r.MeanVariance
	return m
}

// Study is the published study in this reading; p = 3000, 30 rows a class, δ = 1e-4.
func (r Reading) Study(replicates int) formulas.SelectionStudy {
	s := formulas.PublishedSelectionStudy()
	s.Data, s.Calibration, s.NoisyQueries, s.Replicates = r.Mixture(), r.Calibration, r.NoisyPoints, replicates
	return s
}

// Measure runs a study in one cell, or takes what an earlier run kept of it.
func Measure(ctx context.Context, run *experiments.Run, r Reading, s formulas.SelectionStudy) (*formulas.Outcomes, error) {
	var arms []formulas.Arm
	for _, epsilon := range s.Epsilons {
		for _, ranking := range s.Rankings {
			for _, count := range s.Counts {
				arms = append(arms, formulas.Arm{Ranking: ranking, Count: count, Epsilon: epsilon})
			}
		}
	}
	name := fmt.Sprintf("%s; %s; %s; features %v, epsilon %v, rankings %v; %d replicates, seed %d",
		r.Data(), r.Noise(), s.Order, s.Counts, s.Epsilons, s.Rankings, s.Replicates, s.Seed)
	values, err := run.Cell(ctx, name, func() ([]float64, error) {
		out, err := s.Run(ctx)
		if err != nil {
			return nil, err
		}
		var values []float64
		for _, arm := range arms {
			o, err := out.Find(arm)
			if err != nil {
				return nil, err
			}
			values = append(values, o.Errors...)
		}
		return values, nil
	})
	if err != nil {
		return nil, err
	}
	out := &formulas.Outcomes{Study: s}
	for i, errors := range Split(values, s.Replicates) {
		out.All = append(out.All, formulas.Outcome{Arm: arms[i], Errors: errors})
	}
	return out, nil
}

// Split cuts the values of a cell into runs of n.
func Split(values []float64, n int) [][]float64 {
	var parts [][]float64
	for len(values) >= n {
		parts, values = append(parts, values[:n:n]), values[n:]
	}
	return parts
}

// Percent summarizes shares as percentages; complement turns errors into accuracies.
func Percent(shares []float64, complement bool) *experiments.Estimate {
	values := make([]float64, len(shares))
	for i, s := range shares {
		if complement {
			s = 1 - s
		}
		values[i] = 100 * s
	}
	return experiments.Of(values)
}

// Chance is the baseline of two classes of one size.
func Chance() *experiments.Estimate { return experiments.Exact(50) }

// List joins phrases with “; ”.
func List(phrases []string) string {
	if len(phrases) == 0 {
		return "none"
	}
	return strings.Join(phrases, "; ")
}
