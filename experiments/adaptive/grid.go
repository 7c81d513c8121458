// Package adaptive trains the grid of the adaptive-optimizers paper (Mohapatra et al.,
// AAAI 2022, appendix, Table 3) at a reduced scale: what its Figs. 7 to 11 share.
//
// The scores of a grid are read without paying, on public data. A candidate is looked at
// after several numbers of steps; each look is a run of that length, whose last iterate
// is scored.
package adaptive

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/compute/optim"
	"pawl/core/accountant"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/nets"
	"pawl/experiments/published"
	"pawl/workflow"
)

// Candidate is a point of the grid.
type Candidate struct {
	Optimizer          string
	LearningRate, Clip float64 // a rate of 0 is the optimizer's own (ownRate)
}

func (c Candidate) String() string {
	if c.LearningRate == 0 {
		return fmt.Sprintf("%s, C = %g", c.Optimizer, c.Clip)
	}
	return fmt.Sprintf("%s, α = %g, C = %g", c.Optimizer, c.LearningRate, c.Clip)
}

// Clips and Rates are those of Table 3.
var (
	Clips = []float64{.1, .2, .5, 1}
	Rates = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1}
)

// SGD are the 40 candidates of DP-SGD.
func SGD() (all []Candidate) {
	for _, a := range Rates {
		for _, c := range Clips {
			all = append(all, Candidate{"sgd", a, c})
		}
	}
	return all
}

// Own are the 4 candidates of an optimizer with a rate of its own.
func Own(optimizer string) (all []Candidate) {
	for _, c := range Clips {
		all = append(all, Candidate{optimizer, 0, c})
	}
	return all
}

// Grid is what is trained.
type Grid struct {
	run  *experiments.Run
	Sets []*lab.Images
	// Looks are numbers of steps.
	Looks []int
	Runs  int
	lot   int
	// Every n-th rate is kept at the smallest scale.
	thin int
}

// Open reads the two of the paper's four data sets that the program knows.
func Open(r *experiments.Run) (*Grid, error) {
	g := &Grid{
		run: r, Looks: experiments.Pick(r.Scale, []int{4, 8}, []int{100, 400, 1000}, []int{100, 200, 400, 800, 1600, 3200}),
		Runs: experiments.Pick(r.Scale, 1, 3, 3), lot: experiments.Pick(r.Scale, 50, 250, 250), thin: experiments.Pick(r.Scale, 5, 1, 1),
	}
	rows, test := experiments.Pick(r.Scale, 200, 8000, 48000), experiments.Pick(r.Scale, 100, 2000, 10000)
	digits, err := lab.OpenImages("mnist", r.DataDir, rows, test)
	if err != nil {
		return nil, err
	}
	adult, err := openAdult(r, rows, test)
	if err != nil {
		return nil, err
	}
	g.Sets = []*lab.Images{digits, adult}
	return g, nil
}

// openAdult is Adult one-hot, numbers in [0, 1] by the ranges that occur, as the paper
// takes preprocessed data.
func openAdult(r *experiments.Run, rows, test int) (*lab.Images, error) {
	t, err := published.Open("adult", r.DataDir, published.AdultClass, published.AdultOneHot())
	if err != nil {
		return nil, err
	}
	rows = min(rows, published.AdultTrain)
	test = min(test, published.AdultTest)
	order := rand.New(rand.NewPCG(1, 0)).Perm(len(t.X))
	part := func(of []int) (x [][]float64, y []int32) {
		for _, i := range of {
			x, y = append(x, t.X[i]), append(y, int32(t.Label[i]))
		}
		return x, y
	}
	classes := []string{"up to 50K", "above 50K"}
	a, b := part(order[:rows])
	c, d := part(order[rows : rows+test])
	return &lab.Images{Name: "adult", Target: "income", Train: lab.Vectors(a, b, classes), Test: lab.Vectors(c, d, classes)}, nil
}

