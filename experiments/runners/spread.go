package runners

import (
	"context"
	"math"
	"math/rand/v2"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// spread is one task, whose features are cut into parts that add up to the same, so that only the number of parameters
// differs.
type spread struct {
	Features int `json:"features"`
	Parts    int `json:"parts"`
	Rows     int `json:"rows"`
	Test     int `json:"test"`
	Batch    int `json:"batch"`
	// Looks are numbers of epochs, in rising order: each is a training of its own of that length, from the same seed.
	Looks   []int   `json:"looks"`
	Noise   float64 `json:"noise"`
	Rate    float64 `json:"rate"`
	Epsilon float64 `json:"epsilon"` // of the library's training
	Seed    uint64  `json:"seed"`
}

// draw makes rows of the seed: the same whatever the number of parts.
func (t *spread) draw(n int) (rows [][]float64, labels []int32) {
	rng := rand.New(rand.NewPCG(t.Seed, 0))
	for range n {
		row := make([]float64, 0, t.Features*t.Parts)
		sum, label := 0.0, int32(0)
		for range t.Features {
			v := rng.Float64()
			sum += v
			for range t.Parts {
				row = append(row, v/float64(t.Parts))
			}
		}
		if sum > float64(t.Features)/2 {
			label = 1
		}
		rows, labels = append(rows, row), append(labels, label)
	}
	return rows, labels
}

func (t *spread) data() *lab.Images {
	rows, labels := t.draw(t.Rows + t.Test)
	classes := []string{"below", "above"}
	return &lab.Images{Name: "engineered", Target: "above", Train: lab.Vectors(rows[:t.Rows], labels[:t.Rows], classes), Test: lab.Vectors(rows[t.Rows:], labels[t.Rows:], classes)}
}

// unit is one output with a sigmoid and the logistic loss.
func unit() zoo.Spec {
	return zoo.Spec{Name: "sigmoid", Network: nn.Spec{Layers: []nn.Layer{{Kind: "dense", Units: 1}}, Loss: nn.Loss{Kind: nn.Logistic}},
		Defaults: zoo.Defaults{Kappa: 2, Radius: 1, ClippingNorm: 1}}
}

// spreadOut returns ε, the accuracies by DP-SGD, by SGD and as the library trains, the percentage of gradients at the
// start that the norm bounds, and at each look the distance of the parameters from those of SGD.
func spreadOut(ctx context.Context, _ *experiments.Run, t *spread) []float64 {
	data := t.data()
	run := func(net zoo.Spec, by training) *workflow.Outcome {
		return must(data.Run(ctx, net, t.Seed, func(in *workflow.TrainInput) {
			in.Outputs = 1
			by.set(in)
		}))
	}
	accuracy := func(o *workflow.Outcome) float64 { // in percent, divided last as where it was stored
		n := float64(t.Test)
		return 100 * math.Round(*o.Score.Exact*n) / n
	}
	plain := run(unit(), training{By: "steps", Rate: 1, Batch: t.Batch, Epochs: float64(t.Looks[len(t.Looks)-1])})
	own := run(unit().Default(), training{Epsilon: t.Epsilon, Batch: t.Rows / 4, Epochs: 20})
	out := []float64{0, 0, accuracy(plain), accuracy(own), clipped(data)}
	for _, look := range t.Looks {
		private := run(unit(), training{By: "steps", Rate: t.Rate, Noise: t.Noise, Batch: t.Batch, Epochs: float64(look)})
		out[0], out[1] = private.Plan.Epsilon, accuracy(private)
		out = append(out, cosineDistance(private.Model.Parameters32, plain.Model.Parameters32))
	}
	return out
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
