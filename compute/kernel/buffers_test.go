package kernel

import (
	"slices"
	"testing"
)

func TestBorrowedSlicesAreLargeEnoughAndApart(t *testing.T) {
	var s shelf[float32]
	held := map[*float32]bool{}
	for _, n := range []int{0, 1, 1024, 1025, 1024, 5000, 1 << 16} {
		b := s.borrow(n)
		if len(b) < n || held[&b[0]] {
			t.Errorf("%d values for %d, lent twice %v", len(b), n, held[&b[0]])
		}
		held[&b[0]] = true
	}
	b := s.borrow(3000)
	s.giveBack(b)
	if again := s.borrow(4096); &again[0] != &b[0] {
		t.Error("what was given back is not lent again")
	}
}

// Nothing here allocates once its buffers exist, whichever way A is copied.
func TestCallsAllocateNothing(t *testing.T) {
	weights := Dense(draw(testKey(1), 0, 512*512), 512, 512)
	a, c := Dense(draw(testKey(2), 0, 512*512), 512, 512), Dense(make([]float32, 512*512), 512, 512)
	conv, err := NewConv(ConvShape{Height: 9, Width: 9, Channels: 3, KernelHeight: 3, KernelWidth: 3, Filters: 5, Stride: 2, Groups: 1, Same: true})
	if err != nil {
		t.Fatal(err)
	}
	in, out, patches := make([]float32, 4*conv.InputSize()), make([]float32, 4*conv.OutputSize()), make([]float32, 4*conv.Positions()*conv.PatchSize())
	var packed ConvWeights
	active.packConv(conv, &packed, make([]float32, conv.WeightSize()))
	onEach(t, func(t *testing.T, x *machine) {
		for name, f := range map[string]func(){
			"in place":  func() { x.matMul(c.block(0, 0, 3, 512), a.block(0, 0, 3, 512), weights, false) },
			"apart":     func() { x.matMul(c, a, weights, false) },
			"tiled":     func() { x.matMul(c, a.T(), weights, false) },
			"turned":    func() { x.matMul(c.block(0, 0, 512, 40), a.T(), weights.block(0, 0, 512, 40), false) },
			"patches":   func() { x.convPatches(conv, patches, in, 0, 0, 4*conv.Positions()) },
			"forward":   func() { active.convForward(conv, out, in, 4, &packed, nil) },
			"to inputs": func() { active.convInputGradient(conv, in, out, 4, &packed) },
		} {
			if n := testing.AllocsPerRun(5, f); n != 0 {
				t.Errorf("%s: %g allocations", name, n)
			}
		}
	})
}

// Products in rooms of their own, side by side, are those of MatMul, and allocate nothing once a room has grown.
func TestRoomsMultiplyAsMatMul(t *testing.T) {
	a, b := Dense(draw(testKey(1), 0, 300*300), 300, 300), Dense(draw(testKey(2), 0, 300*300), 300, 300)
	shapes := [][3]int{{1, 1, 1}, {300, 300, 300}, {25, 100, 16}, {144, 25, 32}, {64, 250, 10}, {7, 300, 33}}
	product := func(matMul func(c, a, b Matrix, accumulate bool), s [3]int, transposed bool) []float32 {
		left := a.block(0, 0, s[0], s[1])
		if transposed {
			left = a.block(0, 0, s[1], s[0]).T()
		}
		c := make([]float32, s[0]*s[2])
		matMul(Dense(c, s[0], s[2]), left, b.block(0, 0, s[1], s[2]), false)
		matMul(Dense(c, s[0], s[2]), left, b.block(0, 0, s[1], s[2]), true)
		return c
	}
	Parallel(2, 6, func(int) {
		r := NewRoom()
		for _, s := range shapes {
			for _, transposed := range []bool{false, true} {
				if !slices.Equal(product(r.MatMul, s, transposed), product(MatMul, s, transposed)) {
					t.Errorf("%v, transposed %v: another product", s, transposed)
				}
			}
		}
	})
	r, c := NewRoom(), Dense(make([]float32, 300*300), 300, 300)
	if n := testing.AllocsPerRun(5, func() { r.MatMul(c, a.T(), b, true) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
