package feature

import (
	"context"
	"fmt"
)

// Greedy adds the column that makes the merit largest, one at a time ([B] Alg. 3); ties
// go to the lowest index. With Auto it stops when no column raises the merit.
type Greedy struct {
	At      Level // AttributeLevel where empty
	Options MatrixOptions
}

func (Greedy) Name() string   { return "cfs-greedy" }
func (g Greedy) Level() Level { return orAttribute(g.At) }
func (Greedy) Need() Need     { return NeedPairTables }

func orAttribute(l Level) Level {
	if l == "" {
		return AttributeLevel
	}
	return l
}

// Select computes the matrix and runs Matrix.Greedy.
func (g Greedy) Select(ctx context.Context, s *Statistics, k int) (*Selection, error) {
	m, err := s.pairs(ctx, g.Level(), g.Options, k)
	if err != nil {
		return nil, err
	}
	out, err := m.Greedy(k)
	if err != nil {
		return nil, err
	}
	out.Level = g.Level()
	return out, nil
}

// pairs checks k before the work and returns a matrix with pairs.
func (s *Statistics) pairs(ctx context.Context, l Level, o MatrixOptions, k int) (*Matrix, error) {
	if err := s.ready(NeedPairTables, l, k, true); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Matrix(l, o)
}

// Greedy is the search on a given matrix. The sums of a set with one column more follow
// from those without it, so a round takes as many steps as there are columns.
func (m *Matrix) Greedy(k int) (*Selection, error) {
	if err := checkCount(k, len(m.Columns), true); err != nil {
		return nil, err
	}
	if !m.HasPairs() {
		return nil, fmt.Errorf("%w: %s", ErrMissing, NeedPairTables)
	}
	size := len(m.Columns)
	taken := make([]bool, size)
	overlap := make([]float64, size) // with all chosen so far
	relevance, redundancy := 0.0, 0.0
	out := &Selection{Selector: Greedy{}.Name(), Level: ColumnLevel}
	for chosen := 0; chosen < size && (k == Auto || chosen < k); chosen++ {
		best, merit := -1, 0.0
		for i := range size {
			if taken[i] {
				continue
			}
			if x := ratio(relevance+m.Label[i], redundancy+overlap[i], chosen+1); best < 0 || x > merit {
				best, merit = i, x
			}
		}
		if k == Auto && !(merit > out.Merit) {
			break
		}
		reason := fmt.Sprintf("merit %.4g with it, %.4g without; uncertainty %.4g with the label", merit, out.Merit, m.Label[best])
		if chosen > 0 {
			reason += fmt.Sprintf(", %.4g with the chosen on average", overlap[best]/float64(chosen))
		}
		out.Chosen = append(out.Chosen, Choice{best, m.Columns[best], m.Label[best], reason})
		out.Merit = merit
		taken[best] = true
		relevance += m.Label[best]
		redundancy += overlap[best]
		for i, suc := range m.pair[best*size : (best+1)*size] {
			overlap[i] += suc
		}
	}
	if len(out.Chosen) == 0 {
		out.Note = "no feature carries information about the label"
	}
	return out, nil
}
