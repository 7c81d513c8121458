package report

import (
	"fmt"
	"strings"
	"time"
)

// SeededRun is a run on sensitive rows whose noise came from a seed: whoever knows or
// guesses it can subtract the noise, so that no epsilon bounds what the run put out.
type SeededRun struct {
	Entry string `json:"entry"`
	At    string `json:"at"` // RFC 3339
	By    string `json:"by"`
}

// Clearing is how seeded runs stopped to mark a data set: somebody answered for it that
// their outputs never left, or were destroyed.
type Clearing struct {
	Entries []string `json:"entries"`
	By      string   `json:"by"`
	At      string   `json:"at"` // RFC 3339
	Reason  string   `json:"reason"`
	// Own says that one of the runs was that person's own.
	Own bool `json:"by_who_ran_it"`
}

// Mark enters the seeded runs that mark the data set.
func (s *Statement) Mark(runs []SeededRun) {
	s.SeededRuns, s.Budget.Unbounded = runs, len(runs) > 0
}

// wholeMark is what every page says of a data set that seeded runs mark, "" otherwise. It is
// not banner: the claim of this run, taken alone, may hold. The banner of the one seeded
// run there is says it all.
func wholeMark(s *Statement) string {
	others := 0
	for _, r := range s.SeededRuns {
		if banner(s) == "" || r.Entry != s.Budget.Entry {
			others++
		}
	}
	if others == 0 {
		return ""
	}
	return "NOT PRIVATE AS A WHOLE — the outputs of " + seededRuns(s) + " on these data have no privacy bound"
}

func seededRuns(s *Statement) string { return SeededRuns(len(s.SeededRuns)) }

// SeededRuns is "1 seeded run" or "n seeded runs".
func SeededRuns(n int) string {
	if n == 1 {
		return "1 seeded run"
	}
	return fmt.Sprintf("%d seeded runs", n)
}

// SeededMark is what n seeded runs say of a data set as a whole, "" for none.
func SeededMark(n int) string {
	if n == 0 {
		return ""
	}
	return "NOT PRIVATE as a whole: no epsilon bounds the outputs of " + SeededRuns(n)
}

// aside keeps what was spent from reading as a bound of seeded runs too.
func aside(s *Statement) string {
	if len(s.SeededRuns) == 0 {
		return ""
	}
	return " (not a bound of " + seededRuns(s) + ")"
}

// markLimits are the limits that seeded runs set to every later guarantee.
func markLimits(s *Statement) (out []string) {
	if len(s.SeededRuns) > 0 {
		entries := make([]string, len(s.SeededRuns))
		for i, r := range s.SeededRuns {
			entries[i] = fmt.Sprintf("%s by %s at %s", r.Entry, r.By, minute(r.At))
		}
		out = append(out, fmt.Sprintf("The outputs of %s on this data set (%s). Whoever knows or guesses a seed can subtract its noise: no epsilon bounds them, alone or together with this run.",
			seededRuns(s), strings.Join(entries, "; ")))
	}
	for _, c := range s.Cleared {
		out = append(out, fmt.Sprintf("The outputs of cleared seeded runs (%s): never released, or destroyed, according to %s, at %s: %s",
			strings.Join(c.Entries, ", "), clearer(c), minute(c.At), c.Reason))
	}
	return out
}

func clearer(c Clearing) string {
	if c.Own {
		return c.By + ", who ran them"
	}
	return c.By
}

// clearedWords is the last clearing in a line, "" without one.
func clearedWords(s *Statement) string {
	if len(s.Cleared) == 0 {
		return ""
	}
	c := s.Cleared[len(s.Cleared)-1]
	return short(Plain(fmt.Sprintf("cleared by %s: %s", clearer(c), c.Reason)), 60)
}

// grantWords says who granted the budget, and whether that is the user who ran this.
func grantWords(s *Statement) string {
	b := s.Budget
	if b.GrantedBy == "" || b.RunBy == "" {
		granted := or(b.Granted, "no grant is recorded")
		if b.SelfGranted {
			granted = "approved only by the operator: " + granted
		}
		return granted
	}
	who := short(Plain(b.GrantedBy), 40)
	text := "granted by " + who + ", who did not run this job"
	if b.GrantedByRunner {
		text = "granted by the user who ran this job, " + who
	}
	text += ", " + Before(b.GrantedAt, s.Time)
	if b.SelfGranted {
		text += " (self-granted)"
	}
	if b.Reason != "" {
		text += ": " + Plain(b.Reason)
	}
	return text
}

// runWords says who ran this, and since when the ledger has known the data set.
func runWords(s *Statement) string {
	b := s.Budget
	who := short(or(b.RunBy, "not recorded"), 40)
	if b.Since == "" {
		return who
	}
	return fmt.Sprintf("%s; first record of this data set in the ledger (%s): %s, %s", who, or(b.Ledger, "not named"), minute(b.Since), Before(b.Since, s.Time))
}

// Before says in words how long before a run something was booked: "3 minutes before
// this run", or "with this run" when it was not before. The time is RFC 3339; what is no
// time comes back as it is.
func Before(at string, run time.Time) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return Plain(at)
	}
	d := run.Sub(t)
	if d <= 0 {
		return "with this run"
	}
	const day = 24 * time.Hour
	n, unit := int64(max(d/time.Second, 1)), "second"
	// Two of a larger unit before it is used, so that rounding down hides little.
	for _, u := range []struct {
		name string
		of   time.Duration
	}{{"minute", time.Minute}, {"hour", time.Hour}, {"day", day}, {"month", 30 * day}, {"year", 365 * day}} {
		if d >= 2*u.of {
			n, unit = int64(d/u.of), u.name
		}
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s before this run", n, unit)
}

// minute writes a time of the ledger for people.
func minute(at string) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return Plain(at)
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
