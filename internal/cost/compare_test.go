package cost

import (
	"math"
	"testing"

	"pawl/core/accountant"
)

// One step with k rows of a user in the sample by binomial chance has a hockey stick
// that an integral gives. The user's cost must not be below it.
func TestUserCostIsABound(t *testing.T) {
	t.Parallel()
	density := func(x, mean, sigma float64) float64 {
		z := (x - mean) / sigma
		return math.Exp(-z*z/2) / sigma / math.Sqrt(2*math.Pi)
	}
	for _, c := range []struct {
		rate, sigma float64
		k           int64
	}{{0.01, 1, 2}, {0.1, 1, 3}, {0.3, 2, 5}, {0.02, 4, 10}, {0.9, 3, 2}} {
		weight, choose := make([]float64, c.k+1), 1.0
		for j := range c.k + 1 {
			weight[j] = choose * math.Pow(c.rate, float64(j)) * math.Pow(1-c.rate, float64(c.k-j))
			choose *= float64(c.k-j) / float64(j+1)
		}
		for _, epsilon := range []float64{0, 0.1, 0.5, 2} {
			removed, added := 0.0, 0.0
			const step = 0.01
			for x := -12 * c.sigma; x < float64(c.k)+12*c.sigma; x += step {
				p, q := 0.0, density(x, 0, c.sigma)
				for j, w := range weight {
					p += w * density(x, float64(j), c.sigma)
				}
				removed += step * math.Max(0, p-math.Exp(epsilon)*q)
				added += step * math.Max(0, q-math.Exp(epsilon)*p)
			}
			u := userCost(Training{SamplingRate: c.rate, NoiseMultiplier: c.sigma, Steps: 1}, c.k, accountant.MethodMin, "user")
			r, err := u.Delta(epsilon)
			if exact := math.Max(removed, added); err != nil || r.Delta < exact*(1-1e-4)-1e-9 {
				t.Errorf("%+v, epsilon %v: delta %v is below the exact %v (%v)", c, epsilon, r.Delta, exact, err)
			}
		}
	}
}
