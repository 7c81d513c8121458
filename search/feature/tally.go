package feature

import (
	"fmt"
	"math"
	"math/bits"
)

// Missing is the code of a cell that takes no part in any table.
const Missing uint16 = math.MaxUint16

// maxLevels keeps Missing apart from every level.
const maxLevels = math.MaxUint16

// Statistics are what selectors work on: exact on public data, else released.
type Statistics struct {
	Domain Domain
	// LabelTables[j] has attribute j in rows and the label in columns.
	LabelTables []Table
	// PairTables has attribute i in rows and j > i in columns, in the order (0,1), (0,2),
	// …, (1,2), ….
	PairTables []Table
	// Classes are sums by class.
	Classes *ClassSums
	// NoiseStdDev is the deviation of the noise in a cell; 0 says that counts are exact.
	NoiseStdDev float64
}

// Counted makes statistics of counted tables: table k counts the levels of variables pairs[k][0] (rows) and pairs[k][1]
// (columns), of which variable i has levels[i]. The tables with the label come first, one an attribute.
func Counted(d Domain, tables [][]int64, levels []int, pairs [][2]int, noiseStdDev float64) (*Statistics, error) {
	s := &Statistics{Domain: d, NoiseStdDev: noiseStdDev}
	for k, cells := range tables {
		counts := make([]float64, len(cells))
		for i, v := range cells {
			counts[i] = float64(v)
		}
		table, err := NewTable(levels[pairs[k][0]], levels[pairs[k][1]], counts)
		if err != nil {
			return nil, err
		}
		if k < len(d.Attributes) {
			s.LabelTables = append(s.LabelTables, table)
		} else {
			s.PairTables = append(s.PairTables, table)
		}
	}
	return s, nil
}

// PairIndex is the position in PairTables of attributes i < j of m.
func PairIndex(i, j, m int) int { return i*(2*m-i-1)/2 + j - i - 1 }

