// Package table10 replays Table X: methods of feature selection on Breast Cancer under
// objective perturbation.
package table10

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/core/entropy"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/published"
	"pawl/search/feature"
	"pawl/search/feature/aware"
	"pawl/workflow"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "table-10", Title: "Feature selection on Breast Cancer under objective perturbation",
		Source: "Bao, Bauer and Bindschaedler, Table X", Data: []string{"breast-cancer"}, Quick: 100, Run: run,
	}
}

const (
	train, test = 191, 95
	// honestAttributes are drawn, of nine, where the honest counterpart of “Random” is
	// trained.
	honestAttributes = 3
)

// replay is what one run works on: everything is measured on the same splits, so that
// methods compare split by split.
type replay struct {
	run     *experiments.Run
	splits  []*aware.Split
	data    *lab.Table
	repeats int
	search  aware.Search
	merit   int // population of CFS-GA
	honest  int // splits that the honest procedure is run on
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := &replay{
		run: r, repeats: experiments.Pick(r.Scale, 4, 32, 100),
		search: aware.Search{
			Population:  experiments.Pick(r.Scale, 10, 50, aware.PublishedPopulation),
			Generations: experiments.Pick(r.Scale, 2, 10, aware.PublishedGenerations),
		},
		merit:  experiments.Pick(r.Scale, 200, 5000, 5000),
		honest: experiments.Pick(r.Scale, 2, 50, 100),
	}
	all, err := published.Open("breast-cancer", r.DataDir, "recurrence-events", published.Encoding{})
	if err != nil {
		return nil, err
	}
	if p.data, err = lab.Open("breast-cancer", r.DataDir); err != nil {
		return nil, err
	}
	for i := range experiments.Pick(r.Scale, 4, 50, 100) {
		s, err := all.Split(train, test, uint64(i))
		if err != nil {
			return nil, err
		}
		p.splits = append(p.splits, s)
	}
	return p.table(ctx)
}

// columns are the accuracies of every method at one epsilon, one value a split.
type columns struct {
	methods  [][]float64
	honest   map[string][]float64
	majority []float64
}

func (p *replay) table(ctx context.Context) (*experiments.Table, error) {
	greedy, genetic, err := p.merits(ctx)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{
		Unit: "% of test rows",
		PublishedEpsilon: map[string]float64{
			"PAFS":                  aware.PublishedEpsilon,
			"CFS-Greedy and CFS-GA": feature.PublishedCompositionEpsilon(43, .01, 1e-5),
		},
		Notes: p.notes(genetic),
	}
	var all []columns
	for e, epsilon := range epsilons {
		c, err := p.measure(ctx, epsilon, greedy, genetic)
		if err != nil {
			return nil, err
		}
		all = append(all, *c)
		for m, method := range methods {
			row := experiments.Row{
				Name: fmt.Sprintf("ε = %g, %s", epsilon, method), Data: "breast-cancer", Published: experiments.Value(table[e][m]),
				AsPublished: experiments.Of(c.methods[m]), Honest: experiments.Of(c.honest[method]), Baseline: experiments.Of(c.majority),
			}
			p.judge(&row, c, e, m)
			t.Rows = append(t.Rows, row)
		}
	}
	t.Claims = claims(all)
	return t, nil
}

// judge: within a point or the interval is reproduced. Else a method's sign is that
// against “All”, and the sign of “All” that against the majority of the test rows.
func (p *replay) judge(row *experiments.Row, c *columns, e, m int) {
	ours := row.AsPublished
	row.Judge(1, fmt.Sprintf("ours differs by %+.1f points", ours.Mean-table[e][m]))
	if row.Verdict != experiments.Not {
		return
	}
	if m == 0 {
		majority := p.majority()
		if (ours.Mean < majority) == (table[e][0] < majority) {
			row.Verdict = experiments.SameSign
			row.Why += ", both on one side of the majority rate"
		}
		return
	}
	d := experiments.Of(difference(c.methods[m], c.methods[0]))
	published := table[e][m] - table[e][0]
	if d.Low > 0 && published > 0 || d.High < 0 && published < 0 {
		row.Verdict = experiments.SameSign
		row.Why += fmt.Sprintf("; against All %+.1f as published %+.1f", d.Mean, published)
	}
}

