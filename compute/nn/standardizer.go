package nn

import "math"

// leastSquare keeps filters that are constant finite.
const leastSquare = 1e-4

// standardizer computes the weights that a group of filters uses, Ŵ (m×n), from the
// parameters V (m×n): each column, one filter, is brought to mean 0 and about norm 1,
//
//	Ŵ_ij = (V_ij − μ_j)/s_j,    μ_j = Σ_i V_ij/m,    s_j² = Σ_i (V_ij − μ_j)² + 10⁻⁴
//
// (weight standardization, Qiao et al., arXiv:1903.10520; at norm 1 in place of √m, as
// Brock et al., arXiv:2101.08692). What is trained, clipped and noised is V: for an
// example with U = ∂loss/∂Ŵ,
//
//	∂loss/∂V_ij = (U_ij − Σ_k U_kj/m − Ŵ_ij Σ_k U_kj Ŵ_kj)/s_j.
//
// With the parameters given this is one linear map for all examples, and so commutes
// with the sum over them, but not with clipping: it stretches by up to 1/s_j, so that
// an example with ‖U‖ ≤ C may have ‖∂loss/∂V‖ > C. Noise goes on the gradient of V, so
// it is that one whose norm is bounded: core forms U of each example, chains it, takes
// the norm of the result as it was computed and scales that result. The bound then
// holds whatever the map does to its argument; that it is a function of the
// parameters alone keeps examples apart.
type standardizer struct {
	m, n  int
	w     []float32 // Ŵ
	scale []float32 // 1/s
	sums  []float64
	chain func(gradient []float32)
}

func newStandardizer(m, n int) standardizer {
	return standardizer{m: m, n: n, w: make([]float32, m*n), scale: make([]float32, n), sums: make([]float64, 2*n)}
}

// standardized returns the standardizer of group g.
func (s *state) standardized(f *affine, g int) *standardizer {
	if s.standard == nil {
		s.standard = make([]standardizer, f.groups)
		for i := range s.standard {
			s.standard[i] = newStandardizer(f.m, f.n)
			s.standard[i].chain = s.standard[i].back
		}
	}
	return &s.standard[g]
}

// chain is that of group g of a convolution, nil for weights that are the
// parameters.
func (s *state) chain(l *conv2d, g int) func([]float32) {
	if !l.standard {
		return nil
	}
	return s.standardized(&l.affine, g).chain
}

// set computes Ŵ of v and returns it.
func (z *standardizer) set(v []float32) []float32 {
	clear(z.sums)
	mean, square := z.sums[:z.n], z.sums[z.n:]
	for i := 0; i < len(v); i += z.n {
		for j, x := range v[i : i+z.n] {
			mean[j] += float64(x)
		}
	}
	for j := range mean {
		mean[j] /= float64(z.m)
	}
	for i := 0; i < len(v); i += z.n {
		for j, x := range v[i : i+z.n] {
			d := float64(x) - mean[j]
			square[j] += d * d
		}
	}
	for j := range square {
		z.scale[j] = float32(1 / math.Sqrt(square[j]+leastSquare))
	}
	for i := 0; i < len(v); i += z.n {
		w := z.w[i : i+z.n]
		for j, x := range v[i : i+z.n] {
			w[j] = float32(float64(x)-mean[j]) * z.scale[j]
		}
	}
	return z.w
}

// back turns U into the gradient of V. The bias behind U stays.
func (z *standardizer) back(u []float32) {
	u = u[:z.m*z.n]
	clear(z.sums)
	mean, along := z.sums[:z.n], z.sums[z.n:]
	for i := 0; i < len(u); i += z.n {
		w := z.w[i : i+z.n]
		for j, x := range u[i : i+z.n] {
			mean[j] += float64(x)
			along[j] += float64(x) * float64(w[j])
		}
	}
	for j := range mean {
		mean[j] /= float64(z.m)
	}
	for i := 0; i < len(u); i += z.n {
		w, row := z.w[i:i+z.n], u[i:i+z.n]
		for j, x := range row {
			row[j] = float32(float64(x)-mean[j]-float64(w[j])*along[j]) * z.scale[j]
		}
	}
}
