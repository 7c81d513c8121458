package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/compute/kernel"
	"pawl/core/gradient"
)

// affine is a linear map with bias, used at t positions of each example by each
// of its groups: rows A_g ((n·t)×m) times W_g (m×n) plus b_g.
//
// Trained, group g's parameters are W_g (row-major) followed by b_g, one group
// after another, as gradient.Trace wants them. With a trained bias only, the
// frozen vector holds all W_g and the trained one all b_g; that bias is the map of
// a column of ones, and is traced as such.
type affine struct {
	t, m, n, groups int
	part            Trainable
	// block is the place of the parameters in the trained vector (all or bias).
	block int
	// frozen is the place of those that are not trained in the frozen vector.
	frozen int
	// ragged says that an example has as many of the t positions as it has time steps.
	ragged bool
	// shared says that another layer holds the parameters.
	shared bool
}

func (f affine) linear() affine { return f }

func (f *affine) weights() int { return f.groups * f.m * f.n }
func (f *affine) biases() int  { return f.groups * f.n }

func (f *affine) trained() int {
	switch f.part {
	case TrainAll:
		return f.weights() + f.biases()
	case TrainBias:
		return f.biases()
	}
	return 0
}

// group returns W_g and b_g.
func (f *affine) group(params, frozen []float32, g int) (w, b []float32) {
	w, b = frozen, frozen
	at, each := f.frozen, f.m*f.n
	biasAt, eachBias := f.frozen+f.m*f.n, f.n
	switch f.part {
	case TrainAll:
		w, b = params, params
		at, each = f.block, f.m*f.n+f.n
		biasAt, eachBias = f.block+f.m*f.n, each
	case TrainBias:
		b, biasAt = params, f.block
	default:
		each += f.n
		eachBias = each
	}
	w = w[at+g*each:][: f.m*f.n : f.m*f.n]
	b = b[biasAt+g*eachBias:][:f.n:f.n]
	return w, b
}

// joined returns W with b as one more row, for a single group with both of them trained
// or frozen: multiplied by rows that end with a 1, it needs no addition.
func (f *affine) joined(params, frozen []float32) kernel.Matrix {
	values, at := params, f.block
	if f.part == TrainNone {
		values, at = frozen, f.frozen
	}
	return kernel.Dense(values[at:], f.m+1, f.n)
}

// trace hands group g's rows to the recorder.
func (f *affine) trace(c *call, a, dy []float32, g int, chain func([]float32)) {
	c.record(gradient.Trace{Offset: f.block + g*(f.m*f.n+f.n), T: f.t, M: f.m, N: f.n, Bias: true, A: a, G: dy, Starts: f.starts(c), Chain: chain})
}

// starts are those of the trace's rows.
func (f *affine) starts(c *call) []int32 {
	if !f.ragged {
		return nil
	}
	return c.steps.starts
}

// traceBias hands out the map of a trained bias, from dy (rows×(groups·n)).
func (f *affine) traceBias(c *call, s *state, dy []float32) {
	if f.part != TrainBias {
		return
	}
	// Filled on every call: the reader of a trace may write to it.
	ones := grow(&s.part, len(dy)/f.biases())
	for i := range ones {
		ones[i] = 1
	}
	c.record(gradient.Trace{Offset: f.block, T: f.t, M: 1, N: f.biases(), A: ones, G: dy, Starts: f.starts(c)})
}

// draw fills weights with normal numbers of variance gain/m, and biases with zeros.
func (f *affine) draw(n *Net, gain float64, params []float32, rng *rand.Rand) {
	if f.shared {
		return
	}
	deviation := math.Sqrt(gain / float64(f.m))
	for g := range f.groups {
		w, b := f.group(params, n.frozen, g)
		for j := range w {
			w[j] = float32(deviation * rng.NormFloat64())
		}
		clear(b)
	}
}

// affine gives f its places in the vectors of parameters, those of layer share if
// that is not 0.
func (b *builder) affine(f affine, share int, info *LayerInfo) (affine, error) {
	switch f.part {
	case TrainAll, TrainBias, TrainNone:
	default:
		return f, b.fault("trainable", fmt.Sprintf("trainable is %q", f.part), "write true, false or bias")
	}
	if tooMany(f.m+1, f.n, f.groups) {
		return f, b.fault("", fmt.Sprintf("the layer has more than %d parameters", maxNumbers), "make it smaller")
	}
	if share != 0 {
		return b.share(f, share)
	}
	f.block, f.frozen = b.net.trainable, b.frozen
	info.Parameters, info.Trainable = f.weights()+f.biases(), f.trained()
	return f, nil
}

// share gives f the parameters of layer number.
func (b *builder) share(f affine, number int) (affine, error) {
	refuse := func(reason string) (affine, error) {
		return f, b.fault("share", reason, "name an earlier layer of the same kind and sizes")
	}
	if number < 1 || number >= b.layer {
		return refuse(fmt.Sprintf("share is %d, which is not an earlier layer", number))
	}
	own, other := b.spec[b.layer-1], b.spec[number-1]
	if f.part != TrainAll {
		return f, b.fault("trainable", "it shares its parameters", "write trainable in layer "+fmt.Sprint(number))
	}
	var g affine
	if o, ok := b.net.ops[number-1].(linear); ok {
		g = o.linear()
	}
	if own.Kind != other.Kind || g.m != f.m || g.n != f.n || g.groups != f.groups || own.StandardizeWeights != other.StandardizeWeights {
		return refuse(fmt.Sprintf("it does not have the weights of layer %d", number))
	}
	f.part, f.block, f.frozen, f.shared = g.part, g.block, g.frozen, true
	return f, nil
}
