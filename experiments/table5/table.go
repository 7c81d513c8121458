// Package table5 replays Table V: nets with and without principal components. SVHN is
// not among the data that can be had here; grey images of clothes stand in for it.
package table5

import (
	"context"
	"fmt"
	"sync"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/data/dataset"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// Experiment is the replay.
func Experiment() experiments.Experiment {
	return experiments.Experiment{
		Name: "table-5", Title: "Nets with and without principal components (Fashion-MNIST in place of SVHN)",
		Source: "Bao, Bauer and Bindschaedler, Table V", Data: []string{set}, Quick: 240, Run: run,
	}
}

const (
	set = "fashion-mnist"
	// rows is the number of images of SVHN that the paper trains on: with it, lots of
	// 250, noise 2 and 200 epochs, Rényi accounting states the printed ε.
	rows       = 42000
	epsilon    = "2.58"
	delta      = "0.00001"
	components = 300
)

// net is one of the two architectures.
type net string

const (
	standard net = "ST"
	aware    net = "PA"
)

// front is what stands before the net.
type front string

const (
	pca front = "PCA"
	raw front = "no PCA"
	dct front = "DCT"
)

// published are percent of SVHN's test images: DP-SGD, SGD.
var published = map[front]map[net][2]float64{
	pca: {standard: {72.90, 85.32}, aware: {76.10, 84.12}},
	raw: {standard: {64.40, 87.08}, aware: {70.38, 86.01}},
}

// settings of a scale.
type settings struct {
	rows, test, components, batch, runs int
	epochs                              float64
	// own leaves the step size to the library's rule; else it is the paper's.
	own bool
}

func at(s experiments.Scale) settings {
	return settings{
		rows: experiments.Pick(s, 500, rows, rows), test: experiments.Pick(s, 200, 10000, 10000), components: experiments.Pick(s, 20, components, components),
		batch: experiments.Pick(s, 100, 2048, 250), runs: experiments.Pick(s, 1, 3, 5), epochs: experiments.Pick(s, 1., 12., 200.), own: s != experiments.Paper,
	}
}

// spec is the net of the paper; without components its first layer takes the pixels.
func spec(n net, f front, count int) (zoo.Spec, error) {
	name := map[net]string{standard: "svhn-stw-fcn", aware: "svhn-paw-fcn"}[n]
	s, ok := zoo.Lookup(name)
	if !ok {
		return s, fmt.Errorf("no net %q", name)
	}
	// The file's shape and counts are those of SVHN behind its own front end.
	s.Input, s.Outputs, s.Parameters, s.Trainable = nn.Shape{}, 0, 0, 0
	if f == dct {
		return s.WithFrontEnd(nn.Layer{Kind: "dct", Coefficients: count}), nil
	}
	// Pixels, or components that were taken before.
	s.Network.Layers = s.Network.Layers[1:]
	s.Defaults.Radius = 0
	return s, nil
}

type replay struct {
	run  *experiments.Run
	data *lab.Images
	// projected are the principal components of the images, made when first needed.
	projected func() (*lab.Images, error)
	settings
}

func run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	b, ok := dataset.Images(set)
	if !ok {
		return nil, fmt.Errorf("no built-in set %q", set)
	}
	p := &replay{run: r, settings: at(r.Scale), data: &lab.Images{Name: b.Name, Target: b.Target}}
	train, err := b.Train(r.DataDir)
	if err != nil {
		return nil, err
	}
	test, err := b.Test(r.DataDir)
	if err != nil {
		return nil, err
	}
	p.data.Train, p.data.Test = lab.First(train, p.rows), lab.First(test, p.test)
	if r.Scale == experiments.Smoke {
		p.data.Train, p.data.Test = sparse(p.data.Train), sparse(p.data.Test)
	}
	p.projected = sync.OnceValues(func() (*lab.Images, error) { return project(p.data, p.components) })
	t := &experiments.Table{
		Unit: "% of test images",
		Notes: []string{
			fmt.Sprintf("SVHN's files could not be had: the first %d images of Fashion-MNIST stand in for its 42,000, as they are grey as well; numbers of two data sets cannot agree, the order of nets and front ends is what can be compared", p.rows),
			fmt.Sprintf("nets 300-512-128-10 (ST) and 300-128-10 (PA) with ReLU and dropout; without PCA the same behind 784 pixels, because the printed numbers of parameters fit no net of the search space on SVHN's pixels; %d components", p.components),
			p.training(),
			"as published: components of the training images, which nobody pays for (docs/READING.md, H12); ε by Rényi accounting of Poisson lots at δ = 1e-5",
			"honest: the lowest frequencies of a cosine transform, as many as there are components, which looks at no image; tanh, no dropout; the same ε and δ in total",
			"baseline: chance",
		},
		PublishedEpsilon: map[string]float64{"every row of DP-SGD": 2.58},
	}
	acc := map[front]map[net][2][]float64{}
	for _, f := range []front{pca, raw} {
		acc[f] = map[net][2][]float64{}
		for _, n := range []net{standard, aware} {
			var both [2][]float64
			for k, how := range []string{"DP-SGD", "SGD"} {
				v, err := p.measure(ctx, n, f, k == 0)
				if err != nil {
					return nil, err
				}
				both[k] = v
				row := experiments.Row{
					Name: fmt.Sprintf("%s, %s, %s", f, n, how), Data: set, Published: experiments.Value(published[f][n][k]),
					AsPublished: experiments.Of(v), Baseline: experiments.Exact(10),
				}
				if k == 0 && f == pca {
					honest, err := p.measure(ctx, n, dct, true)
					if err != nil {
						return nil, err
					}
					row.Honest = experiments.Of(honest)
				}
				t.Rows = append(t.Rows, row)
			}
			acc[f][n] = both
		}
	}
	t.Claims = claims(acc)
	judge(t, acc)
	return t, nil
}

