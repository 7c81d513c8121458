package workflow

import (
	"context"
	"fmt"
	"math"
	"strings"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/evidence/quality"
	"pawl/model"
	"pawl/report"
)

// groupsStage is the plan's name for scores by group.
const groupsStage = "score_by_group"

// The parts of these scores of two classes.
const (
	groupLabels = "labels by group"
	groupBins   = "bins by group"
)

const (
	// groupShare of the scored rows' budget pays for the scores by group, where they
	// are asked for; the rest pays for the score. A group has fewer rows, but half the
	// sums that a row moves.
	groupShare = 0.5
	// mostGroups are printed.
	mostGroups = 64
)

// checkScoreBy refuses columns that make no groups. Everything it looks at is public.
func (p *problem) checkScoreBy() error {
	if p.ScoreBy == "" {
		return nil
	}
	if p.Dense {
		return usage("leave it out", "scores by group are for tables, and these are images")
	}
	var names []string
	for i := range p.Schema.Columns {
		if c := &p.Schema.Columns[i]; len(c.Levels()) > 1 && c.Type != schema.Ignore && c.Name != p.Schema.Unit.Column && c.Name != p.Target {
			names = append(names, c.Name)
		}
	}
	hint := "columns that make groups: " + strings.Join(names, ", ")
	if len(names) == 0 {
		hint = "the schema declares no categorical column besides the target"
	}
	i := p.Schema.Column(p.ScoreBy)
	if i < 0 {
		return usage(schema.Meant(p.ScoreBy, names, hint), "cannot score by %q: it is not a column of the schema", p.ScoreBy)
	}
	c := &p.Schema.Columns[i]
	why := ""
	switch {
	case c.Name == p.Target:
		why = "it is the target itself"
	case c.Name == p.Schema.Unit.Column:
		why = "it is the unit's identifier"
	case c.Type == schema.Ignore:
		why = "it has type ignore"
	case c.Type == schema.Numeric || c.Type == schema.Integer:
		why = "it is a number, and groups need declared categories"
	case len(c.Levels()) < 2:
		why = "it has one category only"
	case len(c.Levels()) > mostGroups:
		why = fmt.Sprintf("it has %d categories, and at most %d groups are scored", len(c.Levels()), mostGroups)
	default:
		return nil
	}
	return usage(hint, "cannot score by %q: %s", p.ScoreBy, why)
}

// groupColumn is the column of the groups; ok is false where none are asked for.
func (p *problem) groupColumn() (column int, names []string, ok bool) {
	if p.ScoreBy == "" {
		return 0, nil, false
	}
	column = p.Schema.Column(p.ScoreBy)
	return column, p.Schema.Columns[column].Levels(), true
}

// groupOf is the level of a cell, −1 where it is not known.
func groupOf(cell float64, levels int) int {
	if cell >= 0 && cell < float64(levels) {
		return int(cell)
	}
	return -1
}

// groupScores is the release without what it needs of a model.
func (plan *Plan) groupScores() release.GroupScores {
	p := plan.problem
	column, names, _ := p.groupColumn()
	return release.GroupScores{
		Scope: plan.scoreScope, NoiseMultiplier: plan.scoring.noise[groupsStage], Pure: plan.scoring.pure, Groups: len(names),
		Counted: p.task == model.Classification, Group: func(cells []float64) int { return groupOf(cells[column], len(names)) },
	}
}

// planGroups books the scores by group: one event on the scored rows, whatever the
// number of groups, or none where the scored rows are public.
func (plan *Plan) planGroups() error {
	p := plan.problem
	_, names, ok := p.groupColumn()
	if !ok {
		return nil
	}
	metric := "accuracy"
	switch {
	case p.task == model.Regression:
		metric = "mean absolute error"
	case p.twoClasses():
		metric = "accuracy, with scores by class,"
	}
	if p.Test != HeldOut {
		plan.add(groupsStage, dp.Scope{}, fmt.Sprintf("exact %s in each of %d groups of %s on the public test rows", metric, len(names), p.ScoreBy))
		return nil
	}
	what := fmt.Sprintf("%s in each of %d groups of %s, from one noisy table; a row is in one group, so all groups cost one release", metric, len(names), p.ScoreBy)
	if err := plan.checkGroupSizes(len(names)); err != nil {
		return err
	}
	if !p.twoClasses() {
		plan.add(groupsStage, plan.scoreScope, what, plan.groupScores().Event())
		return nil
	}
	var events []dp.Event
	for _, part := range groupParts {
		for _, s := range plan.partScopes(part.name) {
			events = append(events, dp.Scoped{Scope: s, Event: plan.scoring.event(part.name)})
		}
	}
	plan.add(groupsStage, plan.scoreScope, what, events...)
	return nil
}

