package request

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"pawl/compute/nn"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/evidence/quality"
	"pawl/internal/usage"
	"pawl/search"
	"pawl/workflow"
)

// Fit asks for one model: what to predict, at which price. Empty fields stand for the defaults.
type Fit struct {
	Terms
	Target, Preset, Workflow, Model, Features, ScoreBy string
	Search                                             bool
	// ClassWeights are public factors on the losses of classes, by name.
	ClassWeights map[string]float64
	// TargetScale is "auto", "linear" or "log"; Monotone names columns whose effect may only rise
	// (1) or fall (−1).
	TargetScale string
	Monotone    map[string]int
	// Public is a public table of the same columns, or public images, to train on first. Extractor, Pixels,
	// ExtractorOutput and PublicLabels are those of Train, for images. Flip declares that
	// the mirror image of an image has its class.
	Extractor, Pixels, ExtractorOutput, Public, PublicLabels string
	Flip                                                     bool
	// Decision is how probabilities become labels.
	Decision quality.Decision
	// Checkpoint keeps the training of a network of images.
	Checkpoint Checkpoint
	// Study is a name for the study of a fit that searches.
	Study   string
	Workers int
	// kinds is the rule that wants a search between kinds of model, if one does.
	kinds *advise.Rule
}

// complete puts the defaults in place of what is empty.
func (f *Fit) complete() {
	f.Accountant, f.Preset = cmp.Or(f.Accountant, "min"), cmp.Or(f.Preset, "balanced")
	f.Workflow, f.Model, f.Features = cmp.Or(f.Workflow, "paw"), cmp.Or(f.Model, "auto"), cmp.Or(f.Features, "auto")
}

// Fit prices a fit of a table or of images. It changes f as the operator's answers say.
func (d *Desk) Fit(ctx context.Context, data *source.Data, f *Fit) (*Job, error) {
	return d.fit(ctx, data, f, false)
}

// fit is Fit. The rows of a table that is rehearsed, whose job will not run, are read while the plan is made.
func (d *Desk) fit(ctx context.Context, data *source.Data, f *Fit, rehearsed bool) (job *Job, err error) {
	f.complete()
	if (f.Checkpoint.File != "" || f.Checkpoint.Resume) && (f.Search || data.Images == nil) {
		return nil, usage.New("--checkpoint and --resume are for training one network on images", "an interrupted search continues by itself when you run it again; other models train in seconds")
	}
	if data.Images == nil {
		if err := f.imagesOnly(); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Search:
		return d.fitSearch(ctx, data, f)
	case data.Images != nil:
		t, err := f.training(data)
		if err != nil {
			return nil, err
		}
		return d.Train(ctx, data, t)
	}
	j, in, err := d.OpenTable(ctx, data, f, workflow.Input.Sound)
	if err != nil {
		return nil, err
	}
	var faulty error
	if in.Test, faulty = d.OpenTest(ctx, j, data.Options); faulty != nil && !usage.Mistake(faulty) {
		return nil, faulty
	}
	untaught := d.OpenTeacher(ctx, j, f.Public, &in)
	if untaught != nil && !usage.Mistake(untaught) {
		return nil, untaught
	}
	if rehearsed && faulty == nil && untaught == nil {
		stop := d.begin(ctx, j)
		defer func() {
			if job == nil || job.Opened != j {
				stop()
			}
		}()
	}
	plan, err := workflow.NewPlan(in)
	if err = tried(ctx, plan, usage.All(err, faulty, untaught), f.Anyway); err != nil {
		return nil, err
	}
	if r, ok := plan.SearchAdvised(); ok {
		f.kinds = &r
		return d.fitSearch(ctx, data, f)
	}
	return d.ofTable(plan, j), nil
}

// imagesOnly refuses what only images have.
func (f *Fit) imagesOnly() error {
	t := Train{Extractor: f.Extractor, Flip: f.Flip}
	for _, c := range []struct{ value, flag, of string }{
		{f.Pixels, "--pixels", "--extractor"}, {f.ExtractorOutput, "--extractor-output", "--extractor"}, {f.PublicLabels, "--public-labels", "--public"},
	} {
		if c.value != "" {
			return usage.New(c.flag+" goes with "+c.of+", which is for images", "leave it out")
		}
	}
	return t.imagesOnly("a table")
}

