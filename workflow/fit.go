package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/encode"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/report"
)

// fit is the job of one model of a table, whose recipe rules choose.
type fit struct {
	*Plan
	models tableModels
	// sampledNoise is what learn.Sampled takes where lots are sampled, else 0.
	sampledNoise float64
	// trained is the event of the training, nil where it follows from released rows.
	trained dp.Event
}

// NewPlan validates the input and prices the training of one model of a table. Errors
// are *UsageError unless the accountant failed.
func NewPlan(in Input) (*Plan, error) {
	if in.AsPublished {
		return nil, usage("leave out --as-published; on public data --workflow stw chooses without paying", "no paper publishes a fit of a table's model")
	}
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	// An accountant may price steps a little above the one release that they amount
	// to and that calibration looked at: a grid's rounding adds up over the steps.
	// The target then moves down by that much.
	shave := 1e-9
	for range 4 {
		var plan *Plan
		var above *tooDearError
		if plan, err = p.plan(); !errors.As(err, &above) {
			return plan, err
		}
		e, _ := p.epsilon.Float64()
		p.margin = 1 - (1-p.margin)*e/above.epsilon*(1-shave)
		shave *= 100 // the price is not quite proportional to the target
	}
	return nil, err
}

// plan chooses and prices the stages of a valid problem.
func (p *problem) plan() (*Plan, error) {
	plan := newPlan(p)
	plan.keepCalibration()
	f := &fit{Plan: plan}
	plan.job = f
	train := f.planTraining
	if p.Workflow == STW {
		s := &standard{fit: f}
		plan.job, train = s, s.planTraining
	}
	for _, step := range []func() error{plan.planCount, train, plan.planScore, plan.priceAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// choose finds the noise of a training and, by a public number of rows, its recipe.
func (f *fit) choose() (err error) {
	p := f.problem
	f.models = tableModels{problem: p, scope: f.trainScope, left: f.remaining()}
	if p.delta > 0 {
		if f.models.noise, err = f.smallest(func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }); err != nil {
			return err
		}
	}
	if p.Rows == 0 {
		if p.Teacher != nil {
			return usage("declare rows: about N in the schema", "--public needs a public number of rows: how far training goes from the public model follows from it")
		}
		return nil
	}
	facts := f.facts()
	f.SignalRatio = facts.SignalRatio()
	f.Recipe, err = advise.Choose(facts)
	if err == nil && len(p.Monotone) > 0 && f.Recipe.Learner == advise.Descent && p.Model == "" {
		// The additive model is what holds effects to a direction.
		facts.Learner = advise.Additive
		f.Recipe, err = advise.Choose(facts)
	}
	if err == nil && p.Teacher != nil && p.Model == "" && (f.Recipe.Learner == advise.Majority || f.Recipe.Learner == advise.Mean) {
		// What public rows teach is more than a constant.
		facts.Learner = advise.Descent
		f.Recipe, err = advise.Choose(facts)
	}
	if err != nil {
		return usage("use --model auto", "%v", err)
	}
	if p.Teacher != nil {
		if f.Recipe, err = f.models.taught(f.Recipe, float64(p.Rows)); err != nil {
			return err
		}
	}
	f.Recipe = f.models.binned(f.Recipe, float64(p.Rows))
	return nil
}

func (f *fit) planTraining() error {
	if err := f.choose(); err != nil {
		return err
	}
	if f.problem.Rows == 0 {
		return f.planUnknownRows()
	}
	learner, err := f.models.learner(f.Recipe, float64(f.problem.Rows))
	if err != nil {
		return err
	}
	if f.Recipe.SamplingRate > 0 && f.Recipe.SamplingRate < 1 {
		if err := f.sample(learner.(learn.Sampled)); err != nil {
			return err
		}
	}
	f.trained = learner.Event()
	f.add("train", f.trainScope, learner.Name(), f.trained)
	return nil
}

// sampling names how the training takes units, "" for the plain kinds: an additive model of a large table takes lots in
// its steps alone.
func (f *fit) sampling() string {
	if f.sampledNoise > 0 && takesAll(f.trained) {
		return "Poisson and full batch"
	}
	return ""
}

// takesAll reports whether a part of an event takes every unit of its scope.
func takesAll(e dp.Event) bool {
	switch e := e.(type) {
	case dp.PoissonSampled:
		return false
	case dp.Repeat:
		return takesAll(e.Event)
	case dp.Compose:
		return slices.ContainsFunc(e.Events, takesAll)
	}
	return true
}

// planUnknownRows books a training whose steps will follow from the released
// count: every full-batch descent that amounts to one Gaussian of the booked
// multiplier has the same guarantee.
func (f *fit) planUnknownRows() error {
	p := f.problem
	switch {
	case p.delta == 0:
		return usage("declare rows: about N in the schema, or give a delta above 0", "pure epsilon needs a public number of rows")
	case p.Model != "" && p.Model != string(advise.Descent):
		return usage("declare rows: about N in the schema", "model %q needs a public number of rows", p.Model)
	}
	if _, err := p.classWeights(); err != nil {
		return err
	}
	if err := p.directed(learn.KindOf(string(advise.Descent))); err != nil {
		return err
	}
	f.SignalRatio = math.NaN()
	f.Recipe = advise.Recipe{Learner: advise.Descent, Useful: true, SamplingRate: 1, Rules: []advise.Rule{{
		Rule:     "settings follow from the released number of rows",
		Because:  "the schema keeps the number of rows private",
		Evidence: "the guarantee of full-batch descent depends on its total noise only",
		Changes:  "declaring rows: about N saves the budget of the count",
	}}}
	f.add("train", f.trainScope, "linear model by noisy gradient descent", dp.Gaussian{NoiseMultiplier: f.models.noise})
	return nil
}

// sample turns steps over all rows into Poisson lots and calibrates their noise anew.
func (f *fit) sample(l learn.Sampled) (err error) {
	rate := f.Recipe.SamplingRate
	f.sampledNoise, err = f.smallest(func(x float64) dp.Event {
		l.Sample(rate, x)
		return l.Event()
	})
	if err != nil {
		return err
	}
	l.Sample(rate, f.sampledNoise)
	f.Recipe.Rules = append(f.Recipe.Rules, advise.LotsRule(f.Recipe))
	return nil
}

func (f *fit) run(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	if f.problem.Rows > 0 {
		return f.train(ctx, env, permit, f.Recipe, float64(f.problem.Rows), out)
	}
	env.Progress.step("count", 0, 0)
	n, err := release.Count{Scope: dp.WholeScope, NoiseMultiplier: f.countNoise}.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	// Zero or fewer rows is the noise's doing; the rules need a positive number.
	n = max(n, 1)
	out.Rows = &n
	recipe, err := f.recipeForReleasedRows(float64(n))
	if err != nil {
		return err
	}
	return f.train(ctx, env, permit, recipe, float64(n), out)
}

// train trains by a recipe and scores. nominal is the number of rows, public or released.
func (f *fit) train(ctx context.Context, env Env, permit *ledger.Permit, recipe advise.Recipe, nominal float64, out *Outcome) error {
	learner, err := f.models.learner(recipe, nominal)
	if err != nil {
		return err
	}
	if w, ok := learner.(learn.Watched); ok {
		w.Watch(func(done, of int) { env.Progress.step("train", done, of) })
	} else {
		env.Progress.step("train", 0, 0)
	}
	if f.problem.Teacher != nil {
		env.Progress.step("teach", 0, 0)
		if err := f.models.teach(ctx, env.Other, learner, recipe); err != nil {
			return err
		}
	}
	if s, ok := learner.(learn.Sampled); ok && f.sampledNoise > 0 {
		s.Sample(f.Recipe.SamplingRate, f.sampledNoise)
	}
	out.Learner, out.Recipe = learner, recipe
	if out.Model, err = learner.Fit(ctx, permit, env.Rows); err != nil {
		return err
	}
	if err := out.Model.Validate(); err != nil {
		return fmt.Errorf("training diverged: %w", err)
	}
	env.Progress.step("score", 0, 0)
	return f.scoreRows(ctx, env, permit, out)
}

// recipeForReleasedRows chooses among full-batch descents, all of which the
// booked Gaussian release pays for. Where the rule would release a constant, the
// same descent fits an intercept only.
func (f *fit) recipeForReleasedRows(nominal float64) (advise.Recipe, error) {
	facts := f.models.facts(nominal)
	recipe, err := advise.Choose(facts)
	if err != nil {
		return recipe, err
	}
	if recipe.Learner != advise.Descent {
		rules := recipe.Rules
		facts.Learner = advise.Descent
		if recipe, err = advise.Choose(facts); err != nil {
			return recipe, err
		}
		recipe.Encoding.InterceptOnly, recipe.Encoding.Crosses = true, false
		recipe.Useful, recipe.Rules = false, rules
	}
	recipe.SamplingRate = 1
	return recipe, nil
}

func (f *fit) key() any { return nil }

// expected is the time of the trainings from public numbers.
func (f *fit) expected() time.Duration {
	r := f.Recipe
	rows := f.models.trainingRows(float64(max(f.problem.Rows, 10_000)))
	seconds := float64(max(r.Steps, 1)) * rows * max(r.SamplingRate, 0.01) * float64(len(f.problem.Schema.Columns)) * 4e-9
	return time.Duration(seconds * float64(time.Second))
}

func (f *fit) describe() description {
	p, r := f.problem, f.Recipe
	c := report.Choice{
		Workflow: string(p.Workflow), Model: string(r.Learner), Features: []string{}, UsefulModel: r.Useful,
		Hyperparameters: map[string]any{}, Search: "none: the rules decide from public facts",
	}
	d := description{choice: c, lots: f.sampledNoise > 0, sampling: f.sampling()}
	if p.Teacher != nil {
		d.uncovered = append(d.uncovered, p.Teacher.taughtWords("rows"))
	}
	if p.Rows == 0 {
		return d
	}
	if enc, err := encode.New(p.Schema, p.Target, r.Encoding); err == nil {
		d.choice.Features, d.choice.Encoding, d.choice.Parameters = enc.Features(), describeEncoding(r.Learner, r.Encoding, enc.Kept()), enc.Dim
	}
	if d.choice.Features == nil {
		d.choice.Features = []string{}
	}
	f.hyperparameters(c.Hyperparameters, r)
	return d
}

func (f *fit) hyperparameters(h map[string]any, r advise.Recipe) {
	f.models.hyperparameters(h, f.SignalRatio, r)
	if f.sampledNoise > 0 {
		h["sampling_rate"] = r.SamplingRate
		if r.Steps > 0 {
			h["noise_multiplier"] = f.sampledNoise
		}
	}
}

func (f *fit) complete(s *report.Statement, out *Outcome) {
	s.Command = "fit"
	out.fillChoice(&s.Choice)
	f.hyperparameters(s.Choice.Hyperparameters, out.Recipe)
	out.released(s.Choice.Hyperparameters)
	out.warnUseless(s)
}

// Facts are the public facts that the recipe of a fit follows from, where the number of
// rows is public: what advise.Choose was asked.
func (plan *Plan) Facts() advise.Facts {
	f := plan.job.(interface{ facts() advise.Facts })
	return f.facts()
}

func (f *fit) facts() advise.Facts {
	p := f.problem
	facts := f.models.facts(float64(p.Rows))
	if p.Teacher != nil {
		facts.Public = float64(p.Teacher.Rows)
	}
	facts.Several = p.Workflow == PAW && len(p.ClassWeights) == 0
	return facts
}

// SearchAdvised says whether the rules want a search between kinds of model in place of
// a fit's one training.
func (plan *Plan) SearchAdvised() (advise.Rule, bool) {
	f, one := plan.job.(*fit)
	if !one {
		return advise.Rule{}, false
	}
	if p := f.problem; p.Rows == 0 || p.delta == 0 || p.Features != nil || p.ScoreBy != "" || len(p.ClassWeights)+len(p.Monotone) > 0 || p.TargetScale != "" || p.Teacher != nil {
		return advise.Rule{}, false
	}
	return advise.SearchRule(f.facts())
}
