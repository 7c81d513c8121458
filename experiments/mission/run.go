package mission

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/experiments"
	"pawl/experiments/replay"
)

// against are the paired differences of fit to another workflow, over all problems, at one ε.
type against struct {
	name                string
	better, tied, worse int
	differences         []float64 // means, by problem
	least               float64
	leastOf             string
}

func (a *against) add(data string, d *experiments.Estimate) {
	a.differences = append(a.differences, d.Mean)
	switch {
	case d.Low > 0:
		a.better++
	case d.High < 0:
		a.worse++
	default:
		a.tied++
	}
	if d.Mean < a.least || a.leastOf == "" {
		a.least, a.leastOf = d.Mean, data
	}
}

func (a *against) claim(epsilon string) experiments.Claim {
	sorted := slices.Sorted(slices.Values(a.differences))
	n := len(sorted)
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	return experiments.Claim{
		Statement: fmt.Sprintf("ε = %s, all data: fit against %s", epsilon, a.name), Verdict: experiments.Unpublished,
		Evidence: fmt.Sprintf("better on %d of %d, worse on %d, within their intervals of each other on %d; median difference %+.1f points, least on %s (%+.1f)",
			a.better, len(a.differences), a.worse, a.tied, median, a.leastOf, a.least),
	}
}

func (f *file) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{Unit: "% of test rows that are right; where the row says so, area under the ROC curve or % of the mean predictor's absolute error that is removed"}
	totals := map[string][]*against{}
	for _, e := range f.Epsilons {
		totals[e] = []*against{{name: "drop-in DP-SGD"}, {name: "the usual choices, paid"}}
	}
	for _, p := range f.Problems {
		b, err := p.open(f, r)
		if err != nil {
			return nil, err
		}
		for i, e := range p.at(f) {
			if b.usual == nil {
				err = b.alone(ctx, e, i, t)
			} else {
				err = b.rowsAt(ctx, e, t, totals[e])
			}
			if err != nil {
				return nil, err
			}
		}
	}
	var claims []experiments.Claim
	for _, e := range f.Epsilons {
		for _, a := range totals[e] {
			if len(a.differences) > 1 {
				claims = append(claims, a.claim(e))
			}
		}
	}
	t.Claims = append(claims, t.Claims...)
	t.Notes = append(t.Notes, f.Notes...)
	for _, u := range f.Usual {
		note := fmt.Sprintf("%s: drop-in trains %s, %g epochs, dropout and rectifiers as they are", u.ID, u.describe(), u.Epochs[r.Scale])
		if u.space != nil {
			note += fmt.Sprintf("; choices: the best of %g in the mean of the %s points of %s", u.Candidates[r.Scale], u.space.Size().Points, strings.Join(u.space.Dimensions(), ", "))
		}
		t.Notes = append(t.Notes, note)
	}
	return t, nil
}

func (u *usual) describe() string {
	var layers []string
	for _, l := range u.net.Network.Layers {
		if l.Units > 0 {
			layers = append(layers, fmt.Sprintf("%s %d", l.Kind, l.Units))
		} else {
			layers = append(layers, l.Kind)
		}
	}
	return fmt.Sprintf("%s (%s) by DP-%s at %g, clipping norm %g, lots of %d", u.net.Name, strings.Join(layers, ", "), u.Optimizer, u.LearningRate, u.ClippingNorm, u.Batch)
}

// rowsAt measures the workflows of a problem at one ε: a row of fit beside drop-in, and one of the usual
// choices, unpaid and paid.
func (b bench) rowsAt(ctx context.Context, epsilon string, t *experiments.Table, totals []*against) error {
	fit, base, err := b.fit(ctx, epsilon, 0)
	if err != nil {
		return err
	}
	dropIn, _, err := b.dropIn(ctx, epsilon)
	if err != nil {
		return err
	}
	name := "ε = " + epsilon + metrics[b.Metric]
	t.Rows = append(t.Rows, experiments.Row{Name: name + ": fit, and drop-in", Data: b.Data, Honest: experiments.Of(fit), Baseline: experiments.Of(dropIn), Verdict: experiments.Unpublished})
	b.claim(t, totals[0], epsilon, fit, dropIn)
	if b.usual.space == nil {
		return nil
	}
	b.runs = b.choosing
	unpaid, err := b.chosen(ctx, epsilon, true)
	if err != nil {
		return err
	}
	paid, err := b.chosen(ctx, epsilon, false)
	if err != nil {
		return err
	}
	row := experiments.Row{Name: name + ": usual choices, unpaid and paid", Data: b.Data, AsPublished: experiments.Of(unpaid), Honest: experiments.Of(paid), Verdict: experiments.Unpublished}
	if len(base) > 0 && !math.IsNaN(base[0]) {
		row.Baseline = experiments.Of(base)
	}
	t.Rows = append(t.Rows, row)
	b.claim(t, totals[1], epsilon, fit, paid)
	return nil
}

// alone measures fit at one ε, against its aim or with public rows.
func (b *bench) alone(ctx context.Context, epsilon string, i int, t *experiments.Table) error {
	fit, base, err := b.fit(ctx, epsilon, 0)
	if err != nil {
		return err
	}
	row := experiments.Row{Name: "ε = " + epsilon + metrics[b.Metric], Data: b.Data, Honest: experiments.Of(fit), Verdict: experiments.Unpublished}
	claim := experiments.Claim{Verdict: experiments.Unpublished}
	switch {
	case b.Public > 0:
		with, _, err := b.fit(ctx, epsilon, b.Public)
		if err != nil {
			return err
		}
		row.Name += fmt.Sprintf(": %d more rows are public", int(b.Public*float64(b.rows)))
		row.Honest, row.Baseline = experiments.Of(with), row.Honest
		claim.Statement = fmt.Sprintf("%s, ε = %s: with public rows against without", b.Data, epsilon)
		claim.Evidence = fmt.Sprintf("%s points, run by run", experiments.Of(replay.Difference(with, fit)))
		t.Claims = append(t.Claims, claim)
	case len(base) > 0 && !math.IsNaN(base[0]):
		row.Baseline = experiments.Of(base)
	}
	if b.Aims != nil {
		aim := b.Aims[i]
		reached := "not reached"
		if row.Honest.Mean >= aim {
			reached = "reached"
		}
		claim.Statement = fmt.Sprintf("%s, ε = %s: an aim of %g", b.Data, epsilon, aim)
		claim.Evidence = fmt.Sprintf("%s: %s", row.Honest, reached)
		t.Claims = append(t.Claims, claim)
	}
	t.Rows = append(t.Rows, row)
	return nil
}

func (b *bench) claim(t *experiments.Table, a *against, epsilon string, fit, other []float64) {
	d := experiments.Of(replay.Difference(fit, other))
	a.add(b.Data, d)
	t.Claims = append(t.Claims, experiments.Claim{
		Statement: fmt.Sprintf("%s, ε = %s: fit against %s", b.Data, epsilon, a.name), Verdict: experiments.Unpublished,
		Evidence: fmt.Sprintf("%s points, run by run", d),
	})
}
