package attack

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Logistic is a logistic regression on standardised features.
type Logistic struct {
	scale   scaler
	weights []float64 // the last is the constant
}

// TrainLogistic fits
//
//	min Σ_i ln(1 + exp(−y_i·(w·x_i + b))) + ‖w‖²/(2·c),   y_i = ±1,
//
// by Newton's method with halved steps; the constant b is not regularised. c <= 0 means 1,
// as in scikit-learn. Errors: rows without both kinds, features that are not finite,
// ErrNotConverged after 100 steps.
func TrainLogistic(rows [][]float64, member []bool, c float64) (*Logistic, error) {
	if err := checkTraining(rows, member); err != nil {
		return nil, err
	}
	if !(c > 0) {
		c = 1
	}
	l := &Logistic{scale: newScaler(rows)}
	d := len(rows[0]) + 1
	x := make([][]float64, len(rows))
	for i, r := range rows {
		x[i] = append(l.scale.scale(r), 1)
	}
	w := make([]float64, d)
	loss := logisticLoss(x, member, w, c)
	for range 100 {
		gradient := mat.NewVecDense(d, nil)
		hessian := mat.NewSymDense(d, nil)
		for j := range d - 1 {
			gradient.SetVec(j, w[j]/c)
			hessian.SetSym(j, j, 1/c)
		}
		for i, v := range x {
			p := sigmoid(dot(w, v))
			r := p
			if member[i] {
				r--
			}
			at := mat.NewVecDense(d, v)
			gradient.AddScaledVec(gradient, r, at)
			hessian.SymRankOne(hessian, p*(1-p), at)
		}
		// The constant has no regularization; its curvature vanishes where all are sure.
		hessian.SetSym(d-1, d-1, hessian.At(d-1, d-1)+1e-9)
		var chol mat.Cholesky
		step := mat.NewVecDense(d, nil)
		if !chol.Factorize(hessian) || chol.SolveVecTo(step, gradient) != nil {
			return nil, ErrNotConverged
		}
		decrement := mat.Dot(gradient, step)
		if decrement < 1e-10*(1+loss) {
			l.weights = w
			return l, nil
		}
		next, smaller := make([]float64, d), false
		for size := 1.0; size > 1e-8; size /= 2 {
			for j := range next {
				next[j] = w[j] - size*step.AtVec(j)
			}
			if v := logisticLoss(x, member, next, c); v <= loss-1e-4*size*decrement {
				w, loss, smaller = next, v, true
				break
			}
		}
		if !smaller {
			return nil, ErrNotConverged
		}
	}
	return nil, ErrNotConverged
}

func logisticLoss(x [][]float64, member []bool, w []float64, c float64) float64 {
	sum := 0.0
	for _, v := range w[:len(w)-1] {
		sum += v * v / (2 * c)
	}
	for i, v := range x {
		z := dot(w, v)
		if member[i] {
			z = -z
		}
		sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum
}

// Score is the log odds of membership.
func (l *Logistic) Score(x []float64) float64 {
	z := l.scale.scale(x)
	return dot(l.weights[:len(z)], z) + l.weights[len(z)]
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
