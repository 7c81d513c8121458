package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/data/dataset"
	"pawl/data/schema"
)

// Question is what advice is asked for: public facts alone.
type Question struct {
	// Data names a data set or schema; empty where only numbers were given.
	Data string `json:"data,omitempty"`
	Kind Kind   `json:"kind"`
	Task string `json:"task"`
	// Rows are those of the data set, Training those that train.
	Rows     float64 `json:"rows"`
	Training float64 `json:"training_rows"`
	// PerUnit is the most rows of one unit, 0 for one.
	PerUnit int `json:"rows_per_unit,omitempty"`
	// Attributes are the columns that a model may use, Numeric those that are numbers.
	Attributes int `json:"attributes,omitempty"`
	Numeric    int `json:"numeric,omitempty"`
	Classes    int `json:"classes,omitempty"`
	// Shape is that of images: height, width, channels.
	Shape           []int   `json:"shape,omitempty"`
	Epsilon         float64 `json:"epsilon"`
	Delta           float64 `json:"delta"`
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"`
	// Ratio is r = n/(k·σ₁); 0 at δ = 0, where rows·ε decides.
	Ratio float64 `json:"r,omitempty"`
	// Assumed are facts that were not given and how they were taken.
	Assumed []string `json:"assumed"`
}

// AppliedRule is a rule that fired, with its threshold.
type AppliedRule struct {
	Name      string `json:"name"`
	When      string `json:"when"`
	Advice    string `json:"advice"`
	Because   string `json:"because"`
	Published string `json:"published"`
	Measured  string `json:"measured"`
	Changes   string `json:"would_change"`
}

// Choice is the advice in a few words.
type Choice struct {
	// Entry is what --model calls it.
	Entry     string `json:"entry"`
	Useful    bool   `json:"useful_model"`
	Features  string `json:"features"`
	Encoding  string `json:"encoding"`
	Model     string `json:"model"`
	Optimizer string `json:"optimizer"`
	Tuning    string `json:"tuning"`
	Search    string `json:"search"`
	// SearchPays is whether a paid search is worth its price.
	SearchPays bool `json:"search_pays"`
}

// Answer is the advice with its reasons.
type Answer struct {
	Facts  Question `json:"facts"`
	Advice Choice   `json:"advice"`
	// Warning is what to read first: why no useful model is to be expected. "" for none.
	Warning        string        `json:"warning,omitempty"`
	Rules          []AppliedRule `json:"rules"`
	Confidence     Confidence    `json:"confidence"`
	Expect         Expectation   `json:"expect"`
	Next           string        `json:"next"`
	Reconstruction string        `json:"reconstruction"`
	// OneRelease is what the noise multiplier of the facts costs.
	OneRelease *Release `json:"one_release,omitempty"`
}

// Has says whether the named rule fired.
func (a *Answer) Has(name string) bool {
	return slices.ContainsFunc(a.Rules, func(r AppliedRule) bool { return r.Name == name })
}

func (a *Answer) apply(rules []Rule) {
	for _, r := range rules {
		applied := AppliedRule{r.Name, "", r.Rule, r.Because, r.Published, r.Evidence, r.Changes}
		if i := slices.IndexFunc(Guidelines, func(g Guideline) bool { return g.Name == r.Name }); i >= 0 {
			applied.When = Guidelines[i].When
		}
		a.Rules = append(a.Rules, applied)
	}
}

// said returns the advice of the first of the named rules that fired.
func (a *Answer) said(names ...string) string {
	var all []string
	for _, n := range names {
		for _, r := range a.Rules {
			if r.Name == n {
				all = append(all, r.Advice)
			}
		}
	}
	return strings.Join(all, "; ")
}

