// Package advise chooses a recipe from public facts only: number of rows,
// attributes, kinds, classes, ε and δ. Every choice carries the rule that made
// it, its evidence and what would change it.
//
// The rules are functions of r = n/σ₁(ε, δ), the number of rows divided by the
// noise multiplier of one Gaussian release at (ε, δ): the number that decides how
// much signal a budget can buy. Constants were measured on Adult, Breast Cancer,
// WDBC and insurance and checked on tasks that did not set them; docs/DESIGN.md
// says which and how.
package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/learn"
	"pawl/model"
)

// Learner names a way of training.
type Learner string

// The learners that the rules choose by themselves.
const (
	Descent   Learner = "linear"
	Objective Learner = "objective-perturbation"
	Additive  Learner = "gam"
	Majority  Learner = "majority"
	Mean      Learner = "mean"
)

// Learners lists all that are registered in package learn, in alphabetical order.
var Learners = func() (all []Learner) {
	for _, name := range learn.Names() {
		all = append(all, Learner(name))
	}
	return all
}()

// Preset trades time; it never changes ε.
type Preset string

const (
	Quick    Preset = "quick"
	Balanced Preset = "balanced"
	Thorough Preset = "thorough"
)

// Facts are what a recipe may depend on.
type Facts struct {
	Schema *schema.Schema
	Target string
	Task   model.Task
	// Rows is the nominal number of rows that train.
	Rows float64
	// NoiseMultiplier is σ₁(ε, δ) of one Gaussian release at what is left for
	// training; 0 when δ = 0.
	NoiseMultiplier float64
	// Epsilon is what is left for training.
	Epsilon, Delta float64
	Preset         Preset
	// Attributes is the operator's own list of columns (nil: all) and Learner the
	// one asked for ("": choose).
	Attributes []string
	Learner    Learner
	// Several says that the job may make several releases, each chosen by those before: the
	// additive model is then among what the rules choose from.
	Several bool
	// Public is the number of public rows that the training begins with a model of.
	Public float64
}

// SignalRatio is r = n/(k·σ₁) with up to k rows per unit.
func (f Facts) SignalRatio() float64 {
	if !(f.NoiseMultiplier > 0) {
		return math.NaN()
	}
	return f.Rows / (f.NoiseMultiplier * float64(f.Schema.Unit.MaxRows))
}

// Recipe is a data-free choice of everything a training run needs.
type Recipe struct {
	Learner  Learner
	Encoding encode.Options
	// ClippingNorm, Steps, LearningRate and Momentum belong to Descent.
	ClippingNorm float64
	Steps        int
	LearningRate float64
	Momentum     float64
	// MaxRate is the largest stable LearningRate.
	MaxRate float64
	// SamplingRate is 1 unless the rows do not fit the time.
	SamplingRate float64
	// LogTarget trains a regression on a logarithmic scale of its target, and Bend says how much of
	// the scale is so (model.TargetScale), 0 for most of it.
	LogTarget bool
	Bend      float64
	// Useful is false when a constant prediction is all the budget can buy.
	Useful bool
	Rules  []Rule
}

