package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// naivePool visits windows in order, pixel by pixel.
func naivePool(p Pool2, x, dy []float32, batch int) (y []float32, from []int32, dx []float32) {
	dx = make([]float32, len(x))
	for b := range batch {
		for i := 0; i+2 <= p.Height; i += p.Stride {
			for j := 0; j+2 <= p.Width; j += p.Stride {
				for c := range p.Channels {
					corner := ((b*p.Height+i)*p.Width+j)*p.Channels + c
					best := 0
					for _, at := range []int{p.Channels, p.Width * p.Channels, (p.Width + 1) * p.Channels} {
						if x[corner+at] > x[corner+best] {
							best = at
						}
					}
					dx[corner+best] += dy[len(y)]
					y, from = append(y, x[corner+best]), append(from, int32(best))
				}
			}
		}
	}
	return y, from, dx
}

func checkPool(t failer, m *machine, p Pool2, batch int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	// Few different values, so that many are equal; zeros of both signs among them.
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.IntN(5)-2) * 0.3
			if rng.IntN(9) == 0 {
				v[i] = float32(math.Copysign(0, -1))
			}
		}
		return v
	}
	x, dy := fill(batch*p.InputSize()), fill(batch*p.OutputSize())
	y, dx, from := fill(len(dy)), fill(len(x)), make([]int32, len(dy))
	wantY, wantFrom, wantDX := naivePool(p, x, dy, batch)
	m.poolForward(p, y, from, x, batch)
	m.poolBackward(p, dx, dy, from, batch)
	for i := range wantY {
		if math.Float32bits(y[i]) != math.Float32bits(wantY[i]) || from[i] != wantFrom[i] {
			t.Fatalf("%+v, batch %d: output %d is %v from %d, want %v from %d", p, batch, i, y[i], from[i], wantY[i], wantFrom[i])
		}
	}
	for i := range wantDX {
		if dx[i] != wantDX[i] {
			t.Fatalf("%+v, batch %d: gradient %d is %v, want %v", p, batch, i, dx[i], wantDX[i])
		}
	}
}

func TestPoolIsThatOfTheDefinition(t *testing.T) {
	onEach(t, func(t *testing.T, m *machine) {
		rapid.Check(t, func(t *rapid.T) {
			side := rapid.IntRange(1, 9)
			p := Pool2{
				Height: side.Draw(t, "height"), Width: side.Draw(t, "width"), Stride: rapid.IntRange(1, 4).Draw(t, "stride"),
				Channels: rapid.SampledFrom([]int{0, 1, 2, 3, 7, 8, 9, 16, 20}).Draw(t, "channels"),
			}
			checkPool(t, m, p, rapid.IntRange(0, 3).Draw(t, "batch"), rapid.Uint64().Draw(t, "seed"))
		})
	})
}

func FuzzPool(f *testing.F) {
	f.Add(uint8(14), uint8(14), uint8(16), uint8(1), uint8(2), uint64(1))
	f.Add(uint8(5), uint8(4), uint8(0), uint8(2), uint8(1), uint64(2))
	f.Add(uint8(3), uint8(2), uint8(1), uint8(1), uint8(0), uint64(3))
	f.Fuzz(func(t *testing.T, height, width, channels, stride, batch uint8, seed uint64) {
		p := Pool2{Height: 1 + int(height%20), Width: 1 + int(width%20), Channels: int(channels % 40), Stride: 1 + int(stride%4)}
		for _, m := range machines() {
			checkPool(t, m, p, int(batch%4), seed)
		}
	})
}

// NaN and infinities come out alike on every kernel.
func TestPoolOfValuesThatAreNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1, 0}
	for _, stride := range []int{1, 2} {
		p := Pool2{Height: 6, Width: 7, Channels: 11, Stride: stride}
		x := make([]float32, p.InputSize())
		for i := range x {
			x[i] = odd[rng.IntN(len(odd))]
		}
		want, wantFrom := make([]float32, p.OutputSize()), make([]int32, p.OutputSize())
		portable.poolForward(p, want, wantFrom, x, 1)
		for _, m := range machines() {
			y, from := make([]float32, len(want)), make([]int32, len(want))
			m.poolForward(p, y, from, x, 1)
			for i := range y {
				if (y[i] != want[i] && (y[i] == y[i] || want[i] == want[i])) || from[i] != wantFrom[i] {
					t.Fatalf("%s, stride %d: output %d is %v from %d, want %v from %d", m.name, stride, i, y[i], from[i], want[i], wantFrom[i])
				}
			}
		}
	}
}

func TestPoolRefusesWrongSizes(t *testing.T) {
	p := Pool2{Height: 4, Width: 4, Channels: 2, Stride: 2}
	for name, f := range map[string]func(){
		"input":  func() { p.Forward(make([]float32, 8), make([]int32, 8), make([]float32, 31), 1) },
		"output": func() { p.Backward(make([]float32, 32), make([]float32, 7), make([]int32, 7), 1) },
		"places": func() { p.Backward(make([]float32, 32), make([]float32, 8), make([]int32, 7), 1) },
		"stride": func() { Pool2{Height: 2, Width: 2}.Forward(nil, nil, nil, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		})
	}
}
