package workflow

import (
	"context"
	"math"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/evidence/quality"
)

// class is the true class of a row, −1 where it is not known.
func (p *problem) class(cells []float64, classes int) int {
	return groupOf(cells[p.targetColumn], classes)
}

// nominal is the number of rows in a scope as far as it is known: declared, or released.
func (plan *Plan) nominal(out *Outcome, scope dp.Scope) float64 {
	rows := plan.problem.Rows
	if out.Rows != nil {
		rows = *out.Rows
	}
	return float64(max(rows, 1)) * scope.Fraction()
}

// binned is what is counted in bins of scores: one of kinds cells for each row of a bin.
type binned struct {
	score  scorer
	inputs bool
	kinds  int
	kind   func(cells []float64, input []float32) int // below 0 it leaves the row out
	// bins is the number of bins, 0 for as many as the noise leaves room for.
	bins int
}

// tables releases how rows spread over bins of scores by kind, for each of disjoint scopes. The
// bins are the same in all, of about equal numbers of rows, by what a first release says of the
// scores of the whole. std is the noise of a number of one scope.
func (plan *Plan) tables(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, of binned, whole dp.Scope, scopes []dp.Scope) (base *quality.Table, rows [][]float64, std float64, err error) {
	apart, perUnit := plan.problem.rowsApart(), float64(permit.MaxRows())
	fine := plan.bins("edges", whole)
	fine.Counted, fine.Inputs = true, of.inputs
	fine.Size, fine.Bin = 1, func([]float64, []float32) (int, float64) { return 0, 0 }
	fine.Size = quality.FineBins(plan.nominal(out, whole), fine.StdDev(apart))
	fine.Bin = func(cells []float64, input []float32) (int, float64) {
		if of.kind(cells, input) < 0 {
			return -1, 0
		}
		return quality.FineBin(of.score.of(cells, input), fine.Size), 0
	}
	spread, edges, err := fine.Release(ctx, permit, env.Rows)
	if err != nil {
		return nil, nil, 0, err
	}
	counted := plan.bins("bins", scopes[0])
	counted.Counted, counted.Inputs = true, of.inputs
	counted.Size, counted.Bin = fine.Size, fine.Bin
	out.spread = quality.Fine{Rows: spread, Std: edges}
	if base = out.spread.Table(counted.StdDev(apart)*math.Sqrt(float64(len(scopes))), perUnit); of.bins > 0 {
		base = out.spread.TableOf(of.bins, perUnit)
	}
	counted.Size = of.kinds * len(base.Mids)
	counted.Bin = func(cells []float64, input []float32) (int, float64) {
		kind := of.kind(cells, input)
		if kind < 0 {
			return -1, 0
		}
		return of.kinds*base.Bin(of.score.of(cells, input)) + kind, 0
	}
	for _, s := range scopes {
		counted.Scope = s
		noisy, noise, err := counted.Release(ctx, permit, env.Rows)
		if err != nil {
			return nil, nil, 0, err
		}
		rows, std = append(rows, noisy), noise
	}
	return base, rows, std, nil
}

// byClass counts rows of two classes by their class.
func (plan *Plan) byClass(score scorer) binned {
	return binned{score: score, inputs: score.input != nil, kinds: 2, kind: func(cells []float64, _ []float32) int { return plan.problem.class(cells, 2) }}
}

// classTables are tables of two classes.
func (plan *Plan) classTables(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, score scorer, whole dp.Scope, scopes []dp.Scope) (tables []*quality.Table, err error) {
	base, rows, std, err := plan.tables(ctx, env, permit, out, plan.byClass(score), whole, scopes)
	for _, r := range rows {
		tables = append(tables, base.Filled(r, std))
	}
	return tables, err
}

// calibrate fits a calibration, and the thresholds, on training rows kept apart.
func (plan *Plan) calibrate(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) error {
	if !plan.calibration.Valid() {
		plan.operate(out, nil, quality.None, false)
		return nil
	}
	if !out.Model.Scored() { // a constant: what is booked for it stays unused
		return nil
	}
	of := plan.byClass(score)
	if n := len(out.Model.Classes()); n > 2 {
		of.kind = func(cells []float64, _ []float32) int {
			class := plan.problem.class(cells, n)
			switch {
			case class < 0:
				return -1
			case predict.of(cells, nil) == float64(class):
				return 1
			}
			return 0
		}
	}
	base, rows, std, err := plan.tables(ctx, env, permit, out, of, plan.calibration, []dp.Scope{plan.calibration})
	if err != nil {
		return err
	}
	table := base.Filled(rows[0], std)
	c, ok := table.Calibrate()
	plan.operate(out, table, c, ok)
	return nil
}

