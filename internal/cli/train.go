package cli

import (
	"github.com/spf13/cobra"

	"pawl"
)

type trainFlags struct {
	jobFlags
	pawl.Train
	classWeights []string
	average      float64
	shift        int
	out          outDir
	checkpoint   checkpointFlags
}

func trainCommand(a *app) *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train DATA --model NAME (--epsilon E | --noise-multiplier S)",
		Short: "Train one named network by DP-SGD on images, texts or a table",
		Long: `Train one network by DP-SGD with Poisson sampling, per-example clipping and a data-free
rule for the learning rate.

DATA is a built-in data set (pawl data list), a folder with one sub-folder of PNG files
per class, an IDX or npy file of images with --labels, or a table with --schema (CSV,
TSV, JSON lines, Parquet or Arrow). --model is a name from pawl models list or a YAML
file. Give --epsilon to compute the noise, or --noise-multiplier to compute epsilon.

Your own images have no schema. Their privacy unit is one image, that is, one file of a
folder: a person with k images has the guarantee for each of them, and about k times
epsilon for all. To protect persons, keep one image per person, or turn the images into
vectors and fit a table that names the person (pawl fit --embeddings, unit: COLUMN).

Rows of a table become numbers by the schema alone (--encoding). A numeric target needs
a network with loss: squared, absolute or huber. A network that starts with an embedding
uses the schema's one column of type text: its tokens are hashed, or numbered by a
--vocabulary that you declare public, with --unknown-token for the others.

--front-end transforms the input of the network. dct:K, random:K (signs from a public
seed), pool and scatter do not depend on the data. dp-pca:K charges for its components:
the inputs are scaled to norm 1, their mean and second moments are released with noise,
and components below the noise are dropped. pca:K is not private.

--extractor FILE.onnx passes each image through a public feature network first, inside pawl:
no image leaves. Images are resized to its input, and one channel is repeated as three. The
statement names the file and its SHA-256. Without --model, a linear model is trained on its
features. A file with an unsupported operator is refused, and the error names the operator.

--public first trains the network on public images, then continues on your own. Images that
the ledger knows as sensitive, or that resemble them or DATA, are refused.

--mechanism banded correlates the noise of successive steps (banded matrix factorisation), so
that later steps take back part of the noise of earlier ones. A keyed hash divides the units into
public groups that take turns. It helps with small batches, few epochs and an epsilon of about 3
or more; the plan compares it with DP-SGD on the same batches. --lots passes needs no sampling.

--checkpoint FILE saves a run that may be interrupted: its secret key and its progress,
in a file that only its owner can read. To continue at no cost and with the same result,
repeat the command with --resume FILE; a changed model, data set or setting is refused.
The file is erased when the run ends.`,
		Example: `  pawl train mnist --model mnist-paw-cnn --epsilon 2.98
  pawl train mnist --model mnist-paw-cnn --mechanism banded --epsilon 2.98
  pawl train cifar-10 --extractor mobilenet.onnx --pixels -1..1 --epsilon 1
  pawl train sms-spam --model sms-rnn-simple --epsilon 7.2
  pawl train adult --model fcn-64 --epsilon 1
  pawl train mails.tsv --schema mails.yaml --target kind --model sms-rnn-simple --epsilon 2
  pawl train mnist --model mnist-paw-cnn --epsilon 2.98 --checkpoint ~/mnist.ckpt
  pawl train mnist --model mnist-paw-cnn --epsilon 2.98 --resume ~/mnist.ckpt
  pawl train mnist --model mnist-paw-fcn --noise-multiplier 2 --batch 250 --epochs 200 --delta 1e-5 --accountant rdp`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("learning-rate") && !(f.LearningRate > 0) {
				return mistake("--learning-rate must be a finite number above 0", "leave it out to use the data-free rule")
			}
			if c.Flags().Changed("noise-multiplier") && !(f.NoiseMultiplier > 0) {
				return mistake("--noise-multiplier must be a finite number above 0", "to train without noise on public data, use --non-private")
			}
			if c.Flags().Changed("quantile") && !(f.Quantile > 0) {
				return mistake("--quantile must be in (0, 1)", "example: --quantile 0.5")
			}
			if c.Flags().Changed("tolerance") && !(f.Tolerance > 0) {
				return mistake("--tolerance must be a finite number above 0", "leave it out to use √(parameters/(2·steps))")
			}
			if f.Augment < 1 && c.Flags().Changed("augment") {
				return mistake("--augment must be from 1 to 64", "example: --augment 4")
			}
			if f.TrainLast < 0 {
				return mistake("--train-last must be at least 1", "example: --train-last 2")
			}
			return trainNetwork(a, c, args[0], f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.Model, "model", "", "network: a name from pawl models list, or a YAML file (required)")
	registerClassWeights(&f.classWeights, c)
	s.StringVar(&f.Activation, "activation", "", "replace the model's activations: tanh, relu, bounded-relu, …")
	budgetFlags(c, &f.Budget, "epsilon of the training run", "")
	s.Float64Var(&f.NoiseMultiplier, "noise-multiplier", 0, "noise standard deviation / clipping norm, instead of --epsilon")
	presetFlag(s, &f.Preset, "sets batch and epochs")
	s.IntVar(&f.Batch, "batch", 0, "expected batch size")
	s.Float64Var(&f.SamplingRate, "sampling-rate", 0, "probability that an example joins a step, instead of --batch")
	s.Float64Var(&f.Epochs, "epochs", 0, "expected number of passes over the data")
	s.Float64Var(&f.LearningRate, "learning-rate", 0, "learning rate (default: data-free rule)")
	s.Float64Var(&f.ClippingNorm, "clipping-norm", 0, "L2 bound on each example's gradient (default: the model's, else 0.5)")
	s.StringVar(&f.Clipping, "clipping", "flat", "gradient clipping: flat, automatic, per-layer or quantile; none with --non-private")
	s.Float64Var(&f.Quantile, "quantile", 0, "share of gradients that --clipping quantile leaves unclipped (default 0.5); the norm adapts, starting from --clipping-norm")
	s.StringVar(&f.Optimizer, "optimizer", "momentum", "sgd, momentum, adam, adam-wosm or adadp (adapts its learning rate; each update takes two steps)")
	s.Float64Var(&f.Tolerance, "tolerance", 0, "error tolerance of an update of --optimizer adadp (default: √(parameters/(2·steps)))")
	s.BoolVar(&f.KeepAll, "keep-all", false, "let --optimizer adadp keep updates above the tolerance (the authors' code undoes them)")
	s.StringVar(&f.Mechanism, "mechanism", "dp-sgd", "dp-sgd, or banded: noise that is correlated over the steps, for small batches and few epochs")
	s.IntVar(&f.Bands, "bands", 0, "number of coefficients of --mechanism banded (default: the number that leaves the least noise)")
	s.StringVar(&f.Lots, "lots", "poisson", "batches of --mechanism banded: poisson, or passes in a fixed order, which are priced without amplification")
	s.Float64Var(&f.average, "average", 0.25, "share of the last steps over which parameters are averaged")
	s.Float64Var(&f.EMA, "ema", 0, "decay of an exponential moving average over all steps, instead of --average (such as 0.999)")
	s.StringVar(&f.Schedule, "schedule", "constant", "learning-rate schedule: constant, linear or cosine; the data-free rule keeps the total noise")
	s.Float64Var(&f.Warmup, "warmup", 0, "share of the steps over which the learning rate warms up")
	s.IntVar(&f.Augment, "augment", 0, "augmented variants per image, averaged before clipping; they cost time, not epsilon (default: the model's, else 1)")
	s.IntVar(&f.shift, "shift", -1, "largest shift of an augmented variant, in pixels (default 2 with --augment)")
	s.BoolVar(&f.Flip, "flip", false, "also use mirrored variants")
	s.IntVar(&f.TrainLast, "train-last", 0, "train only the last N layers with parameters; the others stay random (random-weights training)")
	s.StringVar(&f.FrontEnd, "front-end", "", "input transforms, separated by commas, instead of the model's own: "+frontEnds()+" (dp-pca is charged; pca needs --as-published)")
	registerPublicImages(c, &f.Extractor, &f.Pixels, &f.ExtractorOutput, &f.Public, &f.PublicLabels)
	s.BoolVar(&f.AsPublished, "as-published", false, "allow a front end that uses rows without charge: public data only, no guarantee")
	memoryFlag(s, &f.Memory)
	s.BoolVar(&f.NonPrivate, "non-private", false, "train without noise (public data only, marked NOT PRIVATE)")
	s.BoolVar(&f.AsDrawn, "as-drawn", false, "keep the model's own activations and dropout instead of the private defaults")
	imageFlags(s, &f.Labels, &f.Classes, &f.Rows, "rows")
	s.StringVar(&f.Target, "target", "", "name of the label (default: the data set's)")
	f.seedFlag(s)
	identityFlags(c, &f.Identity)
	f.out.register(c)
	f.checkpoint.register(c)
	s.StringVar(&f.Schema, "schema", "", "schema file, YAML, of a table or a file of texts")
	testFlags(s, &f.Test, &f.ScoreBy)
	badRowsFlag(s, &f.BadRows)
	s.StringVar(&f.Features, "features", "all", "columns of a table: all, a list of columns and levels, or FILE.json from pawl select --json")
	s.StringVar(&f.Encoding, "encoding", "thermometer", "encoding of numeric columns: thermometer (16 public bins) or linear (one number)")
	s.StringVar(&f.Vocabulary, "vocabulary", "", "public list of tokens, one per line, that numbers them (default: tokens are hashed)")
	s.StringVar(&f.UnknownToken, "unknown-token", "", "with --vocabulary: skip tokens that are not listed, or give them one shared number")
	aliases(c, "clipping-norm", "l2-norm-clip", "max-grad-norm")
	return c
}

