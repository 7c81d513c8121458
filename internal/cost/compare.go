package cost

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
)

// Comparison is one training under several assumptions.
type Comparison struct {
	Training    Training     `json:"training"`
	Comparisons []Assumption `json:"comparisons"`
	Warnings    []string     `json:"warnings"`
	delta       float64
}

// Assumption is the same training under one set of assumptions.
type Assumption struct {
	Name     string `json:"name"`
	Sampling string `json:"sampling"`
	// RowsPerUnit is how many rows come and go, or change, together.
	RowsPerUnit     int64         `json:"rows_per_unit"`
	Privacy         Privacy       `json:"privacy"`
	PosteriorAtHalf ledger.Number `json:"posterior_at_half"`
	Words           string        `json:"words"`
}

// Compare prices a training under Poisson sampling, with shuffled batches, for a replaced row, and
// for a user with k rows.
func Compare(t Training, delta string, k int64, m accountant.Method) (*Comparison, error) {
	d, err := ParseDelta(delta, false)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Training: t, Warnings: append([]string{}, t.Notes(d)...), delta: d}
	for _, x := range comparisons(t, k, m) {
		r, err := x.cost.Epsilon(d)
		if err != nil {
			return nil, err
		}
		ans, err := NewAnswer(x.cost, r)
		if err != nil {
			return nil, err
		}
		ans.Privacy.EpsilonBounds, ans.Privacy.EpsilonLower = Numbers(r.Bounds), Pointer(r.Lower)
		out.Comparisons = append(out.Comparisons, Assumption{
			x.name, x.sampling, x.rows, ans.Privacy, ans.PosteriorAtHalf,
			fmt.Sprintf(x.words, "epsilon "+RoundedUp(r.Epsilon)) + " " + capital(BeliefWords(&ans.Privacy)) + ".",
		})
	}
	return out, nil
}

// WriteText writes a table, and what each line means.
func (c *Comparison) WriteText(to io.Writer) error {
	t := c.Training
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "steps %d, sampling rate %s, epochs %s, noise multiplier %s, delta %s\n\n", t.Steps, Full(t.SamplingRate), Full(t.Passes()), Full(t.NoiseMultiplier), Full(c.delta))
	fmt.Fprintln(w, "assumption\tepsilon\tprotects\trelation\tmethod")
	for _, a := range c.Comparisons {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.Name, RoundedUp(float64(a.Privacy.Epsilon)), a.Privacy.Unit, a.Privacy.Relation, a.Privacy.Accountant)
	}
	for _, a := range c.Comparisons {
		fmt.Fprintf(w, "\n%s\n", a.Words)
	}
	for _, n := range c.Warnings {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	return w.Flush()
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
	cost           Plan
	words          string // with %s for epsilon
}

// comparisons are the assumptions, the usual first.
func comparisons(t Training, k int64, m accountant.Method) []assumption {
	user := fmt.Sprintf("person with %d rows", k)
	if k == 1 {
		user = "person with 1 row"
	}
	shuffled := func(noiseMultiplier float64, rel dp.Relation, unit string) Plan {
		c := Of(dp.Shuffled{Epochs: int(t.Passes()), Event: dp.Gaussian{NoiseMultiplier: noiseMultiplier}}, rel, m)
		c.Unit = unit
		return c
	}
	return []assumption{
		{"Poisson sampling", "poisson", 1, OfTraining(t, dp.AddOrRemoveOne, m),
			"If every row joins the batch of every step independently and in secret, adding or removing one row costs %s. This figure is usually published; it does not hold for a data loader that shuffles."},
		{"Poisson, row replaced", "poisson", 1, OfTraining(t, dp.ReplaceOne, m),
			"If a row is replaced instead of added or removed, the sum changes by up to two clipping norms and the same training run costs %s: the smaller of two bounds, one for removing the old row and adding the new one, one without amplification by sampling."},
		{"shuffled batches", "shuffled", 1, shuffled(t.NoiseMultiplier, dp.ZeroOut, "row"),
			"If the data are shuffled and cut into fixed batches, every row is used once per epoch and no known theorem lowers the cost: it is that of one Gaussian release with noise multiplier S/sqrt(epochs), %s for a row that is zeroed out. The true cost may be lower, but this is unproven."},
		{"shuffled, row replaced", "shuffled", 1, shuffled(t.NoiseMultiplier/2, dp.ReplaceOne, "row"),
			"With shuffled batches and a replaced row, the noise counts only half: %s."},
		{"Poisson, " + user, "poisson", k, userCost(t, k, m, user),
			fmt.Sprintf("If one person has up to %d rows, protecting the person means protecting all of them: ", k) + "%s under Poisson sampling of rows. Bounding the rows per person, or sampling persons instead of rows, lowers this."},
		{"shuffled, " + user, "shuffled", k, shuffled(t.NoiseMultiplier/float64(k), dp.ZeroOut, user),
			fmt.Sprintf("With shuffled batches, all %d rows of a person can be in one batch and change its sum by %d clipping norms: ", k, k) + "%s."},
	}
}

// userCost hides all rows of a user under Poisson sampling of rows. In one step some
// row of the user joins with chance 1−(1−q)^k, and then the sum moves by at most k
// clipping norms. The pair of mixtures is jointly convex and grows with the shift,
// so a Gaussian of noise multiplier σ/k sampled at that rate dominates it. For many
// steps of little noise the bound on groups may be smaller.
func userCost(t Training, k int64, m accountant.Method, unit string) Plan {
	all := t
	all.NoiseMultiplier /= float64(k)
	// The last digits are given away, lest rounding lower the rate.
	all.SamplingRate = math.Min(1, -math.Expm1(float64(k)*math.Log1p(-t.SamplingRate))*(1+1e-14))
	c := Of(all.Event(), dp.AddOrRemoveOne, m)
	if k > 1 {
		base := Of(t.Event(), dp.AddOrRemoveOne, m)
		rdp := Of(t.Event(), dp.AddOrRemoveOne, accountant.MethodRDP)
		base.Unit = unit
		c.Unit = unit
		c = Smaller(c, Group(base, rdp, k))
	}
	c.Unit = unit
	return c
}
