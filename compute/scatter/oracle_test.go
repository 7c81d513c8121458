package scatter

import (
	"math"
	"math/cmplx"
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
	at := make([]float64, o.rows*o.cols)
	for i := 0; i < o.rows; i += step {
		for j := 0; j < o.cols; j += step {
			at[i*o.cols+j] = f(i, j)
		}
	}
	return func(i, j int) float64 { return at[i*o.cols+j] }
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
	x = o.kept(1, x)
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
