package serve

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/report"
)

// span is one part of a bar of length 100.
type span struct {
	Class    string
	X, Width float64
}

func limited(total figures.Spend) bool { return !math.IsInf(float64(total.Epsilon), 1) }

// bar lays spent, reserved and left side by side; nil without a limit.
func bar(total, spent, reserved, left figures.Spend) []span {
	if !limited(total) || !(total.Epsilon > 0) {
		return nil
	}
	all := max(total.Epsilon, spent.Epsilon+reserved.Epsilon)
	var parts []span
	x := 0.0
	for _, p := range []struct {
		class string
		of    ledger.Number
	}{{"spent", spent.Epsilon}, {"reserved", reserved.Epsilon}, {"left", left.Epsilon}} {
		width := math.Round(1e4*math.Min(float64(p.of/all), 1)) / 100
		if width > 0 {
			parts = append(parts, span{p.class, x, width})
		}
		x = math.Round(100*(x+width)) / 100
	}
	return parts
}

// moreJobs says how many jobs are still possible.
func moreJobs(o *figures.Outlook) string {
	switch {
	case o == nil:
		return ""
	case o.Refused || o.More == 0:
		return "none of that kind"
	case o.More >= figures.MostMore:
		return fmt.Sprintf("%d or more", figures.MostMore)
	}
	return fmt.Sprintf("about %d", o.More)
}

// epsilonOf writes what may be no limit.
func epsilonOf(x ledger.Number, round func(float64) string) string {
	if math.IsInf(float64(x), 1) {
		return "not limited"
	}
	return round(float64(x))
}

// place is where in a file of rows something was found: a fact about rows.
var place = regexp.MustCompile(`\S+:\d+(:\d+)?: `)

// withoutPlace hides what an error says of a row. The operator sees it at the command line.
func withoutPlace(text string) string {
	if !place.MatchString(text) {
		return text
	}
	head, _, _ := strings.Cut(place.ReplaceAllString(text, "\x00"), "\x00")
	return strings.TrimSpace(strings.TrimSpace(head) + " the file does not match its schema; only the operator may see where, with pawl check")
}

// state says how an entry stands.
func state(e *figures.Entry) string {
	text := map[ledger.EntryState]string{ledger.Reserved: "reserved: charged, and running or interrupted", ledger.Committed: "done", ledger.Cancelled: "cancelled: not charged"}[e.State]
	if e.NotPrivate {
		text += "; NOT PRIVATE: its noise came from a seed"
	}
	if f := e.Foreign; f != nil {
		text += fmt.Sprintf("; run outside pawl, charged by %s: %s", f.BookedBy, report.Plain(f.Reason))
	}
	if r := e.Rebooked; r != nil {
		text += fmt.Sprintf("; charged again by %s: %s", r.By, report.Plain(r.Reason))
	}
	return text
}