// Thin keeps some candidates at the smallest scale, which shows the wiring only.
func (g *Grid) Thin(all []Candidate) (kept []Candidate) {
	for i, c := range all {
		if i%g.thin == 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// Accuracy is in percent of the test rows: of each run, at each look.
func (g *Grid) Accuracy(ctx context.Context, data *lab.Images, noise float64, c Candidate) ([][]float64, error) {
	return g.measure(ctx, data, noise, c.String(), func(in *workflow.TrainInput) {
		in.Optimizer, in.LearningRate, in.ClippingNorm = c.Optimizer, c.LearningRate, c.Clip
		if c.LearningRate == 0 {
			in.LearningRate = g.ownRate(c, noise)
		}
		in.Average = 1e-12 // the last iterate, as the paper
	})
}

// ownRate is 0.001 for DPAdam, the step to which it tends under noise for DPAdamWOSM
// (10⁻³/(σC/L + 10⁻⁸), appendix, Algorithm 2), and what ADADP finds by itself.
func (g *Grid) ownRate(c Candidate, noise float64) float64 {
	const alpha = 1e-3
	switch c.Optimizer {
	case "adam":
		return alpha
	case "adam-wosm":
		return optim.Noise{ClippingNorm: c.Clip, NoiseMultiplier: noise, ExpectedBatchSize: float64(g.lot)}.EffectiveStep(alpha)
	}
	return 0
}

// Rule is the library's own training with the same noise, steps and lots: nothing is
// tuned.
func (g *Grid) Rule(ctx context.Context, data *lab.Images, noise float64) ([][]float64, error) {
	return g.measure(ctx, data, noise, "by rule", func(*workflow.TrainInput) {})
}

func (g *Grid) measure(ctx context.Context, data *lab.Images, noise float64, name string, change func(*workflow.TrainInput)) ([][]float64, error) {
	cell := fmt.Sprintf("%s, %s, σ = %g, %d rows, %d test, lots of %d, steps %v, %d runs", data.Name, name, noise, data.Train.Len(), data.Test.Len(), g.lot, g.Looks, g.Runs)
	flat, err := g.run.Cell(ctx, cell, func() ([]float64, error) {
		var out []float64
		for seed := range g.Runs {
			for _, steps := range g.Looks {
				v, err := data.Fit(ctx, nets.Linear(), uint64(seed+1), func(in *workflow.TrainInput) {
					in.NoiseMultiplier, in.Delta, in.Accountant = noise, "0.00001", accountant.MethodRDP
					in.Batch, in.Epochs = g.lot, float64(steps*g.lot)/float64(data.Train.Len())
					change(in)
				})
				if err != nil {
					return nil, err
				}
				out = append(out, 100*v)
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(flat, len(g.Looks))), nil
}

// Curves are accuracies of several candidates: [candidate][run][look].
type Curves [][][]float64

// All measures candidates.
func (g *Grid) All(ctx context.Context, data *lab.Images, noise float64, all []Candidate) (Curves, error) {
	var out Curves
	for _, c := range all {
		v, err := g.Accuracy(ctx, data, noise, c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Mean over the runs of a candidate at a look.
func (c Curves) Mean(candidate, look int) float64 {
	sum := 0.0
	for _, run := range c[candidate] {
		sum += run[look]
	}
	return sum / float64(len(c[candidate]))
}

// Best is the candidate of the largest mean at a look, the first of equal ones.
func (c Curves) Best(look int) int {
	best, top := 0, math.Inf(-1)
	for i := range c {
		if m := c.Mean(i, look); m > top {
			best, top = i, m
		}
	}
	return best
}

// Median is the middle of the means at a look: what an untuned choice gives.
func (c Curves) Median(look int) float64 {
	var all []float64
	for i := range c {
		all = append(all, c.Mean(i, look))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// At are the runs at a look.
func At(runs [][]float64, look int) (out []float64) {
	for _, run := range runs {
		out = append(out, run[look])
	}
	return out
}

// Notes say what was done.
func (g *Grid) Notes() []string {
	return []string{
		fmt.Sprintf("stated reduced scale: MNIST (%d rows) and Adult (%d rows, one-hot) of the paper's four data sets, Gisette and its ENRON matrix could not be had; softmax regression on rows of norm 4, since our copy does not name the networks; lots of %d; looks after %v steps; %d runs",
			g.Sets[0].Train.Len(), g.Sets[1].Train.Len(), g.lot, g.Looks, g.Runs),
		"as published: the best of a grid by its exact test accuracy, averaged over the runs; nobody pays for the choice",
		"honest: one training with the same noise, lots and steps by the library's rule, so its ε is that of one candidate in all; baseline: the majority class",
	}
}
