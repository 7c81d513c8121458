package report

import "strings"

// StandardLimits lists what no (ε, δ) of this program speaks of, whatever the plan.
// HTML and Card add these lines to privacy.not_covered.
func StandardLimits() []string {
	return []string{
		"Anything learned from the data before this run: earlier analyses, the choice of the data set, and bounds or categories written down after looking at rows.",
		"Conclusions about groups. What the model learns about people in general can apply to somebody whose data were never used.",
		"Linked units: if several units describe one person or household, each unit is protected, but not all of them together.",
		"Side channels: running time, file sizes, and anybody with administrator access to the memory or disk of this machine.",
		"Runs on the same data set outside this ledger.",
	}
}

// limits joins the plan's own limits with the standard ones, each once.
func limits(s *Statement) []string {
	seen := map[string]bool{}
	var out []string
	for _, l := range append(append(markLimits(s), s.Privacy.NotCovered...), StandardLimits()...) {
		if l = strings.TrimSpace(Plain(l)); l != "" && !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// touch is one way in which a run meets the data.
type touch struct{ What, Detail, Scope, Cost string }

// touches lists every touch of the data, those without cost included: a reader who
// finds only paid stages cannot tell a free step from a forgotten one.
func touches(s *Statement) []touch {
	out := []touch{{
		What:   "Schema",
		Detail: "Columns, bounds, categories and the declared number of rows come from the schema; this run read none of them from the rows.",
		Scope:  "none", Cost: "0",
	}, {
		What:   "Reading",
		Detail: "Cells are checked against the schema before any budget is reserved. Only the operator sees a refusal, which shows no cell.",
		Scope:  "all", Cost: "not released",
	}, {
		What:   "Split",
		Detail: "A keyed hash of each unit alone decides its share.",
		Scope:  "all", Cost: "0",
	}}
	audited := false
	for _, st := range stages(s.Privacy) {
		cost := up2(st.Epsilon)
		if st.Epsilon == 0 {
			cost = "0"
		}
		audited = audited || strings.EqualFold(st.Name, "audit")
		out = append(out, touch{st.Name, or(st.What, "—"), or(st.Scope, "—"), cost})
	}
	if !audited {
		out = append(out, touch{
			What:   "Audit",
			Detail: "None is part of this statement. An audit reads the same data: its result must not be published unless its cost is charged.",
			Scope:  "none", Cost: "not run",
		})
	}
	return out
}

// trust lists the assumptions under which the claim holds.
func trust(s *Statement) []string {
	random := "Noise, batches and selections use random streams keyed by the operating system's generator; the keys are not in this report."
	switch {
	case unprotected(s.Privacy):
		random = "This run has no noise that protects the rows."
	case unpaidChoice(s):
		random += " They do not protect against choices that used rows without charge."
	case s.NotPrivate:
		random = "The noise of this run came from a seed: whoever knows or guesses the seed can subtract it."
	}
	return []string{
		"Central model: the operator and the machines that ran this job saw the raw rows and are trusted. The guarantee holds against everybody who sees only what was released.",
		"The attacker may know or choose all other units, and sees every released file.",
		random,
		"Released counts, tables and scores have discrete noise. Noise on gradients and weights is drawn in floating point; leakage through rounding is a stated residual risk, not proven to be zero.",
		"The ledger is bookkeeping with a hash chain for honest users, not access control. Users have their operating system names; nothing proves who ran a command.",
	}
}

// release splits what a run made into what may leave and what must stay.
func release(s *Statement) (leave, stay []string) {
	files := func() (out []string) {
		for _, f := range []struct{ what, path string }{
			{"the model", s.Outputs.Model}, {"this report", s.Outputs.Report},
			{"the statement", s.Outputs.Statement}, {"the model card", s.Outputs.Card},
		} {
			if f.path != "" {
				out = append(out, f.what+" ("+Plain(f.path)+")")
			}
		}
		if s.Score != nil {
			out = append(out, "the score and its baseline, as printed here")
			if s.Score.ByGroup != nil {
				out = append(out, "the scores by group, as printed here")
			}
		}
		return out
	}
	kept := []string{
		"the rows, and anything derived from them that this report does not list",
		"the keys of the ledger and of this run's random streams",
		"the exact number of rows, unless declared public",
		"logs of refused input, and results of audits that were not charged",
	}
	switch {
	case s.Data.Public && s.NotPrivate:
		return append(files(), "each only with its label NOT PRIVATE"), []string{"nothing because of this data set: it is declared public"}
	case s.Data.Public:
		return append(files(), "exact figures of this data set: it is declared public"), []string{"nothing because of this data set"}
	case s.NotPrivate:
		return []string{"nothing: this run makes no claim"}, append([]string{"the model, every score and this report"}, kept...)
	}
	return files(), kept
}
