package kernel

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func BenchmarkMatMul(b *testing.B) {
	for _, s := range [][3]int{{125, 64, 10}, {250, 300, 64}, {500, 1024, 512}} {
		m, k, n := s[0], s[1], s[2]
		x, w := Dense(draw(testKey(1), 0, m*k), m, k), Dense(draw(testKey(2), 0, k*n), k, n)
		y, dw := Dense(make([]float32, m*n), m, n), Dense(make([]float32, k*n), k, n)
		packed := Pack(w)
		for name, f := range map[string]func(){
			"forward":         func() { MatMul(y, x, w, false) },
			"forward packed":  func() { MatMulPacked(y, x, packed, false) },
			"weight gradient": func() { MatMul(dw, x.T(), y, false) },
			"input gradient":  func() { MatMul(x, y, w.T(), false) },
		} {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", m, k, n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
				b.ReportMetric(2*float64(m*k*n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func BenchmarkConv(b *testing.B) {
	const batch = 125
	for name, s := range map[string]ConvShape{
		"16@8x8":  {Height: 28, Width: 28, Channels: 1, KernelHeight: 8, KernelWidth: 8, Filters: 16, Stride: 2, Groups: 1, Same: true},
		"32@4x4":  {Height: 13, Width: 13, Channels: 16, KernelHeight: 4, KernelWidth: 4, Filters: 32, Stride: 2, Groups: 1},
		"32@3x3":  {Height: 32, Width: 32, Channels: 3, KernelHeight: 3, KernelWidth: 3, Filters: 32, Stride: 1, Groups: 1, Same: true},
		"64@3x3":  {Height: 16, Width: 16, Channels: 32, KernelHeight: 3, KernelWidth: 3, Filters: 64, Stride: 1, Groups: 1, Same: true},
		"128@3x3": {Height: 8, Width: 8, Channels: 64, KernelHeight: 3, KernelWidth: 3, Filters: 128, Stride: 1, Groups: 1, Same: true},
		"256@3x3": {Height: 4, Width: 4, Channels: 128, KernelHeight: 3, KernelWidth: 3, Filters: 256, Stride: 1, Groups: 1, Same: true},
	} {
		c, err := NewConv(s)
		if err != nil {
			b.Fatal(err)
		}
		in, out := draw(testKey(1), 0, batch*c.InputSize()), draw(testKey(2), 0, batch*c.OutputSize())
		weights := draw(testKey(3), 0, c.WeightSize())
		var w ConvWeights
		active.packConv(c, &w, weights)
		for step, f := range map[string]func(){
			"forward":        func() { c.Forward(out, in, batch, &w, nil) },
			"input gradient": func() { c.InputGradient(in, out, batch, &w) },
		} {
			b.Run(name+"/"+step, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
				work := 2 * float64(batch*c.Positions()*c.PatchSize()*s.Filters)
				b.ReportMetric(work*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

// BenchmarkHalves runs the products of a step of the 784-1024-512-64-10 network at
// batch 500 over two half-batches, in turn by one worker and by two, and reports
// the median of the ratios: how much faster two are.
func BenchmarkHalves(b *testing.B) {
	const batch, parts = 500, 2
	widths := []int{784, 1024, 512, 64, 10}
	type layer struct {
		x, g, dx Matrix
		dw       [parts]Matrix
		w        Matrix
		f, t     Packed
	}
	layers := make([]layer, len(widths)-1)
	for i := range layers {
		l, in, out := &layers[i], widths[i], widths[i+1]
		fresh := func(rows, cols int) Matrix { return Dense(draw(testKey(byte(i)), 0, rows*cols), rows, cols) }
		l.x, l.g, l.dx, l.w = fresh(batch, in), fresh(batch, out), fresh(batch, in), fresh(in, out)
		l.dw = [parts]Matrix{fresh(in, out), fresh(in, out)}
	}
	half := func(part int) {
		lo, hi := partOf(batch, parts, part)
		for i := range layers {
			l := &layers[i]
			MatMulPacked(l.g.RowRange(lo, hi), l.x.RowRange(lo, hi), &l.f, false)
			MatMul(l.dw[part], l.x.RowRange(lo, hi).T(), l.g.RowRange(lo, hi), false)
			if i > 0 {
				MatMulPacked(l.dx.RowRange(lo, hi), l.g.RowRange(lo, hi), &l.t, false)
			}
		}
	}
	step := func(workers int) time.Duration {
		start := time.Now()
		// Packing and adding up are work for two as well: one half of the layers each
		// would be uneven, so each layer's two directions are.
		Parallel(workers, parts, func(part int) {
			for i := range layers {
				if part == 0 {
					layers[i].f.Set(layers[i].w)
				} else {
					layers[i].t.Set(layers[i].w.T())
				}
			}
		})
		Parallel(workers, parts, half)
		Parallel(workers, parts, func(part int) {
			for i := range layers {
				to, from := layers[i].dw[0].Data, layers[i].dw[1].Data
				lo, hi := partOf(len(to), parts, part)
				AddScaled(to[lo:hi], from[lo:hi], 1)
			}
		})
		return time.Since(start)
	}
	step(1)
	var ratios []float64
	var one, two []float64
	for b.Loop() {
		x, y := step(1), step(2)
		ratios, one, two = append(ratios, float64(x)/float64(y)), append(one, x.Seconds()*1e3), append(two, y.Seconds()*1e3)
	}
	for name, values := range map[string][]float64{"ratio": ratios, "ms/one": one, "ms/two": two} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 16384
	src, dst := draw(testKey(1), 0, n), make([]float32, n)
	for name, f := range map[string]func(dst, src []float32){
		"exp": Exp, "sigmoid": Sigmoid, "tanh": Tanh,
		"add scaled": func(dst, src []float32) { AddScaled(dst, src, 0.5) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(dst, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}
