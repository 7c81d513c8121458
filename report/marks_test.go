package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// marked is hospital after seeded runs of others, granted by the user who ran it.
func marked() *Statement {
	s := hospital()
	s.Mark([]SeededRun{{Entry: "e-000001", At: "2026-11-20T09:00:00Z", By: "ann"}, {Entry: "e-000002", At: "2026-11-21T09:00:00Z", By: "bob"}})
	b := &s.Budget
	b.RunBy, b.GrantedBy, b.GrantedAt, b.GrantedByRunner, b.Reason = "ann", "ann", "2026-11-27T14:04:20Z", true, "study 17"
	b.Since, b.Age = "2026-11-27T14:01:59.5Z", Before("2026-11-27T14:01:59.5Z", s.Time)
	return s
}

const wholeWords = "NOT PRIVATE AS A WHOLE — the outputs of 2 seeded runs on these data have no privacy bound"

// crammed is marked with as much on page 1 as there may be.
func crammed() *Statement {
	s := marked()
	s.Cleared = []Clearing{{Entries: []string{"e-000000"}, By: "ann", At: "2026-11-22T09:00:00Z", Reason: strings.Repeat("the folder was erased ", 9), Own: true}}
	s.Budget.Reason = strings.Repeat("for the second study on readmission ", 9)
	for _, name := range []string{"count", "groups", "audit"} {
		s.Privacy.ByStage[name] = Stage{Order: 4, Epsilon: 0.2, Scope: "[0, 0.8)", What: "more"}
	}
	s.Choice.Selection = &Selection{How: "mutual-information from noisy tables with the label", Offered: 14, LeftOut: []string{"payer"}, Epsilon: 0.3121, Share: 0.3121003}
	return s
}

// crammedUnmarked is crammed without seeded runs.
func crammedUnmarked() *Statement {
	s := crammed()
	s.Mark(nil)
	s.Cleared = nil
	return s
}

// front is what stands on page 1.
func front(page string) string {
	page = page[strings.Index(page, "<body>"):]
	return page[:strings.Index(page, "Decisions and rules")]
}

func TestSeededRunsAreOnEveryPage(t *testing.T) {
	s := marked()
	page := mustHTML(t, s)
	card, text := write(t, Card, s), write(t, Text, s)
	for what, ok := range map[string]bool{
		"page 1":             strings.Contains(front(page), `<p class="banner mark" role="alert">`+wholeWords),
		"title":              strings.Contains(page, "<title>"+wholeWords),
		"page margin":        strings.Contains(page, `@top-center { content: "`+wholeWords),
		"claim is alone":     strings.Contains(front(page), "What this run released, taken alone, satisfies") && !strings.Contains(page, "Everything released together"),
		"spent is no bound":  strings.Contains(front(page), "δ 2 × 10⁻⁶ (not a bound of 2 seeded runs)"),
		"risk":               strings.Contains(front(page), "None of these limits holds for somebody who also has the outputs of the seeded runs.") && !strings.Contains(page, `class="scale"`),
		"signature":          strings.Contains(front(page), "and the warning on it, and sign for this run alone"),
		"runs are listed":    strings.Contains(page, "e-000001 by ann at 2026-11-20 09:00 UTC; e-000002 by bob"),
		"exact number":       strings.Contains(page, "ledger, spent (not a bound of 2 seeded runs)"),
		"terminal":           strings.HasPrefix(text, wholeWords+"\n") && strings.Contains(text, "of this run alone:") && strings.Contains(text, "spent 1.33 (not a bound of 2 seeded runs)"),
		"card":               strings.Contains(card, "> **"+wholeWords+".**") && strings.Contains(card, "taken alone, satisfies") && strings.Contains(card, "- not-private-as-a-whole"),
		"card lists them":    strings.Contains(card, "e-000001 by ann"),
		"this run may leave": !strings.Contains(page, "Not for signature"),
	} {
		if !ok {
			t.Errorf("%s: fails", what)
		}
	}
	var back struct {
		NotPrivate bool        `json:"not_private"`
		Runs       []SeededRun `json:"seeded_runs"`
		Budget     struct {
			Unbounded bool `json:"unbounded"`
		} `json:"budget"`
	}
	if err := json.Unmarshal([]byte(write(t, WriteJSON, s)), &back); err != nil || back.NotPrivate || !back.Budget.Unbounded || len(back.Runs) != 2 || back.Runs[1].By != "bob" {
		t.Errorf("statement: %+v, %v", back, err)
	}
	if out := write(t, WriteJSON, hospital()); !strings.Contains(out, `"seeded_runs": []`) || !strings.Contains(out, `"unbounded": false`) {
		t.Error("a statement without seeded runs does not say so")
	}
	s.Budget.Unbounded = false
	if err := Validate(s); !errors.Is(err, ErrInvalid) {
		t.Errorf("a bound beside seeded runs: %v", err)
	}
}

