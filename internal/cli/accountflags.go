package cli

import (
	"pawl/internal/cost"

	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// parseReal reads a finite number that a flag was given. Hexadecimal and text around
// the number are refused: "1e-5 " is more often a mistake in a script than a wish.
func parseReal(flag, text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && strings.Contains(err.Error(), "range"):
		return 0, &usageError{fmt.Sprintf("--%s: %q is out of range", flag, text), ""}
	case err != nil || strings.ContainsAny(text, "xX_") || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, &usageError{fmt.Sprintf("--%s: %q is not a finite number", flag, text), "write it like 0.5 or 1e-5, without spaces"}
	}
	return x, nil
}

// parseWhole reads a whole number from 1 up; 3e5 is one.
func parseWhole(flag, text string) (int64, error) {
	x, err := parseReal(flag, text)
	if err != nil {
		return 0, err
	}
	if x != math.Trunc(x) || x < 1 || x > cost.MostSteps {
		return 0, &usageError{fmt.Sprintf("--%s: %s is not a whole number from 1 to 2^53", flag, text), ""}
	}
	return int64(x), nil
}

// targetFlags are epsilon and delta with their other names.
type targetFlags struct{ epsilon, delta string }

func (f *targetFlags) register(c *cobra.Command, epsilon, delta string) {
	s := c.Flags()
	s.StringVar(&f.epsilon, "epsilon", "", epsilon)
	s.StringVar(&f.delta, "delta", "", delta)
	s.StringVar(&f.epsilon, "target-epsilon", "", "same as --epsilon")
	s.StringVar(&f.delta, "target-delta", "", "same as --delta")
	_ = s.MarkHidden("target-epsilon")
	_ = s.MarkHidden("target-delta")
}

// parseDelta accepts 0 where pure mechanisms may answer.
func parseDelta(text string, zero bool) (float64, error) {
	d, err := parseReal("delta", text)
	switch {
	case err != nil:
		return 0, err
	case d == 0 && !zero:
		return 0, &usageError{"--delta must be greater than 0: with Gaussian noise, no finite epsilon holds at delta 0",
			"use a delta well below 1/rows, for example 1e-5"}
	case d < 0 || d >= 1:
		return 0, &usageError{fmt.Sprintf("--delta: %s is not between 0 and 1", text), "use a delta well below 1/rows, for example 1e-5"}
	}
	return d, nil
}

func parseEpsilon(text string, zero bool) (float64, error) {
	e, err := parseReal("epsilon", text)
	switch {
	case err != nil:
		return 0, err
	case e < 0 || e == 0 && !zero:
		return 0, &usageError{fmt.Sprintf("--epsilon: %s is not greater than 0", text), ""}
	}
	return e, nil
}

// howFlags say how to count.
type howFlags struct{ method, relation string }

func (f *howFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.method, "accountant", "min", "privacy accountant: min (smallest valid bound), pld or rdp")
	c.Flags().StringVar(&f.relation, "relation", "add_or_remove_one", "neighboring relation: add_or_remove_one, replace_one or zero_out")
}

func (f *howFlags) parse() (accountant.Method, dp.Relation, error) {
	m, err := accountant.ParseMethod(f.method)
	if err != nil {
		return "", 0, &usageError{err.Error(), ""}
	}
	r, err := dp.ParseRelation(f.relation)
	if err != nil {
		return "", 0, &usageError{err.Error(), ""}
	}
	return m, r, nil
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
	s.StringVar(&f.rate, "sample-rate", "", "same as --sampling-rate")
	s.StringVar(&f.clip, "l2-norm-clip", "", "same as --clipping-norm")
	s.StringVar(&f.clip, "max-grad-norm", "", "same as --clipping-norm")
	for _, alias := range []string{"sample-rate", "l2-norm-clip", "max-grad-norm"} {
		_ = s.MarkHidden(alias)
	}
}

// parse returns the training and the names of the numbers that were left out, of
// sampling-rate, noise-multiplier and steps.
func (f *trainingFlags) parse() (t cost.Training, missing []string, err error) {
	t.Sampling = "poisson"
	if f.rate != "" && f.batch != "" {
		return t, nil, &usageError{"--sampling-rate and --batch exclude each other", "give one of them"}
	}
	if f.steps != "" && f.epochs != "" {
		return t, nil, &usageError{"--steps and --epochs exclude each other", "give one of them"}
	}
	if f.rows != "" {
		if t.Rows, err = parseWhole("rows", f.rows); err != nil {
			return t, nil, err
		}
	}
	rate := new(big.Rat)
	switch {
	case f.rate != "":
		q, err := parseReal("sampling-rate", f.rate)
		if err != nil {
			return t, nil, err
		}
		if !(q > 0 && q <= 1) {
			return t, nil, &usageError{fmt.Sprintf("--sampling-rate: %s is not in (0, 1]", f.rate),
				"it is the expected batch size divided by the number of rows; 1 means full batch"}
		}
		t.SamplingRate = q
		rate = cost.Shortest(q)
	case f.batch != "":
		if t.Batch, err = parseWhole("batch", f.batch); err != nil {
			return t, nil, err
		}
		if t.Rows == 0 {
			return t, nil, &usageError{"--batch needs --rows", "add --rows, or give --sampling-rate instead"}
		}
		if t.Batch > t.Rows {
			return t, nil, &usageError{fmt.Sprintf("--batch %d is larger than the number of rows, %d", t.Batch, t.Rows), ""}
		}
		rate.SetFrac64(t.Batch, t.Rows)
		t.SamplingRate = float64(t.Batch) / float64(t.Rows)
	default:
		missing = append(missing, "sampling-rate")
	}
	if f.multiplier != "" {
		if t.NoiseMultiplier, err = parseReal("noise-multiplier", f.multiplier); err != nil {
			return t, nil, err
		}
		if t.NoiseMultiplier < 0 {
			return t, nil, &usageError{fmt.Sprintf("--noise-multiplier: %s is negative", f.multiplier), ""}
		}
		t.NoiseMultiplier += 0 // −0 is 0
	} else {
		missing = append(missing, "noise-multiplier")
	}
	switch {
	case f.steps != "":
		if t.Steps, err = parseWhole("steps", f.steps); err != nil {
			return t, nil, err
		}
	case f.epochs != "":
		if t.Epochs, err = parseReal("epochs", f.epochs); err != nil {
			return t, nil, err
		}
		if !(t.Epochs > 0) {
			return t, nil, &usageError{fmt.Sprintf("--epochs: %s is not greater than 0", f.epochs), ""}
		}
		if t.SamplingRate == 0 {
			return t, nil, &usageError{"--epochs needs a sampling rate", "give --steps, or --rows and --batch"}
		}
		if t.Steps, err = cost.CeilSteps(t.Epochs, rate); err != nil {
			return t, nil, err
		}
	default:
		missing = append(missing, "steps")
	}
	if f.clip != "" {
		if t.Clip, err = parseReal("clipping-norm", f.clip); err != nil {
			return t, nil, err
		}
		if !(t.Clip > 0) {
			return t, nil, &usageError{fmt.Sprintf("--clipping-norm: %s is not greater than 0", f.clip), ""}
		}
	}
	return t, missing, nil
}

// complete is parse where nothing may be left out.
func (f *trainingFlags) complete(c *cobra.Command) (cost.Training, error) {
	t, missing, err := f.parse()
	if err == nil && len(missing) > 0 {
		err = &usageError{fmt.Sprintf("%s: missing --%s", c.CommandPath(), strings.Join(missing, " and --")), "usage: " + c.UseLine()}
	}
	return t, err
}
