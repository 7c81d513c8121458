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
func inputs(spec zoo.Spec, dataDir string, rows int) (*lab.Images, error) {
	if l := spec.Network.Layers[0]; l.Kind == "embedding" {
		return lab.OpenTexts("sms-spam", dataDir, spec.Input.Size()-1, l.Vocabulary, rows, 1, 1)
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
	return &lab.Images{Name: "random images", Target: "class", Train: set, Test: lab.First(set, 1)}, nil
}

// clock takes seconds of an epoch by DP-SGD and by SGD in turn.
func clock(ctx context.Context, r *experiments.Run, c *clocked) ([]float64, error) {
	spec, err := lab.Net(c.Net)
	if err != nil {
		return nil, err
	}
	data, err := inputs(spec, r.DataDir, c.Rows)
	if err != nil {
		return nil, err
	}
	var out []float64
	for range c.Repeats {
		for _, noise := range []float64{1, 0} {
			took := func(epochs float64) (float64, error) {
				start := time.Now()
				by := training{By: "steps", Rate: 1e-3, Noise: noise, OwnAccountant: true, Batch: c.Batch, Epochs: epochs}
				_, err := data.Fit(ctx, spec, 1, by.set)
				return time.Since(start).Seconds(), err
			}
			one, err := took(1)
			if err != nil {
				return nil, err
			}
			three, err := took(3)
			if err != nil {
				return nil, err
			}
			// Where a disturbance made the shorter run nearly as long, what is left is the
			// longer run with all that comes before its first epoch.
			each := (three - one) / 2
			if each < three/6 {
				each = three / 3
			}
			out = append(out, each)
		}
	}
	return out, nil
}
