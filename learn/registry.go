package learn

import (
	"context"
	"maps"
	"slices"

	"pawl/core/intake"
	"pawl/data/encode"
	"pawl/model"
)

// Kind is a way to train a model of a table: what people call it, what it is offered for,
// and how it is made of public facts. Each stands in the file of its learner and registers
// itself; nothing else in the program lists learners.
type Kind struct {
	// Name is what --model calls it. Title is the learner's own name, which statements use.
	Name, Title string
	// Classes and Numbers say which targets it predicts.
	Classes, Numbers bool
	// Pure and Approximate say whether it is offered at delta 0 and above.
	Pure, Approximate bool
	// Encoding is that of a learner that is asked for by name; nil where the rules of the
	// advice choose it with the rest of the recipe.
	Encoding *encode.Options
	// Bins is the number of bins of a numeric column for a task and a signal ratio; nil
	// where the encoding says it. Binned says that the model looks at bins alone.
	Bins   func(task model.Task, ratio float64) int
	Binned bool
	// Vectors says that it takes columns of vectors beside single values, and Texts that it
	// takes texts too.
	Vectors, Texts bool
	// MostLevels bounds the categories of a column, 0 for any number. MoreLevels is how many levels
	// a training may add to those of its encoding: all have to fit one model.
	MostLevels, MoreLevels int
	// MostCoordinates bounds the coordinates of an encoded row, 0 for any number.
	MostCoordinates int
	// Weights says that the learner takes class weights, Monotone that it holds the effects of
	// columns to a direction.
	Weights, Monotone bool
	// Guideline is the advice for a learner that is asked for by name.
	Guideline Guideline
	// New makes the learner. It keeps no error for later: what does not fit is found when
	// the event is priced or the rows are fitted.
	New func(s Settings) Learner
}

// Guideline says what is known of a learner, as the rules of the advice do.
type Guideline struct {
	// Advice is what it does, Published what the papers measured, Measured what we did,
	// Changes what would change the advice.
	Advice, Published, Measured, Changes string
}

// Settings are the public facts that a learner is made of.
type Settings struct {
	Task
	Encoding *encode.Encoding
	// NoiseMultiplier is that of one Gaussian release at what is left for training, 0 at
	// delta 0; Epsilon and Delta are that rest themselves. Ratio is training rows over the
	// multiplier, NaN where one of them is unknown.
	NoiseMultiplier, Epsilon, Delta, Ratio float64
	// ChooseScale lets a learner that releases the target's marginal choose its scale by it.
	ChooseScale bool
	// ClassWeights are public factors in (0, 1] on the losses of the classes, nil for 1, for
	// learners that take them.
	ClassWeights []float64
	// ClippingNorm, Steps, LearningRate and Momentum belong to descents.
	ClippingNorm           float64
	Steps                  int
	LearningRate, Momentum float64
	// Movement is the part of its own movement that a learner makes which starts from a model of
	// public rows (Taught); 0 for all of it. A descent's rate and steps follow it already.
	Movement float64
}

// Fits says whether the learner predicts targets of a task.
func (k Kind) Fits(task model.Task) bool {
	return task == model.Classification && k.Classes || task == model.Regression && k.Numbers
}

// Watched is a learner that tells how far it is.
type Watched interface {
	Watch(progress func(done, of int))
}

// Taught is a learner that may start from a model of public rows. Teach trains that model without
// noise; s is what a training on these rows alone would be made of. It works on rows of public
// data sets only, and comes before Fit.
type Taught interface {
	Teach(ctx context.Context, rows *intake.Rows, s Settings) error
}

// Sampled is a learner whose steps may take lots of rows. Sample sets the chance with which a unit joins a step, and
// the noise at which Event has the price that was asked; what it multiplies is the learner's own.
type Sampled interface {
	Learner
	Sample(rate, noise float64)
}

// Regularized is a learner with a regularization that a search may vary.
type Regularized interface{ ScaleRegularization(factor float64) }

var kinds = map[string]Kind{}

// register adds a kind while the program starts. It panics where that would leave a gap.
func register(k Kind) bool {
	if _, twice := kinds[k.Name]; twice || !(k.Classes || k.Numbers) || !(k.Pure || k.Approximate) || k.Encoding != nil && k.Guideline.Advice == "" {
		panic("learn: learner " + k.Name + " is registered twice or in part")
	}
	k.Title = k.New(Settings{}).Name()
	kinds[k.Name] = k
	return true
}

// Names lists the learners in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// KindOf returns a kind by its name, and one without a name for none.
func KindOf(name string) Kind { return kinds[name] }

// Removed names, for a learner that earlier versions had, the one to ask for. Models that it
// trained still predict.
var Removed = map[string]string{"normal-equations": "adassp"}

// Titled returns the kind whose learners call themselves title.
func Titled(title string) (Kind, bool) {
	for _, k := range kinds {
		if k.Title == title {
			return k, true
		}
	}
	return Kind{}, false
}

// NothingPublished stands in a guideline for which the papers have no measurement.
const NothingPublished = "no measurement of this in the papers"
