package postgres

import (
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

// BenchmarkReserve is one durable admission.
func BenchmarkReserve(b *testing.B) {
	s := open(b, database(b))
	defer s.Close()
	l := ledgertest.New(s)
	must(b, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1000000", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
	for b.Loop() {
		_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1))
		must(b, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkRefuse is a decision without a booking, a round trip to the server.
func BenchmarkRefuse(b *testing.B) {
	s := open(b, database(b))
	defer s.Close()
	l := ledgertest.New(s)
	must(b, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
	_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1))
	must(b, err)
	for b.Loop() {
		if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1)); err == nil {
			b.Fatal("admitted")
		}
	}
}
