package selectionstudy

import (
	"fmt"
	"sync"

	"pawl/evidence/lab"
	"pawl/experiments"
)

// problem is one table on which every way of choosing is tried. All fields are public
// facts or wishes of the operator; no row is looked at for them.
type problem struct {
	name string
	// train and test are numbers of rows.
	train, test int
	// subset is what documentation names, or in generated tables what matters.
	subset []string
	known  bool // subset is the truth of a generated table
	// count is the number of columns that an operator would ask a ranking for.
	count int
	bins  int // of numeric columns in tables
	// learners of the study; pairs says that tables of all pairs are tried, search that
	// sets are searched by private models.
	learners      []string
	pairs, search bool
	splits        int
	epsilons      []float64
	draw          func(split int) (*lab.Table, error)
}

// Learners, by the names that a plan knows, but for plain.
const (
	linear = "linear"
	bayes  = "naive-bayes"
	ebm    = "ebm"
	// plain is objective perturbation on numbers as they are, one coordinate each, with
	// the whole residual: every column more is noise more.
	plain = "plain objective perturbation"
)

var allEpsilons = []float64{.1, .5, 1, 3, 8}

func problems(r *experiments.Run) []problem {
	s := r.Scale
	many := experiments.Pick(s, 2, 10, 40)
	some := experiments.Pick(s, 2, 8, 20)
	few := experiments.Pick(s, 2, 5, 20)
	every := experiments.Pick(s, []float64{1}, allEpsilons, allEpsilons)
	builtin := func(name string, train int) func(int) (*lab.Table, error) {
		open := sync.OnceValues(func() (*lab.Table, error) { return lab.Open(name, r.DataDir) })
		return func(split int) (*lab.Table, error) {
			all, err := open()
			if err != nil {
				return nil, err
			}
			return all.Split(train, uint64(split)), nil
		}
	}
	generated := func(make func(rows int, seed uint64) *lab.Table, train, test int) func(int) (*lab.Table, error) {
		return func(split int) (*lab.Table, error) {
			return make(train+test, uint64(split)).Split(train, uint64(split)), nil
		}
	}
	four := experiments.Pick(s, []string{linear, plain}, []string{linear, plain, bayes, ebm}, []string{linear, plain, bayes, ebm})
	list := []problem{
		{
			name: "breast-cancer", train: 191, test: 95, subset: []string{"deg-malig", "inv-nodes", "tumor-size"}, count: 3, bins: 4,
			learners: four, pairs: true, search: true, splits: experiments.Pick(s, 2, 20, 40), epsilons: every, draw: builtin("breast-cancer", 191),
		},
		{
			name: "wdbc", train: 380, test: 189, count: 6, bins: 4,
			subset:   []string{"mean_radius", "mean_area", "mean_concave_points", "worst_radius", "worst_area", "worst_concave_points"},
			learners: four, pairs: true, search: true, splits: many, epsilons: every, draw: builtin("wdbc", 380),
		},
	}
	wide := experiments.Pick(s, 40, 400, 400)
	rows := experiments.Pick(s, 300, 4000, 4000)
	list = append(list, problem{
		name: fmt.Sprintf("sparse, %d flags of which 5 matter", wide), train: rows, test: experiments.Pick(s, 200, 2000, 2000),
		subset: named(5), known: true, count: 5, bins: 2, learners: []string{linear, plain, bayes}, splits: some, epsilons: every,
		draw: generated(sparse(wide, 5, .3), rows, experiments.Pick(s, 200, 2000, 2000)),
	}, problem{
		name: "products, 24 columns of which 4 matter", train: experiments.Pick(s, 300, 2000, 2000), test: experiments.Pick(s, 200, 1000, 1000),
		subset: []string{"x0", "x1", "b0", "b1"}, known: true, count: 4, bins: 4, learners: []string{linear, ebm}, pairs: true, search: true,
		splits: few, epsilons: every, draw: generated(products(12, 12), experiments.Pick(s, 300, 2000, 2000), experiments.Pick(s, 200, 1000, 1000)),
	})
	if s == experiments.Smoke {
		return list
	}
	adult := experiments.Pick(s, 0, 5000, 20000)
	padding := builtin("wdbc", 380)
	return append(list,
		problem{
			name: "sparse, 100 flags of which 5 matter", train: 4000, test: 2000, subset: named(5), known: true, count: 5, bins: 2,
			learners: []string{linear}, splits: some, epsilons: every, draw: generated(sparse(100, 5, .3), 4000, 2000),
		},
		problem{
			name: "sparse, 400 flags of which 20 matter less", train: 4000, test: 2000, subset: named(20), known: true, count: 20, bins: 2,
			learners: []string{linear}, splits: some, epsilons: every, draw: generated(sparse(400, 20, .15), 4000, 2000),
		},
		problem{
			name: "adult", train: adult, test: 4000, subset: []string{"age", "education-num", "relationship", "capital-gain", "hours-per-week"}, count: 5, bins: 8,
			learners: four, pairs: true, search: true, splits: few, epsilons: every, draw: builtin("adult", adult),
		},
		problem{
			name: "insurance", train: 1000, test: 338, subset: []string{"smoker", "age", "bmi"}, count: 3, bins: 4,
			learners: []string{linear, ebm}, pairs: true, search: true, splits: many, epsilons: every, draw: builtin("insurance", 1000),
		},
		problem{
			name: "wdbc and 170 columns of noise", train: 380, test: 189, count: 6, bins: 4,
			subset:   []string{"mean_radius", "mean_area", "mean_concave_points", "worst_radius", "worst_area", "worst_concave_points"},
			learners: []string{linear, plain, bayes}, search: true, splits: some, epsilons: every,
			draw: func(split int) (*lab.Table, error) {
				t, err := padding(split)
				if err != nil {
					return nil, err
				}
				train, test := padded(t, 170, uint64(split)), padded(&lab.Table{Name: t.Name, Target: t.Target, Schema: t.Schema, Rows: t.Test}, 170, uint64(1000+split))
				train.Test = test.Rows
				return train, nil
			},
		},
		problem{
			name: "dense, 400 numbers of which 200 matter", train: 1000, test: 1000, count: 20, bins: 4,
			learners: []string{linear, plain}, splits: some, epsilons: every, draw: generated(dense(400), 1000, 1000),
		},
		problem{
			name: "location30", train: 3340, test: 1670, count: 100, bins: 2, learners: []string{linear},
			splits: experiments.Pick(s, 0, 2, 4), epsilons: []float64{1, 3, 8}, draw: builtin("location30", 3340),
		},
	)
}
