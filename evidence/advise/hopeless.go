package advise

import (
	"fmt"

	"pawl/model"
)

// The names of the rules by which a job is not worth its price.
const (
	stopUnits   = "stop-few-units"
	stopSignal  = "stop-small-r"
	stopClasses = "stop-many-classes"
	stopColumns = "stop-no-columns"
	stopStep    = "stop-step"
)

const (
	// fewUnits: below it so few train, and so few score, that nothing can be shown.
	fewUnits = 50
	// perImageClass times the classes: below it a network's images tell nothing, from 10 on.
	perImageClass = 1.5
	// A learning rate has a use from shortStep to longStep times the rule's, and a clipping
	// norm from leastNorm to mostNorm.
	shortStep, longStep = 1e-3, 1e4
	leastNorm, mostNorm = 1e-6, 1e4
)

// stops are the guidelines by which a job ends before its charge, unless it is to run all the
// same.
var stops = []Guideline{
	{
		Name:      stopUnits,
		When:      fmt.Sprintf("fewer than %d units to train on: rows over the most rows of a unit", fewUnits),
		Advice:    "stop: too few units",
		Published: nothingPublished,
		Measured:  "42 persons of 140 rows (Parkinson's telemonitoring) at r = 8.6: R² −1.1 for ε 1; Breast Cancer, 190 rows, is above the majority from ε 1",
		Changes:   "more units, or a smaller rows_per_unit where units have fewer rows",
	},
	{
		Name:      stopSignal,
		When:      fmt.Sprintf("r below %d; of a number below %d, or %d where a unit has several rows; images below %d; at delta 0, rows·epsilon below %d", hopeless, hopelessNumber, hopeless, hopelessImages, hopelessPure),
		Advice:    "stop: only a constant can be learned",
		Published: "as rule " + ruleConstant,
		Measured:  "as rules " + ruleConstant + " and " + ruleGuess,
		Changes:   "more rows or a larger epsilon: r grows with both; --model majority or mean fits the constant",
	},
	{
		Name:      stopClasses,
		When:      fmt.Sprintf("three classes or more, r below %d for each; images below %g for each", perClass, perImageClass),
		Advice:    "stop: too many classes for the budget",
		Published: nothingPublished,
		Measured:  "location30 (30 classes) at ε 0.1: r = 115, below 150, 7 %; that images need as much for each class as the ten of MNIST do is an extrapolation",
		Changes:   "fewer classes (merge rare ones in the schema), more rows or a larger epsilon",
	},
	{
		Name:      stopColumns,
		When:      "the schema uses no column other than the target",
		Advice:    "stop: only a constant can be predicted",
		Published: nothingPublished,
		Measured:  "nothing to measure: there is nothing to predict from",
		Changes:   "declare more columns; --model majority or mean fits the constant",
	},
	{
		Name:      stopStep,
		When:      fmt.Sprintf("a learning rate below %g or above %g times the rule's, or a clipping norm below %g or above %g", shortStep, longStep, leastNorm, mostNorm),
		Advice:    "stop: these steps cannot train a model",
		Published: "Mohapatra et al., Figs. 8–11: what decides is the effective step, and good ones lie within a factor of ten",
		Measured:  "one learning rate for all, a tenth or a hundredth of the best, costs networks of images 20 to 46 points",
		Changes:   "leave the flag out: the rule's value follows from the noise",
	},
}

// Hopeless returns the rules by which a job on a table is not worth its price, by public facts;
// none where the number of rows is not public (Rows is 0), or a constant is asked for. dense
// says that rows are images or other numbers beside the schema.
func Hopeless(f Facts, dense bool) (why []Rule) {
	if f.Learner == Majority || f.Learner == Mean {
		return nil
	}
	if !dense && attributeCount(f) == 0 {
		why = append(why, by(stopColumns, "", "there is nothing to predict from"))
	}
	if !(f.Rows > 0) {
		return why
	}
	k := max(f.Schema.Unit.MaxRows, 1)
	if units := f.Rows / float64(k); units < fewUnits {
		because := fmt.Sprintf("about %.0f rows train", f.Rows)
		if k > 1 {
			because += fmt.Sprintf(", which with up to %d of one unit count as %.0f units", k, units)
		}
		why = append(why, by(stopUnits, "", fmt.Sprintf("%s, fewer than %d", because, fewUnits)))
	}
	if f.Delta == 0 {
		if n := f.Rows * f.Epsilon / float64(k); f.Task == model.Classification && n < hopelessPure {
			why = append(why, by(stopSignal, "", fmt.Sprintf("rows·epsilon = %.3g is below %d", n, hopelessPure)))
		}
		return why
	}
	if !(f.NoiseMultiplier > 0) {
		return why // so large an epsilon that no noise is needed
	}
	return append(why, f.drowned(f.SignalRatio(), k, dense)...)
}

// drowned are the rules on r.
func (f Facts) drowned(r float64, k int, dense bool) []Rule {
	below := func(name string, least float64, what string) []Rule {
		if r >= least {
			return nil
		}
		return []Rule{by(name, "", fmt.Sprintf("r = %.3g is below %g%s", r, least, what))}
	}
	classes := 0
	if f.Task == model.Classification {
		classes = levels(f)
	}
	switch {
	case dense && perImageClass*float64(classes) > hopelessImages:
		return below(stopClasses, perImageClass*float64(classes), fmt.Sprintf(", %g for each of %d classes", perImageClass, classes))
	case dense:
		return below(stopSignal, hopelessImages, "")
	case classes > 2:
		return below(stopClasses, float64(perClass*classes), fmt.Sprintf(", %d for each of %d classes", perClass, classes))
	case classes == 0 && k == 1:
		return below(stopSignal, hopelessNumber, "")
	}
	return below(stopSignal, hopeless, "")
}

// Step is what there is to say against a learning rate, as a part of the rule's, and a clipping
// norm; rate is 1 where the rule's is taken.
func Step(rate, norm float64) (why []Rule) {
	if rate < shortStep || rate > longStep {
		why = append(why, by(stopStep, "", fmt.Sprintf("the learning rate is %.2g times the rule's", rate)))
	}
	if norm < leastNorm || norm > mostNorm {
		because := fmt.Sprintf("clipping norm %.3g: no gradient is nearly as long, and the noise grows with it", norm)
		if norm < 1 {
			because = fmt.Sprintf("clipping norm %.3g: what is left of a gradient is lost in the last digits of the parameters", norm)
		}
		why = append(why, by(stopStep, "", because))
	}
	return why
}
