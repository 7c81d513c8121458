package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
)

// fitFlags are shared by fit, plan fit and check.
type fitFlags struct {
	jobFlags
	pawl.Fit
	classWeights []string
	monotone     []string
	decision     decisionFlags
	out          outDir
	checkpoint   checkpointFlags
}

func (f *fitFlags) register(c *cobra.Command) {
	registerTable(c, &f.jobFlags, &f.Target, &f.Budget, &f.Identity)
	s := c.Flags()
	s.StringVar(&f.Budget.Epsilon, "epsilon", "", "epsilon of the whole job, everything included (required)")
	s.StringVar(&f.Budget.Delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows); 0 asks for pure DP)")
	s.StringVar(&f.Preset, "preset", "balanced", "quick, balanced or thorough; changes the running time, not epsilon")
	s.StringVar(&f.Workflow, "workflow", "paw", "paw (privacy-aware), or stw: make choices as if there were no noise (public data only, for comparison)")
	s.StringVar(&f.Model, "model", "auto", "tables: auto, "+strings.Join(pawl.Learners(), ", ")+"; images: auto, linear, or a network")
	s.StringVar(&f.Features, "features", "auto", "tables: auto, all, a list of columns and levels (age,sex,ward=a), or FILE.json from pawl select --json; images: auto, scatter, or all (pixels, each image scaled to the same norm)")
	s.StringVar(&f.Test, "test", "", "public test file to score on (default: held-out rows, or the official test set of a built-in)")
	s.StringVar(&f.ScoreBy, "score-by", "", "categorical column: also score each of its groups, with part of the score's budget (free on public test rows)")
	registerClassWeights(&f.classWeights, c)
	s.StringVar(&f.TargetScale, "target-scale", "auto", "scale on which a number is trained: auto, linear or log (scores and predictions keep the target's units)")
	s.StringSliceVar(&f.monotone, "monotone", nil, "columns whose effect may only rise or fall, for example age=increasing,rate=decreasing")
	f.decision.register(c)
	s.BoolVar(&f.Search, "search", false, "search privately around the recommended settings: 5, 10 or 20 training runs on average, depending on --preset")
	f.out.register(c)
	registerVectors(&f.Source, c, "")
	s.StringVar(&f.Budget.Epsilon, "target-epsilon", "", "same as --epsilon")
	s.StringVar(&f.Budget.Delta, "target-delta", "", "same as --delta")
	_ = s.MarkHidden("target-epsilon")
	_ = s.MarkHidden("target-delta")
}

// registerTable adds the flags that every command on a table has.
func registerTable(c *cobra.Command, f *jobFlags, target *string, b *pawl.Budget, i *pawl.Identity) {
	s := c.Flags()
	s.StringVar(&f.Schema, "schema", "", "schema file, YAML (built-in data sets have their own)")
	s.StringVar(target, "target", "", "column to predict (built-in data sets have a default)")
	s.StringVar(&b.Accountant, "accountant", "min", "privacy accountant: min (smallest valid bound), pld or rdp")
	s.StringVar(&f.seed, "seed", "", "simulate with predictable noise; every output is marked NOT PRIVATE")
	s.StringVar(&f.BadRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	s.BoolVar(&b.AllowLargeDelta, "allow-large-delta", false, "allow a delta of 1/rows or more")
	registerAnyway(c, b)
	identityFlags(c, i)
}

func (a *app) fitCommand() *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "fit DATA --target Y --epsilon E",
		Short: "Train a private model, score it and write a report",
		Long: `Plan, train and score one model under (epsilon, delta)-differential privacy.

DATA is a table with a schema (--schema) in CSV, TSV (.tsv), JSON lines (.jsonl),
Parquet or Arrow, or - for one on standard input, or a built-in data set of a table,
texts or images (pawl data list).

Columns of type text are hashed by a fixed rule. --embeddings joins vectors from a
public extractor by the column --key: npy with a file of keys, one per line (x.npy and
x.keys), Parquet or Arrow. You are responsible for ensuring that the extractor is
public.

For images, fit trains a linear model on data-free features (scatter) or on pixels, or
a network by name.

For a target of two classes the held-out rows also give, in the same release, the ROC
curve, precision and recall by threshold, and a calibration of the probabilities.
--threshold, --recall or --cost choose the labels from them at no further cost; without
one, labels are those of the scores as trained. With --test, 10 to 20% of the training
rows give the calibration, since test rows choose nothing.

The plan and its epsilon are shown first. The ledger is charged before any row is used.
fit writes model/, report.html, statement.json and README.md (the model card) into
--out.`,
		Example: `  pawl fit adult --target income --epsilon 1
  pawl fit patients.csv --schema patients.yaml --target readmitted --epsilon 0.5 --out out
  pawl fit sms-spam --epsilon 1
  pawl fit stroke.csv --schema stroke.yaml --target stroke --epsilon 1 --cost false-negative=10
  pawl fit scans.csv --schema scans.yaml --target ill --epsilon 1 --embeddings scans.npy --key scan`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.fit(c.Context(), args[0], f)
		},
	}
	f.register(c)
	f.checkpoint.register(c)
	return c
}

// job is the fit that the flags ask for.
func (a *app) job(f *fitFlags) (job pawl.Fit, err error) {
	job = f.Fit
	job.Checkpoint, err = f.checkpoint.checkpoint(f.out)
	if err == nil {
		job.Seed, err = f.seedOf()
	}
	if err == nil {
		job.ClassWeights, err = classWeights(f.classWeights)
	}
	if err == nil {
		job.Monotone, err = monotone(f.monotone)
	}
	if err == nil {
		job.Decision, err = f.decision.decision()
	}
	a.identity(&job.Identity)
	return job, err
}

func (a *app) fit(ctx context.Context, data string, f fitFlags) error {
	job, err := a.job(&f)
	if err != nil {
		return err
	}
	if err := writable(f.out.path, f.out.force || job.Checkpoint.Resume); err != nil {
		return err
	}
	return a.run(ctx, data, f.Source, job, pawl.Into(f.out.path, f.out.force))
}
