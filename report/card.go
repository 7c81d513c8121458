package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Card writes the model card, a Markdown file with YAML front matter for the folder
// of the model. It returns an error, and writes nothing, when Validate does.
func Card(w io.Writer, s *Statement) error {
	if err := Validate(s); err != nil {
		return err
	}
	var b strings.Builder
	frontMatter(&b, s)
	cardBody(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// pairs finds what claim writes.
var pairs = regexp.MustCompile(`\(ε, δ\) = \([^()]*\)`)

// CardAgrees reports whether a model card says of the guarantee and of the score what s says. The rest of a card is
// worded by the version that wrote it.
func CardAgrees(card []byte, s *Statement) bool {
	stated := pairs.FindAllString(string(card), -1)
	for _, pair := range stated {
		if pair != claim(s.Privacy) {
			return false
		}
	}
	var mine strings.Builder
	frontMatter(&mine, s)
	front, _, ok := strings.Cut(string(card), "\n---\n")
	return ok && len(stated) > 0 && front+"\n---\n" == mine.String()
}

// yamlString writes s as a JSON string, which is a double-quoted YAML scalar.
func yamlString(s string) string {
	b, _ := json.Marshal(Plain(s)) // a string always marshals
	return string(b)
}

func frontMatter(b *strings.Builder, s *Statement) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("---")
	if n := banner(s); n != "" {
		line("# %s", n)
	}
	line("license: unknown")
	line("library_name: pawl")
	line("tags:")
	switch {
	case banner(s) != "":
		line("- not-private")
	case wholeMark(s) != "":
		line("- not-private-as-a-whole")
	default:
		line("- differential-privacy")
	}
	line("- pawl")
	line("- %s", yamlString(or(s.Data.Task, "classification")))
	if sc := s.Score; sc != nil && !math.IsNaN(float64(sc.Value)) && !math.IsInf(float64(sc.Value), 0) {
		line("model-index:")
		line("- name: %s", yamlString(or(s.Choice.Model, "model")))
		line("  results:")
		line("  - task:")
		line("      type: %s", yamlString(or(s.Data.Task, "classification")))
		line("    dataset:")
		line("      name: %s", yamlString(or(s.Data.Name, "unnamed")))
		line("      type: %s", yamlString(or(s.Data.Name, "unnamed")))
		line("    metrics:")
		line("    - type: %s", sc.Metric)
		line("      name: %s", yamlString(or(sc.How, "origin not stated")))
		line("      value: %s", strconv.FormatFloat(float64(sc.Value), 'g', -1, 64))
	}
	line("---")
}

// markup is what Markdown reads as structure inside a line.
var markup = regexp.MustCompile("[\\\\`*_\\[\\]<>|~&$]")

// plain escapes s so that it shows as it is, whatever it holds. Backslash escapes of
// punctuation are CommonMark; < > & become entities for readers that pass HTML on.
// Marks of headings and lists need no escape: s never starts a line.
func plain(s string) string {
	return markup.ReplaceAllStringFunc(Plain(s), func(c string) string {
		switch c {
		case "<":
			return "&lt;"
		case ">":
			return "&gt;"
		case "&":
			return "&amp;"
		}
		return "\\" + c
	})
}

func cardBody(b *strings.Builder, s *Statement) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	none := banner(s)
	if none != "" {
		line("")
		line("> **%s.** Nothing released by this run is protected.", none)
	}
	if n := wholeMark(s); n != "" {
		line("")
		line("> **%s.** The claim below is for this run alone.", n)
	}
	line("")
	line("# %s: %s", plain(or(s.Data.Name, "unnamed data set")), plain(or(s.Choice.Model, "model")))
	line("")
	headline, why := verdict(s)
	line("**%s** %s", headline, plain(why))
	line("")
	line("## Privacy")
	line("")
	if none != "" {
		line("%s. No claim is made; %s %s.", none, wouldBe(s), claim(s.Privacy))
	} else {
		what := "Everything released together"
		if wholeMark(s) != "" {
			what = "What this run released, taken alone,"
		}
		line("%s satisfies **%s** differential privacy in the central model; ε is rounded up.", what, claim(s.Privacy))
	}
	line("")
	for _, t := range terms(s) {
		line("- %s: %s", t.Name, plain(t.Value))
	}
	if none == "" {
		line("- Risk: %s; failure probability δ = %s", plain(riskWords(s.Privacy)), deltaWords(s.Privacy.Delta))
	}
	line("")
	line("## Intended use")
	line("")
	line("Predicting %s for rows that follow the same schema as %s. The model describes a population; it is not a record of any one %s and must not be used as one.",
		plain(or(s.Data.Target, "the target")), plain(or(s.Data.Name, "the data set")), plain(s.Privacy.Unit))
	line("")
	line("## Quality")
	line("")
	cardQuality(line, s)
	line("")
	line("## How to predict")
	line("")
	line("```sh")
	line("pawl predict %s new-rows.csv", shellWord(or(s.Outputs.Model, "model")))
	line("pawl export %s --format onnx --output model.onnx", shellWord(or(s.Outputs.Model, "model")))
	line("```")
	line("")
	line("The second command writes one file for other programs, including all preprocessing (text columns are refused). `onnxruntime.InferenceSession(\"model.onnx\").get_inputs()` lists the inputs: an array of shape [N, 1] for each column (float, NaN if missing; strings for categories), or images; `run(None, inputs)` returns labels and probabilities, or predictions. `--format safetensors` writes the parameters alone.")
	line("")
	line("The new rows need the columns of the schema except the target. Predictions about people are personal data of those people: the guarantee protects the people in the training data, not the people predicted.")
	line("")
	line("## Model")
	line("")
	for _, d := range decision(s) {
		if d.Name != "Rules" {
			line("- %s: %s", d.Name, plain(d.Value))
		}
	}
	line("")
	line("## Limits")
	line("")
	for _, l := range limits(s) {
		line("- %s", plain(l))
	}
	if s.Score == nil || s.Score.ByGroup == nil {
		line("- Quality by subgroup was not measured: on sensitive data, that is another query.")
	}
}