// job is the training that the flags ask for. Flags that are not given follow a rule.
func (f *trainFlags) job(a *app, c *cobra.Command) (job pawl.Train, err error) {
	job = f.Train
	if c.Flags().Changed("average") {
		if job.Average = f.average; f.average == 0 {
			job.Average = -1
		}
	}
	job.Shift = shiftOf(f.shift)
	a.identity(&job.Identity)
	if job.ClassWeights, err = classWeights(f.classWeights); err != nil {
		return job, err
	}
	job.Seed, err = f.seedOf()
	return job, err
}

func trainNetwork(a *app, c *cobra.Command, data string, f trainFlags) error {
	job, err := f.job(a, c)
	if err == nil {
		job.Checkpoint, err = f.checkpoint.checkpoint(f.out)
	}
	if err != nil {
		return err
	}
	if err := writable(f.out.path, f.out.force || job.Checkpoint.Resume); err != nil {
		return err
	}
	return runJob(c.Context(), a, data, f.Source, job, pawl.Into(f.out.path, f.out.force))
}

// shiftOf turns --shift, where 0 is none and a negative number the rule, into that of a job, where they are the other way round.
func shiftOf(shift int) int {
	switch {
	case shift < 0:
		return 0
	case shift == 0:
		return -1
	}
	return shift
}

// registerPublicImages adds the flags that name a public network and public images.
func registerPublicImages(c *cobra.Command, extractor, pixels, output, public, labels *string) {
	s := c.Flags()
	s.StringVar(extractor, "extractor", "", "public network (ONNX) through which images pass first; you are responsible for ensuring that it is public")
	s.StringVar(pixels, "pixels", "", "pixel values that --extractor expects: 0..1 (default), -1..1, 0..255, or imagenet (by the means and deviations of its channels)")
	s.StringVar(output, "extractor-output", "", "name of the value in --extractor to use as features (default: its output)")
	s.StringVar(public, "public", "", "public data to train on first, without noise; you are responsible for ensuring that they are public. Images of the same size and classes: a built-in name, a folder, or a file with --public-labels. A table for pawl fit: a file with the same columns")
	s.StringVar(labels, "public-labels", "", "file of labels for an IDX or npy file of --public")
}
