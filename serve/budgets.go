package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/request"
	"pawl/report"
)

const (
	linesOnPage   = 50
	entriesOnPage = 50
	// patience is how long the first page waits for logs that have not been read yet.
	patience = 60 * time.Millisecond
)

// pager cuts a list of What into pages.
type pager struct {
	What                string
	Pages, From, To, Of int
	Earlier, Later      int // pages, 0 for none
	path                string
	query               url.Values
}

// newPager is at the page that the address names.
func (v *visit) newPager(what string, of, size int) pager {
	query := v.r.URL.Query()
	n, err := strconv.Atoi(query.Get("page"))
	pages := max((of+size-1)/size, 1)
	if err != nil || n < 1 {
		n = 1
	}
	n = min(n, pages)
	p := pager{What: what, Pages: pages, From: (n - 1) * size, To: min(n*size, of), Of: of, path: v.r.URL.Path, query: query}
	if n > 1 {
		p.Earlier = n - 1
	}
	if n < pages {
		p.Later = n + 1
	}
	return p
}

// Link is the address of a page.
func (p pager) Link(n int) string {
	p.query.Set("page", strconv.Itoa(n))
	return p.path + "?" + p.query.Encode()
}

// First is the number of the first of a page, as people count.
func (p pager) First() int { return p.From + 1 }

// filter is a choice of data sets on the first page.
type filter struct {
	Name, Words string
	keeps       func(*line) bool
}

var filters = []filter{
	{"", "All", func(*line) bool { return true }},
	{"sensitive", "Sensitive", func(l *line) bool { return !l.Public }},
	{"low", "Less than a tenth left", (*line).Low},
	{"frozen", "Frozen", func(l *line) bool { return l.Frozen }},
	{"attention", "Needs attention", func(l *line) bool { return l.Exceeded || l.Seeded > 0 || l.Fault != "" }},
}

func (v *visit) budgets() error {
	ctx := v.r.Context()
	names, tips, known, err := v.s.book.list(ctx)
	if err != nil {
		return err
	}
	q, show := v.query("q"), v.query("show")
	at := max(slices.IndexFunc(filters, func(f filter) bool { return f.Name == show }), 0)
	pending, low, frozen, attention := 0, 0, 0, 0
	var shown []*line
	for _, name := range names {
		l := known[name]
		if l != nil {
			low, frozen, attention = low+count(l.Low()), frozen+count(l.Frozen), attention+count(filters[4].keeps(l))
		} else {
			pending++
		}
		if q != "" && !strings.Contains(strings.ToLower(name), strings.ToLower(q)) {
			continue
		}
		switch {
		case l != nil && filters[at].keeps(l):
			shown = append(shown, l)
		case l == nil && at == 0:
			shown = append(shown, &line{})
			shown[len(shown)-1].Name = name
		}
	}
	p := v.newPager("data sets", len(shown), linesOnPage)
	shown = shown[p.From:p.To]
	// A few logs are read at once; of many the page does not wait for all.
	until := time.Now().Add(patience)
	for i, l := range shown {
		if l.tip.Seq == 0 && l.Fault == "" && time.Now().Before(until) {
			if _, now, err := v.s.book.read(ctx, l.Name, tips[l.Name]); now != nil {
				shown[i] = now
				pending--
			} else if err != nil {
				return err
			}
		}
	}
	return v.page("budgets", "Budgets", map[string]any{"Lines": shown, "Pager": p, "All": len(names), "Pending": pending, "Low": low, "Frozen": frozen, "Attention": attention,
		"Q": q, "Show": filters[at].Name, "Filters": filters})
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Known says that the log has been read.
func (l *line) Known() bool { return l.tip.Seq > 0 && l.Fault == "" }

// More says how many jobs are still possible.
func (l *line) More() string { return moreJobs(l.Outlook) }

// Words of the amounts.
func (l *line) TotalText() string { return epsilonOf(l.Total.Epsilon, report.Down) }
func (l *line) LeftText() string  { return epsilonOf(l.Left.Epsilon, report.Down) }

// shownEntry is an entry of the history.
type shownEntry struct {
	figures.Entry
	StateText string
	// Approvable says that the visitor may approve it.
	Approvable bool
}

func (v *visit) shown(e figures.Entry) shownEntry {
	own := e.By == v.person().Name && !v.s.o.Ledger.PerUser()
	return shownEntry{e, state(&e), v.person().Role.acts() && e.State == ledger.Committed && !own}
}

func (v *visit) budget() error { return v.showBudget(v.query("name"), nil, "") }

// done are the words for what a form has done.
var done = map[string]string{"grant": "The budget was raised.", "share": "The share was granted.", "freeze": "The data set is frozen.", "unfreeze": "The data set is no longer frozen.", "approve": "The release was approved."}

func (v *visit) showBudget(name string, checked *figures.Checked, fault string) error {
	a, err := v.s.book.account(v.r.Context(), name)
	if err != nil {
		return err
	}
	p := v.newPager("entries", len(a.Entries), entriesOnPage)
	var entries []shownEntry
	for i := p.From; i < p.To; i++ {
		entries = append(entries, v.shown(a.Entries[len(a.Entries)-1-i])) // the newest first
	}
	title := name
	return v.write(http.StatusOK, "budget", &frame{Title: title, Done: done[v.query("done")], Data: map[string]any{"A": a, "Entries": entries, "Pager": p, "Checked": checked, "Fault": fault,
		"Bar": bar(a.Total, a.Spent, a.Reserved, a.Left), "Limited": limited(a.Total), "Total": epsilonOf(a.Total.Epsilon, report.Down), "Left": epsilonOf(a.Left.Epsilon, report.Down),
		"More": moreJobs(a.Outlook), "Protects": request.Protects(&a.Statement), "Odd": oddities(&a.Statement), "Verifies": v.person().Role.verifies(), "Acts": v.person().Role.acts()}})
}

// oddities are what must be read before any figure.
func oddities(s *figures.Statement) (all []string) {
	if n := len(s.SeededRuns); n > 0 {
		all = append(all, fmt.Sprintf("NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data.", report.SeededRuns(n)))
	}
	if s.Exceeded {
		all = append(all, request.Exceeded(s)+".")
	}
	if f := s.Frozen; f != nil {
		all = append(all, fmt.Sprintf("FROZEN by %s on %s: %s", f.By, when(f.At), report.Plain(f.Reason)))
	}
	for _, r := range s.Reconciled {
		all = append(all, fmt.Sprintf("RECONCILED by %s on %s: %s", r.By, when(r.At), report.Plain(r.Reason)))
	}
	for _, d := range s.Different {
		all = append(all, "RESEMBLES: "+request.Resembles(d, when(d.At)))
	}
	return all
}

func (v *visit) entry() error {
	a, err := v.s.book.account(v.r.Context(), v.query("name"))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(a.Entries, func(e figures.Entry) bool { return e.ID == v.query("entry") })
	if i < 0 {
		return refuse(http.StatusNotFound, "The log does not have this entry", "It may have been mistyped.", "The history of the data set lists them.")
	}
	return v.page("entry", "Entry "+a.Entries[i].ID, map[string]any{"Name": a.Name, "E": v.shown(a.Entries[i])})
}
