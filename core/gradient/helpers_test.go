package gradient

import (
	"math"
	"os"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

const columns = 6 // of testSchema; the last is the target

// testSchema has every kind of block. The target's three levels serve as classes,
// as 0 and 1 (2 is out of range) and as real numbers.
func testSchema(maxRows int, public bool) *schema.Schema {
	unit := schema.Unit{Name: "row", MaxRows: maxRows}
	return &schema.Schema{Version: 1, Public: public, Unit: unit, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
		{Name: "tail", Type: schema.Numeric, Lower: 0, Upper: 1e6, HeavyTailed: true},
		{Name: "flag", Type: schema.Boolean},
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}},
		{Name: "grade", Type: schema.Categorical, Categories: []string{"i", "ii", "iii"}, Ordered: true},
		{Name: "y", Type: schema.Categorical, Categories: []string{"0", "1", "2"}},
	}}
}

type fataler interface{ Fatal(...any) }

func target(cells []float64) float64 { return cells[columns-1] }
func noTarget([]float64) float64     { return math.NaN() }

// rowsOf seals cells; hash nil gives every row a unit of its own.
func rowsOf(maxRows int, public bool, cells []float64, hash []uint64) *sealed.Rows {
	if hash == nil {
		for i := range len(cells) / columns {
			hash = append(hash, uint64(i))
		}
	}
	return sealed.New("d", testSchema(maxRows, public), cells, hash)
}

func mustOpen(t fataler, r *sealed.Rows) *sealed.View {
	v, err := sealed.OpenPublic(r, dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// mustPermit is a permit whose noise does not matter.
func mustPermit(t fataler, rel dp.Relation, maxRows int, e dp.Event) *sealed.Permit {
	return permitWith(t, entropy.Seeded(1), rel, maxRows, e)
}

func permitWith(t fataler, src *entropy.Source, rel dp.Relation, maxRows int, e dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", rel, maxRows, e, src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// streamOf is the stream of an event that is taken first from a permit under src.
func streamOf(t fataler, src *entropy.Source, e dp.Event) *entropy.Source {
	v, err := sealed.Open(rowsOf(1, false, nil, nil), permitWith(t, src, dp.AddOrRemoveOne, 1, e), dp.WholeScope, e)
	if err != nil {
		t.Fatal(err)
	}
	return v.Noise()
}
