package report

// DescriptionVersion is the version of Description that this package writes. It grows when a
// field changes its meaning; a new field does not change it.
const DescriptionVersion = 1

// Description is what pawl describe releases of a table. Counts are about the rows at hand: their
// intervals cover the noise. All else is about the population that the units come from: intervals
// cover the noise and the sampling of units, whose rows may all be alike. Every interval is a
// 95 % interval.
type Description struct {
	Version int `json:"version"`
	// Exact says that the data set is public: there is no noise, and nothing was charged.
	Exact bool  `json:"exact"`
	Rows  Count `json:"rows"`
	// RowsDeclared says that the number of rows is public and was taken as declared.
	RowsDeclared bool `json:"rows_declared"`
	// Noise has the standard deviations of the noise.
	Noise DescriptionNoise `json:"noise"`
	// Target is the column by which the others are broken down, "" for none.
	Target  string            `json:"target,omitempty"`
	Columns []DescribedColumn `json:"columns"`
	Ranks   *Correlations     `json:"rank_correlations,omitempty"`
	Left    []ColumnLeftOut   `json:"left_out"`
	Notes   []string          `json:"notes"`
}

// DescriptionNoise has standard deviations in rows: of a count by itself, of a cell with the
// target, and of a sum of numbers as a multiple of half a declared range.
type DescriptionNoise struct {
	Count       Number `json:"count"`
	Target      Number `json:"with_target"`
	Sum         Number `json:"sum"`
	Correlation Number `json:"correlation"`
}

// Count is a number of rows.
type Count struct {
	// Value is at least 0 and adds up; Estimate is without bias, and may be negative.
	Value    Number    `json:"value"`
	Interval [2]Number `json:"interval"`
	Estimate Number    `json:"estimate"`
}

// Figure is a number with its interval; Value is null where the noise leaves it open.
type Figure struct {
	Value    Number    `json:"value"`
	Interval [2]Number `json:"interval"`
}

// DescribedColumn is one column.
type DescribedColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Levels are categories, or bins of a number.
	Levels []DescribedLevel `json:"levels"`
	// Missing is the cells without information, nil where the schema allows none.
	Missing *DescribedLevel `json:"missing,omitempty"`
	// Logarithmic says that the bins grow in proportion.
	Logarithmic bool `json:"logarithmic,omitempty"`
	// Of numbers, over the cells that are known.
	Mean      *Figure    `json:"mean,omitempty"`
	StdDev    *Figure    `json:"standard_deviation,omitempty"`
	Quantiles []Quantile `json:"quantiles,omitempty"`
	// Target is the target by level, or by groups of neighbouring bins.
	Target []TargetGroup `json:"target,omitempty"`
}

// DescribedLevel is a category, or a bin from Lower to below Upper; the last bin, and a bin of
// whole numbers, holds Upper too.
type DescribedLevel struct {
	Name  string  `json:"name"`
	Lower *Number `json:"lower,omitempty"`
	Upper *Number `json:"upper,omitempty"`
	Count Count   `json:"count"`
	Share Figure  `json:"share"`
}

// Quantile is the value below which a share of the known cells lies.
type Quantile struct {
	Share Number `json:"share"`
	Figure
}

// TargetGroup is the target among the rows of a level: Rates of its classes in their order, with
// a last one for rows without a class where the schema allows them; or the Mean of a number.
type TargetGroup struct {
	Name string `json:"name"`
	// Levels are the indices of the levels that it holds; empty for the missing one.
	Levels  []int     `json:"levels"`
	Classes []string  `json:"classes,omitempty"`
	Counts  []Count   `json:"counts,omitempty"`
	Rates   []*Figure `json:"rates,omitempty"`
	Mean    *Figure   `json:"mean,omitempty"`
}

// Correlations are rank correlations (Spearman's) of columns with an order. A missing cell has
// the middle rank.
type Correlations struct {
	Columns []string    `json:"columns"`
	Matrix  [][]*Figure `json:"matrix"` // null where a column hardly varies
}

// ColumnLeftOut is a column that is not described, and why.
type ColumnLeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}
