package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pawl/evidence/advise"
	"pawl/evidence/advise/query"
)

func adviseCommand(a *app) *cobra.Command {
	var f query.Facts
	var diagram string
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
				return mistakef("give at most one data set or schema", "pawl advise: unexpected argument %q", args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Given = map[string]bool{}
			for _, name := range append([]string{"diagram"}, query.Flags...) {
				f.Given[name] = c.Flags().Changed(name)
			}
			return giveAdvice(c.Context(), a, args, &f, diagram)
		},
	}
	s := c.Flags()
	s.Int64Var(&f.Rows, "rows", 0, "number of rows")
	s.Int64Var(&f.Attributes, "attributes", 0, "number of columns besides the target")
	s.Int64Var(&f.Classes, "classes", 2, "number of classes of the target")
	s.StringVar(&f.Task, "task", "", "classification or regression")
	s.Int64Var(&f.Numeric, "numeric", 0, "number of numeric attributes (default: half)")
	s.BoolVar(&f.Text, "text", false, "the data also have a text column, which --attributes does not count")
	s.StringVar(&f.Images, "images", "", "images of size HEIGHTxWIDTHxCHANNELS, such as 28x28x1")
	s.Int64Var(&f.Vectors, "vectors", 0, "length of vectors from a public extractor")
	s.StringVar(&f.Target, "target", "", "column of DATA to predict (built-in data sets have a default)")
	s.StringVar(&f.Epsilon, "epsilon", "", "epsilon of the whole job (required)")
	s.StringVar(&f.Delta, "delta", "", "failure probability delta (default: largest power of ten up to 1/(10·rows); 0 asks for pure DP)")
	s.StringVar(&f.Model, "model", "auto", "auto, or a learner of pawl fit")
	s.StringVar(&f.Features, "features", "auto", "auto, or a list of columns of DATA")
	s.StringVar(&f.Preset, "preset", "balanced", "quick, balanced or thorough; changes the running time, not epsilon")
	s.BoolVar(&f.PublicTest, "public-test", false, "a public test file will be used, so no rows are held out")
	s.StringVar(&diagram, "diagram", "", "draw the decisions and the path taken as FILE.svg")
	c.AddCommand(adviseRulesCommand(a), adviseMenuCommand(a), adviseThresholdsCommand(a), adviseMeasureCommand(a))
	return c
}

func giveAdvice(ctx context.Context, a *app, args []string, f *query.Facts, diagram string) error {
	nothing := len(args) == 0
	for _, given := range f.Given {
		nothing = nothing && !given
	}
	if nothing && terminal(a.in) {
		if err := f.Ask(ctx, a.in, a.err); err != nil {
			return err
		}
	}
	answer, err := f.Answer(args)
	if err != nil {
		return err
	}
	if f.Given["diagram"] {
		if err := checkSVG(diagram); err != nil {
			return err
		}
		if err := writeFile(diagram, true, func(w io.Writer) error { return advise.Diagram(w, answer) }); err != nil {
			return err
		}
	}
	return a.show(answer)
}

// checkSVG refuses to replace what is no drawing.
func checkSVG(path string) error {
	if !strings.HasSuffix(strings.ToLower(path), ".svg") {
		return mistakef("example: --diagram advice.svg", "%s: a diagram must be an SVG file", path)
	}
	return nil
}

func adviseRulesCommand(a *app) *cobra.Command {
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
