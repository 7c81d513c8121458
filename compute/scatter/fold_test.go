package scatter

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"pawl/compute/kernel"
)

// The parts are of the class they name and make up all eight waves, also those that no
// part is taken from.
func TestPartsMakeUpTheWaves(t *testing.T) {
	const rows, cols = 20, 16
	for scale := range scales {
		all := partsOf(rows, cols, scale)
		if len(all) != parts {
			t.Fatalf("%d parts, want %d", len(all), parts)
		}
		for i := range rows {
			for j := range cols {
				v := make([]float64, parts)
				for k, p := range all {
					v[k] = p.at(i, j)
					if down := p.at(-i, j); math.Abs(down-sign(p.class&2)*v[k]) > 1e-15 {
						t.Fatalf("part %d of scale %d: %g at (%d, %d), %g at (−%d, %d)", k, scale, v[k], i, j, down, i, j)
					}
					if across := p.at(i, -j); math.Abs(across-sign(p.class&1)*v[k]) > 1e-15 {
						t.Fatalf("part %d of scale %d: %g at (%d, %d), %g at (%d, −%d)", k, scale, v[k], i, j, across, i, j)
					}
				}
				waves := [Angles]complex128{3: complex(v[12], v[13]), 7: complex(v[14], v[15])}
				for k := range 3 {
					waves[k] = complex(v[4*k]+v[4*k+1], v[4*k+2]+v[4*k+3])
					waves[6-k] = complex(v[4*k]-v[4*k+1], v[4*k+2]-v[4*k+3])
				}
				for angle, got := range waves {
					if want := morlet(rows, cols, scale, angle).at(i, j); cmplx.Abs(got-want) > 1e-14 {
						t.Fatalf("orientation %d of scale %d at (%d, %d): %g, want %g", angle, scale, i, j, got, want)
					}
				}
			}
		}
	}
}

// Points that lie as far apart as the moduli come in pairs; only finer ones lie on the
// mirror.
func TestMirror(t *testing.T) {
	for _, c := range []struct{ n, step, to, even, odd int }{{36, 1, 1, 18, 18}, {36, 2, 2, 9, 9}, {36, 1, 2, 19, 17}, {16, 1, 2, 9, 7}} {
		m := newMirror(c.n, c.step, c.to)
		if len(m[0]) != c.even || len(m[1]) != c.odd {
			t.Errorf("%d points, %d apart, mirrored for %d: %d even and %d odd, want %d and %d", c.n, c.step, c.to, len(m[0]), len(m[1]), c.even, c.odd)
		}
		for _, p := range m[0] {
			if (p[0]+p[1])*c.step%c.n != c.n-c.to && (p[0]+p[1])*c.step != 2*c.n-c.to {
				t.Errorf("%d points, %d apart: %d is the image of %d", c.n, c.step, p[1], p[0])
			}
		}
	}
}

// A product with a number that float32 has in subnormal form only takes a hundred times as long.
func TestFiltersHaveNoSubnormalNumbers(t *testing.T) {
	transform, err := New(28, 28, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, m *kernel.Packed) {
		rows := m.Rows()
		unit := make([]float32, rows*rows)
		for i := range rows {
			unit[i*rows+i] = 1
		}
		entries := make([]float32, rows*m.Cols())
		kernel.MatMulPacked(kernel.Dense(entries, rows, m.Cols()), kernel.Dense(unit, rows, rows), m, false)
		most, zeros := 0.0, 0
		for _, v := range entries {
			size := math.Abs(float64(v))
			if most = max(most, size); v == 0 {
				zeros++
			} else if size < 1e-30 {
				t.Fatalf("%s has an entry of %g", name, v)
			}
		}
		if most < 1e-3 || zeros == len(entries) {
			t.Fatalf("%s: entries up to %g, %d of %d are 0", name, most, zeros, len(entries))
		}
	}
	for name, b := range map[string]*bank{"scale 0": transform.first, "scale 1": transform.second, "scale 1 of moduli": transform.deeper} {
		for class, m := range b.products {
			check(fmt.Sprintf("%s, class %d", name, class), m)
		}
	}
	for name, m := range map[string]*kernel.Packed{"the average": transform.lowest, "that of scale 0": transform.fine, "that of scale 1": transform.coarse} {
		check(name, m)
	}
}
