package workflow

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"pawl/core/dp"
	"pawl/data/encode"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"pawl/report"
)

// tableModels are the models of a table's rows that one release of noise pays for.
type tableModels struct {
	problem *problem
	scope   dp.Scope
	// noise is the multiplier of the one Gaussian release that training amounts to; 0 where
	// epsilon is pure.
	noise float64
	left  float64 // of epsilon, for the training
}

// trainingRows is the nominal number of rows in the training scope.
func (m *tableModels) trainingRows(rows float64) float64 { return rows * m.scope.Fraction() }

func (m *tableModels) facts(rows float64) advise.Facts {
	p := m.problem
	return advise.Facts{
		Schema: p.Schema, Target: p.Target, Task: p.task, Rows: m.trainingRows(rows),
		NoiseMultiplier: m.noise, Epsilon: m.left, Delta: p.delta,
		Preset: p.Preset, Attributes: p.Features, Learner: advise.Learner(p.Model),
	}
}

// learner builds the learner of a recipe for a nominal number of rows.
func (m *tableModels) learner(r advise.Recipe, rows float64) (learn.Learner, error) {
	p := m.problem
	scale := p.scale
	scale.Log = p.TargetScale == "log" || p.TargetScale == "" && r.LogTarget
	if p.TargetScale == "" {
		scale.Bend = r.Bend
	}
	task := learn.Task{Schema: p.Schema, Target: p.Target, Kind: p.task, Scale: scale, Scope: m.scope, ExpectedRows: m.trainingRows(rows), Monotone: p.Monotone}
	s := learn.Settings{Task: task, NoiseMultiplier: m.noise, Epsilon: m.left, Delta: p.delta, Ratio: m.facts(rows).SignalRatio(),
		ClippingNorm: r.ClippingNorm, Steps: r.Steps, LearningRate: r.LearningRate, Momentum: r.Momentum}
	kind := learn.KindOf(string(r.Learner))
	s.ChooseScale = p.task == model.Regression && p.TargetScale == "" && !scale.Log
	if p.Teacher != nil {
		s.Movement = m.movement(rows)
	}
	err := cmp.Or(p.weighted(kind), p.directed(kind))
	if err != nil {
		return nil, err
	}
	if s.ClassWeights, err = p.classWeights(); err != nil {
		return nil, err
	}
	if s.Encoding, err = encode.New(p.Schema, p.Target, m.binned(r, rows).Encoding); err != nil {
		return nil, usage("", "%v", err)
	}
	if r.Learner == advise.Descent && !s.Encoding.Fits(0) {
		return nil, usage("use fewer columns (--features NAMES, or type: ignore), or declare fewer categories",
			"the categories and bins of %d columns are more than one linear model can hold (65,534)", len(s.Encoding.Blocks))
	}
	if most := kind.MostCoordinates; most > 0 && s.Encoding.Dim > most {
		return nil, usage("use --model linear, or fewer columns (--features)", "model %q takes rows of up to %d coordinates, these have %d", kind.Name, most, s.Encoding.Dim)
	}
	for i := range s.Encoding.Blocks {
		if b := &s.Encoding.Blocks[i]; kind.MostLevels > 0 && b.Levels > kind.MostLevels {
			return nil, usage("use --model linear, or leave the column out (--features)", "model %q takes columns of up to %d categories, %q has %d", kind.Name, kind.MostLevels, b.Name, b.Levels)
		}
	}
	if !s.Encoding.Fits(kind.MoreLevels) {
		return nil, usage("leave columns out (--features), or declare fewer categories",
			"the columns have too many categories and cells together: model %q takes %d", kind.Name, encode.MostLevels-1-kind.MoreLevels)
	}
	return kind.New(s), nil
}

// binned is r with the bins that its learner wants for a nominal number of rows.
func (m *tableModels) binned(r advise.Recipe, rows float64) advise.Recipe {
	if bins := learn.KindOf(string(r.Learner)).Bins; bins != nil {
		r.Encoding.Bins = bins(m.problem.task, m.facts(rows).SignalRatio())
	}
	return r
}

// hyperparameters enters those of a recipe.
func (m *tableModels) hyperparameters(h map[string]any, signalRatio float64, r advise.Recipe) {
	if !math.IsNaN(signalRatio) {
		h["signal_ratio"] = signalRatio
	}
	if r.Steps > 0 {
		h["clipping_norm"], h["steps"], h["learning_rate"], h["momentum"] = r.ClippingNorm, r.Steps, r.LearningRate, r.Momentum
		h["sampling_rate"] = r.SamplingRate
		h["noise_multiplier"] = learn.StepNoise(m.noise, r.Steps)
	}
	if w := m.problem.ClassWeights; len(w) > 0 {
		h["class_weights"] = w
	}
	if m.problem.TargetScale == "log" || m.problem.TargetScale == "" && r.LogTarget {
		h["target_scale"] = "logarithmic"
		if m.problem.TargetScale == "" && r.Bend > 0 {
			h["target_bend"] = r.Bend
		}
	}
	if w := m.problem.Monotone; len(w) > 0 {
		h["monotone"] = w
	}
	if t := m.problem.Teacher; t != nil {
		h["public_set"], h["movement"] = t, m.movement(float64(m.problem.Rows))
	}
}

// fillChoice states the model of a table that a run has trained, but for its hyperparameters.
func (out *Outcome) fillChoice(c *report.Choice) {
	c.Model, c.UsefulModel, c.Parameters = out.Learner.Name(), out.Recipe.Useful, out.Model.Parameters()
	c.Features, c.Encoding = []string{}, "no attribute"
	if out.Model.Encoding != nil {
		if f := out.Model.Encoding.Features(); f != nil {
			c.Features = f
		}
		c.Encoding = describeEncoding(out.Recipe.Learner, out.Model.Encoding.Options, out.Model.Encoding.Kept())
	}
	c.Hyperparameters = map[string]any{}
	if out.Winner != "" {
		c.Hyperparameters["winner"] = out.Winner
	}
}

// released enters what a training chose by its own releases.
func (out *Outcome) released(h map[string]any) {
	if out.Model.Scale.Log {
		h["target_scale"] = "logarithmic"
	}
	if out.Model.Terms != nil && len(out.Model.Terms.Interactions) > 0 {
		h["pairs"] = out.Model.Terms.Interactions
	}
}

func (out *Outcome) warnUseless(s *report.Statement) {
	if !out.Recipe.Useful {
		s.Warnings = append(s.Warnings, "no useful model: at this budget a constant prediction is as good as any other")
	}
}

// describeEncoding says how rows become vectors; kept are the single levels in use.
func describeEncoding(l advise.Learner, o encode.Options, kept []string) string {
	if len(kept) > 0 {
		return describeEncoding(l, o, nil) + "; of their columns only the levels " + strings.Join(kept, ", ")
	}
	switch {
	case learn.KindOf(string(l)).Binned:
		return fmt.Sprintf("%d public bins of a numeric column, one value for each category", max(o.Bins, 2))
	case o.InterceptOnly:
		return "no attribute"
	case o.Linear:
		return "numeric columns affine, categories one-hot, blocks of norm 1"
	case o.Crosses:
		return fmt.Sprintf("thermometer of %d bins, categories one-hot, products with two-level columns, blocks of norm 1", max(o.Bins, 2))
	}
	return fmt.Sprintf("thermometer of %d bins, categories one-hot, blocks of norm 1", o.Bins)
}
