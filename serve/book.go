package serve

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/request"
)

// book remembers where data sets stand, by the ends of their logs: a log is read and priced again
// when its end has moved, or when its budget renews. The ends are read for every page, so that no
// figure is older than the page that shows it.
type book struct {
	ledger *ledger.Ledger
	clock  func() time.Time
	wake   chan struct{}

	mu    sync.Mutex
	lines map[string]*line
	last  []*account // the newest first
}

// line is where one data set stands.
type line struct {
	request.BudgetLine
	Outlook  *figures.Outlook
	Frozen   bool
	Exceeded bool
	// Fault is why it cannot be said, or "".
	Fault string

	tip    ledger.Head
	renews time.Time
}

// Bar is the budget to scale, of 100.
func (l *line) Bar() []span { return bar(l.Total, l.Spent, l.Reserved, l.Left) }

// Low says that less than a tenth is left.
func (l *line) Low() bool { return l.Limited() && 10*l.Left.Epsilon < l.Total.Epsilon }

// Limited says that a budget limits it.
func (l *line) Limited() bool { return limited(l.Total) }

// account is all about one data set.
type account struct {
	request.BudgetAccount
	tip    ledger.Head
	renews time.Time
}

const mostAccounts = 16

func newBook(l *ledger.Ledger, clock func() time.Time) *book {
	return &book{ledger: l, clock: clock, wake: make(chan struct{}, 1), lines: map[string]*line{}}
}

// fresh says whether what was read at a tip still holds.
func (b *book) fresh(tip, now ledger.Head, renews time.Time) bool {
	return tip == now && (renews.IsZero() || b.clock().Before(renews))
}

// list returns the names of all data sets in order, the ends of their logs, and the lines of those that are known now.
func (b *book) list(ctx context.Context) (names []string, tips map[string]ledger.Head, known map[string]*line, err error) {
	if tips, err = b.ledger.Tips(ctx); err != nil {
		return nil, nil, nil, err
	}
	names = slices.SortedFunc(maps.Keys(tips), func(x, y string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
	})
	known = make(map[string]*line, len(names))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range names {
		if l := b.lines[name]; l != nil && b.fresh(l.tip, tips[name], l.renews) {
			known[name] = l
		}
	}
	if len(known) < len(names) {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return names, tips, known, nil
}

// read reads and prices one data set. Its tip was taken before: a log that grows meanwhile is read once more.
func (b *book) read(ctx context.Context, name string, tip ledger.Head) (_ *account, _ *line, err error) {
	a := &account{tip: tip}
	l := &line{BudgetLine: request.BudgetLine{Name: name}, tip: tip}
	if a.Statement, err = figures.Show(ctx, b.ledger, name); err == nil {
		a.Outlook, err = figures.OutlookOf(ctx, b.ledger, name)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		l.Fault = "its log cannot be read: verify it"
		b.keepLine(l)
		return nil, l, err
	}
	l.BudgetLine, l.Outlook, l.Frozen, l.Exceeded = request.NewBudgetLine(&a.Statement), a.Outlook, a.Frozen != nil, a.Exceeded
	if r := a.Renewal; r != nil {
		if t, err := time.Parse(time.RFC3339Nano, r.Renews); err == nil {
			a.renews, l.renews = t, t
		}
	}
	b.keepLine(l)
	return a, l, nil
}

func (b *book) keepLine(l *line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[l.Name] = l
}

// account is all about one data set, as it stands now.
func (b *book) account(ctx context.Context, name string) (*account, error) {
	tips, err := b.ledger.Tips(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	for i, a := range b.last {
		if a.Name == name && b.fresh(a.tip, tips[name], a.renews) {
			b.last = append([]*account{a}, slices.Delete(b.last, i, i+1)...)
			b.mu.Unlock()
			return a, nil
		}
	}
	b.mu.Unlock()
	a, _, err := b.read(ctx, name, tips[name])
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = slices.DeleteFunc(b.last, func(old *account) bool { return old.Name == name })
	b.last = append([]*account{a}, b.last[:min(len(b.last), mostAccounts-1)]...)
	return a, nil
}

// keep reads what has changed, one data set after the other, until ctx ends.
func (b *book) keep(ctx context.Context) {
	for {
		names, tips, known, err := b.list(ctx)
		if err == nil {
			for _, name := range names {
				if known[name] == nil && ctx.Err() == nil {
					_, _, _ = b.read(ctx, name, tips[name])
				}
			}
		}
		select {
		case <-b.wake:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
	}
}
