package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pawl/evidence/advise"
)

// adviseFlags are public facts as typed.
type adviseFlags struct {
	rows, attributes, classes, numeric, vectors int64
	task, images, target, epsilon, delta        string
	model, preset, features, diagram            string
	text, publicTest                            bool
	// given names the flags that were typed.
	given map[string]bool
}

func (a *app) adviseCommand() *cobra.Command {
	var f adviseFlags
	c := &cobra.Command{
		Use:   "advise [DATA] --epsilon E",
		Short: "Recommend a model, with reasons, confidence and expected accuracy",
		Long: `Recommend what pawl fit would train, from public facts alone. No row is read and
nothing is charged.

Give the facts as flags (--rows, --attributes, --task, --epsilon), or name a built-in
data set or a schema file (YAML). On a terminal, pawl advise without arguments asks for
them.

The rules and thresholds are those of pawl fit. They are our reconstruction of a
published procedure; each comes with what was published and what we measured. See pawl
advise rules, pawl advise menu and pawl advise thresholds.`,
		Example: `  pawl advise --rows 22750 --attributes 14 --task classification --epsilon 0.1
  pawl advise adult --target income --epsilon 1 --diagram advice.svg
  pawl advise --rows 60000 --images 28x28x1 --task classification --classes 10 --epsilon 1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Sprintf("pawl advise: unexpected argument %q", args[1]), "give at most one data set or schema"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.given = map[string]bool{}
			for _, name := range append([]string{"diagram"}, adviseFacts...) {
				f.given[name] = c.Flags().Changed(name)
			}
			return a.advise(c.Context(), args, &f)
		},
	}
	s := c.Flags()
	s.Int64Var(&f.rows, "rows", 0, "number of rows")
	s.Int64Var(&f.attributes, "attributes", 0, "number of columns besides the target")
	s.Int64Var(&f.classes, "classes", 2, "number of classes of the target")
	s.StringVar(&f.task, "task", "", "classification or regression")
	s.Int64Var(&f.numeric, "numeric", 0, "number of numeric attributes (default: half)")
	s.BoolVar(&f.text, "text", false, "the data have a text column besides --attributes others")
	s.StringVar(&f.images, "images", "", "images of size HEIGHTxWIDTHxCHANNELS, such as 28x28x1")
	s.Int64Var(&f.vectors, "vectors", 0, "length of vectors from a public extractor")
	s.StringVar(&f.target, "target", "", "column of DATA to predict (built-in data sets have a default)")
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon of the whole job (required)")
	s.StringVar(&f.delta, "delta", "", "failure probability delta (default: largest power of ten up to 1/(10·rows); 0 asks for pure DP)")
	s.StringVar(&f.model, "model", "auto", "auto, or a learner of pawl fit")
	s.StringVar(&f.features, "features", "auto", "auto, or a list of columns of DATA")
	s.StringVar(&f.preset, "preset", "balanced", "quick, balanced or thorough; changes the running time, not epsilon")
	s.BoolVar(&f.publicTest, "public-test", false, "a public test file will be used, so no rows are held out")
	s.StringVar(&f.diagram, "diagram", "", "draw the decisions and the path taken as FILE.svg")
	c.AddCommand(a.adviseRulesCommand(), a.adviseMenuCommand(), a.adviseThresholdsCommand(), a.adviseMeasureCommand())
	return c
}

// adviseFacts are the flags that say something of data; those of DATA itself come last.
var adviseFacts = []string{"rows", "attributes", "classes", "task", "numeric", "text", "images", "vectors", "public-test", "epsilon", "target", "features"}

func (a *app) advise(ctx context.Context, args []string, f *adviseFlags) error {
	nothing := len(args) == 0
	for _, given := range f.given {
		nothing = nothing && !given
	}
	if in, ok := a.in.(*os.File); nothing && ok && term.IsTerminal(int(in.Fd())) {
		if err := f.ask(ctx, a.in, a.err); err != nil {
			return err
		}
	}
	answer, err := f.answer(args)
	if err != nil {
		return err
	}
	if f.given["diagram"] {
		if err := checkSVG(f.diagram); err != nil {
			return err
		}
		if err := writeFile(f.diagram, true, func(w io.Writer) error { return advise.Diagram(w, answer) }); err != nil {
			return err
		}
	}
	if a.json {
		return writeJSON(a.out, answer)
	}
	return printAdvice(a.out, answer)
}

// checkSVG refuses to replace what is no drawing.
func checkSVG(path string) error {
	if !strings.HasSuffix(strings.ToLower(path), ".svg") {
		return &usageError{fmt.Sprintf("%s: a diagram must be an SVG file", path), "example: --diagram advice.svg"}
	}
	return nil
}

func (a *app) adviseRulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rules",
		Short:   "List all rules with thresholds and evidence",
		Long:    "List every rule that pawl fit follows: when it applies, what it recommends, what was\npublished and what we measured. " + advise.Reconstruction,
		Example: "  pawl advise rules --json",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return writeJSON(a.out, map[string]any{"reconstruction": advise.Reconstruction, "rules": advise.Guidelines})
			}
			fmt.Fprintln(a.out, advise.Reconstruction)
			for _, g := range advise.Guidelines {
				fmt.Fprintf(a.out, "\n%s\n    when: %s\n    advice: %s\n    published: %s\n    measured: %s\n    what would change it: %s\n", g.Name, g.When, g.Advice, g.Published, g.Measured, g.Changes)
			}
			return nil
		},
	}
}

// printAdvice writes the answer for a person.
func printAdvice(out io.Writer, a *advise.Answer) error {
	q, c := a.Facts, a.Advice
	w := &lines{w: out}
	w.f("Facts: %s", factWords(q))
	switch {
	case q.Delta == 0:
		w.f("       rows·epsilon = %.4g decides at delta 0", q.Training*q.Epsilon)
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

func factWords(q advise.Question) string {
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
