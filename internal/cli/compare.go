package cli

import (
	"pawl/internal/cost"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
)

func accountCompare(a *app) *cobra.Command {
	var (
		f           trainingFlags
		target      targetFlags
		method      string
		rowsPerUser string
	)
	c := &cobra.Command{
		Use:   "compare --rows N --batch B --epochs E --noise-multiplier S --delta D",
		Short: "Compare the epsilon of one training run under different assumptions",
		Long: `Compute the epsilon of one DP-SGD training run under Poisson sampling, with shuffled
batches, for a replaced row, and for a person with several rows. The noise is the same;
the guarantees are very different.`,
		Example: `  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5
  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --rows-per-user 3 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			x, err := f.training(c, false)
			if err != nil {
				return err
			}
			t, _, err := cost.Facts(*x).Training(true)
			if err != nil {
				return err
			}
			m, err := accountant.ParseMethod(method)
			switch {
			case err != nil:
				return mistake(err.Error(), "")
			case target.epsilon != "":
				return mistake("--epsilon does not apply: compare computes epsilon; give --delta", "")
			case target.delta == "":
				return missing(c, "delta")
			}
			k, err := parseWhole("rows-per-user", rowsPerUser)
			if err != nil {
				return err
			}
			if t.Rows > 0 && k > t.Rows {
				return mistakef("", "--rows-per-user %d is larger than the number of rows, %d", k, t.Rows)
			}
			out, err := cost.Compare(t, target.delta, k, m)
			if err != nil {
				return err
			}
			return a.show(out)
		},
	}
	f.register(c)
	target.register(c, "", "failure probability delta, well below 1/rows")
	_ = c.Flags().MarkHidden("epsilon")
	accountantFlag(c.Flags(), &method)
	c.Flags().StringVar(&rowsPerUser, "rows-per-user", "10", "maximum number of rows per person")
	return c
}
