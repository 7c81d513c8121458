package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/core/release"
	"pawl/data/encode"
	"pawl/search/feature"
	"pawl/store/memory"
)

// charged reserves the event on a ledger of its own, runs and commits.
func charged(ctx context.Context, dataset string, event dp.Event, seed uint64, f func(*ledger.Permit) error) error {
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	permit, _, err := l.Reserve(ctx, ledger.Request{
		Dataset: dataset, Plan: "replay", Event: event, Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1,
		Epsilon: "10", Delta: "0.00001", Public: true, Seed: &seed, Digest: bytes.Repeat([]byte{1}, 32),
	})
	if err != nil {
		return err
	}
	return errors.Join(f(permit), l.Commit(ctx, permit))
}

// NoisyTables releases contingency tables of the columns with the target, and with each
// other where the need is feature.NeedPairTables, by one Gaussian mechanism of the given
// multiplier. bins are those of numeric columns.
func (t *Table) NoisyTables(ctx context.Context, rows *intake.Rows, need feature.Need, bins int, noiseMultiplier float64, seed uint64) (*feature.Statistics, error) {
	layout, err := feature.NewLayout(t.Schema, t.Target, bins)
	if err != nil {
		return nil, err
	}
	layout.Domain.Rows = float64(len(t.Rows))
	d := layout.Domain
	m := len(d.Attributes)
	r := release.Tables{Scope: dp.WholeScope, NoiseMultiplier: noiseMultiplier, Codes: layout.Codes}
	for j, a := range d.Attributes {
		r.Levels = append(r.Levels, a.Levels)
		r.Pairs = append(r.Pairs, [2]int{j, m})
	}
	r.Levels = append(r.Levels, d.Classes)
	if need == feature.NeedPairTables {
		for i := range m {
			for j := i + 1; j < m; j++ {
				r.Pairs = append(r.Pairs, [2]int{i, j})
			}
		}
	}
	var tables [][]int64
	if err := charged(ctx, t.Name, r.Event(), seed, func(permit *ledger.Permit) (err error) {
		tables, err = r.Release(ctx, permit, rows)
		return err
	}); err != nil {
		return nil, err
	}
	return feature.Counted(d, tables, r.Levels, r.Pairs, r.StdDev(1))
}

// Distances are those of the means of two classes, as a noisy release shows them.
type Distances struct {
	// Names are the columns, Distance the largest of each one's coordinates and
	// Deviation that of its noise, all in units of a coordinate.
	Names               []string
	Distance, Deviation []float64

	squares     []float64 // of each column, less what noise and chance add on average
	coordinates int
}

// NoisyDistances releases the sums of both classes over the linear encoding of all
// columns, whose rows have norm 1 at most, by one Gaussian mechanism.
func (t *Table) NoisyDistances(ctx context.Context, rows *intake.Rows, noiseMultiplier float64, seed uint64) (*Distances, error) {
	target := t.Schema.Column(t.Target)
	if levels := len(t.Schema.Columns[target].Levels()); levels != 2 {
		return nil, fmt.Errorf("%s: distances compare 2 classes, the target has %d", t.Name, levels)
	}
	enc, err := encode.New(t.Schema, t.Target, encode.Options{Linear: true})
	if err != nil {
		return nil, err
	}
	r := release.ClassSums{
		Scope: dp.WholeScope, NoiseMultiplier: noiseMultiplier, Classes: 2, Features: enc.Dim, Norm: 1,
		Row: func(x, cells []float64) int {
			enc.Vector(x, cells)
			if y := cells[target]; y == y {
				return int(y)
			}
			return -1
		},
	}
	var sums *release.Sums
	if err := charged(ctx, t.Name, r.Event(), seed, func(permit *ledger.Permit) (err error) {
		sums, err = r.Release(ctx, permit, rows)
		return err
	}); err != nil {
		return nil, err
	}
	// √2 is the sensitivity of a row's vector and its count.
	return distances(enc, sums, 1.4142135623730951*noiseMultiplier), nil
}
