package convex

import (
	"context"
	"math"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/noise"
	"pawl/data/encode"
)

// replay draws the two noises of a fit again: b and the finishing noise.
func replay(from streams, cal calibration, dim int) (b, finishing []float64) {
	b, finishing = make([]float64, dim), make([]float64, dim)
	noise.L2Laplace(from.objective, b, cal.scale)
	noise.L2Laplace(from.finishing, finishing, cal.finishing*certificate)
	return b, finishing
}

// world is a data set of identical rows x = 1, y = 1 with one coordinate, where the
// law of the minimiser is known in closed form.
type world struct {
	rows   int
	solver *fitter
}

func newWorld(t testing.TB, rows int) world {
	s := testSchema(max(rows, 1))
	enc := mustEncoding(t, s, encode.Options{InterceptOnly: true})
	var cells []float64
	for range rows {
		cells = append(cells, 0, 0, 0, 1)
	}
	_, m := mustOpen(t, s, cells, enc)
	return world{rows, fitterOf(m)}
}

func (v world) draw(t testing.TB, cal calibration, from streams) float64 {
	w, err := cal.fit(context.Background(), v.solver, nil, 1, from)
	if err != nil {
		t.Fatal(err)
	}
	return w[0]
}

// below is P(w* <= t): b_D falls in w, so w* <= t exactly when b >= b_D(t), and b is
// Laplace in one dimension.
func (v world) below(t float64, cal calibration) float64 {
	u := float64(v.rows)*(1-1/(1+math.Exp(-t))) - cal.regularization*t
	if u >= 0 {
		return 0.5 * math.Exp(-u/cal.scale)
	}
	return 1 - 0.5*math.Exp(u/cal.scale)
}

// Null: the output follows the law of the theorem (the finishing noise is 1e-4 wide,
// far below resolution). n = 5000 draws, statistic: the largest distance of the
// distribution functions; by the inequality of Dvoretzky, Kiefer, Wolfowitz and
// Massart it exceeds sqrt(ln(2/1e-6)/2n) = 0.0381 with probability at most 1e-6.
// Convicts noise off (distance 0.5), halved (0.125), doubled (0.125) and a forgotten
// number of rows per unit.
func TestMinimiserHasTheLawOfTheTheorem(t *testing.T) {
	const n = 5000
	limit := math.Sqrt(math.Log(2/1e-6) / (2 * n))
	for _, tc := range []struct {
		name    string
		rows, k int
		mutant  func(c *calibration)
		sound   bool
	}{
		{"empty data", 0, 1, func(*calibration) {}, true},
		{"one row", 1, 1, func(*calibration) {}, true},
		{"a unit of three rows", 3, 3, func(*calibration) {}, true},
		{"noise off", 1, 1, func(c *calibration) { c.scale = 1e-9 }, false},
		{"noise halved", 1, 1, func(c *calibration) { c.scale /= 2 }, false},
		{"noise doubled", 1, 1, func(c *calibration) { c.scale *= 2 }, false},
		{"rows per unit forgotten", 3, 3, func(c *calibration) { c.scale /= 3 }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Objective{Epsilon: 2, Regularization: float64(tc.k), ResidualCap: 1}
			claimed, err := o.calibrate(dp.AddOrRemoveOne, tc.k)
			if err != nil {
				t.Fatal(err)
			}
			used := claimed
			tc.mutant(&used)
			v := newWorld(t, tc.rows)
			from := streamsOf(entropy.Seeded(11))
			draws := make([]float64, n)
			for i := range draws {
				draws[i] = v.draw(t, used, from)
			}
			sort.Float64s(draws)
			distance := 0.0
			for i, x := range draws {
				p := v.below(x, claimed)
				distance = max(distance, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
			}
			if convicted := distance > limit; convicted == tc.sound {
				t.Errorf("distance %.4f, limit %.4f", distance, limit)
			}
		})
	}
}

