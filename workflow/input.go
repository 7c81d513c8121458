// Package workflow is the whole job: public facts become a plan with a price, the
// plan is reserved in the ledger, its stages run, and what they release becomes a
// model and a statement. It is the only package that knows every stage.
package workflow

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/evidence/quality"
	mistake "pawl/internal/usage"
	"pawl/learn"
	"pawl/model"
)

// Workflow names how choices are made.
type Workflow string

const (
	// PAW is privacy-aware and private: every choice is data-free or paid for.
	PAW Workflow = "paw"
	// STW is the drop-in workflow for comparison: choices are made without
	// thinking of the noise and without paying. It runs on public data only.
	STW Workflow = "stw"
)

// TestKind says where the published score comes from.
type TestKind string

const (
	// HeldOut scores sensitive rows that no choice of the job has used.
	HeldOut TestKind = "held_out"
	// TestFile scores a public file of the operator's.
	TestFile TestKind = "test_file"
	// Official scores a built-in data set's own public test set.
	Official TestKind = "official"
)

// Input is everything a plan may depend on: public facts and the operator's
// wishes. No field is read from sensitive rows.
type Input struct {
	Dataset string
	Schema  *schema.Schema
	// Public is the ledger's word on the data set.
	Public bool
	Target string
	// Epsilon and Delta are decimals as typed; an empty Delta asks for the default.
	Epsilon, Delta  string
	AllowLargeDelta bool
	// Rows is the number of rows when it is public, declared or nominal; 0 when it
	// has to be paid for.
	Rows     int64
	Test     TestKind
	Workflow Workflow
	Preset   advise.Preset
	// Model is "auto" or the name of a learner, Features nil for the rule's choice.
	Model    string
	Features []string
	// Chosen says, where Features come from a selection, which.
	Chosen *ChosenBy
	// Calibrate keeps some training rows for a calibration where the rows that are scored are public,
	// and so choose nothing. Held-out rows calibrate in any case, within the price of the score.
	Calibrate bool
	// Several says that the job is one of several that are priced together, whatever the budget.
	Several bool
	// ScoreBy names a categorical column: its groups are scored one by one, beside the
	// score of all. Empty for none.
	ScoreBy string
	// ClassWeights are public factors above 0 on the losses of classes, by their names; a
	// class without one has 1.
	ClassWeights map[string]float64 `json:",omitempty"`
	// TargetScale is "linear" or "log", the scale on which a number is trained; empty for what
	// the rules choose.
	TargetScale string `json:",omitempty"`
	// Monotone names columns whose effect may only rise (1) or fall (−1), beside those of the
	// schema.
	Monotone map[string]int `json:",omitempty"`
	// Teacher is a public table of the same columns on which the model is trained first, nil for none.
	Teacher *PublicSet `json:",omitempty"`
	// Decision says how a classifier of two classes turns probabilities into labels.
	Decision   quality.Decision
	Accountant accountant.Method
	// Dense says that rows carry a dense input beside the label, such as an image.
	Dense bool
	// AsPublished replays a published procedure, on public data only: principal components or
	// statistics look at rows, or a search reads scores, without paying. What is claimed is no
	// guarantee.
	AsPublished bool
	// Seed, when not nil, makes a simulation whose outputs are NOT PRIVATE.
	Seed    *uint64
	Licence string
}

// ChosenBy is the selection that features come from.
type ChosenBy struct {
	Method, Dataset string
	// Entry is the ledger's, empty where nothing was booked.
	Entry string
	// Unpaid says that the selection looked at rows without paying.
	Unpaid bool
	// Events are what it cost, as its statement has them. A statement says by them what the same
	// epsilon buys without the selection; nothing is charged or granted by them.
	Events []dp.Stated `json:"-"`
}

// UsageError is a mistake of the operator's that nothing was charged for.
type UsageError = mistake.Error

func usage(hint, format string, args ...any) error { return mistake.Newf(hint, format, args...) }