// operate gives the model its calibration, threshold and curve. table is nil where nothing was
// released to choose by.
func (plan *Plan) operate(out *Outcome, table *quality.Table, c quality.Calibration, calibrated bool) {
	m, d := out.Model, plan.problem.Decision
	if !m.Scored() {
		return
	}
	if calibrated {
		m.Calibration = &c
	}
	if !m.TwoClasses() { // more have the class of the highest score
		return
	}
	if calibrated {
		m.Threshold = held(c.Probability(0)) // labels stay where training put them
	}
	if d.Given() {
		cut, ok := d.Cut(table, c)
		if m.Decision = &d; ok {
			m.Threshold = held(c.Probability(cut))
		} else {
			out.warnings = append(out.warnings, "no threshold could be chosen for the requested recall: the noise is too large, or no rows were set aside; labels are those of the trained model")
		}
		if d.Threshold > 0 {
			m.Threshold = d.Threshold
		}
	}
	if table == nil {
		return
	}
	m.Thresholds = table.Curve(c)
	if bin, ok := table.Advise(c, calibrated); ok {
		m.Advised = held(c.Probability(table.Edges[bin]))
	}
}

// held keeps a probability off 0 and 1.
func held(p float64) float64 { return min(max(p, 1e-9), 1-1e-9) }

// releaseClasses releases the score of a classifier.
func (plan *Plan) releaseClasses(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) error {
	if plan.problem.twoClasses() {
		return plan.releaseTwo(ctx, env, permit, out, predict, score)
	}
	return plan.releaseMany(ctx, env, permit, out, predict, score)
}

// releaseTwo scores a classifier of two classes on two halves of the units. Calibration and
// thresholds that a half is judged by come from the other; those that the model keeps come from both.
func (plan *Plan) releaseTwo(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) error {
	p := plan.problem
	halves := []quality.Half{{}, {}}
	scored := out.Model.TwoClasses()
	if scored {
		tables, err := plan.classTables(ctx, env, permit, out, score, plan.scoreScope, plan.halves())
		if err != nil {
			return err
		}
		halves[0].Table, halves[1].Table = tables[0], tables[1]
		quality.Cross(halves)
		for i, h := range halves { // the same in both where nothing was asked
			out.cuts[i], _ = p.Decision.Cut(halves[1-i].Table, h.Calibration)
		}
	}
	labels := quality.Labels{PerUnit: float64(permit.MaxRows())}
	for i, s := range plan.partScopes("labels") {
		b := plan.bins("labels", s)
		b.Size, b.Counted, b.Inputs = 4, true, score.input != nil || predict.input != nil
		b.Bin = func(cells []float64, input []float32) (int, float64) {
			class, label := p.class(cells, 2), 0
			if class < 0 {
				return -1, 0
			}
			if scored && score.of(cells, input) > out.cuts[i] || !scored && predict.of(cells, input) == 1 {
				label = 1
			}
			return 2*class + label, 0
		}
		noisy, std, err := b.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		for j, n := range noisy {
			labels.Rows[j/2][j%2] += n
		}
		labels.Std = math.Hypot(labels.Std, std)
	}
	c := &quality.Classification{}
	if scored {
		pooled := halves[0].Table.Plus(halves[1].Table)
		final, calibrated := pooled.Calibrate()
		plan.operate(out, pooled, final, calibrated)
		c = quality.Judge(halves, final, calibrated)
	}
	classes := out.Model.Classes()
	c.Positive = classes[1]
	labels.Fill(c, classes)
	if gain, ok := labels.CostGain(p.Decision); ok {
		c.CostGain = &gain
	}
	out.Score = Score{Classes: c, Gain: labels.Gain(), How: heldOutHow}
	out.Score.set(labels.Accuracy(), labels.Majority(), 0, 1)
	return nil
}

