package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
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

// family is a family of plans with one free number.
type family struct {
	free   string // as the JSON names it
	search accountant.Search
	price  func(x float64) cost
}

// decimalDown and decimalUp are the nearest numbers of six significant digits that
// are not above, or not below, x.
func decimalDown(x float64) float64 {
	d, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if d > x {
		d = nextDecimal(d, -1)
	}
	return d
}

func decimalUp(x float64) float64 {
	d, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if d < x {
		d = nextDecimal(d, 1)
	}
	return d
}

// nextDecimal is the next number of six digits in a direction.
func nextDecimal(d float64, by int) float64 {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(d, 'e', 5, 64), "e")
	n, _ := strconv.Atoi(strings.Replace(digits, ".", "", 1))
	power, _ := strconv.Atoi(exponent)
	if by < 0 && n == 100000 {
		n, power = 1000000, power-1
	}
	next, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", n+by, power-5), 64)
	return next
}

// solve finds the number, rounds it to the safe side and prices what is printed.
func (f family) solve(target ledger.Spend, rel dp.Relation, m accountant.Method) (*answer, error) {
	epsilon, delta := float64(target.Epsilon), float64(target.Delta)
	x, _, err := accountant.Calibrate(accountant.Target{Epsilon: epsilon, Delta: delta}, rel, m, f.search)
	if errors.Is(err, accountant.ErrUnreachable) {
		return nil, f.unreachable(epsilon, delta)
	}
	if err != nil {
		return nil, relationAdvice(err)
	}
	return f.answer(x, target)
}

// answer prices x after rounding. A rounded number may by chance cost more than x
// where the bounds are not quite monotone; then the next one is tried.
func (f family) answer(x float64, target ledger.Spend) (*answer, error) {
	step := -1
	if f.search.Decreasing {
		step = 1
	}
	const same = 1 + 1e-12 // the search goes through logarithms
	switch {
	case f.search.Integer:
	case f.search.Decreasing && x <= f.search.Lower*same:
		x = f.search.Lower
	case f.search.Decreasing:
		x = decimalUp(x)
	case x*same >= f.search.Upper:
		x = f.search.Upper
	default:
		x = decimalDown(x)
	}
	for range 20 {
		r, err := f.price(x).epsilon(float64(target.Delta))
		if err != nil {
			return nil, relationAdvice(err)
		}
		if r.Epsilon <= float64(target.Epsilon) {
			ans, err := answerWith(f.price(x), r)
			if err != nil {
				return nil, err
			}
			ans.Free, ans.Value, ans.Target = f.free, pointer(x), &target
			if f.atEnd(x) {
				ans.Warnings = append(ans.Warnings, fmt.Sprintf("the target is not reached: %s %s is the end of the search range", f.free, full(x)))
			}
			return ans, nil
		}
		if f.search.Integer {
			x += float64(step)
		} else {
			x = nextDecimal(x, step)
		}
	}
	return nil, f.unreachable(float64(target.Epsilon), float64(target.Delta))
}

// atEnd reports whether x is the costly end of the range.
func (f family) atEnd(x float64) bool {
	if f.search.Decreasing {
		return x <= f.search.Lower
	}
	return x >= f.search.Upper
}

// unreachable says what can be reached.
func (f family) unreachable(epsilon, delta float64) error {
	ends := [2]float64{f.search.Upper, f.search.Lower}
	if !f.search.Decreasing {
		ends = [2]float64{f.search.Lower, f.search.Upper}
	}
	text := make([]string, 2)
	for i, x := range ends {
		r, err := f.price(x).epsilon(delta)
		if err != nil {
			return relationAdvice(err)
		}
		if i == 0 && math.IsInf(r.Epsilon, 1) {
			return &usageError{fmt.Sprintf("no value of %s gives a finite epsilon at delta %s", f.free, full(delta)), "increase --delta, or change the other parameters"}
		}
		text[i] = fmt.Sprintf("%s at %s %s", roundedUp(r.Epsilon), f.free, full(x))
	}
	return &usageError{fmt.Sprintf("epsilon %s at delta %s cannot be reached: possible values run from epsilon %s to %s", full(epsilon), full(delta), text[0], text[1]),
		"increase epsilon, or change another parameter"}
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
			ans, err := trainingFamily(&t, missing[0], rel, m).solve(spend, rel, m)
			if err != nil {
				return err
			}
			ans.Training = &t
			ans.Warnings = append(ans.Warnings, t.notes(float64(spend.Delta))...)
			return a.print(ans)
		},
	}
	f.register(c)
	target.register(c, "target epsilon, never exceeded (required)", "failure probability delta, well below 1/rows (required)")
	how.register(c)
	return c
}

// trainingFamily frees one number of t, and leaves in t the last that was priced.
func trainingFamily(t *training, free string, rel dp.Relation, m accountant.Method) family {
	f := family{free: strings.ReplaceAll(free, "-", "_")}
	var set func(x float64)
	switch free {
	case "noise-multiplier":
		f.search = accountant.Search{Decreasing: true, Lower: 1e-3, Upper: 1e9}
		set = func(x float64) { t.NoiseMultiplier = x }
	case "steps":
		f.search = accountant.Search{Integer: true, Lower: 1, Upper: 1e9}
		set = func(x float64) { t.Steps = int64(x) }
	default:
		f.search = accountant.Search{Lower: 1e-9, Upper: 1}
		set = func(x float64) { t.SamplingRate = x }
	}
	f.search.Event = func(x float64) dp.Event { set(x); return t.event() }
	f.price = func(x float64) cost { set(x); return trainingCost(*t, rel, m) }
	return f
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
			f := family{
				free:   "noise_multiplier",
				search: accountant.Search{Event: event, Decreasing: true, Lower: 1e-6, Upper: 1e9},
				price:  func(x float64) cost { return costOf(event(x), rel, m) },
			}
			ans, err := f.release(kind, float64(n), spend, rel, m)
			if err != nil {
				return err
			}
			if size > 0 {
				ans.NoiseStdDev = pointer(stdDev(kind, float64(*ans.Value)*size))
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

// release uses the closed forms where they are exact: n Gaussian releases are one
// with the multiplier divided by √n, and pure epsilons add up.
func (f family) release(kind string, n float64, target ledger.Spend, rel dp.Relation, m accountant.Method) (*answer, error) {
	switch {
	case m != accountant.MethodMin:
	case kind == "gaussian":
		x, err := accountant.GaussianNoiseMultiplier(float64(target.Epsilon), float64(target.Delta))
		if err != nil {
			return nil, &usageError{"--epsilon: " + err.Error(), ""}
		}
		f.search.Lower = 0 // no range was searched
		return f.answer(x*math.Sqrt(n), target)
	case target.Delta == 0:
		if x := n / float64(target.Epsilon); x > 0 && !math.IsInf(x, 1) {
			return f.answer(x, target)
		}
	}
	return f.solve(target, rel, m)
}

// stdDev turns a multiple of the sensitivity into a standard deviation: of Laplace
// noise of scale b it is √2·b.
func stdDev(kind string, scale float64) float64 {
	if kind == "laplace" {
		return math.Sqrt2 * scale
	}
	return scale
}
