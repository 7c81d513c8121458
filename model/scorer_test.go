package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/data/encode"
	"pawl/data/schema"
)

// scored is a linear model of every kind of table block, with rows of which some cells are unknown.
func scored(t testing.TB, o encode.Options, outputs, n int) (*Model, [][]float64) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "n", Type: schema.Numeric, Lower: -3, Upper: 9, Missing: schema.MissingUnknown},
		{Name: "i", Type: schema.Integer, Lower: 0, Upper: 5},
		{Name: "h", Type: schema.Numeric, Lower: 0, Upper: 1e6, HeavyTailed: true},
		{Name: "b", Type: schema.Boolean, Missing: schema.MissingUnknown},
		{Name: "c", Type: schema.Categorical, Categories: []string{"x", "y", "z"}, Missing: schema.MissingUnknown},
		{Name: "o", Type: schema.Categorical, Categories: []string{"p", "q", "r", "s"}, Ordered: true},
		{Name: "y", Type: schema.Categorical, Categories: []string{"0", "1", "2"}},
	}}
	enc, err := encode.New(s, "y", o)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	m := &Model{Task: Classification, Kind: Linear, Schema: s, Target: "y", Encoding: enc, Outputs: outputs}
	for range enc.Dim * outputs {
		m.Weights = append(m.Weights, r.NormFloat64())
	}
	rows := make([][]float64, n)
	for i := range rows {
		maybe := func(v float64) float64 {
			if r.IntN(5) == 0 {
				return math.NaN()
			}
			return v
		}
		rows[i] = []float64{maybe(12*r.Float64() - 3), float64(r.IntN(6)), 1e6 * r.Float64(), maybe(float64(r.IntN(2))), maybe(float64(r.IntN(3))), float64(r.IntN(4)), 0}
	}
	return m, rows
}

// Scores that are looked up are those of the dense vector.
func TestScoresAreLookedUp(t *testing.T) {
	for _, o := range []encode.Options{{}, {Linear: true}, {Crosses: true}, {Bins: 5, Intercept: .5}, {Attributes: []string{"n", "c=y", "b"}}} {
		for _, outputs := range []int{1, 3} {
			m, rows := scored(t, o, outputs, 300)
			want, got, score := make([]float64, outputs), make([]float64, outputs), m.scorer()
			for i, cells := range rows {
				m.Scores(want, cells, nil)
				score(got, cells)
				for k := range want {
					if !(math.Abs(got[k]-want[k]) <= 1e-12) {
						t.Fatalf("%+v: row %d has scores %v, the dense vector %v", o, i, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	m, rows := scored(b, encode.Options{Bins: 64}, 3, 1000)
	b.Run("dense", func(b *testing.B) {
		scores, x := make([]float64, 3), make([]float64, m.Encoding.Dim)
		for b.Loop() {
			for _, cells := range rows {
				m.Scores(scores, cells, x)
			}
		}
	})
	b.Run("looked up", func(b *testing.B) {
		predict := m.Predictor()
		for b.Loop() {
			for _, cells := range rows {
				predict(cells)
			}
		}
	})
}
