package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/internal/request"
	"pawl/model"
)

func explainCommand(a *app) *cobra.Command {
	var columns int
	c := &cobra.Command{
		Use:   "explain MODEL",
		Short: "Show which columns a model uses, and how",
		Long: `Show how the output of a model changes with each column. MODEL is the output directory of
pawl fit or pawl train, or the model folder in it; it must predict rows of a table.

The effect of a value is the mean output of the model over rows with this value, minus
the mean over all values: in log-odds of a class, or in units of a number. Importance is
its standard deviation over the values. The rows are drawn from the schema, between the
bounds and over the categories, since real rows would cost privacy: an effect shows what
the model does with a value, not how often the value occurs, and not what causes what.

No data are read and nothing is charged: the model was released already.`,
		Example: "  pawl explain out\n  pawl explain out --json",
		Args:    exactArgs("MODEL"),
		RunE:    func(_ *cobra.Command, args []string) error { return explainModel(a, args[0], columns) },
	}
	c.Flags().IntVar(&columns, "most", 10, "number of columns to show; --json has all")
	return c
}

func explainModel(a *app, dir string, most int) error {
	if most < 1 {
		return mistake("--most must be at least 1", "leave it out for 10")
	}
	m, err := request.LoadModel(dir)
	if err != nil {
		return err
	}
	e, err := request.Explain(m)
	if err != nil {
		return mistake(err.Error(), "pawl explain is for linear and additive models, and for networks on tables")
	}
	if m.NotPrivate {
		fmt.Fprintln(a.err, "NOT PRIVATE: this model has no privacy guarantee; its effects may reveal the rows it was trained on")
	}
	if a.json {
		return writeJSON(a.out, e)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Effects on %s, in %s, over rows drawn from the schema\n\n", m.Target, e.Scale)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "column\timportance\tlowest\thighest")
	for _, c := range e.Columns[:min(most, len(e.Columns))] {
		low, high, of := extremes(c)
		fmt.Fprintf(t, "%s\t%.3g\t%s %+.3g\t%s %+.3g", c.Column, c.Importance, low.Value, low.Effects[of], high.Value, high.Effects[of])
		if len(e.Outputs) > 1 {
			fmt.Fprintf(t, "\t(%s)", e.Outputs[of])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if n := len(e.Columns) - most; n > 0 {
		fmt.Fprintf(&b, "and %d more (--most %d)\n", n, len(e.Columns))
	}
	_, err = a.out.Write(b.Bytes())
	return err
}

// extremes are the values of the lowest and the highest effect, on the output on which they
// lie farthest apart.
func extremes(c model.ColumnEffect) (low, high model.ValueEffect, output int) {
	apart := math.Inf(-1)
	for k := range c.Values[0].Effects {
		order := func(a, b model.ValueEffect) int { return cmp.Compare(a.Effects[k], b.Effects[k]) }
		l, h := slices.MinFunc(c.Values, order), slices.MaxFunc(c.Values, order)
		if d := h.Effects[k] - l.Effects[k]; d > apart {
			low, high, output, apart = l, h, k, d
		}
	}
	return low, high, output
}
