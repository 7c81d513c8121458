package workflow

import (
	"bytes"
	"context"
	"os"
	"testing"

	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
	"pawl/store/memory"
)

// table is a parsed data set that tests run plans on.
type table struct {
	name       string
	target     string
	schema     *schema.Schema
	rows, test [][]float64
	units      []string
}

func builtin(t testing.TB, name string) table {
	t.Helper()
	b, ok := dataset.Lookup(name)
	if !ok {
		t.Fatalf("no built-in data set %q", name)
	}
	dir := os.Getenv(dataset.DataDirVariable)
	if dir == "" {
		dir = "../../shared/data"
	}
	tab := table{name: name, target: b.Target, schema: b.Schema()}
	err := b.Train(dir, reader.Options{}, func(cells []float64, found schema.Record) error {
		tab.rows, tab.units = append(tab.rows, cells), append(tab.units, found.Unit)
		return nil
	})
	if err != nil && !b.Embedded {
		t.Skipf("data set %q needs a data folder (%s): %v", name, dataset.DataDirVariable, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b.HasTest() {
		err = b.Test(dir, reader.Options{}, func(cells []float64, found schema.Record) error {
			tab.test = append(tab.test, cells)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// seal seals the rows with scopes that follow from seed where they are public, and from
// the secret of memoryLedger elsewhere.
func (tab table) seal(t testing.TB, seed uint64) *intake.Rows {
	t.Helper()
	k := key(t, tab.name)
	if tab.schema.Public {
		k = intake.SimulationKey(tab.name, seed)
	}
	b := intake.NewBuilder(k, tab.schema)
	for i, cells := range tab.rows {
		if err := b.Add(cells, schema.Record{Unit: tab.units[i]}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Seal()
}

// memoryLedger is a ledger in memory, all of which have one secret: rows can be sealed
// before a test makes the ledger that they are charged to.
func memoryLedger() *ledger.Ledger {
	return ledger.New(memoryStore(), pricing.Accountant{}, ledger.Options{User: "tester"})
}

func memoryStore() *memory.Store {
	store := memory.New()
	err := store.Update(context.Background(), func(tx ledger.Tx) error { return tx.Adopt(bytes.Repeat([]byte{5}, 32)) })
	if err != nil {
		panic(err) // the store is empty
	}
	return store
}

// key seals rows for any memoryLedger.
func key(t testing.TB, name string) *intake.Key {
	t.Helper()
	k, err := memoryLedger().Key(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (tab table) input(epsilon, delta string, seed uint64) Input {
	in := Input{
		Dataset: tab.name, Schema: tab.schema, Public: tab.schema.Public, Target: tab.target,
		Epsilon: epsilon, Delta: delta, Rows: int64(len(tab.rows)), Test: HeldOut, Seed: &seed,
	}
	if tab.test != nil {
		in.Test = Official
	}
	return in
}

func (tab table) run(t testing.TB, in Input) *Outcome {
	t.Helper()
	plan, err := NewPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, *in.Seed), Test: tab.test, Digest: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// noiseOf is the multiplier of the release that the training of a table's model amounts to.
func noiseOf(plan *Plan) float64 { return plan.job.(*fit).models.noise }

// choiceOf is what all selections have.
func choiceOf(plan *Plan) *choosing {
	switch j := plan.job.(type) {
	case *choosing:
		return j
	case *unseen:
		return j.choosing
	case *local:
		return j.choosing
	case *pafs:
		return j.choosing
	case *published:
		return j.choosing
	}
	panic("no selection")
}

// sumsOf are the sums by class that a selection reads.
func sumsOf(plan *Plan) *classColumns { return choiceOf(plan).from.(*classColumns) }

func (plan *Plan) reserve(ctx context.Context, env Env) (*ledger.Permit, ledger.Receipt, error) {
	q, err := plan.request(env)
	if err != nil {
		return nil, ledger.Receipt{}, err
	}
	return env.Ledger.Reserve(ctx, q)
}