func cardQuality(line func(string, ...any), s *Statement) {
	if s.Score == nil {
		line("No score was released, so the quality of the model is unknown.")
		return
	}
	sc := s.Score
	line("%s. Origin: %s.", plain(metricWords(s)), plain(or(sc.How, "not stated")))
	line("")
	line("| | value | |")
	line("|---|---|---|")
	line("| this model | %s | %s |", scoreText(s, sc.Value), intervalText(s, &sc.Interval))
	line("| %s | %s | %s |", strings.ToLower(baselineWords(s)), scoreText(s, sc.Baseline), baselineInterval(s))
	for _, r := range qualityRows(s) {
		line("| %s | %s | |", plain(r.Name), plain(r.Value))
	}
	if t := byGroup(s); t != nil {
		line("")
		line("### By group of %s", plain(t.Attribute))
		line("")
		line("%s. Origin: %s. Cost: %s.", plain(t.Metric), plain(t.How), plain(t.Cost))
		line("")
		line("| group | value | 95%% interval | rows |")
		line("|---|---|---|---|")
		for _, r := range t.Rows {
			line("| %s | %s | %s | %s |", plain(r.Name), r.Value, r.Interval, r.Rows)
		}
	}
	if rows := benchmark(s); len(rows) > 0 {
		line("")
		line("### Public benchmark")
		line("")
		for _, r := range rows {
			line("- %s: %s", plain(r.Name), plain(r.Value))
		}
	}
}

var bareWord = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// shellWord quotes a path for a shell. Backticks could end the code block only at
// the start of a line, and clean has removed line breaks.
func shellWord(s string) string {
	if bareWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
