package runners

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/compute/nn"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/evidence/theory"
	"pawl/experiments"
	"pawl/model"
)

// crossing is where two curves over ε cross. Above the grid it stands as the largest ε, since a table holds numbers;
// Words says that it is above.
type crossing struct {
	Estimate  *experiments.Estimate
	Words     string
	Lower, At float64
	Upper     float64
}

// cross estimates the crossing of two lists of series over rising epsilons.
func cross(epsilons []float64, simple, complex [][]float64, runs int) *crossing {
	var all []theory.AccuracyRuns
	for k, epsilon := range epsilons {
		all = append(all, theory.AccuracyRuns{Epsilon: epsilon, Simple: simple[k], Complex: complex[k]})
	}
	c := must(theory.EstimateCrossover(all, theory.CrossoverConfig{Bootstrap: theory.Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1}, Paired: true}))
	top := c.Points[len(c.Points)-1].Epsilon
	words := func(v float64) string {
		if math.IsInf(v, 1) {
			return fmt.Sprintf("above %g", top)
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	e := c.Epsilon
	return &crossing{
		Estimate: &experiments.Estimate{Mean: min(e.Estimate, top), Low: min(e.Lower, top), High: min(e.Upper, top), Runs: runs},
		Words:    fmt.Sprintf("crossover %s [%s, %s]: %s", words(e.Estimate), words(e.Lower), words(e.Upper), c.Verdict),
		Lower:    e.Lower, At: e.Estimate, Upper: e.Upper,
	}
}

// states is the ε that a training by plain steps under noise states.
func states(s *lab.Images, name, activation string, bound, noise float64, batch int, epochs float64) float64 {
	net := must(spec{Net: name, Activation: activation, Bound: bound}.make())
	t := &training{Noise: noise, By: "steps", Rate: .1, Batch: batch, Epochs: epochs}
	return must(s.Plan(net, 1, t.set)).Epsilon
}

// blockNorm is the mean norm of what a net's first convolution, pool and activation make of images.
func blockNorm(m *model.Model, set *images.Set) float64 {
	input, classes := m.Net.Input(), len(set.Classes)
	width := must(nn.Compile(m.Layers, input, classes)).Layers()[2].Output.Size()
	block := nn.Spec{Layers: append(slices.Clone(m.Layers.Layers[:3]), nn.Layer{Kind: "flatten"})}
	net := must(nn.Compile(block, input, width))
	total, x := 0.0, make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, x)
		square := 0.0
		for _, v := range net.Predict(0, m.Parameters32[:net.Parameters()], x) {
			square += float64(v) * float64(v)
		}
		total += math.Sqrt(square)
	}
	return total / float64(set.Len())
}
