// Package engineered replays Table III and Fig. 5: one task, whose features are cut into more
// and more parts that add up to the same, so that only the number of parameters differs.
package engineered

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/goccy/go-yaml"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/replay"
	"pawl/workflow"
)

//go:embed table-3.yaml
var settings []byte

const delta = "0.00001"

type table struct {
	Name         string `yaml:"name"`
	Title        string `yaml:"title"`
	Source       string `yaml:"source"`
	QuickSeconds int    `yaml:"quick_seconds"`
	Features     int    `yaml:"features"`
	Parts        []struct {
		Parts     int     `yaml:"parts"`
		Published float64 `yaml:"published"`
	} `yaml:"parts"`
	Noise            float64                     `yaml:"noise"`
	Rate             float64                     `yaml:"rate"`
	PublishedEpsilon float64                     `yaml:"published_epsilon"`
	Scales           map[experiments.Scale]sizes `yaml:"scales"`
}

// sizes of a scale. Looks are numbers of epochs, in rising order: each is a training of its own
// of that length, from the same seed.
type sizes struct {
	Rows  int   `yaml:"rows"`
	Test  int   `yaml:"test"`
	Batch int   `yaml:"batch"`
	Looks []int `yaml:"looks"`
	Runs  int   `yaml:"runs"`
}

// Experiment is the replay.
func Experiment() experiments.Experiment {
	var t table
	if err := yaml.NewDecoder(bytes.NewReader(settings), yaml.Strict()).Decode(&t); err != nil {
		panic(fmt.Sprintf("engineered: table-3.yaml: %v", err)) // a broken build, which every test sees
	}
	return experiments.Experiment{Name: t.Name, Title: t.Title, Source: t.Source, Quick: t.QuickSeconds, Run: t.run}
}

// draw makes rows of one seed: the same whatever the number of parts.
func (t *table) draw(n, parts int, seed uint64) (rows [][]float64, labels []int32) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		row := make([]float64, 0, t.Features*parts)
		sum, label := 0.0, int32(0)
		for range t.Features {
			v := rng.Float64()
			sum += v
			for range parts {
				row = append(row, v/float64(parts))
			}
		}
		if sum > float64(t.Features)/2 {
			label = 1
		}
		rows, labels = append(rows, row), append(labels, label)
	}
	return rows, labels
}

func (t *table) data(z sizes, parts int, seed uint64) *lab.Images {
	rows, labels := t.draw(z.Rows+z.Test, parts, seed)
	classes := []string{"below", "above"}
	return &lab.Images{Name: "engineered", Target: "above", Train: lab.Vectors(rows[:z.Rows], labels[:z.Rows], classes), Test: lab.Vectors(rows[z.Rows:], labels[z.Rows:], classes)}
}

// unit is one output with a sigmoid and the logistic loss.
func unit() zoo.Spec {
	return zoo.Spec{Name: "sigmoid", Network: nn.Spec{Layers: []nn.Layer{{Kind: "dense", Units: 1}}, Loss: nn.Loss{Kind: nn.Logistic}},
		Defaults: zoo.Defaults{Kappa: 2, Radius: 1, ClippingNorm: 1}}
}

// path is one seed at one number of parts.
type path struct {
	private, plain, honest float64   // accuracy in percent after all epochs
	distance               []float64 // at each look
	clipped                float64   // percent of gradients at the start that the norm bounds
	epsilon                float64
}