// Two neighbouring worlds, without and with one unit. Null: P(S) <= e^ε·P'(S) for the
// events S = {w <= t} in both directions and their complements. Given m outputs in S
// over both worlds, those of the first are then at most Binomial(m, e^ε/(1+e^ε));
// convicted beyond 4.8916 standard deviations, which at m > 1000 is a false alarm of
// about 1e-6 for each of 12 comparisons. Convicts noise off, halved, and a forgotten
// factor for rows per unit.
func TestNeighbouringWorldsCannotBeToldApart(t *testing.T) {
	const epsilon = 2
	for _, tc := range []struct {
		name   string
		k      int
		factor float64
		n      float64 // draws per world
		sound  bool
	}{
		{"one row", 1, 1, 10000, true},
		{"a unit of three rows", 3, 1, 10000, true},
		{"noise off", 1, 1e-6, 2000, false},
		{"half the noise", 1, 1. / 2, 60000, false},
		{"rows per unit forgotten", 3, 1. / 3, 30000, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Objective{Epsilon: epsilon, Regularization: float64(tc.k), ResidualCap: 1}
			cal, err := o.calibrate(dp.AddOrRemoveOne, tc.k)
			if err != nil {
				t.Fatal(err)
			}
			cal.scale *= tc.factor
			// 0.2 lies between the two noiseless minimisers, 0 and about 0.4.
			thresholds := [3]float64{-0.75, -0.5, 0.2}
			var count [2][3]float64
			for i, rows := range []int{0, tc.k} {
				v := newWorld(t, rows)
				from := streamsOf(entropy.Seeded(13).Split("world", uint64(i)))
				for range int(tc.n) {
					x := v.draw(t, cal, from)
					for j, threshold := range thresholds {
						if x <= threshold {
							count[i][j]++
						}
					}
				}
			}
			share := math.Exp(epsilon) / (1 + math.Exp(epsilon))
			convicted := false
			for j := range thresholds {
				for _, pair := range [4][2]float64{
					{count[0][j], count[1][j]}, {count[1][j], count[0][j]},
					{tc.n - count[0][j], tc.n - count[1][j]}, {tc.n - count[1][j], tc.n - count[0][j]},
				} {
					m := pair[0] + pair[1]
					if m > 1000 && (pair[0]-m*share)/math.Sqrt(m*share*(1-share)) > 4.8916 {
						convicted = true
					}
				}
			}
			if convicted == tc.sound {
				t.Errorf("counts %v", count)
			}
		})
	}
}

// What leaves minus the exact minimiser must be the finishing noise: ‖·‖/scale is
// Gamma(d) with mean d and variance d, up to the solver's own 1 % of it. Null: mean
// of n = 4000 norms within 4.8916 standard errors and 1 %; false alarm 1e-6. Convicts
// a finishing noise that is missing, halved or for another γ.
func TestFinishingNoiseIsThere(t *testing.T) {
	const n, d = 4000, 6
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	if enc.Dim != d {
		t.Fatalf("dimension %d", enc.Dim)
	}
	cells := []float64{0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1}
	view, m := mustOpen(t, s, cells, enc)
	o := Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1}
	claimed, err := o.calibrate(dp.AddOrRemoveOne, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		factor float64
		sound  bool
	}{{"sound", 1, true}, {"missing", 1e-9, false}, {"halved", 0.5, false}, {"doubled", 2, false}} {
		t.Run(tc.name, func(t *testing.T) {
			used := claimed
			used.finishing *= tc.factor
			solver := fitterOf(m)
			src := entropy.Seeded(17)
			sum := 0.0
			for i := range n {
				w, err := used.fit(context.Background(), solver, nil, 1, streamsOf(src.Split("fit", uint64(i))))
				if err != nil {
					t.Fatal(err)
				}
				b, _ := replay(streamsOf(src.Split("fit", uint64(i))), claimed, d)
				exact := append([]float64(nil), solver.solver.Weights...)
				for range 3 { // dense Newton steps from the certified point
					have, h := dense(view, enc, 1, used.regularization, exact)
					axpy(-1, b, have) // −∇J
					var factor mat.Cholesky
					if !factor.Factorize(h) {
						t.Fatal("Hessian")
					}
					step := mat.NewVecDense(d, have)
					if err := factor.SolveVecTo(step, step); err != nil {
						t.Fatal(err)
					}
					axpy(1, have, exact)
				}
				axpy(-1, w, exact)
				sum += norm(exact) / (claimed.finishing * certificate)
			}
			miss := math.Abs(sum/n - d)
			if convicted := miss > 4.8916*math.Sqrt(d/float64(n))+0.01*d; convicted == tc.sound {
				t.Errorf("mean norm %g scales, want %d", sum/n, d)
			}
		})
	}
}
