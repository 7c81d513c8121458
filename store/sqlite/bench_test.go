package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
)

// filled returns a ledger of n committed entries of different cost, through one
// store transaction each.
func filled(b *testing.B, n int) (*Store, *ledger.Ledger) {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "ledger.db"))
	b.Cleanup(func() { s.Close() })
	// Filling is not what is measured.
	if _, err := s.db.Exec(`PRAGMA synchronous = OFF`); err != nil {
		b.Fatal(err)
	}
	l := ledgertest.New(s)
	if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1000000", Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1+float64(i)/1e6)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.db.Exec(`PRAGMA synchronous = FULL`); err != nil {
		b.Fatal(err)
	}
	return s, l
}

// BenchmarkReserve is one durable admission beside n entries.
func BenchmarkReserve(b *testing.B) {
	for _, n := range []int{0, 1000, 10000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			_, l := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkRefuse is a decision without a booking: no disk flush.
func BenchmarkRefuse(b *testing.B) {
	for _, n := range []int{1, 1000, 10000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			_, l := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1e9)); err == nil {
					b.Fatal("admitted")
				}
			}
		})
	}
}

// BenchmarkColdShow is what a new process pays to read, check and price a log.
func BenchmarkColdShow(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			s, _ := filled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := figures.Show(ctx, ledgertest.New(s), "d"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
