package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

var ctx = context.Background()

func noon() time.Time { return time.Date(2026, 11, 27, 12, 0, 0, 500, time.FixedZone("", 3600)) }

func newLedger(t *testing.T, a ledger.Accountant) (*ledger.Ledger, *memory.Store) {
	t.Helper()
	store := memory.New()
	return ledger.New(store, a, ledger.Options{User: "ann", Clock: noon}), store
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func budget(name, epsilon string) ledger.Budget {
	return ledger.Budget{Dataset: name, Epsilon: epsilon, Delta: "1e-6", Relation: dp.AddOrRemoveOne}
}

func refused(t *testing.T, err error, reason, hint string) {
	t.Helper()
	if !errors.Is(err, ledger.ErrRefused) {
		t.Fatalf("got %v, want a refusal", err)
	}
	h, ok := err.(interface{ Hint() string })
	if !ok || !strings.Contains(err.Error(), reason) || !strings.Contains(h.Hint(), hint) {
		t.Errorf("got %q with hint %q, want %q with hint %q", err, h.Hint(), reason, hint)
	}
	if strings.ContainsAny(err.Error()+h.Hint(), "\n") {
		t.Errorf("%q is more than one line", err)
	}
}

func TestFirstUseGrantsItselfTheBudget(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	p, receipt, err := l.Reserve(ctx, ledgertest.Spend("patients", 0.5))
	must(t, err)
	if !receipt.SelfGrant || !receipt.Grant.Self || receipt.Grant.By != "ann" || receipt.Grant.At != "2026-11-27T11:00:00.0000005Z" || receipt.Public || !receipt.Limited {
		t.Errorf("receipt %+v", receipt)
	}
	if p.ID() != receipt.ID || p.Dataset() != "patients" || p.MaxRows() != 1 || p.Relation() != dp.AddOrRemoveOne {
		t.Errorf("permit %v of %v", p.ID(), p.Dataset())
	}
	_, again, err := l.Reserve(ctx, ledgertest.Spend("patients", 0.5))
	must(t, err)
	if again.SelfGrant || again.Epsilon.String() != "1" {
		t.Errorf("second receipt %+v", again)
	}
	// What the second user asks for does not raise the budget.
	q := ledgertest.Spend("patients", 0.1)
	q.Epsilon = "9"
	_, _, err = l.Reserve(ctx, q)
	refused(t, err, "exhausted", "pawl ledger grant patients")

	q = ledgertest.Spend("other", 10.5)
	q.Epsilon = "10.5"
	_, _, err = l.Reserve(ctx, q)
	refused(t, err, "more than the 10", "pawl ledger create other --epsilon 10.5 --delta 1e-6")
	if _, err := figures.Show(ctx, l, "other"); !errors.Is(err, ledger.ErrUnknownDataset) {
		t.Errorf("a refused first use left something behind: %v", err)
	}
}

func TestTeamLedgerAsksTheSteward(t *testing.T) {
	l, store := newLedger(t, ledgertest.Sum{})
	store.Team = true
	_, _, err := l.Reserve(ctx, ledgertest.Spend("it's", 0.5))
	refused(t, err, "team", `pawl ledger create 'it'\''s' --epsilon 1 --delta 1e-6`)
	must(t, l.Create(ctx, budget("it's", "1")))
	_, _, err = l.Reserve(ctx, ledgertest.Spend("it's", 0.5))
	must(t, err)
}

// The first reservation is judged by its own bound, from the second on the filter
// counts all of them. Slack makes the filter charge 1.125 times the sum.
func TestFirstPlanIsJudgedAlone(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{Slack: 0.125})
	must(t, l.Create(ctx, budget("d", "1")))
	_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 1.01))
	refused(t, err, "needs epsilon 1.01, left 1 of 1", "grant")

	p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.95))
	must(t, err)
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if st.Reserved.Epsilon != 0.95 || st.Left.Epsilon != 0.05 || st.Spent.Epsilon != 0 {
		t.Errorf("one plan: reserved %v, left %v; want its own bound 0.95, 0.05", st.Reserved.Epsilon, st.Left.Epsilon)
	}
	_, _, err = l.Reserve(ctx, ledgertest.Spend("d", 0.015625))
	var x *ledger.ExhaustedError
	if !errors.As(err, &x) || x.Left != 0 || x.Need != 0.017578125 || x.Epsilon.String() != "1" {
		t.Errorf("beside 0.95 (1.06875 to the filter): %v, want need 0.017578125, left 0", err)
	}
	must(t, l.Cancel(ctx, p))
	for range 2 {
		_, _, err = l.Reserve(ctx, ledgertest.Spend("d", 0.375))
		must(t, err)
	}
	st, err = figures.Show(ctx, l, "d")
	must(t, err)
	if st.Reserved.Epsilon != 0.84375 || st.AtOnce.Epsilon != 0.75 {
		t.Errorf("two plans: reserved %v, at once %v; want the filter's 0.84375, and 0.75", st.Reserved.Epsilon, st.AtOnce.Epsilon)
	}
}

