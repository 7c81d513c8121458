package advise

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// menu.csv holds what every entry of the menu scores on public data sets. `pawl advise
// measure` makes it, a cell at a time.
//
//go:embed menu.csv
var menuFile []byte

// Kind is the form of a data set.
type Kind string

const (
	TableKind  Kind = "table"
	TextKind   Kind = "text"
	ImageKind  Kind = "images"
	VectorKind Kind = "vectors"
)

// MenuCell is what one entry scores on one data set at one ε: in points, that is in % of
// test rows that are right, or, for a regression, in % of the mean predictor's absolute
// error that the model takes away. All of ε trains; test rows are public.
type MenuCell struct {
	Data string
	Kind Kind
	Task string // classification or regression
	// Rows train.
	Rows           int
	Epsilon, Delta float64
	// Ratio is r = n/σ₁(ε, δ) at the default δ, also where the entry took δ = 0.
	Ratio float64
	// Entry is a learner of fit, or a network.
	Entry string
	// Scores are those of independent runs, in the order of their seeds; runs of one
	// number have one split in common.
	Scores []float64
	// Tested is the number of test rows of a run.
	Tested int
	// Baseline is the mean score of the majority class or the mean.
	Baseline float64
	Command  string
}

// Mean is the mean score.
func (c MenuCell) Mean() float64 { return stat.Mean(c.Scores, nil) }

// Interval is the mean's 95 % interval: Student's t over runs or, where one run is all
// there is, the sampling error of its test rows. A hundred points either way say that
// nothing is known of it.
func (c MenuCell) Interval() (low, high float64) {
	n := float64(len(c.Scores))
	mean, sd := stat.MeanStdDev(c.Scores, nil)
	half := 100.0
	switch {
	case n > 1:
		half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
	case c.Tested > 0 && c.Task != "regression":
		p := mean / 100
		half = 196 * math.Sqrt(p*(1-p)/float64(c.Tested))
	}
	return mean - half, mean + half
}

// Menu is a table of cells.
type Menu []MenuCell

// Measured is the table that the program carries.
var Measured = sync.OnceValue(func() Menu {
	m, err := ReadMenu(bytes.NewReader(menuFile))
	if err != nil {
		panic(fmt.Sprintf("advise: menu.csv: %v", err))
	}
	return m
})

// Find returns the cell of an entry.
func (m Menu) Find(data string, epsilon float64, entry string) (MenuCell, bool) {
	i := slices.IndexFunc(m, func(c MenuCell) bool { return c.Data == data && c.Epsilon == epsilon && c.Entry == entry })
	if i < 0 {
		return MenuCell{}, false
	}
	return m[i], true
}

// At returns the cells of a data set at an ε, best first.
func (m Menu) At(data string, epsilon float64) Menu {
	var out Menu
	for _, c := range m {
		if c.Data == data && c.Epsilon == epsilon {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b MenuCell) int {
		switch x, y := a.Mean(), b.Mean(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a.Entry, b.Entry)
	})
	return out
}

// Put adds a cell, or replaces that of the same data, ε and entry.
func (m *Menu) Put(c MenuCell) {
	for i := range *m {
		if o := &(*m)[i]; o.Data == c.Data && o.Epsilon == c.Epsilon && o.Entry == c.Entry {
			*o = c
			return
		}
	}
	*m = append(*m, c)
}

var menuHeader = []string{"data", "kind", "task", "rows", "epsilon", "delta", "r", "entry", "mean", "low", "high", "runs", "baseline", "tested", "scores", "command"}

// Write writes the table as CSV. mean, low, high and runs follow from scores; they are
// there to be read.
func (m Menu) Write(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(menuHeader); err != nil {
		return err
	}
	for _, cell := range m {
		low, high := cell.Interval()
		scores := make([]string, len(cell.Scores))
		for i, v := range cell.Scores {
			scores[i] = hundredths(v)
		}
		err := c.Write([]string{cell.Data, string(cell.Kind), cell.Task, strconv.Itoa(cell.Rows), plain(cell.Epsilon), plain(cell.Delta),
			strconv.FormatFloat(cell.Ratio, 'g', 5, 64), cell.Entry, hundredths(cell.Mean()), hundredths(low), hundredths(high), strconv.Itoa(len(cell.Scores)),
			hundredths(cell.Baseline), strconv.Itoa(cell.Tested), strings.Join(scores, " "), cell.Command})
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func plain(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func hundredths(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// ReadMenu reads what Write wrote.
func ReadMenu(r io.Reader) (Menu, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || !slices.Equal(records[0], menuHeader) {
		return nil, fmt.Errorf("the header is not %s", strings.Join(menuHeader, ","))
	}
	var m Menu
	for i, f := range records[1:] {
		c := MenuCell{Data: f[0], Kind: Kind(f[1]), Task: f[2], Entry: f[7], Command: f[15]}
		number := func(s string) float64 {
			v, e := strconv.ParseFloat(s, 64)
			if e != nil || v != v || math.IsInf(v, 0) {
				err = errors.Join(err, fmt.Errorf("line %d: a number is malformed", i+2))
			}
			return v
		}
		c.Rows, c.Epsilon, c.Delta, c.Ratio = int(number(f[3])), number(f[4]), number(f[5]), number(f[6])
		c.Baseline, c.Tested = number(f[12]), int(number(f[13]))
		for _, s := range strings.Fields(f[14]) {
			c.Scores = append(c.Scores, number(s))
		}
		if len(c.Scores) == 0 {
			err = errors.Join(err, fmt.Errorf("line %d: no scores", i+2))
		}
		m = append(m, c)
	}
	return m, err
}
