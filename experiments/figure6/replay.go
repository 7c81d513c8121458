// Package figure6 replays Fig. 6: the ε at which a net reaches 85 % on MNIST, against the
// number of training rows.
package figure6

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/evidence/lab"
	"pawl/evidence/theory"
	"pawl/experiments"
	"pawl/experiments/curves"
	"pawl/experiments/formulas"
	"pawl/workflow"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "figure-6", Title: "The ε at which a small and a large net reach 85 % on MNIST, against the number of rows",
		Source: "Bao, Bauer and Bindschaedler, Fig. 6 and Sec. VI-B", Data: []string{"mnist"}, Quick: 880, Run: run,
	}
}

// reach is the accuracy in percent.
const reach = 85

type replay struct {
	run    *experiments.Run
	data   *lab.Images
	rows   []int
	seeds  int
	epochs []float64 // as published: a training under fixed noise, looked at after so many
	grid   []float64 // honest: ε that nets are trained at
	batch  int
	passes float64
	reach  float64
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	p := &replay{
		run:   r,
		rows:  experiments.Pick(r.Scale, []int{200, 400}, []int{5000, 10000, 20000, 40000}, []int{10000, 20000, 50000, 100000, 200000, 500000, 1000000}),
		seeds: experiments.Pick(r.Scale, 2, 3, 10), batch: experiments.Pick(r.Scale, 50, 250, 250), passes: experiments.Pick(r.Scale, 1., 10., 20.),
		epochs: experiments.Pick(r.Scale, []float64{.5, 2}, []float64{.5, 1, 2, 4, 8, 16}, []float64{.25, .5, 1, 2, 4, 8, 16, 32, 64, 128}),
		grid:   experiments.Pick(r.Scale, []float64{1, 50}, []float64{.05, .1, .2, .4, .8, 1.6, 3.2}, []float64{.005, .01, .02, .05, .1, .2, .4, .8, 1.6, 3.2}),
		reach:  experiments.Pick(r.Scale, 12., reach, reach),
	}
	var err error
	if p.data, err = lab.OpenImages("mnist", r.DataDir, 60000, experiments.Pick(r.Scale, 100, 10000, 10000)); err != nil {
		return nil, err
	}
	t := &experiments.Table{Unit: "ε, or rows where a row says so"}
	curve := formulas.PublishedSizeCurve()
	var fits []*theory.SizeFit
	for _, m := range []struct {
		name   string
		hidden []int
		rate   float64
	}{{"simple (128)", []int{128}, .15}, {"complex (2048, 256, 64)", []int{2048, 256, 64}, .15}} {
		simple := len(m.hidden) == 1
		for _, how := range []curves.How{curves.Published, curves.Honest} {
			var runs []theory.SizeRuns
			for _, n := range p.rows {
				found, err := p.prices(ctx, how, curves.Hidden(64, 10, m.hidden...), m.name, m.rate, n)
				if err != nil {
					return nil, err
				}
				runs = append(runs, theory.SizeRuns{Rows: float64(n), Epsilons: found, Tried: p.seeds})
				if how == curves.Honest {
					continue
				}
				row := experiments.Row{Name: fmt.Sprintf("%s, %d rows", m.name, n), Data: "mnist, drawn with replacement", AsPublished: experiments.Of(found)}
				if simple {
					row.Published = experiments.Value(curve.Epsilon(float64(n)))
				}
				if row.AsPublished == nil {
					row.AsPublished, row.Verdict, row.Why = experiments.Exact(0), experiments.Not, fmt.Sprintf("%g %% was not reached by any run; 0 stands for no number", p.reach)
				} else {
					row.Judge(.25*curve.Epsilon(float64(n)), fmt.Sprintf("ours differs from the paper's curve by a factor of %.2f", row.AsPublished.Mean/curve.Epsilon(float64(n))))
				}
				t.Rows = append(t.Rows, row)
			}
			fit, err := theory.FitSizes(runs, theory.Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1})
			if err != nil {
				t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: no fit of ε = ln(α + β/n): %v", m.name, how, err))
				fits = append(fits, nil)
				continue
			}
			fits = append(fits, fit)
			t.Rows = append(t.Rows, p.fitted(m.name, how, fit, simple)...)
		}
	}
	t.Claims = claims(fits)
	t.Notes = append(t.Notes,
		fmt.Sprintf("rows drawn from MNIST's 60,000 with replacement, %d seeds; as published: noise multiplier 2, lots of %d, plain steps, looked at after %v epochs, linear in ln ε between two looks (the paper stops a training as soon as it reaches the accuracy on validation images; so do we, on test images)", p.seeds, p.batch, p.epochs),
		fmt.Sprintf("honest: nets trained by the library's rule, %g epochs, at ε of %v, and the ε read off between two of them", p.passes, p.grid),
		"published: the paper's fit for its simple net, ε = ln(1.1 + 8922.4/n); it names 13,574 (simple) and 19,145 (complex) rows for ε = 1, with which that fit does not agree (docs/READING.md)")
	return t, nil
}

// prices are the ε at which runs reach the accuracy; those that never do are left out.
func (p *replay) prices(ctx context.Context, how curves.How, net zoo.Spec, name string, rate float64, n int) ([]float64, error) {
	var out []float64
	for seed := range p.seeds {
		epsilons, scores, err := p.path(ctx, how, net, name, rate, n, uint64(seed+1))
		if err != nil {
			return nil, err
		}
		if e, ok := first(epsilons, scores, p.reach); ok {
			out = append(out, e)
		}
	}
	return out, nil
}