// The one seeded run there is says NOT PRIVATE and no more; one beside others says both.
func TestASeededRunMarksItself(t *testing.T) {
	s := simulation()
	s.Mark([]SeededRun{{Entry: s.Budget.Entry, By: "ann"}})
	if out := write(t, Text, s); strings.Contains(out, "AS A WHOLE") {
		t.Error("its banner comes twice")
	}
	s.Mark(append(s.SeededRuns, SeededRun{Entry: "another", By: "ann"}))
	if out := write(t, Text, s); !strings.HasPrefix(out, "NOT PRIVATE — simulation with a seed\n"+wholeWords) {
		t.Errorf("no mark of the other run: %s", out)
	}
}

func TestClearingsAreShown(t *testing.T) {
	s := hospital()
	s.Cleared = []Clearing{{Entries: []string{"e-000001"}, By: "ann", At: "2026-11-22T09:00:00Z", Reason: "the folder was erased", Own: true}}
	page := mustHTML(t, s)
	if !strings.Contains(front(page), "cleared by ann, who ran them: the folder was erased") {
		t.Error("page 1 does not say who cleared")
	}
	if !strings.Contains(page, "cleared seeded runs (e-000001)") || !strings.Contains(write(t, Card, s), "according to ann, who ran them") || strings.Contains(page, "AS A WHOLE") {
		t.Error("limits do not say whose word it is")
	}
}

func TestPageOneSaysWhoGranted(t *testing.T) {
	s := marked()
	for _, want := range []string{
		"granted by the user who ran this job, ann, 40 seconds before this run: study 17",
		"<dt>Run by</dt><dd>ann; first record of this data set in the ledger (team): 2026-11-27 14:01 UTC, 3 minutes before this run</dd>",
	} {
		if !strings.Contains(front(mustHTML(t, s)), want) {
			t.Errorf("page 1 lacks %q", want)
		}
	}
	s.Budget.GrantedBy, s.Budget.GrantedByRunner = "okafor", false
	if !strings.Contains(front(mustHTML(t, s)), "granted by okafor, who did not run this job, 40 seconds before this run") {
		t.Error("page 1 does not say that somebody else granted")
	}
	s.Budget.GrantedBy, s.Budget.GrantedByRunner, s.Budget.SelfGranted, s.Budget.GrantedAt = "ann", true, true, "2026-11-27T14:05:01Z"
	for kind, to := range map[string]string{"html": front(mustHTML(t, s)), "text": write(t, Text, s), "card": write(t, Card, s)} {
		if !strings.Contains(to, "granted by the user who ran this job, ann, with this run (self-granted)") {
			t.Errorf("%s does not say that the run granted itself the budget", kind)
		}
	}
}

func TestBefore(t *testing.T) {
	run := time.Date(2026, 11, 27, 14, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Second, "with this run"}, {0, "with this run"}, {time.Millisecond, "1 second before this run"}, {119 * time.Second, "119 seconds before this run"},
		{2 * time.Minute, "2 minutes before this run"}, {3*time.Hour + time.Minute, "3 hours before this run"}, {47 * time.Hour, "47 hours before this run"},
		{48 * time.Hour, "2 days before this run"}, {90 * 24 * time.Hour, "3 months before this run"}, {800 * 24 * time.Hour, "2 years before this run"},
	} {
		if got := Before(run.Add(-c.ago).Format(time.RFC3339Nano), run); got != c.want {
			t.Errorf("%v: %q, want %q", c.ago, got, c.want)
		}
	}
	if got := Before("some\x1bday", run); strings.Contains(got, "\x1b") {
		t.Errorf("%q reaches a terminal", got)
	}
}
