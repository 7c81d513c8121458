package cli

import (
	"pawl"
	"pawl/internal/cost"

	"github.com/spf13/cobra"
)

// targetFlags are epsilon and delta with their other names.
type targetFlags struct{ epsilon, delta string }

func (f *targetFlags) register(c *cobra.Command, epsilon, delta string) {
	s := c.Flags()
	s.StringVar(&f.epsilon, "epsilon", "", epsilon)
	s.StringVar(&f.delta, "delta", "", delta)
	targetAliases(c)
}

// costFlags are a target, and how to count.
type costFlags struct {
	targetFlags
	method, relation string
}

func (f *costFlags) register(c *cobra.Command, epsilon, delta string) {
	f.targetFlags.register(c, epsilon, delta)
	accountantFlag(c.Flags(), &f.method)
	c.Flags().StringVar(&f.relation, "relation", "add_or_remove_one", "neighbouring relation: add_or_remove_one, replace_one or zero_out")
}

// trainingFlags are the facts as they were typed.
type trainingFlags struct{ rate, multiplier, steps, rows, batch, epochs, clip string }

func (f *trainingFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.rate, "sampling-rate", "", "probability that a row joins the batch of a step: expected batch size / rows")
	s.StringVar(&f.multiplier, "noise-multiplier", "", "standard deviation of the noise divided by the clipping norm")
	s.StringVar(&f.steps, "steps", "", "number of noisy updates (not micro-batches)")
	s.StringVar(&f.rows, "rows", "", "number of rows; with --batch, instead of --sampling-rate")
	s.StringVar(&f.batch, "batch", "", "expected batch size, over all workers and accumulation steps")
	s.StringVar(&f.epochs, "epochs", "", "passes over the data, instead of --steps: steps = ceil(epochs / sampling rate)")
	s.StringVar(&f.clip, "clipping-norm", "", "clipping norm; does not change epsilon")
	aliases(c, "sampling-rate", "sample-rate")
	aliases(c, "clipping-norm", "l2-norm-clip", "max-grad-norm")
}

// training reads what was typed. One of noise multiplier, steps and sampling rate may be left
// out where it is to be found.
func (f *trainingFlags) training(c *cobra.Command, open bool) (_ *pawl.DPSGD, err error) {
	x := &pawl.DPSGD{}
	var left []string
	for _, n := range [][2]string{{"sampling-rate", f.rate + f.batch}, {"noise-multiplier", f.multiplier}, {"steps", f.steps + f.epochs}} {
		if n[1] == "" && !open {
			left = append(left, n[0])
		}
	}
	for _, n := range []struct {
		flag, text string
		to         *float64
	}{{"sampling-rate", f.rate, &x.SamplingRate}, {"noise-multiplier", f.multiplier, &x.NoiseMultiplier}, {"epochs", f.epochs, &x.Epochs}, {"clipping-norm", f.clip, &x.ClippingNorm}} {
		if n.text == "" {
			continue
		}
		if *n.to, err = parseReal(n.flag, n.text); err != nil {
			return nil, err
		}
		switch {
		case *n.to != 0 || n.flag == "noise-multiplier":
		case n.flag == "sampling-rate":
			return nil, mistakef("it is the expected batch size divided by the number of rows; 1 means full batch", "--sampling-rate: %s is not in (0, 1]", n.text)
		default:
			return nil, mistakef("", "--%s: %s is not greater than 0", n.flag, n.text)
		}
	}
	for _, n := range []struct {
		flag, text string
		to         *int64
	}{{"rows", f.rows, &x.Rows}, {"batch", f.batch, &x.Batch}, {"steps", f.steps, &x.Steps}} {
		if n.text == "" {
			continue
		}
		if *n.to, err = parseWhole(n.flag, n.text); err != nil {
			return nil, err
		}
	}
	return x, missing(c, left...)
}

// required reports what of the target is missing: epsilon, and delta unless pure says that it may be.
func (f *targetFlags) required(c *cobra.Command, pure bool) error {
	err := required(c, "epsilon")
	if err == nil && f.delta == "" && !pure {
		return missing(c, "delta")
	}
	return err
}

// asked is the relation where it was typed, so that a file may state another.
func (f *costFlags) asked(c *cobra.Command) string {
	if c.Flags().Changed("relation") {
		return f.relation
	}
	return ""
}

// openNumbers are the numbers of an event that can be left open, for help.
func openNumbers() []string { return cost.FreeNames() }

// parseReal and parseWhole read a number that a flag was given.
func parseReal(flag, text string) (float64, error) { return cost.ParseReal(flag, text) }
func parseWhole(flag, text string) (int64, error)  { return cost.ParseWhole(flag, text) }