func (p *replay) training() string {
	if p.own {
		return fmt.Sprintf("lots of %d, %g epochs, noise such that ε is the printed one, momentum and the step size of the library's rule (the paper: noise 2, lots of 250, 200 epochs, learning rate 0.1 to 0.2, which takes hours here: --scale paper); without privacy Adam at 0.001", p.batch, p.epochs)
	}
	return fmt.Sprintf("lots of %d, %g epochs, noise such that ε is the printed one (2), learning rate 0.15, clipping norm 1; without privacy Adam at 0.001", p.batch, p.epochs)
}

// measure trains with different seeds; equal seeds share lots and first weights.
func (p *replay) measure(ctx context.Context, n net, f front, private bool) ([]float64, error) {
	cell := fmt.Sprintf("%s, %s, private %t, %d images, %d components, lots of %d, %g epochs, %d runs", n, f, private, p.rows, p.components, p.batch, p.epochs, p.runs)
	return p.run.Cell(ctx, cell, func() ([]float64, error) {
		s, err := spec(n, f, p.components)
		if err != nil {
			return nil, err
		}
		if f == dct {
			s = s.Default()
		}
		data := p.data
		if f == pca {
			if data, err = p.projected(); err != nil {
				return nil, err
			}
		}
		var out []float64
		for seed := range p.runs {
			v, err := data.Fit(ctx, s, uint64(seed+1), func(in *workflow.TrainInput) {
				in.Batch, in.Epochs = p.batch, p.epochs
				if !p.own {
					in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", .15, 1
				}
				if !private {
					// Within what the paper found for nets without privacy, 1e-4 to 1e-3.
					in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = true, "none", "adam", 1e-3
					return
				}
				in.Epsilon, in.Delta, in.Accountant = epsilon, delta, accountant.MethodRDP
			})
			if err != nil {
				return nil, err
			}
			out = append(out, 100*v)
		}
		return out, nil
	})
}

// judge: on other data a number stands for which of the two nets is better.
func judge(t *experiments.Table, acc map[front]map[net][2][]float64) {
	for i := range t.Rows {
		row := &t.Rows[i]
		f, k := []front{pca, raw}[i/4], i%2 // ST and PA, DP-SGD and SGD of each front end
		d := difference(acc[f][aware][k], acc[f][standard][k])
		printed := published[f][aware][k] - published[f][standard][k]
		row.Verdict = experiments.Not
		if d.Mean*printed > 0 {
			row.Verdict = experiments.SameSign
		}
		row.Why = fmt.Sprintf("other data; PA minus ST %+.1f, published %+.1f", d.Mean, printed)
	}
}

func difference(a, b []float64) *experiments.Estimate {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return experiments.Of(d)
}

func claims(acc map[front]map[net][2][]float64) []experiments.Claim {
	claim := func(statement string, a, b []float64) experiments.Claim {
		d := difference(a, b)
		c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("difference %s points, seed by seed", d)}
		switch {
		case d.Low > 0:
			c.Verdict = experiments.Reproduced
		case d.Mean > 0:
			c.Verdict = experiments.SameSign
		}
		return c
	}
	return []experiments.Claim{
		claim("behind PCA the privacy-aware net is better under DP-SGD (76.10 against 72.90)", acc[pca][aware][0], acc[pca][standard][0]),
		claim("without PCA the privacy-aware net is better under DP-SGD (70.38 against 64.40)", acc[raw][aware][0], acc[raw][standard][0]),
		claim("under DP-SGD PCA helps the standard net (72.90 against 64.40)", acc[pca][standard][0], acc[raw][standard][0]),
		claim("under DP-SGD PCA helps the privacy-aware net (76.10 against 70.38)", acc[pca][aware][0], acc[raw][aware][0]),
		claim("without privacy the standard net is better without PCA (87.08 against 85.32)", acc[raw][standard][1], acc[pca][standard][1]),
		claim("without privacy and behind PCA the standard net is better (85.32 against 84.12)", acc[pca][standard][1], acc[pca][aware][1]),
	}
}
