// Package lemma1 replays Lemma 1 and Corollary 1: when leaving a feature out of a linear
// model helps under output perturbation, by formula and by simulation.
package lemma1

import (
	"context"
	"fmt"
	"math/rand/v2"

	"pawl/experiments"
	"pawl/experiments/formulas"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "lemma-1", Title: "When dropping a feature helps under output perturbation",
		Source: "Bao, Bauer and Bindschaedler, Sec. III-B, Lemma 1 and Corollary 1",
		Quick:  5, Run: run,
	}
}

// seeds are independent sets of random points.
const seeds = 5

// counterExample is a point at which our copy's condition is false and dropping helps: the
// error and the feature's effect have opposite signs (docs/READING.md, E4).
func counterExample() (m formulas.LinearModel, x []float64, y float64) {
	return formulas.LinearModel{Coefficients: []float64{.7, -.3, .5, .2}, Feature: 3, StdDev: .3, StdDevDropped: .3}, []float64{.4, .9, -.5, .6}, -.4
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{
		Unit: "% of random points, or squared error where a row says so",
		Notes: []string{
			"random points: 4 coefficients, coordinates and the target standard normal, noise uniform up to 1, half of the points with as much noise after dropping and half with less; five independent sets",
			"published: of a condition, 100 % where the lemma says “if” or “only if”; of an error, Eq. (10) with c² where our copy has c",
			"this is arithmetic about a given noise: no ε, no data set, nothing to make honest",
		},
	}
	if err := example(ctx, r, t); err != nil {
		return nil, err
	}
	points := experiments.Pick(r.Scale, 500, 20000, 200000)
	values, err := r.Cell(ctx, fmt.Sprintf("random points, %d in each of %d sets", points, seeds), func() ([]float64, error) {
		var values []float64
		for seed := range seeds {
			v, err := shares(points, rand.New(rand.NewPCG(uint64(seed), 0)))
			if err != nil {
				return nil, err
			}
			values = append(values, v[:]...)
		}
		return values, nil
	})
	if err != nil {
		return nil, err
	}
	reasons := [kinds]string{onlyIf: "dropping helps further where error and effect have opposite signs"}
	for kind, name := range names {
		var of []float64
		for seed := range seeds {
			of = append(of, values[seed*kinds+kind])
		}
		row := experiments.Row{Name: name, Data: "random points", Published: experiments.Value(100), AsPublished: experiments.Of(of)}
		row.Judge(0, reasons[kind])
		t.Rows = append(t.Rows, row)
	}
	at := func(kind int) *experiments.Estimate { return t.Rows[len(t.Rows)-kinds+kind].AsPublished }
	t.Claims = append(t.Claims,
		experiments.Claim{Statement: "Lemma 1: the condition implies that dropping helps", Verdict: full(at(ifThen)), Evidence: fmt.Sprintf("%.4g %% of random points where it holds", at(ifThen).Mean)},
		experiments.Claim{Statement: "Lemma 1: dropping helps only under the condition", Verdict: full(at(onlyIf)), Evidence: fmt.Sprintf(
			"it holds at %.3g %% of random points where dropping helps, and at %.4g %% of those where error and effect do not have opposite signs", at(onlyIf).Mean, at(sameSigns).Mean)},
		experiments.Claim{Statement: "Corollary 1: at points without error, dropping helps exactly when the coefficient is at most the noise", Verdict: full(at(corollary)), Evidence: fmt.Sprintf("%.4g %% of random points", at(corollary).Mean)})
	return t, nil
}

func full(e *experiments.Estimate) experiments.Verdict {
	if e.Mean == 100 {
		return experiments.Reproduced
	}
	return experiments.Not
}

// example simulates the counter-example.
func example(ctx context.Context, r *experiments.Run, t *experiments.Table) error {
	draws := experiments.Pick(r.Scale, 1000, 100000, 1000000)
	m, x, y := counterExample()
	exact, err := m.AtPoint(x, y)
	if err != nil {
		return err
	}
	values, err := r.Cell(ctx, fmt.Sprintf("counter-example, %d draws in each of %d sets", draws, seeds), func() ([]float64, error) {
		var values []float64
		for seed := range seeds {
			s, err := m.Simulate(x, y, draws, rand.New(rand.NewPCG(uint64(seed), 1)))
			if err != nil {
				return nil, err
			}
			values = append(values, s.Full, s.Dropped)
		}
		return values, nil
	})
	if err != nil {
		return err
	}
	for i, c := range []struct {
		name string
		want float64
	}{{"squared error with the feature", exact.Full}, {"squared error without it", exact.Dropped}} {
		var of []float64
		for seed := range seeds {
			of = append(of, values[2*seed+i])
		}
		row := experiments.Row{Name: c.name, Data: "counter-example", Published: experiments.Value(c.want), AsPublished: experiments.Of(of)}
		row.Judge(.01*c.want, "away from the formula")
		t.Rows = append(t.Rows, row)
	}
	t.Claims = append(t.Claims, experiments.Claim{
		Statement: "at the counter-example dropping helps although the printed condition is false",
		Verdict:   map[bool]experiments.Verdict{true: experiments.Reproduced, false: experiments.Not}[exact.Helps() && !exact.PrintedRuleHolds()],
		Evidence:  fmt.Sprintf("expected errors %.4g with the feature and %.4g without it", exact.Full, exact.Dropped),
	})
	return nil
}

// Kinds of shares of random points, in percent.
const (
	ifThen = iota
	onlyIf
	sameSigns
	corollary
	kinds
)

var names = [kinds]string{
	ifThen:    "dropping helps, where the condition holds",
	onlyIf:    "the condition holds, where dropping helps",
	sameSigns: "the same, where error and effect do not have opposite signs",
	corollary: "Corollary 1 and the errors agree, at points without error",
}

// shares compares what the condition says with the expected errors.
func shares(points int, rng *rand.Rand) ([kinds]float64, error) {
	var hits, total [kinds]float64
	count := func(kind int, hit bool) {
		total[kind]++
		if hit {
			hits[kind]++
		}
	}
	for i := range points {
		m := formulas.LinearModel{StdDev: rng.Float64()}
		m.StdDevDropped = m.StdDev
		if i%2 == 1 {
			m.StdDevDropped *= rng.Float64()
		}
		x, y, exact := make([]float64, 4), rng.NormFloat64(), 0.
		for j := range x {
			x[j] = rng.NormFloat64()
			m.Coefficients = append(m.Coefficients, rng.NormFloat64())
			exact += m.Coefficients[j] * x[j]
		}
		at, err := m.AtPoint(x, y)
		if err != nil {
			return hits, err
		}
		helps, condition := at.Dropped <= at.Full, at.PrintedRuleHolds()
		if condition {
			count(ifThen, helps)
		}
		if helps {
			count(onlyIf, condition)
			if at.Residual*at.Effect >= 0 {
				count(sameSigns, condition)
			}
		}
		// The same model at the point that it fits, with equal noise.
		m.StdDevDropped = m.StdDev
		if at, err = m.AtPoint(x, exact); err != nil {
			return hits, err
		}
		count(corollary, m.CorollaryHolds() == (at.Dropped <= at.Full))
	}
	for kind := range hits {
		hits[kind] *= 100 / total[kind]
	}
	return hits, nil
}