func TestTermsOfTheBudget(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Unit: "patient", RowsPerUnit: 4, Relation: dp.ReplaceOne}))
	good := ledgertest.Spend("d", 0.1)
	good.Unit, good.RowsPerUnit, good.Relation = "patient", 4, dp.ReplaceOne
	for _, c := range []struct {
		name   string
		change func(*ledger.Request)
		reason string
	}{
		{"relation", func(q *ledger.Request) { q.Relation = dp.AddOrRemoveOne }, "replace_one"},
		{"unit", func(q *ledger.Request) { q.Unit = "row" }, `"patient"`},
		{"rows per unit", func(q *ledger.Request) { q.RowsPerUnit = 5 }, "4 rows per unit"},
	} {
		q := good
		c.change(&q)
		_, _, err := l.Reserve(ctx, q)
		t.Run(c.name, func(t *testing.T) { refused(t, err, c.reason, "pawl ledger show d") })
	}
	good.RowsPerUnit = 2
	p, _, err := l.Reserve(ctx, good)
	must(t, err)
	if p.MaxRows() != 2 {
		t.Errorf("permit for %d rows per unit, want what was priced: 2", p.MaxRows())
	}

	// What create leaves open, the first use fixes.
	must(t, l.Create(ctx, budget("open", "1")))
	q := ledgertest.Spend("open", 0.1)
	q.Unit, q.RowsPerUnit = "household", 3
	_, _, err = l.Reserve(ctx, q)
	must(t, err)
	q.Unit = "row"
	_, _, err = l.Reserve(ctx, q)
	refused(t, err, `"household"`, "show")
}

func TestBytes(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	digest := func(text string) []byte {
		d, err := l.Digest(ctx, strings.NewReader(text))
		must(t, err)
		return d
	}
	if !bytes.Equal(digest("rows"), digest("rows")) || bytes.Equal(digest("rows"), digest("rows2")) {
		t.Error("the digest is no function of the bytes")
	}
	other, _ := newLedger(t, ledgertest.Sum{})
	if d, _ := other.Digest(ctx, strings.NewReader("rows")); bytes.Equal(d, digest("rows")) {
		t.Error("two ledgers give one digest: it is not keyed")
	}
	spend := func(name, text string, updated bool) error {
		q := ledgertest.Spend(name, 0.1)
		q.Digest, q.Updated = digest(text), updated
		_, _, err := l.Reserve(ctx, q)
		return err
	}
	must(t, spend("a", "rows", false))
	must(t, spend("a", "rows", false))
	refused(t, spend("b", "rows", false), `sensitive data set "a"`, "pawl ledger grant a")
	refused(t, spend("a", "more rows", false), "not those that were registered", "--updated")
	must(t, spend("a", "more rows", true))
	must(t, spend("a", "more rows", false))
	refused(t, spend("b", "rows", true), `sensitive data set "a"`, "grant a") // what it once had
	refused(t, spend("b", "more rows", false), `sensitive data set "a"`, "grant a")
	must(t, spend("b", "rows of b", false))
	refused(t, spend("b", "more rows", true), `sensitive data set "a"`, "grant a")
	must(t, l.DeclarePublic(ctx, "a", "published by the ministry"))
	must(t, spend("c", "more rows", false))
	st, err := figures.Show(ctx, l, "a")
	must(t, err)
	if len(st.Entries) != 4 || !st.Public || st.Total.Epsilon.String() != "inf" {
		t.Errorf("public by declaration: %d entries, total %v", len(st.Entries), st.Total.Epsilon)
	}
}

