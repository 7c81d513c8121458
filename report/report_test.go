package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"pawl/evidence/quality"
)

func write(t *testing.T, to func(io.Writer, *Statement) error, s *Statement) string {
	t.Helper()
	var b bytes.Buffer
	if err := to(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func mustHTML(t *testing.T, s *Statement) string { t.Helper(); return write(t, HTML, s) }

var writers = map[string]func(io.Writer, *Statement) error{"json": WriteJSON, "html": HTML, "card": Card, "text": Text}

func demos() map[string]*Statement {
	return map[string]*Statement{"hospital": hospital(), "simulation": simulation(), "benchmark": benchmarkDemo(), "majority": majority(), "shapes": shapesDemo(), "marked": marked(), "crammed": crammed(), "unmarked": crammedUnmarked()}
}

func TestPageHoldsItsClaims(t *testing.T) {
	page := mustHTML(t, hospital())
	for _, want := range []string{
		"(ε, δ) = (1.00, 10⁻⁶)", "0.9999991", // rounded up in front, exact behind
		"one patient with all its rows added or removed", "patient, at most 4 rows each",
		"granted by Dr. R. Okafor", "central model", "privacy loss distribution (PLD), smallest of 3 valid bounds",
		"Poisson: each unit joins each batch independently",
		"The model is useful.", "84.4%", "95% interval 83.4% to 85.4%", "76.1%",
		"at most 73.11% sure", "at most 2.68%", "δ = 10⁻⁶ (1 in 1,000,000)",
		">more</text>", ">less</text>",
		"What would change it", "ε of 1.6 or more", "Not covered", "Rows of a patient beyond the fourth",
		"Every use of the data", "May be released", "Must not be released", "Privacy officer, name",
		"keyed-blake2b:5f1c0e2a77b8d1934cd2", "9b3f6a0c51d27e88a1c4", "1.0831",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, unwanted := range []string{"NOT PRIVATE", "Public benchmark", "not limited"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("page holds %q", unwanted)
		}
	}
	// The front page comes first and ends in the signature.
	claim, sign, rest := strings.Index(page, "(1.00, 10⁻⁶)"), strings.Index(page, "Signature"), strings.Index(page, "Decisions and rules")
	if !(claim < sign && sign < rest) {
		t.Errorf("order: claim %d, signature %d, section 1 %d", claim, sign, rest)
	}
}

func TestPageIsSelfContained(t *testing.T) {
	outside := regexp.MustCompile(`(?i)(https?:|//[a-z]|src\s*=|href\s*=|url\(|@import|<script|<link|<iframe|<object|\son[a-z]+\s*=|javascript:)`)
	for name, s := range demos() {
		if m := outside.FindString(mustHTML(t, s)); m != "" {
			t.Errorf("%s: page reaches outside of itself: %q", name, m)
		}
	}
}

func TestPageIsAccessible(t *testing.T) {
	for name, s := range demos() {
		page := mustHTML(t, s)
		for _, svg := range regexp.MustCompile(`<svg[^>]*>`).FindAllString(page, -1) {
			if !strings.Contains(svg, `aria-label="`) && !strings.Contains(svg, `aria-hidden="true"`) {
				t.Errorf("%s: picture without words: %s", name, svg)
			}
		}
		tables, captions := strings.Count(page, "<table"), strings.Count(page, "<caption")
		if tables == 0 || tables != captions {
			t.Errorf("%s: %d tables, %d captions", name, tables, captions)
		}
		if regexp.MustCompile(`<th>`).MatchString(page) {
			t.Errorf("%s: a table header without scope", name)
		}
		if !strings.Contains(page, `<html lang="en">`) {
			t.Errorf("%s: no language", name)
		}
	}
}

// The word "private" may stand beside (ε, δ), on the two ends of the scale and in NOT
// PRIVATE, and nowhere else.
func TestPrivateIsNotABareWord(t *testing.T) {
	allowed := regexp.MustCompile(`NOT PRIVATE|not[-_]private|more private|less private|>private</text>`)
	for name, s := range demos() {
		for kind, to := range writers {
			if kind == "json" {
				continue
			}
			rest := allowed.ReplaceAllString(write(t, to, s), "")
			if i := strings.Index(strings.ToLower(rest), "private"); i >= 0 {
				t.Errorf("%s, %s: …%s…", name, kind, rest[max(0, i-40):min(len(rest), i+40)])
			}
		}
	}
}

func TestNotPrivateComesFirst(t *testing.T) {
	const words = "NOT PRIVATE — simulation with a seed"
	s := simulation()
	page := mustHTML(t, s)
	body := page[strings.Index(page, "<body>")+len("<body>"):]
	for what, ok := range map[string]bool{
		"title":            strings.Contains(page, "<title>"+words),
		"first in body":    strings.HasPrefix(strings.TrimSpace(body), `<p class="banner" role="alert">`+words),
		"page margin":      regexp.MustCompile(`@top-center \{ content: "NOT PRIVATE`).MatchString(page),
		"printed mark":     strings.Contains(page, `class="watermark"`),
		"no signature":     !strings.Contains(page, "Privacy officer, name") && strings.Contains(page, "Not for signature"),
		"no risk bound":    !strings.Contains(page, "73.11%"),
		"nothing may go":   strings.Contains(page, "nothing: this run makes no claim"),
		"claim withdrawn":  strings.Contains(page, "No claim is made; with unpredictable noise"),
		"terminal first":   strings.HasPrefix(write(t, Text, s), words+"\n"),
		"card front":       strings.HasPrefix(write(t, Card, s), "---\n# "+words+"\n"),
		"card body first":  strings.Contains(write(t, Card, s), "\n---\n\n> **"+words),
		"card without tag": !strings.Contains(write(t, Card, s), "- differential-privacy"),
		"statement":        strings.Contains(write(t, WriteJSON, s), `"not_private": true`),
	} {
		if !ok {
			t.Errorf("%s: fails", what)
		}
	}
	s.Privacy.Epsilon, s.Privacy.EpsilonBounds = Number(math.Inf(1)), nil
	for kind, to := range writers {
		out := write(t, to, s)
		if kind == "json" {
			if !strings.Contains(out, `"epsilon": "inf"`) {
				t.Error("an infinite epsilon is not \"inf\"")
			}
		} else if !strings.Contains(out, "NOT PRIVATE — nothing was protected") {
			t.Errorf("%s: an infinite epsilon without its banner", kind)
		}
	}
}

// A score that was paid for on sensitive rows shows, and never as a benchmark.
func TestPaidAUROC(t *testing.T) {
	s := hospital()
	auroc := Number(0.9431)
	s.Score.AUROC, s.Score.AUROCInterval = &auroc, &[2]Number{0.94, 0.947}
	page := mustHTML(t, s)
	if !strings.Contains(page, "Area under the ROC curve: 0.943 (0.940 to 0.947)") || strings.Contains(page, "Public benchmark") {
		t.Error("a released area under the curve is missing or shown as a benchmark")
	}
}

// The standard workflow on public rows claims nothing, and not because of a seed.
func TestUnpaidChoice(t *testing.T) {
	s := benchmarkDemo()
	s.NotPrivate, s.Choice.Workflow = true, "stw"
	for kind, to := range writers {
		out := write(t, to, s)
		if kind != "json" && (!strings.Contains(out, "NOT PRIVATE — choices used rows without charge") || strings.Contains(out, "seed")) {
			t.Errorf("%s: wrong reason", kind)
		}
	}
}

// Exact numbers on a public test file are allowed although the data set is sensitive.
func TestPublicTestRows(t *testing.T) {
	s := hospital()
	exactly, base := Number(0.9012), Number(0.7001)
	s.Score.Test, s.Score.TestBaseline, s.Score.PublicTest = &exactly, &base, true
	s.Score.BaselineInterval = nil
	page := mustHTML(t, s)
	for _, want := range []string{"Public benchmark", "the training rows are sensitive", "70.0%", "exact on these rows", "Must not be released", "the exact number of rows, unless"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if headline, _ := verdict(s); headline != "The model is useful." {
		t.Errorf("verdict against an exact baseline: %q", headline)
	}
	s.Score.PublicTest = false
	if err := Validate(s); !errors.Is(err, ErrInvalid) {
		t.Errorf("Validate = %v, want ErrInvalid", err)
	}
	s.Score.Test = nil
	if err := Validate(s); !errors.Is(err, ErrInvalid) {
		t.Errorf("exact baseline alone: Validate = %v, want ErrInvalid", err)
	}
}

func TestExactNumbersOnlyOnPublicData(t *testing.T) {
	for _, to := range []func(io.Writer, *Statement) error{HTML, Card} {
		out := write(t, to, benchmarkDemo())
		heading := strings.Index(out, "Public benchmark")
		if heading < 0 || !strings.Contains(out[heading:], "90.1%") || !strings.Contains(out[heading:], "CC BY 4.0") {
			t.Error("exact numbers do not stand under their heading")
		}
		if strings.Contains(out[:heading], "90.1%") {
			t.Error("an exact number stands before the heading")
		}
	}
	s := benchmarkDemo()
	s.Data.Public = false
	for kind, to := range writers {
		var b bytes.Buffer
		if err := to(&b, s); !errors.Is(err, ErrInvalid) || b.Len() > 0 {
			t.Errorf("%s: exact score on sensitive data: err %v, %d bytes written", kind, err, b.Len())
		}
	}
}

// hostile fills every string that a file or an operator can choose.
func hostile(evil string) *Statement {
	s := benchmarkDemo()
	s.Command, s.Data.Name, s.Data.Target, s.Data.Rows, s.Data.Licence = evil, evil, evil, evil, evil
	s.Data.Classes, s.Data.Fingerprint = []string{evil}, evil
	s.Privacy.Unit, s.Privacy.Accountant, s.Privacy.Sampling, s.Privacy.EpsilonAsked = evil, evil, evil, evil
	s.Privacy.NotCovered = []string{evil}
	s.Privacy.ByStage = map[string]Stage{evil: {What: evil, Scope: evil, Epsilon: 1}}
	quoted, _ := json.Marshal(evil)
	s.Privacy.Events = []json.RawMessage{json.RawMessage(`{"kind":` + string(quoted) + `}`), json.RawMessage(evil)}
	s.Budget.Granted, s.Budget.Head, s.Budget.Entry, s.Budget.Ledger = evil, evil, evil, evil
	s.Budget.RunBy, s.Budget.GrantedBy, s.Budget.GrantedAt, s.Budget.Reason, s.Budget.Since = evil, evil, evil, evil, evil
	s.Mark([]SeededRun{{evil, evil, evil}})
	s.Cleared = []Clearing{{Entries: []string{evil}, By: evil, At: evil, Reason: evil}}
	s.Score.How = evil
	s.Choice = Choice{Workflow: evil, Model: evil, Features: []string{evil}, Encoding: evil, Search: evil,
		Hyperparameters: map[string]any{evil: evil}, UsefulModel: true}
	s.Advice = []Advice{{Name: evil, Rule: evil, Because: evil, Published: evil, Evidence: evil, Changes: evil}}
	s.Outputs = Paths{evil, evil, evil, evil, evil}
	s.Warnings = []string{evil}
	s.Shapes = &Shapes{Scale: evil, Outputs: []string{evil, evil}, Attributes: []Shape{
		{Attribute: evil, Categories: []string{evil, "b"}, Rows: []Number{3, 4}, Values: [][]Number{{1, 2}, {3, 4}}}}}
	s.Score.ByGroup = &ByGroup{Attribute: evil, How: evil, Epsilon: 1, Groups: []GroupScore{{Group: evil, Value: 0.5, Interval: &[2]Number{0, 1}}}}
	return s
}

func TestHostileNames(t *testing.T) {
	tag := regexp.MustCompile(`(?i)<(script|img|b|svg onload|/style)[ >]`)
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style><b>`, `</title><script>`,
	} {
		for _, to := range []func(io.Writer, *Statement) error{HTML, Card} {
			out := write(t, to, hostile(evil))
			// The paths in the card's code block are code, where Markdown escapes by itself.
			out = regexp.MustCompile("(?s)```sh.*?```|(?s)^---.*?\n---\n").ReplaceAllString(out, "")
			out = strings.Replace(out, "</style>", "", 1) // the page's own
			if m := tag.FindString(out); m != "" {
				t.Errorf("%q shows as %q", evil, m)
			}
		}
	}
}

func TestNameStaysInItsStyleString(t *testing.T) {
	safe := regexp.MustCompile(`(?m)^  @bottom-left \{ content: "[^"<>{};]*"; color: #444; font: 7\.5pt sans-serif; \}$`)
	for _, evil := range []string{"\"; } body { display:none } /*", "\\", "</style>", "a\nb"} {
		if !safe.MatchString(mustHTML(t, hostile(evil))) {
			t.Errorf("%q leaves its string", evil)
		}
	}
}

func TestControlCharactersDoNotReachATerminal(t *testing.T) {
	s := hospital()
	s.Data.Name, s.Privacy.Unit, s.Choice.Model = "a\x1b[31mb", "p\u202Eq", "x\nclaim (0.01, 0)"
	s.Warnings, s.Budget.Granted = []string{"w\r\x07"}, "g\x1b]0;t\x07"
	out := write(t, Text, s)
	for _, bad := range []string{"\x1b", "\u202E", "\r", "\x07", "x\n"} {
		if strings.Contains(out, bad) {
			t.Errorf("terminal text holds %q", bad)
		}
	}
}

func TestCardFrontMatter(t *testing.T) {
	for name, s := range map[string]*Statement{"hospital": hospital(), "hostile": hostile("a: [b\n- c\"'#\x00")} {
		s.Privacy.Events = nil
		parts := strings.SplitN(write(t, Card, s), "---\n", 3)
		if len(parts) != 3 || parts[0] != "" {
			t.Fatalf("%s: card does not start with front matter", name)
		}
		var meta struct {
			License string
			Tags    []string
			Index   []struct {
				Name    string
				Results []struct {
					Metrics []struct {
						Type  string
						Value float64
					}
				}
			} `yaml:"model-index"`
		}
		if err := yaml.Unmarshal([]byte(parts[1]), &meta); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if meta.License != "unknown" || len(meta.Tags) != 3 || meta.Index[0].Results[0].Metrics[0].Value != 0.8437 {
			t.Errorf("%s: front matter %+v", name, meta)
		}
	}
}

func TestTextIsShort(t *testing.T) {
	for name, s := range demos() {
		out := write(t, Text, s)
		if n := strings.Count(out, "\n"); n < 10 || n > 21 {
			t.Errorf("%s: %d lines", name, n)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Statement)
		want   string
	}{
		{"better", func(s *Statement) {}, "The model is useful."},
		{"intervals overlap, and it is better on the same rows", func(s *Statement) { s.Score.Baseline, s.Score.BaselineInterval = 0.83, &[2]Number{0.82, 0.84} }, "The model is useful."},
		{"not shown", func(s *Statement) { s.Score.Verdict, s.Score.Gain = quality.NotShown, about(0.01, -0.02, 0.04) }, "The model may not be better than its baseline."},
		{"worse", func(s *Statement) { s.Score.Verdict, s.Score.Gain = quality.Worse, about(-0.03, -0.04, -0.02) }, "The released model is worse than its baseline."},
		{"ranking", func(s *Statement) {
			s.Score.UsefulFor, s.Score.Gain, s.Score.BalancedAccuracy = quality.ForRanking, about(0, -0.01, 0.01), *about(.5, .49, .52)
		}, "The model is useful for ranking; its labels need another threshold."},
		{"not by accuracy", func(s *Statement) { s.Score.UsefulFor, s.Score.Gain = quality.ForRanking, about(0, -0.01, 0.01) }, "The model is useful, though not by accuracy."},
		{"noise", func(s *Statement) { s.Score.Verdict, s.Score.Gain = quality.NotDetermined, &quality.Estimate{} }, "Whether the model is useful is not determined."},
		{"no verdict", func(s *Statement) { s.Score.Verdict = "" }, "A model was trained; its quality is unknown."},
		{"no score", func(s *Statement) { s.Score = nil }, "A model was trained; its quality is unknown."},
		{"majority", func(s *Statement) { s.Choice.UsefulModel = false }, "No useful model at this budget."},
	} {
		s := hospital()
		c.change(s)
		if got, _ := verdict(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Each way of taking units that a statement names has a sentence of its own on the report.
func TestSamplingIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"full batch", "Poisson", "Poisson and full batch", "Poisson within groups", "fixed passes"} {
		words := samplingWords(Privacy{Sampling: name})
		if !strings.Contains(words, ": ") || seen[words] {
			t.Errorf("%s: %q", name, words)
		}
		seen[words] = true
	}
}

// Images have no attributes to count: the report names what a network reads.
func TestFeaturesOfImages(t *testing.T) {
	s := benchmarkDemo()
	s.Data.Attributes, s.Choice.Features = 0, []string{"input 28×28×1"}
	for kind, to := range writers {
		if out := write(t, to, s); strings.Contains(out, "of 0 attributes") || kind != "text" && !strings.Contains(out, "input 28×28×1") { // the text does not list features
			t.Errorf("%s: wrong features", kind)
		}
	}
}
