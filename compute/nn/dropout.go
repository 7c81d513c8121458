package nn

import "fmt"

var _ = register(Kind{
	Name: "dropout", Help: "numbers set to zero at random in training", Keys: []string{"rate"}, overTime: true,
	build: func(b *builder, l Layer, _ *LayerInfo) (op, error) {
		if !(l.Rate >= 0 && l.Rate < 1) {
			return nil, b.fault("rate", fmt.Sprintf("rate must lie in [0, 1), got %g", l.Rate), "0.2 is a common choice")
		}
		d := &dropout{d: b.shape.Size(), rate: l.Rate}
		if b.sequence {
			d.d, d.length = b.shape.Channels, b.shape.Height
		}
		return d, nil
	},
})

// dropout clears each number of x (n×d) with probability rate and divides the
// others by 1 − rate, so that the mean stays. Masks are a function of the
// example's seed, the layer and the position alone: they do not depend on the
// data or on the batch. Without seeds (prediction, frozen parts) it does nothing.
type dropout struct {
	d    int
	rate float64
	// length is above 0 for a sequence: each of its steps has d numbers.
	length int
}

func (l *dropout) forward(c *call, s *state, x []float32) []float32 {
	if c.seeds == nil {
		return x
	}
	y, mask := grow(&s.y, len(x)), grow(&s.part, len(x))
	keep := float32(1 / (1 - l.rate))
	limit := uint32(l.rate * (1 << 32))
	for e, seed := range c.seeds {
		lo, hi := e*l.d, (e+1)*l.d
		if l.length > 0 {
			lo, hi = c.steps.span(e, l.d)
		}
		row := mask[lo:hi]
		key := mix(seed + uint64(c.layer)*0x9e3779b97f4a7c15)
		for i := range row {
			// Two numbers from each hash.
			key += uint64(^i&1) * 0xbf58476d1ce4e5b9
			bits := uint32(mix(key) >> (32 * (i & 1)))
			row[i] = 0
			if bits >= limit {
				row[i] = keep
			}
		}
	}
	for i, v := range x {
		y[i] = v * mask[i]
	}
	return y
}

func (l *dropout) backward(c *call, s *state, dy []float32) []float32 {
	if c.seeds != nil {
		for i, m := range s.part {
			dy[i] *= m
		}
	}
	return dy
}

func (l *dropout) memory(trained, _ bool) int { return when(trained, 2*l.d*max(l.length, 1)) }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (l *dropout) write(_ *writer, v value) value { return v }