// Choose returns the recipe for the facts.
func Choose(f Facts) (Recipe, error) {
	if err := f.checkWide(); err != nil {
		return Recipe{}, err
	}
	asked := learn.KindOf(string(f.Learner))
	if instead, gone := learn.Removed[string(f.Learner)]; gone {
		return Recipe{}, fmt.Errorf("the learner %q was removed: use %q, which replaces it", f.Learner, instead)
	}
	if f.Learner != "" && asked.Name == "" {
		return Recipe{}, fmt.Errorf("no learner is called %q", f.Learner)
	}
	if f.Learner != "" && !asked.Fits(f.Task) {
		if f.Task == model.Regression {
			return Recipe{}, fmt.Errorf("%s predicts classes, the target %q is a number", f.Learner, f.Target)
		}
		return Recipe{}, fmt.Errorf("%s fits a regression, the target %q is a class", f.Learner, f.Target)
	}
	if f.Delta == 0 {
		return pure(f)
	}
	r := f.SignalRatio()
	if !(r >= 0) {
		return Recipe{}, fmt.Errorf("the number of rows and a noise multiplier are needed to choose a recipe")
	}
	switch {
	case f.Learner == Majority || f.Learner == Mean:
		return constant(f, r, "asked for"), nil
	case f.Learner == "" && attributeCount(f) == 0:
		return constant(f, r, "there is no column to predict from"), nil
	case f.Learner != "" && !asked.Approximate:
		return Recipe{}, fmt.Errorf("%s is offered at delta 0 (pure epsilon); at delta > 0 the linear model is better at the same budget", f.Learner)
	case asked.Encoding != nil:
		return byName(f, asked), nil
	case f.Learner == "":
		least := hopeless
		if f.Task == model.Regression {
			least = hopelessNumber
		}
		if r < float64(least) {
			return constant(f, r, fmt.Sprintf("r = %.3g is below %d", r, least)), nil
		}
	}
	if f.additive(r) {
		return additive(f, r), nil
	}
	if f.Task == model.Regression {
		return regression(f, r), nil
	}
	if classes := levels(f); classes > 2 {
		return multiclass(f, r, classes), nil
	}
	return binary(f, r), nil
}

func levels(f Facts) int { return len(f.Schema.Columns[f.Schema.Column(f.Target)].Levels()) }

func constant(f Facts, r float64, why string) Recipe {
	c := Recipe{Learner: Majority, Encoding: encode.Options{InterceptOnly: true}}
	name := "majority class"
	if f.Task == model.Regression {
		c.Learner, name = Mean, "mean"
	}
	rule := by(ruleConstant, "no useful model: predict the "+name, why)
	if r < low {
		rule.Changes = fmt.Sprintf("%.0f times as many rows, or a larger epsilon, would bring r to %d", math.Ceil(low/max(r, 0.01)), low)
	}
	c.Rules = append(c.Rules, rule)
	return c
}

// encodingRule picks bins by r and reports it.
func encodingRule(f Facts, r float64, bins int) (encode.Options, Rule) {
	o := encode.Options{Bins: bins, Attributes: f.Attributes}
	if r < low {
		o.Linear = true
		return o, by(ruleAffine, "", fmt.Sprintf("r = %.3g is below %d", r, low))
	}
	return o, by(ruleThermometer,
		fmt.Sprintf("numeric columns as a thermometer of %d public thresholds, categories one-hot, every attribute a block of norm 1", bins-1),
		"scores then carry noise that depends on r alone, not on the number of columns")
}

// TaughtMovement is the part of its usual movement that a training makes which begins with a model of
// public rows: the less r says beside them, the nearer it stays.
func TaughtMovement(r, public float64) float64 {
	return min(max(r/(taughtBy*public), leastTaught), 1)
}

// TaughtRule is the reason for a movement.
func TaughtRule(r, public, movement float64) Rule {
	return by(rulePublicRows, fmt.Sprintf("begin with a model of the %.0f public rows and make %.2g of the usual movement", public, movement), fmt.Sprintf("r = %.4g", r))
}

func attributesRule(f Facts) Rule {
	if f.Attributes != nil {
		return by(ruleNamed, fmt.Sprintf("use the %d attributes that were named", len(f.Attributes)), "the operator chose them from domain knowledge, which costs no budget")
	}
	return by(ruleAll, "", "with unit blocks a further attribute adds no noise to the scores")
}

// NoSearchRule is the reason why no hyperparameters are searched by default.
func NoSearchRule(r float64) Rule {
	if r >= kindsFrom {
		return by(ruleNoSearch, "", fmt.Sprintf("r = %.3g allows a choice between kinds of model, which takes the time of several training runs: --preset thorough", r))
	}
	return by(ruleNoSearch, "", fmt.Sprintf("r = %.3g; a private search of 8 candidates multiplies the noise by 1.6 to 2.9", r))
}

