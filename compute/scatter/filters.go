package scatter

import (
	"math"
	"math/cmplx"
)

// Angles is L, the number of orientations of each scale.
const Angles = 8

// scales is J: waves of two scales, and averages over squares of 2^J = 4 pixels.
const scales = 2

// stride is how far apart the outputs are.
const stride = 1 << scales

// filter is a function on a periodic grid of n×m points, row-major, its origin first.
type filter struct {
	rows, cols int
	values     []complex128
}

// gabor is a plane wave under a Gaussian,
//
//	exp(−uᵀ R diag(1, slant²) Rᵀ u / 2σ²  +  i ξ·(u₁cos θ + u₂sin θ)) · slant/(2πσ²)
//
// summed over the periods of the grid; u₁ counts rows. The constants are those of
// public scattering programs (Bruna and Mallat, IEEE TPAMI 2013).
func gabor(rows, cols int, sigma, theta, xi, slant float64) filter {
	f := filter{rows, cols, make([]complex128, rows*cols)}
	sin, cos := math.Sincos(theta)
	a := (cos*cos + sin*sin*slant*slant) / (2 * sigma * sigma)
	b := sin * cos * (1 - slant*slant) / (2 * sigma * sigma)
	d := (sin*sin + cos*cos*slant*slant) / (2 * sigma * sigma)
	scale := slant / (2 * math.Pi * sigma * sigma)
	const periods = 2 // on each side; beyond, less than 1e-30 is left
	for i := -periods * rows; i < (periods+1)*rows; i++ {
		at := (i + periods*rows) % rows * cols
		u := float64(i)
		for j := -periods * cols; j < (periods+1)*cols; j++ {
			v := float64(j)
			f.values[at+(j+periods*cols)%cols] += cmplx.Rect(scale*math.Exp(-(a*u*u+2*b*u*v+d*v*v)), xi*(u*cos+v*sin))
		}
	}
	return f
}

// morlet is the wave of a scale and an orientation: a gabor with a multiple of its
// envelope taken off, so that its values add up to 0 and a constant has no response.
func morlet(rows, cols, scale, angle int) filter {
	sigma := 0.8 * float64(int(1)<<scale)
	xi := 3 * math.Pi / 4 / float64(int(1)<<scale)
	theta := float64(Angles-Angles/2-1-angle) * math.Pi / Angles
	const slant = 4.0 / Angles
	wave, envelope := gabor(rows, cols, sigma, theta, xi, slant), gabor(rows, cols, sigma, theta, 0, slant)
	share := wave.sum() / envelope.sum()
	for i := range wave.values {
		wave.values[i] -= share * envelope.values[i]
	}
	return wave
}

// average is the low-pass filter.
func average(rows, cols int) filter {
	return gabor(rows, cols, 0.8*float64(int(1)<<(scales-1)), 0, 0, 1)
}

// entry is a number of a filter as it is multiplied: 0 below 1e-30. Products of such numbers with pixels are too small
// for float32's normal form, on which some processors spend a hundred times as long, and no feature of an image
// has a bit of them.
func entry(v float64) float32 {
	if math.Abs(v) < 1e-30 {
		return 0
	}
	return float32(v)
}

func (f filter) sum() complex128 {
	s := complex(0, 0)
	for _, v := range f.values {
		s += v
	}
	return s
}

// at is the value at a point of the plane.
func (f filter) at(i, j int) complex128 {
	i, j = ((i%f.rows)+f.rows)%f.rows, ((j%f.cols)+f.cols)%f.cols
	return f.values[i*f.cols+j]
}
