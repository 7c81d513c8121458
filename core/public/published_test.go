package public

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestPublishedCalibration(t *testing.T) {
	const r = 2
	for _, tc := range []struct {
		name       string
		p          Published
		reg, scale float64
	}{
		{"2021", Published{Formula: Diffprivlib2021, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.5))},
		{"2025", Published{Formula: Diffprivlib2025, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.25))},
		{"replace one", Published{Formula: ReplaceOneFormula, Epsilon: 10, C: 0.5}, 2, 4 / (10 - 2*math.Log(1.5))},
		// 2·ln(1 + 0.5/0.5) > 1: a rises by 0.5/(e^{1/4}−1) − 0.5.
		{"2021, raised", Published{Formula: Diffprivlib2021, Epsilon: 1, C: 1}, 1 + 0.5/math.Expm1(0.25) - 0.5, 8},
		{"replace one, raised", Published{Formula: ReplaceOneFormula, Epsilon: 1, C: 1}, 1 / math.Expm1(0.25), 8},
		{"a norm from the data", Published{Formula: Diffprivlib2021, Epsilon: 10, C: 0.5, DataNorm: 4}, 2, 8 / (10 - 2*math.Log(2))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg, scale, err := tc.p.calibrate(r)
			if err != nil || math.Abs(reg/tc.reg-1) > 1e-12 || math.Abs(scale/tc.scale-1) > 1e-12 {
				t.Errorf("got %.12g, %.12g (%v), want %.12g, %.12g", reg, scale, err, tc.reg, tc.scale)
			}
		})
	}
	for _, p := range []Published{{Formula: "own", Epsilon: 1, C: 1}, {Formula: Diffprivlib2021, C: 1}, {Formula: Diffprivlib2021, Epsilon: 1}, {Formula: Diffprivlib2021, Epsilon: math.NaN(), C: 1}} {
		if _, _, err := p.calibrate(r); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}

// The weights solve the published problem in raw coordinates, on the noise of the
// named stream; sensitive rows are refused.
func TestFitPublishedSolvesTheRawProblem(t *testing.T) {
	s, enc := testRows(t)
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1, -0.9, 0, 2, 0}
	rows := sealed.New("d", s, cells, make([]uint64, 4))
	fits := []Published{
		{Formula: Diffprivlib2021, Epsilon: 1, C: 1, Target: lastCell}, {Formula: ReplaceOneFormula, Epsilon: 5, C: 10, Target: lastCell},
		{Formula: Diffprivlib2021, Epsilon: 1e9, C: 1, Target: func(c []float64) float64 { return 1 - lastCell(c) }},
	}
	all, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, fits, entropy.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, enc.Dim)
	for i, v := range all {
		reg, scale, err := fits[i].calibrate(1 / enc.Scale)
		if err != nil {
			t.Fatal(err)
		}
		// Gradient in raw coordinates without b must be −b: its norm is Gamma(d)·scale.
		g := make([]float64, enc.Dim)
		for j := range g {
			g[j] = reg * v[j] * enc.Scale
		}
		for r := range 4 {
			row := cells[r*4 : r*4+4]
			enc.Vector(x, row)
			p := 1/(1+math.Exp(-floats.Dot(x, v))) - fits[i].Target(row)
			floats.AddScaled(g, p/enc.Scale, x)
		}
		size := floats.Norm(g, 2) / scale
		if i == 2 {
			if floats.Norm(g, 2) > 1e-4 {
				t.Errorf("without noise the raw gradient is %g", floats.Norm(g, 2))
			}
			continue
		}
		// Gamma(6) lies within (0.2, 40) but for 1e-7.
		if size < 0.2 || size > 40 {
			t.Errorf("fit %d: noise of %g scales", i, size)
		}
	}
	s.Public = false
	hidden := sealed.New("d", s, cells, make([]uint64, 4))
	if _, err := FitPublished(context.Background(), hidden, dp.WholeScope, enc, fits, entropy.Seeded(3)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("sensitive rows: %v", err)
	}
}

// Repeats are fits with noise of their own, the same as if they were listed.
func TestPublishedRepeats(t *testing.T) {
	census, cells := stattest.Census(200)
	rows := sealed.New("census", census, cells, make([]uint64, 200))
	enc, err := encode.New(census, "label", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	p := Published{Formula: Diffprivlib2021, Epsilon: 5, C: 1, Target: lastCell}
	listed, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, []Published{p, p, p}, entropy.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	p.Repeats = 3
	repeated, err := FitPublished(context.Background(), rows, dp.WholeScope, enc, []Published{p}, entropy.Seeded(3))
	if err != nil || len(repeated) != 3 {
		t.Fatalf("%d fits (%v)", len(repeated), err)
	}
	for i := range listed {
		for j := range listed[i] {
			if listed[i][j] != repeated[i][j] {
				t.Fatalf("fit %d differs", i)
			}
		}
	}
	if repeated[0][0] == repeated[1][0] {
		t.Error("repeats share their noise")
	}
}

// Of a sensitive data set no row is visited.
func TestVisitsArePublic(t *testing.T) {
	s, _ := testRows(t)
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0}
	var seen []float64
	if err := Visit(sealed.New("d", s, cells, make([]uint64, 2)), dp.WholeScope, func(cells []float64) { seen = append(seen, cells...) }); err != nil || !slices.Equal(seen, cells) {
		t.Errorf("visited %v, %v", seen, err)
	}
	s.Public = false
	rows := sealed.New("d", s, cells, make([]uint64, 2))
	if err := Visit(rows, dp.WholeScope, func([]float64) { t.Error("a sensitive row was visited") }); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact visit of a sensitive data set: %v", err)
	}
	if err := VisitInputs(rows, dp.WholeScope, func([]float64, []float32) { t.Error("a sensitive row was visited") }); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("exact visit of the inputs of a sensitive data set: %v", err)
	}
}

func lastCell(cells []float64) float64 { return cells[len(cells)-1] }

// testRows is the schema of four columns, the last of which is predicted.
func testRows(t *testing.T) (*schema.Schema, *encode.Encoding) {
	t.Helper()
	s := &schema.Schema{Public: true, Unit: schema.Unit{Name: "person", MaxRows: 1}, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
		{Name: "flag", Type: schema.Boolean},
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
		{Name: "label", Type: schema.Numeric, Lower: -9, Upper: 9},
	}}
	enc, err := encode.New(s, "label", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, enc
}