// SearchRule says whether a choice between kinds of model, each of them trained and
// scored under noise, is worth its price, and why. The price is that of two trainings, so
// it wants many rows, candidates that differ, and patience.
func SearchRule(f Facts) (Rule, bool) {
	r := f.SignalRatio()
	if f.Preset != Thorough || f.Task != model.Classification || f.Learner != "" || !(r >= kindsFrom) || f.additive(r) {
		return Rule{}, false
	}
	return by(ruleSearch, "", fmt.Sprintf("r = %.3g: even with the noise of a smaller share, kinds of model can be distinguished", r)), true
}

// BesideSearch are the rules of a recipe without the one against searching.
func BesideSearch(rules []Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Name == ruleNoSearch })
}

// steps turns a total movement G = Σ lr·c into a number of steps and a rate.
func (c *Recipe) steps(f Facts, movement, perStep float64, fewest, most int, maxRate float64) {
	tau := movement / c.ClippingNorm
	switch f.Preset {
	case Quick:
		most = min(most, 120)
	case Thorough:
		most *= 2
	}
	c.Steps = min(max(int(math.Ceil(tau/perStep)), fewest), most)
	c.Momentum = 0.9
	// A heavy ball with momentum 0.9 moves ten times its rate.
	c.LearningRate, c.MaxRate = min(0.1*tau/float64(c.Steps), maxRate), maxRate
	c.SamplingRate = samplingRate(f, c.Steps)
}

// samplingRate keeps a run within a time that the preset allows, from public
// numbers only: one look at one attribute of one row takes about 5 ns.
func samplingRate(f Facts, steps int) float64 {
	seconds := map[Preset]float64{Quick: 30, Balanced: 240, Thorough: 1800}[f.Preset]
	if seconds == 0 {
		seconds = 240
	}
	work := f.Rows * float64(steps) * f.looks() * 5e-9
	return min(1, max(seconds/work, 0.01))
}

// lotRate is that of the additive model.
func lotRate(f Facts) float64 { return learn.LotRate(f.Rows, f.NoiseMultiplier) }

// LotsRule is that of a recipe whose steps take lots.
func LotsRule(c Recipe) Rule {
	rule := Rule{
		Rule:     fmt.Sprintf("Poisson lots: every row joins a step with probability %.3g", c.SamplingRate),
		Because:  "full-batch steps over so many rows take longer than the preset allows",
		Evidence: "sampling only changes the noise, as its own accounting says",
		Changes:  "--preset thorough",
	}
	if c.Learner == Additive {
		rule.Because = "the noise of each of many steps is so large that a batch costs as much epsilon as all rows, in a fraction of the time"
		rule.Changes = "fewer rows"
	}
	return rule
}

func binary(f Facts, r float64) Recipe {
	c := Recipe{Learner: Descent, Useful: true}
	bins := 16
	if r > fineFrom {
		bins = 64
	}
	var enc Rule
	c.Encoding, enc = encodingRule(f, r, bins)
	wide := f.bag(&c.Encoding)
	// Beyond a movement of about n a small table is fitted past what its rows can
	// tell, noise or no noise (Breast Cancer, 190 rows, ε 1: +1.3 points over the
	// majority without this cap, +2.0 with it).
	movement := min(max(25*math.Pow(r, 0.65)*caution(r), 2.3*r), f.Rows*max(1, r/100))
	c.ClippingNorm = min(0.15*max(1, math.Sqrt(r/500)), 0.6)
	if r < low {
		c.ClippingNorm, movement = 0.07, 6*math.Pow(r, 0.65)
		c.Encoding.Intercept = math.Sqrt(float64(max(attributeCount(f), 1)))
	}
	c.steps(f, movement, 80, 20, 400, 12)
	c.Rules = append(c.Rules, by(ruleBinary,
		fmt.Sprintf("logistic model by %d noisy gradient steps, clipping norm %.3g", c.Steps, c.ClippingNorm),
		fmt.Sprintf("r = %.4g; a small clipping norm lowers the sensitivity and pulls a hopeless model towards the majority class", r),
	), enc, attributesRule(f), NoSearchRule(r))
	c.Rules = append(c.Rules, wide...)
	if r < low {
		c.Rules = append(c.Rules, nearBaseline("majority class", low))
	}
	return c
}

