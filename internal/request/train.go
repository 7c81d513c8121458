package request

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/compute/nn"
	"pawl/compute/optim"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/data/encode"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/workflow"
	"pawl/workflow/checkpoint"
)

// defaultAverage is the share of the last steps whose parameters are averaged.
const defaultAverage = 0.25

// Train asks for one named network. Empty fields stand for the defaults; a negative Average or Shift
// is none.
type Train struct {
	Terms
	Model, Activation, Preset                                     string
	Optimizer, Clipping, Memory, Target, Schedule, FrontEnd       string
	Mechanism, Lots                                               string
	Extractor, Pixels, ExtractorOutput, Public, PublicLabels      string
	Noise, Rate, Epochs, LearningRate, ClippingNorm, Average, EMA float64
	Warmup, Quantile, Tolerance                                   float64
	Batch, Augment, Shift, TrainLast, Bands                       int
	Flip, NonPrivate, AsDrawn, AsPublished, KeepAll               bool
	// Features, Encoding and ScoreBy are for rows of a table.
	Features, Encoding, ScoreBy string
	Checkpoint                  Checkpoint
	kept                        *checkpoint.File // nil without one
	// ClassWeights are as in Fit.
	ClassWeights map[string]float64
	Rules        []advise.Rule // of a fit, which chose the numbers
}

// complete puts the defaults in place of what is empty.
func (f *Train) complete() {
	if f.Extractor != "" {
		f.Model, f.Pixels = cmp.Or(f.Model, "features-linear"), cmp.Or(f.Pixels, "0..1")
	}
	f.Accountant, f.Preset = cmp.Or(f.Accountant, "min"), cmp.Or(f.Preset, "balanced")
	f.Optimizer, f.Clipping, f.Memory = cmp.Or(f.Optimizer, "momentum"), cmp.Or(f.Clipping, "flat"), cmp.Or(f.Memory, "256MB")
	if f.Mechanism == "dp-sgd" {
		f.Mechanism = "" // the same plan, however it is asked for
	}
	if f.Lots == "poisson" {
		f.Lots = ""
	}
	f.Schedule, f.Encoding = cmp.Or(f.Schedule, "constant"), cmp.Or(f.Encoding, "thermometer")
	if f.EMA == 0 {
		f.Average = cmp.Or(f.Average, defaultAverage)
	}
}

// counts refuses numbers that would silently count as 0.
func (f *Train) counts() error {
	if f.TrainLast < 0 || f.Augment < 0 {
		return usage.New("--train-last and --augment must not be negative", "leave them out for the rule")
	}
	return nil
}

// Train prices the training of a network on images, texts or rows of a table. It changes f as
// the operator's answers say.
func (d *Desk) Train(ctx context.Context, data *source.Data, f *Train) (*Job, error) {
	if err := f.counts(); err != nil {
		return nil, err
	}
	f.complete()
	if data.Table != nil && !data.Texts() {
		spec, err := FindModel(f.Model)
		if err != nil {
			return nil, err
		}
		if _, texts := source.VocabularyOf(spec.Network.Layers); !texts {
			return d.trainTable(ctx, data, f, spec)
		}
	}
	var err error
	if f.kept, err = f.Checkpoint.open(); err != nil {
		return nil, err
	}
	p, s, err := d.images(ctx, data, f, func(p *source.Images, s *schema.Schema) error {
		in, err := f.Input(p, s)
		if err != nil {
			return err
		}
		return in.Sound()
	})
	if err != nil {
		return nil, err
	}
	in, err := f.Input(p, s)
	if err != nil {
		return nil, err
	}
	teacher, err := d.teacher(ctx, f, data.Options.DataDir, p)
	if err != nil {
		return nil, err
	}
	if teacher != nil {
		if in.PublicSet, err = teacher.set(); err != nil {
			return nil, err
		}
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return nil, err
	}
	if err := plan.Worth(f.Anyway); err != nil {
		return nil, err
	}
	if err := plan.FitComponents(p.Train); err != nil {
		return nil, err
	}
	if err := plan.Preflight(ctx); err != nil {
		return nil, err
	}
	return d.ofImages(plan, data.Argument, p, s, f, in.Seed, teacher), nil
}

