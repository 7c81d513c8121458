package images

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"pawl/compute/kernel"
)

// Components are the principal components of a set of images: image x becomes
// Vectorsᵀ·(x − Mean). They are fitted on the images without noise, so what is made of
// them has no guarantee.
type Components struct {
	// Mean has Size() numbers; Vectors is Size()×Count, row by row, columns of norm 1
	// by falling variance, each with its largest entry above 0.
	Mean, Vectors []float32
	Count         int
	// Variances are those of the components.
	Variances []float64
}

// componentRows are multiplied at once: products of bytes are whole numbers below
// 255², so sums of 256 of them are exact in float32 and the covariance in float64.
const componentRows = 256

// PrincipalComponents returns the first count components, by the eigenvectors of the
// covariance (divided by the number of images, pixels in [0, 1]). It takes
// Size()²·Len() and 9·Size()³ operations: seconds for 28×28 pixels, minutes for
// 32×32×3.
func PrincipalComponents(s *Set, count int) (*Components, error) {
	d, n := s.Size(), s.Len()
	switch {
	case count < 1 || count > d:
		return nil, fmt.Errorf("%d components of images of %d numbers", count, d)
	case n < 2:
		return nil, errors.New("components need at least two images")
	}
	block, product := make([]float32, componentRows*d), make([]float32, d*d)
	sums, squares := make([]float64, d), make([]float64, d*d)
	unit := 1.0
	if s.Bytes != nil {
		unit = 255
	}
	for lo := 0; lo < n; lo += componentRows {
		rows := min(componentRows, n-lo)
		x := block[:rows*d]
		if s.Bytes != nil {
			for i, b := range s.Bytes[lo*d : (lo+rows)*d] {
				x[i] = float32(b)
			}
		} else {
			copy(x, s.Floats[lo*d:(lo+rows)*d])
		}
		for i, v := range x {
			sums[i%d] += float64(v)
		}
		m := kernel.Dense(x, rows, d)
		kernel.MatMul(kernel.Dense(product, d, d), m.T(), m, false)
		for i, v := range product {
			squares[i] += float64(v)
		}
	}
	c := &Components{Mean: make([]float32, d), Vectors: make([]float32, d*count), Count: count}
	for i := range d {
		c.Mean[i] = float32(sums[i] / float64(n) / unit)
		for j := range i + 1 {
			v := (squares[i*d+j] - sums[i]*sums[j]/float64(n)) / float64(n) / (unit * unit)
			squares[i*d+j], squares[j*d+i] = v, v
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, squares), true) {
		return nil, errors.New("the eigenvectors of the covariance were not found")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
	for k := range count {
		column, top := d-1-k, 0.0
		for i := range d {
			if v := vectors.At(i, column); math.Abs(v) > math.Abs(top) {
				top = v
			}
		}
		for i := range d {
			c.Vectors[i*count+k] = float32(math.Copysign(1, top) * vectors.At(i, column))
		}
		c.Variances = append(c.Variances, max(values[column], 0))
	}
	return c, nil
}
