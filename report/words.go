package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain replaces control and direction-changing characters. Names come from files:
// an escape sequence must not reach a terminal, and a right-to-left override must
// not reorder a claim on paper.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, s)
}

// short cuts a text that page 1 has no room for; the whole text is on a later page.
func short(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimSpace(string(r[:most])) + "…"
}

func or(s, fallback string) string {
	if s = Plain(s); s != "" {
		return s
	}
	return fallback
}

// unprotected reports whether epsilon is infinite, which bounds nothing.
func unprotected(p Privacy) bool { return math.IsInf(float64(p.Epsilon), 1) }

// banner is the first line of every output of a run without a claim, "" otherwise.
func banner(s *Statement) string {
	switch {
	case s.Description != nil && s.Description.Exact:
		return "" // it says that it is exact
	case s.PublishedEpsilon != nil:
		return "NOT PRIVATE — choices used rows without charge"
	case unprotected(s.Privacy):
		return "NOT PRIVATE — nothing was protected"
	case unpaidChoice(s):
		return "NOT PRIVATE — choices used rows without charge"
	case s.NotPrivate:
		return "NOT PRIVATE — simulation with a seed"
	}
	return ""
}

// unpaidChoice reports whether the run makes no claim because the standard workflow
// chose by looking at rows; the events then cover what came after the choice.
func unpaidChoice(s *Statement) bool { return s.NotPrivate && s.Choice.Workflow == "stw" }

// wouldBe leads to the pair of a run that makes no claim.
func wouldBe(s *Statement) string {
	switch {
	case unprotected(s.Privacy):
		return "no epsilon bounds this run;"
	case unpaidChoice(s):
		return "without the uncharged choices it would be"
	}
	return "with unpredictable noise it would be"
}

// claim writes "(ε, δ) = (1.00, 10⁻⁶)", epsilon rounded up.
func claim(p Privacy) string {
	return "(ε, δ) = (" + up2(p.Epsilon) + ", " + deltaWords(p.Delta) + ")"
}

func unitWords(p Privacy) string {
	unit := short(Plain(p.Unit), 30)
	if p.RowsPerUnit > 1 {
		return fmt.Sprintf("%s, at most %d rows each", unit, p.RowsPerUnit)
	}
	if strings.EqualFold(unit, "row") {
		return "row — a person with several rows is protected one row at a time"
	}
	return unit + ", one row each"
}

// neighbourWords says what one neighbour is.
func neighbourWords(p Privacy) string {
	unit := short(Plain(p.Unit), 30)
	rows := ""
	if p.RowsPerUnit > 1 {
		rows = " with all its rows"
	}
	switch p.Relation {
	case "add_or_remove_one":
		return fmt.Sprintf("the same data with one %s%s added or removed (add/remove-one)", unit, rows)
	case "replace_one":
		return fmt.Sprintf("the same data with one %s%s replaced by any other; the size is public (replace-one)", unit, rows)
	default:
		return fmt.Sprintf("the same data with one %s%s blanked out; the size is public (zero-out)", unit, rows)
	}
}

// hypothesis says what the risk bound is about: under replace-one nothing is
// promised about presence, only about which of two values is there.
func hypothesis(p Privacy) string {
	unit := short(Plain(p.Unit), 30)
	switch p.Relation {
	case "replace_one":
		return fmt.Sprintf("that the data hold one value of a %s and not another", unit)
	case "zero_out":
		return fmt.Sprintf("that the data hold a certain %s and not a blank in its place", unit)
	}
	return fmt.Sprintf("that a certain %s is in the data", unit)
}

// riskWords says how sure somebody can become who sees all that was released.
func riskWords(p Privacy) string {
	return fmt.Sprintf("somebody who is 50%% sure %s can become at most %s sure; somebody who is 1%% sure, at most %s", hypothesis(p),
		percentUp(posterior(0.5, float64(p.Epsilon))), percentUp(posterior(0.01, float64(p.Epsilon))))
}

