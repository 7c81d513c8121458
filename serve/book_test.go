package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/store/memory"
	"pawl/store/sqlite"
)

// large is a ledger of so many data sets, each with so many entries: the log of one is made by
// booking, and those of the others are the same with other names.
func large(t testing.TB, store ledger.Store, datasets, entries int) *ledger.Ledger {
	t.Helper()
	ctx := context.Background()
	made := memory.New()
	l := ledger.New(made, pricing.Accountant{}, ledger.Options{User: "ann"})
	if err := l.Create(ctx, ledger.Budget{Dataset: "first", Epsilon: "10", Delta: "1e-6", Unit: "person", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if _, err := l.Book(ctx, ledger.Booking{Dataset: "first", Event: dp.Gaussian{NoiseMultiplier: 20 + float64(i%5)}, By: "bob", Reason: "yearly counts"}); err != nil {
			t.Fatal(err)
		}
	}
	records, err := l.Records(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(ctx, func(tx ledger.Tx) error {
		for d := range datasets {
			name := fmt.Sprintf("data set %04d", d)
			prev := ledger.Hash(sha256.Sum256([]byte("pawl ledger genesis\x00" + name)))
			for _, r := range records {
				r.Dataset, r.Prev = name, prev
				r.Hash = r.Sum()
				prev = r.Hash
				if err := tx.Append(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ledger.New(store, pricing.Accountant{}, ledger.Options{User: "ann"})
}

// The first page comes at once, however large the ledger is: cold, when no log has been read, and
// warm, when all have.
func TestFirstPageOfALargeLedger(t *testing.T) {
	datasets, entries := 1000, 100
	if testing.Short() {
		datasets, entries = 200, 20
	}
	l := large(t, memory.New(), datasets, entries)
	listener, hosts, _, err := Endpoint{Address: "127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: New(Options{Ledger: l, Hosts: hosts}), t: t, url: "http://" + hosts[0], log: &strings.Builder{}}
	defer listener.Close()
	// Nothing runs behind it: the page has to do without.
	visit := func() (string, time.Duration) {
		t.Helper()
		start := time.Now()
		got := s.direct("/")
		return got, time.Since(start)
	}
	cold, took := visit()
	if !strings.Contains(cold, fmt.Sprintf("<dd>%d</dd>", datasets)) || !strings.Contains(cold, "still being read") || !strings.Contains(cold, "1 to 50 of") {
		t.Fatalf("the cold page:\n%.3000s", cold)
	}
	t.Logf("cold: %v", took)
	if took > 2*time.Second {
		t.Errorf("the cold page took %v", took)
	}
	names, tips, _, err := s.book.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:linesOnPage] { // what keep does behind the pages
		if _, _, err := s.book.read(t.Context(), name, tips[name]); err != nil {
			t.Fatal(err)
		}
	}
	warm, took := visit()
	t.Logf("warm: %v", took)
	if strings.Contains(warm, `class="soft">being read`) || strings.Count(warm, ">10.00<") != linesOnPage {
		t.Fatalf("the warm page lacks figures:\n%.3000s", warm)
	}
	if took > 2*time.Second {
		t.Errorf("the warm page took %v", took)
	}
}

// A page never shows what a booking has made old.
func TestFiguresAreNeverOlderThanThePage(t *testing.T) {
	l := filled(t)
	s := open(t, l, nil).enter("")
	before := s.get("/budget?name=clinic").body
	s.get("/")
	if _, err := l.Book(t.Context(), ledger.Booking{Dataset: "clinic", Event: dp.Gaussian{NoiseMultiplier: 4}, By: "bob", Reason: "a third run"}); err != nil {
		t.Fatal(err)
	}
	after := s.get("/budget?name=clinic").body
	if before == after || !strings.Contains(after, "a third run") {
		t.Error("the page of the budget is old")
	}
	a, err := figures.Show(t.Context(), l, "clinic")
	if err != nil {
		t.Fatal(err)
	}
	if first := s.get("/").body; !strings.Contains(first, fmt.Sprintf(">%s<", epsilonUp(a.Spent.Epsilon))) {
		t.Errorf("the first page lacks %s spent:\n%s", epsilonUp(a.Spent.Epsilon), first)
	}
}

// BenchmarkFirstPage is the first page of a ledger of SQLite with 1,000 data sets and 100,000
// entries: cold, with no log read, and warm, with all of them read.
func BenchmarkFirstPage(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	l := large(b, store, 1000, 100)
	fresh := func() *site {
		return &site{Server: New(Options{Ledger: l, Hosts: []string{"127.0.0.1:1"}}), t: b, url: "http://127.0.0.1:1"}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			l = l.As("ann") // which has read nothing
			s := fresh()
			b.StartTimer()
			s.direct("/")
		}
	})
	b.Run("warm", func(b *testing.B) {
		s := fresh()
		names, tips, _, err := s.book.list(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		for _, name := range names {
			if _, _, err := s.book.read(b.Context(), name, tips[name]); err != nil {
				b.Fatal(err)
			}
		}
		b.Logf("all logs are read behind the pages in %v", time.Since(start))
		for b.Loop() {
			s.direct("/")
		}
	})
}
