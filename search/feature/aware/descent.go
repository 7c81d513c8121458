package aware

import (
	"bytes"
	"context"
	"errors"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/store/memory"
)

// Descent is DP-SGD on one dense layer of two outputs under categorical cross-entropy.
type Descent struct {
	Columns []int
	// NoiseMultiplier is over ClippingNorm, which is that of the gradient by the
	// layer's own weights; LearningRate belongs to them as well.
	NoiseMultiplier, ClippingNorm, LearningRate float64
	Steps                                       int
	SamplingRate                                float64
}

// Event is what the training would cost.
func (d Descent) Event() dp.Event { return d.privacy(1).Event() }

func (d Descent) privacy(scale float64) gradient.Privacy {
	return gradient.Privacy{
		Scope: dp.WholeScope, ClippingNorm: d.ClippingNorm * scale, NoiseMultiplier: d.NoiseMultiplier,
		Steps: d.Steps, SamplingRate: d.SamplingRate,
	}
}

// Settings of DP-SGD in the paper: clipping norm 1, 40 epochs of lots of 250 rows (all of
// fewer), and a learning rate within the 0.1 to 0.2 that it found for its dense nets.
const (
	DescentDelta  = 1e-5
	DescentRate   = 0.15
	DescentEpochs = 40
	DescentLot    = 250
)

// CalibratedDescent finds the noise for which Rényi accounting, as the paper's library
// has it, states epsilon at DescentDelta on so many rows.
func CalibratedDescent(rows int, epsilon float64) (Descent, error) {
	d := Descent{ClippingNorm: 1, LearningRate: DescentRate, Steps: DescentEpochs, SamplingRate: 1}
	if DescentLot < rows {
		d.SamplingRate, d.Steps = DescentLot/float64(rows), DescentEpochs*rows/DescentLot
	}
	var err error
	d.NoiseMultiplier, _, err = calibrate.To(calibrate.Target{Epsilon: epsilon, Delta: DescentDelta}, dp.AddOrRemoveOne, accountant.MethodRDP, calibrate.Search{
		Event:      func(x float64) dp.Event { d := d; d.NoiseMultiplier = x; return d.Event() },
		Decreasing: true,
	})
	return d, err
}

// Descending trains by DP-SGD; columns are those that it is called with.
func (s *Split) Descending(d Descent) Trainer {
	return func(ctx context.Context, columns []int, repeats int, src *entropy.Source) ([]float64, error) {
		d := d
		d.Columns = columns
		return s.descend(ctx, d, repeats, src.Split("fits").Uint64())
	}
}

// Descend trains on the training rows with noise from a seed and returns the accuracy in
// percent on the test rows.
func (s *Split) Descend(ctx context.Context, d Descent, seed uint64) (accuracy float64, err error) {
	v, err := s.descend(ctx, d, 1, seed)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// descend trains a number of times, all on one permit of a ledger of their own with noise
// from a seed.
func (s *Split) descend(ctx context.Context, d Descent, repeats int, seed uint64) ([]float64, error) {
	enc, err := s.encoding(d.Columns)
	if err != nil {
		return nil, err
	}
	at := len(s.Table.Names)
	// The encoding's coordinates are the layer's inputs times Scale. Weights on them are
	// the layer's over Scale and gradients the layer's times Scale, so the same path
	// has its clipping norm times Scale and its learning rate over Scale².
	g := linear.Descent{
		Privacy: d.privacy(enc.Scale), Encoding: enc, Loss: linear.Softmax, Outputs: 2,
		Target:       func(cells []float64) float64 { return cells[at] },
		ExpectedRows: float64(len(s.Train)), LearningRate: d.LearningRate / (enc.Scale * enc.Scale),
	}
	events := make([]dp.Event, repeats)
	for i := range events {
		events[i] = d.Event()
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	permit, _, err := l.Reserve(ctx, ledger.Request{
		Dataset: s.Table.Name, Plan: "replay", Event: dp.Compose{Events: events}, Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1,
		Epsilon: "10", Delta: "0.00001", Public: true, Seed: &seed, Digest: bytes.Repeat([]byte{1}, 32),
	})
	if err != nil {
		return nil, err
	}
	var all [][]float64
	for range repeats {
		weights, err := linear.Descend(ctx, permit, s.rows, g)
		if err != nil {
			return nil, errors.Join(err, l.Commit(ctx, permit))
		}
		all = append(all, weights)
	}
	return s.accuracies(enc, all), l.Commit(ctx, permit)
}

// accuracies are the percents of test rows that each of several models predicts.
func (s *Split) accuracies(enc *encode.Encoding, all [][]float64) []float64 {
	right := make([]int, len(all))
	x := make([]float64, enc.Dim)
	cells := make([]float64, len(s.Table.Names)+1)
	for _, i := range s.Test {
		s.Table.cells(cells, i)
		enc.Vector(x, cells)
		for k, weights := range all {
			score := 0.0
			for j, v := range x {
				score += v * (weights[2*j+1] - weights[2*j])
			}
			if (score > 0) == (s.Table.Label[i] == 1) {
				right[k]++
			}
		}
	}
	return percents(right, len(s.Test))
}
