package cli

import (
	"fmt"
	"strings"

	"pawl"

	"github.com/spf13/cobra"
)

func calibrateCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Find the noise, steps or sampling rate that meets a target epsilon",
		Long: `Find the one parameter that was left out, so that the target epsilon is reached but
never exceeded. Noise is rounded up and every other parameter down, to six digits. The
epsilon shown is that of the printed, rounded parameter.`,
		Example: `  pawl calibrate dpsgd --epsilon 8 --delta 1e-5 --sampling-rate 0.02 --steps 1500
  pawl calibrate gaussian --epsilon 0.5 --delta 1e-5
  pawl calibrate laplace --epsilon 0.1
  pawl calibrate event plan.json --epsilon 2 --delta 1e-5   # one number in plan.json is "?"`,
	}
	c.AddCommand(calibrateDPSGD(a), calibrateGaussian(a), calibrateLaplace(a), calibrateEvent(a))
	return c
}

func calibrateDPSGD(a *app) *cobra.Command {
	var f trainingFlags
	var target costFlags
	c := &cobra.Command{
		Use:   "dpsgd --epsilon E --delta D --sampling-rate Q --steps T",
		Short: "Find the noise multiplier, steps or sampling rate of DP-SGD for a target epsilon",
		Long: `Find the one of --noise-multiplier, --steps and --sampling-rate that was left out.
The result holds for Poisson sampling.`,
		Example: `  pawl calibrate dpsgd --epsilon 8 --delta 1e-5 --sampling-rate 0.02 --steps 1500
  pawl calibrate dpsgd --epsilon 3 --delta 1e-5 --rows 60000 --batch 250 --noise-multiplier 1.1
  pawl calibrate dpsgd --epsilon 3 --delta 1e-5 --noise-multiplier 1 --steps 2000 --json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := target.required(c, false); err != nil {
				return err
			}
			training, err := f.training(c, true)
			if err != nil {
				return err
			}
			if f.multiplier != "" && training.NoiseMultiplier == 0 {
				open := "sampling_rate" // 0 would stand for what is left out
				if f.steps+f.epochs == "" {
					open = "steps"
				}
				return mistakef("give a larger --noise-multiplier, or leave it out to find it", "no value of %s gives a finite epsilon without noise", open)
			}
			return a.answer(pawl.Calibrate{DPSGD: training, Epsilon: target.epsilon, Delta: target.delta, Relation: target.relation, Accountant: target.method}.Answer())
		},
	}
	f.register(c)
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta, well below 1/rows (required)")
	return c
}

func calibrateGaussian(a *app) *cobra.Command {
	return calibrateRelease(a, "gaussian", `  pawl calibrate gaussian --epsilon 0.5 --delta 1e-5
  pawl calibrate gaussian --epsilon 1 --delta 1e-6 --count 10 --sensitivity 2.5`, false)
}

func calibrateLaplace(a *app) *cobra.Command {
	return calibrateRelease(a, "laplace", `  pawl calibrate laplace --epsilon 0.1
  pawl calibrate laplace --epsilon 1 --delta 1e-6 --count 100 --sensitivity 5`, true)
}

// calibrateRelease is for one kind of noise on a number of releases.
func calibrateRelease(a *app, kind, example string, pure bool) *cobra.Command {
	var target costFlags
	var count, sensitivity string
	use, norm := kind+" --epsilon E --delta D", "L2"
	if pure {
		use, norm = kind+" --epsilon E", "L1"
	}
	c := &cobra.Command{
		Use:     use,
		Short:   fmt.Sprintf("Find the noise multiplier of %s noise for a target epsilon", strings.ToUpper(kind[:1])+kind[1:]),
		Example: example,
		Args:    exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := target.required(c, pure); err != nil {
				return err
			}
			n, err := parseWhole("count", count)
			if err != nil {
				return err
			}
			size := 0.0
			if sensitivity != "" {
				if size, err = parseReal("sensitivity", sensitivity); err != nil {
					return err
				}
				if !(size > 0) {
					return mistakef("", "--sensitivity: %s is not greater than 0", sensitivity)
				}
			}
			return a.answer(pawl.Calibrate{Release: kind, Count: n, Sensitivity: size, Epsilon: target.epsilon, Delta: target.delta, Relation: target.relation, Accountant: target.method}.Answer())
		},
	}
	delta := "failure probability delta, well below 1/units (required)"
	if pure {
		delta = "failure probability delta (default 0: pure DP)"
	}
	target.register(c, "target epsilon, never exceeded (required)", delta)
	c.Flags().StringVar(&count, "count", "1", "number of releases that share the target")
	c.Flags().StringVar(&sensitivity, "sensitivity", "", norm+" sensitivity of a release; also prints the standard deviation of the noise")
	return c
}
