// Command regret measures what the rules of pawl fit gain or lose against what they pass over, at the same total
// epsilon, on tables that set none of a rule's constants and on those that did, and stores every score. docs/ADVICE.md
// takes its tables from that file (go test ./bench/regret -update).
//
//	go run ./bench/regret -data-dir FOLDER [-file bench/regret/regret.csv] [-rules target-scale,curves] [-data adult,telco]
//
// Measured cells are kept: run it again to go on. FOLDER holds built-in tables and the folder wild with those of
// the replay mission-tables.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"pawl/data/schema"
	"pawl/evidence/lab"
	"pawl/experiments/runners"
	"pawl/experiments/selectionstudy"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// rule is a decision of fit and what it passes over. Both arms have the same rows, seed and total (epsilon, delta).
type rule struct {
	name, title, other string
	mine, theirs       func(ctx context.Context, t *lab.Table, epsilon string, seed uint64) (float64, error)
	cases              []problem
}

// problem is a table at several epsilons: rows of it train, others test. A target "column > number" or "column = level"
// is the two classes of rows that have it and those that do not.
type problem struct {
	data, target string
	rows, runs   int
	epsilons     []string
	// set says that the target set a constant of the rule, and so does not judge it.
	set bool
}

// most test rows of a run.
const mostTest = 8000

func fit(change func(*workflow.Input)) func(context.Context, *lab.Table, string, uint64) (float64, error) {
	return func(ctx context.Context, t *lab.Table, epsilon string, seed uint64) (float64, error) {
		out, err := t.Fit(ctx, epsilon, "", seed, change)
		if err != nil {
			return 0, err
		}
		return points(out), nil
	}
}

// points are percent of test rows that are right or, for a number, of the mean predictor's absolute error that the
// model removes.
func points(out *workflow.Outcome) float64 {
	if out.Score.Numbers != nil {
		return 100 * (1 - *out.Score.Exact / *out.Score.ExactBaseline)
	}
	return 100 * *out.Score.Exact
}

func linear(in *workflow.Input) { in.Model = "linear" }

// small are tables on which models are cheap, of which none set a rule about choosing.
func small(runs int, epsilons ...string) []problem {
	return []problem{
		{data: "germancredit", target: "credit_risk", rows: 667, runs: runs, epsilons: epsilons},
		{data: "stroke", target: "ever_married", rows: 3400, runs: runs, epsilons: epsilons},
		{data: "telco", target: "Churn", rows: 4700, runs: runs, epsilons: epsilons},
		{data: "mushrooms", target: "class", rows: 5400, runs: runs, epsilons: epsilons},
		{data: "compas", target: "two_year_recid", rows: 4800, runs: runs, epsilons: epsilons},
		{data: "abalone", target: "rings", rows: 2784, runs: runs, epsilons: epsilons},
		{data: "bankfull", target: "housing", rows: 7400, runs: runs, epsilons: epsilons},
	}
}

