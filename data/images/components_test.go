package images

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Images that vary along two known directions have them as components.
func TestPrincipalComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &Set{Shape: [3]int{2, 2, 1}}
	for range 1000 {
		a, b := 3*rng.NormFloat64(), rng.NormFloat64()
		for _, v := range []float64{a + 1, a, b, -b} {
			s.Floats = append(s.Floats, float32(v))
		}
	}
	c, err := PrincipalComponents(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	half := math.Sqrt(0.5)
	for i, want := range []float64{half, 0, half, 0, 0, half, 0, -half} {
		got := float64(c.Vectors[i])
		if i%2 == 1 {
			got, want = math.Abs(got), math.Abs(want) // the largest entry is a tie
		}
		if math.Abs(got-want) > 0.05 {
			t.Errorf("entry %d is %g, want %g", i, got, want)
		}
	}
	if math.Abs(c.Variances[0]/18-1) > 0.2 || math.Abs(c.Variances[1]/2-1) > 0.2 {
		t.Errorf("variances %v, want about 18 and 2", c.Variances)
	}
}

// On bytes the covariance is exact: the components reproduce it.
func TestPrincipalComponentsOfBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const d, n = 12, 700
	s := &Set{Shape: [3]int{3, 4, 1}}
	for range n * d {
		s.Bytes = append(s.Bytes, uint8(rng.IntN(256)))
	}
	c, err := PrincipalComponents(s, d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for j := range d {
			var want, mi, mj, got float64
			for r := range n {
				mi += float64(s.Bytes[r*d+i]) / 255 / n
				mj += float64(s.Bytes[r*d+j]) / 255 / n
			}
			for r := range n {
				want += (float64(s.Bytes[r*d+i])/255 - mi) * (float64(s.Bytes[r*d+j])/255 - mj) / n
			}
			for k, v := range c.Variances {
				got += v * float64(c.Vectors[i*d+k]) * float64(c.Vectors[j*d+k])
			}
			if math.Abs(got-want) > 1e-7 {
				t.Fatalf("entry %d, %d: %g, want %g", i, j, got, want)
			}
		}
	}
	for _, k := range []int{0, d + 1} {
		if _, err := PrincipalComponents(s, k); err == nil {
			t.Errorf("%d components are given", k)
		}
	}
}
