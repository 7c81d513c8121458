package nn

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/core/gradient"
)

// Batch normalization: the gradient of the sum of losses, by differences, statistics
// of the batch included; running statistics for predictions, from all workers and
// kept with the frozen parameters; and its name where examples must stay apart.
func TestBatchNorm(t *testing.T) {
	c := tried{in: Shape{3, 2, 2}, outputs: 3, layers: []Layer{{Kind: "conv2d", Filters: 2, Kernel: 2}, kind("batch_norm"), kind("tanh"), units(3)}}
	net := mustCompile(t, c.spec(), c.in, 3)
	params, inputs, targets, seeds := c.batch(net, 6, 4)
	sum := func(p []float32) []float64 {
		total := make([]float64, len(p))
		for _, g := range gradients(net, p, inputs, targets, seeds) {
			for j, v := range g {
				total[j] += v
			}
		}
		return total
	}
	got := sum(params)
	loss := func(p []float64) (total float64) {
		hidden := make([][]float64, len(targets)) // behind the convolution
		conv := Spec{Layers: c.layers[:1]}
		for e := range targets {
			hidden[e] = reference(conv, c.in, p, widen(inputs[e*12:(e+1)*12]))
		}
		flat := slices.Concat(hidden...)
		even := referenceNorm(2, 2, func(int) []float64 { return p[18:22] }, flat)
		for e, y := range targets {
			s := reference(Spec{Layers: c.layers[2:]}, Vector(4), p[22:], even[e*4:(e+1)*4])
			total += referenceLoss(Loss{}, s, float64(y))
		}
		return total
	}
	p := widen(params)
	for j := range p {
		const h = 1e-5
		old := p[j]
		p[j] = old + h
		up := loss(p)
		p[j] = old - h
		want := (up - loss(p)) / (2 * h)
		p[j] = old
		if math.Abs(got[j]-want) > 1e-4 {
			t.Errorf("parameter %d: got %g, want %g", j, got[j], want)
		}
	}
	for range 200 {
		sum(params)
		net.Backprop(1, params, inputs, targets, seeds, func(gradient.Trace) {})
	}
	scores := slices.Clone(net.Predict(0, params, inputs))
	// Statistics of the one batch that there was: scores are those of training.
	var trained float64
	for e, y := range targets {
		trained += net.Loss().Value(scores[e*3:(e+1)*3], y)
	}
	if want := loss(p); math.Abs(trained-want) > 1e-3 {
		t.Errorf("loss %g with running statistics, %g with those of the batch", trained, want)
	}
	again := mustCompile(t, c.spec(), c.in, 3)
	if err := again.SetFrozen(net.Frozen()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Predict(0, params, inputs), scores) {
		t.Error("the frozen parameters do not hold the statistics")
	}
	err := net.PerExample()
	var l *LayerError
	if !errors.As(err, &l) || l.Layer != 2 || !strings.Contains(err.Error(), "mixes the examples") {
		t.Errorf("batch normalization is not named: %v", err)
	}
	wide := mustCompile(t, Spec{Layers: []Layer{{Kind: "conv2d", Filters: 72, Kernel: 1}, kind("batch_norm"), units(2)}}, Shape{2, 2, 1}, 2)
	if err := wide.PerExample(); err == nil || !strings.Contains(err.Error(), "group_norm") || !strings.Contains(err.Error(), "such as 24") {
		t.Errorf("72 channels: %v does not offer group_norm with 24 groups", err)
	}
	for _, c := range nets {
		if err := mustCompile(t, c.spec(), c.in, c.outputs).PerExample(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