// releaseMany scores a classifier of more classes: a table of true and predicted classes by
// confidence, in two halves of the units as for two classes, and the accuracy as a count of its own.
func (plan *Plan) releaseMany(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) error {
	answers, err := plan.answers(ctx, env, permit, out, predict, score)
	if err != nil {
		return err
	}
	p, classes := plan.problem, out.Model.Classes()
	a := release.Accuracy{Scope: plan.scoreScope, NoiseMultiplier: plan.scoring.noise["accuracy"], Pure: plan.scoring.pure, Column: p.targetColumn, Levels: len(classes)}
	if predict.input != nil {
		a.PredictInput = func(input []float32) int { return int(predict.input(input)) }
	} else {
		a.Predict = func(cells []float64) int { return int(predict.cells(cells)) }
	}
	s, err := a.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	pooled := answers[0]
	for _, h := range answers[1:] {
		pooled = pooled.Plus(h)
	}
	final, calibrated := pooled.Calibrate()
	plan.operate(out, nil, final, calibrated)
	labels, totals := pooled.Labels(), quality.TotalsOf(s)
	c := quality.JudgeAnswers(answers, pooled, quality.CrossAnswers(answers), final, calibrated, totals)
	labels.Fill(c, classes, totals)
	out.Score = Score{Value: s.Value, Interval: s.Interval, Baseline: s.Baseline, BaselineInterval: s.BaselineInterval, How: heldOutHow,
		Classes: c, Gain: labels.Gain(totals)}
	return nil
}

// answers are released on two halves in bins of confidence, or on all rows in none, where these are too
// few or the model is a constant.
func (plan *Plan) answers(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) (answers []*quality.Answers, err error) {
	n := len(out.Model.Classes())
	of := binned{score: score, inputs: predict.input != nil, kinds: n * n, bins: plan.confidenceBins(plan.nominal(out, plan.scoreScope))}
	of.kind = func(cells []float64, input []float32) int {
		class := plan.problem.class(cells, n)
		if class < 0 {
			return -1
		}
		label := groupOf(predict.of(cells, input), n)
		if label < 0 {
			return -1
		}
		return n*class + label
	}
	if plan.edged() && out.Model.Scored() {
		base, rows, std, err := plan.tables(ctx, env, permit, out, of, plan.scoreScope, plan.halves())
		for _, r := range rows {
			answers = append(answers, quality.AnswersIn(base, n, r, std))
		}
		return answers, err
	}
	b := plan.bins("bins", plan.scoreScope)
	b.Size, b.Counted, b.Inputs = of.kinds, true, of.inputs
	b.Bin = func(cells []float64, input []float32) (int, float64) { return of.kind(cells, input), 0 }
	for _, s := range plan.partScopes("bins") {
		b.Scope = s
		noisy, std, err := b.Release(ctx, permit, env.Rows)
		if err != nil {
			return nil, err
		}
		answers = append(answers, quality.AnswersIn(&quality.Table{PerUnit: float64(permit.MaxRows())}, n, noisy, std))
	}
	return answers, nil
}

// releaseNumbers scores a regression.
func (plan *Plan) releaseNumbers(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	predict, scale := p.unitPredictor(out.Model), p.scale
	spread := func(name string, nodes []float64, value func(truth float64, cells []float64) float64) (quality.Spread, error) {
		b := plan.bins(name, plan.scoreScope)
		b.Size = len(nodes)
		b.Bin = func(cells []float64, _ []float32) (int, float64) {
			truth := scale.Unit(cells[p.targetColumn])
			if truth != truth {
				return -1, 0
			}
			return quality.Place(nodes, value(truth, cells))
		}
		rows, std, err := b.Release(ctx, permit, env.Rows)
		return quality.Spread{Nodes: nodes, Rows: rows, Std: std, PerUnit: float64(permit.MaxRows())}, err
	}
	targets, err := spread("targets", quality.TargetNodes, func(y float64, _ []float64) float64 { return y })
	if err != nil {
		return err
	}
	// A prediction that is not a number is the largest error.
	miss := func(y float64, cells []float64) float64 {
		if x := predict(cells); x == x {
			return math.Abs(min(max(x, 0), 1) - y)
		}
		return 1
	}
	errors, err := spread("errors", quality.ErrorNodes, miss)
	if err != nil {
		return err
	}
	_, median := targets.Centre()
	gains, err := spread("gains", quality.GainNodes, func(y float64, cells []float64) float64 { return math.Abs(y-median) - miss(y, cells) })
	if err != nil {
		return err
	}
	span := scale.Upper - scale.Lower
	mae, gain, r := quality.RegressionScores(errors, targets, gains, span)
	out.Score = Score{Gain: gain, Numbers: r, How: heldOutHow}
	out.Score.set(mae, r.MeanBaseline, 0, span)
	out.Model.Intervals = r.Intervals
	return nil
}
