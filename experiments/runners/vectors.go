package runners

import (
	"math/rand/v2"

	"pawl/compute/optim"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/published"
)

// project replaces images by their principal components, fitted on the training images as they are.
func project(data *lab.Images, count int) *lab.Images {
	c := must(images.PrincipalComponents(data.Train, count))
	return &lab.Images{Name: data.Name, Target: data.Target, Train: onto(c, data.Train), Test: onto(c, data.Test)}
}

func onto(c *images.Components, s *images.Set) *images.Set {
	out := &images.Set{Shape: [3]int{1, 1, c.Count}, Labels: s.Labels, Classes: s.Classes, Floats: make([]float32, s.Len()*c.Count)}
	x := make([]float32, s.Size())
	for i := range s.Len() {
		s.At(i, x)
		y := out.Floats[i*c.Count:][:c.Count]
		for j := range x {
			v := x[j] - c.Mean[j]
			for k, u := range c.Vectors[j*c.Count:][:c.Count] {
				y[k] += v * u
			}
		}
	}
	return out
}

// sparse keeps every second pixel of every second line, for a quick look.
func sparse(s *images.Set) *images.Set {
	h, w := s.Shape[0]/2, s.Shape[1]/2
	out := &images.Set{Shape: [3]int{h, w, 1}, Labels: s.Labels, Classes: s.Classes}
	for i := range s.Len() {
		image := s.Bytes[i*s.Size():][:s.Size()]
		for y := range h {
			for x := range w {
				out.Bytes = append(out.Bytes, image[2*y*s.Shape[1]+2*x])
			}
		}
	}
	return out
}

// adultVectors names Adult one-hot, numbers in [0, 1] by the ranges that occur, as a paper takes preprocessed data.
const adultVectors = "adult"

func (i sample) adult(r *experiments.Run) *lab.Images {
	t := must(published.OpenAs("adult", r.DataDir, "one-hot"))
	rows, test := min(i.Rows, published.AdultTrain), min(i.Test, published.AdultTest)
	order := rand.New(rand.NewPCG(1, 0)).Perm(len(t.X))
	labels := make([]int32, len(t.X))
	for i, y := range t.Label {
		labels[i] = int32(y)
	}
	all := lab.Vectors(t.X, labels, []string{"up to 50K", "above 50K"})
	return &lab.Images{Name: "adult", Target: "income", Train: all.Some(order[:rows]), Test: all.Some(order[rows : rows+test])}
}

// effective is the step of 0.001 to which DPAdamWOSM tends under noise: 10⁻³/(σC/L + 10⁻⁸) (appendix, Algorithm 2).
func effective(clip, noise, lot float64) float64 {
	return optim.Noise{ClippingNorm: clip, NoiseMultiplier: noise, ExpectedBatchSize: lot}.EffectiveStep(1e-3)
}
