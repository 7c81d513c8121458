package ledger

import (
	"context"
	"fmt"
	"slices"
)

// SeededRun is a charged entry whose noise came from a seed. Anybody who knows or guesses the seed
// can subtract the noise, so no epsilon bounds what its outputs reveal.
type SeededRun struct {
	Entry string `json:"entry"`
	At    string `json:"at"`
	By    string `json:"by"`
}

// Clearing records who answered for the outputs of seeded runs, when and why.
type Clearing struct {
	Act
	Entries []string `json:"entries"`
	// Own reports that the user cleared a run of his own.
	Own bool `json:"by_who_ran_it"`
}

// marking returns the entries that mark the data set: seeded, charged and not cleared.
// On public rows a seed gives nothing away.
func (s *state) marking() (marks []*entry) {
	if s.Public {
		return nil
	}
	for _, e := range s.entries {
		if e.NotPrivate && e.State != Cancelled && !e.cleared {
			marks = append(marks, e)
		}
	}
	return marks
}

func (s *state) seededRuns() []SeededRun {
	runs := []SeededRun{}
	for _, e := range s.marking() {
		runs = append(runs, SeededRun{Entry: e.ID, At: e.At, By: e.By})
	}
	return runs
}

// ranBy reports whether the user made the entry's output, the first time or again.
func (e *entry) ranBy(user string) bool { return e.By == user || slices.Contains(e.againBy, user) }

// clearSeeded takes the mark off by all runs so far. One of them that commits or is run
// again later marks the data set anew: its output was made after the steward's word.
func (s *state) clearSeeded(r *Record, b reasonBody) error {
	c := Clearing{Act: Act{By: r.User, At: r.Time, Reason: b.Reason}, Entries: []string{}}
	for _, e := range s.marking() {
		e.cleared = true
		c.Entries, c.Own = append(c.Entries, e.ID), c.Own || e.ranBy(r.User)
	}
	if len(c.Entries) == 0 {
		return broken(s.name, r.Seq, "there are no seeded runs to clear")
	}
	s.cleared = append(s.cleared, c)
	return nil
}

// ClearSeeded removes the mark of seeded runs from a data set. The user answers for it that nobody
// received their outputs, or that these were destroyed. Their charges stay. On a team's ledger
// nobody clears his own runs. A refusal wraps ErrRefused.
func (l *Ledger) ClearSeeded(ctx context.Context, dataset, reason string) error {
	return l.act(ctx, dataset, "clearing seeded runs", reason, func(t *txn, s *state) error {
		marks := s.marking()
		if len(marks) == 0 {
			return &RefusedError{Dataset: dataset, Reason: "no seeded run marks it", Advice: "pawl ledger show " + quote(dataset) + " lists its entries"}
		}
		for _, e := range marks {
			if !t.l.store.PerUser() && e.ranBy(l.user) {
				return &RefusedError{Dataset: dataset, Reason: fmt.Sprintf("seeded entry %s was run by %s, and on a team's ledger nobody can clear his own", e.ID, l.user),
					Advice: "ask the data steward or a colleague"}
			}
		}
		return t.append(s, KindClearSeeded, reasonBody{Reason: reason})
	})
}