// ForTable puts the recipe of a plan into words. The recipe is the one that `pawl fit`
// follows: this function decides nothing.
func ForTable(q Question, r Recipe) *Answer {
	a := &Answer{Facts: q, Reconstruction: Reconstruction, OneRelease: q.release()}
	rules := r.Rules
	if q.Numeric == 0 && q.Kind != TableKind {
		// Rules on numbers fire beside a text or a vector, and have nothing to encode.
		rules = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
			return slices.Contains([]string{ruleThermometer, ruleAffine, ruleProducts, ruleNoProducts}, r.Name)
		})
	}
	a.apply(rules)
	a.closing()
	a.Advice = Choice{
		Entry: string(r.Learner), Useful: r.Useful,
		Features: a.said(ruleNamed, ruleAll), Encoding: a.said(ruleThermometer, ruleAffine, ruleProducts, ruleNoProducts, ruleBag, ruleText, ruleVectors),
		Model: a.said(append([]string{ruleConstant, ruleBinary, ruleClasses, ruleRegression, ruleAdditive, rulePure}, askedRules()...)...),
	}
	c := &a.Advice
	switch r.Learner {
	case Descent:
		if alone := a.said(ruleText, ruleVectors); q.Attributes == 1 && alone != "" {
			c.Encoding = alone
		}
		c.Optimizer = fmt.Sprintf("gradient descent on all rows, %d noisy steps, momentum %g, learning rate %.3g, clipping norm %.3g, mean of the last half of the steps", r.Steps, r.Momentum, r.LearningRate, r.ClippingNorm)
		if r.SamplingRate < 1 {
			c.Optimizer += fmt.Sprintf("; each row joins a step with probability %.2g", r.SamplingRate)
		}
		c.Tuning = "none: steps, rate and clipping norm follow from r"
	case Additive:
		c.Encoding = fmt.Sprintf("numeric columns as %d cells, weighed by their released marginals", r.Encoding.Bins)
		c.Optimizer = "gradient descent on all rows, twice where pairs are looked for, momentum 0.9, mean of the last half of the steps"
		if r.SamplingRate < 1 {
			c.Optimizer += fmt.Sprintf("; each row joins a step with probability %.2g", r.SamplingRate)
		}
		c.Tuning = "none: steps, rate and clipping norm follow from r and the rows"
	case Majority, Mean:
		c.Features, c.Encoding, c.Optimizer, c.Tuning = "none", "none", "none: one noisy release", "none"
	default:
		c.Encoding = tableEncoding(r)
		c.Optimizer, c.Tuning = "none: a convex problem, solved exactly, or releases of sums", "none: regularization follows from the noise"
	}
	a.searching()
	return a.evidence()
}

func tableEncoding(r Recipe) string {
	if r.Encoding.Linear {
		return "numeric columns as one affine coordinate, categories one-hot, every attribute a block of norm 1"
	}
	return fmt.Sprintf("numeric columns as %d bins, categories one-hot", r.Encoding.Bins)
}

// ForImages is ForTable for images, or for rows of features.
func ForImages(q Question, r ImageRecipe) *Answer {
	a := &Answer{Facts: q, Reconstruction: Reconstruction, OneRelease: q.release()}
	a.apply(r.Rules)
	a.closing()
	const noData = ", which depend on no data"
	features := map[string]string{
		scatterLinear: "scattering features" + noData, scatterMirror: "scattering features of an image and its mirror image" + noData,
		scatterPooled: "pooled scattering features" + noData, scatterMirrorPooled: "pooled scattering features of an image and its mirror image" + noData,
		scatterUncentred: "scattering features" + noData, scatterMirrorUncentred: "scattering features of an image and its mirror image" + noData,
		"features-linear": "the features as they are", "logistic": "the numbers as they are",
	}[r.Model]
	if r.Model == "features-linear" && q.Kind == ImageKind {
		features = "the pixels"
	}
	a.Advice = Choice{
		Entry: r.Model, Useful: r.Useful, Features: features, Encoding: "rows of one norm; of scattering features the mean is released and taken off",
		Model: a.said(ruleScatter, rulePixels, ruleFeatures), Optimizer: "DP-SGD with momentum 0.9, " + a.said(ruleLots) + ", mean of the last quarter of the steps",
		Tuning: "none: the learning rate follows from the noise (lr·C = κB/(σ√T·R))",
	}
	if !a.Has(ruleScatter) || a.Has(ruleUncentred) {
		a.Advice.Encoding = "rows of one norm"
	}
	a.searching()
	return a.evidence()
}