// problem is the validated input.
type problem struct {
	Input
	task         model.Task
	scale        model.TargetScale
	epsilon      *big.Rat
	margin       float64 // share of epsilon kept for what an accountant adds to steps
	delta        float64
	deltaText    string
	relation     dp.Relation
	warnings     []string
	targetColumn int
}

func (in Input) check() (*problem, error) {
	p := &problem{Input: in, relation: dp.AddOrRemoveOne}
	if p.Preset == "" {
		p.Preset = advise.Balanced
	}
	if p.Workflow == "" {
		p.Workflow = PAW
	}
	if p.Accountant == "" {
		p.Accountant = accountant.MethodMin
	}
	if err := mistake.All(p.checkTarget(), p.checkChoices(), p.checkMonotone(), p.checkScoreBy(), p.checkDecision(), p.checkEpsilon(), p.checkDelta()); err != nil {
		return nil, err
	}
	p.warnings = append(p.warnings, in.Schema.Warnings...)
	return p, nil
}

// CheckTarget refuses a target that the schema does not have, or that cannot be one.
func CheckTarget(s *schema.Schema, target string) error {
	return (&problem{Input: Input{Schema: s, Target: target}}).checkTarget()
}

// Amounts are the mistakes in an epsilon and a delta, where "" is the default.
func Amounts(epsilon, delta string) error {
	p := &problem{Input: Input{Epsilon: epsilon, Delta: cmp.Or(delta, usualDelta), Accountant: accountant.MethodMin}}
	return mistake.All(p.checkEpsilon(), p.checkDelta())
}

// usualDelta is that of a job on a private number of rows whose data set has no budget yet.
const usualDelta = "1e-06"

func (p *problem) checkTarget() error {
	var names []string
	for i := range p.Schema.Columns {
		if c := &p.Schema.Columns[i]; c.Type != schema.Ignore && !c.Wide() && c.Name != p.Schema.Unit.Column {
			names = append(names, c.Name)
		}
	}
	list := "columns that can be a target: " + strings.Join(names, ", ")
	if p.Target == "" {
		return usage(list, "no target: name the column to predict with --target")
	}
	for i := range p.Schema.Columns {
		if c := &p.Schema.Columns[i]; c.Type == schema.Text && c.Buckets == 0 {
			return usage("schema.SetBuckets, before rows are read", "column %q is a text, and the number of its buckets is not chosen", c.Name)
		}
	}
	p.targetColumn = p.Schema.Column(p.Target)
	if p.targetColumn < 0 {
		return usage(schema.Meant(p.Target, names, list), "target %q is not a column of the schema", p.Target)
	}
	c := &p.Schema.Columns[p.targetColumn]
	switch {
	case c.Name == p.Schema.Unit.Column:
		return usage(list, "target %q is the unit's identifier", p.Target)
	case c.Type == schema.Ignore:
		return usage("give it a type in the schema, or choose another target", "target %q has type ignore", p.Target)
	case c.Wide():
		return usage(list, "target %q has type %s, and classes or a number can be predicted", p.Target, c.Type)
	case c.Type == schema.Numeric || c.Type == schema.Integer:
		p.task, p.scale = model.Regression, model.TargetScale{Lower: c.Lower, Upper: c.Upper}
	default:
		p.task = model.Classification
		if len(c.Levels()) < 2 {
			return usage("declare at least two categories", "target %q has one class only", p.Target)
		}
	}
	return nil
}