func accountantWords(p Privacy) string {
	name := short(Plain(p.Accountant), 40)
	switch strings.ToLower(name) {
	case "pld":
		name = "privacy loss distribution (PLD)"
	case "rdp":
		name = "Rényi divergence (RDP)"
	case "best_per_scope":
		name = "smallest valid bound for each scope"
	case "analytic_gaussian":
		name = "analytic Gaussian"
	case "":
		name = "not named"
	}
	if n := len(p.EpsilonBounds); n > 1 && p.Accountant != "best_per_scope" {
		name += fmt.Sprintf(", smallest of %d valid bounds", n)
	}
	return name
}

func samplingWords(p Privacy) string {
	switch strings.ToLower(p.Sampling) {
	case "poisson":
		return "Poisson: each unit joins each batch independently"
	case "poisson and full batch":
		return "Poisson in the steps of a descent: each unit joins each batch independently; full batch in other releases: every unit of a scope takes part"
	case "poisson within groups":
		return "Poisson within groups: public groups of units take turns, and each unit of a group joins its batches independently"
	case "fixed passes":
		return "fixed passes: public groups of units are the batches, in turn; no privacy amplification"
	case "full batch":
		return "full batch: every unit of a scope takes part"
	}
	return short(or(p.Sampling, "none"), 50)
}

func workflowWords(w string) string {
	switch w {
	case "paw":
		return "privacy-aware (PAW): choices anticipate the noise"
	case "stw":
		return "standard (STW): choices as if there were no noise"
	}
	return or(w, "not named")
}

// stage is a stage of the plan with its name, in the order of the plan.
type stage struct {
	Name string
	Stage
}

func stages(p Privacy) []stage {
	out := make([]stage, 0, len(p.ByStage))
	for name, st := range p.ByStage {
		title := strings.ReplaceAll(Plain(name), "_", " ")
		if r, size := utf8.DecodeRuneInString(title); size > 0 {
			title = string(unicode.ToUpper(r)) + title[size:]
		}
		st.Scope, st.What = Plain(st.Scope), Plain(st.What)
		out = append(out, stage{title, st})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Order != out[j].Order {
			return out[i].Order < out[j].Order
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// scoreText writes a score in its unit: a percentage, or the target's own unit.
func scoreText(s *Statement, n Number) string {
	x := float64(n)
	if math.IsNaN(x) {
		return undetermined
	}
	if s.Score.Metric == "accuracy" {
		return percent(x)
	}
	return quantity(x)
}

// quantity writes a number in target units with about four significant digits.
func quantity(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return decimal(x, 1, true)
	}
	switch a := math.Abs(x); {
	case a >= 1000:
		return group(strconv.FormatFloat(x, 'f', 0, 64))
	case a >= 1 || a == 0:
		return group(strconv.FormatFloat(x, 'f', 2, 64))
	}
	return strings.Replace(strconv.FormatFloat(x, 'g', 3, 64), "-", "−", 1)
}

func intervalText(s *Statement, iv *[2]Number) string {
	if iv == nil || math.IsNaN(float64(iv[0]+iv[1])) || math.IsInf(float64(iv[0]), 0) || math.IsInf(float64(iv[1]), 0) {
		return "interval " + undetermined
	}
	low, high := float64(iv[0]), float64(iv[1])
	if s.Score.Metric == "accuracy" {
		// Outward: a rounded interval must not be narrower than the true one.
		low, _ = strconv.ParseFloat(decimal(low, 3, false), 64)
		high, _ = strconv.ParseFloat(decimal(high, 3, true), 64)
	}
	return "95% interval " + scoreText(s, Number(low)) + " to " + scoreText(s, Number(high))
}

func metricWords(s *Statement) string {
	if s.Score.Metric == "accuracy" {
		return "Accuracy"
	}
	return "Mean absolute error, in units of " + or(s.Data.Target, "the target") + " (smaller is better)"
}

func baselineWords(s *Statement) string {
	if s.Score.Metric == "accuracy" {
		return "Majority class"
	}
	return "Mean predictor"
}
