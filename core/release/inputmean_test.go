package release

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

// inputRows seals rows with dense inputs.
func inputRows(maxRows, dim int, inputs ...[]float32) *sealed.Rows {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: maxRows},
		Columns: []schema.Column{{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1}}}
	in := sealed.Inputs{Dim: dim, Floats: []float32{}}
	var cells []float64
	var hash []uint64
	for i, x := range inputs {
		in.Floats = append(in.Floats, x...)
		cells, hash = append(cells, 0), append(hash, uint64(i)<<56)
	}
	return sealed.NewWithInputs("d", s, cells, hash, in)
}

// publicInputs is inputRows, and public.
func publicInputs(dim int, inputs ...[]float32) *sealed.Rows {
	s := *inputRows(1, dim).Schema()
	s.Public = true
	in := sealed.Inputs{Dim: dim, Floats: []float32{}}
	for _, x := range inputs {
		in.Floats = append(in.Floats, x...)
	}
	return sealed.NewWithInputs("d", &s, make([]float64, len(inputs)), make([]uint64, len(inputs)), in)
}

// Null: at zero inputs every coordinate is N(0, (kσR)²) and coordinates are
// uncorrelated; convicts noise that is off, halved, reused, or forgets the relation.
func TestInputMeanNoise(t *testing.T) {
	const dim = 40_000
	for _, s := range settings {
		m := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1.3, Norm: 2, ExpectedRows: 10}
		got, err := m.Release(background, permitWith(t, source("input mean", int(s.apart)), s.rel, s.rows, m.Event()), inputRows(s.rows, dim, make([]float32, dim)))
		if err != nil {
			t.Fatal(err)
		}
		std := 1.3 * 2 * s.apart / 10
		stattest.Accept(t, stattest.Variance("input mean under "+s.String(), got, stattest.Moments{Variance: std * std, Kurtosis: 3}))
		stattest.Accept(t, stattest.Correlation("neighbouring coordinates", got[1:], got[:dim-1]))
	}
}

// One row more moves the sum by Norm at most, whatever it holds.
func TestInputMeanSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := InputMean{Scope: dp.WholeScope, Norm: rapid.Float64Range(1e-3, 1e3).Draw(t, "norm"), ExpectedRows: 1}
		value := rapid.OneOf(rapid.Float32Range(-1, 1), rapid.Float32(), rapid.Just(float32(math.Inf(1))), rapid.Just(float32(math.NaN())))
		dim := rapid.IntRange(1, 5).Draw(t, "dim")
		rows := rapid.SliceOfN(rapid.SliceOfN(value, dim, dim), 1, 1).Draw(t, "row")
		sums := exactly[[]float64](t)(m.Public(publicInputs(dim, rows...)))
		norm := 0.0
		for _, v := range sums {
			norm = math.Hypot(norm, v)
		}
		if !(norm <= m.Norm*(1+1e-12)) {
			t.Fatalf("a row of %v adds a vector of norm %g, more than %g", rows, norm, m.Norm)
		}
	})
}

func TestInputMeanOfRows(t *testing.T) {
	m := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1e-9, Norm: 1, ExpectedRows: 4}
	got, err := m.Release(background, permitWith(t, source("mean of rows", 0), dp.AddOrRemoveOne, 1, m.Event()), inputRows(1, 2, []float32{0.6, 0}, []float32{3, 4}, []float32{float32(math.NaN()), 1}))
	if err != nil || math.Abs(got[0]-0.3) > 1e-6 || math.Abs(got[1]-0.2) > 1e-6 {
		t.Errorf("got %v, %v; want (0.6+0.6)/4 and 0.8/4", got, err)
	}
}

func TestInputMeanNeedsItsCharge(t *testing.T) {
	m := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 2, Norm: 1, ExpectedRows: 1}
	rows := inputRows(1, 1, []float32{1})
	if _, err := m.Release(background, nil, rows); err == nil {
		t.Error("released without a permit")
	}
	p := permitFor(t, dp.AddOrRemoveOne, 1, dp.Gaussian{NoiseMultiplier: 3})
	if _, err := m.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("less noise than booked: got %v", err)
	}
	p = permitFor(t, dp.AddOrRemoveOne, 1, m.Event())
	if _, err := m.Release(background, p, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Release(background, p, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("a second release on one charge: got %v", err)
	}
	for _, bad := range []InputMean{{NoiseMultiplier: 1, ExpectedRows: 1}, {NoiseMultiplier: 1, Norm: 1}, {Norm: 1, ExpectedRows: 1}, {NoiseMultiplier: math.NaN(), Norm: 1, ExpectedRows: 1}} {
		bad.Scope = dp.WholeScope
		if _, err := bad.Release(background, permitWith(t, source("bad", 0), dp.AddOrRemoveOne, 1, m.Event()), rows); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// Vectors made of cells are held to the same bound as inputs.
func TestInputMeanOfCells(t *testing.T) {
	m := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1e-9, Norm: 1, ExpectedRows: 4, Features: 2,
		Row: func(x, cells []float64) {
			if cells[0] == 1 {
				x[0] = cells[1]
			} else {
				x[1] = cells[1]
			}
		}}
	rows := rowsOf(1, [2]float64{1, 0.5}, [2]float64{0, 9}, [2]float64{0, -9}, [2]float64{0, 0.25}, [2]float64{1, math.NaN()})
	got, err := m.Release(background, permitWith(t, source("mean of cells", 0), dp.AddOrRemoveOne, 1, m.Event()), rows)
	if err != nil || math.Abs(got[0]-0.125) > 1e-6 || math.Abs(got[1]-0.0625) > 1e-6 {
		t.Errorf("got %v, %v; want 0.5/4 and (1−1+0.25)/4", got, err)
	}
	if _, err := m.Public(rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact mean of a sensitive data set: %v", err)
	}
	m.Features = 0
	p := permitFor(t, dp.AddOrRemoveOne, 1, m.Event())
	if _, err := m.Release(background, p, rows); err == nil || p.Opened() {
		t.Errorf("no features: %v, opened %v", err, p.Opened())
	}
}
