// Package ledgertest holds what every store of a ledger must satisfy. A store's
// test calls Run; the ledger's own tests run it on the memory store.
package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pawl/core/dp"
	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/core/internal/sealed"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
)

// Run checks a store. open returns a new, empty store; Run closes it.
func Run(t *testing.T, open func(t *testing.T) ledger.Store) {
	start := func(t *testing.T) ledger.Store {
		s := open(t)
		t.Cleanup(func() {
			CheckAll(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return s
	}
	t.Run("transactions", func(t *testing.T) { transactions(t, start(t)) })
	t.Run("two spends of 0.9 on a budget of 1", func(t *testing.T) { twoSpenders(t, start(t)) })
	t.Run("racing spenders never pass the limit", func(t *testing.T) { racing(t, start(t)) })
	t.Run("random operations match the model", func(t *testing.T) { model(t, start(t)) })
	t.Run("edited logs are convicted", func(t *testing.T) { tampering(t, start(t)) })
	t.Run("the code of a head convicts a chain that holds", func(t *testing.T) { codes(t, start(t)) })
	t.Run("what was lost is refused and reconciled", func(t *testing.T) { losing(t, start(t)) })
	t.Run("the second place raises no false alarm", func(t *testing.T) { beside(t, start(t)) })
	t.Run("shares, freezing, approval, foreign runs", func(t *testing.T) { stewardship(t, start(t)) })
	t.Run("racing analysts stay within shares and budget", func(t *testing.T) { analysts(t, start(t)) })
	t.Run("foretelling books nothing", func(t *testing.T) { foretelling(t, start(t)) })
	t.Run("a log moves between stores", func(t *testing.T) { moving(t, start(t)) })
	t.Run("prints lie apart", func(t *testing.T) { prints(t, start(t)) })
	t.Run("copies are recognised", func(t *testing.T) { copies(t, start(t)) })
	t.Run("cancelled contexts book nothing or all", func(t *testing.T) { contexts(t, start(t)) })
}

// New returns a ledger on s with the accountant Sum, as one process would open it.
func New(s ledger.Store) *ledger.Ledger { return as(s, "ann") }

func as(s ledger.Store, user string) *ledger.Ledger {
	return ledger.New(s, Sum{}, ledger.Options{User: user})
}

// Spend returns a request of a pure event on a data set of unit "row".
func Spend(dataset string, epsilon float64) ledger.Request {
	digest := make([]byte, 32)
	copy(digest, dataset)
	digest[31] = 1
	return ledger.Request{Dataset: dataset, Plan: "plan", Event: dp.Pure{Epsilon: epsilon}, Stages: []string{"train"},
		Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1, Epsilon: "1", Delta: "1e-6", Digest: digest}
}

// Rows are sealed rows of a data set, of which there are none, with prints of it.
func Rows(t testing.TB, l *ledger.Ledger, dataset string, prints ...*identity.Print) *intake.Rows {
	t.Helper()
	key, err := l.Key(context.Background(), dataset)
	if err != nil {
		t.Fatal(err)
	}
	b := intake.NewBuilder(key, &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", MaxRows: 1}})
	b.Print(prints...)
	return b.Seal()
}

// CheckAll verifies every chain of a store and that nowhere more was spent than
// was granted.
func CheckAll(t testing.TB, s ledger.Store) {
	t.Helper()
	ctx := context.Background()
	l := New(s)
	names, err := l.Names(ctx)
	if err != nil {
		t.Errorf("names: %v", err)
	}
	for _, name := range names {
		if err := l.Verify(ctx, name); err != nil {
			t.Errorf("verify %s: %v", name, err)
			continue
		}
		st, err := figures.Show(ctx, l, name)
		if err != nil {
			t.Errorf("show %s: %v", name, err)
			continue
		}
		sum := st.Spent.Epsilon + st.Reserved.Epsilon
		if st.Exceeded {
			continue // a foreign run was booked after the fact
		}
		if sum > st.Total.Epsilon*(1+1e-9) {
			t.Errorf("%s: spent %v + reserved %v > total %v", name, st.Spent.Epsilon, st.Reserved.Epsilon, st.Total.Epsilon)
		}
		if d := float64(sum + st.Left.Epsilon - st.Total.Epsilon); d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: spent %v + reserved %v + left %v is not total %v", name, st.Spent.Epsilon, st.Reserved.Epsilon, st.Left.Epsilon, st.Total.Epsilon)
		}
	}
}

// CreateBudget grants data set "d", on which Processes spend, a budget of 1.
func CreateBudget(t testing.TB, s ledger.Store) {
	t.Helper()
	create(t, New(s), "d", "1")
}

func create(t testing.TB, l *ledger.Ledger, name, epsilon string) {
	t.Helper()
	err := l.Create(context.Background(), ledger.Budget{Dataset: name, Epsilon: epsilon, Delta: "1e-6", Relation: dp.AddOrRemoveOne})
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
}

func transactions(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	head := func(tx ledger.Tx) ledger.Head {
		h, err := tx.Head("a")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	create(t, New(s), "a", "1")
	var record ledger.Record
	mine := errors.New("mine")
	err := s.Update(ctx, func(tx ledger.Tx) error {
		records, err := tx.Records("a", 0)
		if err != nil || len(records) != 1 {
			t.Fatalf("records: %d, %v; want 1", len(records), err)
		}
		record = records[0]
		if record.Sum() != record.Hash {
			t.Error("a record does not come back as it was written")
		}
		next := record
		next.Seq, next.Prev = 2, record.Hash
		next.Hash = next.Sum()
		if err := tx.Append(next); err != nil {
			t.Fatal(err)
		}
		if h := head(tx); h.Seq != 2 || h.Hash != next.Hash {
			t.Errorf("head inside the transaction: %v, want 2", h.Seq)
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("Update returned %v, want the callback's error", err)
	}
	for _, seq := range []int64{0, 1, 3} {
		wrong := record
		wrong.Seq = seq
		if err := s.Update(ctx, func(tx ledger.Tx) error { return tx.Append(wrong) }); err == nil {
			t.Errorf("record %d was appended after record 1", seq)
		}
	}
	err = s.View(ctx, func(tx ledger.Tx) error {
		if h := head(tx); h.Seq != 1 || h.Hash != record.Hash {
			t.Errorf("head after a failed transaction: %d, want 1", h.Seq)
		}
		next := record
		next.Seq = 2
		if tx.Append(next) == nil {
			t.Error("a view appended")
		}
		if h, err := tx.Head("unknown"); err != nil || h != (ledger.Head{}) {
			t.Errorf("head of an unknown data set: %v, %v", h, err)
		}
		if records, err := tx.Records("a", 1); err != nil || len(records) != 0 {
			t.Errorf("records after the last: %d, %v", len(records), err)
		}
		one, err := tx.Secret()
		if err != nil || len(one) != 32 {
			t.Errorf("secret of %d bytes, %v", len(one), err)
		}
		two, _ := tx.Secret()
		if string(one) != string(two) {
			t.Error("the secret changes")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func twoSpenders(t *testing.T, s ledger.Store) {
	for i := range 100 {
		name := fmt.Sprintf("f17-%d", i)
		create(t, New(s), name, "1")
		if got := race(t, s, name, 2, 1, 0.9); got != 1 {
			t.Fatalf("repeat %d: %d of two spends of 0.9 were accepted, want exactly 1", i, got)
		}
	}
}

func racing(t *testing.T, s ledger.Store) {
	create(t, New(s), "raced", "1")
	if got := race(t, s, "raced", 8, 10, 0.05); got != 20 {
		t.Errorf("%d spends of 0.05 were accepted on a budget of 1, want 20", got)
	}
}

// race lets each of n ledgers try to spend epsilon k times and returns how many
// were accepted. Half of what is accepted is committed.
func race(t *testing.T, s ledger.Store, name string, n, k int, epsilon float64) (accepted int) {
	var group sync.WaitGroup
	var mu sync.Mutex
	for range n {
		group.Go(func() {
			l := New(s) // its own cache, as another process has
			for i := range k {
				p, _, err := l.Reserve(context.Background(), Spend(name, epsilon))
				switch {
				case err == nil:
					mu.Lock()
					accepted++
					mu.Unlock()
					if i%2 == 0 {
						err = l.Commit(context.Background(), p)
					}
				case errors.Is(err, ledger.ErrExhausted):
					err = nil
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	group.Wait()
	return accepted
}

func contexts(t *testing.T, s ledger.Store) {
	l := New(s)
	create(t, l, "c", "1")
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	var p *sealed.Permit
	p, _, err := l.Reserve(dead, Spend("c", 0.5))
	if err == nil || p != nil {
		t.Fatal("a reservation was made under a cancelled context")
	}
	if _, _, err := l.Reserve(context.Background(), Spend("c", 1)); err != nil {
		t.Errorf("the budget shrank by a reservation that was not made: %v", err)
	}
}
