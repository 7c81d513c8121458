package runners

import (
	"math"
	"math/rand/v2"

	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
)

// sums are sums and sums of squares of features by class.
type sums struct {
	count         []float64
	first, second [][]float64
}

func (s *reduced) sums(rows [][]float64) sums {
	out := sums{count: make([]float64, len(s.classes))}
	for range s.classes {
		out.first, out.second = append(out.first, make([]float64, len(rows[0]))), append(out.second, make([]float64, len(rows[0])))
	}
	for i, x := range rows {
		k := s.labels[i]
		out.count[k]++
		for j, v := range x {
			out.first[k][j] += v
			out.second[k][j] += v * v
		}
	}
	return out
}

// rank orders the features on raw rows, by the distance between class means and by the
// t-statistic, each summed over pairs of classes.
func (s *reduced) rank() {
	m := s.sums(s.train)
	distance, student := make([]float64, len(m.first[0])), make([]float64, len(m.first[0]))
	for a := range m.count {
		for b := range a {
			for j := range distance {
				d := math.Abs(m.first[a][j]/m.count[a] - m.first[b][j]/m.count[b])
				distance[j] += d
				student[j] += d / math.Sqrt(m.variance(a, j)/m.count[a]+m.variance(b, j)/m.count[b])
			}
		}
	}
	s.distance, s.student = formulas.Descending(distance), formulas.Descending(student)
}

func (m sums) variance(k, j int) float64 {
	mean := m.first[k][j] / m.count[k]
	return (m.second[k][j] - m.count[k]*mean*mean) / (m.count[k] - 1)
}

// rankPrivately keeps the best features by distance of noisy class sums. Adding or
// removing one image changes one sum by the norm at most; the divisor is the public
// number of rows over the number of classes.
func (s *reduced) rankPrivately(b formulas.Budget, seed uint64) ([]int, error) {
	multiplier, err := b.AnalyticNoiseMultiplier()
	if err != nil {
		return nil, err
	}
	m := s.sums(dfs.Clip([2][][]float64{s.train, nil}, s.norm)[0])
	rng := rand.New(rand.NewPCG(seed, 2))
	share := float64(len(s.train)) / float64(len(s.classes))
	for k := range m.first {
		for j := range m.first[k] {
			m.first[k][j] = (m.first[k][j] + s.norm*multiplier*rng.NormFloat64()) / share
		}
	}
	distance := make([]float64, len(m.first[0]))
	for a := range m.first {
		for b := range a {
			for j := range distance {
				distance[j] += math.Abs(m.first[a][j] - m.first[b][j])
			}
		}
	}
	return formulas.Descending(distance)[:kept], nil
}
