package kernel

import (
	"math"
	"testing"
)

// grid has every 4001st float32, of both signs, with NaN, Inf and subnormals.
func grid() []float32 {
	var all []float32
	for bits := uint64(0); bits < 1<<32; bits += 4001 {
		all = append(all, math.Float32frombits(uint32(bits)))
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 88.72283, 88.72284, -103.97, -103.98, -87.33655, 0.625, -0.625, 9.01} {
		all = append(all, float32(x), math.Nextafter32(float32(x), 1000), math.Nextafter32(float32(x), -1000))
	}
	return all
}

// ulps is how far got is from want, in spacings of float32 at want.
func ulps(got float32, want float64) float64 {
	if math.IsNaN(want) {
		if got != got {
			return 0
		}
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / spacing(want)
}

func spacing(x float64) float64 {
	if math.Abs(x) > math.MaxFloat32 {
		return 0x1p104
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-24, -149))
}

func TestElementwiseErrorsAreWithinTheStatedBounds(t *testing.T) {
	x := grid()
	got := make([]float32, len(x))
	for _, f := range []struct {
		name  string
		apply func(dst, src []float32)
		exact func(float64) float64
		bound float64
	}{
		{"exp", portable.exp, math.Exp, 1.0},
		{"sigmoid", portable.sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 2.5},
		{"tanh", portable.tanh, math.Tanh, 1.5},
	} {
		t.Run(f.name, func(t *testing.T) {
			f.apply(got, x)
			var worst float64
			var at float32
			for i, v := range x {
				want := f.exact(float64(v))
				if math.IsInf(float64(float32(want)), 0) {
					if !math.IsInf(float64(got[i]), 1) {
						t.Fatalf("%v: got %v, want +Inf", v, got[i])
					}
					continue
				}
				if e := ulps(got[i], want); e > worst {
					worst, at = e, v
				}
			}
			t.Logf("largest error %.3f ulp, at %v", worst, at)
			if !(worst <= f.bound) {
				t.Errorf("%.3f ulp at %v, above %v", worst, at, f.bound)
			}
		})
	}
	if z := tanhOne(float32(math.Copysign(0, -1))); z != 0 || !math.Signbit(float64(z)) {
		t.Errorf("tanh(−0) = %v", z)
	}
}

// Same bits on every kernel, for every length and in place.
func TestElementwiseBitsAreTheSameOnEveryKernel(t *testing.T) {
	x := grid()
	onEach(t, func(t *testing.T, m *machine) {
		if m == &portable {
			t.Skip("the one to compare with")
		}
		got, want := make([]float32, len(x)), make([]float32, len(x))
		for name, f := range map[string][2]func(dst, src []float32){
			"exp":     {m.exp, portable.exp},
			"sigmoid": {m.sigmoid, portable.sigmoid},
			"tanh":    {m.tanh, portable.tanh},
			"add": {
				func(dst, src []float32) { clear(dst); m.addScaled(dst, src, 0.3); m.addScaled(dst, src, -2) },
				func(dst, src []float32) {
					clear(dst)
					portable.addScaled(dst, src, 0.3)
					portable.addScaled(dst, src, -2)
				},
			},
		} {
			f[0](got, x)
			f[1](want, x)
			for i, v := range x {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
					t.Fatalf("%s(%v) is %v, portable %v", name, v, got[i], want[i])
				}
			}
			if name == "add" {
				continue
			}
			for n := range 40 {
				part := append([]float32(nil), x[1e5:1e5+41]...)
				f[0](part[:n], part[:n])
				for i := range part {
					w := x[1e5+i]
					if i < n {
						w = want[1e5+i]
					}
					if math.Float32bits(part[i]) != math.Float32bits(w) {
						t.Fatalf("%s of %d values in place: place %d is %v, want %v", name, n, i, part[i], w)
					}
				}
			}
		}
	})
}
