package describe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/internal/stattest"
	"pawl/store/memory"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

var background = context.Background()

// columns of every kind; the target is one of them.
func testSchema(public bool, perUnit int) *schema.Schema {
	s := &schema.Schema{Version: 1, Dataset: "d", Public: public, Unit: schema.Unit{Name: "row", MaxRows: perUnit}, Columns: []schema.Column{
		{Name: "kind", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}, Missing: schema.MissingUnknown},
		{Name: "age", Type: schema.Integer, Lower: 0, Upper: 110},
		{Name: "amount", Type: schema.Numeric, Lower: 0, Upper: 10000, HeavyTailed: true, Missing: schema.MissingUnknown},
		{Name: "level", Type: schema.Numeric, Lower: -3, Upper: 3},
		{Name: "ill", Type: schema.Boolean},
	}}
	if perUnit > 1 {
		s.Unit.Name, s.Unit.Column = "person", "id"
		s.Columns = append(s.Columns, schema.Column{Name: "id", Type: schema.Ignore})
	}
	return s
}

// draw is a row of the test schema's population.
func draw(rng *rand.Rand) []float64 {
	z := rng.NormFloat64()
	age := math.Round(min(max(40+15*z, 0), 110))
	amount := 0.0
	if rng.Float64() < 0.3+0.1*z {
		amount = min(100*math.Exp(rng.NormFloat64()), 10000)
	}
	if rng.Float64() < 0.1 {
		amount = math.NaN()
	}
	kind := []float64{0, 0, 0, 0, 0, 0, 1, 1, 1, 2}[rng.IntN(10)]
	if rng.Float64() < 0.01 {
		kind = 3
	}
	ill := 0.0
	if rng.Float64() < 1/(1+math.Exp(1.5-z-0.5*kind)) {
		ill = 1
	}
	if rng.Float64() < 0.05 {
		kind = math.NaN()
	}
	return []float64{kind, age, amount, min(max(0.3*z+0.5*rng.NormFloat64(), -3), 3), ill}
}