// Tally counts exact tables: codes[j][r] is row r's level of attribute j, label[r] its
// class. It is for public data, and for whoever holds opened rows.
func Tally(d Domain, codes [][]uint16, label []uint16, need Need) (*Statistics, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if len(codes) != len(d.Attributes) {
		return nil, fmt.Errorf("%w: codes of %d attributes, %d declared", ErrShape, len(codes), len(d.Attributes))
	}
	if need != NeedLabelTables && need != NeedPairTables {
		return nil, fmt.Errorf("%w: a tally makes %s or %s, not %s", ErrOption, NeedLabelTables, NeedPairTables, need)
	}
	all := make([]coded, 0, len(codes)+1)
	for j, c := range codes {
		x, err := newCoded(d.Attributes[j].Name, c, d.Attributes[j].Levels, len(label))
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	y, err := newCoded("label", label, d.Classes, len(label))
	if err != nil {
		return nil, err
	}
	s := &Statistics{Domain: d}
	for i := range all {
		s.LabelTables = append(s.LabelTables, count(&all[i], &y))
	}
	if need == NeedPairTables {
		m := len(all)
		s.PairTables = make([]Table, 0, m*(m-1)/2)
		for i := range all {
			for j := i + 1; j < m; j++ {
				s.PairTables = append(s.PairTables, count(&all[i], &all[j]))
			}
		}
	}
	return s, nil
}

// coded is one attribute of all rows; words[v] has a bit for every row at level v.
type coded struct {
	codes    []uint16
	levels   int
	complete bool // no cell is missing
	counts   []float64
	words    [][]uint64
}

// bitsetLevels bounds the product (levels−1)(levels−1) of two attributes up to which
// counting common bits beats visiting every row: a word of 64 rows costs about as much
// as one or two rows.
const bitsetLevels = 24

func newCoded(name string, codes []uint16, levels, rows int) (coded, error) {
	if len(codes) != rows {
		return coded{}, &FeatureError{Feature: name, Err: fmt.Errorf("%w: its rows and the label's differ in number", ErrShape)}
	}
	x := coded{codes: codes, levels: levels, complete: true, counts: make([]float64, levels)}
	for _, c := range codes {
		switch {
		case c == Missing:
			x.complete = false
		case int(c) >= levels:
			return coded{}, &FeatureError{Feature: name, Err: fmt.Errorf("%w: a level beyond the %d declared", ErrShape, levels)}
		default:
			x.counts[c]++
		}
	}
	if levels-1 > bitsetLevels {
		return x, nil
	}
	x.words = make([][]uint64, levels)
	for v := 1; v < levels; v++ { // level 0 follows by subtraction
		x.words[v] = make([]uint64, (rows+63)/64)
	}
	for r, c := range codes {
		if c > 0 && c != Missing {
			x.words[c][r>>6] |= 1 << (r & 63)
		}
	}
	return x, nil
}

func count(a, b *coded) Table {
	t := Table{a.levels, b.levels, make([]float64, a.levels*b.levels)}
	if a.complete && b.complete && (a.levels-1)*(b.levels-1) <= bitsetLevels {
		countBits(t, a, b)
		return t
	}
	// Whole numbers in a small array: an increment of a float waits for the one before.
	cells := make([]uint32, len(t.Counts))
	for r, u := range a.codes {
		v := b.codes[r]
		if u != Missing && v != Missing {
			cells[int(u)*b.levels+int(v)]++
		}
	}
	for i, c := range cells {
		t.Counts[i] = float64(c)
	}
	return t
}

// countBits counts common bits of the levels above 0 and gets the rest from the margins.
func countBits(t Table, a, b *coded) {
	for u := 1; u < a.levels; u++ {
		rest := a.counts[u]
		for v := 1; v < b.levels; v++ {
			n := 0
			words, others := a.words[u], b.words[v][:len(a.words[u])] // the cut spares a bounds check a word
			for i, w := range words {
				n += bits.OnesCount64(w & others[i])
			}
			t.Counts[u*t.Cols+v] = float64(n)
			rest -= float64(n)
		}
		t.Counts[u*t.Cols] = rest
	}
	for v := range b.levels {
		rest := b.counts[v]
		for u := 1; u < a.levels; u++ {
			rest -= t.Counts[u*t.Cols+v]
		}
		t.Counts[v] = rest
	}
}

// check says whether the statistics hold what is needed, in the domain's shape.
func (s *Statistics) check(need Need) error {
	if err := s.Domain.Check(); err != nil {
		return err
	}
	m := len(s.Domain.Attributes)
	switch need {
	case NeedLabelTables, NeedPairTables:
		if len(s.LabelTables) == 0 || need == NeedPairTables && len(s.PairTables) == 0 && m > 1 {
			return fmt.Errorf("%w: %s", ErrMissing, need)
		}
		if len(s.LabelTables) != m || need == NeedPairTables && len(s.PairTables) != m*(m-1)/2 {
			return fmt.Errorf("%w: %d label tables and %d pair tables for %d attributes", ErrShape, len(s.LabelTables), len(s.PairTables), m)
		}
		for i := range m {
			if err := s.LabelTables[i].fits(s.Domain.Attributes[i].Levels, s.Domain.Classes); err != nil {
				return err
			}
			for j := i + 1; j < m && need == NeedPairTables; j++ {
				if err := s.PairTables[PairIndex(i, j, m)].fits(s.Domain.Attributes[i].Levels, s.Domain.Attributes[j].Levels); err != nil {
					return err
				}
			}
		}
	case NeedClassSums, NeedClassMoments:
		if s.Classes == nil || need == NeedClassMoments && s.Classes.Squares == nil {
			return fmt.Errorf("%w: %s", ErrMissing, need)
		}
		return s.Classes.check(s.Domain.Classes, m)
	}
	return nil
}

func (t Table) fits(rows, cols int) error {
	if t.Rows != rows || t.Cols != cols {
		return fmt.Errorf("%w: a table is %d×%d where the domain has %d×%d", ErrShape, t.Rows, t.Cols, rows, cols)
	}
	_, err := NewTable(rows, cols, t.Counts)
	return err
}
