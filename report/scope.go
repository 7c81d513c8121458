package report

import "strings"

// StandardLimits lists what no (ε, δ) of this program speaks of, whatever the plan.
// HTML and Card add these lines to privacy.not_covered.
func StandardLimits() []string {
	return []string{
		"Data that anybody looked at before this run: earlier analyses, the choice of the data set, and bounds or categories that were written down after seeing rows.",
		"Conclusions about groups. What the model learns about people in general may concern somebody whose data were never in it.",
		"People tied together: if several units describe one person or one household, each unit is covered, their sum is not.",
		"Side channels: the time a run takes, sizes of files, and anybody who can read this machine's memory or disk as its administrator.",
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
		Detail: "Columns, bounds, categories and the declaration of rows are taken as the schema states them; this run read none of them from rows.",
		Scope:  "none", Cost: "0",
	}, {
		What:   "Reading",
		Detail: "Cells are parsed against the schema before anything is reserved; a refusal goes to the operator only and shows no cell.",
		Scope:  "all", Cost: "not released",
	}, {
		What:   "Split",
		Detail: "Each unit falls into a scope by a keyed hash of itself alone.",
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
			Detail: "None is part of this statement. An audit reads the same data: its result stays inside unless its cost is booked.",
			Scope:  "none", Cost: "not run",
		})
	}
	return out
}

// trust lists the assumptions under which the claim holds.
func trust(s *Statement) []string {
	random := "Noise, lots and selections draw from streams keyed by the operating system's random generator; the keys are not in this report."
	switch {
	case unprotected(s.Privacy):
		random = "No noise protects the rows in this run."
	case unpaidChoice(s):
		random += " They do not protect against the choices that looked at rows."
	case s.NotPrivate:
		random = "The noise of this run came from a seed: whoever knows or guesses it can subtract the noise."
	}
	return []string{
		"Central model: the operator and the machines that ran this saw the raw rows and are trusted with them. The promise is made against everybody who sees only what was released.",
		"The adversary may know or choose all other units and sees every released file.",
		random,
		"Released counts, tables and scores carry discrete noise. Noise on gradients and weights is drawn in floating point; what that could leak is a stated residual risk, not a proven zero.",
		"The ledger keeps honest people honest. It is bookkeeping with a hash chain, not access control. Users are named as their operating systems name them; nothing proves who sat there.",
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
		"the rows and anything derived from them that this report does not list",
		"the ledger's keys and the keys of this run's random streams",
		"the number of rows beyond what is declared public",
		"logs of refused input, and results of audits that were not booked",
	}
	switch {
	case s.Data.Public && s.NotPrivate:
		return append(files(), "each of them only with its label NOT PRIVATE"), []string{"nothing, for the sake of this data set: it is declared public"}
	case s.Data.Public:
		return append(files(), "the data set is declared public: its exact numbers may leave too"), []string{"nothing, for the sake of this data set"}
	case s.NotPrivate:
		return []string{"nothing: this run makes no claim"}, append([]string{"the model, every score and this report"}, kept...)
	}
	return files(), kept
}
