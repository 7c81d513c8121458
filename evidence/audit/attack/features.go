package attack

import (
	"math"
	"slices"
)

// Feature says what an attack model sees of a posterior.
type Feature string

const (
	// Vector is the posterior as it is, and the class as so many zeros and a one. It is
	// for the SVM: a linear score of it cannot tell which probability is that of the class.
	Vector Feature = "vector"
	// Sorted is the posterior in descending order, which needs no attack model for each
	// class (Salem et al., arXiv:1806.01246).
	Sorted Feature = "sorted"
	// TrueClass is the logit of the true class alone.
	TrueClass Feature = "true_class"
)

// Features returns one row for each record.
func (p Posteriors) Features(f Feature) ([][]float64, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	rows := make([][]float64, len(p.Label))
	for i, y := range p.Label {
		post := p.row(i)
		switch f {
		case Vector:
			rows[i] = append(slices.Clone(post), make([]float64, p.Classes)...)
			rows[i][p.Classes+y] = 1
		case Sorted:
			rows[i] = slices.Clone(post)
			slices.SortFunc(rows[i], func(a, b float64) int {
				switch {
				case a > b:
					return -1
				case a < b:
					return 1
				}
				return 0
			})
		case TrueClass:
			rows[i] = []float64{Logit.of(post, y)}
		default:
			return nil, invalid("no feature %q", f)
		}
	}
	return rows, nil
}

// Model scores a row of features; larger means member.
type Model interface{ Score(x []float64) float64 }

// ScoreAll scores rows.
func ScoreAll(m Model, rows [][]float64) []float64 {
	scores := make([]float64, len(rows))
	for i, x := range rows {
		scores[i] = m.Score(x)
	}
	return scores
}

// scaler brings features to mean 0 and variance 1 on the rows that it was made of, which
// are those of the shadows: the target's rows must not enter their own attack.
type scaler struct{ mean, inverse []float64 }

func newScaler(rows [][]float64) scaler {
	d := len(rows[0])
	s := scaler{make([]float64, d), make([]float64, d)}
	n := float64(len(rows))
	for j := range d {
		for _, x := range rows {
			s.mean[j] += x[j] / n
		}
		variance := 0.0
		for _, x := range rows {
			variance += (x[j] - s.mean[j]) * (x[j] - s.mean[j]) / n
		}
		if variance > 1e-24 { // else the feature is constant and says nothing
			s.inverse[j] = 1 / math.Sqrt(variance)
		}
	}
	return s
}

func (s scaler) scale(x []float64) []float64 {
	out := make([]float64, len(x))
	for j, v := range x {
		out[j] = (v - s.mean[j]) * s.inverse[j]
	}
	return out
}

// checkTraining refuses what no attack model can be trained on.
func checkTraining(rows [][]float64, member []bool) error {
	if len(rows) != len(member) || len(rows) == 0 {
		return invalid("%d rows and %d memberships", len(rows), len(member))
	}
	in := 0
	for i, x := range rows {
		if len(x) != len(rows[0]) || len(x) == 0 {
			return invalid("rows of %d and %d features", len(rows[0]), len(x))
		}
		if slices.ContainsFunc(x, notFinite) {
			return invalid("row %d: a feature is not a finite number", i)
		}
		if member[i] {
			in++
		}
	}
	if in == 0 || in == len(rows) {
		return invalid("%d of %d rows are members: an attack model learns from both", in, len(rows))
	}
	return nil
}
