package pawl

import (
	"context"
	"math"

	"pawl/data/source"
	"pawl/internal/request"
	"pawl/report"
)

// Describe asks for a description of a table: counts, histograms, quantiles, means, the target by
// level and rank correlations, with 95 % intervals, in one release. [Result.Description] has it.
type Describe struct {
	// Target is the column by which the others are broken down, a class or a number; "" for that
	// of a built-in data set, and none for your own.
	Target string
	// Columns are those to describe, nil for all that can be.
	Columns []string
	// Budget is what it may cost, and whether it runs where its noise hides nearly everything.
	// Without an Epsilon the figures of a public data set are exact,
	// and cost nothing.
	Budget   Budget
	Seed     *uint64
	Identity Identity
}

func (d Describe) plan(ctx context.Context, desk *request.Desk, data *source.Data) (*request.Job, error) {
	f := Fit{Target: d.Target, Budget: d.Budget, Seed: d.Seed, Identity: d.Identity}.request()
	return desk.Describe(ctx, data, &request.Describe{Fit: f, Columns: d.Columns})
}

func (d Describe) as(sameAs string) Job { d.Identity.SameAs = sameAs; return d }

// Estimate is a figure with its 95 % interval. Value is NaN where the noise leaves it open.
type Estimate struct {
	Value    float64
	Interval [2]float64
}

// Description is what a [Describe] released. Counts are about the rows at hand, with intervals for
// the noise; all else is about the population that the units come from, with intervals for the
// noise and the sampling of units. Result.Statement has it as JSON, with more detail.
type Description struct {
	// Exact says that the data set is public and nothing was charged.
	Exact   bool
	Rows    Estimate
	Target  string // "" for none
	Columns []ColumnDescription
	// Correlated are the columns of Correlations, a symmetric matrix of Spearman's rank
	// correlations; both are empty where there are none.
	Correlated   []string
	Correlations [][]Estimate
}

// ColumnDescription describes one column.
type ColumnDescription struct {
	Name, Type string
	// Levels are categories in their declared order, or bins of a number, Missing the cells
	// without information, nil where the schema allows none.
	Levels  []LevelDescription
	Missing *LevelDescription
	// Mean, StdDev and the quantiles are those of a number, nil and empty for others.
	Mean, StdDev *Estimate
	Quantiles    map[float64]Estimate
	// ByLevel is the target by level, or by groups of neighbouring bins.
	ByLevel []TargetDescription
}

// LevelDescription is a category, or a bin from Lower to Upper.
type LevelDescription struct {
	Name         string
	Lower, Upper float64 // of a bin
	Count, Share Estimate
}

// TargetDescription is the target among the rows of some levels: Rates of its classes, by name, or
// the Mean of a number.
type TargetDescription struct {
	Name  string
	Rates map[string]Estimate
	Mean  *Estimate
}

// LoadDescription reads a description that was written before, from its folder or its
// statement.json. It costs nothing, and needs neither data nor ledger.
//
// Errors: [ErrUsage] for a missing file and one that holds no description.
func LoadDescription(path string) (*Result, error) {
	s, err := request.Described(path)
	if err != nil {
		return nil, fail(err)
	}
	r, err := newResult(&request.Done{Statement: s})
	return r, fail(err)
}

func newDescription(d *report.Description) *Description {
	out := &Description{Exact: d.Exact, Rows: Estimate{float64(d.Rows.Value), ends(d.Rows.Interval)}, Target: d.Target}
	for i := range d.Columns {
		c := &d.Columns[i]
		x := ColumnDescription{Name: c.Name, Type: c.Type, Mean: estimate(c.Mean), StdDev: estimate(c.StdDev)}
		for l := range c.Levels {
			x.Levels = append(x.Levels, newLevel(&c.Levels[l]))
		}
		if c.Missing != nil {
			l := newLevel(c.Missing)
			x.Missing = &l
		}
		if len(c.Quantiles) > 0 {
			x.Quantiles = map[float64]Estimate{}
		}
		for k := range c.Quantiles {
			x.Quantiles[float64(c.Quantiles[k].Share)] = *estimate(&c.Quantiles[k].Figure)
		}
		for _, g := range c.Target {
			t := TargetDescription{Name: g.Name, Mean: estimate(g.Mean)}
			if len(g.Classes) > 0 {
				t.Rates = map[string]Estimate{}
			}
			for k, class := range g.Classes {
				t.Rates[class] = *estimate(g.Rates[k])
			}
			x.ByLevel = append(x.ByLevel, t)
		}
		out.Columns = append(out.Columns, x)
	}
	if d.Ranks == nil {
		return out
	}
	out.Correlated = d.Ranks.Columns
	for _, line := range d.Ranks.Matrix {
		row := make([]Estimate, len(line))
		for j, f := range line {
			row[j] = Estimate{math.NaN(), [2]float64{-1, 1}}
			if f != nil {
				row[j] = *estimate(f)
			}
		}
		out.Correlations = append(out.Correlations, row)
	}
	return out
}

func newLevel(l *report.DescribedLevel) LevelDescription {
	out := LevelDescription{Name: l.Name, Count: Estimate{float64(l.Count.Value), ends(l.Count.Interval)}, Share: *estimate(&l.Share)}
	if l.Lower != nil && l.Upper != nil {
		out.Lower, out.Upper = float64(*l.Lower), float64(*l.Upper)
	}
	return out
}

func estimate(f *report.Figure) *Estimate {
	if f == nil {
		return nil
	}
	return &Estimate{float64(f.Value), ends(f.Interval)}
}

func ends(i [2]report.Number) [2]float64 { return [2]float64{float64(i[0]), float64(i[1])} }