func TestPublicIsTheLedgersProperty(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	public := ledgertest.Spend("adult", 20)
	public.Public, public.Epsilon = true, "20"
	for range 3 {
		_, receipt, err := l.Reserve(ctx, public)
		must(t, err)
		if !receipt.Public || receipt.Limited || receipt.SelfGrant {
			t.Errorf("receipt %+v", receipt)
		}
	}
	st, err := figures.Show(ctx, l, "adult")
	must(t, err)
	text, err := json.Marshal(st)
	must(t, err)
	for _, want := range []string{`"granted":null`, `"total":{"epsilon":"inf","delta":0.000001}`, `"left":{"epsilon":"inf"`, `"reserved":{"epsilon":60,`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("statement lacks %s: %s", want, text)
		}
	}
	// A budget limits public data too.
	must(t, l.Create(ctx, budget("adult", "70")))
	_, _, err = l.Reserve(ctx, public)
	refused(t, err, "exhausted", "grant")

	// The flag of a schema does not make sensitive data public.
	_, _, err = l.Reserve(ctx, ledgertest.Spend("patients", 0.9))
	must(t, err)
	q := ledgertest.Spend("patients", 0.9)
	q.Public = true
	_, _, err = l.Reserve(ctx, q)
	refused(t, err, "exhausted", "grant")
	must(t, l.Create(ctx, budget("granted", "1")))
	q = ledgertest.Spend("granted", 0.9)
	q.Public = true
	_, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if receipt.Public {
		t.Error("a schema made a data set public that a steward had registered")
	}
}

func TestReplayCostsNothing(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	q := ledgertest.Spend("d", 0.9)
	q.Seed = seed(1)
	first, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if !receipt.NotPrivate || receipt.Replayed {
		t.Errorf("receipt %+v", receipt)
	}
	second, receipt, err := l.Reserve(ctx, q)
	must(t, err)
	if !receipt.Replayed || second.ID() != first.ID() || second == first {
		t.Errorf("replay: %+v, ids %s and %s", receipt, first.ID(), second.ID())
	}
	for name, change := range map[string]func(*ledger.Request){
		"event": func(q *ledger.Request) { q.Event = dp.Pure{Epsilon: 0.91} },
		"bytes": func(q *ledger.Request) { q.Digest = bytes.Repeat([]byte{7}, 32); q.Updated = true },
		// Units in other places: the charge was for units in theirs.
		"assignment": func(q *ledger.Request) { q.Rows = ledgertest.Rows(t, l, "d") },
	} {
		other := q
		change(&other)
		_, _, err := l.Reserve(ctx, other)
		t.Run(name, func(t *testing.T) { refused(t, err, "another computation", "new") })
	}
	// Neither permit can take the charge back: the other may have opened rows.
	if err := l.Cancel(ctx, second); !errors.Is(err, ledger.ErrOpened) {
		t.Errorf("cancel of a replay: %v", err)
	}
	if err := l.Cancel(ctx, first); !errors.Is(err, ledger.ErrOpened) {
		t.Errorf("cancel of a replayed reservation: %v", err)
	}
	must(t, l.Commit(ctx, first))
	must(t, l.Commit(ctx, second))
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if len(st.Entries) != 1 || st.Entries[0].State != ledger.Committed || !st.Entries[0].NotPrivate || st.Spent.Epsilon != 0.9 {
		t.Errorf("statement %+v", st)
	}
}

func TestSettling(t *testing.T) {
	l, store := newLedger(t, ledgertest.Sum{})
	p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.5))
	must(t, err)
	other := ledger.New(store, ledgertest.Sum{}, ledger.Options{})
	if err := other.Cancel(ctx, p); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("a ledger cancelled the permit of another: %v", err)
	}
	if err := l.Cancel(ctx, nil); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("cancel of nothing: %v", err)
	}
	must(t, l.Cancel(ctx, p))
	for name, settle := range map[string]error{"cancel": l.Cancel(ctx, p), "commit": l.Commit(ctx, p)} {
		if !errors.Is(settle, ledger.ErrInvalid) {
			t.Errorf("%s after cancel: %v", name, settle)
		}
	}
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if st.Left.Epsilon != 1 || st.Entries[0].State != ledger.Cancelled {
		t.Errorf("after a cancel: left %v, %s", st.Left.Epsilon, st.Entries[0].State)
	}
}