// images opens what a network is trained on, and asks the ledger whose it is. What sound
// refuses is refused before that.
func (d *Desk) images(ctx context.Context, data *source.Data, f *Train, sound func(*source.Images, *schema.Schema) error) (*source.Images, *schema.Schema, error) {
	p, err := d.Inputs(ctx, data, f)
	if err != nil {
		return nil, nil, err
	}
	if err := sound(p, p.Schema()); err != nil {
		return nil, nil, err
	}
	if err := f.Copies.Rename(ctx, d.Ledger, data.Argument, !p.Mine, &p.Name, &f.Updated); err != nil {
		return nil, nil, err
	}
	if err := p.Texts.Public(ctx, d.Ledger, data.Options.Test); err != nil {
		return nil, nil, err
	}
	s := p.Schema()
	return p, s, source.EffectivePublic(ctx, d.Ledger, p.Name, s)
}

// ofImages is the job of a plan on images. other are public ones that a search looks at, or that teach; nil for none.
func (d *Desk) ofImages(plan *workflow.Plan, argument string, p *source.Images, s *schema.Schema, f *Train, seed *uint64, other *publicImages) *Job {
	j := &Job{Plan: plan, Dataset: p.Name, desk: d, digested: p.Digested, updated: f.Updated, checkpoint: f.kept}
	j.seal = func(ctx context.Context) (env workflow.Env, err error) {
		env = workflow.Env{Ledger: d.Ledger, Images: p.Test, Updated: f.Updated}
		key, err := source.ScopeKey(ctx, d.Ledger, p.Name, s, seed)
		if err != nil {
			return env, err
		}
		if env.Different, err = f.Copies.RecogniseImages(ctx, d.Ledger, argument, p, s.Public); err != nil {
			return env, err
		}
		if other != nil {
			if err := p.PublicBeside(ctx, d.Ledger, other.given, other.Images, s.Public); err != nil {
				return env, err
			}
		}
		if env.Rows, err = p.Seal(ctx, plan, s, key); err != nil {
			return env, err
		}
		if other != nil {
			// The scopes of public rows need no secret.
			if env.Other, err = other.Seal(ctx, plan, other.Schema(), intake.SimulationKey(other.Name, 1)); err != nil {
				return env, err
			}
		}
		env.Digest, err = d.Ledger.Digest(ctx, p.Digested())
		return env, err
	}
	return j
}

// ofTable is the job of a plan on rows of a table.
func (d *Desk) ofTable(plan *workflow.Plan, o *Opened) *Job {
	return &Job{Plan: plan, Dataset: o.Source.Name, Opened: o, desk: d, digested: o.Digested, updated: o.updated,
		seal: func(ctx context.Context) (workflow.Env, error) { return d.Environment(ctx, o) }}
}

// Input is what a plan on these images is made of.
func (f *Train) Input(p *source.Images, s *schema.Schema) (workflow.TrainInput, error) {
	f.complete()
	in, err := f.shared(p, s)
	if err != nil {
		return in, err
	}
	return in, f.network(&in, p)
}