// majority is the mean majority rate of the test rows.
func (p *replay) majority() float64 {
	sum := 0.0
	for _, s := range p.splits {
		sum += s.Majority()
	}
	return sum / float64(len(p.splits))
}

// merits chooses by the merit of correlation, which looks at rows and at no epsilon:
// by genetic search, and greedily as many.
func (p *replay) merits(ctx context.Context) (greedy, genetic [][]int, err error) {
	name := fmt.Sprintf("CFS-GA, %d subsets, 10 rounds, raw merit, %d splits", p.merit, len(p.splits))
	genetic, err = published.Sets(ctx, p.run, name, len(p.splits), func(ctx context.Context, i int) ([]int, error) {
		m, err := p.splits[i].Matrix()
		if err != nil {
			return nil, err
		}
		return published.Genetic(ctx, m, p.merit, uint64(i))
	})
	if err != nil {
		return nil, nil, err
	}
	greedy = make([][]int, len(genetic))
	for i, s := range p.splits {
		m, err := s.Matrix()
		if err != nil {
			return nil, nil, err
		}
		chosen, err := m.Greedy(len(genetic[i]))
		if err != nil {
			return nil, nil, err
		}
		greedy[i] = chosen.Indices()
	}
	return greedy, genetic, nil
}

func (p *replay) measure(ctx context.Context, epsilon float64, greedy, genetic [][]int) (*columns, error) {
	c := &columns{honest: map[string][]float64{}}
	chosenAware := fmt.Sprintf(", %d subsets and %d rounds", p.search.Population, p.search.Generations)
	chosenByMerit := fmt.Sprintf(", as many as CFS-GA of %d subsets takes", p.merit)
	name := fmt.Sprintf("search of PAFS, ε = %g, %d splits%s", epsilon, len(p.splits), chosenAware)
	searched, err := published.Sets(ctx, p.run, name, len(p.splits), func(ctx context.Context, i int) ([]int, error) {
		o := p.search
		o.Seed, o.Workers = uint64(i), 1 // splits are side by side
		found, err := p.splits[i].Aware(ctx, p.splits[i].Perturbed(epsilon), o)
		if err != nil {
			return nil, err
		}
		return found.Columns, nil
	})
	if err != nil {
		return nil, err
	}
	all := p.splits[0].Table.All()
	// “Random” draws a new subset for every few fits: the mean is over subsets too.
	const draws = 8
	for _, m := range []struct {
		name, chosen string
		draw         int
		set          func(i, draw int) []int
	}{
		{"All", "", 1, func(int, int) []int { return all }},
		{"PAFS", chosenAware, 1, func(i, _ int) []int { return searched[i] }},
		{"CFS-Greedy", chosenByMerit, 1, func(i, _ int) []int { return greedy[i] }},
		{"CFS-GA", chosenByMerit, 1, func(i, _ int) []int { return genetic[i] }},
		{"Random", chosenByMerit, draws, func(i, d int) []int { return p.splits[i].Random(len(genetic[i]), uint64(100*i+d)) }},
	} {
		repeats := max(1, p.repeats/m.draw)
		name := fmt.Sprintf("%s, ε = %g, %d splits of %d × %d fits%s", m.name, epsilon, len(p.splits), m.draw, repeats, m.chosen)
		v, err := p.perSplit(ctx, name, len(p.splits), func(ctx context.Context, i int) (float64, error) {
			sum := 0.0
			for d := range m.draw {
				src := entropy.Seeded(uint64(i)).Split(name, uint64(d))
				got, err := p.splits[i].Accuracies(ctx, aware.Fits{Columns: m.set(i, d), Epsilon: epsilon, Repeats: repeats}, src)
				if err != nil {
					return 0, err
				}
				for _, a := range got {
					sum += a
				}
			}
			return sum / float64(m.draw*repeats), nil
		})
		if err != nil {
			return nil, err
		}
		c.methods = append(c.methods, v)
	}
	for _, s := range p.splits {
		c.majority = append(c.majority, s.PrivateMajority(epsilon))
	}
	for _, method := range []string{"All", "Random"} {
		if c.honest[method], err = p.workflow(ctx, method, epsilon); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// workflow runs the library's own workflow at the same total epsilon: on all attributes, or
// on a few drawn at random, which looks at no row and costs nothing.
func (p *replay) workflow(ctx context.Context, method string, epsilon float64) ([]float64, error) {
	name := fmt.Sprintf("workflow, %s, ε = %g, %d splits", method, epsilon, p.honest)
	return p.perSplit(ctx, name, p.honest, func(ctx context.Context, i int) (float64, error) {
		split := p.data.Split(train, uint64(i))
		out, err := split.Fit(ctx, strconv.FormatFloat(epsilon, 'g', -1, 64), "", uint64(i), func(in *workflow.Input) {
			if method != "Random" {
				return
			}
			for _, j := range p.splits[i].Random(honestAttributes, uint64(i)) {
				in.Features = append(in.Features, split.Schema.Columns[1+j%(len(split.Schema.Columns)-1)].Name)
			}
			slices.Sort(in.Features)
			in.Features = slices.Compact(in.Features)
		})
		if err != nil {
			return 0, err
		}
		return 100 * *out.Score.Exact, nil
	})
}

// perSplit measures one number for each of n splits in one cell.
func (p *replay) perSplit(ctx context.Context, name string, n int, measure func(ctx context.Context, i int) (float64, error)) ([]float64, error) {
	return p.run.Cell(ctx, name, func() ([]float64, error) {
		v := make([]float64, n)
		return v, published.Each(ctx, n, func(ctx context.Context, i int) (err error) {
			v[i], err = measure(ctx, i)
			return err
		})
	})
}

func (p *replay) notes(genetic [][]int) []string {
	var sizes []float64
	for _, s := range genetic {
		sizes = append(sizes, float64(len(s)))
	}
	return []string{
		fmt.Sprintf("every number is a mean over %d random splits of the 286 rows into %d and %d, with %d noisy fits on each; the interval is over splits, and methods compare split by split; the paper's split is not stated", len(p.splits), train, test, p.repeats),
		fmt.Sprintf("majority rate of the test rows: %.1f %%; baseline: the class with the larger noisy count, at the same ε, in closed form", p.majority()),
		"as published: one-hot columns of the 43 levels that occur, data norm of the data, C = 1, the calibration of diffprivlib's releases up to 2025, which charges too little for rows of norm above 1 (docs/READING.md, H6, H12)",
		"the calibration changes its branch just below ε = 2 and leaves a twentieth of ε for the noise there, so that All falls between 1.5 and 2; the printed column does not. No calibration that we have fits the printed column from 0.5 to 10, where ours is higher",
		fmt.Sprintf("PAFS: %d subsets, %d rounds of breeding (the paper: 600 and 10), fitness = accuracy of one noisy fit on the test rows themselves (H4), so the search costs many times the ε of its row", p.search.Population, p.search.Generations),
		fmt.Sprintf("CFS: raw entropies without noise (H5), %d subsets and 10 rounds; CFS-Greedy and Random take as many columns as CFS-GA, on average %.1f", p.merit, experiments.Of(sizes).Mean),
		fmt.Sprintf("honest: our workflow at the same total ε, δ at most 1/(10n), declared levels, add or remove one row; “All” uses all attributes, “Random” up to %d attributes drawn without looking at rows; the selection methods have no honest counterpart here, because at 191 rows tables that are paid for are noise (12 rows a cell at ε = 1 for tables with the label alone)", honestAttributes),
		"the text's “20.11 % relative, 11.51 % absolute” fits no row of the printed table (E10)",
	}
}

// difference is a−b, split by split.
func difference(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

func best(values []float64) float64 {
	top := math.Inf(-1)
	for _, v := range values {
		top = max(top, v)
	}
	return top
}
