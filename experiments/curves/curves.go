// Package curves measures networks over a grid: of ε, for figures that show where two
// curves cross, or of sizes, for figures that show what size costs.
//
// As published, nets keep their rectifiers and dropout and take plain steps of the best
// learning rate of a short list, chosen on the test images and paid for by nobody.
// Honest is the same net as the library trains it: tanh, no dropout, lots and a step by
// rules that know ε and look at no row. Trainings of one seed share lots.
package curves

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/lab"
	"pawl/evidence/theory"
	"pawl/experiments"
	"pawl/workflow"
)

// How says how networks are trained.
type How string

const (
	Published How = "as published"
	Honest    How = "honest"
	// Plain has no noise and no clipping.
	Plain How = "without noise"
)

// Model is one curve.
type Model struct {
	Name string
	Net  zoo.Spec
	// Rates are the step sizes that Published chooses from.
	Rates []float64
}

// Study is a set of curves on one set of images.
type Study struct {
	Run    *experiments.Run
	Data   *lab.Images
	Models []Model
	// Epsilons rise.
	Epsilons []float64
	Seeds    int
	Batch    int
	// Lots are those of Published, Batch's where 0.
	Lots   int
	Epochs float64
}

// batch is the expected number of rows of a step.
func (s *Study) batch(how How) int {
	if how == Published && s.Lots > 0 {
		return s.Lots
	}
	return s.Batch
}

// Curve holds accuracies in percent by ε and seed.
type Curve [][]float64

const delta = "0.00001"

// Measure trains model i at all epsilons.
func (s *Study) Measure(ctx context.Context, how How, i int) (Curve, error) {
	return s.curve(ctx, how, s.Models[i])
}

