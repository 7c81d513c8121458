package cli

import (
	"pawl/internal/cost"

	"fmt"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
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
batches, for a replaced row, and for a user with several rows. The noise is the same;
the guarantees are very different.`,
		Example: `  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5
  pawl account compare --rows 60000 --batch 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --rows-per-user 3 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			x, err := f.training(c, false)
			if err != nil {
				return err
			}
			t, _, err := cost.Facts{Rate: x.SamplingRate, Noise: x.NoiseMultiplier, Epochs: x.Epochs, Clip: x.ClippingNorm, Rows: x.Rows, Batch: x.Batch, Steps: x.Steps, NoNoise: true}.Training()
			if err != nil {
				return err
			}
			m, err := accountant.ParseMethod(method)
			if err != nil {
				return &usageError{err.Error(), ""}
			}
			if target.epsilon != "" {
				return &usageError{"--epsilon does not apply: compare computes epsilon; give --delta", ""}
			}
			if target.delta == "" {
				return &usageError{fmt.Sprintf("%s: missing --delta", c.CommandPath()), "usage: " + c.UseLine()}
			}
			delta, err := cost.ParseDelta(target.delta, false)
			if err != nil {
				return err
			}
			k, err := cost.ParseWhole("rows-per-user", rowsPerUser)
			if err != nil {
				return err
			}
			if t.Rows > 0 && k > t.Rows {
				return &usageError{fmt.Sprintf("--rows-per-user %d is larger than the number of rows, %d", k, t.Rows), ""}
			}
			return compareCosts(a, t, delta, k, m)
		},
	}
	f.register(c)
	target.register(c, "", "failure probability delta, well below 1/rows")
	_ = c.Flags().MarkHidden("epsilon")
	accountantFlag(c.Flags(), &method)
	c.Flags().StringVar(&rowsPerUser, "rows-per-user", "10", "maximum number of rows per user")
	return c
}

// comparison is the same training under one set of assumptions.
type comparison struct {
	Name     string `json:"name"`
	Sampling string `json:"sampling"`
	// RowsPerUnit is how many rows come and go, or change, together.
	RowsPerUnit     int64         `json:"rows_per_unit"`
	Privacy         cost.Privacy  `json:"privacy"`
	PosteriorAtHalf ledger.Number `json:"posterior_at_half"`
	Words           string        `json:"words"`
}

