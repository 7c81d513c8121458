package cli

import (
	"pawl/internal/cost"

	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
)

func (a *app) calibrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Find the noise, steps or sampling rate that meets a target epsilon",
		Long: `Find the one parameter that was left open, so that the target epsilon is reached but
never exceeded. Noise is rounded up and every other parameter down, to six digits. The
epsilon shown is that of the printed, rounded parameter.`,
		Example: `  pawl calibrate dpsgd --epsilon 8 --delta 1e-5 --sampling-rate 0.02 --steps 1500
  pawl calibrate gaussian --epsilon 0.5 --delta 1e-5
  pawl calibrate laplace --epsilon 0.1
  pawl calibrate event plan.json --epsilon 2 --delta 1e-5   # one number in plan.json is "?"`,
		Args: subcommandArgs("dpsgd, gaussian, laplace, event"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.calibrateDPSGD(), a.calibrateGaussian(), a.calibrateLaplace(), a.calibrateEvent())
	return c
}

// parse reads the target of a calibration.
func (f *targetFlags) parse(c *cobra.Command, pure bool) (ledger.Spend, error) {
	var s ledger.Spend
	if err := required(c, "epsilon"); err != nil {
		return s, err
	}
	epsilon, err := parseEpsilon(f.epsilon, false)
	if err != nil {
		return s, err
	}
	if f.delta == "" && !pure {
		return s, &usageError{fmt.Sprintf("%s: missing --delta", c.CommandPath()), "usage: " + c.UseLine()}
	}
	delta := 0.0
	if f.delta != "" {
		if delta, err = parseDelta(f.delta, pure); err != nil {
			return s, err
		}
	}
	return ledger.Spend{Epsilon: ledger.Number(epsilon), Delta: ledger.Number(delta)}, nil
}

func (a *app) calibrateDPSGD() *cobra.Command {
	var (
		f      trainingFlags
		target targetFlags
		how    howFlags
	)
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
			spend, err := target.parse(c, false)
			if err != nil {
				return err
			}
			t, missing, err := f.parse()
			if err != nil {
				return err
			}
			m, rel, err := how.parse()
			if err != nil {
				return err
			}
			if rel == dp.ReplaceOne {
				return &usageError{"calibrate dpsgd supports add_or_remove_one and zero_out only", "pawl account dpsgd --relation replace_one computes the epsilon of a given noise multiplier"}
			}
			if len(missing) != 1 {
				return &usageError{fmt.Sprintf("leave out exactly one of --noise-multiplier, --steps and --sampling-rate (%d are missing)", len(missing)),
					"the missing one is computed"}
			}
			ans, err := cost.TrainingFamily(&t, missing[0], rel, m).Solve(spend, rel, m)
			if err != nil {
				return err
			}
			ans.Training = &t
			ans.Warnings = append(ans.Warnings, t.Notes(float64(spend.Delta))...)
			return a.print(ans)
		},
	}
	f.register(c)
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta, well below 1/rows (required)")
	how.register(c)
	return c
}

func (a *app) calibrateGaussian() *cobra.Command {
	return a.calibrateRelease("gaussian", `  pawl calibrate gaussian --epsilon 0.5 --delta 1e-5
  pawl calibrate gaussian --epsilon 1 --delta 1e-6 --count 10 --sensitivity 2.5`, false,
		func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} })
}

func (a *app) calibrateLaplace() *cobra.Command {
	return a.calibrateRelease("laplace", `  pawl calibrate laplace --epsilon 0.1
  pawl calibrate laplace --epsilon 1 --delta 1e-6 --count 100 --sensitivity 5`, true,
		func(x float64) dp.Event { return dp.Laplace{NoiseMultiplier: x} })
}

// calibrateRelease is for one kind of noise on a number of releases.
func (a *app) calibrateRelease(kind, example string, pure bool, noise func(x float64) dp.Event) *cobra.Command {
	var (
		target             targetFlags
		how                howFlags
		count, sensitivity string
	)
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
			spend, err := target.parse(c, pure)
			if err != nil {
				return err
			}
			m, rel, err := how.parse()
			if err != nil {
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
					return &usageError{fmt.Sprintf("--sensitivity: %s is not greater than 0", sensitivity), ""}
				}
			}
			event := func(x float64) dp.Event {
				if n == 1 {
					return noise(x)
				}
				return dp.Repeat{Count: n, Event: noise(x)}
			}
			f := cost.Family{
				Free:   "noise_multiplier",
				Search: accountant.Search{Event: event, Decreasing: true, Lower: 1e-6, Upper: 1e9},
				Price:  func(x float64) cost.Plan { return cost.Of(event(x), rel, m) },
			}
			ans, err := f.Release(kind, float64(n), spend, rel, m)
			if err != nil {
				return err
			}
			if size > 0 {
				ans.NoiseStdDev = cost.Pointer(cost.StdDev(kind, float64(*ans.Value)*size))
			}
			return a.print(ans)
		},
	}
	delta := "failure probability delta, well below 1/units (required)"
	if pure {
		delta = "failure probability delta (default 0: pure DP)"
	}
	target.register(c, "target epsilon, never exceeded (required)", delta)
	how.register(c)
	c.Flags().StringVar(&count, "count", "1", "number of releases that share the target")
	c.Flags().StringVar(&sensitivity, "sensitivity", "", norm+" sensitivity of a release; also prints the standard deviation of the noise")
	return c
}
