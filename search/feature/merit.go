package feature

import "math"

// Merit returns Hall's merit of a set of k columns, [B] Eq. 7:
//
//	k·r̄_cf / √(k + k(k−1)·r̄_ff) = Σ_i suc(i, label) / √(k + 2·Σ_{i<j} suc(i, j))
//
// with r̄ the means of symmetrical uncertainties. A single column has its own with the
// label, the empty set 0. It lies within [0, √k].
func (m *Matrix) Merit(s Set) float64 {
	var buffer [128]int
	return m.merit(s.appendTo(buffer[:0]))
}

func (m *Matrix) merit(members []int) float64 {
	relevance, redundancy := 0.0, 0.0
	size := len(m.Columns)
	for at, i := range members {
		relevance += m.Label[i]
		row := m.pair[i*size : (i+1)*size]
		for _, j := range members[at+1:] {
			redundancy += row[j]
		}
	}
	return ratio(relevance, redundancy, len(members))
}

// ratio is the merit from the sum of relevances and the sum over pairs.
func ratio(relevance, redundancy float64, k int) float64 {
	if k == 0 {
		return 0
	}
	return relevance / math.Sqrt(float64(k)+2*redundancy)
}
