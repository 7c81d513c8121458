package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/campaign"
	"pawl/internal/request"
)

type canaryFlags struct {
	train    request.Train
	data     string
	canaries int
	runs     int
	blackBox bool
}

func auditCanary(a *app) *cobra.Command {
	var f canaryFlags
	c := &cobra.Command{
		Use:   "canary DATA --model NAME (--epsilon E | --noise-multiplier S)",
		Short: "Audit one DP-SGD training run with thousands of canaries",
		Long: `Audit the training run of pawl train with canaries, in one run. A fair coin decides
whether each canary is inserted; the audit then guesses from the training run which
ones were.

White box (default): train the named network with its own layers, clipping, noise,
batches and steps, and with canaries whose gradients are planted in the layers' output.
First test the specification: the standard deviation of the noise on every number, fresh
noise in every step, batches, and the clipping of each example. Then test the claim with
the whole run; under banded noise a canary's score is the likelihood of the whole run with
it over that without it. Only the number of rows of DATA is used. --black-box inserts images with
wrong labels into DATA (built-in, public) and sees only the answers of the trained
model, which shows far less.

A thousand canaries cannot certify more than epsilon 5.8, whatever leaks.`,
		Example: `  pawl audit canary mnist --model mnist-paw-cnn --epsilon 4 --json
  pawl audit canary --data mnist --model mnist-paw-fcn --epsilon 4 --canaries 1000 --black-box`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if f.data != "" && f.data != args[0] {
					return mistakef("name one", "DATA and --data exclude each other: %s and %s", args[0], f.data)
				}
				f.data = args[0]
			}
			if f.data == "" {
				return mistake("missing DATA, the set of images", "example: pawl audit canary mnist --model mnist-paw-cnn --epsilon 4")
			}
			if err := required(c, "model"); err != nil {
				return err
			}
			if f.train.Epsilon == "" && !(f.train.Noise > 0) {
				return mistake("missing --epsilon or --noise-multiplier, which sets the claim", "example: --epsilon 4")
			}
			return runCanary(c.Context(), a, f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.data, "data", "", "built-in set of images, instead of DATA")
	s.StringVar(&f.train.Model, "model", "", "network: a name from pawl models list, or a YAML file (required)")
	s.StringVar(&f.train.Epsilon, "epsilon", "", "epsilon of the training run")
	s.Float64Var(&f.train.Noise, "noise-multiplier", 0, "noise standard deviation / clipping norm, instead of --epsilon")
	s.StringVar(&f.train.Delta, "delta", "", "failure probability delta (default: largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.train.Preset, "preset", "balanced", "quick, balanced or thorough; sets batch and epochs, not epsilon")
	s.IntVar(&f.train.Batch, "batch", 0, "expected batch size")
	s.Float64Var(&f.train.Epochs, "epochs", 0, "expected number of passes over the data")
	s.Float64Var(&f.train.ClippingNorm, "clipping-norm", 0, "L2 bound on each example's gradient (default: the model's, else 0.5)")
	s.StringVar(&f.train.Mechanism, "mechanism", "dp-sgd", "dp-sgd, or banded: noise that is correlated over the steps")
	s.IntVar(&f.train.Bands, "bands", 0, "number of coefficients of --mechanism banded (default: the number that leaves the least noise)")
	s.StringVar(&f.train.Lots, "lots", "poisson", "batches of --mechanism banded: poisson or passes")
	s.IntVar(&f.canaries, "canaries", 5000, "number of canaries")
	s.IntVar(&f.runs, "runs", 1, "training runs whose evidence against the claim is pooled (white box)")
	s.BoolVar(&f.blackBox, "black-box", false, "insert images with wrong labels and use only the trained model's answers")
	s.StringVar(&f.train.Seed, "seed", "", "repeat an audit exactly")
	f.train.Accountant = string(accountant.MethodMin)
	return c
}

func runCanary(ctx context.Context, a *app, f canaryFlags) error {
	out, err := campaign.AuditTraining(ctx, campaign.Training{Train: f.train, Data: f.data, DataDir: a.dataDir, Canaries: f.canaries, Runs: f.runs, BlackBox: f.blackBox, Log: a.err,
		Progress: func(expected time.Duration) (func(string, int, int), func()) {
			bar := newProgress(a.err, expected)
			return bar.step, bar.done
		}})
	if err != nil {
		return err
	}
	why := ""
	if out.Convicted {
		why = out.Why()
	}
	return concludeAudit(a, why, fmt.Sprintf("REJECTED at %s: %s", bound.Percent(bound.Conviction), why), out, out.WriteText)
}