// training is the fit of images: features and model name a network, and the numbers
// of its training follow from public facts.
func (f *Fit) training(data *source.Data) (*Train, error) {
	t := &Train{
		Terms: f.Terms, Preset: f.Preset, Checkpoint: f.Checkpoint, Target: f.Target, ClassWeights: f.ClassWeights,
		Extractor: f.Extractor, Pixels: f.Pixels, ExtractorOutput: f.ExtractorOutput, Public: f.Public, PublicLabels: f.PublicLabels,
	}
	o := data.Options
	if f.Epsilon == "" {
		return nil, usage.New("missing --epsilon", "example: --epsilon 1")
	}
	if flag := cmp.Or(usage.Given(o.Schema != "", "--schema"), usage.Given(o.Test != "", "--test"), usage.Given(f.ScoreBy != "", "--score-by"),
		usage.Given(len(f.Monotone) > 0, "--monotone"), usage.Given(f.TargetScale != "" && f.TargetScale != "auto", "--target-scale"),
		usage.Given(f.Decision.Given(), "a decision (--threshold, --recall, --cost)"),
		usage.Given(o.Vectors != (source.Vectors{}), "--embeddings"), usage.Given(f.Workflow == "stw", "--workflow stw"),
		usage.Given(o.BadRows != "" && o.BadRows != "refuse", "--bad-rows")); flag != "" {
		return nil, usage.New(flag+" is for tables, and DATA is a set of images", "leave it out; pawl train has flags for networks")
	}
	if f.Flip && (f.Model != "auto" && f.Model != "linear" || f.Extractor != "" || f.Features == "all") {
		return nil, usage.New("--flip is for scattering features; networks and pixels do not use it", "leave it out; pawl train --augment 4 --flip trains a network on mirrored variants")
	}
	if f.Extractor != "" && f.Features == "scatter" {
		return nil, usage.New("--features scatter and --extractor exclude each other: each computes the features", "leave out one of them")
	}
	known := f.Features == "auto" || f.Features == "" || f.Features == "scatter" || f.Features == "all"
	switch {
	case known && (f.Model == "auto" || f.Model == "linear"):
		return t, f.linear(data.Images, t)
	case f.Features == "auto" || f.Features == "all" || f.Features == "":
		t.Model = f.Model
	case f.Features == "scatter":
		return nil, usage.New(fmt.Sprintf("features scatter need a linear model, and %q takes pixels", f.Model), "use --model linear, or leave out --features")
	case strings.HasPrefix(f.Features, "pca:"):
		return nil, usage.New("features "+f.Features+" would be computed from the rows", "scatter does not depend on the rows; pawl train --front-end dp-pca:K charges for components")
	default:
		return nil, usage.New(fmt.Sprintf("features %q are not available for images, only scatter and all (pixels)", f.Features), "--features scatter")
	}
	return t, nil
}

// linear makes t the recipe of a linear model.
func (f *Fit) linear(p *source.Images, t *Train) error {
	shape := p.Shape()
	facts := advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: float64(p.Rows.N), Preset: advise.Preset(f.Preset), Features: f.Features, Taught: f.Public != "", Mirrored: f.Flip || p.Mirrored}
	t.complete()
	e, err := t.extractor(nn.Shape{Height: shape[0], Width: shape[1], Channels: shape[2]})
	if err != nil {
		return err
	}
	if e != nil {
		out, err := e.Output(nn.Shape{Height: shape[0], Width: shape[1], Channels: shape[2]})
		if err != nil {
			return err
		}
		facts.Height, facts.Width, facts.Channels, facts.Extractor = 1, 1, out.Size(), e.File
	}
	// What is no number is refused where epsilon and delta are checked.
	facts.Epsilon, _ = strconv.ParseFloat(f.Epsilon, 64)
	facts.Ratio, _, _ = workflow.SignalRatio(facts.Rows, facts.Epsilon, f.Delta)
	r, err := advise.ChooseImages(facts)
	if err != nil {
		return usage.New(err.Error(), "--features auto")
	}
	t.Model, t.Batch, t.Epochs, t.Rules = r.Model, r.Batch, r.Epochs, r.Rules
	return nil
}

// meanTrials is the mean number of trainings that fit --search pays for, by preset:
// the noise of each grows with it, and what is gained grows ever more slowly.
var meanTrials = map[advise.Preset]float64{advise.Quick: 5, advise.Balanced: 10, advise.Thorough: 20}

// fitSearch prices a fit that pays for a private selection (strategy ps) around what the rules
// choose: of tables over space tabular, of images over the settings of the model that the
// rules, or --model, name. Where the rules want two kinds of model compared, both are trained.
func (d *Desk) fitSearch(ctx context.Context, data *source.Data, f *Fit) (*Job, error) {
	mean, ok := meanTrials[advise.Preset(f.Preset)]
	switch {
	case !ok:
		return nil, usage.Newf("presets: quick, balanced, thorough", "unknown preset %q", f.Preset)
	case f.Workflow != "paw":
		return nil, usage.New("--search needs workflow paw", "leave out --search: workflow stw makes its own choices without charge")
	}
	if len(f.ClassWeights) > 0 {
		return nil, usage.New("--search and --class-weight exclude each other: the weights are not offered for all models that are compared", "leave out one of them")
	}
	if len(f.Monotone) > 0 || f.TargetScale != "" && f.TargetScale != "auto" {
		return nil, usage.New("--search excludes --monotone and --target-scale: they are not offered for all models that are compared", "leave out --search")
	}
	if f.Public != "" && data.Images == nil {
		return nil, usage.New("--search and --public exclude each other: a search trains many models", "leave out one of them")
	}
	s := &Search{Table: *f, Study: f.Study, Workers: f.Workers, kind: "fit"}
	if data.Images == nil {
		if f.Model != "auto" {
			return nil, usage.New("--search and --model exclude each other: the search chooses the model", "leave out one of them")
		}
		s.Train = Train{Terms: f.Terms, Preset: f.Preset, Target: f.Target}
		if s.Space = "tabular"; f.kinds != nil {
			s.Space = "learners"
		}
	} else {
		t, err := f.training(data)
		if err != nil {
			return nil, err
		}
		s.Train, s.Space = *t, "settings"
	}
	s.complete()
	strategy, err := search.New(search.PS)
	if f.kinds != nil {
		// Of two candidates training both leaves more than a secret number of runs.
		strategy, err = search.New(search.Grid)
	}
	if err != nil {
		return nil, err
	}
	if strategy.Kind == search.PS {
		strategy.Mean = mean
	} else {
		// Kinds differ by half a point: a tenth of the rows would not tell.
		strategy.Validation = 0.3
	}
	return d.hunt(ctx, data, s, strategy)
}