var rules = []rule{
	{
		name: "target-scale", title: "The scale of an amount is bent (linear model)", other: "linear scale",
		mine:   fit(linear),
		theirs: fit(func(in *workflow.Input) { linear(in); in.TargetScale = "linear" }),
		cases: []problem{
			{data: "insurance", target: "charges", rows: 892, runs: 10, epsilons: []string{"0.5", "1", "3"}, set: true},
			{data: "telco", target: "TotalCharges", rows: 1000, runs: 10, epsilons: []string{"0.3", "1", "3"}, set: true},
			{data: "germancredit", target: "amount", rows: 667, runs: 10, epsilons: []string{"1", "3"}, set: true},
			{data: "bankfull", target: "balance", rows: 1500, runs: 10, epsilons: []string{"0.3", "1", "3"}, set: true},
			{data: "kc_house", target: "sqft_living", rows: 1500, runs: 10, epsilons: []string{"0.3", "1", "3"}, set: true},
			{data: "kc_house", target: "sqft_above", rows: 3000, runs: 10, epsilons: []string{"0.3", "1"}},
			{data: "kc_house", target: "sqft_living15", rows: 3000, runs: 10, epsilons: []string{"0.3", "1"}},
			{data: "kc_house", target: "sqft_basement", rows: 3000, runs: 10, epsilons: []string{"0.3", "1"}},
			{data: "kc_house", target: "yr_renovated", rows: 3000, runs: 10, epsilons: []string{"0.3", "1"}},
			{data: "wdbc", target: "mean_area", rows: 379, runs: 10, epsilons: []string{"1", "3"}},
			{data: "wdbc", target: "worst_area", rows: 379, runs: 10, epsilons: []string{"1", "3"}},
		},
	},
	{
		name: "curves", title: "Curves near the smallest r at which they are taken, pairs near theirs, and single cells of heavy-tailed columns", other: "the linear model",
		mine:   fit(nil),
		theirs: fit(linear),
		cases: []problem{
			{data: "telco", target: "Churn", rows: 4700, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "compas", target: "two_year_recid", rows: 4800, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "stroke", target: "ever_married", rows: 3400, runs: 20, epsilons: []string{"1.2", "2.5"}, set: true},
			{data: "mushrooms", target: "class", rows: 5400, runs: 20, epsilons: []string{"0.8"}, set: true},
			{data: "abalone", target: "rings > 9", rows: 2784, runs: 20, epsilons: []string{"1.5"}, set: true},
			{data: "adult", target: "sex", rows: 6000, runs: 20, epsilons: []string{"0.7"}, set: true},
			{data: "telco", target: "Partner", rows: 4700, runs: 20, epsilons: []string{"0.9", "1.8"}},
			{data: "telco", target: "PaperlessBilling", rows: 4700, runs: 20, epsilons: []string{"0.9"}},
			{data: "compas", target: "sex", rows: 4800, runs: 20, epsilons: []string{"0.9"}},
			{data: "stroke", target: "hypertension", rows: 3400, runs: 20, epsilons: []string{"1.2", "2.5"}},
			{data: "mushrooms", target: "bruises", rows: 5400, runs: 20, epsilons: []string{"0.8"}},
			{data: "abalone", target: "sex = I", rows: 2784, runs: 20, epsilons: []string{"1.5"}},
			{data: "bankfull", target: "contact = cellular", rows: 6000, runs: 20, epsilons: []string{"0.7"}},
			{data: "bankfull", target: "marital = married", rows: 6000, runs: 20, epsilons: []string{"0.7"}},
			{data: "kc_house", target: "floors > 1", rows: 6000, runs: 20, epsilons: []string{"0.7"}},
			{data: "adult", target: "age > 40", rows: 6000, runs: 20, epsilons: []string{"0.7"}},
			{data: "adult", target: "workclass = Private", rows: 9000, runs: 20, epsilons: []string{"1.9"}},
			{data: "bankfull", target: "housing", rows: 7800, runs: 20, epsilons: []string{"1.9"}},
			{data: "kc_house", target: "bedrooms > 3", rows: 13290, runs: 20, epsilons: []string{"2.5", "5"}, set: true},
			{data: "adult", target: "race = White", rows: 26048, runs: 20, epsilons: []string{"1.1", "3"}, set: true},
			{data: "kc_house", target: "yr_built > 1975", rows: 13290, runs: 20, epsilons: []string{"2.5", "5"}},
			{data: "kc_house", target: "bathrooms > 2", rows: 13290, runs: 20, epsilons: []string{"2.5", "5"}},
			{data: "adult", target: "marital-status = Never-married", rows: 26048, runs: 20, epsilons: []string{"1.1", "3"}},
			{data: "adult", target: "hours-per-week > 40", rows: 26048, runs: 20, epsilons: []string{"1.1", "3"}},
			{data: "abalone", target: "rings", rows: 2784, runs: 20, epsilons: []string{"1.2"}, set: true},
			{data: "bankfull", target: "age", rows: 4000, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "telco", target: "MonthlyCharges", rows: 4000, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "telco", target: "tenure", rows: 4000, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "telco", target: "TotalCharges", rows: 4000, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "kc_house", target: "sqft_living15", rows: 4000, runs: 20, epsilons: []string{"0.9"}, set: true},
			{data: "kc_house", target: "sqft_above", rows: 4000, runs: 20, epsilons: []string{"0.9", "1.5"}, set: true},
			{data: "stroke", target: "age", rows: 3400, runs: 20, epsilons: []string{"1"}},
			{data: "compas", target: "age", rows: 4000, runs: 20, epsilons: []string{"0.9"}},
			{data: "adult", target: "hours-per-week", rows: 4000, runs: 20, epsilons: []string{"0.9"}},
			{data: "adult", target: "education-num", rows: 4000, runs: 20, epsilons: []string{"0.9"}},
			{data: "kc_house", target: "lat", rows: 4000, runs: 20, epsilons: []string{"0.9"}},
			{data: "kc_house", target: "sqft_basement", rows: 4000, runs: 20, epsilons: []string{"0.9"}},
		},
	},
	{
		name: "columns", title: "All columns are used", other: "the 5 columns that noisy tables rank highest (a fifth of the budget)",
		mine: fit(nil),
		theirs: func(ctx context.Context, t *lab.Table, epsilon string, seed uint64) (float64, error) {
			e, err := strconv.ParseFloat(epsilon, 64)
			if err != nil {
				return 0, err
			}
			return selectionstudy.Chosen(ctx, t, e, 5, seed)
		},
		cases: small(10, "0.1", "1", "3"),
	},
	{
		name: "no-search", title: "No search", other: "a private search over models of tables, 8 training runs on average",
		mine: fit(nil),
		theirs: func(ctx context.Context, t *lab.Table, epsilon string, seed uint64) (float64, error) {
			among, ok := space.Lookup("tabular")
			if !ok {
				return 0, errors.New("no space of tables")
			}
			by, err := search.New(search.PS)
			if err != nil {
				return 0, err
			}
			by.Mean = 8
			out, err := t.Search(ctx, epsilon, "", seed, among, by)
			if err != nil {
				return 0, err
			}
			return points(out), nil
		},
		cases: small(5, "1", "3"),
	},
}

