package workflow

import (
	"context"
	"errors"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/search/feature"
)

// statistic is what a selector reads of rows: tables, sums by class, or nothing.
type statistic interface {
	event(noise float64) dp.Event
	// checkSignal refuses, by public facts alone, to pay for statistics that noise drowns.
	checkSignal(noise float64) error
	noisy(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, noise float64) (*feature.Statistics, error)
	// exact reads public rows.
	exact(rows *intake.Rows) (*feature.Statistics, error)
	// ranked is how many are asked of the selector so that count are left of what it ranks,
	// which named turns into columns or attributes.
	ranked(level feature.Level, count int) int
	named(s *feature.Selection, level feature.Level, count int) *feature.Selection
	// note says what the noise means, or nothing.
	note(noise float64) string
}

const insteadOfNoise = "a larger epsilon, fewer columns (--features), or no selection: use all features or a list from domain knowledge"

// tables are those of each attribute with the label and, where a selector needs them, of
// all pairs.
type tables struct {
	problem *problem
	layout  *feature.Layout
	need    feature.Need
}

func (t *tables) event(x float64) dp.Event { return dp.DiscreteGaussian{NoiseMultiplier: x} }

func (t *tables) release(noise float64) release.Tables {
	d := &t.layout.Domain
	r := release.Tables{Scope: dp.WholeScope, NoiseMultiplier: noise, Codes: t.layout.Codes}
	for _, a := range d.Attributes {
		r.Levels = append(r.Levels, a.Levels)
	}
	r.Levels = append(r.Levels, d.Classes)
	m := len(d.Attributes)
	for j := range m {
		r.Pairs = append(r.Pairs, [2]int{j, m})
	}
	if t.need == feature.NeedPairTables {
		for i := range m {
			for j := i + 1; j < m; j++ {
				r.Pairs = append(r.Pairs, [2]int{i, j})
			}
		}
	}
	return r
}

func (t *tables) checkSignal(noise float64) error {
	err := t.need.CheckSignal(&t.layout.Domain, t.release(noise).StdDev(t.problem.Schema.Unit.MaxRows))
	var noisy *feature.NoiseError
	if errors.As(err, &noisy) {
		hint := "--bins 4, " + insteadOfNoise
		if t.need == feature.NeedPairTables {
			hint = "--method mutual-information (tables with the label alone), " + hint
		}
		return usage(hint, "%v", err)
	}
	return err
}

func (t *tables) noisy(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, noise float64) (*feature.Statistics, error) {
	r := t.release(noise)
	counts, err := r.Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	return t.statistics(counts, r, r.StdDev(t.problem.Schema.Unit.MaxRows))
}

func (t *tables) exact(rows *intake.Rows) (*feature.Statistics, error) {
	r := t.release(0)
	counts, err := r.Public(rows)
	if err != nil {
		return nil, err
	}
	return t.statistics(counts, r, 0)
}

func (t *tables) statistics(tables [][]int64, r release.Tables, noise float64) (*feature.Statistics, error) {
	return feature.Counted(t.layout.Domain, tables, r.Levels, r.Pairs, noise)
}

func (t *tables) ranked(_ feature.Level, count int) int { return count }

func (t *tables) named(s *feature.Selection, _ feature.Level, _ int) *feature.Selection { return s }

func (t *tables) note(float64) string { return "" }
