package feature_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"pawl/search/feature"
)

// small is a random data set with attributes of few and of many levels, some cells
// missing.
func small() *rapid.Generator[*table] {
	return rapid.Custom(func(t *rapid.T) *table {
		m, rows := rapid.IntRange(1, 4).Draw(t, "attributes"), rapid.IntRange(2, 150).Draw(t, "rows")
		missing := rapid.Bool().Draw(t, "missing cells")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x := &table{domain: feature.Domain{Classes: rapid.IntRange(2, 3).Draw(t, "classes")}}
		for r := range rows {
			x.label = append(x.label, uint16(min(r, rng.IntN(x.domain.Classes)))) // both of the first classes occur
		}
		x.label[1] = 1
		for j := range m {
			a := feature.Attribute{Name: string(rune('a' + j)), Levels: rapid.SampledFrom([]int{2, 2, 3, 7, 40}).Draw(t, "levels"), OneHot: rapid.Bool().Draw(t, "one-hot")}
			codes := make([]uint16, rows)
			for r := range codes {
				codes[r] = uint16((int(x.label[r]) + rng.IntN(a.Levels)) % a.Levels)
				if missing && rng.IntN(10) == 0 {
					codes[r] = feature.Missing
				}
			}
			x.domain.Attributes = append(x.domain.Attributes, a)
			x.codes = append(x.codes, codes)
		}
		return x
	})
}

// value is what row r holds in a column, or −1 for a missing cell: the oracle.
func (x *table) value(c feature.Column, r int) (value, levels int) {
	code := x.codes[c.Attribute][r]
	switch {
	case code == feature.Missing:
		return -1, x.domain.Attributes[c.Attribute].Levels
	case c.Level < 0:
		return int(code), x.domain.Attributes[c.Attribute].Levels
	case int(code) == c.Level:
		return 1, 2
	}
	return 0, 2
}

// naive counts one pair of columns (second nil: the label) row by row.
func (x *table) naive(a feature.Column, b *feature.Column) feature.Table {
	var t feature.Table
	for r := range x.label {
		u, rows := x.value(a, r)
		v, cols := int(x.label[r]), x.domain.Classes
		if b != nil {
			v, cols = x.value(*b, r)
		}
		if a.Level >= 0 {
			rows = 2
		}
		if b != nil && b.Level >= 0 {
			cols = 2
		}
		if t.Counts == nil {
			t = feature.Table{Rows: rows, Cols: cols, Counts: make([]float64, rows*cols)}
		}
		if u >= 0 && v >= 0 {
			t.Counts[u*cols+v]++
		}
	}
	return t
}

func TestMatrixAgainstRowByRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := small().Draw(t, "data")
		s, err := feature.Tally(x.domain, x.codes, x.label, feature.NeedPairTables)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []feature.Level{feature.AttributeLevel, feature.ColumnLevel} {
			m, err := s.Matrix(level, feature.MatrixOptions{})
			if errors.Is(err, feature.ErrOneClass) {
				t.Skip("missing cells left one class")
			}
			if err != nil {
				t.Fatal(err)
			}
			entropies, err := s.Entropies(level)
			if err != nil {
				t.Fatal(err)
			}
			silent := entropies.Noised(func() float64 { return 0 }).Matrix()
			complete := true
			for _, codes := range x.codes {
				for _, c := range codes {
					complete = complete && c != feature.Missing
				}
			}
			for i, a := range m.Columns {
				if got, want := m.Label[i], x.naive(a, nil).SUC(); !near(got, want, 1e-9) {
					t.Fatalf("%s, %v and label: got %v, want %v", level, a, got, want)
				}
				for j, b := range m.Columns {
					want := 1.0
					if i != j {
						want = x.naive(a, &b).SUC()
					}
					if got := m.Pair(i, j); !near(got, want, 1e-9) {
						t.Fatalf("%s, %v and %v: got %v, want %v", level, a, b, got, want)
					}
					// One entropy per column exists only where all tables have the same rows.
					if complete && !near(silent.Pair(i, j), want, 1e-9) {
						t.Fatalf("%s, %v and %v: entropies give %v, want %v", level, a, b, silent.Pair(i, j), want)
					}
				}
			}
		}
	})
}

func TestNoisedEntropiesUseEveryDrawOnce(t *testing.T) {
	x := independent([]int{2, 3, 4, 5}, 50)
	e, err := x.tally(t, feature.NeedPairTables).Entropies(feature.AttributeLevel)
	if err != nil {
		t.Fatal(err)
	}
	draws := 0
	n := e.Noised(func() float64 { draws++; return float64(draws) })
	if draws != 4+1+4+6 {
		t.Errorf("%d draws, want one for each of 15 entropies", draws)
	}
	seen := map[int]bool{}
	add := func(noisy, exact float64) { seen[int(noisy-exact+.5)] = true }
	add(n.Label, e.Label)
	for i := range 4 {
		add(n.Single[i], e.Single[i])
		add(n.Joint[i], e.Joint[i])
		for j := range i {
			add(n.Pair[i*4+j], e.Pair[i*4+j])
			if n.Pair[i*4+j] != n.Pair[j*4+i] {
				t.Error("a pair has one entropy")
			}
		}
	}
	if len(seen) != draws {
		t.Errorf("%d different noises in %d entropies: one is missing or used twice", len(seen), draws)
	}
	m := n.Matrix()
	for i := range 4 {
		for j := range 4 {
			if x := m.Pair(i, j); !(x >= 0 && x <= 1) {
				t.Errorf("uncertainty %v", x)
			}
		}
	}
	if _, err := noised(x.tally(t, feature.NeedPairTables), 1, 1).Entropies(feature.AttributeLevel); !errors.Is(err, feature.ErrOption) {
		t.Errorf("noisy tables: got %v", err)
	}
}

