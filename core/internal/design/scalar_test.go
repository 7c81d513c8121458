package design

import (
	"math"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

func TestPackedSumMatchesDenseRows(t *testing.T) {
	s := mixedSchema()
	rapid.Check(t, func(t *rapid.T) {
		enc, err := encode.New(s, "", encode.Options{
			Bins:    rapid.IntRange(2, 6).Draw(t, "bins"),
			Linear:  rapid.Bool().Draw(t, "linear"),
			Crosses: rapid.Bool().Draw(t, "crosses"),
		})
		if err != nil {
			t.Fatal(err)
		}
		// A few rows repeated, so that blocks and chunks have full and cut ends.
		base := drawCells(t, rapid.IntRange(1, 8).Draw(t, "base"))
		n := rapid.SampledFrom([]int{0, 1, 7, block, block + 1, chunk + 3}).Draw(t, "rows")
		var cells []float64
		for i := range n {
			k := i % (len(base) / 5)
			cells = append(cells, base[5*k:5*k+5]...)
		}
		view, err := sealed.OpenPublic(sealed.New("d", s, cells, make([]uint64, n)), dp.WholeScope)
		if err != nil {
			t.Fatal(err)
		}
		m := New(view, enc, func([]float64) float64 { return 0 })
		w := make([]float64, enc.Dim)
		for j := range w {
			w[j] = rapid.Float64Range(-3, 3).Draw(t, "weight")
		}
		got, want := make([]float64, enc.Dim), make([]float64, enc.Dim)
		x := make([]float64, enc.Dim)
		for j := range w {
			got[j], want[j] = 1, 1 // the sum is added to what is there
		}
		every := rapid.IntRange(1, 3).Draw(t, "every") // 1 of so many rows takes part
		var rows []int32
		for i := 0; i < n; i += every {
			rows = append(rows, int32(i))
			enc.Vector(x, view.Row(i))
			score := 0.0
			for j, v := range x {
				score += v * w[j]
			}
			for j, v := range x {
				want[j] += v * (score*score + float64(i%3))
			}
		}
		var seen atomic.Int64
		if every == 1 {
			m.Pack().Sum(got, w, func(first int, scores []float64) {
				seen.Add(int64(len(scores)))
				for i, v := range scores {
					scores[i] = v*v + float64((first+i)%3)
				}
			})
		} else {
			var at atomic.Int64
			_, p := NewPacked(view, enc, func([]float64) float64 { return 0.1 }, 0.3)
			p.SumOf(got, w, rows, func(targets, norms, scores []float64) {
				seen.Add(int64(len(scores)))
				for i, v := range scores {
					row := rows[at.Add(1)-1] // chunks of so few rows follow each other
					if want := m.Norm[row]; !(norms[i] >= want && norms[i] <= want*(1+1e-6)) || targets[i] != float64(float32(0.1)) {
						t.Fatalf("row %d: norm %v, target %v; its norm is %v", row, norms[i], targets[i], want)
					}
					scores[i] = v*v + float64(row%3)
				}
			})
		}
		if seen.Load() != int64(len(rows)) {
			t.Fatalf("residual saw %d of %d rows", seen.Load(), len(rows))
		}
		for j := range want {
			if !(math.Abs(got[j]-want[j]) <= 1e-10*(1+math.Abs(want[j]))) {
				t.Fatalf("coordinate %d: got %g, want %g", j, got[j], want[j])
			}
		}
	})
}

// A row of a lot is added once, on either side of the end of a chunk too.
func TestLotsCrossChunks(t *testing.T) {
	const rate, wide = 0.3, chunk * 3 // rows of a chunk at this rate
	n := 2*wide + 5
	s := mixedSchema()
	enc, err := encode.New(s, "", encode.Options{Bins: 2})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.OpenPublic(sealed.New("d", s, make([]float64, 5*n), make([]uint64, n)), dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	_, p := NewPacked(view, enc, func([]float64) float64 { return 0 }, rate)
	rows := []int32{0, int32(wide - 1), int32(wide), int32(wide + 1), int32(2*wide - 1), int32(2 * wide), int32(n - 1)}
	got, want, x := make([]float64, enc.Dim), make([]float64, enc.Dim), make([]float64, enc.Dim)
	p.SumOf(got, make([]float64, enc.Dim), rows, func(_, _, scores []float64) {
		for i := range scores {
			scores[i] = 1
		}
	})
	enc.Vector(x, view.Row(0)) // all rows are equal
	for j, v := range x {
		if want[j] = float64(len(rows)) * v; math.Abs(got[j]-want[j]) > 1e-12 {
			t.Fatalf("coordinate %d: got %g, want %g", j, got[j], want[j])
		}
	}
}

// A rate whose inverse is no int has chunks all the same.
func TestTinyRatesHaveChunks(t *testing.T) {
	s := mixedSchema()
	enc, err := encode.New(s, "", encode.Options{Bins: 2})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.OpenPublic(sealed.New("d", s, make([]float64, 5*3), make([]uint64, 3)), dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{5e-324, 1e-300, 1e-19, 1e-15} {
		m, p := NewPacked(view, enc, func([]float64) float64 { return 0 }, rate)
		seen := 0
		p.SumOf(make([]float64, enc.Dim), make([]float64, enc.Dim), []int32{0, 2}, func(_, _, scores []float64) { seen += len(scores) })
		if m.chunk < chunk || seen != 2 {
			t.Errorf("rate %v: chunks of %d rows, %d of 2 rows seen", rate, m.chunk, seen)
		}
	}
}