// path is accuracy over ε for one seed.
func (p *replay) path(ctx context.Context, how curves.How, net zoo.Spec, name string, rate float64, n int, seed uint64) (epsilons, scores []float64, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	draw := make([]int, n)
	for i := range draw {
		draw[i] = rng.IntN(p.data.Train.Len())
	}
	data := *p.data
	data.Train = nil // drawn where a cell is missing
	looks := p.epochs
	if how == curves.Honest {
		looks = p.grid
		net = net.Default()
	}
	for _, look := range looks {
		cell := fmt.Sprintf("%s, %s, %d rows, look %g, lots of %d, %g passes, rate %g, %d test, seed %d", how, name, n, look, p.batch, p.passes, rate, data.Test.Len(), seed)
		v, err := p.run.Cell(ctx, cell, func() ([]float64, error) {
			if data.Train == nil {
				data.Train = p.data.Train.Some(draw)
			}
			out, err := data.Run(ctx, net, seed, func(in *workflow.TrainInput) {
				in.Delta, in.Accountant = "0.00001", accountant.MethodRDP
				if how == curves.Honest {
					in.Epsilon, in.Epochs, in.Batch = strconv.FormatFloat(look, 'f', -1, 64), p.passes, min(n/8, 4096)
					return
				}
				in.NoiseMultiplier, in.Batch, in.Epochs = 2, p.batch, look
				in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", rate, 1
			})
			if err != nil {
				return nil, err
			}
			return []float64{out.Plan.Epsilon, 100 * *out.Score.Exact}, nil
		})
		if err != nil {
			return nil, nil, err
		}
		epsilons, scores = append(epsilons, v[0]), append(scores, v[1])
		if v[1] >= p.reach {
			break // it was reached, and the paper stops here
		}
	}
	return epsilons, scores, nil
}

// first is the ε at which scores reach a value, linear in ln ε between two. One that is
// there at the first ε is not counted: where it began is not known.
func first(epsilons, scores []float64, value float64) (float64, bool) {
	for k := 1; k < len(scores); k++ {
		if scores[k] >= value && scores[k-1] < value {
			a, b := math.Log(epsilons[k-1]), math.Log(epsilons[k])
			return math.Exp(a + (b-a)*(value-scores[k-1])/(scores[k]-scores[k-1])), true
		}
	}
	return 0, false
}

// fitted are the parameters of a fit, and the rows at ε = 1.
func (p *replay) fitted(name string, how curves.How, f *theory.SizeFit, simple bool) []experiments.Row {
	needed := f.RowsInterval(1)
	rows := []experiments.Row{
		p.row(name+", α", f.AlphaInterval, how), p.row(name+", β, rows", f.BetaInterval, how), p.row(name+", rows at ε = 1", needed, how),
	}
	published := []float64{0, 0, 19145}
	if simple {
		published = []float64{formulas.PublishedSizeCurve().Alpha, formulas.PublishedSizeCurve().Beta, 13574}
	}
	for i := range rows {
		if published[i] > 0 && how == curves.Published {
			rows[i].Published = experiments.Value(published[i])
		}
		rows[i].Judge(.25*published[i], fmt.Sprintf("a factor of %.2f: other step sizes, lots and looks; the paper names none of them", f.Beta/formulas.PublishedSizeCurve().Beta))
	}
	return rows
}

func (p *replay) row(name string, i theory.Interval, how curves.How) experiments.Row {
	if math.IsInf(i.Estimate, 0) || math.IsNaN(i.Estimate) {
		return experiments.Row{Name: name + " (" + string(how) + "): more than any number", Data: "mnist", AsPublished: experiments.Exact(0), Verdict: experiments.Unpublished}
	}
	e := &experiments.Estimate{Mean: i.Estimate, Low: i.Lower, High: i.Upper, Runs: p.seeds}
	row := experiments.Row{Name: name, Data: "mnist, drawn with replacement"}
	if how == curves.Honest {
		row.Name, row.Honest = name+" (honest)", e
	} else {
		row.AsPublished = e
	}
	return row
}

// claims compare the fits: simple as published and honest, complex as published and honest.
func claims(fits []*theory.SizeFit) []experiments.Claim {
	var out []experiments.Claim
	for i, how := range []curves.How{curves.Published, curves.Honest} {
		c := experiments.Claim{Statement: fmt.Sprintf("the complex net needs more rows for the same ε (41 %% more at ε = 1; %s)", how), Verdict: experiments.Not, Evidence: "no fit of one of them"}
		if simple, complex := fits[i], fits[2+i]; simple != nil && complex != nil {
			a, b := simple.RowsInterval(1), complex.RowsInterval(1)
			c.Evidence = fmt.Sprintf("%.0f [%.0f, %.0f] and %.0f [%.0f, %.0f] rows: %+.0f %%", a.Estimate, a.Lower, a.Upper, b.Estimate, b.Lower, b.Upper, 100*(b.Estimate/a.Estimate-1))
			switch {
			case b.Lower > a.Upper:
				c.Verdict = experiments.Reproduced
			case b.Estimate > a.Estimate:
				c.Verdict = experiments.SameSign
			}
		}
		out = append(out, c)
	}
	return out
}