func TestGrants(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, budget("d", "1")))
	refused(t, l.Create(ctx, budget("d", "5")), "has a budget already", "pawl ledger grant d")
	refused(t, l.Grant(ctx, "d", "0.999", "", "why"), "can only raise", "")
	refused(t, l.Grant(ctx, "d", "1.0", "", "why"), "can only raise", "")
	refused(t, l.Grant(ctx, "d", "2", "1e-7", "why"), "can only raise", "")
	if err := l.Grant(ctx, "d", "2", "", ""); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("a grant without a reason: %v", err)
	}
	if err := l.Grant(ctx, "unknown", "2", "", "why"); !errors.Is(err, ledger.ErrUnknownDataset) {
		t.Errorf("a grant to an unknown data set: %v", err)
	}
	must(t, l.Grant(ctx, "d", "1.0", "1e-5", "board meeting"))
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if st.Granted.Reason != "board meeting" || st.Granted.Self || st.Total.Epsilon != 1 || st.Total.Delta != 1e-5 {
		t.Errorf("granted %+v, total %+v", st.Granted, st.Total)
	}
	for _, b := range []ledger.Budget{
		{Dataset: "x", Epsilon: "0", Delta: "0", Relation: dp.AddOrRemoveOne},
		{Dataset: "x", Epsilon: "NaN", Delta: "0", Relation: dp.AddOrRemoveOne},
		{Dataset: "x", Epsilon: "1", Delta: "1", Relation: dp.AddOrRemoveOne},
		{Dataset: "x", Epsilon: "1", Delta: "1e-6"},
		{Dataset: "", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne},
		{Dataset: "a\nb", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne},
		{Dataset: "x", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne, RowsPerUnit: -1},
	} {
		if err := l.Create(ctx, b); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("create %+v: %v, want ErrInvalid", b, err)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	for name, change := range map[string]func(*ledger.Request){
		"name":     func(q *ledger.Request) { q.Dataset = "" },
		"event":    func(q *ledger.Request) { q.Event = nil },
		"negative": func(q *ledger.Request) { q.Event = dp.Pure{Epsilon: -1} },
		"relation": func(q *ledger.Request) { q.Relation = 0 },
		"unit":     func(q *ledger.Request) { q.Unit = "" },
		"rows":     func(q *ledger.Request) { q.RowsPerUnit = 0 },
		"digest":   func(q *ledger.Request) { q.Digest = nil },
		"zeros":    func(q *ledger.Request) { q.Digest = make([]byte, 32) },
		"epsilon":  func(q *ledger.Request) { q.Epsilon = "1e999" },
		"delta":    func(q *ledger.Request) { q.Delta = "-1" },
		"zero":     func(q *ledger.Request) { q.Epsilon = "" },
	} {
		q := ledgertest.Spend("d", 0.5)
		change(&q)
		if p, _, err := l.Reserve(ctx, q); p != nil || !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	q := ledgertest.Spend("d", 0.5)
	q.Digest = make([]byte, 32)
	if _, _, err := l.Reserve(ctx, q); err == nil || !strings.Contains(err.Error(), "all zeros") {
		t.Errorf("a digest of zeros: %v", err)
	}
}

// failing stands for an accountant that finds no bound.
type failing struct{ epsilon float64 }

func (f failing) Epsilon(dp.Event, dp.Relation, float64) (float64, string, error) {
	if f.epsilon == 0 {
		return 0, "", errors.New("no bound")
	}
	return f.epsilon, "", nil
}

func (failing) Account(ledger.Cap, dp.Relation) (ledger.Account, error) {
	return nil, errors.New("no filter")
}

func TestPricingFailsClosed(t *testing.T) {
	nan := 0.0
	nan /= nan
	for name, a := range map[string]failing{"error": {}, "NaN": {nan}, "negative": {-1}} {
		l, _ := newLedger(t, a)
		if p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.5)); p != nil || err == nil {
			t.Errorf("%s: a reservation without a price was admitted", name)
		}
	}
	l, store := newLedger(t, ledgertest.Sum{})
	_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.5))
	must(t, err)
	bad := ledger.New(store, failing{epsilon: 0.1}, ledger.Options{})
	if p, _, err := bad.Reserve(ctx, ledgertest.Spend("d", 0.1)); p != nil || err == nil {
		t.Error("a reservation without a filter was admitted")
	}
}

// Cases of other tools: a budget of 1 in binary parts (F01).
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []float64
		over  float64
	}{
		{"0.1 + 0.9", []float64{0.1, 0.9}, 1e-9},
		{"eleven parts of 1/11", []float64{1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11, 1. / 11}, 1e-9},
		{"ten parts of 0.1", []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 1e-9},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _ := newLedger(t, ledgertest.Sum{})
			must(t, l.Create(ctx, budget("d", "1")))
			for i, x := range c.parts {
				if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", x)); err != nil {
					t.Fatalf("part %d: %v", i+1, err)
				}
			}
			st, err := figures.Show(ctx, l, "d")
			must(t, err)
			if st.Reserved.Epsilon > 1 || st.Left.Epsilon > 1e-9 {
				t.Errorf("reserved %v, left %v", st.Reserved.Epsilon, st.Left.Epsilon)
			}
			if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", c.over)); !errors.Is(err, ledger.ErrExhausted) {
				t.Errorf("%v more: %v", c.over, err)
			}
		})
	}
}

