package localrows

import (
	"context"
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

var background = context.Background()

type fataler interface{ Fatal(...any) }

// rowsOf seals rows of (class of four or unknown, number).
func rowsOf(maxRows int, cells ...[2]float64) *sealed.Rows {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: maxRows}, Columns: []schema.Column{
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}},
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1}}}
	var flat []float64
	var hash []uint64
	for i, c := range cells {
		flat, hash = append(flat, c[0], c[1]), append(hash, uint64(i)<<56)
	}
	return sealed.New("d", s, flat, hash)
}

// permitFor is a permit whose noise does not matter.
func permitFor(t fataler, rel dp.Relation, maxRows int, events ...dp.Event) *sealed.Permit {
	return permitWith(t, entropy.Seeded(20), rel, maxRows, events...)
}

func permitWith(t fataler, src *entropy.Source, rel dp.Relation, maxRows int, events ...dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", rel, maxRows, dp.Compose{Events: events}, src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// view opens rows as the mechanism would.
func view(t fataler, rows *sealed.Rows) *sealed.View {
	event := dp.Gaussian{NoiseMultiplier: 1}
	v, err := sealed.Open(rows, permitFor(t, dp.AddOrRemoveOne, 9, event), dp.WholeScope, event)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// source is a stream of its own for each draw.
func source(label string, n int) *entropy.Source { return entropy.Seeded(20).Split(label, uint64(n)) }

func frobenius(a, b []float64) float64 {
	norm := 0.0
	for i := range a {
		norm = math.Hypot(norm, a[i]-b[i])
	}
	return norm
}