// shared is what does not depend on the network.
func (f *Train) shared(p *source.Images, s *schema.Schema) (workflow.TrainInput, error) {
	f.plannedWith(s)
	in := workflow.TrainInput{
		Initial: f.initial(),
		Input: workflow.Input{
			Dataset: p.Name, Schema: s, Public: s.Public, Target: p.Target, Epsilon: f.Epsilon, Delta: f.Delta,
			AllowLargeDelta: f.AllowLargeDelta, Rows: p.Rows.N, Test: workflow.HeldOut, Preset: advise.Preset(f.Preset), Licence: p.Licence, AsPublished: f.AsPublished,
		},
		NoiseMultiplier: f.Noise, NonPrivate: f.NonPrivate, Rules: f.Rules, Batch: f.Batch, Epochs: f.Epochs, ClippingNorm: f.ClippingNorm,
		Clipping: gradient.Clipping(f.Clipping), LearningRate: f.LearningRate, Optimizer: f.Optimizer, Mechanism: f.Mechanism, Bands: f.Bands, Lots: f.Lots, Quantile: f.Quantile, Tolerance: f.Tolerance, KeepAll: f.KeepAll, Average: max(f.Average, 0), EMA: f.EMA,
		Schedule: optim.Schedule{Shape: f.Schedule, Warmup: f.Warmup},
		Augment:  workflow.Augment{Variants: f.Augment, Augmentation: images.Augmentation{Shape: p.Train.Shape, Shift: max(f.Shift, 0), Flip: f.Flip}},
	}
	in.ClassWeights = f.ClassWeights
	if f.Schedule == "constant" {
		in.Schedule.Shape = ""
	}
	if f.Augment > 1 && f.Shift == 0 {
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
	if f.Target != "" && f.Target != p.Target {
		return in, usage.New(fmt.Sprintf("target %q: the label of these images is %q", f.Target, p.Target), "leave out --target")
	}
	var err error
	if in.Accountant, err = accountant.ParseMethod(f.Accountant); err != nil {
		return in, usage.New(err.Error(), "")
	}
	if in.Seed, err = ParseSeed(f.Seed); err != nil {
		return in, err
	}
	if in.Memory, err = ParseBytes(f.Memory); err != nil {
		return in, err
	}
	if f.Rate != 0 {
		if !(f.Rate > 0 && f.Rate <= 1) || f.Batch != 0 {
			return in, usage.New("--sampling-rate must be in (0, 1] and excludes --batch", "the expected batch size is the sampling rate times the number of rows")
		}
		in.SamplingRate = f.Rate
	}
	return in, nil
}

func (f *Train) network(in *workflow.TrainInput, p *source.Images) error {
	spec, err := FindModel(f.Model)
	if err != nil {
		return err
	}
	image := shapeOf(p.Train.Shape)
	shape := image
	extractor, err := f.extractor(image)
	if err != nil {
		return err
	}
	if extractor != nil {
		in.Extracted = true
		if shape, err = extractor.Output(shape); err != nil {
			return err
		}
	}
	if spec, err = spec.For(shape, len(p.Train.Classes)); err != nil {
		return usage.New(err.Error(), "pawl models list shows input shapes")
	}
	if f.FrontEnd != "" {
		layers, err := FrontEnd(f.FrontEnd)
		if err != nil {
			return err
		}
		spec, in.FrontEnd = spec.WithFrontEnd(layers...), f.FrontEnd
	}
	if d := spec.Defaults; f.Augment == 0 && d.Augment > 1 {
		in.Augment.Variants = d.Augment
		if f.Shift == 0 {
			in.Augment.Shift = d.Shift
		}
	}
	if spec, err = f.form(spec, in); err != nil {
		return err
	}
	if extractor != nil {
		spec = spec.BehindExtractor(extractor, image)
	}
	return in.Network(spec)
}

// extractor reads the public network through which images pass, nil for none.
func (f *Train) extractor(image nn.Shape) (*nn.Extractor, error) {
	if f.Extractor == "" {
		if f.Pixels != "" || f.ExtractorOutput != "" {
			return nil, usage.New("--pixels and --extractor-output go with --extractor", "name the public network: --extractor FILE.onnx")
		}
		return nil, nil
	}
	file, err := os.ReadFile(f.Extractor)
	if err != nil {
		return nil, usage.New(fmt.Sprintf("--extractor %s cannot be read: %v", f.Extractor, usage.WithoutPath(err)), "name a network in ONNX")
	}
	e, err := nn.ReadExtractor(filepath.Base(f.Extractor), file, image, f.Pixels, f.ExtractorOutput)
	if err != nil {
		return nil, usage.New(fmt.Sprintf("--extractor %s: %v", f.Extractor, err), "")
	}
	return e, nil
}

// form is the network as it is trained: with which activations, and which layers.
func (f *Train) form(spec zoo.Spec, in *workflow.TrainInput) (_ zoo.Spec, err error) {
	switch {
	case f.Activation != "":
		spec, err = spec.WithActivation(strings.ReplaceAll(f.Activation, "-", "_"))
		if err != nil {
			return spec, usage.New(err.Error(), "")
		}
		if !f.AsDrawn && !spec.Defaults.Dropout {
			spec = spec.WithoutDropout()
		}
	case !f.AsDrawn:
		spec = spec.Default()
	}
	if f.TrainLast > 0 {
		in.TrainLast = f.TrainLast
		return lastLayers(spec, f.TrainLast)
	}
	return spec, nil
}

// lastLayers freezes all but the last k layers with parameters.
func lastLayers(spec zoo.Spec, k int) (zoo.Spec, error) {
	if layers := spec.LayersWithWeights(); k > layers {
		return spec, usage.New(fmt.Sprintf("--train-last %d: %s has %d layers with parameters", k, spec.Name, layers), fmt.Sprintf("give 1 to %d", layers))
	}
	return spec.TrainLast(k), nil
}

// FindModel looks a network up by name, else reads a YAML file.
func FindModel(name string) (zoo.Spec, error) {
	if name == "" {
		return zoo.Spec{}, usage.New("missing --model, the network to train", "pawl models list")
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
	return zoo.Spec{}, usage.New(fmt.Sprintf("model %q is neither a known network nor a file", name), schema.Meant(name, names, "pawl models list shows all"))
}

// ParseSeed reads a seed; "" is none.
func ParseSeed(s string) (*uint64, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil, usage.New("--seed must be a whole number from 0 to 18446744073709551615", "example: --seed 7")
	}
	return &n, nil
}

// ParseBytes reads 500MB, 2GB, 65536.
func ParseBytes(s string) (int64, error) {
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
		return 0, usage.New(fmt.Sprintf("--memory %q: want a size", s), "example: --memory 500MB")
	}
	return int64(n * units[i].factor), nil
}