func (p *problem) checkChoices() error {
	switch p.Preset {
	case advise.Quick, advise.Balanced, advise.Thorough:
	default:
		return usage("presets: quick, balanced, thorough", "unknown preset %q", p.Preset)
	}
	switch p.Workflow {
	case PAW:
	case STW:
		if !p.Public {
			return usage("use --workflow paw, or declare the data set public in the ledger if it is",
				"workflow stw chooses from rows without charge; it runs on public data only")
		}
	default:
		return usage("workflows: paw, stw", "unknown workflow %q", p.Workflow)
	}
	if p.Model == "auto" {
		p.Model = ""
	}
	if instead, gone := learn.Removed[p.Model]; gone {
		return usage(fmt.Sprintf("use --model %s instead; models that were trained with it still predict", instead), "the learner %q was removed", p.Model)
	}
	if p.Model != "" && !slices.Contains(advise.Learners, advise.Learner(p.Model)) {
		names := append([]string{"auto"}, mistake.Words(advise.Learners)...)
		return usage(schema.Meant(p.Model, names, "models: "+strings.Join(names, ", ")), "unknown model %q", p.Model)
	}
	if p.Workflow == STW && p.Model != "" && p.Model != string(advise.Descent) {
		return usage("leave out --model", "a choice among candidates and --model %s exclude each other", p.Model)
	}
	var names []string
	for i := range p.Schema.Columns {
		if c := &p.Schema.Columns[i]; c.Type != schema.Ignore && c.Name != p.Schema.Unit.Column && c.Name != p.Target {
			names = append(names, c.Name)
		}
	}
	for i, f := range p.Features {
		if slices.Contains(p.Features[:i], f) {
			return usage("name every feature once", "feature %q is listed twice", f)
		}
		column, _, err := encode.Feature(p.Schema, f)
		if err == nil && slices.Contains(names, p.Schema.Columns[column].Name) {
			continue
		}
		if _, level, ok := strings.Cut(f, "="); ok && level != "" && err != nil {
			return usage("write column=level with a declared level", "%v", err)
		}
		return usage(schema.Meant(f, names, "columns that can be features: "+strings.Join(names, ", ")), "feature %q is not a usable column of the schema", f)
	}
	constant := (p.Model == "" || p.Model == "auto") && p.Rows > 0 || p.Model == string(advise.Majority) || p.Model == string(advise.Mean)
	switch {
	case len(names) > 0 || p.Dense:
	case p.Model != "" && !constant:
		return usage("declare more columns, or fit the constant: --model majority or mean", "the schema has no column other than the target, and model %q needs one", p.Model)
	case !constant:
		return usage("declare more columns, or rows: about N", "the schema has no column other than the target, and the constant needs a public number of rows")
	default:
		p.warnings = append(p.warnings, "the schema has no column other than the target: only a constant can be predicted")
	}
	return nil
}

func (p *problem) checkEpsilon() error {
	e, ok := decimal(p.Epsilon)
	if !ok || e.Sign() <= 0 {
		return usage("write a decimal without sign or spaces, such as 1 or 0.5", "epsilon must be a number above 0")
	}
	if f, _ := e.Float64(); math.IsInf(f, 0) || f > 1e6 {
		return usage("epsilon above 10 protects nobody", "epsilon is too large to protect anybody")
	} else if f < 1e-9 {
		return usage("below 1e-9 even the majority class cannot be released reliably", "epsilon is too small for any release")
	} else if f > 10 {
		p.warnings = append(p.warnings, fmt.Sprintf("epsilon %s protects little: an attacker who starts at 50 %% may become almost certain", p.Epsilon))
	}
	p.epsilon = e
	return nil
}