// caution shortens the movement where a run of bad luck would otherwise end well
// below the majority: by 0.7 between r = 35 and 100, fading out at 20 and 200.
// Adult at ε 0.005 (r = 56), 60 runs: mean +2.5 points and worst −2.0 with it,
// +2.2 and −3.6 without; WDBC at r = 17 needs the full movement.
func caution(r float64) float64 {
	fall := min(max((r-20)/15, 0), 1)
	rise := min(max((r-100)/100, 0), 1)
	return 1 - 0.3*(fall-rise)
}

// named are the columns that the operator's list names, whole or by level.
func (f Facts) named() map[string]bool {
	named := map[string]bool{}
	for _, a := range f.Attributes {
		if column, _, err := encode.Feature(f.Schema, a); err == nil {
			named[f.Schema.Columns[column].Name] = true
		}
	}
	return named
}

// attributeCount is the number of columns that a model may use.
func attributeCount(f Facts) int {
	if f.Attributes != nil {
		return len(f.named())
	}
	n := 0
	for i := range f.Schema.Columns {
		if c := &f.Schema.Columns[i]; c.Type != schema.Ignore && c.Name != f.Target && c.Name != f.Schema.Unit.Column {
			n++
		}
	}
	return n
}

func nearBaseline(name string, below int) Rule {
	return by(ruleNearConstant, "warning: expect little more than the "+name, fmt.Sprintf("r is below %d", below))
}

func multiclass(f Facts, r float64, classes int) Recipe {
	c := Recipe{Learner: Descent, Useful: r >= perClass*float64(classes)}
	bins := 16
	if r > fineFrom {
		bins = 64
	}
	var enc Rule
	c.Encoding, enc = encodingRule(f, r, bins)
	wide := f.bag(&c.Encoding)
	c.ClippingNorm = 0.5
	if r < 500 {
		c.ClippingNorm = 0.2
	}
	// Larger total movements than 7,200 clipping norms were not tried.
	movement := min(max(25*math.Pow(r, 0.65), 2.3*r), 7200*c.ClippingNorm)
	if r < low {
		movement = 6 * math.Pow(r, 0.65)
	}
	c.steps(f, movement, 40, 20, 120, 6)
	rule := by(ruleClasses,
		fmt.Sprintf("softmax model over %d classes by %d noisy gradient steps, clipping norm %.3g on the whole gradient", classes, c.Steps, c.ClippingNorm),
		fmt.Sprintf("r = %.4g", r))
	rule.Changes = fmt.Sprintf("expect nothing below r = %d (%d per class)", perClass*classes, perClass)
	c.Rules = append(c.Rules, rule, enc, attributesRule(f), NoSearchRule(r))
	c.Rules = append(c.Rules, wide...)
	if !c.Useful {
		c.Rules = append(c.Rules, nearBaseline("majority class", perClass*classes))
	}
	return c
}