func (t *table) measure(ctx context.Context, r *experiments.Run, z sizes, parts int, seed uint64) (path, error) {
	cell := fmt.Sprintf("%d inputs in %d parts, %d rows, %d test, lots of %d, looks at %v epochs, noise %g, rate %g, seed %d", t.Features*parts, parts, z.Rows, z.Test, z.Batch, z.Looks, t.Noise, t.Rate, seed)
	v, err := r.Cell(ctx, cell, func() ([]float64, error) {
		data := t.data(z, parts, seed)
		last := z.Looks[len(z.Looks)-1]
		train := func(change func(*workflow.TrainInput)) (*workflow.Outcome, error) {
			return data.Run(ctx, unit(), seed, func(in *workflow.TrainInput) {
				in.Outputs, in.Batch, in.Epochs = 1, z.Batch, float64(last)
				in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", t.Rate, 1
				change(in)
			})
		}
		plain, err := train(func(in *workflow.TrainInput) {
			in.NonPrivate, in.Clipping, in.LearningRate = true, gradient.Unclipped, 1
		})
		if err != nil {
			return nil, err
		}
		target := plain.Model.Parameters32
		out := []float64{0, 0, t.accuracy(data, target), 0, clipped(data)}
		for _, look := range z.Looks {
			private, err := train(func(in *workflow.TrainInput) {
				in.NoiseMultiplier, in.Delta, in.Accountant, in.Epochs = t.Noise, delta, accountant.MethodRDP, float64(look)
			})
			if err != nil {
				return nil, err
			}
			out[0], out[1] = private.Plan.Epsilon, t.accuracy(data, private.Model.Parameters32)
			out = append(out, cosineDistance(private.Model.Parameters32, target))
		}
		own, err := data.Run(ctx, unit().Default(), seed, func(in *workflow.TrainInput) {
			in.Outputs, in.Delta, in.Accountant = 1, delta, accountant.MethodRDP
			in.Epsilon = strconv.FormatFloat(t.PublishedEpsilon, 'f', -1, 64)
			in.Batch, in.Epochs = z.Rows/4, 20
		})
		if err != nil {
			return nil, err
		}
		out[3] = t.accuracy(data, own.Model.Parameters32)
		return out, nil
	})
	if err != nil {
		return path{}, err
	}
	return path{epsilon: v[0], private: v[1], plain: v[2], honest: v[3], clipped: v[4], distance: v[5:]}, nil
}

// accuracy is in percent of the test rows, of one unit whose parameters are a weight for each
// input and a bias.
func (t *table) accuracy(data *lab.Images, parameters []float32) float64 {
	d := len(parameters) - 1
	right := 0
	for i, y := range data.Test.Labels {
		score := float64(parameters[d])
		for j, x := range data.Test.Floats[i*d:][:d] {
			score += float64(x) * float64(parameters[j])
		}
		if (score > 0) == (y == 1) {
			right++
		}
	}
	return 100 * float64(right) / float64(len(data.Test.Labels))
}

// clipped is the percentage of training rows whose gradient at parameters of zero is longer
// than 1: half of the norm of the row with its constant.
func clipped(data *lab.Images) float64 {
	d := data.Train.Size()
	long := 0
	for i := range data.Train.Labels {
		squares := 1.0
		for _, x := range data.Train.Floats[i*d:][:d] {
			squares += float64(x) * float64(x)
		}
		if math.Sqrt(squares)/2 > 1 {
			long++
		}
	}
	return 100 * float64(long) / float64(len(data.Train.Labels))
}

// cosineDistance is 1 − cos of the angle between a and b, 1 where one of them is 0.
func cosineDistance(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 1
	}
	return 1 - ab/math.Sqrt(aa*bb)
}