func (p *problem) checkDelta() error {
	rows := p.Rows
	if p.Delta == "" {
		var note string
		if p.Delta, note = p.ownDelta(); note != "" {
			p.warnings = append(p.warnings, note)
		}
	}
	d, ok := decimal(p.Delta)
	if !ok || d.Sign() < 0 || d.Cmp(big.NewRat(1, 1)) >= 0 {
		return usage("write a decimal without sign or spaces, such as 1e-6; 0 asks for pure epsilon", "delta must be a number from 0 to below 1")
	}
	p.delta, _ = d.Float64()
	p.deltaText = p.Delta
	if d.Sign() > 0 && p.delta < 1e-99 { // the ledger's decimals have two digits of exponent
		return usage("use --delta 0 for pure epsilon, or at least 1e-99", "delta is too small to be charged")
	}
	if d.Sign() == 0 && p.Accountant != accountant.MethodMin {
		return usage("leave out --accountant, or give a --delta above 0", "accountant %s gives no finite epsilon at delta 0", p.Accountant)
	}
	if rows < 1 || d.Sign() == 0 {
		return nil
	}
	units := big.NewRat(1, rows)
	usual, text := DefaultDelta(rows)
	switch {
	case d.Cmp(units) >= 0 && !p.AllowLargeDelta:
		return usage(fmt.Sprintf("use --delta %s, or --allow-large-delta if you know why", text),
			"delta %s is not below 1/rows: it would allow one whole row to be published", p.Delta)
	case d.Cmp(units) >= 0:
		p.warnings = append(p.warnings, fmt.Sprintf("delta %s is not below 1/rows: one whole row may be published (allowed by --allow-large-delta)", p.Delta))
	case p.delta > usual && p.Delta != text:
		p.warnings = append(p.warnings, fmt.Sprintf("delta %s is larger than the usual %s (a tenth of 1/rows, rounded down to a power of ten)", p.Delta, text))
	}
	return nil
}

// ownDelta is the delta of a job that names none: that of the budget to which it is
// charged, unless one row may be published whole at it, else the usual one. The note says what
// was made of a budget, and of a number of rows that is private.
func (in *Input) ownDelta() (delta, note string) {
	if in.Rows >= 1 {
		_, delta = DefaultDelta(in.Rows)
	}
	granted := in.Schema.GrantedDelta
	d, ok := decimal(granted)
	switch {
	case !ok && in.Rows < 1:
		return usualDelta, fmt.Sprintf("delta is %s, because the number of rows is private; for more than 100,000 units give a smaller one with --delta", usualDelta)
	case !ok:
		return delta, ""
	case in.Rows >= 1 && d.Cmp(big.NewRat(1, in.Rows)) >= 0 && !in.AllowLargeDelta:
		return delta, fmt.Sprintf("delta is %s: that of the budget, %s, is not below 1/rows", delta, granted)
	case granted == delta:
		return delta, ""
	}
	return granted, fmt.Sprintf("delta is %s, that of the budget of the data set (--delta chooses another)", granted)
}

// DefaultDelta is the largest power of ten that is at most 1/(10·rows), as a number and as
// it is booked. rows is at least 1.
func DefaultDelta(rows int64) (float64, string) {
	k := 0
	for n := big.NewInt(1); n.Cmp(new(big.Int).Mul(big.NewInt(10), big.NewInt(rows))) < 0; k++ {
		n.Mul(n, big.NewInt(10))
	}
	return math.Pow(10, -float64(k)), fmt.Sprintf("1e-%02d", k)
}

// SignalRatio is r = n/σ₁(ε, δ) of so many rows, with the noise multiplier σ₁ of one Gaussian release at the total.
// An empty delta is the default one of these rows.
func SignalRatio(rows, epsilon float64, delta string) (r, noiseMultiplier float64, err error) {
	d, _ := DefaultDelta(int64(rows))
	if delta != "" {
		if d, err = strconv.ParseFloat(delta, 64); err != nil {
			return 0, 0, err
		}
	}
	noiseMultiplier, err = accountant.GaussianNoiseMultiplier(epsilon, d)
	if err != nil {
		return 0, 0, err
	}
	return rows / noiseMultiplier, noiseMultiplier, nil
}

// decimal reads plain decimal notation with an optional exponent, exactly.
func decimal(s string) (*big.Rat, bool) {
	if s == "" || len(s) > 60 {
		return nil, false
	}
	if s[0] == '+' {
		return nil, false // nor does the ledger read it
	}
	for _, c := range s {
		if !strings.ContainsRune("0123456789.eE+-", c) {
			return nil, false
		}
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		// A large exponent would make big.Rat build a number of that many digits.
		exponent := strings.TrimLeft(s[i+1:], "+-")
		if len(exponent) > 3 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}
