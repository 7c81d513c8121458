package table16

import (
	"testing"

	"pawl/experiments"
)

func TestClaims(t *testing.T) {
	const splits = 3
	// gain is one-hot minus none at every epsilon, of two fits for each split.
	world := func(gain ...float64) [][][]float64 {
		fits := make([][][]float64, len(arms))
		for _, g := range gain {
			fits[without] = append(fits[without], []float64{60, 62, 61, 61, 60.5, 61.7})
			// One-hot columns are better than codes everywhere.
			fits[codes] = append(fits[codes], []float64{40, 42, 41, 41, 40.5, 41.7})
			fits[oneHot] = append(fits[oneHot], []float64{60 + g, 62 + g, 61 + g, 61 + g, 60.6 + g, 61.7 + g})
		}
		return fits
	}
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	for _, c := range []struct {
		name          string
		fits          [][][]float64
		without, with experiments.Verdict
	}{
		{"as printed", world(4, 1, -5, -7, -1, 1), r, r},
		{"none is always better", world(-4, -1, -5, -7, -1, -2), r, n},
		{"mixed", world(4, 1, -5, -7, 3, -2), s, s},
	} {
		got := claims(c.fits, splits)
		if got[0].Verdict != c.without || got[1].Verdict != c.with {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, got[0].Verdict, got[1].Verdict, c.without, c.with)
		}
	}
}

// A number that differs counts as the same sign where the better column is the printed one.
func TestSigns(t *testing.T) {
	row := func(printed, ours float64) experiments.Row {
		return experiments.Row{Published: experiments.Value(printed), AsPublished: experiments.Of([]float64{ours}), Verdict: experiments.Not}
	}
	table := &experiments.Table{Rows: []experiments.Row{row(60, 70), row(65, 75), row(60, 80), row(60, 75), row(65, 70), row(60, 60)}}
	signs(table)
	for i, want := range []experiments.Verdict{
		experiments.SameSign, experiments.SameSign, experiments.Not,
		experiments.Not, experiments.Not, experiments.SameSign,
	} {
		if got := table.Rows[i].Verdict; got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
}
