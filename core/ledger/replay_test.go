package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/data/schema"
)

func seed(n uint64) *uint64 { return &n }

func secretFor(t *testing.T) entropy.Secret {
	t.Helper()
	s, err := entropy.NewSecret()
	must(t, err)
	return s
}

// noiseUnder opens rows for the event of a request and returns the first word of its
// stream.
func noiseUnder(t *testing.T, p *ledger.Permit, q ledger.Request) uint64 {
	t.Helper()
	rows := sealed.New(q.Dataset, &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}}, nil, nil)
	v, err := sealed.Open(rows, p, dp.WholeScope, q.Event)
	must(t, err)
	return v.Noise().Uint64()
}

// Whether noise came from a seed is what the ledger did, not what somebody says: the
// permit, the receipt and the entry agree.
func TestSeedsAreMarked(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	drawn := map[uint64]bool{}
	for i, s := range []*uint64{nil, seed(0), seed(7), nil} {
		q := ledgertest.Spend("d", 0.125)
		q.Seed = s
		p, receipt, err := l.Reserve(ctx, q)
		must(t, err)
		if want := s != nil; p.Seeded() != want || receipt.NotPrivate != want {
			t.Errorf("seed %v: permit %v, receipt %v", s, p.Seeded(), receipt.NotPrivate)
		}
		v := noiseUnder(t, p, q)
		if drawn[v] {
			t.Errorf("reservation %d has the noise of another", i)
		}
		drawn[v] = true
	}
	// The same simulation again: no charge, the same noise.
	q := ledgertest.Spend("d", 0.125)
	q.Seed = seed(7)
	p, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if !receipt.Replayed || !receipt.NotPrivate || !drawn[noiseUnder(t, p, q)] {
		t.Errorf("the same seed again: %+v", receipt)
	}
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	for i, want := range []bool{false, true, true, false} {
		if st.Entries[i].NotPrivate != want {
			t.Errorf("entry %d: not private %v", i, st.Entries[i].NotPrivate)
		}
	}
}