func (t *table) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	z := t.Scales[r.Scale]
	out := &experiments.Table{Unit: "% of test rows, or 1 − cosine where a row says distance"}
	last := len(z.Looks) - 1
	var private, plain, ends [][]float64
	var distances []experiments.Row
	share := ""
	for _, p := range t.Parts {
		var accuracy, without, honest []float64
		at := make([][]float64, len(z.Looks))
		for seed := range z.Runs {
			one, err := t.measure(ctx, r, z, p.Parts, uint64(seed+1))
			if err != nil {
				return nil, err
			}
			accuracy, without, honest = append(accuracy, one.private), append(without, one.plain), append(honest, one.honest)
			for k := range z.Looks {
				at[k] = append(at[k], one.distance[k])
			}
			out.PublishedEpsilon = map[string]float64{"every row, by our accounting": one.epsilon, "as printed": t.PublishedEpsilon}
			if seed == 0 {
				share += fmt.Sprintf(", %.0f %% at %d", one.clipped, t.Features*p.Parts)
			}
		}
		inputs := fmt.Sprintf("%d inputs", t.Features*p.Parts)
		row := experiments.Row{Name: inputs + ", DP-SGD", Data: "drawn as the paper says", Published: experiments.Value(p.Published), AsPublished: experiments.Of(accuracy), Honest: experiments.Of(honest), Baseline: experiments.Exact(50)}
		row.Judge(1, fmt.Sprintf("ours differs by %+.1f points; the paper names no number of rows, lot, noise or rate", row.AsPublished.Mean-p.Published))
		if row.Verdict == experiments.Not && len(private) > 0 {
			d := experiments.Of(replay.Difference(accuracy, private[0]))
			printed := p.Published - t.Parts[0].Published
			if d.Mean*printed > 0 {
				row.Verdict = experiments.SameSign
			}
			row.Why += fmt.Sprintf("; against %d inputs %+.1f, published %+.1f", t.Features, d.Mean, printed)
		}
		sgd := experiments.Row{Name: inputs + ", SGD", Data: "drawn as the paper says", Published: experiments.Value(100), AsPublished: experiments.Of(without), Baseline: experiments.Exact(50)}
		sgd.Judge(1, fmt.Sprintf("ours differs by %+.1f points", sgd.AsPublished.Mean-100))
		out.Rows = append(out.Rows, row, sgd)
		for k, look := range z.Looks {
			distances = append(distances, experiments.Row{Name: fmt.Sprintf("distance, %s, epoch %d", inputs, look), Data: "drawn as the paper says", AsPublished: experiments.Of(at[k])})
		}
		private, plain, ends = append(private, accuracy), append(plain, without), append(ends, at[last])
	}
	out.Rows = append(out.Rows, distances...)
	for i := 1; i < len(t.Parts); i++ {
		a, b := t.Features*t.Parts[i-1].Parts, t.Features*t.Parts[i].Parts
		out.Claims = append(out.Claims,
			replay.Better(fmt.Sprintf("under DP-SGD %d inputs are better than %d", a, b), private[i-1], private[i]),
			farther(fmt.Sprintf("at the last epoch the parameters of %d inputs are farther from SGD's than those of %d", b, a), ends[i], ends[i-1]))
	}
	out.Claims = append(out.Claims, replay.Within(fmt.Sprintf("by SGD %d inputs are as good as %d (we allow half a point)", t.Features*t.Parts[len(t.Parts)-1].Parts, t.Features), plain[len(plain)-1], plain[0], .5))
	out.Notes = []string{
		fmt.Sprintf("%d features, uniform on [0, 1], each cut into equal parts; the label is whether they sum to more than %g (our copy says that the label is the sum, and the loss is logistic); %d rows and %d to test, drawn anew for each of %d seeds", t.Features, float64(t.Features)/2, z.Rows, z.Test, z.Runs),
		fmt.Sprintf("as published: one sigmoid unit with bias, lots of %d, noise %g, clipping norm 1, steps of %g; without privacy Adam at 0.01, which reaches what SGD reaches in fewer steps on cut features; our copy names no rows, lots, noise and rates: with these %d epochs state ε = %.4f, and the rate is that of 0.003, 0.01, 0.015, 0.02, 0.03 and 0.3 at which 10 inputs come nearest to their printed accuracy, on a seed that is not among those measured: the row of 10 inputs therefore confirms nothing, and what is left to compare are the others with it (at 0.3, the highest we tried, 10 inputs had 92.8 %%)", z.Batch, t.Noise, t.Rate, z.Looks[last], out.PublishedEpsilon["every row, by our accounting"]),
		"distance: of all parameters, the bias among them, from those of SGD after all its epochs (the classes can be separated, so that SGD's parameters have a direction and no end); the figure's numbers did not survive the transcription, and its sentences are judged",
		"gradients at the start that are longer than the clipping norm" + share + " inputs: cut features have smaller norms, which the noise does not follow",
		"honest: the same unit as the library trains it at the printed ε; baseline: chance",
	}
	return out, nil
}

// farther is nets.Better of distances, which are no points.
func farther(statement string, a, b []float64) experiments.Claim {
	c := replay.Better(statement, a, b)
	c.Evidence = fmt.Sprintf("difference %s, seed by seed", experiments.Of(replay.Difference(a, b)))
	return c
}
