package nn

import (
	"fmt"
	"math"

	"pawl/compute/onnx"
)

// recurrent is what lstm and gru have in common: sequences x (rows×e) of length steps
// at most become states of h numbers, of which they hand on
//
//	last      the state after the last step, y (n×h)
//	mean      the mean of the states, y (n×h)
//	sequence  all of them, y (rows×h)
//
// States start at zero; a sequence without steps gives zeros.
//
// Steps run one after another, each for all examples that have it. They are taken in
// the order of falling length, so that these are the first active[t] rows of the
// working memory, whatever ended before.
type recurrent struct {
	length, e, h int
	mode         string
}

// outputs is memory for y.
func (l *recurrent) outputs(c *call, s *state) []float32 {
	rows := c.n
	if l.mode == "sequence" {
		rows = c.steps.rows()
	}
	y := grow(&s.y, rows*l.h)
	clear(y)
	return y
}

// emit hands on the state after step t of example e, whose row is row.
func (l *recurrent) emit(c *call, y, state []float32, e, t, row int) {
	switch l.mode {
	case "sequence":
		copy(y[row*l.h:(row+1)*l.h], state)
	case "mean":
		own := y[e*l.h : (e+1)*l.h]
		for j, v := range state {
			own[j] += v
		}
		if n := l.steps(c, e); t == n-1 {
			for j := range own {
				own[j] /= float32(n)
			}
		}
	default:
		if t == l.steps(c, e)-1 {
			copy(y[e*l.h:(e+1)*l.h], state)
		}
	}
}

func (l *recurrent) steps(c *call, e int) int {
	return int(c.steps.starts[e+1] - c.steps.starts[e])
}

// receive adds to dh what dy says of the state after step t of example e.
func (l *recurrent) receive(c *call, dh, dy []float32, e, t, row int) {
	switch l.mode {
	case "sequence":
		for j, v := range dy[row*l.h : (row+1)*l.h] {
			dh[j] += v
		}
	case "mean":
		share := 1 / float32(l.steps(c, e))
		for j, v := range dy[e*l.h : (e+1)*l.h] {
			dh[j] += share * v
		}
	default:
		if t == l.steps(c, e)-1 {
			for j, v := range dy[e*l.h : (e+1)*l.h] {
				dh[j] += v
			}
		}
	}
}

// overSteps says how a kind with a state is registered.
func overSteps(name, help string, build func(b *builder, l Layer, info *LayerInfo) (op, error)) Kind {
	return Kind{
		Name: name, Help: help, Keys: []string{"units", "mode", "trainable"}, Role: Weights, Reach: 0.6, gain: 1,
		build: build, overTime: true, sequence: func(l Layer) bool { return l.Mode == "sequence" }, output: fresh,
		positions: func(l LayerInfo) int { return l.Input.Height },
		// The states behind a tanh lie beside the inputs.
		rows: func(l LayerInfo, reach float64) float64 {
			e, h := float64(l.Input.Channels), float64(l.Output.Channels)
			return math.Sqrt(reach*reach*e + 0.36*h)
		},
	}
}

func always(Layer) bool { return true }
func never(Layer) bool  { return false }

// wantsSequence refuses an input without time steps.
func (b *builder) wantsSequence() error {
	if !b.sequence {
		return b.fault("", fmt.Sprintf("it takes sequences, but its input is %s", b.shape), "put an embedding before it")
	}
	return nil
}

// recurrent checks l and sets its output.
func (b *builder) recurrent(l Layer, info *LayerInfo) (r recurrent, err error) {
	if l.Trainable == TrainBias {
		return r, b.fault("trainable", "its bias cannot be trained alone", "write true or false")
	}
	if err := b.wantsSequence(); err != nil {
		return r, err
	}
	in := b.shape
	switch {
	case l.Units < 1:
		return r, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "give the count of numbers in the state")
	case l.Mode != "" && l.Mode != "last" && l.Mode != "mean" && l.Mode != "sequence":
		return r, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write last, mean or sequence")
	case tooMany(in.Channels+l.Units+1, l.Units, 4) || tooMany(in.Height, in.Channels+8*l.Units):
		return r, b.fault("units", "the layer takes more than 1 GiB", "make it smaller")
	}
	info.Output = Vector(l.Units)
	if l.Mode == "sequence" {
		info.Output = Shape{in.Height, 1, l.Units}
	}
	return recurrent{length: in.Height, e: in.Channels, h: l.Units, mode: l.Mode}, nil
}

// gateMap is the map of the inputs, or of the states, to all gates.
type gateMap struct{ w, b []float32 }

// writeGates adds an lstm or gru, whose gates are those of input (e×gates·h) and state. ONNX wants its gates in the order i, o, f, c and z, r, h
// where ours are i, f, g, o and r, z, n; and sequences of at least one step, so that
// what comes out of an empty one is put to zero behind it.
func (l *recurrent) writeGates(n *writer, v value, op string, gates []int, input, state gateMap, a onnx.Attributes) value {
	h, e := l.h, l.e
	var w, r, bw, br []float32
	for _, gate := range gates {
		lo, hi := gate*h, (gate+1)*h
		w, r = append(w, transposed(input.w, len(input.b), lo, hi)...), append(r, transposed(state.w, len(state.b), lo, hi)...)
		bw, br = append(bw, input.b[lo:hi]...), append(br, state.b[lo:hi]...)
	}
	all := len(gates) * h
	a = append(onnx.Attributes{"hidden_size", int64(h)}, a...)
	y, last := n.Fresh("states"), n.Fresh("last")
	steps := n.To(onnx.Int32s, n.Reshape(n.Op("Max", n.lengths, n.Whole(1)), -1))
	n.Node(op, "", []string{y, last}, []string{n.Transpose(v.name, 1, 0, 2), n.Tensor("W", w, 1, all, e), n.Tensor("R", r, 1, all, h),
		n.Tensor("B", append(bw, br...), 1, 2*all), steps}, a)
	switch l.mode {
	case "sequence":
		return n.made(n.overSteps(y, h), inSteps)
	case "mean":
		return n.made(n.meanOverTime(n.overSteps(y, h)), flat)
	}
	some := n.To(onnx.Floats, n.Op("Greater", n.lengths, n.Whole(0)))
	return n.made(n.Op("Mul", n.Reshape(last, -1, int64(h)), some), flat)
}

// overSteps turns all states, [length, 1, N, h], into a sequence.
func (w *writer) overSteps(y string, h int) string {
	return w.Reshape(w.Transpose(y, 2, 0, 1, 3), -1, int64(w.length), int64(h))
}

// gateTensors are the parameters of both maps.
func (l *recurrent) gateTensors(input, state gateMap) []Tensor {
	n := len(input.b)
	return []Tensor{
		{"weight_ih_l0", []int{n, l.e}, transposed(input.w, n, 0, n)}, {"weight_hh_l0", []int{n, l.h}, transposed(state.w, n, 0, n)},
		{"bias_ih_l0", []int{n}, input.b}, {"bias_hh_l0", []int{n}, state.b},
	}
}
