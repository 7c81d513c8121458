package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// noisy is Σ λ_k u_k u_kᵀ for the first unit vectors u_k, with noise of deviation s on
// the diagonal and s/√2 off it.
func noisy(d int, values []float64, s float64, seed uint64) Moments {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := Moments{Features: d, Matrix: make([]float64, d*d), StdDev: s}
	for i := range d {
		if i < len(values) {
			m.Matrix[i*d+i] = values[i]
		}
		m.Matrix[i*d+i] += s * rng.NormFloat64()
		for j := range i {
			v := s / math.Sqrt2 * rng.NormFloat64()
			m.Matrix[i*d+j], m.Matrix[j*d+i] = v, v
		}
	}
	return m
}

// Against gonum's decomposition of the whole matrix; more and fewer components than
// the process has steps, and eigenvalues of high multiplicity.
func TestPrincipalComponentsMatchDecomposition(t *testing.T) {
	for name, c := range map[string]struct {
		moments Moments
		count   int
	}{
		"all":        {noisy(30, []float64{900, 500, 100}, 0.01, 1), 3},
		"some":       {noisy(400, []float64{9000, 5000, 1000, 999, 700}, 3, 2), 5},
		"equal":      {Moments{Features: 4, Matrix: []float64{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}}, 3},
		"one number": {Moments{Features: 1, Matrix: []float64{5}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.moments.Features
			got, err := PrincipalComponents(c.moments, c.count)
			if err != nil || got.Kept != c.count {
				t.Fatalf("%d of %d kept, %v", got.Kept, c.count, err)
			}
			var eigen mat.EigenSym
			eigen.Factorize(mat.NewSymDense(d, c.moments.Matrix), true)
			values := eigen.Values(nil)
			for k := range c.count {
				if want := values[d-1-k]; math.Abs(got.Values[k]-want) > 1e-9*values[d-1] {
					t.Errorf("eigenvalue %d is %g, want %g", k, got.Values[k], want)
				}
				// M·v = λ·v for the float32 columns.
				residual := 0.0
				for i := range d {
					sum := -got.Values[k] * float64(got.Vectors[i*c.count+k])
					for j := range d {
						sum += c.moments.Matrix[i*d+j] * float64(got.Vectors[j*c.count+k])
					}
					residual = math.Hypot(residual, sum)
				}
				if residual > 1e-5*values[d-1] {
					t.Errorf("vector %d is off by %g", k, residual)
				}
			}
		})
	}
}

// Null: noise alone. In 300 matrices the largest eigenvalue passes SpectralNoise in
// about 1 of 100; more than 15 has a chance below 1e-6 at a rate of 0.01. A test
// without the factor for finite m fails: the edge itself is passed in one of six.
func TestNoiseAloneKeepsNothing(t *testing.T) {
	kept, edge := 0, 0
	for seed := range 300 {
		m := noisy(60, nil, 2, uint64(seed))
		c, err := PrincipalComponents(m, 3)
		if err != nil {
			t.Fatal(err)
		}
		if c.Kept > 0 {
			kept++
		} else {
			for _, v := range c.Vectors {
				if v != 0 {
					t.Fatal("a component that was left out is not zero")
				}
			}
		}
		if values, _, _ := largest(m.Matrix, 60, 1); values[0] > 2*math.Sqrt(120) {
			edge++
		}
	}
	if kept > 15 || edge < 30 {
		t.Errorf("noise kept %d of 300 times and passed the bare edge %d times", kept, edge)
	}
}

// A direction shows from half the edge on: at twice the edge it is kept and keeps
// 1 − 1/16 of its square, at a quarter it is lost.
func TestComponentsStandOut(t *testing.T) {
	const d, s = 300, 1.0
	edge := SpectralNoise(d, s)
	m := noisy(d, []float64{2 * edge, edge / 4}, s, 5)
	c, err := PrincipalComponents(m, 4)
	if err != nil || c.Kept != 1 {
		t.Fatalf("kept %d, %v; want the first", c.Kept, err)
	}
	if overlap := float64(c.Vectors[0]) * float64(c.Vectors[0]); math.Abs(overlap-15.0/16) > 0.03 {
		t.Errorf("the direction keeps %g of its square, want about 15/16", overlap)
	}
	if want := 2*edge + edge/8; math.Abs(c.Values[0]-want) > 0.1*edge {
		t.Errorf("it shows at %g, want about %g", c.Values[0], want)
	}
}

func TestPrincipalComponentsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		m     Moments
		count int
	}{
		"none":       {Moments{Features: 1, Matrix: []float64{1}}, 0},
		"too many":   {Moments{Features: 1, Matrix: []float64{1}}, 2},
		"short":      {Moments{Features: 2, Matrix: []float64{1}}, 1},
		"not finite": {Moments{Features: 1, Matrix: []float64{math.NaN()}}, 1},
		"infinite":   {Moments{Features: 1, Matrix: []float64{math.Inf(1)}}, 1},
	} {
		if _, err := PrincipalComponents(c.m, c.count); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// SVHN's 42,000 rows and 1,024 numbers at a multiplier of 10: tens of components, not
// 300.
func TestMostComponents(t *testing.T) {
	most := MostComponents(42000, 1, SpectralNoise(1024, 10))
	if most < 60 || most > 100 {
		t.Errorf("%g components", most)
	}
	if !math.IsInf(MostComponents(10, 1, 0), 1) {
		t.Error("without noise there is no bound")
	}
}