// tableOnly refuses what only tables have.
func (f *Train) tableOnly(data *source.Data) error {
	o := data.Options
	if flag := cmp.Or(usage.Given(o.Schema != "", "--schema"), usage.Given(o.Test != "", "--test"),
		usage.Given(o.BadRows != "" && o.BadRows != string(reader.Refuse), "--bad-rows"), f.ofColumns(), usage.Given(o.Tokens != source.Tokens{}, "--vocabulary")); flag != "" {
		return usage.Newf("leave it out", "%s is for tables, and %s is not a table", flag, data.Argument)
	}
	return nil
}

// ofColumns is the first flag of a table's columns that was given.
func (f *Train) ofColumns() string {
	return cmp.Or(usage.Given(f.Features != "" && f.Features != "all", "--features"), usage.Given(f.Encoding != "" && f.Encoding != "thermometer", "--encoding"), usage.Given(f.ScoreBy != "", "--score-by"))
}

// imagesOnly refuses flags that mean nothing for a table or a set of texts.
func (f *Train) imagesOnly(of string) error {
	if flag := cmp.Or(usage.Given(f.Augment > 1, "--augment"), usage.Given(f.Flip, "--flip"), usage.Given(f.FrontEnd != "", "--front-end"),
		usage.Given(f.Extractor != "", "--extractor"), usage.Given(f.Pixels != "", "--pixels"),
		usage.Given(f.ExtractorOutput != "", "--extractor-output"), usage.Given(f.Public != "", "--public")); flag != "" {
		return usage.Newf("leave it out; the schema declares what is public about a table", "%s is for images, and DATA is %s", flag, of)
	}
	return nil
}

// trainTable prices the training of a network on the rows of a table.
func (d *Desk) trainTable(ctx context.Context, data *source.Data, f *Train, spec zoo.Spec) (*Job, error) {
	var err error
	if f.kept, err = f.Checkpoint.open(); err != nil {
		return nil, err
	}
	if err := f.imagesOnly("rows of a table"); err != nil {
		return nil, err
	}
	if data.Options.Tokens != (source.Tokens{}) {
		return nil, usage.New("--vocabulary is for text networks, which start with an embedding", "use --model sms-rnn-simple, or leave it out")
	}
	j := &Opened{Source: data.Table.Clone(), copies: &f.Copies}
	if j.Bad, err = data.Options.Rule(); err != nil {
		return nil, err
	}
	s := j.Source
	s.Schema.SetBuckets(advise.TextBuckets)
	if in, err := f.ofTable(s, s.Schema.Rows.N, spec); err != nil {
		return nil, err
	} else if err := in.Sound(); err != nil {
		return nil, err
	}
	if err := s.Owned(ctx, d.Ledger, data.Argument, &f.Copies, &f.Updated); err != nil {
		return nil, err
	}
	j.updated = f.Updated
	if err := source.EffectivePublic(ctx, d.Ledger, s.Name, s.Schema); err != nil {
		return nil, err
	}
	f.plannedWith(s.Schema)
	rows, err := s.Rows()
	if err != nil {
		return nil, err
	}
	in, err := f.ofTable(s, rows, spec)
	if err != nil {
		return nil, err
	}
	j.Seed = in.Seed
	if in.Test, err = d.OpenTest(ctx, j, data.Options); err != nil {
		return nil, err
	}
	plan, err := workflow.NewTrainPlan(in)
	if err = tried(ctx, plan, err, f.Anyway); err != nil {
		return nil, err
	}
	job := d.ofTable(plan, j)
	job.checkpoint = f.kept
	return job, nil
}

