package advise

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Derived is a threshold of the rules beside what the measured table says of it.
type Derived struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Rule is the threshold in the rules, +Inf for never.
	Rule float64 `json:"-"`
	// Low and High bound the thresholds that are as good as any on the table: their mean
	// loss is within tolerance of the smallest. Both are NaN where the table cannot say.
	Low  float64 `json:"-"`
	High float64 `json:"-"`
	// Loss is the mean loss in points of the rules' threshold, Least the smallest.
	Loss  float64 `json:"loss_of_rule"`
	Least float64 `json:"least_loss"`
	Cells int     `json:"cells"`
	// Agrees says that the rules' threshold is one of the best, or that the table cannot
	// say. Remark is then empty or says more; otherwise it says why the rules differ.
	Agrees bool   `json:"agrees"`
	Remark string `json:"remark"`
}

// tolerance is the mean loss in points that does not tell two thresholds apart.
const tolerance = 0.1

// RuleWords and TableWords print the threshold and the range.
func (d Derived) RuleWords() string { return thresholdWords(d.Rule) }

func (d Derived) TableWords() string {
	switch {
	case math.IsNaN(d.Low):
		return "not measured"
	case d.Low == 0 && math.IsInf(d.High, 1):
		return "any"
	case math.IsInf(d.High, 1):
		return "above " + thresholdWords(d.Low)
	case d.Low == 0:
		return "up to " + thresholdWords(d.High)
	}
	return thresholdWords(d.Low) + " to " + thresholdWords(d.High)
}

func thresholdWords(x float64) string {
	if math.IsInf(x, 1) {
		return "never"
	}
	return fmt.Sprintf("%.4g", x)
}

// MarshalJSON writes thresholds as words, since "never" is no number.
func (d Derived) MarshalJSON() ([]byte, error) {
	type view Derived
	return json.Marshal(struct {
		view
		Rule  string `json:"rule"`
		Table string `json:"table"`
	}{view(d), d.RuleWords(), d.TableWords()})
}

// choice is a threshold between two entries: below it one is taken, from it the other.
type choice struct {
	name, what, remark string
	rule               float64
	below, from        []string
	cells              func(MenuCell) bool
	at                 func(MenuCell) float64
}

func byRatio(c MenuCell) float64   { return c.Ratio }
func byEpsilon(c MenuCell) float64 { return c.Epsilon }

var choices = []choice{
	{
		name: "hopeless", what: "smallest r at which a classifier is trained", rule: hopeless,
		below: []string{string(Majority)}, from: []string{string(Descent)},
		cells: func(c MenuCell) bool { return c.Task == "classification" }, at: byRatio,
	},
	{
		name: "hopeless-number", what: "smallest r at which a regression is trained", rule: hopelessNumber,
		remark: "below it a released mean is worse still on insurance, but neither reaches the mean of the rows, and one data set is little evidence",
		below:  []string{string(Mean)}, from: []string{string(Descent)},
		cells: func(c MenuCell) bool { return c.Task == "regression" }, at: byRatio,
	},
	{
		name: "hopeless-pure", what: "rows·epsilon from which a model is trained at delta 0", rule: hopelessPure,
		remark: "WDBC is above its majority from 38, Breast Cancer below it up to 95: the rules take the cautious value",
		below:  []string{string(Majority)}, from: []string{string(Objective)},
		cells: func(MenuCell) bool { return true }, at: func(c MenuCell) float64 { return float64(c.Rows) * c.Epsilon },
	},
	{
		name: "ebm", what: "r from which boosted shape functions are taken for a class", rule: math.Inf(1),
		remark: "above 700 there is only Adult: income gains 0.5 to 0.9 points from r = 7,700, sex loses 0.2 (rule search-kinds); from 40,000 --preset thorough tries both",
		below:  []string{string(Descent)}, from: []string{"ebm"},
		cells: func(c MenuCell) bool {
			return c.Task == "classification" && c.Kind == TableKind && c.Ratio >= low
		}, at: byRatio,
	},
	{
		name: "ebm-regression", what: "r from which boosted shape functions are taken for a number", rule: math.Inf(1),
		below: []string{string(Descent)}, from: []string{"ebm"},
		cells: func(c MenuCell) bool { return c.Task == "regression" }, at: byRatio,
	},
	{
		name: "moments", what: "r from which moments (normal equations, AdaSSP) are taken for a number", rule: math.Inf(1),
		below: []string{string(Descent)}, from: []string{"normal-equations", "adassp"},
		cells: func(c MenuCell) bool { return c.Task == "regression" }, at: byRatio,
	},
	{
		name: "other-convex", what: "r from which output or minima perturbation is taken", rule: math.Inf(1),
		below: []string{string(Descent)}, from: []string{"output-perturbation", "amp"},
		cells: func(c MenuCell) bool { return c.Kind == TableKind && c.Ratio >= low }, at: byRatio,
	},
	{
		name: "naive-bayes", what: "r up to which naive Bayes is taken", rule: 0,
		below: []string{"naive-bayes"}, from: []string{string(Descent)},
		cells: func(c MenuCell) bool { return c.Kind == TableKind && c.Ratio >= low }, at: byRatio,
	},
	{
		name: "image-networks", what: "epsilon from which a network is taken for images", rule: math.Inf(1),
		below: []string{"scatter-linear"}, from: []string{"arous-cnn", "mnist-fcn-150"},
		cells: func(c MenuCell) bool { return c.Kind == ImageKind }, at: byEpsilon,
	},
	{
		name: "scatter", what: "r from which scattering is taken in place of pixels", rule: scatterFrom,
		below: []string{"features-linear"}, from: []string{"scatter-linear"},
		cells: func(c MenuCell) bool { return c.Kind == ImageKind }, at: byRatio,
	},
}

