package scatter

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// oracle is the transform written out: convolutions in the plane, point by point, on
// the reflected image.
type oracle struct {
	height, width, rows, cols int
	full                      bool
}

// wave is the Morlet of a scale and an angle at a point of the plane, summed over the
// periods of the grid, by the formulas and not by the filters under test.
func (o oracle) wave(scale, angle int) func(i, j int) complex128 {
	sigma, xi := 0.8*math.Pow(2, float64(scale)), 0.75*math.Pi/math.Pow(2, float64(scale))
	theta := (3 - float64(angle)) * math.Pi / 8
	values := map[[2]int][2]complex128{}
	var wave, envelope complex128
	for i := range o.rows {
		for j := range o.cols {
			var v [2]complex128
			for a := -2; a <= 2; a++ {
				for b := -2; b <= 2; b++ {
					u, w := float64(i+a*o.rows), float64(j+b*o.cols)
					along, across := u*math.Cos(theta)+w*math.Sin(theta), -u*math.Sin(theta)+w*math.Cos(theta)
					e := math.Exp(-(along*along+across*across/4)/(2*sigma*sigma)) * 0.5 / (2 * math.Pi * sigma * sigma)
					v[0] += complex(e, 0) * cmplx.Exp(complex(0, xi*along))
					v[1] += complex(e, 0)
				}
			}
			values[[2]int{i, j}] = v
			wave, envelope = wave+v[0], envelope+v[1]
		}
	}
	return func(i, j int) complex128 {
		v := values[[2]int{mod(i, o.rows), mod(j, o.cols)}]
		return v[0] - wave/envelope*v[1]
	}
}

func (o oracle) low() func(i, j int) complex128 {
	const sigma = 1.6
	return func(i, j int) complex128 {
		s := 0.0
		for a := -2; a <= 2; a++ {
			for b := -2; b <= 2; b++ {
				u, w := float64(mod(i, o.rows)+a*o.rows), float64(mod(j, o.cols)+b*o.cols)
				s += math.Exp(-(u*u+w*w)/(2*sigma*sigma)) / (2 * math.Pi * sigma * sigma)
			}
		}
		return complex(s, 0)
	}
}

func mod(i, n int) int { return ((i % n) + n) % n }

// convolve returns filter ∗ values at a point, where values are known at every from-th
// point.
func (o oracle) convolve(filter func(i, j int) complex128, values func(i, j int) float64, from, i, j int) complex128 {
	var s complex128
	for a := 0; a < o.rows; a += from {
		for b := 0; b < o.cols; b += from {
			s += complex(values(a, b)*float64(from*from), 0) * filter(i-a, j-b)
		}
	}
	return s
}

// kept evaluates f at every step-th point.
func (o oracle) kept(step int, f func(i, j int) float64) func(i, j int) float64 {
	at := map[[2]int]float64{}
	for i := 0; i < o.rows; i += step {
		for j := 0; j < o.cols; j += step {
			at[[2]int{i, j}] = f(i, j)
		}
	}
	return func(i, j int) float64 { return at[[2]int{i, j}] }
}

func memo(o oracle, f func(i, j int) complex128) func(i, j int) complex128 {
	table := make([]complex128, o.rows*o.cols)
	for i := range o.rows {
		for j := range o.cols {
			table[i*o.cols+j] = f(i, j)
		}
	}
	return func(i, j int) complex128 { return table[mod(i, o.rows)*o.cols+mod(j, o.cols)] }
}

func (o oracle) features(image []float32) []float64 {
	x := func(i, j int) float64 {
		i, j = i-4, j-4
		if i < 0 {
			i = -i
		}
		if i >= o.height {
			i = 2*o.height - 2 - i
		}
		if j < 0 {
			j = -j
		}
		if j >= o.width {
			j = 2*o.width - 2 - j
		}
		return float64(image[i*o.width+j])
	}
	low := memo(o, o.low())
	var out []float64
	average := func(values func(i, j int) float64, from int) {
		for i := 4; i < 4+o.height; i += 4 {
			for j := 4; j < 4+o.width; j += 4 {
				out = append(out, real(o.convolve(low, values, from, i, j)))
			}
		}
	}
	average(x, 1)
	step := 2
	if o.full {
		step = 1
	}
	var fine []func(i, j int) float64
	for a := range 8 {
		psi := memo(o, o.wave(0, a))
		fine = append(fine, o.kept(step, func(i, j int) float64 { return cmplx.Abs(o.convolve(psi, x, 1, i, j)) }))
		average(fine[a], step)
	}
	var coarse []func(i, j int) complex128
	for a := range 8 {
		psi := memo(o, o.wave(1, a))
		coarse = append(coarse, psi)
		average(o.kept(2, func(i, j int) float64 { return cmplx.Abs(o.convolve(psi, x, 1, i, j)) }), 2)
	}
	for a := range 8 {
		for b := range 8 {
			average(o.kept(2, func(i, j int) float64 { return cmplx.Abs(o.convolve(coarse[b], fine[a], step, i, j)) }), 2)
		}
	}
	return out
}