func regression(f Facts, r float64) Recipe {
	c := Recipe{Learner: Descent, Useful: true, ClippingNorm: 0.01}
	c.Encoding = encode.Options{Bins: 8, Attributes: f.Attributes, Crosses: true}
	rule := by(ruleProducts, "", fmt.Sprintf("r = %.4g is at least %d", r, productsFrom))
	if r < productsFrom {
		c.Encoding = encode.Options{Linear: true, Attributes: f.Attributes}
		rule = by(ruleNoProducts, "", fmt.Sprintf("r = %.4g is below %d", r, productsFrom))
	}
	wide := f.bag(&c.Encoding)
	c.LogTarget = heavyTarget(f)
	if !c.LogTarget && r >= productsFrom && amount(f) {
		c.LogTarget, c.Bend = true, amountBend
		wide = append(wide, by(ruleAmount, "", fmt.Sprintf("the bounds of %s are %.4g apart", f.Target, f.span())))
	}
	if r < low {
		c.ClippingNorm, c.LogTarget = 0.02, f.Schema.Columns[f.Schema.Column(f.Target)].Lower >= 0
	}
	c.steps(f, math.Pow(r, 0.75), 30, 20, 400, 3.5)
	c.Rules = append(c.Rules, by(ruleRegression,
		fmt.Sprintf("linear model by %d noisy steps on residuals clipped at %.2g of half the target's range: close to a least-absolute-error fit, it predicts a median rather than a mean", c.Steps, c.ClippingNorm),
		fmt.Sprintf("r = %.4g; squared loss has no bounded gradient", r),
	), rule, attributesRule(f), NoSearchRule(r))
	c.Rules = append(c.Rules, wide...)
	if r < low {
		c.Rules = append(c.Rules, nearBaseline("mean", low))
	}
	return c
}

// additive says whether curves, and pairs of columns, are worth their price.
func (f Facts) additive(r float64) bool {
	least, taught := float64(additiveNumber), float64(additiveNumber)
	if f.Task == model.Classification {
		if least, taught = additiveClass, taughtClass; levels(f) > 2 {
			return false
		}
	}
	bag, other := 0, 0
	f.each(func(c *schema.Column) {
		if encode.Baggable(c) {
			bag++
		}
		if c.Wide() || len(c.Levels()) > learn.MostLevels {
			other++
		}
	})
	whole := !slices.ContainsFunc(f.Attributes, func(name string) bool { return f.Schema.Column(name) < 0 })
	effective := learn.EffectiveRatio(r, f.Rows)
	return f.Several && f.Learner == "" && whole && bag < bagFrom && other == 0 &&
		(effective >= least || effective+f.Public/2 >= taught) && samplingRate(f, int(learn.MostSteps*lotRate(f))) == 1 && f.holds(learn.KindOf(string(Additive)))
}

// holds says whether the cells of all columns together are few enough for a model.
func (f Facts) holds(k learn.Kind) bool {
	o := *k.Encoding
	o.Attributes = f.Attributes
	enc, err := encode.New(f.Schema, f.Target, o)
	return err == nil && enc.Fits(k.MoreLevels)
}

func additive(f Facts, r float64) Recipe {
	c := Recipe{Learner: Additive, Useful: true, SamplingRate: lotRate(f), Encoding: *learn.KindOf(string(Additive)).Encoding, LogTarget: heavyTarget(f)}
	c.Encoding.Attributes = f.Attributes
	c.Rules = []Rule{by(ruleAdditive, "", fmt.Sprintf("r = %.4g with %.0f rows to train", r, f.Rows)), attributesRule(f), NoSearchRule(r)}
	c.bend(f)
	return c
}

// bend sets the scale that an additive model takes of an amount unless its released marginal chooses the logarithm.
func (c *Recipe) bend(f Facts) {
	if f.Task == model.Regression && !c.LogTarget && amount(f) {
		c.Bend = amountBend
		c.Rules = append(c.Rules, by(ruleAmount, "", fmt.Sprintf("the bounds of %s are %.4g apart; the released marginal may choose the whole logarithm", f.Target, f.span())))
	}
}

// amount says that the target's bounds are so far apart that most rows lie in the lower part of the
// range, as those of money do.
func amount(f Facts) bool { return f.span() >= amountFrom }

// span is the distance of the bounds of a target that is a number.
func (f Facts) span() float64 {
	c := &f.Schema.Columns[f.Schema.Column(f.Target)]
	return c.Upper - c.Lower
}

