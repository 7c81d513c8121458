package advise

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteText writes the answer for a person.
func (a *Answer) WriteText(out io.Writer) error {
	q, c := a.Facts, a.Advice
	w := &lines{w: out}
	w.f("Facts: %s", factWords(q))
	switch {
	case q.Delta == 0 && q.PerUnit > 1:
		w.f("       rows·epsilon/k = %.4g decides at delta 0: a unit may have k = %d rows", q.Training*q.Epsilon/float64(q.PerUnit), q.PerUnit)
	case q.Delta == 0:
		w.f("       rows·epsilon = %.4g decides at delta 0", q.Training*q.Epsilon)
	case q.PerUnit > 1:
		w.f("       r = n/(k·σ₁) = %.4g/(%d·%.4g) = %.4g decides: training rows over the most rows of a unit and the noise multiplier of one release at epsilon %g, delta %.2g", q.Training, q.PerUnit, q.NoiseMultiplier, q.Ratio, q.Epsilon, q.Delta)
	default:
		w.f("       r = n/σ₁ = %.4g/%.4g = %.4g decides: training rows over the noise multiplier of one release at epsilon %g, delta %.2g", q.Training, q.NoiseMultiplier, q.Ratio, q.Epsilon, q.Delta)
	}
	for _, s := range q.Assumed {
		w.f("       assumed: %s", s)
	}
	if a.Warning != "" {
		w.f("WARNING: do not expect a useful model: %s", a.Warning)
	}
	w.f("")
	w.f("Features   %s", c.Features)
	w.f("Encoding   %s", c.Encoding)
	w.f("Model      %s (--model %s)", c.Model, c.Entry)
	w.f("Optimizer  %s", c.Optimizer)
	w.f("Tuning     %s", c.Tuning)
	w.f("Search     %s", c.Search)
	w.f("")
	w.f("Confidence: %s. %s.", a.Confidence.Level, capital(a.Confidence.Why))
	w.f("Expected: %s.", a.Expect.Words)
	for _, cell := range a.Expect.Cells {
		far, runs := "", "runs"
		if !cell.Near {
			far = ", far from your case"
		}
		if cell.Score.Runs == 1 {
			runs = "run"
		}
		w.f("    %s at ε %g (n %d, r %.4g%s): %s %s over %d %s; baseline %.1f", cell.Data, cell.Epsilon, cell.Rows, cell.Ratio, far, cell.Score.Words(), a.Expect.Unit, cell.Score.Runs, runs, cell.Baseline)
	}
	w.f("")
	w.f("Rules (%s)", strings.TrimSuffix(a.Reconstruction, "."))
	for _, r := range a.Rules {
		w.f("• %s", r.Advice)
		w.f("    because %s", r.Because)
		if r.When != "" {
			w.f("    rule %s, when: %s", r.Name, r.When)
		}
		if r.Published != "" {
			w.f("    published: %s", r.Published)
		}
		w.f("    measured: %s", r.Measured)
		w.f("    what would change it: %s", r.Changes)
	}
	w.f("")
	w.f("Next: %s", a.Next)
	return w.err
}

func factWords(q Question) string {
	s := fmt.Sprintf("%s, %s", q.Kind, q.Task)
	if q.Data != "" {
		s = q.Data + ": " + s
	}
	if q.Classes > 0 {
		s += fmt.Sprintf(" of %d classes", q.Classes)
	}
	s += fmt.Sprintf(", %.0f rows", q.Rows)
	if math.Round(q.Training) != q.Rows {
		s += fmt.Sprintf(", about %.0f for training", q.Training)
	}
	switch {
	case q.Attributes == 1:
		s += ", 1 attribute"
	case q.Attributes > 1:
		s += fmt.Sprintf(", %d attributes", q.Attributes)
	}
	if q.Shape != nil {
		s += fmt.Sprintf(", shape %d×%d×%d", q.Shape[0], q.Shape[1], q.Shape[2])
	}
	return s
}

// lines writes lines and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) f(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format+"\n", args...)
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
