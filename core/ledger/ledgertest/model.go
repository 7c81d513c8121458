package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// The model counts in tenths of an epsilon, so nothing is rounded.
type modelled struct {
	name   string
	total  int
	slots  []*slot
	replay map[string]*slot
}

type slot struct {
	tenths int
	key    string
	state  ledger.EntryState
	second bool // a replay's permit is out
	permit *sealed.Permit
	owner  *ledger.Ledger
}

func (m *modelled) charged(states ...ledger.EntryState) (tenths int) {
	for _, s := range m.slots {
		for _, st := range states {
			if s.state == st {
				tenths += s.tenths
			}
		}
	}
	return tenths
}

// model runs random operations on a ledger and on a model of it in memory, and
// compares every answer.
func model(t *testing.T, store ledger.Store) {
	ctx := context.Background()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		l := New(store)
		m := &modelled{name: fmt.Sprintf("model-%d", round), total: rapid.IntRange(1, 20).Draw(t, "total"), replay: map[string]*slot{}}
		if err := l.Create(ctx, ledger.Budget{Dataset: m.name, Epsilon: tenths(m.total), Delta: "0", Relation: dp.AddOrRemoveOne}); err != nil {
			t.Fatal(err)
		}
		pick := func(t *rapid.T) *slot {
			if len(m.slots) == 0 {
				t.Skip("nothing reserved")
			}
			return m.slots[rapid.IntRange(0, len(m.slots)-1).Draw(t, "slot")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				s := &slot{tenths: rapid.IntRange(1, 8).Draw(t, "tenths"), key: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "key"),
					state: ledger.Reserved, owner: l}
				q := Spend(m.name, float64(s.tenths)/10)
				if s.key != "" {
					seed := uint64(1)
					q.Seed, q.Plan = &seed, s.key
				}
				p, receipt, err := l.Reserve(ctx, q)
				old := m.replay[s.key]
				fits := m.charged(ledger.Reserved, ledger.Committed)+s.tenths <= m.total
				switch {
				case old != nil && old.tenths != s.tenths:
					if !errors.Is(err, ledger.ErrRefused) || errors.Is(err, ledger.ErrExhausted) {
						t.Fatalf("another computation under key %q: %v", s.key, err)
					}
				case old != nil:
					if err != nil || !receipt.Replayed {
						t.Fatalf("replay of key %q: %v, %+v", s.key, err, receipt)
					}
					old.second = true
				case fits != (err == nil):
					t.Fatalf("reserve %d tenths beside %d of %d: %v", s.tenths, m.charged(ledger.Reserved, ledger.Committed), m.total, err)
				case err != nil && !errors.Is(err, ledger.ErrExhausted):
					t.Fatal(err)
				case err == nil:
					s.permit = p
					m.slots = append(m.slots, s)
					if s.key != "" {
						m.replay[s.key] = s
					}
				}
			},
			"commit": func(t *rapid.T) {
				s := pick(t)
				err := s.owner.Commit(ctx, s.permit)
				if open := s.permit != nil; open != (err == nil) {
					t.Fatalf("commit of a %s slot: %v", s.state, err)
				}
				if err == nil {
					s.state, s.permit = ledger.Committed, nil
				}
			},
			"cancel": func(t *rapid.T) {
				s := pick(t)
				err := s.owner.Cancel(ctx, s.permit)
				if may := s.permit != nil && !s.second; may != (err == nil) {
					t.Fatalf("cancel of a %s slot, second permit %v: %v", s.state, s.second, err)
				}
				if err == nil {
					s.state, s.permit = ledger.Cancelled, nil
					if m.replay[s.key] == s {
						delete(m.replay, s.key)
					}
				}
			},
			"grant": func(t *rapid.T) {
				to := m.total + rapid.IntRange(-2, 3).Draw(t, "more")
				err := l.Grant(ctx, m.name, tenths(max(to, 0)), "", "asked for")
				if (to > m.total) != (err == nil) {
					t.Fatalf("grant from %d to %d tenths: %v", m.total, to, err)
				}
				m.total = max(m.total, to)
			},
			"another process": func(t *rapid.T) { l = New(store) },
			"": func(t *rapid.T) {
				st, err := figures.Show(ctx, l, m.name)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct {
					what string
					got  ledger.Number
					want int
				}{
					{"total", st.Total.Epsilon, m.total},
					{"spent", st.Spent.Epsilon, m.charged(ledger.Committed)},
					{"reserved", st.Reserved.Epsilon, m.charged(ledger.Reserved)},
					{"left", st.Left.Epsilon, m.total - m.charged(ledger.Committed, ledger.Reserved)},
				} {
					if d := float64(c.got) - float64(c.want)/10; d > 3e-9 || d < -3e-9 {
						t.Fatalf("%s: got %v, want %d tenths", c.what, c.got, c.want)
					}
				}
			},
		})
	})
}

func tenths(n int) string { return fmt.Sprintf("%d.%d", n/10, n%10) }