// closing adds what holds for every job.
func (a *Answer) closing() {
	because := "r and rows·ε grow in proportion to the rows"
	a.apply([]Rule{by(ruleMoreRows, "", because), by(ruleAfterTraining, "", "every release counts")})
	if a.Facts.Kind == ImageKind {
		a.apply([]Rule{by(ruleFixedNetwork, "", "only if a network is prescribed"), by(ruleBanded, "", "only if a network is prescribed"), by(rulePublic, "", "only if there is one")})
	}
}

// searching says whether a search pays.
func (a *Answer) searching() {
	c := &a.Advice
	r := a.Facts.Ratio
	switch {
	case a.Has(ruleSearch):
		c.Search, c.SearchPays = "pays: "+a.said(ruleSearch), true
	case !c.Useful || a.Facts.Delta == 0:
		c.Search = "none: there is nothing to choose between"
	case a.Facts.network():
		c.Search = "none: a linear model with a data-free learning rate leaves little to find; a private search halves what is left for training, or worse (pawl plan search shows its price)"
	case r < searchFrom:
		c.Search = fmt.Sprintf("does not pay: r = %.3g is below %d", r, searchFrom)
	default:
		c.Search = fmt.Sprintf("may pay between kinds of model: r = %.3g is at least %d; pawl plan search shows the prices, and from %d --preset thorough chooses between kinds for classes", r, searchFrom, kindsFrom)
		c.SearchPays = true
	}
}

// Of returns the kind of a schema's columns that a model may use.
func Of(s *schema.Schema, target string) (kind Kind, attributes, numeric int) {
	kind = TableKind
	Facts{Schema: s, Target: target}.each(func(c *schema.Column) {
		attributes++
		switch c.Type {
		case schema.Text:
			kind = TextKind
		case schema.Vector:
			kind = VectorKind
		case schema.Numeric, schema.Integer:
			numeric++
		}
	})
	return kind, attributes, numeric
}

// Confidence is how sure the advice is, and by which cells of the measured table.
type Confidence struct {
	Level string `json:"level"` // high, medium or low
	Why   string `json:"why"`
	// Good of Of cells of the same kind and task at a similar r had the advised entry
	// best, within a point of the best, or tied.
	Good  int         `json:"good"`
	Of    int         `json:"of"`
	Cells []Judgement `json:"cells"`
}

// Expectation is what the advised entry scored at the nearest r.
type Expectation struct {
	Unit string `json:"unit"`
	// Gain is the smallest and largest gain over the baseline of the cells, nil without.
	Gain  *[2]float64   `json:"gain_over_baseline"`
	Cells []NearestCell `json:"cells"`
	Words string        `json:"words"`
}

// NearestCell is one measured cell.
type NearestCell struct {
	Data    string  `json:"data"`
	Rows    int     `json:"training_rows"`
	Epsilon float64 `json:"epsilon"`
	Ratio   float64 `json:"r"`
	// Near says that r is within the factor that counts as evidence.
	Near     bool     `json:"similar_r"`
	Score    Estimate `json:"score"`
	Baseline float64  `json:"baseline"`
	Command  string   `json:"command"`
}

const (
	// similar is the factor of r within which a cell counts as evidence.
	similar = 5
	nearest = 3
)

// alike says whether a cell is of the question's kind: tables, texts and images are three,
// and of tables and texts two classes and several are two cases.
func (q Question) alike(c MenuCell, several map[string]bool) bool {
	if q.Kind != c.Kind || q.Task != c.Task {
		return false
	}
	return q.network() || q.Task == "regression" || (q.Classes > 2) == several[c.Data]
}

// network says that lots of images, or of rows of features, are trained on.
func (q Question) network() bool { return q.Shape != nil }

// severalClasses are the tables of a menu whose target has more than two classes.
func severalClasses(m Menu) map[string]bool {
	several := map[string]bool{}
	for _, c := range m {
		if _, seen := several[c.Data]; seen {
			continue
		}
		several[c.Data] = false
		if b, ok := dataset.Lookup(c.Data); ok {
			s := b.Schema()
			several[c.Data] = len(s.Columns[s.Column(b.Target)].Levels()) > 2
		}
	}
	return several
}

