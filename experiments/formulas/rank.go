package formulas

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/evidence/theory"
)

// Ranking orders features, the most useful first.
type Ranking string

const (
	// Distance is |x̄_1j − x̄_2j|, [D] Definition 7: its mean does not change when noise
	// is added to rows.
	Distance Ranking = "distance"
	// TStatistic is |x̄_1j − x̄_2j| / √(S²_1j/n_1 + S²_2j/n_2).
	TStatistic Ranking = "t-statistic"
	// InOrder takes features as they come: no selection.
	InOrder Ranking = "in-order"
)

// order returns all features in the order of the ranking on rows x + s·z. Ties go to
// the lower index; a feature without spread has t = +Inf if its means differ, else 0.
func (m *moments) order(r Ranking, s float64) ([]int, error) {
	all := Identity(len(m.mean[0]))
	if r == InOrder {
		return all, nil
	}
	if r != Distance && r != TStatistic {
		return nil, fmt.Errorf("%w: unknown ranking %q", theory.ErrInput, string(r))
	}
	scores := make([]float64, len(all))
	for j := range scores {
		scores[j] = m.score(r, j, s)
	}
	return Descending(scores), nil
}

// Descending are the indices of the scores, the highest first and equals in their order.
func Descending(scores []float64) []int {
	order := Identity(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

func (m *moments) score(r Ranking, j int, s float64) float64 {
	mean0, var0 := m.at(0, j, s)
	mean1, var1 := m.at(1, j, s)
	distance := math.Abs(mean0 - mean1)
	if r == Distance || distance == 0 {
		return distance
	}
	return distance / math.Sqrt((var0+var1)/float64(m.count))
}

// RankFeatures orders the features of rows (two classes of one size).
func RankFeatures(r Ranking, rows [2][][]float64) ([]int, error) {
	m, err := momentsOf(rows, [2][][]float64{})
	if err != nil {
		return nil, err
	}
	return m.order(r, 0)
}