// cell is what was measured of a rule on a table at an epsilon.
type cell struct {
	rule, data, target, epsilon string
	rows                        int
	ratio                       float64
	mine, theirs                []float64
}

var columns = []string{"rule", "data", "target", "rows", "epsilon", "r", "by_rule", "passed_over"}

func (c cell) same(o cell) bool {
	return c.rule == o.rule && c.data == o.data && c.target == o.target && c.epsilon == o.epsilon && c.rows == o.rows
}

func read(path string) (cells []cell, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 || !slices.Equal(all[0], columns) {
		return nil, fmt.Errorf("%s: want the columns %s", path, strings.Join(columns, ", "))
	}
	for i, r := range all[1:] {
		c := cell{rule: r[0], data: r[1], target: r[2], epsilon: r[4]}
		var errs [4]error
		c.rows, errs[0] = strconv.Atoi(r[3])
		c.ratio, errs[1] = strconv.ParseFloat(r[5], 64)
		c.mine, errs[2] = numbers(r[6])
		c.theirs, errs[3] = numbers(r[7])
		if err := errors.Join(errs[:]...); err != nil || len(c.mine) != len(c.theirs) || len(c.mine) < 2 {
			return nil, fmt.Errorf("%s:%d: not a measured cell", path, i+2)
		}
		cells = append(cells, c)
	}
	return cells, nil
}