// ofTable is what a plan on so many rows of a table is made of.
func (f *Train) ofTable(s *source.Table, rows int64, spec zoo.Spec) (in workflow.TrainInput, err error) {
	p := &source.Images{Name: s.Name, Target: cmp.Or(f.Target, s.Target), Licence: s.Licence, Train: &images.Set{}, Rows: schema.RowCount{N: rows}}
	if in, err = f.shared(p, s.Schema); err != nil {
		return in, err
	}
	in.ScoreBy = f.ScoreBy
	if in.Features, in.Chosen, err = namedFeatures(f.Features); err != nil {
		return in, err
	}
	switch f.Encoding {
	case "thermometer":
		in.Encoding = &encode.Options{}
	case "linear":
		in.Encoding = &encode.Options{Linear: true}
	default:
		return in, usage.Newf("use --encoding thermometer or --encoding linear", "unknown encoding %q", f.Encoding)
	}
	if spec, err = f.form(spec, &in); err != nil {
		return in, err
	}
	return in, in.Table(spec)
}

// Inputs opens images, built-in texts, or a table with a column of texts, for a network.
func (d *Desk) Inputs(ctx context.Context, data *source.Data, f *Train) (*source.Images, error) {
	if data.Images != nil {
		if err := f.tableOnly(data); err != nil {
			return nil, err
		}
		p := *data.Images
		p.Prints = nil
		return &p, p.Load()
	}
	own := !data.Texts() || data.Options.Tokens != (source.Tokens{})
	if !own {
		if err := f.tableOnly(data); err != nil {
			return nil, err
		}
	}
	spec, err := FindModel(f.Model)
	if err != nil {
		return nil, err
	}
	if !own {
		return openTexts(data, spec, f)
	}
	if err := f.imagesOnly("texts"); err != nil {
		return nil, err
	}
	if flag := f.ofColumns(); flag != "" {
		return nil, usage.New(flag+" is for table columns, and this network takes texts", "leave it out")
	}
	bad, err := data.Options.Rule()
	if err != nil {
		return nil, err
	}
	table := data.Table.Clone()
	key, err := d.Ledger.PrintKey(ctx)
	if err != nil {
		return nil, err
	}
	table.PrintKey = &key
	return table.OwnTexts(spec, data.Options.Tokens, f.Target, data.Options.Test, bad)
}

// openTexts opens texts as the inputs of the model: the numbers of their tokens, by a
// hash that has seen no data, and how many there are. There is no set for testing, so
// units are held out.
func openTexts(data *source.Data, spec zoo.Spec, f *Train) (*source.Images, error) {
	vocabulary, ok := source.VocabularyOf(spec.Network.Layers)
	if !ok || spec.Input == (nn.Shape{}) {
		return nil, usage.New(cmp.Or(spec.Name, "the network")+" does not take texts", "choose a model that starts with an embedding, such as sms-rnn-simple; without a network: pawl fit "+data.Argument)
	}
	if f.Augment > 1 || f.Flip || f.FrontEnd != "" || f.Extractor != "" || f.Public != "" {
		return nil, usage.New("--augment, --flip, --front-end, --extractor and --public are for images, and DATA is a set of texts", "leave them out")
	}
	return source.ReadTexts(data.Table.Builtin.Name, data.Options.DataDir, spec.Input.Size(), vocabulary)
}
