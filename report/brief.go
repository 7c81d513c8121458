package report

import (
	"bytes"
	_ "embed"
	"io"
	"strings"
)

//go:embed describe.css
var describeStyle string

// Style is the style sheet of the pages that HTML and DescriptionHTML write.
func Style() string { return pageStyle + describeStyle }

// Body is a page of HTML or DescriptionHTML, whichever the statement is for, from its body tag on:
// to be put into another page that has Style. It refers to nothing and has no style of its own.
func Body(s *Statement) (string, error) {
	write := HTML
	if s.Description != nil {
		write = func(w io.Writer, s *Statement) error { return DescriptionHTML(w, s) }
	}
	var b bytes.Buffer
	if err := write(&b, s); err != nil {
		return "", err
	}
	_, body, _ := strings.Cut(b.String(), "<body>")
	body, _, _ = strings.Cut(body, "</body>")
	return body, nil
}

// Brief is a statement in a few lines, for lists and comparisons. All of it is plain text.
type Brief struct {
	// Mark is what must stand first where the claim does not hold, or "".
	Mark string
	// Claim is the pair of epsilon and delta, Unit whom it protects.
	Claim, Unit string
	// Verdict is one sentence about the quality, Why its reason.
	Verdict, Why string
	// Metric names the score; Score, Interval and Baseline are "" where none was released.
	Metric, Score, Interval, Baseline string
	Model, Features                   string
}

// NewBrief puts a statement into a few lines.
func NewBrief(s *Statement) Brief {
	b := Brief{Mark: or(banner(s), wholeMark(s)), Claim: claim(s.Privacy), Unit: unitWords(s.Privacy), Model: Plain(s.Choice.Model)}
	if s.Description != nil {
		b.Model, b.Verdict = "", headlineOf(s)+"."
		if s.Description.Exact {
			b.Claim = "exact: public data"
		}
		return b
	}
	b.Verdict, b.Why = verdict(s)
	for i, f := range s.Choice.Features {
		if i > 0 {
			b.Features += ", "
		}
		b.Features += Plain(f)
	}
	if s.Score != nil {
		b.Metric, b.Score, b.Baseline = metricWords(s), scoreText(s, s.Score.Value), scoreText(s, s.Score.Baseline)
		b.Interval = intervalText(s, &s.Score.Interval)
	}
	return b
}

// Up writes a cost, rounded up, Down what is granted or left, rounded down, each with two decimals
// or two significant digits; Delta writes a failure probability.
func Up(x float64) string    { return up2(Number(x)) }
func Down(x float64) string  { return down2(Number(x)) }
func Delta(x float64) string { return deltaWords(Number(x)) }