// elsewhere are thresholds that no two entries of the menu differ by.
var elsewhere = []Derived{
	{Name: "low", What: "r from which numeric columns are a thermometer", Rule: low, Remark: "encodings were varied on WDBC and Breast Cancer at fixed learners, which the menu does not do"},
	{Name: "named-attributes", What: "r below which named attributes help", Rule: namedBelow, Remark: "Adult and WDBC with lists from their documentation; the menu takes all attributes"},
	{Name: "products", What: "r from which a regression has products", Rule: productsFrom, Remark: "insurance, encodings varied at a fixed learner"},
	{Name: "amount", What: "distance of a target's bounds from which its scale is bent", Rule: amountFrom, Remark: "eleven targets of tables, both scales at a fixed learner"},
	{Name: "fine-bins", What: "r from which a thermometer has 63 thresholds", Rule: fineFrom, Remark: "Adult: 64 bins gain 0.1 points above it"},
	{Name: "bag", What: "columns from which they are one bag", Rule: bagFrom, Remark: "Enron and location30, both forms at a fixed learner"},
	{Name: "images-pooled", What: "scattering features for each unit of r, up to which they are not pooled", Rule: perPooled, Remark: "600 to 3,000 images of MNIST, Fashion-MNIST and CIFAR-10 (rule images-pooled)"},
	{Name: "images-centred", What: "r from which the mean of scattering features is released", Rule: pooledFrom, Remark: "300 to 1,000 images of both (rule images-uncentred)"},
	{Name: "images-guess", What: "r from which a linear model of images beats a guess", Rule: hopelessImages, Remark: "100 to 10,000 images of MNIST and Fashion-MNIST (rules images-pixels, images-guess); the menu trains on 60,000"},
	{Name: "search", What: "r from which a private search may pay", Rule: searchFrom, Remark: "Adult and WDBC, the rule against a search at one total ε; the menu has no searches"},
}

// Derive reads the thresholds off a table, all of them by one method: of every place
// between two neighbouring cells the mean loss, that is how far what the threshold
// takes lies behind the better of the two.
func Derive(m Menu) []Derived {
	var out []Derived
	for _, c := range choices {
		out = append(out, c.derive(m))
	}
	for _, d := range elsewhere {
		d.Low, d.High, d.Agrees = math.NaN(), math.NaN(), true
		out = append(out, d)
	}
	return out
}

// contest is one cell's: where it lies and by how much the entry above the threshold is
// better.
type contest struct{ at, gain float64 }

func (c choice) contests(m Menu) []contest {
	var out []contest
	seen := map[string]bool{}
	for _, cell := range m {
		key := fmt.Sprint(cell.Data, " ", cell.Epsilon)
		if !c.cells(cell) || seen[key] {
			continue
		}
		below, okBelow := m.best(cell, c.below)
		from, okFrom := m.best(cell, c.from)
		if seen[key] = true; okBelow && okFrom {
			out = append(out, contest{c.at(cell), from - below})
		}
	}
	slices.SortFunc(out, func(a, b contest) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return out
}

// best is the largest mean of the named entries in the cell's place.
func (m Menu) best(cell MenuCell, entries []string) (float64, bool) {
	best, ok := math.Inf(-1), false
	for _, e := range entries {
		if c, there := m.Find(cell.Data, cell.Epsilon, e); there {
			best, ok = max(best, c.Mean()), true
		}
	}
	return best, ok
}

// loss is the mean loss of a threshold.
func loss(all []contest, threshold float64) float64 {
	sum := 0.0
	for _, c := range all {
		if (c.at >= threshold) != (c.gain > 0) {
			sum += math.Abs(c.gain)
		}
	}
	return sum / float64(len(all))
}

func (c choice) derive(m Menu) Derived {
	d := Derived{Name: c.name, What: c.what, Rule: c.rule, Remark: c.remark, Low: math.NaN(), High: math.NaN(), Agrees: true}
	all := c.contests(m)
	if d.Cells = len(all); len(all) == 0 {
		d.Remark = "no cell has both"
		return d
	}
	// A threshold at a cell's place takes the entry above there; +Inf takes it nowhere.
	places := []float64{}
	for _, x := range all {
		if len(places) == 0 || places[len(places)-1] != x.at {
			places = append(places, x.at)
		}
	}
	places = append(places, math.Inf(1))
	d.Least = math.Inf(1)
	for _, p := range places {
		d.Least = min(d.Least, loss(all, p))
	}
	d.Loss = loss(all, c.rule)
	for i, p := range places {
		if loss(all, p) > d.Least+tolerance {
			continue
		}
		// Every threshold above the place before does the same as this one.
		if math.IsNaN(d.Low) {
			d.Low = 0
			if i > 0 {
				d.Low = places[i-1]
			}
		}
		d.High = p
	}
	d.Agrees = d.Loss <= d.Least+tolerance
	return d
}