// What a refused reservation had begun to book is forgotten by its process too.
func TestRefusalLeavesNothingBehind(t *testing.T) {
	l, store := newLedger(t, ledgertest.Sum{})
	other := ledger.New(store, ledgertest.Sum{}, ledger.Options{})
	_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 5)) // registers, grants 1, then refuses 5
	refused(t, err, "exhausted", "grant")
	_, _, err = other.Reserve(ctx, ledgertest.Spend("d", 0.5))
	must(t, err)
	_, _, err = l.Reserve(ctx, ledgertest.Spend("d", 0.5))
	must(t, err)
	must(t, l.Verify(ctx, "d"))
}

// A data set has one scope key for ever, by which rows are sealed before anything is
// booked; what seals differently is another assignment, and nothing shows the key.
func TestKey(t *testing.T) {
	l, store := newLedger(t, ledgertest.Sum{})
	assignment := func(l *ledger.Ledger, name string) string {
		return ledgertest.Rows(t, l, name).Assignment().String()
	}
	before := assignment(l, "d")
	_, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.5))
	must(t, err)
	if after := assignment(ledger.New(store, ledgertest.Sum{}, ledger.Options{}), "d"); before != after || before == assignment(l, "e") || before == "" {
		t.Error("a scope key is not one fixed key per data set")
	}
	key, err := l.Key(ctx, "d")
	must(t, err)
	text, err := json.Marshal(key)
	must(t, err)
	if shown := fmt.Sprintf("%v %+v %#v %x %s", key, key, key, key, text); strings.Count(shown, "redacted") != 5 {
		t.Errorf("a key prints as %s", shown)
	}
}

// Old logs must verify for ever: the hash of a record with fixed fields is pinned.
// Do NOT edit the values; a changed format is a new Version.
func TestFormatIsPinned(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1.0", Delta: "1e-6", Unit: "patient", RowsPerUnit: 2, Relation: dp.AddOrRemoveOne}))
	must(t, l.Grant(ctx, "d", "2", "", "more"))
	must(t, l.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "1", Reason: "study"}))
	must(t, l.Freeze(ctx, "d", "audit"))
	must(t, l.Unfreeze(ctx, "d", "done"))
	pinned := func(l *ledger.Ledger, grant, steward string) {
		t.Helper()
		records, err := l.Records(ctx, "d")
		must(t, err)
		if got := records[4].Hash.String(); got != steward {
			t.Errorf("head %s, want %s\n%s", got, steward, records[2].Body)
		}
		if got := records[1].Hash.String(); got != grant {
			t.Errorf("head %s, want %s\n%s\n%s", got, grant, records[0].Body, records[1].Body)
		}
	}
	pinned(l, "c3165b565f2ca34ed6681fdcfbd38de7d4b06f62bc39e0a910c7f9ce4292df28", "215a65c0497b0472b5d0465f349b404fd91a338ca2aa7269f858de5202543beb")
	// The same by a version that did not name the filter.
	f, err := os.Open("testdata/granted.jsonl")
	must(t, err)
	defer f.Close()
	l, _ = newLedger(t, ledgertest.Sum{})
	_, err = l.Import(ctx, f)
	must(t, err)
	must(t, l.Verify(ctx, "d"))
	pinned(l, "737083c7ad807d1779f1863d380374db9ecd98c89396765f7b9322d246093192", "090f3f6ea7875b13f0d4a941d6c6b6346fe5ba10bf890ef80e49a6de7ef16be9")
}

// A word does not say whether a patient's rows were found: the column that tells
// units apart is fixed at the first use.
func TestUnitColumnIsFixedAtFirstUse(t *testing.T) {
	l, _ := newLedger(t, ledgertest.Sum{})
	must(t, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Unit: "patient", RowsPerUnit: 4, Relation: dp.AddOrRemoveOne}))
	q := ledgertest.Spend("d", 0.1)
	q.Unit, q.RowsPerUnit, q.UnitColumn = "patient", 4, "id"
	_, _, err := l.Reserve(ctx, q)
	must(t, err)
	for _, column := range []string{"", "name"} {
		q.UnitColumn = column
		_, _, err := l.Reserve(ctx, q)
		refused(t, err, `by the column "id"`, "schema of the first use")
	}
}
