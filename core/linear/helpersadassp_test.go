package linear_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/data/encode"
	"pawl/data/schema"
)

func testSchema(maxRows int) *schema.Schema {
	return &schema.Schema{
		Unit: schema.Unit{Name: "person", MaxRows: maxRows},
		Columns: []schema.Column{
			{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
			{Name: "flag", Type: schema.Boolean},
			{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
			{Name: "label", Type: schema.Numeric, Lower: -9, Upper: 9},
		},
	}
}

func mustEncoding(t testing.TB, s *schema.Schema, o encode.Options) *encode.Encoding {
	t.Helper()
	enc, err := encode.New(s, "label", o)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// mustOpen gives the rows in the clear, as a mechanism sees them.
func mustOpen(t testing.TB, s *schema.Schema, cells []float64, enc *encode.Encoding) (*sealed.View, *design.Matrix) {
	t.Helper()
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, s.Unit.MaxRows, dp.Pure{Epsilon: 1}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	rows := sealed.New("d", s, cells, make([]uint64, len(cells)/len(s.Columns)))
	view, err := sealed.Open(rows, permit, dp.WholeScope, dp.Pure{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	return view, design.New(view, enc, lastCell)
}

func drawRows(t *rapid.T, n int, label string) []float64 {
	var cells []float64
	for range n {
		row := []float64{
			rapid.Float64Range(-1, 1).Draw(t, label+" number"),
			float64(rapid.IntRange(0, 1).Draw(t, label+" flag")),
			float64(rapid.IntRange(0, 2).Draw(t, label+" class")),
			rapid.SampledFrom([]float64{0, 1, 0, 1, math.NaN(), 0.5}).Draw(t, label+" label"),
		}
		if c := rapid.IntRange(0, 5).Draw(t, label+" unknown"); c < 3 {
			row[c] = math.NaN()
		}
		cells = append(cells, row...)
	}
	return cells
}

func mustOpenRapid(t *rapid.T, s *schema.Schema, cells []float64, enc *encode.Encoding) (*sealed.View, *design.Matrix) {
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, s.Unit.MaxRows, dp.Pure{Epsilon: 1}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.Open(sealed.New("d", s, cells, make([]uint64, len(cells)/len(s.Columns))), permit, dp.WholeScope, dp.Pure{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	return view, design.New(view, enc, lastCell)
}

// mustPermit is a permit whose noise does not matter.
func mustPermit(t testing.TB, dataset string, event dp.Event) *sealed.Permit {
	t.Helper()
	return permitWith(t, entropy.Seeded(1), dataset, event)
}

func permitWith(t testing.TB, src *entropy.Source, dataset string, event dp.Event) *sealed.Permit {
	t.Helper()
	permit, err := sealed.NewPermit("1", dataset, dp.AddOrRemoveOne, 1, event, src)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// eventStreams are the streams of the events of a permit under src, taken in order.
func eventStreams(t interface{ Fatal(...any) }, src *entropy.Source, events ...dp.Event) (all []*entropy.Source) {
	permit, err := sealed.NewPermit("1", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: events}, src)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		v, err := sealed.Open(sealed.New("d", testSchema(1), nil, nil), permit, dp.WholeScope, e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.Noise())
	}
	return all
}

func lastCell(cells []float64) float64 { return cells[len(cells)-1] }

func axpy(f float64, x, y []float64) { floats.AddScaled(y, f, x) }
func norm(x []float64) float64       { return floats.Norm(x, 2) }

// cells says that every number is a multiple of the power of two below scale, over 2^12.
func cells(t *testing.T, name string, x []float64, scale float64) {
	t.Helper()
	cell := math.Exp2(math.Floor(math.Log2(scale)) - 12)
	for j, v := range x {
		if math.Mod(v, cell) != 0 {
			t.Fatalf("%s: number %d, %g, is no multiple of %g", name, j, v, cell)
		}
	}
}

// Noisy moments lie on the grid before anything is made of them, also where there are no rows, and
// noise is added before they are rounded: entries of less than half a cell move as many of
// them as they have of a cell, where a sum rounded first would move none. Null: independent chances; |z| <= 4.89
// has a false-alarm rate of 1e-6.
func TestMomentsLeaveOnTheGrid(t *testing.T) {
	const d = 40
	for name, perturb := range map[string]func(gram, cross []float64, seed uint64) float64{
		"adassp": func(gram, cross []float64, seed uint64) float64 {
			e, err := sum.RegressionNoise{Least: 5, Gram: 5, Cross: 5}.Perturb(&sum.Equations{Least: 1. / 3, Gram: gram, Cross: cross}, entropy.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			return e.Least
		},
	} {
		t.Run(name, func(t *testing.T) {
			moments := func(share float64, seed uint64) (gram, cross []float64) {
				gram, cross = make([]float64, d*d), make([]float64, d)
				for j := range gram {
					gram[j] = share * 0x1p-11 // 5/√2 lies between 2 and 4
				}
				for j := range cross {
					cross[j] = share * 0x1p-10
				}
				least := perturb(gram, cross, seed)
				cells(t, "matrix", gram, 5/math.Sqrt2)
				cells(t, "vector", cross, 5)
				cells(t, "eigenvalue", []float64{least}, 5)
				return gram, cross
			}
			const share, runs = 0.4, 10
			matrix, vector := 0.0, 0.0
			for seed := range uint64(runs) {
				gram, cross := moments(0, seed)
				gram2, cross2 := moments(share, seed)
				for j := range d {
					for l := range j + 1 {
						matrix += (gram2[j*d+l] - gram[j*d+l]) * 0x1p11
					}
					vector += (cross2[j] - cross[j]) * 0x1p10
				}
			}
			for _, c := range []struct {
				name     string
				moved, n float64
			}{{"matrix", matrix, runs * d * (d + 1) / 2}, {"vector", vector, runs * d}} {
				if z := (c.moved - c.n*share) / math.Sqrt(c.n*share*(1-share)); !(math.Abs(z) <= 4.8916) {
					t.Errorf("%s: %g of %g move, z %.1f", c.name, c.moved, c.n, z)
				}
			}
		})
	}
}