func (s *Study) curve(ctx context.Context, how How, m Model) (Curve, error) {
	out := make(Curve, len(s.Epsilons))
	for k, epsilon := range s.Epsilons {
		var err error
		if out[k], err = s.At(ctx, how, m, epsilon); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// At trains a model with every seed at one ε. Published returns the best of its rates, by
// the mean over seeds.
func (s *Study) At(ctx context.Context, how How, m Model, epsilon float64) ([]float64, error) {
	rates := []float64{0}
	if how == Published {
		rates = m.Rates
	}
	var best []float64
	for _, rate := range rates {
		got, err := s.Rate(ctx, how, m, epsilon, rate)
		if err != nil {
			return nil, err
		}
		if best == nil || stat.Mean(got, nil) > stat.Mean(best, nil) {
			best = got
		}
	}
	return best, nil
}

// One trains model i as published at all epsilons by one of its rates: the best at the
// largest ε, as a rate is found that was tuned once and without thinking of the noise.
func (s *Study) One(ctx context.Context, i int) (Curve, error) {
	m := s.Models[i]
	best, rate := math.Inf(-1), 0.
	for _, r := range m.Rates {
		got, err := s.Rate(ctx, Published, m, s.Epsilons[len(s.Epsilons)-1], r)
		if err != nil {
			return nil, err
		}
		if mean := stat.Mean(got, nil); mean > best {
			best, rate = mean, r
		}
	}
	m.Rates = []float64{rate}
	return s.curve(ctx, Published, m)
}

// Rate trains a model with every seed at one ε and, for Published, one step size.
func (s *Study) Rate(ctx context.Context, how How, m Model, epsilon, rate float64) ([]float64, error) {
	cell := fmt.Sprintf("%s, %s, ε = %g, rate %g, %d of %s, %d test, lots of %d, %g epochs, %d runs",
		how, m.Name, epsilon, rate, s.Data.Train.Len(), s.Data.Name, s.Data.Test.Len(), s.batch(how), s.Epochs, s.Seeds)
	return s.Run.Cell(ctx, cell, func() ([]float64, error) {
		out := make([]float64, s.Seeds)
		for seed := range out {
			v, err := s.fit(ctx, how, m, epsilon, rate, uint64(seed+1))
			if err != nil {
				return nil, err
			}
			out[seed] = 100 * v
		}
		return out, nil
	})
}

func (s *Study) fit(ctx context.Context, how How, m Model, epsilon, rate float64, seed uint64) (float64, error) {
	net := m.Net
	if how == Honest {
		net = net.Default()
	}
	return s.Data.Fit(ctx, net, seed, func(in *workflow.TrainInput) {
		in.Batch, in.Epochs = s.batch(how), s.Epochs
		if how == Plain {
			in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = true, gradient.Unclipped, "adam", 1e-3
			return
		}
		in.Epsilon, in.Delta, in.Accountant = strconv.FormatFloat(epsilon, 'f', -1, 64), delta, accountant.MethodRDP
		if how == Published {
			in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", rate, 1
		}
	})
}

// Cross estimates the crossover of two curves.
func (s *Study) Cross(simple, complex Curve) (*theory.Crossover, error) {
	return Cross(s.Epsilons, simple, complex)
}

// Cross is Study.Cross for any curves over rising epsilons.
func Cross(epsilons []float64, simple, complex Curve) (*theory.Crossover, error) {
	var runs []theory.AccuracyRuns
	for k, epsilon := range epsilons {
		runs = append(runs, theory.AccuracyRuns{Epsilon: epsilon, Simple: simple[k], Complex: complex[k]})
	}
	return theory.EstimateCrossover(runs, theory.CrossoverConfig{Bootstrap: theory.Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1}, Paired: true})
}

// Estimate is a crossover in a table. Above the grid it stands as the largest ε, since a
// table holds numbers; Words says that it is above.
func Estimate(c *theory.Crossover, runs int) *experiments.Estimate {
	top := c.Points[len(c.Points)-1].Epsilon
	return &experiments.Estimate{Mean: min(c.Epsilon.Estimate, top), Low: min(c.Epsilon.Lower, top), High: min(c.Epsilon.Upper, top), Runs: runs}
}

// Words says what a crossover is.
func Words(c *theory.Crossover) string {
	at := func(v float64) string {
		if math.IsInf(v, 1) {
			return fmt.Sprintf("above %g", c.Points[len(c.Points)-1].Epsilon)
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return fmt.Sprintf("crossover %s [%s, %s]: %s", at(c.Epsilon.Estimate), at(c.Epsilon.Lower), at(c.Epsilon.Upper), c.Verdict)
}

// Row compares a crossover, as published and honest, with the range that was printed.
type Row struct {
	Name, Data        string
	Low, High         float64 // printed; 0 and 0 for none
	Runs              int
	Published, Honest *theory.Crossover
}

// Row judges: reproduced where the interval of ours as published meets the printed range;
// of the same sign where the simple one wins at small and the complex one at large ε,
// elsewhere.
func (r Row) Row() experiments.Row {
	out := experiments.Row{Name: r.Name, Data: r.Data}
	if r.Published != nil {
		out.AsPublished, out.Why = Estimate(r.Published, r.Runs), "as published: "+Words(r.Published)
	}
	if r.Honest != nil {
		out.Honest = Estimate(r.Honest, r.Runs)
		if out.Why != "" {
			out.Why += "; "
		}
		out.Why += "honest: " + Words(r.Honest)
	}
	if r.High == 0 {
		out.Verdict = experiments.Unpublished
		return out
	}
	out.Published = experiments.Value(math.Sqrt(r.Low * r.High)) // the middle on a logarithmic axis
	ours := r.Published
	if ours == nil {
		ours = r.Honest
	}
	switch {
	case ours.Epsilon.Lower <= r.High && ours.Epsilon.Upper >= r.Low:
		out.Verdict = experiments.Reproduced
	case ours.Epsilon.Estimate > 0 && !math.IsInf(ours.Epsilon.Estimate, 1):
		out.Verdict = experiments.SameSign
	default:
		out.Verdict = experiments.Not
	}
	return out
}

// Rows are the accuracies of a model over ε, which the paper draws without numbers.
func (s *Study) Rows(i int, published, honest Curve, baseline *float64) []experiments.Row {
	var rows []experiments.Row
	for k, epsilon := range s.Epsilons {
		row := experiments.Row{Name: fmt.Sprintf("%s, ε = %g", s.Models[i].Name, epsilon), Data: s.Data.Name}
		if published != nil {
			row.AsPublished = experiments.Of(published[k])
		}
		if honest != nil {
			row.Honest = experiments.Of(honest[k])
		}
		if baseline != nil {
			row.Baseline = experiments.Exact(*baseline)
		}
		row.Verdict = experiments.Unpublished
		rows = append(rows, row)
	}
	return rows
}

// Note says how the networks were trained.
func (s *Study) Note() string {
	lots := fmt.Sprintf("lots of %d", s.Batch)
	if s.Lots > 0 && s.Lots != s.Batch {
		lots += fmt.Sprintf(" (as published %d)", s.Lots)
	}
	return fmt.Sprintf("%s: %d images, %d to test, %s, %g epochs, %d seeds; ε by Rényi accounting of Poisson lots at δ = 1e-5",
		s.Data.Name, s.Data.Train.Len(), s.Data.Test.Len(), lots, s.Epochs, s.Seeds)
}

// Notes are those of every replay of curves.
var Notes = []string{
	"as published: rectifiers and dropout, plain steps, clipping norm 1, the best of a short list of learning rates by the test images, which nobody pays for",
	"honest: the same nets as the library trains them at the same ε: tanh, no dropout, momentum, a step by rule",
	"a crossover of 0 means that the simple model is at no ε tested the better one; the paper's Definition 2 prints infinity there",
}
