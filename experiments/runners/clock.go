package runners

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"pawl/compute/zoo"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
)

// clocked is a net whose epochs are timed.
type clocked struct {
	Net     string `json:"net"`
	Rows    int    `json:"rows"`
	Batch   int    `json:"batch"`
	Repeats int    `json:"repeats"`
}

// inputs are random images of SVHN's size, or messages.
func inputs(spec zoo.Spec, dataDir string, rows int) *lab.Images {
	if l := spec.Network.Layers[0]; l.Kind == "embedding" {
		return must(lab.OpenTexts("sms-spam", dataDir, spec.Input.Size()-1, l.Vocabulary, rows, 1, 1))
	}
	rng := rand.New(rand.NewPCG(17, 17))
	in := spec.Input
	set := &images.Set{Shape: [3]int{in.Height, in.Width, in.Channels}}
	for k := range spec.Outputs {
		set.Classes = append(set.Classes, fmt.Sprint(k))
	}
	for range rows {
		for range in.Size() {
			set.Bytes = append(set.Bytes, uint8(rng.Uint32()))
		}
		set.Labels = append(set.Labels, int32(rng.IntN(spec.Outputs)))
	}
	return &lab.Images{Name: "random images", Target: "class", Train: set, Test: lab.First(set, 1)}
}

// clock takes seconds of an epoch by DP-SGD and by SGD in turn.
func clock(ctx context.Context, r *experiments.Run, c *clocked) (out []float64) {
	net := must(lab.Net(c.Net))
	data := inputs(net, r.DataDir, c.Rows)
	for range c.Repeats {
		for _, noise := range []float64{1, 0} {
			took := func(epochs float64) float64 {
				start := time.Now()
				by := training{By: "steps", Rate: 1e-3, Noise: noise, OwnAccountant: true, Batch: c.Batch, Epochs: epochs}
				must(data.Fit(ctx, net, 1, by.set))
				return time.Since(start).Seconds()
			}
			one, three := took(1), took(3)
			// Where a disturbance made the shorter run nearly as long, what is left is the
			// longer run with all that comes before its first epoch.
			each := (three - one) / 2
			if each < three/6 {
				each = three / 3
			}
			out = append(out, each)
		}
	}
	return out
}
