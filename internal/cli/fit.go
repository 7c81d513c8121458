package cli

import (
	"cmp"
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
	registerTable(c, &f.jobFlags, &f.Target, &f.Budget, &f.Identity, "epsilon of the whole job, everything included (required)", "; 0 asks for pure DP")
	s := c.Flags()
	presetFlag(s, &f.Preset, "changes the running time")
	s.StringVar(&f.Workflow, "workflow", "paw", "paw (privacy-aware), or stw: make choices as if there were no noise (public data only, for comparison)")
	s.StringVar(&f.Model, "model", "auto", "tables: auto, "+strings.Join(pawl.Learners(), ", ")+"; images: auto, linear, or a network")
	s.StringVar(&f.Features, "features", "auto", "tables: auto, all, a list of columns and levels (age,sex,ward=a), or FILE.json from pawl select --json; images: auto, scatter, or all (pixels, each image scaled to the same norm)")
	testFlags(s, &f.Test, &f.ScoreBy)
	registerClassWeights(&f.classWeights, c)
	s.StringVar(&f.TargetScale, "target-scale", "auto", "scale on which a number is trained: auto, linear or log (scores and predictions keep the target's units)")
	s.StringSliceVar(&f.monotone, "monotone", nil, "columns whose effect may only rise or fall, for example age=increasing,rate=decreasing")
	f.decision.register(c)
	s.BoolVar(&f.Search, "search", false, "search privately around the recommended settings: 5, 10 or 20 training runs on average, depending on --preset")
	f.out.register(c)
	registerVectors(&f.Source, c, "")
	imageFlags(s, &f.Labels, &f.Classes, &f.Rows, "rows")
	s.BoolVar(&f.Flip, "flip", false, "declare that a mirrored image has the same class: true of photographs, not of digits (default: known for built-in images)")
	registerPublicImages(c, &f.Extractor, &f.Pixels, &f.ExtractorOutput, &f.Public, &f.PublicLabels)
	targetAliases(c)
}

func fitCommand(a *app) *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "fit DATA --target Y --epsilon E",
		Short: "Train a private model, score it and write a report",
		Long: `Plan, train and score one model under (epsilon, delta)-differential privacy.

DATA is a table with a schema (--schema) in CSV, TSV (.tsv), JSON lines (.jsonl),
Parquet or Arrow, or - for a table on standard input, or a built-in data set: a table,
texts or images (pawl data list).

Columns of type text are hashed by a fixed rule. --embeddings joins vectors from a
public extractor by the column --key: npy with a file of keys, one per line (x.npy and
x.keys), Parquet or Arrow. You are responsible for ensuring that the extractor is
public.

For images, fit trains a linear model on data-free features (scatter) or on pixels, or
a network by name. DATA is then a built-in set, a folder with one sub-folder of PNG files
per class, or an IDX or npy file with --labels. --extractor FILE.onnx takes the features
of a public network instead: it runs inside pawl, and no image leaves. --public first
trains on public images of the same size and classes. The statement names both, with their
SHA-256. You are responsible for ensuring that they are public; copies of sensitive data
that the ledger knows are refused.

For a target of two classes the held-out rows also give, in the same release, the ROC
curve, precision and recall by threshold, and a calibration of the probabilities.
--threshold, --recall or --cost choose the labels from them at no further cost; without
one, the class of the higher score is the label. With --test, 10 to 20% of the training
rows give the calibration, since test rows choose nothing.

--public first trains on a public table with the same columns, then continues on your own
rows. It helps if epsilon and the number of your rows are small. The table is read under
the schema of DATA, and copies of sensitive data are refused.

The plan and its epsilon are shown first. The ledger is charged before any row is used.
fit writes model/, report.html, statement.json and README.md (the model card) into
--out.`,
		Example: `  pawl fit adult --target income --epsilon 1
  pawl fit patients.csv --schema patients.yaml --target readmitted --epsilon 0.5 --out out
  pawl fit sms-spam --epsilon 1
  pawl fit fashion-mnist --epsilon 2.7 --preset thorough
  pawl fit photos/ --rows about-20000 --extractor mobilenet.onnx --pixels -1..1 --epsilon 1
  pawl fit stroke.csv --schema stroke.yaml --target stroke --epsilon 1 --cost false-negative=10
  pawl fit scans.csv --schema scans.yaml --target ill --epsilon 1 --embeddings scans.npy --key scan`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return fitTable(c.Context(), a, args[0], f)
		},
	}
	f.register(c)
	f.checkpoint.register(c)
	return c
}

// fitJob is the fit that the flags ask for.
func fitJob(a *app, f *fitFlags) (job pawl.Fit, err error) {
	job = f.Fit
	var faults [5]error
	job.Checkpoint, faults[0] = f.checkpoint.checkpoint(f.out)
	job.Seed, faults[1] = f.seedOf()
	job.ClassWeights, faults[2] = classWeights(f.classWeights)
	job.Monotone, faults[3] = monotone(f.monotone)
	job.Decision, faults[4] = f.decision.decision()
	a.identity(&job.Identity)
	return job, cmp.Or(faults[:]...)
}

func fitTable(ctx context.Context, a *app, data string, f fitFlags) error {
	job, err := fitJob(a, &f)
	if err != nil {
		return err
	}
	if err := writable(f.out.path, f.out.force || job.Checkpoint.Resume); err != nil {
		return err
	}
	return runJob(ctx, a, data, f.Source, job, pawl.Into(f.out.path, f.out.force))
}