// fewest is the noisy number of rows of a group below which nothing is said of it.
func (plan *Plan) fewest() float64 {
	p := plan.problem
	if !p.twoClasses() {
		return plan.groupScores().Fewest(p.rowsApart())
	}
	return max(release.FewestRows, release.FewestDeviations*plan.groupNoise())
}

// groupNoise is the deviation of the noise on a group's number of rows, of two classes.
func (plan *Plan) groupNoise() float64 {
	b := plan.bins(groupLabels, plan.scoreScope)
	b.Size, b.Counted = 1, true
	scopes := float64(len(plan.partScopes(groupLabels)))
	return math.Sqrt(4*scopes) * b.StdDev(plan.problem.rowsApart())
}

// checkGroupSizes refuses more groups than the noise leaves anything to say about, by
// the public number of rows. How large each group is nobody knows yet.
func (plan *Plan) checkGroupSizes(groups int) error {
	p := plan.problem
	if p.Rows == 0 {
		return nil
	}
	scored, need := float64(p.Rows)*plan.scoreScope.Fraction(), plan.fewest()
	each := scored / float64(groups)
	if each >= need {
		return nil
	}
	hint := "ask for a larger epsilon"
	if most := int(scored / need); most > 1 {
		hint += fmt.Sprintf(", or choose a column of at most %d categories", most)
	}
	return usage(hint, "cannot score by %q: %.0f rows in each of %d groups of equal size are too few for the noise at epsilon %s (%.0f are needed)",
		p.ScoreBy, math.Floor(each), groups, p.Epsilon, math.Ceil(need))
}

// rowsApart is the number of rows in which neighbours differ, as a permit counts them.
func (p *problem) rowsApart() int {
	if p.relation == dp.ReplaceOne {
		return 2 * p.Schema.Unit.MaxRows // one row leaves and another comes
	}
	return p.Schema.Unit.MaxRows
}

// releaseGroups releases the scores by group of a model.
func (plan *Plan) releaseGroups(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	column, names, ok := p.groupColumn()
	if !ok {
		return nil
	}
	if p.twoClasses() {
		return plan.releaseTwoByGroup(ctx, env, permit, out)
	}
	g := plan.groupScores()
	g.Loss = p.loss(out.Model)
	scores, err := g.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	for i, s := range scores {
		if p.hasGroup(column, names, i, s.TooFew) {
			out.Score.Groups = append(out.Score.Groups, p.groupScore(groupName(names, i), s))
		}
	}
	return nil
}

// hasGroup is false for unknown cells where the schema knows none, and no noisy number says
// otherwise.
func (p *problem) hasGroup(column int, names []string, i int, tooFew bool) bool {
	return i < len(names) || !tooFew || p.Schema.Columns[column].Missing == schema.MissingUnknown
}

// releaseTwoByGroup releases labels by class, and scores by class in bins, in each group. Labels are
// those that the score of all rows has: each half's at the threshold that the other chose. The bins
// are fewer than those of all rows, and nothing is chosen by them.
func (plan *Plan) releaseTwoByGroup(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p, perUnit := plan.problem, float64(permit.MaxRows())
	column, names, _ := p.groupColumn()
	groups, classes := len(names)+1, out.Model.Classes()
	predict, score := predictors(out.Model)
	scored := out.Model.TwoClasses()
	group := func(cells []float64) int {
		if at := groupOf(cells[column], len(names)); at >= 0 {
			return at
		}
		return len(names)
	}
	labels := make([]quality.Labels, groups)
	for i, s := range plan.partScopes(groupLabels) {
		b := plan.bins(groupLabels, s)
		b.Size, b.Counted = 4*groups, true
		b.Bin = func(cells []float64, _ []float32) (int, float64) {
			class, label := p.class(cells, 2), 0
			if class < 0 {
				return -1, 0
			}
			if scored && score.of(cells, nil) > out.cuts[i] || !scored && predict.of(cells, nil) == 1 {
				label = 1
			}
			return 4*group(cells) + 2*class + label, 0
		}
		noisy, std, err := b.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		for g := range labels {
			labels[g].PerUnit, labels[g].Std = perUnit, math.Hypot(labels[g].Std, std)
			for j := range 4 {
				labels[g].Rows[j/2][j%2] += noisy[4*g+j]
			}
		}
	}
	tables := make([]*quality.Table, groups)
	if scored {
		b := plan.bins(groupBins, plan.scoreScope)
		b.Size, b.Counted = 1, true
		base := out.spread.Table(b.StdDev(p.rowsApart())*float64(len(names)), perUnit)
		bins := len(base.Mids)
		b.Size = 2 * groups * bins
		b.Bin = func(cells []float64, _ []float32) (int, float64) {
			class := p.class(cells, 2)
			if class < 0 {
				return -1, 0
			}
			return 2*(bins*group(cells)+base.Bin(score.of(cells, nil))) + class, 0
		}
		noisy, std, err := b.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		for g := range tables {
			tables[g] = base.Filled(noisy[2*bins*g:2*bins*(g+1)], std)
		}
	}
	for g, l := range labels {
		s := GroupScore{Group: groupName(names, g), Rows: l.Total(), Value: math.NaN(), Interval: [2]float64{0, 1}}
		accuracy := l.Accuracy()
		s.TooFew = !(s.Rows >= plan.fewest()) || !accuracy.Known()
		if !p.hasGroup(column, names, g, s.TooFew) {
			continue
		}
		if !s.TooFew {
			s.Value, s.Interval = *accuracy.Value, *accuracy.Interval
			s.Classes = byTable(tables[g], out.Model)
			s.Classes.Positive = classes[1]
			l.Fill(s.Classes, classes)
		}
		out.Score.Groups = append(out.Score.Groups, s)
	}
	return nil
}

