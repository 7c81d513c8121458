package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/noise"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/search/feature"
)

// published is the job of a selection as a paper has it, on public data: it reads exact
// statistics and pays for nothing. It is booked as what it is, so that the ledger holds the
// data set as public, or refuses where it holds it as sensitive.
type published struct{ *choosing }

func (c *published) price() error {
	c.plan.free = c.selector.Need() == feature.NeedNothing
	c.priceSelect(c.Method + " on exact statistics, not paid for")
	return nil
}

func (c *published) priceSelect(what string) {
	c.plan.add("select", c.plan.trainScope, what, dp.NonPrivate{})
	c.plan.priceNothing("NOT a privacy guarantee: as published, the choice uses rows without charge")
}

func (c *published) choose(ctx context.Context, env Env, _ *ledger.Permit, out *Selected) error {
	s := &feature.Statistics{Domain: c.layout.Domain}
	if !c.plan.free {
		var err error
		if s, err = c.from.exact(env.Rows); err != nil {
			return err
		}
	}
	if c.selector.Need() == feature.NeedPairTables {
		out.PublishedEpsilon = feature.PublishedCompositionEpsilon(c.occurring(s), 0.01, 1e-5)
	}
	var err error
	if out.Selection, err = c.pick(ctx, s); errors.Is(err, feature.ErrOneClass) {
		return usage("check the file", "target %q: all rows have one class", c.plan.problem.Target)
	}
	return err
}

func (c *published) describe() description {
	return c.replayed("as published: exact statistics, not paid for")
}

func (c *published) replayed(search string) description {
	d := c.described(search)
	d.asPublished, d.features.unpaid = true, true
	return d
}

// publishedLocal releases a table of rows beside, as published.
type publishedLocal struct{ published }

func (c *publishedLocal) price() error {
	c.priceSelect(c.Method + " on exact statistics, not paid for")
	c.plan.add("rows", c.plan.trainScope, "rows of the chosen features with noise as published; labels unchanged; not charged", dp.NonPrivate{})
	return nil
}

func (c *publishedLocal) choose(ctx context.Context, env Env, permit *ledger.Permit, out *Selected) (err error) {
	if err := c.published.choose(ctx, env, permit, out); err != nil {
		return err
	}
	out.PublishedEpsilon, _ = c.plan.problem.epsilon.Float64()
	out.Table, err = c.noisyRows(env.Rows, permit.Randomness("rows"), out.Selection.Chosen)
	return err
}

// noisyRows is Algorithm 1 of the paper after the choice, on public rows: noise of
// deviation 2·N·ln(1/δ)/ε on every entry, where N is the largest L1 norm of a row that is
// cut to the chosen columns. N and the choice come from the rows themselves and labels leave as
// they are, so epsilon is not kept (docs/READING.md, H10).
func (c *publishedLocal) noisyRows(rows *intake.Rows, src *entropy.Source, chosen []feature.Choice) (*NoisyTable, error) {
	p, sums := c.plan.problem, c.from.(*classColumns)
	entries := sums.entries(chosen)
	r := sums.rowsOf(entries, make([]float64, len(entries)), math.Sqrt(float64(len(entries))))
	r.Rows, r.PublicLabels = 1, true // as many as there are
	exact, err := r.Public(rows)
	if err != nil {
		return nil, err
	}
	t := sums.table(entries, exact)
	for i := range t.Rows {
		sum := 0.0
		for _, v := range t.X[i*len(entries) : (i+1)*len(entries)] {
			sum += math.Abs(v)
		}
		t.Norm = max(t.Norm, sum)
	}
	epsilon, _ := p.epsilon.Float64()
	t.StdDev = 2 * t.Norm * math.Log(1/p.delta) / epsilon
	noise.AddGaussian(src, t.X, t.StdDev)
	return t, nil
}

func (c *publishedLocal) describe() description {
	return c.replayed("as published: exact sums choose, not paid for")
}

// everyLevelAColumn is the published encoding: each level of each category, ordered,
// two-level and unknown ones included.
func (c *choosing) everyLevelAColumn() {
	s := c.schema
	for i := range c.layout.Domain.Attributes {
		a := &c.layout.Domain.Attributes[i]
		// A grade of few values is a category there.
		col := &s.Columns[s.Column(a.Name)]
		if col.Type != schema.Numeric && (col.Type != schema.Integer || col.Upper-col.Lower < 5) {
			nameGrades(a, col)
			a.OneHot, a.Unknown = true, false
		}
	}
}

// nameGrades names the levels of an integer by its values rather than by their places.
func nameGrades(a *feature.Attribute, col *schema.Column) {
	if col.Type != schema.Integer {
		return
	}
	var names []string
	for v := col.Lower; v <= col.Upper; v++ {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if a.Unknown {
		names = append(names, encode.UnknownLevel)
	}
	if len(names) != a.Levels { // fewer bins than values: no level is a value
		names = names[:0]
		for b := range a.Levels {
			names = append(names, fmt.Sprintf("bin %d of %d", b+1, a.Levels))
		}
	}
	a.LevelNames = names
}

// occurring counts the columns that are not the same in all rows: the published
// encoding has only these.
func (c *published) occurring(s *feature.Statistics) int {
	n := 0
	for _, col := range s.Domain.Columns(c.Level) {
		if col.Level < 0 || len(s.LabelTables) == 0 {
			n++
			continue
		}
		t := s.LabelTables[col.Attribute]
		rows := 0.0
		for y := range t.Cols {
			rows += t.Counts[col.Level*t.Cols+y]
		}
		if rows > 0 && rows < t.Total() {
			n++
		}
	}
	return n
}
