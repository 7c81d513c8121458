package pawl

import (
	"cmp"
	"math"

	"pawl/internal/request"
	"pawl/report"
)

// Describe releases a description of a table once: counts, histograms, quantiles, means, the target by
// level and rank correlations, with 95 % intervals. [Result.Description] holds it.
type Describe struct {
	// Target is the column that is broken down by the other columns; "" is the target of a built-in
	// data set, and none for your own.
	Target string
	// Columns are the columns to describe; nil is all that can be described.
	Columns []string
	// Budget is the most that it may cost. For a public data set, Epsilon may be empty: the
	// figures are then exact and cost nothing.
	Budget   Budget
	Seed     *uint64
	Identity Identity
}

func (d Describe) request() request.Asked {
	return &request.Describe{Fit: Fit{Target: d.Target, Budget: d.Budget, Seed: d.Seed, Identity: d.Identity}.fit(), Columns: d.Columns}
}

// Estimate is a figure with its 95 % interval. Value is NaN if the noise does not determine it.
type Estimate struct {
	Value    float64
	Interval [2]float64
}

// Description is the result of a [Describe]. Counts describe the rows at hand, and their intervals
// cover the noise; all other figures describe the population from which the units come, and their
// intervals cover the noise and the sampling of units. Result.Statement holds more detail, as JSON.
type Description struct {
	// Exact reports that the data set is public and nothing was charged.
	Exact   bool
	Rows    Estimate
	Target  string // "" for none
	Columns []ColumnDescription
	// Correlated lists the columns of Correlations, a symmetric matrix of Spearman's rank
	// correlations. Both are empty if there are none.
	Correlated   []string
	Correlations [][]Estimate
}

// ColumnDescription describes one column.
type ColumnDescription struct {
	Name, Type string
	// Levels are categories in their declared order, or bins of a number. Missing counts the missing
	// cells, nil if the schema allows none.
	Levels  []LevelDescription
	Missing *LevelDescription
	// Mean, StdDev and Quantiles (by share) are for numeric columns, nil for others.
	Mean, StdDev *Estimate
	Quantiles    map[float64]Estimate
	// ByLevel is the target by level or by group of neighbouring bins.
	ByLevel []TargetDescription
}

// LevelDescription is a category, or a bin from Lower to Upper.
type LevelDescription struct {
	Name         string
	Lower, Upper float64 // of a bin
	Count, Share Estimate
}

// TargetDescription is the target in the rows of some levels: the Rates of its classes by name, or
// the Mean of a number.
type TargetDescription struct {
	Name  string
	Rates map[string]Estimate
	Mean  *Estimate
}

// LoadDescription reads an earlier description from its folder or its
// statement.json. It costs nothing and needs neither data nor ledger.
//
// Errors: [ErrUsage] for a missing file and one that holds no description.
func LoadDescription(path string) (*Result, error) {
	s, err := request.Described(path)
	if err != nil {
		return nil, fail(err)
	}
	return handle(newResult(&request.Done{Statement: s}))
}

func newDescription(d *report.Description) *Description {
	out := &Description{Exact: d.Exact, Rows: figure(d.Rows.Value, d.Rows.Interval), Target: d.Target}
	for i := range d.Columns {
		c := &d.Columns[i]
		x := ColumnDescription{Name: c.Name, Type: c.Type, Mean: estimate(c.Mean), StdDev: estimate(c.StdDev), Missing: newLevel(c.Missing)}
		for l := range c.Levels {
			x.Levels = append(x.Levels, *newLevel(&c.Levels[l]))
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
		var row []Estimate
		for _, f := range line {
			row = append(row, *cmp.Or(estimate(f), &Estimate{math.NaN(), [2]float64{-1, 1}}))
		}
		out.Correlations = append(out.Correlations, row)
	}
	return out
}

func newLevel(l *report.DescribedLevel) *LevelDescription {
	if l == nil {
		return nil
	}
	out := &LevelDescription{Name: l.Name, Count: figure(l.Count.Value, l.Count.Interval), Share: *estimate(&l.Share)}
	if l.Lower != nil && l.Upper != nil {
		out.Lower, out.Upper = float64(*l.Lower), float64(*l.Upper)
	}
	return out
}

func estimate(f *report.Figure) *Estimate {
	if f == nil {
		return nil
	}
	e := figure(f.Value, f.Interval)
	return &e
}

func figure(value report.Number, interval [2]report.Number) Estimate {
	return Estimate{float64(value), [2]float64{float64(interval[0]), float64(interval[1])}}
}