// evidence fills confidence and expectation from the measured table.
func (a *Answer) evidence() *Answer {
	m, q := Measured(), a.Facts
	several := severalClasses(m)
	var cells Menu
	for _, c := range m {
		if c.Entry == a.Advice.Entry && q.alike(c, several) {
			cells = append(cells, c)
		}
	}
	distance := func(c MenuCell) float64 {
		if q.Ratio > 0 && !math.IsInf(q.Ratio, 1) {
			return math.Abs(math.Log(c.Ratio / q.Ratio))
		}
		return math.Abs(math.Log(float64(c.Rows) * c.Epsilon / (q.Training * q.Epsilon)))
	}
	slices.SortStableFunc(cells, func(x, y MenuCell) int {
		switch dx, dy := distance(x), distance(y); {
		case dx < dy:
			return -1
		case dx > dy:
			return 1
		}
		return 0
	})
	e, c := &a.Expect, &a.Confidence
	e.Unit, e.Cells, c.Cells = "% of rows predicted correctly", []NearestCell{}, []Judgement{}
	if q.Task == "regression" {
		e.Unit = "% of the mean predictor's absolute error that the model removes"
	}
	sets := map[string]bool{}
	for i, cell := range cells {
		near := distance(cell) <= math.Log(similar)
		if i < nearest {
			if near {
				gain := math.Round((cell.Mean()-cell.Baseline)*10) / 10
				if e.Gain == nil {
					e.Gain = &[2]float64{gain, gain}
				}
				e.Gain[0], e.Gain[1] = min(e.Gain[0], gain), max(e.Gain[1], gain)
			}
			e.Cells = append(e.Cells, NearestCell{cell.Data, cell.Rows, cell.Epsilon, cell.Ratio, near, cell.estimate(), math.Round(cell.Baseline*10) / 10, cell.Command})
		}
		if near {
			if j := m.Judge(cell.Data, cell.Epsilon, cell.Entry); j.Outcome != Unmeasured {
				c.Cells = append(c.Cells, j)
				sets[cell.Data] = true
				if c.Of++; j.Good() {
					c.Good++
				}
			}
		}
	}
	a.level(len(sets))
	return a
}

// level says how sure the advice is, by cells of so many data sets.
func (a *Answer) level(sets int) {
	e, c := &a.Expect, &a.Confidence
	found := fmt.Sprintf("the advised entry was best, within a point of the best, or tied in %d of %s of this kind with an r within a factor of %d", c.Good, count(c.Of, "measured cell"), similar)
	switch {
	case c.Of == 0:
		c.Level, c.Why = "low", fmt.Sprintf("no measured cell of this kind has an r within a factor of %d", similar)
	case !a.Advice.Useful:
		c.Level, c.Why = "low", "no useful model is to be expected"
	case 2*c.Good < c.Of:
		c.Level, c.Why = "low", found
	case c.Good == c.Of && c.Of >= 3 && sets > 1:
		c.Level, c.Why = "high", found
	case sets == 1:
		c.Level, c.Why = "medium", found+", all of one data set"
	default:
		c.Level, c.Why = "medium", found
	}
	for _, j := range c.Cells {
		if j.Score != nil && j.Best != nil && j.BestEntry != j.Advised && j.Best.Mean-j.Score.Mean >= .3 {
			c.Why += fmt.Sprintf("; on %s at ε %g %s was %.1f points better", j.Data, j.Epsilon, j.BestEntry, j.Best.Mean-j.Score.Mean)
			break
		}
	}
	switch {
	case len(e.Cells) == 0:
		e.Words = "nothing like it was measured"
	case e.Gain == nil:
		e.Words = "unknown: nothing of this kind was measured at an r within a factor of " + fmt.Sprint(similar) + " (the nearest is shown)"
	default:
		e.Words = fmt.Sprintf("%+.1f to %+.1f points over the baseline at the nearest r; how well the classes can be distinguished depends on your rows, which no rule uses", e.Gain[0], e.Gain[1])
	}
	if !a.Advice.Useful {
		e.Gain, e.Words = nil, "little more than the baseline"
		a.Warning = strings.TrimPrefix(a.said(ruleConstant, ruleGuess, ruleNearConstant), "warning: ")
	}
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