func seal(t fataler, s *schema.Schema, key *intake.Key, rows ...[]float64) *intake.Rows {
	in := intake.NewBuilder(key, s)
	for i, cells := range rows {
		if s.Unit.Column != "" {
			cells = append(cells[:len(cells):len(cells)], math.NaN())
		}
		if err := in.Add(cells, schema.Record{Raw: []byte(fmt.Sprint(i)), Unit: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	return in.Seal()
}

type fataler interface{ Fatal(...any) }

func layout(t fataler, s *schema.Schema, target string, rows int64) *Layout {
	l, err := NewLayout(s, nil, target, false, rows, 64)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// One row more moves the first vector by at most its two bounds, and the second by its own,
// whatever the ranks; k rows of one unit by k times as much.
func TestSensitivity(t *testing.T) {
	s := testSchema(true, 1)
	for _, target := range []string{"", "ill", "kind", "age", "amount"} {
		for _, pure := range []bool{false, true} {
			r := Release{Layout: layout(t, s, target, 0), CountNoise: 1, RankNoise: 1, Pure: pure}
			rapid.Check(t, func(t *rapid.T) {
				cell := rapid.Custom(func(t *rapid.T) []float64 {
					number := func(name string, lower, upper float64) float64 {
						return rapid.SampledFrom([]float64{math.NaN(), lower, upper, lower + math.Round((upper-lower)*0.37), lower + 1}).Draw(t, name)
					}
					return []float64{rapid.SampledFrom([]float64{0, 1, 2, 3, math.NaN()}).Draw(t, "kind"), number("age", 0, 110), number("amount", 0, 10000),
						number("level", -3, 3), rapid.SampledFrom([]float64{0, 1, math.NaN()}).Draw(t, "ill")}
				})
				rows := rapid.SliceOfN(cell, 1, 4).Draw(t, "rows")
				key := intake.SimulationKey("d", 1)
				scales := make([]rankScale, len(r.Layout.scored))
				for i, j := range r.Layout.scored {
					counts := rapid.SliceOfN(rapid.Float64Range(0, 10), r.Layout.columns[j].known(), r.Layout.columns[j].known()).Draw(t, "counts")
					scales[i] = newRankScale(counts, 10)
				}
				moved := func(c interface {
					Public(*intake.Rows) ([]int64, error)
				}) (l1, l2 float64) {
					all, err := c.Public(seal(t, s, key, rows...))
					if err != nil {
						t.Fatal(err)
					}
					less, err := c.Public(seal(t, s, key, rows[:len(rows)-1]...))
					if err != nil {
						t.Fatal(err)
					}
					for i := range all {
						d := float64(all[i] - less[i])
						l1, l2 = l1+math.Abs(d), l2+d*d
					}
					return l1, l2
				}
				c := r.cells()
				if l1, l2 := moved(c); pure && l1 > float64(c.L1) || !pure && l2 > float64(c.L2Squared) {
					t.Fatalf("a row moves the counts by %g and √%g, bounds %d and √%d", l1, l2, c.L1, c.L2Squared)
				}
				c = r.rankCells(scales)
				if _, l2 := moved(c); l2 > float64(c.L2Squared) {
					t.Fatalf("a row moves products of ranks by √%g, bound √%d", l2, c.L2Squared)
				}
			})
		}
	}
}

// A row fills its bounds where nothing is missing: what a row adds is neither dropped by the bound
// nor bounded for more than it adds.
func TestBoundsAreTight(t *testing.T) {
	s := testSchema(true, 1)
	r := Release{Layout: layout(t, s, "ill", 0), CountNoise: 1, RankNoise: 1}
	c := r.cells()
	sums, err := c.Public(seal(t, s, intake.SimulationKey("d", 1), []float64{1, 110, 0, -3, 1}))
	if err != nil {
		t.Fatal(err)
	}
	l2 := 0.0
	for _, x := range sums {
		l2 += float64(x) * float64(x)
	}
	if !(l2 > 0.9999*float64(c.L2Squared)) {
		t.Errorf("a row at its bounds adds √%g, bound √%d", l2, c.L2Squared)
	}
}

// reserve books events in a ledger of its own.
func reserve(t *testing.T, s *schema.Schema, seed uint64, events []dp.Event, rows ...[]float64) (*ledger.Permit, *intake.Rows) {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	if err := l.Create(background, ledger.Budget{Dataset: "d", Epsilon: "1000", Delta: "1e-3", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	key, err := l.Key(background, "d")
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, s, key, rows...)
	digest, err := l.Digest(background, strings.NewReader("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	permit, _, err := l.Reserve(background, ledger.Request{Dataset: "d", Plan: "p", Event: dp.Compose{Events: events}, Stages: []string{"describe"}, Relation: dp.AddOrRemoveOne,
		Unit: s.Unit.Name, RowsPerUnit: s.Unit.MaxRows, UnitColumn: s.Unit.Column, Epsilon: "100", Delta: "1e-6", Rows: sealed, Digest: digest, Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	return permit, sealed
}

// Null: released cells carry the noise that StdDevs states, for one row per unit and for three.
// Convicts noise that is missing, or that forgets the rows per unit, a group's weight or the columns.
// 2 settings × 4 quantities, each a variance at the package's false-alarm rate (stattest).
func TestNoise(t *testing.T) {
	for _, perUnit := range []int{1, 3} {
		s := testSchema(false, perUnit)
		r := Release{Layout: layout(t, s, "ill", 0), CountNoise: 2, RankNoise: 3}
		counts, target, sums, ranks := r.StdDevs(perUnit)
		k := float64(perUnit)
		for i, want := range []float64{2 * k * math.Sqrt(5/0.4), 2 * k * math.Sqrt(4/0.35), 2 * k * math.Sqrt(6/0.25), 3 * k * math.Sqrt(6)} {
			if got := []float64{counts, target, sums, ranks}[i]; math.Abs(got/want-1) > 1e-4 {
				t.Errorf("%d rows per unit: deviation %d is %g, want %g", perUnit, i, got, want)
			}
		}
		a, tg, sm := r.groups()
		at := r.Layout.places()
		var zc, zt, zs, zr []float64
		for seed := range uint64(40) {
			// No row is there: what leaves is noise.
			permit, rows := reserve(t, s, seed, r.Events())
			cells, err := r.cells().Release(background, permit, rows)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range cells {
				switch v := float64(x); {
				case i < at.tables[0]:
					zc = append(zc, v/float64(a.weight)/counts)
				case i < at.sums[1]:
					zt = append(zt, v/float64(tg.weight)/target)
				default:
					zs = append(zs, v/float64(sm.weight)/sums)
				}
			}
			products, err := r.rankCells(make([]rankScale, len(r.Layout.scored))).Release(background, permit, rows)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range products {
				zr = append(zr, float64(x)/rankGrid/ranks)
			}
		}
		for name, z := range map[string][]float64{"counts": zc, "target": zt, "sums": zs, "ranks": zr} {
			stattest.Accept(t, stattest.Variance(fmt.Sprintf("%s, %d rows per unit", name, perUnit), z, stattest.Moments{Variance: 1, Kurtosis: 3}))
		}
	}
}

// Of a unit with five rows three are counted, where three are allowed.
func TestRowsOfOneUnit(t *testing.T) {
	s := testSchema(true, 3)
	in := intake.NewBuilder(intake.SimulationKey("d", 1), s)
	for i := range 5 {
		if err := in.Add([]float64{0, 40, 0, 0, 1, math.NaN()}, schema.Record{Raw: []byte(fmt.Sprint(i)), Unit: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Release{Layout: layout(t, s, "ill", 0)}.Public(in.Seal())
	if err != nil || d.Rows.Value != 3 || d.Columns[0].Levels[0].Count.Value != 3 || d.Columns[0].Target[0].Counts[1].Value != 3 {
		t.Errorf("counted %+v, %v", d.Rows, err)
	}
}

// notReserved is core's refusal of an event that was not booked, or was used.
func notReserved(err error) bool { return err != nil && strings.Contains(err.Error(), "reserved") }

// Nothing is released without the charge of both events, nor twice for one charge.
func TestNeedsItsCharge(t *testing.T) {
	s := testSchema(false, 1)
	r := Release{Layout: layout(t, s, "ill", 0), CountNoise: 2, RankNoise: 3}
	row := draw(rand.New(rand.NewPCG(1, 1)))
	less := r
	less.CountNoise = 4
	for name, events := range map[string][]dp.Event{"less noise": less.Events(), "no correlations": r.Events()[:1]} {
		permit, rows := reserve(t, s, 1, events, row)
		if d, err := r.Release(background, permit, rows); !notReserved(err) || d != nil {
			t.Errorf("%s booked: %v, %v", name, d, err)
		}
	}
	permit, rows := reserve(t, s, 1, r.Events(), row)
	if _, err := r.Release(background, permit, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Release(background, permit, rows); !notReserved(err) {
		t.Errorf("a second release: %v", err)
	}
	if _, err := r.Public(rows); err == nil {
		t.Error("exact figures of sensitive rows")
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	permit, rows = reserve(t, s, 1, r.Events(), row)
	if _, err := r.Release(ctx, permit, rows); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Edges ascend from the lower bound to the upper one, also where floats between them are few.
func TestEdgesLieWithinTheBounds(t *testing.T) {
	for _, c := range []schema.Column{
		{Type: schema.Numeric, Lower: 1e15 - 1, Upper: 1e15},
		{Type: schema.Numeric, Lower: -1e15, Upper: -1e15 + 0.25},
		{Type: schema.Numeric, Lower: 0, Upper: 5e-324},
		{Type: schema.Numeric, Lower: -1e15, Upper: 1e15},
		{Type: schema.Integer, Lower: 1e15 - 300, Upper: 1e15},
		{Type: schema.Numeric, Lower: 1e10, Upper: 1e10 + 1e-3, HeavyTailed: true},
		{Type: schema.Numeric, Lower: -3, Upper: 3},
	} {
		for _, most := range []int{16, 64, 128} {
			edges := newColumn(&c, 0, false, most).edges
			top := c.Upper
			if c.Type == schema.Integer {
				top++
			}
			if edges[0] != c.Lower || edges[len(edges)-1] != top || len(edges) > 130 {
				t.Errorf("[%v, %v], at most %d bins: %v", c.Lower, c.Upper, most, edges)
			}
			for j := range edges[1:] {
				if !(edges[j] < edges[j+1]) {
					t.Errorf("[%v, %v], at most %d bins: edges %v and %v", c.Lower, c.Upper, most, edges[j], edges[j+1])
				}
			}
		}
	}
}
