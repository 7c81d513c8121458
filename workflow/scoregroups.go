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
	"pawl/model"
	"pawl/report"
)

// groupsStage is the plan's name for scores by group.
const groupsStage = "score_by_group"

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
		hint = "the schema declares no categorical column beside the target"
	}
	i := p.Schema.Column(p.ScoreBy)
	if i < 0 {
		if near := schema.Nearest(p.ScoreBy, names); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return usage(hint, "cannot score by %q: it is not a column of the schema", p.ScoreBy)
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
	if p.task == model.Regression {
		metric = "mean absolute error"
	}
	if p.Test != HeldOut {
		plan.add(groupsStage, dp.Scope{}, fmt.Sprintf("exact %s in each of %d groups of %s on the public test rows", metric, len(names), p.ScoreBy))
		return nil
	}
	g := plan.groupScores()
	if err := plan.checkGroupSizes(g, len(names)); err != nil {
		return err
	}
	plan.add(groupsStage, plan.scoreScope, fmt.Sprintf("%s in each of %d groups of %s, from one noisy table; a row is in one group, so all groups cost one release", metric, len(names), p.ScoreBy), g.Event())
	return nil
}

// checkGroupSizes refuses more groups than the noise leaves anything to say about, by
// the public number of rows. How large each group is nobody knows yet.
func (plan *Plan) checkGroupSizes(g release.GroupScores, groups int) error {
	p := plan.problem
	if p.Rows == 0 {
		return nil
	}
	scored, need := float64(p.Rows)*plan.scoreScope.Fraction(), g.Fewest(p.rowsApart())
	each := scored / float64(groups)
	if each >= need {
		return nil
	}
	hint := "ask for a larger epsilon"
	if most := int(scored / need); most > 1 {
		hint += fmt.Sprintf(", or choose a column of at most %d categories", most)
	}
	return usage(hint, "cannot score by %q: %.0f rows in each of %d groups, if these are alike, drown in the noise at epsilon %s (%.0f are needed)",
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
	g := plan.groupScores()
	g.Loss = p.loss(out.Model)
	scores, err := g.Release(ctx, permit, env.Rows)
	if err != nil {
		return err
	}
	for i, s := range scores {
		if i == len(names) && s.TooFew && p.Schema.Columns[column].Missing != schema.MissingUnknown {
			continue // the schema knows no unknown cells, and no noisy number says otherwise
		}
		out.Score.Groups = append(out.Score.Groups, p.groupScore(groupName(names, i), s))
	}
	return nil
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
		b.Groups = append(b.Groups, v)
	}
	return b
}