// heavyTarget says that the target is declared as an amount over several powers of ten: trained
// on its logarithm, a model need not be exact on the largest alone.
func heavyTarget(f Facts) bool {
	c := &f.Schema.Columns[f.Schema.Column(f.Target)]
	return f.Task == model.Regression && (c.HeavyTailed || c.Lower > 0 && c.Upper >= decades*c.Lower)
}

// byName is the recipe of a learner that is never the rule's own choice, or rarely.
func byName(f Facts, k learn.Kind) Recipe {
	c := Recipe{Learner: f.Learner, Useful: true, SamplingRate: 1, Encoding: *k.Encoding, LogTarget: f.Learner == Additive && heavyTarget(f)}
	c.Encoding.Attributes = f.Attributes
	if f.Learner == Additive {
		c.SamplingRate = lotRate(f)
	}
	c.Rules = []Rule{by(asked(f.Learner), "", "asked for"), attributesRule(f)}
	if f.Learner == Additive {
		c.bend(f)
	}
	return c
}

// pure covers requests for δ = 0.
func pure(f Facts) (Recipe, error) {
	n := f.Rows * f.Epsilon / float64(f.Schema.Unit.MaxRows)
	asked := learn.KindOf(string(f.Learner))
	if f.Learner != "" && !asked.Pure {
		if f.Task == model.Regression {
			return Recipe{}, fmt.Errorf("a regression needs delta > 0: at delta 0 only the mean can be released")
		}
		return Recipe{}, fmt.Errorf("model %q needs delta > 0; at delta 0 use %s", f.Learner, strings.Join(pureLearners(f.Task), " or "))
	}
	if f.Task == model.Regression {
		c := constant(f, n, "delta is 0, and no regression with pure epsilon is offered")
		c.Rules[0].Changes = "a delta above 0"
		return c, nil
	}
	switch f.Learner {
	case Majority:
		return constant(f, n, "asked for"), nil
	case "":
		if attributeCount(f) == 0 {
			return constant(f, n, "there is no column to predict from"), nil
		}
		// The direction of a class difference has to stand out of a noise whose norm
		// grows with the number of coordinates; the recipe's own threshold on r maps
		// to about 100 rows·ε.
		if n < hopelessPure {
			return constant(f, n, fmt.Sprintf("n·ε = %.3g is below %d", n, hopelessPure)), nil
		}
	}
	return Recipe{Learner: Objective, Useful: true, SamplingRate: 1,
		Encoding: encode.Options{Linear: true, Attributes: f.Attributes},
		Rules:    []Rule{by(rulePure, "", "delta is 0: the guarantee is pure epsilon"), attributesRule(f)}}, nil
}

// pureLearners are those of a task at delta 0.
func pureLearners(task model.Task) (names []string) {
	for _, name := range learn.Names() {
		if k := learn.KindOf(name); k.Pure && k.Fits(task) {
			names = append(names, name)
		}
	}
	return names
}

// Unclipped is the factor by which the clipping norm has to grow to reach 1, the
// largest norm of a logistic gradient on a row of norm 1.
func (c Recipe) Unclipped() float64 {
	if c.ClippingNorm == 0 {
		return 1
	}
	return 1 / c.ClippingNorm
}

// Scaled returns the recipe with its clipping norm and total movement multiplied;
// steps and rate follow. It is how candidates around the rule are made.
func (c Recipe) Scaled(clip, movement float64) Recipe {
	if c.Learner != Descent {
		return c
	}
	c.ClippingNorm *= clip
	// The movement in units of the clipping norm is rate·steps/(1−momentum).
	total := c.LearningRate * float64(c.Steps) * movement / clip
	c.Steps = max(c.Steps, int(math.Ceil(total/c.MaxRate)))
	c.LearningRate = total / float64(c.Steps)
	return c
}