// byTable are the curves of a group, at the model's calibration. Losses are left out: the group's
// rows are among those that chose it.
func byTable(t *quality.Table, m *model.Model) *quality.Classification {
	if t == nil {
		return &quality.Classification{}
	}
	final, calibrated := quality.None, m.Calibration != nil
	if calibrated {
		final = *m.Calibration
	}
	c := quality.Judge([]quality.Half{{Table: t, Calibration: final, Advised: -1}}, final, calibrated)
	c.Brier, c.LogLoss, c.RawLogLoss, c.Calibration = nil, nil, nil, nil
	return c
}

// groupScore turns a loss into the score of the report.
func (p *problem) groupScore(name string, s release.GroupScore) GroupScore {
	v := GroupScore{Group: name, Rows: s.Rows, TooFew: s.TooFew}
	if p.task == model.Regression {
		span := p.scale.Upper - p.scale.Lower
		v.Value, v.Interval = s.Loss*span, [2]float64{s.Interval[0] * span, s.Interval[1] * span}
	} else {
		v.Value, v.Interval = 1-s.Loss, [2]float64{1 - s.Interval[1], 1 - s.Interval[0]}
	}
	return v
}

func groupName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// loss is a row's loss in [0, 1], NaN without a known target.
func (p *problem) loss(m *model.Model) func(cells []float64) float64 {
	if p.task == model.Regression {
		predict := p.unitPredictor(m)
		return func(cells []float64) float64 {
			return math.Abs(predict(cells) - p.scale.Unit(cells[p.targetColumn]))
		}
	}
	predict, classes := classPredictor(m), float64(len(m.Classes()))
	return func(cells []float64) float64 {
		y := cells[p.targetColumn]
		switch {
		case !(y >= 0 && y < classes):
			return math.NaN()
		case predict(cells) == int(y):
			return 0
		}
		return 1
	}
}

// byGroup is what the statement says about groups.
func (out *Outcome) byGroup(s *report.Statement) *report.ByGroup {
	p := out.Plan.problem
	if p.ScoreBy == "" {
		return nil
	}
	b := &report.ByGroup{Attribute: p.ScoreBy, Epsilon: s.Privacy.ByStage[groupsStage].Epsilon, Groups: []report.GroupScore{}}
	b.How = "released on held-out rows"
	if p.Test != HeldOut {
		b.How = "exact on public test rows"
	}
	for _, g := range out.Score.Groups {
		v := report.GroupScore{Group: g.Group, Value: report.Number(g.Value), Rows: report.Number(math.Round(g.Rows)), TooFew: g.TooFew}
		if !g.TooFew {
			v.Interval = &[2]report.Number{report.Number(g.Interval[0]), report.Number(g.Interval[1])}
		}
		if g.Exact != nil {
			n := report.Number(*g.Exact)
			v.Test = &n
		}
		if c := g.Classes; c != nil {
			v.Classification = c
			if a := c.AUROC; a != nil && a.Known() {
				n := report.Number(*a.Value)
				v.AUROC, v.AUROCInterval = &n, &[2]report.Number{report.Number(a.Interval[0]), report.Number(a.Interval[1])}
			}
		}
		b.Groups = append(b.Groups, v)
	}
	return b
}
