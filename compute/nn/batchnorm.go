package nn

import (
	"math"
	"math/rand/v2"
	"sync"

	"pawl/core/gradient"
)

var _ = register(Kind{
	Name: "batch_norm", Help: "mean 0 and variance 1 of each channel over a batch: public data only", Keys: []string{"trainable"}, Also: []string{"batchnorm", "batchnorm1d", "batchnorm2d", "batchnormalization"},
	Role: Scales, Reach: 1, build: (*builder).norm, output: fresh,
})

// batchMomentum is the weight of a microbatch in the running statistics.
const batchMomentum = 0.1

// batchNorm normalizes each channel of x (n×H×W×C) over all examples and positions of
// a microbatch, and scales and shifts it (Ioffe and Szegedy, arXiv:1502.03167).
// Predictions use running means of mean and variance, which are frozen parameters.
//
// What it computes for one example depends on the others, so no example has a gradient
// of its own: Net.PerExample names it, and core refuses to clip. Its trace is right
// in the sum only. A net that has one may not predict while it trains.
type batchNorm struct {
	scaling
	in Shape
	// frozen is the place of mean and variance in the frozen vector.
	frozen  int
	running *running
}

// running collects what workers saw since the frozen statistics were last read.
type running struct {
	mu  sync.Mutex
	all []*batchStatistics
}

// batchStatistics are those of one worker.
type batchStatistics struct {
	mean, variance []float32
	seen           bool
}

// see moves the worker's statistics towards those of a microbatch, from the frozen
// ones if it has none.
func (r *running) see(s *state, k *channels, mean, variance []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.batch == nil {
		s.batch = &batchStatistics{mean: make([]float32, k.d), variance: make([]float32, k.d)}
		r.all = append(r.all, s.batch)
	}
	own := s.batch
	if !own.seen {
		copy(own.mean, mean)
		copy(own.variance, variance)
		own.seen = true
	}
	for j, v := range k.mean {
		own.mean[j] += batchMomentum * (v - own.mean[j])
		own.variance[j] += batchMomentum * (float32(k.other[j]) - own.variance[j])
	}
}

// settle sets the frozen statistics to the mean of those that workers saw since.
func (r *running) settle(mean, variance []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := 0
	for _, own := range r.all {
		if !own.seen {
			continue
		}
		if seen++; seen == 1 {
			clear(mean)
			clear(variance)
		}
		for j := range mean {
			mean[j] += (own.mean[j] - mean[j]) / float32(seen)
			variance[j] += (own.variance[j] - variance[j]) / float32(seen)
		}
		own.seen = false
	}
}

// statistics are the running mean and variance.
func (l *batchNorm) statistics(frozen []float32) (mean, variance []float32) {
	return frozen[l.frozen:][:l.d], frozen[l.frozen+l.d:][:l.d]
}

func (l *batchNorm) unsettled() {}

func (l *batchNorm) mixes() string {
	return "batch normalization mixes the examples of a batch, so there is no gradient per example to clip"
}

func (l *batchNorm) settle(n *Net) { l.running.settle(l.statistics(n.frozen)) }

func (l *batchNorm) draw(n *Net, gain float64, params []float32, rng *rand.Rand) {
	l.scaling.draw(n, gain, params, rng)
	mean, variance := l.statistics(n.frozen)
	clear(mean)
	for j := range variance {
		variance[j] = 1
	}
}

func (l *batchNorm) forward(c *call, s *state, x []float32) []float32 {
	y, even, scales := grow(&s.y, len(x)), grow(&s.a, len(x)), grow(&s.wide, l.d)
	gamma, beta := l.values(c.params, c.net.frozen)
	var k channels
	k.init(s, l.d, l.d)
	mean, variance := l.statistics(c.net.frozen)
	switch {
	case c.record == nil:
		l.running.settle(mean, variance)
		for j, v := range variance {
			k.mean[j], k.scale[j] = mean[j], inverseRoot(float64(v))
		}
	default:
		k.measure(x)
		if len(x) > 0 {
			l.running.see(s, &k, mean, variance)
		}
	}
	k.normalize(even, y, x, gamma, beta)
	copy(scales, k.scale)
	return y
}

func (l *batchNorm) backward(c *call, s *state, dy []float32) []float32 {
	var dx []float32
	if c.wantInput {
		dx = grow(&s.dx, len(dy))
		gamma, _ := l.values(c.params, c.net.frozen)
		var k channels
		k.init(s, l.d, l.d)
		k.back(dx, dy, s.a, gamma, s.wide)
	}
	if l.part == TrainAll {
		c.record(gradient.Trace{Offset: l.block, T: l.in.Height * l.in.Width, M: l.d, N: l.d, Bias: true, Diagonal: true, A: s.a, G: dy})
	}
	return dx
}

func (l *batchNorm) memory(_, wantInput bool) int {
	return 2*l.in.Size() + when(wantInput, l.in.Size())
}

// write applies the running statistics: one factor and one summand for each channel.
func (l *batchNorm) write(w *writer, v value) value {
	gamma, beta := l.values(w.params, w.frozen)
	mean, variance := l.statistics(w.frozen)
	scale, shift := make([]float32, l.d), make([]float32, l.d)
	for j, g := range gamma {
		by := float64(g) / math.Sqrt(float64(variance[j])+smallVariance)
		scale[j], shift[j] = float32(by), float32(float64(beta[j])-float64(mean[j])*by)
	}
	return w.made(w.Op("Add", w.Op("Mul", w.asPlanes(v), w.Tensor("scale", scale, l.d, 1, 1)), w.Tensor("shift", shift, l.d, 1, 1)), planes)
}

func (l *batchNorm) tensors(params, frozen []float32) []Tensor {
	mean, variance := l.statistics(frozen)
	return append(l.scaling.tensors(params, frozen), Tensor{"running_mean", []int{l.d}, mean}, Tensor{"running_var", []int{l.d}, variance})
}
