// Package selectionstudy asks whether choosing features privately pays: at one total
// budget, choosing included, against all columns, for several learners and tables.
package selectionstudy

import (
	"context"
	"fmt"
	"strings"

	"pawl/evidence/theory"
	"pawl/experiments"
	"pawl/experiments/published"
)

// Experiment is the study.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "selection-study", Title: "Does private feature selection pay? Equal total ε, against all columns",
		Source: "our question, after Bao, Bauer and Bindschaedler, Sec. VIII, and “Larger Model Causes Lower Classification Accuracy”",
		Data:   []string{"breast-cancer", "wdbc", "adult", "insurance", "location30"}, SmokeData: []string{"breast-cancer", "wdbc"}, Quick: 900, Run: run,
	}
}

// confidence of the intervals behind verdicts: with several hundred rows a few would
// be judged wrongly at 95 %.
const confidence = .99

// cell is one table at one ε.
type cell struct {
	problem *problem
	budget  budget
	columns int // attributes of the table
	// scores by method and learner, one for each split.
	scores map[string][][]float64
	// constant are the scores of the best constant on the test rows.
	constant []float64
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{
		Unit:      "% of test rows, or for a number % of the mean predictor's error that is gone",
		Guarantee: "every row is (ε, δ)-private in total, choosing and training together, δ at most 1/(10n), adding or removing one row; noise is seeded and data are public, so these runs themselves protect nobody",
		Notes:     notes(),
	}
	var all []cell
	for _, p := range problems(r) {
		cells, err := p.run(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, cells...)
	}
	for _, c := range all {
		t.Rows = append(t.Rows, c.rows()...)
	}
	t.Claims = claims(all)
	return t, nil
}

func (p *problem) run(ctx context.Context, r *experiments.Run) ([]cell, error) {
	var all []cell
	for _, epsilon := range p.epsilons {
		b, err := newBudget(epsilon, p.train)
		if err != nil {
			return nil, err
		}
		first, err := p.draw(0)
		if err != nil {
			return nil, err
		}
		c := cell{problem: p, budget: b, scores: map[string][][]float64{}, columns: columnsOf(first)}
		for _, method := range p.methods(first) {
			learners := p.learners
			if method == searching {
				learners = learners[:1]
			}
			name := fmt.Sprintf("%s, %d of %d rows, ε = %g, %s (%d of them), %v, %d splits", p.name, p.train, p.train+p.test, epsilon, method, p.count, learners, p.splits)
			flat, err := r.Cell(ctx, name, func() ([]float64, error) {
				flat := make([]float64, len(learners)*p.splits)
				return flat, published.Each(ctx, p.splits, func(ctx context.Context, i int) error {
					s, err := p.split(i)
					if err != nil {
						return err
					}
					v, err := p.measure(ctx, s, method, b)
					for k := range v {
						flat[k*p.splits+i] = v[k]
					}
					return err
				})
			})
			if err != nil {
				return nil, err
			}
			for k := range learners {
				c.scores[method] = append(c.scores[method], flat[k*p.splits:][:p.splits])
			}
		}
		name := fmt.Sprintf("%s, %d of %d rows, the best constant, %d splits", p.name, p.train, p.train+p.test, p.splits)
		if c.constant, err = r.Cell(ctx, name, func() ([]float64, error) {
			constant := make([]float64, p.splits)
			for i := range constant {
				s, err := p.split(i)
				if err != nil {
					return nil, err
				}
				constant[i] = constantScore(s.Table)
			}
			return constant, nil
		}); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (p *problem) split(i int) (*split, error) {
	t, err := p.draw(i)
	if err != nil {
		return nil, err
	}
	if len(t.Test) > p.test {
		t.Test = t.Test[:p.test]
	}
	s := &split{Table: t, seed: uint64(i)}
	s.rows, err = t.Seal(s.seed)
	return s, err
}

// outcome is what a row says about its way of choosing.
type outcome string

const (
	pays  outcome = "pays"
	loses outcome = "loses"
	open  outcome = "cannot tell"
	// useless: better than all columns, and no better than a constant.
	useless outcome = "no model either way"
)

// against compares a way of choosing with all columns, split by split.
func (c *cell) against(method string, learner int) (outcome, theory.Interval) {
	gain, err := theory.PairedInterval(c.scores[method][learner], c.scores[everything][learner], confidence)
	switch {
	case err != nil:
		return open, gain
	case gain.Lower > 0 && experiments.Of(c.scores[method][learner]).Mean <= experiments.Of(c.constant).Mean:
		return useless, gain
	case gain.Lower > 0:
		return pays, gain
	case gain.Upper < 0:
		return loses, gain
	}
	return open, gain
}

// order of the rows of a table.
var order = []string{documented, oracle, information, correlation, distance, careful, searching}

func (c *cell) rows() []experiments.Row {
	var rows []experiments.Row
	p := c.problem
	data := fmt.Sprintf("%s: n = %d, d = %d", p.name, p.train, c.columns)
	for k, learner := range p.learners {
		for _, method := range order {
			if c.scores[method] == nil || k >= len(c.scores[method]) {
				continue
			}
			what, gain := c.against(method, k)
			rows = append(rows, experiments.Row{
				Name: fmt.Sprintf("ε = %g (r = %.3g), %s, %s", c.budget.epsilon, c.budget.ratio(p.train), learner, method), Data: data,
				Honest: experiments.Of(c.scores[method][k]), Baseline: experiments.Of(c.scores[everything][k]),
				Verdict: experiments.Unpublished, Why: fmt.Sprintf("%s: %+.1f [%+.1f, %+.1f]", what, gain.Estimate, gain.Lower, gain.Upper),
			})
		}
	}
	return rows
}

func notes() []string {
	return []string{
		"baseline is the same learner on all columns at the same total; verdicts are of differences split by split, 99 % intervals by Student's t: pays, loses, cannot tell; or no model either way, where what is better than all columns is no better than a constant",
		fmt.Sprintf("a release for choosing takes %g of the budget in zero-concentrated terms, so that choosing (σ₁/√%g) and training (σ₁/√%g) are together exactly one Gaussian release of multiplier σ₁(ε, δ); objective perturbation is pure and gets %g·ε beside a release at %g·ε", share, share, 1-share, 1-share, share),
		"information: the named number of columns of the largest information about the target in noisy tables, numeric columns in a few equal public bins; CFS: tables of all pairs, as many columns as raise the merit; DFS: noisy sums by class, the columns whose distance exceeds √(2 ln 2d) deviations of its noise, all of them where none does; or those only if four fifths of the squared distance that there can be, noise that hides it included, are theirs, and all else",
		fmt.Sprintf("PAFS: Papernot–Steinke, a mean of %d runs of the linear model on four fifths of the rows, columns drawn without looking at data, scored with noise on the rest; the winner is the model", meanRuns),
		"linear, naive-bayes and ebm are those of fit with its rules at what choosing left; plain objective perturbation takes numbers as they are, one coordinate each, and the whole residual",
		"columns that documentation names, and the truth of generated tables, cost nothing",
		"r = n/σ₁(ε, δ), d = attributes",
	}
}

func listed(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}
