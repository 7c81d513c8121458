package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/store/memory"
)

// rowsSchema is what all made-up rows look like: a number and a class of two, of units
// that own up to rowsPerUnit of them.
func rowsSchema(rowsPerUnit int) *schema.Schema {
	return &schema.Schema{Version: 1, Dataset: dataset, Public: true, Unit: schema.Unit{Name: unitName, MaxRows: rowsPerUnit}, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b"}},
	}}
}

const (
	dataset     = "audit"
	unitName    = "person"
	numberCell  = 0
	classCell   = 1
	classes     = 2
	classColumn = "class"
)

// row is a made-up row, with a dense input of one number where input is set.
type row struct {
	number, class float64
	input         []float32
}

// repeat is n times the same row.
func repeat(n int, r row) []row { return slices.Repeat([]row{r}, n) }

// bench is a pair of sealed data sets and a source of permits for an event.
type bench struct {
	worlds [2]*intake.Rows
	desk   *desk
}

// addOrRemove are the worlds of common rows without and with one more.
func addOrRemove(common []row, more row, events ...dp.Event) (*bench, error) {
	return pair{dp.AddOrRemoveOne, 1, common, nil, []row{more}}.bench(events)
}

// replace are the worlds in which one row stands in another's place.
func replace(common []row, out, in row, events ...dp.Event) (*bench, error) {
	return pair{dp.ReplaceOne, 1, common, []row{out}, []row{in}}.bench(events)
}

// pair are two worlds: common rows, each of a unit of its own, and the rows of one unit
// that differ.
type pair struct {
	relation    dp.Relation
	rowsPerUnit int
	common      []row
	out, in     []row
}

func (p pair) bench(events []dp.Event) (*bench, error) {
	b := &bench{desk: &desk{relation: p.relation, rowsPerUnit: p.rowsPerUnit, events: events}}
	for w, own := range [2][]row{Out: p.out, In: p.in} {
		build := intake.NewBuilder(intake.SimulationKey(dataset, 1), rowsSchema(p.rowsPerUnit))
		for i, r := range slices.Concat(p.common, own) {
			unit := "the unit"
			if i < len(p.common) {
				unit = fmt.Sprint(i)
			}
			cells, err := []float64{r.number, r.class}, error(nil)
			if r.input != nil {
				err = build.AddFloats(cells, r.input, schema.Record{}) // the row is its own unit
			} else {
				err = build.Add(cells, schema.Record{Raw: []byte(unit)})
			}
			if err != nil {
				return nil, err
			}
		}
		b.worlds[w] = build.Seal()
	}
	return b, nil
}

// constant is the encoding of a row as the number 1: one coordinate, of the largest norm
// that an encoding has.
func constant() (*encode.Encoding, error) {
	return encode.New(rowsSchema(1), classColumn, encode.Options{InterceptOnly: true})
}

// batch is the number of runs that one ledger books: few enough that its log stays
// short.
const batch = 128

// desk hands out permits of which each holds the events of one run. It keeps its own
// ledgers in memory; the rows are made up, so no budget limits them and all noise may
// come from seeds.
type desk struct {
	relation    dp.Relation
	rowsPerUnit int
	events      []dp.Event

	mu     sync.Mutex
	ledger *ledger.Ledger
	left   int
}

// run returns the weights of one fit of its events.
func (d *desk) run(ctx context.Context, src *entropy.Source, rows *intake.Rows, fit func(context.Context, *ledger.Permit, *intake.Rows) ([]float64, error)) ([]float64, error) {
	permit, err := d.next(ctx, src.Uint64())
	if err != nil {
		return nil, err
	}
	return fit(ctx, permit, rows)
}

// descend is run for a descent.
func (d *desk) descend(ctx context.Context, src *entropy.Source, rows *intake.Rows, c linear.Descent) ([]float64, error) {
	return d.run(ctx, src, rows, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return linear.Descend(ctx, permit, rows, c)
	})
}

func (d *desk) next(ctx context.Context, seed uint64) (*ledger.Permit, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		d.ledger, d.left = ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "audit"}), batch
	}
	d.left--
	permit, _, err := d.ledger.Reserve(ctx, ledger.Request{
		Dataset: dataset, Event: dp.Compose{Events: d.events}, Relation: d.relation,
		Unit: unitName, RowsPerUnit: d.rowsPerUnit, Public: true, Seed: &seed, Digest: bytes.Repeat([]byte{1}, len(ledger.Hash{})),
	})
	return permit, err
}
