package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/build"
	"pawl/report"
	"pawl/workflow"
)

type trainFlags struct {
	model, activation, epsilon, delta, accountant, preset, seed   string
	optimizer, clipping, memory, labels, classes, rows, target    string
	noise, rate, epochs, learningRate, clippingNorm, average, ema float64
	schedule, frontEnd                                            string
	warmup, quantile, tolerance                                   float64
	out                                                           outDir
	checkpoint                                                    checkpointFlags
	table                                                         tableFlags
	classWeights                                                  []string
	batch, augment, shift, trainLast                              int
	flip                                                          bool
	nonPrivate, published, updated, allowLargeDelta, asPublished  bool
	copies                                                        source.Copies
	printKey                                                      *[32]byte // of the ledger, for texts
	keepAll                                                       bool
	rules                                                         []advise.Rule // of a fit, which chose the numbers
}

func (a *app) trainCommand() *cobra.Command {
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

--checkpoint FILE saves a run that may be interrupted: its secret key and its progress,
in a file that only its owner can read. To continue at no cost and with the same result,
repeat the command with --resume FILE; a changed model, data set or setting is refused.
The file is erased when the run ends.`,
		Example: `  pawl train mnist --model mnist-paw-cnn --epsilon 2.98
  pawl train sms-spam --model sms-rnn-simple --epsilon 7.2
  pawl train adult --model fcn-64 --epsilon 1
  pawl train mails.tsv --schema mails.yaml --target kind --model sms-rnn-simple --epsilon 2
  pawl train mnist --model mnist-paw-cnn --epsilon 2.98 --checkpoint ~/mnist.ckpt
  pawl train mnist --model mnist-paw-cnn --epsilon 2.98 --resume ~/mnist.ckpt
  pawl train mnist --model mnist-paw-fcn --noise-multiplier 2 --batch 250 --epochs 200 --delta 1e-5 --accountant rdp`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.batch == 0 && c.Flags().Changed("batch") {
				return &usageError{"--batch must be at least 1", "it is the expected number of examples per step"}
			}
			if c.Flags().Changed("learning-rate") && !(f.learningRate > 0) {
				return &usageError{"--learning-rate must be a finite number above 0", "leave it out to use the data-free rule"}
			}
			if c.Flags().Changed("noise-multiplier") && !(f.noise > 0) {
				return &usageError{"--noise-multiplier must be a finite number above 0", "to train without noise on public data, use --non-private"}
			}
			if c.Flags().Changed("ema") && !c.Flags().Changed("average") {
				f.average = 0
			}
			if c.Flags().Changed("quantile") && !(f.quantile > 0) {
				return &usageError{"--quantile must be in (0, 1)", "example: --quantile 0.5"}
			}
			if c.Flags().Changed("tolerance") && !(f.tolerance > 0) {
				return &usageError{"--tolerance must be a finite number above 0", "leave it out to use √(parameters/(2·steps))"}
			}
			if f.augment < 1 && c.Flags().Changed("augment") {
				return &usageError{"--augment must be from 1 to 64", "example: --augment 4"}
			}
			if f.trainLast < 0 {
				return &usageError{"--train-last must be at least 1", "example: --train-last 2"}
			}
			return a.again(&f.copies, func() error { once := f; return a.train(c.Context(), args[0], &once) })
		},
	}
	trainDefaults(&f)
	s := c.Flags()
	s.StringVar(&f.model, "model", "", "network: a name from pawl models list, or a YAML file (required)")
	registerClassWeights(&f.classWeights, c)
	s.StringVar(&f.activation, "activation", "", "replace the model's activations: tanh, relu, bounded-relu, …")
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon of the training run")
	s.Float64Var(&f.noise, "noise-multiplier", 0, "noise standard deviation / clipping norm, instead of --epsilon")
	s.StringVar(&f.delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.accountant, "accountant", "min", "min, pld or rdp")
	s.StringVar(&f.preset, "preset", "balanced", "quick, balanced or thorough; sets batch and epochs, not epsilon")
	s.IntVar(&f.batch, "batch", 0, "expected batch size")
	s.Float64Var(&f.rate, "sampling-rate", 0, "probability that an example joins a step, instead of --batch")
	s.Float64Var(&f.epochs, "epochs", 0, "expected number of passes over the data")
	s.Float64Var(&f.learningRate, "learning-rate", 0, "learning rate (default: data-free rule)")
	s.Float64Var(&f.clippingNorm, "clipping-norm", 0, "L2 bound on each example's gradient (default: the model's, else 0.5)")
	s.StringVar(&f.clipping, "clipping", f.clipping, "gradient clipping: flat, automatic, per-layer or quantile; none with --non-private")
	s.Float64Var(&f.quantile, "quantile", 0, "share of gradients that --clipping quantile leaves unclipped (default 0.5); the norm adapts, starting from --clipping-norm")
	s.StringVar(&f.optimizer, "optimizer", f.optimizer, "sgd, momentum, adam, adam-wosm or adadp (adapts its learning rate; each update takes two steps)")
	s.Float64Var(&f.tolerance, "tolerance", 0, "error tolerance of an update of --optimizer adadp (default: √(parameters/(2·steps)))")
	s.BoolVar(&f.keepAll, "keep-all", false, "let --optimizer adadp keep updates above the tolerance (the authors' code undoes them)")
	s.Float64Var(&f.average, "average", f.average, "share of the last steps over which parameters are averaged")
	s.Float64Var(&f.ema, "ema", 0, "decay of an exponential moving average over all steps, instead of --average (such as 0.999)")
	s.StringVar(&f.schedule, "schedule", f.schedule, "learning-rate schedule: constant, linear or cosine; the data-free rule keeps the total noise")
	s.Float64Var(&f.warmup, "warmup", 0, "share of the steps over which the learning rate warms up")
	s.IntVar(&f.augment, "augment", 0, "augmented variants per image, averaged before clipping; they cost time, not epsilon (default: the model's, else 1)")
	s.IntVar(&f.shift, "shift", f.shift, "largest shift of an augmented variant, in pixels (default 2 with --augment)")
	s.BoolVar(&f.flip, "flip", false, "also use mirrored variants")
	s.IntVar(&f.trainLast, "train-last", 0, "train only the last N layers with parameters; the others stay random (random-weights training)")
	s.StringVar(&f.frontEnd, "front-end", "", "input transforms, separated by commas, instead of the model's own: "+frontEnds()+" (dp-pca is charged; pca needs --as-published)")
	s.BoolVar(&f.asPublished, "as-published", false, "allow a front end that uses rows without charge: public data only, no guarantee")
	s.StringVar(&f.memory, "memory", f.memory, "working memory per step; does not change the result")
	s.BoolVar(&f.nonPrivate, "non-private", false, "train without noise (public data only, marked NOT PRIVATE)")
	s.BoolVar(&f.published, "as-drawn", false, "keep the model's own activations and dropout instead of the private defaults")
	s.StringVar(&f.labels, "labels", "", "file of labels for an IDX or npy file of images")
	s.StringVar(&f.classes, "classes", "", "class names in order, for files of labels (default for folders: their names)")
	s.StringVar(&f.rows, "rows", "", "how the number of your own images is declared: public, N or about-N")
	s.StringVar(&f.target, "target", "", "name of the label (default: the data set's)")
	s.StringVar(&f.seed, "seed", "", "simulate with predictable noise; every output is marked NOT PRIVATE")
	s.BoolVar(&f.updated, "updated", false, "accept that the data have changed since they were last used")
	registerCopies(&f.copies, c)
	s.BoolVar(&f.allowLargeDelta, "allow-large-delta", false, "allow a delta of 1/rows or more")
	f.out.register(c)
	f.checkpoint.register(c)
	f.table.register(c)
	for alias, name := range map[string]string{"l2-norm-clip": "clipping-norm", "max-grad-norm": "clipping-norm"} {
		s.Float64Var(&f.clippingNorm, alias, 0, "same as --"+name)
		_ = s.MarkHidden(alias)
	}
	return c
}

// trainDefaults are the defaults of flags that are not empty and that fit does not
// have: images that fit trains on take the same.
func trainDefaults(f *trainFlags) {
	f.optimizer, f.clipping, f.memory, f.average = "momentum", "flat", "256MB", 0.25
	f.schedule, f.shift = "constant", -1
}

func (a *app) train(ctx context.Context, data string, f *trainFlags) error {
	f.out.again = f.checkpoint.resume != ""
	if err := f.out.check(); err != nil {
		return err
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	return a.trainOn(ctx, l, data, f)
}

func (a *app) trainOn(ctx context.Context, l *ledger.Ledger, data string, f *trainFlags) error {
	switch table, err := f.trainsTable(data); {
	case err != nil:
		return err
	case table:
		return a.trainTable(ctx, l, data, f)
	}
	kept, err := f.checkpoint.open(f.out.root())
	if err != nil {
		return err
	}
	j, err := a.planTrain(ctx, l, data, f)
	if err != nil {
		return err
	}
	p := j.pictures
	env := workflow.Env{Ledger: l, Images: p.Test, Updated: f.updated, Checkpoint: kept}
	if env.Software, err = build.Software(); err != nil {
		return err
	}
	key, err := source.ScopeKey(ctx, l, p.Name, j.schema, j.seed)
	if err != nil {
		return err
	}
	if env.Different, err = f.copies.RecogniseImages(ctx, l, data, p, j.schema.Public); err != nil {
		return err
	}
	if env.Rows, err = p.Seal(j.plan, j.schema, key); err != nil {
		return err
	}
	if env.Digest, err = l.Digest(ctx, p.Digested()); err != nil {
		return err
	}
	return a.finishKept(ctx, j.plan, env, f.out)
}

// trainJob is everything that a training needs, with nothing charged.
type trainJob struct {
	plan     *workflow.Plan
	pictures *source.Images
	schema   *schema.Schema
	seed     *uint64
}

// planTrain opens the images, prices the training and rehearses it.
func (a *app) planTrain(ctx context.Context, l *ledger.Ledger, data string, f *trainFlags) (*trainJob, error) {
	key, err := l.PrintKey(ctx)
	if err != nil {
		return nil, err
	}
	f.printKey = &key
	p, err := a.openPictures(data, f)
	if err != nil {
		return nil, err
	}
	if err := f.copies.Rename(ctx, l, data, !p.Mine, &p.Name, &f.updated); err != nil {
		return nil, err
	}
	if err := p.Texts.Public(ctx, l, f.table.test); err != nil {
		return nil, err
	}
	s := p.Schema()
	if err := source.EffectivePublic(ctx, l, p.Name, s); err != nil {
		return nil, err
	}
	in, err := f.input(p, s)
	if err != nil {
		return nil, err
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return nil, err
	}
	if err := plan.FitComponents(p.Train); err != nil {
		return nil, err
	}
	return &trainJob{plan, p, s, in.Seed}, plan.Preflight(ctx)
}

// finish shows a plan, runs it and writes what it releases.
func (a *app) finish(ctx context.Context, plan *workflow.Plan, env workflow.Env, to outDir) error {
	return a.finishWith(ctx, plan, env, to, nil)
}

// finishWith is finish, and hands on the statement.
func (a *app) finishWith(ctx context.Context, plan *workflow.Plan, env workflow.Env, to outDir, see func(*report.Statement)) error {
	if err := to.check(); err != nil {
		return err
	}
	out, err := workflow.NewOutput(to.path, to.force)
	if err != nil {
		return err
	}
	ran := false
	defer func() {
		if !ran {
			out.Discard()
		}
	}()
	if err := foresee(ctx, plan, env); err != nil {
		return err
	}
	now := time.Now() // before the run, for the reason given in fit
	quote, err := plan.Statement(build.Version(), now)
	if err != nil {
		return err
	}
	printPlan(a.err, quote, plan)
	progress := newProgress(a.err, plan.Expected())
	env.Progress = progress.step
	outcome, err := plan.Run(ctx, env)
	progress.done()
	if err != nil && !isDoubt(err) {
		return err
	}
	ran = true // from here on what is staged is Write's
	s, dir, err := a.deliver(ctx, out, outcome, env, err, now)
	if err != nil {
		return err
	}
	if to.path != "" && dir != to.path {
		a.note(fmt.Sprintf("%s changed during the run and was not replaced; the results of this run are in %s", to.path, dir))
	}
	if see != nil {
		see(s)
	}
	if a.json {
		return report.WriteJSON(a.out, s)
	}
	return report.Text(a.out, s)
}

func (f *trainFlags) input(p *source.Images, s *schema.Schema) (workflow.TrainInput, error) {
	in, err := f.shared(p, s)
	if err != nil {
		return in, err
	}
	return in, f.network(&in, p)
}

// shared is what does not depend on the network.
func (f *trainFlags) shared(p *source.Images, s *schema.Schema) (workflow.TrainInput, error) {
	in := workflow.TrainInput{
		Initial: f.checkpoint.initial(),
		Input: workflow.Input{
			Dataset: p.Name, Schema: s, Public: s.Public, Target: p.Target, Epsilon: f.epsilon, Delta: f.delta,
			AllowLargeDelta: f.allowLargeDelta, Rows: p.Rows.N, Test: workflow.HeldOut, Preset: advise.Preset(f.preset), Licence: p.Licence, AsPublished: f.asPublished,
		},
		NoiseMultiplier: f.noise, NonPrivate: f.nonPrivate, Rules: f.rules, Batch: f.batch, Epochs: f.epochs, ClippingNorm: f.clippingNorm,
		Clipping: gradient.Clipping(f.clipping), LearningRate: f.learningRate, Optimizer: f.optimizer, Quantile: f.quantile, Tolerance: f.tolerance, KeepAll: f.keepAll, Average: f.average, EMA: f.ema,
		Schedule: optim.Schedule{Shape: f.schedule, Warmup: f.warmup},
		Augment:  workflow.Augment{Variants: f.augment, Augmentation: images.Augmentation{Shape: p.Train.Shape, Shift: max(f.shift, 0), Flip: f.flip}},
	}
	if f.schedule == "constant" {
		in.Schedule.Shape = ""
	}
	if f.augment > 1 && f.shift < 0 {
		in.Augment.Shift = 2
	}
	if p.Test != nil {
		in.Test = workflow.Official
	}
	if p.Texts != nil {
		in.Vocabulary = p.Texts.Vocabulary
		if p.Texts.Tested != nil {
			in.Test = workflow.TestFile
		}
	}
	if f.target != "" && f.target != p.Target {
		return in, &usageError{fmt.Sprintf("target %q: the label of these images is %q", f.target, p.Target), "leave out --target"}
	}
	var err error
	if in.Accountant, err = accountant.ParseMethod(f.accountant); err != nil {
		return in, &usageError{err.Error(), ""}
	}
	if in.Seed, err = parseSeed(f.seed); err != nil {
		return in, err
	}
	if in.ClassWeights, err = classWeights(f.classWeights); err != nil {
		return in, err
	}
	if in.Memory, err = parseBytes(f.memory); err != nil {
		return in, err
	}
	if f.rate != 0 {
		if !(f.rate > 0 && f.rate <= 1) || f.batch != 0 {
			return in, &usageError{"--sampling-rate must be in (0, 1] and excludes --batch", "the expected batch size is the sampling rate times the number of rows"}
		}
		in.SamplingRate = f.rate
	}
	return in, nil
}

func (f *trainFlags) network(in *workflow.TrainInput, p *source.Images) error {
	spec, err := findModel(f.model)
	if err != nil {
		return err
	}
	shape := nn.Shape{Height: p.Train.Shape[0], Width: p.Train.Shape[1], Channels: p.Train.Shape[2]}
	if spec, err = spec.For(shape, len(p.Train.Classes)); err != nil {
		return &usageError{err.Error(), "pawl models list shows input shapes"}
	}
	if f.frontEnd != "" {
		layers, err := frontEnd(f.frontEnd)
		if err != nil {
			return err
		}
		spec, in.FrontEnd = spec.WithFrontEnd(layers...), f.frontEnd
	}
	if d := spec.Defaults; f.augment == 0 && d.Augment > 1 {
		in.Augment.Variants = d.Augment
		if f.shift < 0 {
			in.Augment.Shift = d.Shift
		}
	}
	if spec, err = f.form(spec, in); err != nil {
		return err
	}
	if in.Radius, err = spec.Radius(); err != nil {
		return err
	}
	in.Name, in.Layers, in.Shape, in.Outputs, in.Kappa = spec.Name, spec.Network, spec.Input, spec.Outputs, spec.Defaults.Kappa
	if in.ClippingNorm == 0 {
		in.ClippingNorm = spec.Defaults.ClippingNorm
	}
	return nil
}

// form is the network as it is trained: with which activations, and which layers.
func (f *trainFlags) form(spec zoo.Spec, in *workflow.TrainInput) (_ zoo.Spec, err error) {
	switch {
	case f.activation != "":
		spec, err = spec.WithActivation(strings.ReplaceAll(f.activation, "-", "_"))
		if err != nil {
			return spec, &usageError{err.Error(), ""}
		}
		if !f.published && !spec.Defaults.Dropout {
			spec = spec.WithoutDropout()
		}
	case !f.published:
		spec = spec.Default()
	}
	if f.trainLast > 0 {
		in.TrainLast = f.trainLast
		return lastLayers(spec, f.trainLast)
	}
	return spec, nil
}

// lastLayers freezes all but the last k layers with parameters.
func lastLayers(spec zoo.Spec, k int) (zoo.Spec, error) {
	if layers := spec.LayersWithWeights(); k > layers {
		return spec, &usageError{fmt.Sprintf("--train-last %d: %s has %d layers with parameters", k, spec.Name, layers), fmt.Sprintf("give 1 to %d", layers)}
	}
	return spec.TrainLast(k), nil
}

// findModel looks a network up by name, else reads a YAML file.
func findModel(name string) (zoo.Spec, error) {
	if name == "" {
		return zoo.Spec{}, &usageError{"missing --model, the network to train", "pawl models list"}
	}
	if s, ok := zoo.Lookup(name); ok {
		return s, nil
	}
	if _, err := os.Stat(name); err == nil || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return zoo.Load(name)
	}
	var names []string
	for _, s := range zoo.List() {
		names = append(names, s.Name)
	}
	advice := "pawl models list shows all"
	if near := schema.Nearest(name, names); near != "" {
		advice = fmt.Sprintf("did you mean %q? %s", near, advice)
	}
	return zoo.Spec{}, &usageError{fmt.Sprintf("model %q is neither a known network nor a file", name), advice}
}

func parseSeed(s string) (*uint64, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil, &usageError{"--seed must be a whole number from 0 to 18446744073709551615", "example: --seed 7"}
	}
	return &n, nil
}

// parseBytes reads 500MB, 2GB, 65536.
func parseBytes(s string) (int64, error) {
	units := []struct {
		suffix string
		factor float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}}
	i := slices.IndexFunc(units, func(u struct {
		suffix string
		factor float64
	}) bool {
		return strings.HasSuffix(s, u.suffix)
	})
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, units[i].suffix), 64)
	if err != nil || !(n > 0) || n*units[i].factor > 1e15 {
		return 0, &usageError{fmt.Sprintf("--memory %q: want a size", s), "example: --memory 500MB"}
	}
	return int64(n * units[i].factor), nil
}
