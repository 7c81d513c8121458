// Package lab opens data sets for replays and runs plans on them: the same plans
// that the command line runs, on a ledger in memory.
package lab

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/compute/zoo"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
	"pawl/store/memory"
	"pawl/workflow"
)

// Table is a public data set in memory.
type Table struct {
	Name   string
	Target string
	Schema *schema.Schema
	Rows   [][]float64
	// Units are those of the rows; nil where each row is one.
	Units []string
	// Test is the official test set, nil for none.
	Test [][]float64
	// Open are public rows that models are trained on first, nil for none.
	Open [][]float64
}

// OpenFile reads a table that is not built in, from a data folder.
func OpenFile(info dataset.Info, s *schema.Schema, target, dataDir string) (*Table, error) {
	f := info.Files[0]
	content, err := info.Content(f, dataDir)
	if err != nil {
		return nil, err
	}
	t := &Table{Name: info.Name, Target: target, Schema: s}
	err = reader.ReadFrom(strings.TrimSuffix(f.Path, ".gz"), bytes.NewReader(content), s, reader.Options{Target: target}, func(cells []float64, found schema.Record) error {
		t.Rows = append(t.Rows, cells)
		if s.Unit.Column != "" {
			t.Units = append(t.Units, found.Unit)
		}
		return nil
	})
	return t, err
}

// Open reads a built-in table.
func Open(name, dataDir string) (*Table, error) {
	b, ok := dataset.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no built-in table %q", name)
	}
	t := &Table{Name: name, Target: b.Target, Schema: b.Schema()}
	keep := func(to *[][]float64) reader.Row {
		return func(cells []float64, _ schema.Record) error {
			*to = append(*to, cells)
			return nil
		}
	}
	if err := b.Train(dataDir, reader.Options{}, keep(&t.Rows)); err != nil {
		return nil, err
	}
	if b.HasTest() {
		if err := b.Test(dataDir, reader.Options{}, keep(&t.Test)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Split shuffles the rows and keeps n to train; the others test. Where a unit has several rows it keeps
// whole units, in a shuffled order, until n rows train.
func (t *Table) Split(n int, seed uint64) *Table {
	if t.Units != nil && t.Schema.Unit.MaxRows > 1 {
		return t.splitUnits(n, seed)
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(t.Rows))
	s := &Table{Name: t.Name, Target: t.Target, Schema: t.Schema}
	for i, at := range order {
		if i < n {
			s.Rows = append(s.Rows, t.Rows[at])
			if t.Units != nil {
				s.Units = append(s.Units, t.Units[at])
			}
		} else {
			s.Test = append(s.Test, t.Rows[at])
		}
	}
	return s
}

func (t *Table) splitUnits(n int, seed uint64) *Table {
	of := map[string][]int{}
	for i, u := range t.Units {
		of[u] = append(of[u], i)
	}
	names := slices.Sorted(maps.Keys(of))
	s := &Table{Name: t.Name, Target: t.Target, Schema: t.Schema, Units: []string{}}
	for _, at := range rand.New(rand.NewPCG(seed, 0)).Perm(len(names)) {
		train := len(s.Rows) < n
		for _, i := range of[names[at]] {
			if train {
				s.Rows, s.Units = append(s.Rows, t.Rows[i]), append(s.Units, names[at])
			} else {
				s.Test = append(s.Test, t.Rows[i])
			}
		}
	}
	return s
}

// Seal seals the rows as a public data set.
func (t *Table) Seal(seed uint64) (*intake.Rows, error) {
	return t.SealUnder(intake.SimulationKey(t.Name, seed))
}

// SealUnder seals the rows for the ledger that the key is from.
func (t *Table) SealUnder(key *intake.Key) (*intake.Rows, error) {
	b := intake.NewBuilder(key, t.Schema)
	for i, cells := range t.Rows {
		found := schema.Record{Raw: []byte(fmt.Sprint(i))}
		if t.Units != nil {
			found.Unit = t.Units[i]
		}
		if err := b.Add(cells, found); err != nil {
			return nil, err
		}
	}
	return b.Seal(), nil
}

// Plan is what the honest workflow does with the table at a total (epsilon, delta); it reads no row. change may set
// what differs from the defaults.
func (t *Table) Plan(epsilon, delta string, seed uint64, change func(*workflow.Input)) (*workflow.Plan, error) {
	in := workflow.Input{
		Dataset: t.Name, Schema: t.Schema, Public: true, Target: t.Target, Epsilon: epsilon, Delta: delta,
		Rows: int64(len(t.Rows)), Test: workflow.Official, Seed: &seed,
	}
	if t.Open != nil {
		in.Teacher = &workflow.PublicSet{Name: "public rows", Rows: int64(len(t.Open))}
	}
	if change != nil {
		change(&in)
	}
	return workflow.NewPlan(in)
}

// Fit runs Plan on the rows and returns the exact score on the test rows.
func (t *Table) Fit(ctx context.Context, epsilon, delta string, seed uint64, change func(*workflow.Input)) (*workflow.Outcome, error) {
	plan, err := t.Plan(epsilon, delta, seed, change)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, plan, seed)
}

// run is a plan on the rows, in a ledger of its own.
func (t *Table) run(ctx context.Context, plan *workflow.Plan, seed uint64) (*workflow.Outcome, error) {
	rows, err := t.Seal(seed)
	if err != nil {
		return nil, err
	}
	var other *intake.Rows
	if t.Open != nil {
		open := &Table{Name: "public rows", Schema: t.Schema, Rows: t.Open}
		if other, err = open.Seal(1); err != nil {
			return nil, err
		}
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	return plan.Run(ctx, workflow.Env{Ledger: l, Rows: rows, Other: other, Test: t.Test, Digest: bytes.Repeat([]byte{1}, 32)})
}

// Net is the network of a name of the zoo.
func Net(name string) (zoo.Spec, error) {
	s, ok := zoo.Lookup(name)
	if !ok {
		return s, fmt.Errorf("no net %q", name)
	}
	return s, nil
}
