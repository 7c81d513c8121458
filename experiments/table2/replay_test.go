package table2

import (
	"math"
	"testing"

	"pawl/experiments"
	"pawl/search/feature/aware"
)

// Noise of 100 times the clipping norm is what the printed 0.0196 stands for.
func TestNoiseOfThePrintedEpsilon(t *testing.T) {
	s := studies(experiments.Quick)[1]
	d, err := aware.CalibratedDescent(s.train, .0196)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.NoiseMultiplier-100) > .5 || d.Steps != 3640 {
		t.Errorf("noise %.2f, %d steps, want 100 and 3640", d.NoiseMultiplier, d.Steps)
	}
	if d, err = aware.CalibratedDescent(studies(experiments.Quick)[0].train, .236); err != nil || d.SamplingRate != 1 || d.Steps != aware.DescentEpochs {
		t.Errorf("Breast Cancer: %+v (%v), want %d full steps", d, err, aware.DescentEpochs)
	}
}

func TestClaims(t *testing.T) {
	v := func(mean float64) []float64 { return []float64{mean - 1, mean, mean + 1.1} }
	low, high := [][]float64{v(75), v(80), v(70)}, [][]float64{v(75), v(80), v(85)}
	m := &measured{
		study: study{data: "x", sizes: []int{2, 10, 43}, epsilons: []float64{.1, .2}},
		sgd:   high, fast: [][][]float64{low, low}, slow: [][][]float64{high, high},
	}
	m.fast[0][1][0] -= .1 // splits do not agree exactly
	for i, want := range []experiments.Verdict{experiments.Reproduced, experiments.Reproduced, experiments.Not} {
		if got := m.claims()[i]; got.Verdict != want {
			t.Errorf("%q is %q, want %q (%s)", got.Statement, got.Verdict, want, got.Evidence)
		}
	}
	m.sgd, m.fast = low, [][][]float64{low, high}
	if got := m.claims(); got[0].Verdict != experiments.Not || got[1].Verdict != experiments.SameSign {
		t.Errorf("SGD prefers a subset: %q; one ε of two: %q", got[0].Verdict, got[1].Verdict)
	}
}

func TestSameSign(t *testing.T) {
	row := func(printed float64) experiments.Row {
		return experiments.Row{Published: experiments.Value(printed), Verdict: experiments.Not}
	}
	rows := []experiments.Row{row(66), row(55), row(60)}
	by := [][]float64{{75, 76, 77.1}, {75, 76, 77.1}, {70, 71, 72}}
	sameSign(rows, by)
	for i, want := range []experiments.Verdict{experiments.SameSign, experiments.Not, experiments.Not} {
		if rows[i].Verdict != want {
			t.Errorf("row %d: %q, want %q", i, rows[i].Verdict, want)
		}
	}
}