// Ten independent attributes of 12 levels, 5,000 rows, noise of 20 a cell: plug-in
// uncertainties are all bias. The correction has to take off nearly all of it, and must
// not touch what is there: an attribute that equals another keeps most of its 1.
func TestNullCorrection(t *testing.T) {
	levels := make([]int, 10)
	for j := range levels {
		levels[j] = 12
	}
	x := independent(levels, 5000)
	copy(x.codes[1], x.codes[0])
	s := noised(x.tally(t, feature.NeedPairTables), 20, 3)
	mean := func(c feature.Correction) (bias, same float64) {
		m, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{Correction: c})
		if err != nil {
			t.Fatal(err)
		}
		for i := 2; i < 10; i++ {
			for j := range i {
				bias += m.Pair(i, j) / 44
			}
		}
		return bias, m.Pair(0, 1)
	}
	plain, _ := mean(feature.Plain)
	corrected, same := mean("")
	if !(plain > 0.02 && corrected < plain/10) {
		t.Errorf("mean uncertainty of independent attributes: %v plain, %v corrected", plain, corrected)
	}
	if same < 0.6 {
		t.Errorf("two equal attributes: uncertainty %v after correction", same)
	}
}

// Two independent attributes of 2 and 12 levels, 100 rows: all 24 cells may occur, and
// the correction is (K_xy − K_x − K_y + 1)/(2n·ln 2) of what does.
func TestMillerMadowInMatrix(t *testing.T) {
	x := independent([]int{2, 12}, 100)
	s := x.tally(t, feature.NeedPairTables)
	joint := s.PairTables[0]
	occupied := 0
	for _, c := range joint.Counts {
		if c > 0 {
			occupied++
		}
	}
	var rows, cols [12]float64
	for i, c := range joint.Counts {
		rows[i/12] += c
		cols[i%12] += c
	}
	hx, hy := feature.Entropy(rows[:2]), feature.Entropy(cols[:])
	information := max(joint.MutualInformation()-float64(occupied-2-12+1)/(2*100*math.Ln2), 0)
	m, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{Correction: feature.MillerMadowCorrection})
	if want := 2 * information / (hx + hy); err != nil || !near(m.Pair(0, 1), want, 1e-12) {
		t.Errorf("got %v, %v; want %v", m.Pair(0, 1), err, want)
	}
	plain, err := s.Matrix(feature.AttributeLevel, feature.MatrixOptions{})
	if err != nil || !(plain.Pair(0, 1) > m.Pair(0, 1)) {
		t.Errorf("%v plain, %v corrected, %v", plain.Pair(0, 1), m.Pair(0, 1), err)
	}
}

func TestMatrixRefuses(t *testing.T) {
	x := independent([]int{2, 3}, 40)
	full := x.tally(t, feature.NeedPairTables)
	labels := x.tally(t, feature.NeedLabelTables)
	short := *full
	short.LabelTables = short.LabelTables[:1]
	swapped := *full
	swapped.LabelTables = []feature.Table{full.LabelTables[1], full.LabelTables[0]}
	negative := *full
	negative.NoiseStdDev = -1
	for _, c := range []struct {
		name string
		s    *feature.Statistics
		o    feature.MatrixOptions
		want error
	}{
		{"label tables only", labels, feature.MatrixOptions{}, feature.ErrMissing},
		{"a table is missing", &short, feature.MatrixOptions{}, feature.ErrShape},
		{"tables in another order", &swapped, feature.MatrixOptions{}, feature.ErrShape},
		{"unknown cleaning", full, feature.MatrixOptions{Cleaning: "soap"}, feature.ErrOption},
		{"unknown correction", full, feature.MatrixOptions{Correction: "?"}, feature.ErrOption},
		{"negative noise", &negative, feature.MatrixOptions{}, feature.ErrOption},
	} {
		if _, err := c.s.Matrix(feature.AttributeLevel, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := feature.Tally(x.domain, x.codes, x.label[:39], feature.NeedLabelTables); !errors.Is(err, feature.ErrShape) {
		t.Errorf("a label too few: got %v", err)
	}
	x.codes[0][3] = 2
	var bad *feature.FeatureError
	if _, err := feature.Tally(x.domain, x.codes, x.label, feature.NeedLabelTables); !errors.As(err, &bad) || bad.Feature != "x0" {
		t.Errorf("a level beyond those declared: got %v", err)
	}
}

func TestDiagnose(t *testing.T) {
	x := independent([]int{2, 2, 2}, 60)
	copy(x.codes[2], x.codes[0])
	clear(x.codes[1])
	m, err := x.tally(t, feature.NeedPairTables).Matrix(feature.AttributeLevel, feature.MatrixOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := m.Diagnose()
	if len(got) != 2 || !errors.Is(got[0], feature.ErrDuplicate) || !errors.Is(got[1], feature.ErrConstant) {
		t.Fatalf("got %v", got)
	}
	if want := `features "x0" and "x2": the feature carries the same information as another`; got[0].Error() != want {
		t.Errorf("got %q, want %q", got[0], want)
	}
}