func compareCosts(a *app, t cost.Training, delta float64, k int64, m accountant.Method) error {
	out := struct {
		Training    cost.Training `json:"training"`
		Comparisons []comparison  `json:"comparisons"`
		Warnings    []string      `json:"warnings"`
	}{Training: t, Warnings: append([]string{}, t.Notes(delta)...)}
	for _, x := range comparisons(t, k, m) {
		r, err := x.cost.Epsilon(delta)
		if err != nil {
			return err
		}
		ans, err := cost.NewAnswer(x.cost, r)
		if err != nil {
			return err
		}
		ans.Privacy.EpsilonBounds, ans.Privacy.EpsilonLower = cost.Numbers(r.Bounds), cost.Pointer(r.Lower)
		out.Comparisons = append(out.Comparisons, comparison{
			x.name, x.sampling, x.rows, ans.Privacy, ans.PosteriorAtHalf,
			fmt.Sprintf(x.words, "epsilon "+cost.RoundedUp(r.Epsilon)) + " " + capital(cost.BeliefWords(&ans.Privacy)) + ".",
		})
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	fmt.Fprintf(a.out, "steps %d, sampling rate %s, epochs %s, noise multiplier %s, delta %s\n\n", t.Steps, cost.Full(t.SamplingRate), cost.Full(t.Passes()), cost.Full(t.NoiseMultiplier), cost.Full(delta))
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "assumption\tepsilon\tprotects\trelation\tmethod")
	for _, c := range out.Comparisons {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.Name, cost.RoundedUp(float64(c.Privacy.Epsilon)), c.Privacy.Unit, c.Privacy.Relation, c.Privacy.Accountant)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range out.Comparisons {
		fmt.Fprintf(a.out, "\n%s\n", c.Words)
	}
	for _, n := range out.Warnings {
		fmt.Fprintf(a.out, "note: %s\n", n)
	}
	return nil
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

type assumption struct {
	name, sampling string
	rows           int64
	cost           cost.Plan
	words          string // with %s for epsilon
}

// comparisons are the assumptions, the usual first.
func comparisons(t cost.Training, k int64, m accountant.Method) []assumption {
	user := fmt.Sprintf("user with %d rows", k)
	if k == 1 {
		user = "user with 1 row"
	}
	shuffled := func(noiseMultiplier float64, rel dp.Relation, unit string) cost.Plan {
		c := cost.Of(dp.Shuffled{Epochs: int(t.Passes()), Event: dp.Gaussian{NoiseMultiplier: noiseMultiplier}}, rel, m)
		c.Unit = unit
		return c
	}
	return []assumption{
		{"Poisson sampling", "poisson", 1, cost.OfTraining(t, dp.AddOrRemoveOne, m),
			"If every row joins the batch of every step independently and in secret, adding or removing one row costs %s. This figure is usually published; it does not hold for a data loader that shuffles."},
		{"Poisson, row replaced", "poisson", 1, cost.OfTraining(t, dp.ReplaceOne, m),
			"If a row is replaced instead of added or removed, the sum changes by up to two clipping norms and the same training run costs %s: the smaller of removing the old row and adding the new one, and of no amplification."},
		{"shuffled batches", "shuffled", 1, shuffled(t.NoiseMultiplier, dp.ZeroOut, "row"),
			"If the data are shuffled and cut into fixed batches, every row is used once per epoch and no known theorem lowers the cost: a Gaussian with noise multiplier S/sqrt(epochs), %s for a row that is zeroed out. The true cost may be lower, but this is unproven."},
		{"shuffled, row replaced", "shuffled", 1, shuffled(t.NoiseMultiplier/2, dp.ReplaceOne, "row"),
			"With shuffled batches and a replaced row, the noise counts half: %s."},
		{"Poisson, " + user, "poisson", k, userCost(t, k, m, user),
			fmt.Sprintf("If one person has up to %d rows, protecting the person means protecting all of them: ", k) + "%s under Poisson sampling of rows. Bounding the rows per user, or sampling users instead of rows, lowers this."},
		{"shuffled, " + user, "shuffled", k, shuffled(t.NoiseMultiplier/float64(k), dp.ZeroOut, user),
			fmt.Sprintf("With shuffled batches, all %d rows of a person can be in one batch and change its sum by %d clipping norms: ", k, k) + "%s."},
	}
}

// userCost hides all rows of a user under Poisson sampling of rows. In one step some
// row of the user joins with chance 1−(1−q)^k, and then the sum moves by at most k
// clipping norms. The pair of mixtures is jointly convex and grows with the shift,
// so a Gaussian of noise multiplier σ/k sampled at that rate dominates it. For many
// steps of little noise the bound on groups may be smaller.
func userCost(t cost.Training, k int64, m accountant.Method, unit string) cost.Plan {
	all := t
	all.NoiseMultiplier /= float64(k)
	// The last digits are given away, lest rounding lower the rate.
	all.SamplingRate = math.Min(1, -math.Expm1(float64(k)*math.Log1p(-t.SamplingRate))*(1+1e-14))
	c := cost.Of(all.Event(), dp.AddOrRemoveOne, m)
	if k > 1 {
		base := cost.Of(t.Event(), dp.AddOrRemoveOne, m)
		rdp := cost.Of(t.Event(), dp.AddOrRemoveOne, accountant.MethodRDP)
		base.Unit = unit
		c.Unit = unit
		c = cost.Smaller(c, cost.Group(base, rdp, k))
	}
	c.Unit = unit
	return c
}
