package optim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A run that is stopped after any step, and goes on from its bytes in fresh values,
// ends in the same bits as one that was not.
func TestStateGoesOn(t *testing.T) {
	const steps, width = 12, 5
	optimizers := map[string]func() Optimizer{
		"sgd": func() Optimizer { return &SGD{LearningRate: 0.3} }, "momentum": func() Optimizer { return &Momentum{LearningRate: 0.3, Momentum: 0.9, Dampened: true} },
		"adam": func() Optimizer { return &Adam{} }, "wosm": func() Optimizer { return &AdamWOSM{StepSize: 0.2} },
	}
	averages := map[string]func() Average{"tail": func() Average { return NewTail(steps, 0.5) }, "ema": func() Average { return &EMA{Decay: 0.99} }}
	rapid.Check(t, func(t *rapid.T) {
		open := optimizers[rapid.SampledFrom([]string{"sgd", "momentum", "adam", "wosm"}).Draw(t, "optimizer")]
		mean := averages[rapid.SampledFrom([]string{"tail", "ema"}).Draw(t, "average")]
		shape := Schedule{Shape: rapid.SampledFrom([]string{"", "cosine"}).Draw(t, "schedule"), Warmup: 0.2}
		stops := rapid.SliceOfN(rapid.Bool(), steps, steps).Draw(t, "stops")
		gradients := rapid.SliceOfN(rapid.SliceOfN(rapid.Float32Range(-2, 2), width, width), steps, steps).Draw(t, "gradients")
		run := func(stop bool) (params, average []float32) {
			o, a := Optimizer(NewScheduled(open(), shape, steps)), mean()
			params = make([]float32, width)
			for i, g := range gradients {
				o.Step(params, g)
				a.Add(params)
				if !stop || !stops[i] {
					continue
				}
				b := append(a.AppendState(o.AppendState(nil)), "tail"...)
				o, a = NewScheduled(open(), shape, steps), mean()
				rest, err := o.RestoreState(b)
				if err == nil {
					rest, err = a.RestoreState(rest)
				}
				if err != nil || string(rest) != "tail" {
					t.Fatalf("step %d: rest %q, %v", i, rest, err)
				}
			}
			return params, a.Value()
		}
		p, a := run(false)
		q, b := run(true)
		if !slices.Equal(p, q) || !slices.Equal(a, b) {
			t.Fatalf("parameters %v and %v, averages %v and %v", p, q, a, b)
		}
	})
}

// Bytes that are cut short are refused, wherever the cut.
func TestStateCutShort(t *testing.T) {
	for name, o := range map[string]interface {
		Stateful
	}{
		"momentum": &Momentum{LearningRate: 1, velocity: []float32{1, 2}}, "adam": NewScheduled(&Adam{m: []float32{1}, v: []float32{2}}, Schedule{}, 3),
		"wosm": &AdamWOSM{m: []float32{1}}, "tail": &Tail{seen: 4, mean: []float32{1}}, "ema": &EMA{mean: []float32{1}},
	} {
		whole := o.AppendState(nil)
		for n := range whole {
			if _, err := o.RestoreState(whole[:n]); err == nil {
				t.Errorf("%s: %d bytes of %d are taken", name, n, len(whole))
			}
		}
		if again := o.AppendState(nil); !slices.Equal(again, whole) {
			t.Errorf("%s: a failed restore changed the state", name)
		}
	}
}
