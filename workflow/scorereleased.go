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

// tables releases how scores spread over bins by class, one table for each of disjoint scopes. The
// bins are the same in all, of about equal numbers of rows, by what a first release says of the
// scores of the whole.
func (plan *Plan) tables(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, score scorer, whole dp.Scope, scopes []dp.Scope) ([]*quality.Table, error) {
	p, apart := plan.problem, plan.problem.rowsApart()
	joined := math.Sqrt(float64(len(scopes)))
	fine := plan.bins("edges", whole)
	fine.Counted, fine.Inputs = true, score.input != nil
	fine.Size, fine.Bin = 1, func([]float64, []float32) (int, float64) { return 0, 0 }
	fine.Size = quality.FineBins(plan.nominal(out, whole), fine.StdDev(apart))
	fine.Bin = func(cells []float64, input []float32) (int, float64) {
		if p.class(cells, 2) < 0 {
			return -1, 0
		}
		return quality.FineBin(score.of(cells, input), fine.Size), 0
	}
	spread, std, err := fine.Release(ctx, permit, env.Rows)
	if err != nil {
		return nil, err
	}
	classed := plan.bins("bins", scopes[0])
	classed.Counted, classed.Inputs = true, score.input != nil
	classed.Size, classed.Bin = fine.Size, fine.Bin
	out.spread = quality.Fine{Rows: spread, Std: std}
	base := out.spread.Table(classed.StdDev(apart)*joined, float64(permit.MaxRows()))
	classed.Size = 2 * len(base.Mids)
	classed.Bin = func(cells []float64, input []float32) (int, float64) {
		class := p.class(cells, 2)
		if class < 0 {
			return -1, 0
		}
		return 2*base.Bin(score.of(cells, input)) + class, 0
	}
	var tables []*quality.Table
	for _, s := range scopes {
		classed.Scope = s
		noisy, std, err := classed.Release(ctx, permit, env.Rows)
		if err != nil {
			return nil, err
		}
		tables = append(tables, base.Filled(noisy, std))
	}
	return tables, nil
}

// calibrate fits a calibration, and the thresholds, on training rows kept apart.
func (plan *Plan) calibrate(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, score scorer) error {
	if !plan.calibration.Valid() {
		plan.operate(out, nil, quality.None, false)
		return nil
	}
	if !out.Model.TwoClasses() { // a constant: what is booked for it stays unused
		return nil
	}
	tables, err := plan.tables(ctx, env, permit, out, score, plan.calibration, []dp.Scope{plan.calibration})
	if err != nil {
		return err
	}
	c, ok := tables[0].Calibrate()
	plan.operate(out, tables[0], c, ok)
	return nil
}

// operate gives the model its calibration, threshold and curve. table is nil where nothing was
// released to choose by.
func (plan *Plan) operate(out *Outcome, table *quality.Table, c quality.Calibration, calibrated bool) {
	m, d := out.Model, plan.problem.Decision
	if !m.TwoClasses() {
		return
	}
	if calibrated {
		m.Calibration = &c
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
	return plan.releaseMany(ctx, env, permit, out, predict)
}

// releaseTwo scores a classifier of two classes on two halves of the units. Calibration and
// thresholds that a half is judged by come from the other; those that the model keeps come from both.
func (plan *Plan) releaseTwo(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict, score scorer) error {
	p := plan.problem
	halves := []quality.Half{{}, {}}
	scored := out.Model.TwoClasses()
	if scored {
		tables, err := plan.tables(ctx, env, permit, out, score, plan.scoreScope, plan.halves())
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

// releaseMany scores a classifier of more classes: the accuracy as a count of its own, and a
// table of labels.
func (plan *Plan) releaseMany(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome, predict scorer) error {
	p, classes := plan.problem, out.Model.Classes()
	n := len(classes)
	a := release.Accuracy{Scope: plan.scoreScope, NoiseMultiplier: plan.scoring.noise["accuracy"], Pure: plan.scoring.pure, Column: p.targetColumn, Levels: n}
	if predict.input != nil {
		a.PredictInput = func(input []float32) int { return int(predict.input(input)) }
	} else {
		a.Predict = func(cells []float64) int { return int(predict.cells(cells)) }
	}
	s, err := a.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	b := plan.bins("labels", plan.scoreScope)
	b.Size, b.Counted, b.Inputs = n*n, true, predict.input != nil
	b.Bin = func(cells []float64, input []float32) (int, float64) {
		class := p.class(cells, n)
		if class < 0 {
			return -1, 0
		}
		label := groupOf(predict.of(cells, input), n)
		if label < 0 {
			return -1, 0
		}
		return n*class + label, 0
	}
	noisy, std, err := b.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	many := quality.Many{Std: std, PerUnit: float64(permit.MaxRows())}
	for i := range n {
		many.Rows = append(many.Rows, noisy[n*i:n*(i+1)])
	}
	out.Score = Score{Value: s.Value, Interval: s.Interval, Baseline: s.Baseline, BaselineInterval: s.BaselineInterval, How: heldOutHow,
		Classes: many.Classification(classes), Gain: many.Gain()}
	return nil
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
