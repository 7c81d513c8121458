package gradient

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"pawl/compute/kernel"
	"pawl/core/entropy"
)

const benchMicrobatch = 256

// reluNet is one hidden layer with a rectifier, in float32: small, and fast enough
// to see what a step costs beside it.
type reluNet struct {
	in, hidden, out int
	slots           [workers]struct{ h, back, g []float32 }
}

func (w *reluNet) Inputs() int       { return w.in }
func (w *reluNet) PerExample() error { return nil }

func (w *reluNet) Parameters() int { return w.in*w.hidden + w.hidden*w.out }

func (w *reluNet) Backprop(slot int, params, x, targets []float32, _ []uint64, record func(Trace)) {
	n, s := len(targets), &w.slots[slot]
	if s.h == nil {
		s.h, s.back, s.g = make([]float32, benchMicrobatch*w.hidden), make([]float32, benchMicrobatch*w.hidden), make([]float32, benchMicrobatch*w.out)
	}
	h, back, g := s.h[:n*w.hidden], s.back[:n*w.hidden], s.g[:n*w.out]
	first, second := params[:w.in*w.hidden], params[w.in*w.hidden:]
	kernel.MatMul(kernel.Dense(h, n, w.hidden), kernel.Dense(x, n, w.in), kernel.Dense(first, w.in, w.hidden), false)
	for i, v := range h {
		h[i] = max(v, 0)
	}
	kernel.MatMul(kernel.Dense(g, n, w.out), kernel.Dense(h, n, w.hidden), kernel.Dense(second, w.hidden, w.out), false)
	softmax(g, w.out)
	for i, y := range targets {
		g[i*w.out+int(y)]--
	}
	kernel.MatMul(kernel.Dense(back, n, w.hidden), kernel.Dense(g, n, w.out), kernel.Dense(second, w.hidden, w.out).T(), false)
	for i, v := range h {
		if v == 0 {
			back[i] = 0
		}
	}
	record(Trace{Offset: len(first), T: 1, M: w.hidden, N: w.out, A: h, G: g})
	record(Trace{T: 1, M: w.in, N: w.hidden, A: x, G: back})
}

// softmax replaces each row x of width values by e^x/Σe^x.
func softmax(rows []float32, width int) {
	for row := range slices.Chunk(rows, width) {
		greatest := slices.Max(row)
		for i, v := range row {
			row[i] = v - greatest
		}
	}
	kernel.Exp(rows, rows) // at once: a short row would be done one by one
	for row := range slices.Chunk(rows, width) {
		sum := float32(0)
		for _, v := range row {
			sum += v
		}
		for i := range row {
			row[i] /= sum
		}
	}
}

// normals fills dst with normals of a standard deviation, at the precision of a float32.
func normals(dst []float32, seed uint64, stdDev float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range dst {
		dst[i] = float32(stdDev * rng.NormFloat64())
	}
}

// A step allocates nothing once lots have been as large as they get.
func TestStepAllocatesNothing(t *testing.T) {
	for _, net := range []Network{rawNetReused(1, 20, 20), rawNetReused(5, 3, 2)} {
		tr := training(net, nil)
		tr.SamplingRate, tr.ExpectedRows = 0.5, 64
		s := newStep(&tr, mustOpen(t, rawRows(1, true, net, 64)), make([]float32, net.Parameters()), 1, entropy.Seeded(1))
		defer s.crew.End()
		for range 20 {
			s.next()
		}
		// Pools lose buffers by design under the race detector.
		if got := testing.AllocsPerRun(50, s.next); got != 0 && !underRaceDetector() {
			t.Errorf("%T: %g allocations in a step", net, got)
		}
	}
}

func underRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// reusedNet is rawNet with memory of its own.
type reusedNet struct {
	rawNet
	slots [workers]Trace
}

func rawNetReused(t, m, n int) *reusedNet {
	w := &reusedNet{rawNet: rawNet{t: t, m: m, n: n}}
	for i := range w.slots {
		w.slots[i] = w.trace()
	}
	return w
}

func (w *reusedNet) Backprop(slot int, _, inputs, targets []float32, _ []uint64, record func(Trace)) {
	tr := &w.slots[slot]
	tr.A, tr.G = tr.A[:0], tr.G[:0]
	for e := range targets {
		x := inputs[e*w.Inputs() : (e+1)*w.Inputs()]
		tr.A, tr.G = append(tr.A, x[:w.t*w.m]...), append(tr.G, x[w.t*w.m:]...)
	}
	record(*tr)
}

// BenchmarkStep is one step on lots of about 1000 rows, with what it costs without
// clipping and noise.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name     string
		clipping Clipping
		stdDev   float64
	}{{"private", Flat, 1}, {"plain", Unclipped, 0}} {
		b.Run(c.name, func(b *testing.B) {
			net := &reluNet{in: 784, hidden: 512, out: 10}
			tr := training(net, nil)
			tr.SamplingRate, tr.ExpectedRows, tr.Microbatch, tr.Clipping, tr.ClippingNorm = 0.5, 2000, benchMicrobatch, c.clipping, 0.1
			params := make([]float32, net.Parameters())
			normals(params, 1, 0.05)
			s := newStep(&tr, mustOpen(b, rawRows(1, true, net, 2000)), params, c.stdDev, entropy.Seeded(1))
			defer s.crew.End()
			for range 3 {
				s.next()
			}
			b.ReportAllocs()
			for b.Loop() {
				s.next()
			}
		})
	}
}