func TestReplaysNeedASecretAndAName(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	for name, q := range map[string]struct {
		replay ledger.Replay
		seed   *uint64
	}{
		"no secret":       {ledger.Replay{Of: []byte("of")}, nil},
		"no name":         {ledger.Replay{Secret: secretFor(t)}, nil},
		"a seed beside":   {ledger.Replay{Secret: secretFor(t), Of: []byte("of")}, seed(1)},
		"neither of them": {ledger.Replay{}, nil},
	} {
		r := ledgertest.Spend("d", 0.125)
		r.Replay, r.Seed = &q.replay, q.seed
		if _, _, err := l.Reserve(ctx, r); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A computation that is run again costs nothing and has its noise again. Whatever is
// changed makes it another one, which is charged and has unrelated noise.
func TestReplaysOfASecret(t *testing.T) {
	l, store := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	must(t, l.Create(ctx, budget("e", "1")))
	kept := secretFor(t)
	request := func() ledger.Request {
		q := ledgertest.Spend("d", 0.125)
		q.Replay = &ledger.Replay{Secret: kept, Of: []byte("settings, kernel, version")}
		return q
	}
	q := request()
	first, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if receipt.Replayed || receipt.NotPrivate || first.Seeded() {
		t.Errorf("first: %+v", receipt)
	}
	drawn := map[uint64]string{}
	want := noiseUnder(t, first, q)
	drawn[want] = "first"

	// Another process, with what the file kept.
	again, err := entropy.RestoreSecret(kept.Save())
	must(t, err)
	r := request()
	r.Replay.Secret = again
	p, receipt, err := ledger.New(store, ledgertest.Sum{}, ledger.Options{}).Reserve(ctx, r)
	must(t, err)
	if got := noiseUnder(t, p, r); !receipt.Replayed || got != want {
		t.Errorf("again: replayed %v, noise %x, want %x", receipt.Replayed, got, want)
	}

	for _, c := range []struct {
		name   string
		change func(*ledger.Request)
	}{
		{"event", func(q *ledger.Request) { q.Event = dp.Pure{Epsilon: 0.0625} }},
		{"of", func(q *ledger.Request) { q.Replay.Of = []byte("settings, kernel, other version") }},
		{"secret", func(q *ledger.Request) { q.Replay.Secret = secretFor(t) }},
		{"data set", func(q *ledger.Request) { *q = ledgertest.Spend("e", 0.125); q.Replay = request().Replay }},
		{"bytes", func(q *ledger.Request) { q.Digest = bytes.Repeat([]byte{7}, 32); q.Updated = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := request()
			c.change(&other)
			p, receipt, err := l.Reserve(ctx, other)
			must(t, err)
			v := noiseUnder(t, p, other)
			if same, ok := drawn[v]; ok || receipt.Replayed {
				t.Errorf("replayed %v, noise of %q", receipt.Replayed, same)
			}
			drawn[v] = c.name
		})
	}
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if len(st.Entries) != 5 { // "data set" is booked elsewhere
		t.Errorf("%d entries", len(st.Entries))
	}

	// What is booked does not tell the secret.
	var out bytes.Buffer
	_, err = l.Export(ctx, &out, ledger.Export{Datasets: []string{"d"}})
	must(t, err)
	hex, err := json.Marshal(kept.Save())
	must(t, err)
	if !strings.Contains(out.String(), "replay ") || strings.Contains(out.String(), string(hex)) {
		t.Error("the log has no name of the computation, or its secret")
	}
}

// Other bytes without the operator's word are refused as ever, secret or not.
func TestReplaysOfOtherBytesAreRefused(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	q := ledgertest.Spend("d", 0.125)
	q.Replay = &ledger.Replay{Secret: secretFor(t), Of: []byte("of")}
	_, _, err := l.Reserve(ctx, q)
	must(t, err)
	q.Digest = bytes.Repeat([]byte{7}, 32)
	_, _, err = l.Reserve(ctx, q)
	refused(t, err, "not those that were registered", "--updated")
}

// A ledger of an earlier version reads as it was written. What it booked under a key of
// its own making is nobody's replay now: a run that goes on is charged anew.
func TestEarlierLedgersAreRead(t *testing.T) {
	f, err := os.Open("testdata/earlier.jsonl")
	must(t, err)
	defer f.Close()
	l, _ := newLedger(t, ledgertest.Sum{})
	_, err = l.Import(ctx, f)
	must(t, err)
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if len(st.Entries) != 4 || st.Spent.Epsilon != 0.375 {
		t.Fatalf("%d entries, spent %v", len(st.Entries), st.Spent)
	}
	for i, want := range []ledger.EntryState{ledger.Committed, ledger.Committed, ledger.Committed, ledger.Reserved} {
		if e := st.Entries[i]; e.State != want || e.NotPrivate != (i == 1) {
			t.Errorf("entry %d: %s, not private %v", i, e.State, e.NotPrivate)
		}
	}
	q := ledgertest.Spend("d", 0.125)
	q.Seed = seed(7)
	_, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if !receipt.Replayed || receipt.ID != st.Entries[1].ID {
		t.Errorf("the seeded run again: %+v", receipt)
	}
	q.Seed, q.Replay = nil, &ledger.Replay{Secret: secretFor(t), Of: []byte("of")}
	_, receipt, err = l.Reserve(ctx, q)
	must(t, err)
	if receipt.Replayed {
		t.Error("a computation of this version goes on with one of an earlier version")
	}
}

// recorder keeps the caps that a ledger asked for.
type recorder struct {
	ledgertest.Sum
	caps *[]ledger.Cap
}

func (r recorder) Account(limit ledger.Cap, rel dp.Relation) (ledger.Account, error) {
	*r.caps = append(*r.caps, limit)
	return r.Sum.Account(limit, rel)
}

// A budget of an earlier version keeps its filter, which has all of delta, also when it is
// raised. One of this version has doors, which follow the event that was booked first, whoever
// granted it, and so has an earlier one that admitted nothing at a delta.
func TestFilterOfAGrant(t *testing.T) {
	f, err := os.Open("testdata/earlier.jsonl")
	must(t, err)
	defer f.Close()
	var caps []ledger.Cap
	l, _ := newLedger(t, recorder{caps: &caps})
	_, err = l.Import(ctx, f)
	must(t, err)
	must(t, l.Grant(ctx, "d", "50", "", "raised"))
	_, err = figures.Show(ctx, l, "d")
	must(t, err)
	if len(caps) == 0 || slices.ContainsFunc(caps, func(c ledger.Cap) bool { return c.Doors }) {
		t.Errorf("an earlier budget: %+v", caps)
	}
	caps = nil
	q := ledgertest.Spend("mine", 0.25)
	q.Epsilon, q.Delta, q.Digest = "1", "1e-6", bytes.Repeat([]byte{8}, len(ledger.Hash{}))
	_, _, err = l.Reserve(ctx, q)
	must(t, err)
	_, err = figures.Show(ctx, l, "mine")
	must(t, err)
	must(t, l.Grant(ctx, "mine", "2", "", "raised"))
	q.Event = dp.Pure{Epsilon: 0.125}
	_, _, err = l.Reserve(ctx, q)
	must(t, err)
	if len(caps) == 0 || slices.ContainsFunc(caps, func(c ledger.Cap) bool { return !c.Doors }) {
		t.Errorf("a budget of one's own: %+v", caps)
	}
	caps = nil
	must(t, l.Create(ctx, ledger.Budget{Dataset: "new", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
	for _, x := range []float64{0.25, 0.125} {
		q := ledgertest.Spend("new", x)
		q.Digest = bytes.Repeat([]byte{9}, len(ledger.Hash{}))
		_, _, err = l.Reserve(ctx, q)
		must(t, err)
	}
	if len(caps) == 0 || !caps[0].Doors || caps[0].First != (dp.Pure{Epsilon: 0.25}) {
		t.Errorf("a budget with doors: %+v", caps)
	}
	caps = nil
	must(t, l.Grant(ctx, "new", "2", "", "raised"))
	must(t, l.GrantShare(ctx, ledger.Share{Dataset: "new", Analyst: "bob", Epsilon: "1", Reason: "study"}))
	_, err = figures.Show(ctx, l, "new")
	must(t, err)
	if len(caps) == 0 || slices.ContainsFunc(caps, func(c ledger.Cap) bool { return !c.Doors }) {
		t.Errorf("raised and divided: %+v", caps)
	}
}

// A budget that a new ledger takes over from a lost one keeps its filter.
func TestFilterOfALostLedger(t *testing.T) {
	var caps []ledger.Cap
	l, _ := newLedger(t, recorder{caps: &caps})
	q := ledgertest.Spend("lost", 0.25)
	q.Epsilon, q.Delta, q.Digest = "1", "1e-6", bytes.Repeat([]byte{8}, len(ledger.Hash{}))
	p, _, err := l.Reserve(ctx, q)
	must(t, err)
	held, err := l.Held(p)
	must(t, err)
	again, _ := newLedger(t, recorder{caps: &caps})
	_, err = again.Reconcile(ctx, ledger.Reconcile{Reason: "lost", Held: &held})
	must(t, err)
	caps = nil
	_, _, err = again.Reserve(ctx, q)
	must(t, err)
	if len(caps) == 0 || slices.ContainsFunc(caps, func(c ledger.Cap) bool { return !c.Doors || c.First != nil }) {
		t.Errorf("taken over: %+v", caps)
	}
}