func numbers(s string) (all []float64, err error) {
	for _, f := range strings.Fields(s) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func write(path string, cells []cell) error {
	at := func(c cell) (int, int) {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.name == c.rule })
		return i, slices.IndexFunc(rules[i].cases, func(p problem) bool { return p.data == c.data && p.target == c.target && p.rows == c.rows })
	}
	slices.SortStableFunc(cells, func(a, b cell) int {
		i, k := at(a)
		j, l := at(b)
		if i != j || k != l {
			return 1000*(i-j) + k - l
		}
		if a.ratio < b.ratio {
			return -1
		}
		return 1
	})
	var b strings.Builder
	w := csv.NewWriter(&b)
	words := func(v []float64) string {
		var all []string
		for _, x := range v {
			all = append(all, strconv.FormatFloat(x, 'f', 3, 64))
		}
		return strings.Join(all, " ")
	}
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, c := range cells {
		if err := w.Write([]string{c.rule, c.data, c.target, strconv.Itoa(c.rows), c.epsilon, strconv.FormatFloat(c.ratio, 'f', 1, 64), words(c.mine), words(c.theirs)}); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func main() {
	dir := flag.String("data-dir", os.Getenv("PAWL_DATA"), "folder of data sets (default: PAWL_DATA)")
	file := flag.String("file", "bench/regret/regret.csv", "file of measurements to fill")
	only := flag.String("rules", "", "rules, with commas between (default: all)")
	data := flag.String("data", "", "data sets, with commas between (default: all)")
	flag.Parse()
	if err := measure(context.Background(), *dir, *file, *only, *data); err != nil {
		fmt.Fprintln(os.Stderr, "regret:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, dir, file, only, data string) error {
	cells, err := read(file)
	if err != nil {
		return err
	}
	// Of rules and tables that are measured no more nothing is kept.
	cells = slices.DeleteFunc(cells, func(c cell) bool { return !wanted(c) })
	for _, r := range rules {
		if !among(only, r.name) {
			continue
		}
		for _, p := range r.cases {
			if !among(data, p.data) {
				continue
			}
			var whole *lab.Table
			for _, epsilon := range p.epsilons {
				c := cell{rule: r.name, data: p.data, target: p.target, rows: p.rows, epsilon: epsilon}
				if slices.ContainsFunc(cells, func(o cell) bool { return c.same(o) && len(o.mine) >= p.runs }) {
					continue
				}
				if whole == nil {
					if whole, err = open(p, dir); err != nil {
						return err
					}
				}
				if err := c.measure(ctx, r, p, whole); err != nil {
					return fmt.Errorf("%s, %s, epsilon %s: %w", r.name, p.data, epsilon, err)
				}
				cells = append(slices.DeleteFunc(cells, c.same), c)
				if err := write(file, cells); err != nil {
					return err
				}
				mean, half := difference(c.mine, c.theirs)
				fmt.Printf("%s, %s of %s, %d rows, ε %s, r %.0f: %+.2f ± %.2f points\n", r.name, p.target, p.data, p.rows, epsilon, c.ratio, mean, half)
			}
		}
	}
	return nil
}

// among says whether a list with commas has a word; an empty one has all.
func among(list, word string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), word)
}

func wanted(c cell) bool {
	for _, r := range rules {
		for _, p := range r.cases {
			if c.rule == r.name && c.data == p.data && c.target == p.target && c.rows == p.rows && slices.Contains(p.epsilons, c.epsilon) {
				return true
			}
		}
	}
	return false
}

func open(p problem, dir string) (*lab.Table, error) {
	t, err := runners.Table(p.data, dir)
	if err != nil {
		return nil, err
	}
	column, has, err := p.classes(t.Schema)
	if err != nil {
		return nil, err
	}
	t.Target = column
	// Official test rows are drawn like the others: here they are some of them.
	t.Rows, t.Test = slices.Concat(t.Rows, t.Test), nil
	at := t.Schema.Column(column)
	t.Rows = slices.DeleteFunc(t.Rows, func(cells []float64) bool { return math.IsNaN(cells[at]) })
	if has != nil {
		made := *t.Schema
		made.Columns = slices.Clone(made.Columns)
		made.Columns[at] = schema.Column{Name: column, Type: schema.Boolean}
		t.Schema = &made
		for i, cells := range t.Rows {
			cells = slices.Clone(cells)
			value := cells[at]
			if cells[at] = 0; has(value) {
				cells[at] = 1
			}
			t.Rows[i] = cells
		}
	}
	if len(t.Rows) <= p.rows {
		return nil, fmt.Errorf("%s has %d rows, want more than %d", p.data, len(t.Rows), p.rows)
	}
	return t, nil
}

// classes are the column of the target and, where the target is made of it, the values of its second class.
func (p problem) classes(s *schema.Schema) (column string, has func(value float64) bool, err error) {
	column, number, above := strings.Cut(p.target, " > ")
	column, level, one := strings.Cut(column, " = ")
	at := s.Column(column)
	switch {
	case at < 0:
		return "", nil, fmt.Errorf("no column %q", column)
	case above:
		limit, err := strconv.ParseFloat(number, 64)
		return column, func(value float64) bool { return value > limit }, err
	case one:
		of := slices.Index(s.Columns[at].Levels(), level)
		if of < 0 {
			return "", nil, fmt.Errorf("%s has no level %q", column, level)
		}
		return column, func(value float64) bool { return value == float64(of) }, nil
	}
	return column, nil, nil
}

func (c *cell) measure(ctx context.Context, r rule, p problem, whole *lab.Table) error {
	for seed := range uint64(p.runs) {
		t := whole.Split(p.rows, seed)
		t.Test = t.Test[:min(len(t.Test), mostTest)]
		if seed == 0 {
			plan, err := t.Plan(c.epsilon, "", seed, nil)
			if err != nil {
				return err
			}
			c.ratio = plan.SignalRatio
		}
		a, err := r.mine(ctx, t, c.epsilon, seed)
		if err != nil {
			return err
		}
		b, err := r.theirs(ctx, t, c.epsilon, seed)
		if err != nil {
			return err
		}
		c.mine, c.theirs = append(c.mine, a), append(c.theirs, b)
	}
	return nil
}