func randomImages(n, size int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n*size)
	for i := range x {
		x[i] = rng.Float32()
	}
	return x
}

func TestAgainstConvolution(t *testing.T) {
	for _, c := range []struct {
		height, width, colours int
		full                   bool
	}{{12, 16, 1, false}, {12, 16, 1, true}, {16, 8, 3, false}} {
		t.Run(fmt.Sprintf("%d×%d×%d full=%v", c.height, c.width, c.colours, c.full), func(t *testing.T) {
			s, err := New(c.height, c.width, c.colours, Options{Full: c.full})
			if err != nil {
				t.Fatal(err)
			}
			image := randomImages(1, s.Inputs(), 3)
			got := make([]float32, s.Dim())
			s.Apply(got, image, 2)
			o := oracle{c.height, c.width, c.height + 8, c.width + 8, c.full}
			at := 0
			for colour := range c.colours {
				one := make([]float32, c.height*c.width)
				for i := range one {
					one[i] = image[i*c.colours+colour]
				}
				for _, want := range o.features(one) {
					if math.Abs(float64(got[at])-want) > 1e-5 {
						t.Fatalf("feature %d is %g, by convolution %g", at, got[at], want)
					}
					at++
				}
			}
			if at != s.Dim() {
				t.Fatalf("%d features, want %d", s.Dim(), at)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct{ side, colours, dim int }{{28, 1, 3969}, {32, 1, 5184}, {32, 3, 15552}} {
		if got, err := Size(c.side, c.side, c.colours); err != nil || got != c.dim {
			t.Errorf("%d: %d features (%v), want %d", c.side, got, err, c.dim)
		}
	}
	for _, bad := range [][3]int{{27, 28, 1}, {4, 8, 1}, {28, 28, 0}, {128, 128, 1}, {0, 0, 1}} {
		if _, err := New(bad[0], bad[1], bad[2], Options{}); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

// A constant has no response but its average, and no direction.
func TestConstantImage(t *testing.T) {
	s, err := New(8, 8, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, got := slices.Repeat([]float32{0.5}, 64), make([]float32, s.Dim())
	s.Apply(got, image, 1)
	for i, v := range got {
		want := 0.0
		if i < s.outputs {
			want = 0.5
		}
		if math.Abs(float64(v)-want) > 1e-5 {
			t.Fatalf("feature %d is %g, want %g", i, v, want)
		}
	}
	zero := make([]float32, s.Dim())
	s.Apply(zero, make([]float32, 64), 1)
	s.Normalize(zero)
	for _, v := range zero {
		if v != 0 {
			t.Fatalf("a black image normalizes to %g", v)
		}
	}
}

func TestNormalizedRowsHaveNormOne(t *testing.T) {
	s, err := New(8, 12, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]float32, 5*s.Dim())
	s.Apply(rows, randomImages(5, s.Inputs(), 4), 2)
	s.Normalize(rows)
	for i := range 5 {
		square := 0.0
		for _, v := range rows[i*s.Dim() : (i+1)*s.Dim()] {
			square += float64(v) * float64(v)
		}
		if !(square <= 1+1e-6 && square > 0.2) { // noise has little variance between places, and 1e-5 counts
			t.Errorf("row %d has norm² %g", i, square)
		}
	}
}

func TestResultDoesNotDependOnWorkersOrCompany(t *testing.T) {
	s, err := New(8, 8, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 2*chunk + 3
	images := randomImages(n, s.Inputs(), 5)
	one, two, alone := make([]float32, n*s.Dim()), make([]float32, n*s.Dim()), make([]float32, s.Dim())
	s.Apply(one, images, 1)
	s.Apply(two, images, 3)
	if !slices.Equal(one, two) {
		t.Error("another number of workers gives other bits")
	}
	s.Apply(alone, images[40*s.Inputs():41*s.Inputs()], 1)
	if !slices.Equal(alone, one[40*s.Dim():41*s.Dim()]) {
		t.Error("an image alone has other features than in company")
	}
	s.Apply(nil, nil, 2)
}

func BenchmarkApply(b *testing.B) {
	for _, full := range []bool{false, true} {
		b.Run(fmt.Sprintf("28×28/full=%v", full), func(b *testing.B) {
			s, err := New(28, 28, 1, Options{Full: full})
			if err != nil {
				b.Fatal(err)
			}
			images := randomImages(256, s.Inputs(), 1)
			dst := make([]float32, 256*s.Dim())
			b.ResetTimer()
			for range b.N {
				s.Apply(dst, images, 2)
			}
			b.ReportMetric(float64(256*b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
