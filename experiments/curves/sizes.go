package curves

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/experiments"
)

// Hidden is a fully connected net on the lowest frequencies of a cosine transform, with
// these hidden layers.
func Hidden(frequencies, outputs int, hidden ...int) zoo.Spec {
	s := zoo.Spec{Name: fmt.Sprintf("fcn %d %v", frequencies, hidden), Defaults: zoo.Defaults{Activation: "tanh", Kappa: 2.4, Radius: 8, ClippingNorm: .5}}
	s.Network.Layers = []nn.Layer{{Kind: "dct", Coefficients: frequencies}}
	for _, units := range hidden {
		s.Network.Layers = append(s.Network.Layers, nn.Layer{Kind: "dense", Units: units}, nn.Layer{Kind: "relu"})
	}
	s.Network.Layers = append(s.Network.Layers, nn.Layer{Kind: "dense", Units: outputs})
	return s
}

// Parameters is the number of a fully connected net's parameters.
func Parameters(frequencies, outputs int, hidden ...int) int {
	total, in := 0, frequencies
	for _, units := range append(hidden, outputs) {
		total += in*units + units
		in = units
	}
	return total
}

// Size is one net of a sweep.
type Size struct {
	Name       string
	Parameters int
	Model      Model
}

// Sweep measures nets of several sizes at the study's first ε and without noise.
type Sweep struct {
	Published, Honest, Plain [][]float64
}

// Sweep measures all sizes.
func (s *Study) Sweep(ctx context.Context, sizes []Size) (*Sweep, error) {
	w := &Sweep{}
	for _, size := range sizes {
		for _, one := range []struct {
			how How
			to  *[][]float64
		}{{Published, &w.Published}, {Honest, &w.Honest}, {Plain, &w.Plain}} {
			got, err := s.At(ctx, one.how, size.Model, s.Epsilons[0])
			if err != nil {
				return nil, err
			}
			*one.to = append(*one.to, got)
		}
	}
	return w, nil
}

// SweepRows are two rows a size: with noise and without.
func (s *Study) SweepRows(sizes []Size, w *Sweep) []experiments.Row {
	var rows []experiments.Row
	for i, size := range sizes {
		name := fmt.Sprintf("%s (%d parameters)", size.Name, size.Parameters)
		rows = append(rows,
			experiments.Row{Name: fmt.Sprintf("%s, DP-SGD at ε = %g", name, s.Epsilons[0]), Data: s.Data.Name, AsPublished: experiments.Of(w.Published[i]), Honest: experiments.Of(w.Honest[i]), Verdict: experiments.Unpublished},
			experiments.Row{Name: name + ", no privacy", Data: s.Data.Name, AsPublished: experiments.Of(w.Plain[i]), Verdict: experiments.Unpublished})
	}
	return rows
}

// Best is the place of the highest mean.
func Best(values [][]float64) int {
	best, at := math.Inf(-1), 0
	for i, v := range values {
		if m := stat.Mean(v, nil); m > best {
			best, at = m, i
		}
	}
	return at
}

// Falls claims that the largest net loses to the best one of a sweep by that many points
// at least.
func Falls(statement string, values [][]float64, points float64) experiments.Claim {
	best, last := Best(values), len(values)-1
	d := make([]float64, len(values[last]))
	for i := range d {
		d[i] = values[best][i] - values[last][i]
	}
	e := experiments.Of(d)
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf("best size %d of %d; the largest is below it by %s points, seed by seed", best+1, len(values), e)}
	switch {
	case best == last:
	case e.Low >= points && e.Runs > 1:
		c.Verdict = experiments.Reproduced
	case e.Mean >= points:
		c.Verdict = experiments.SameSign
	}
	return c
}
