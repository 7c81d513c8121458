package nn

import (
	"fmt"
	"math"
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
