package kernel

import "testing"

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
	conv.Pack(&packed, make([]float32, conv.WeightSize()))
	onEach(t, func(t *testing.T, x *machine) {
		for name, f := range map[string]func(){
			"in place":  func() { x.matMul(c.block(0, 0, 3, 512), a.block(0, 0, 3, 512), weights, false) },
			"apart":     func() { x.matMul(c, a, weights, false) },
			"tiled":     func() { x.matMul(c, a.T(), weights, false) },
			"turned":    func() { x.matMul(c.block(0, 0, 512, 40), a.T(), weights.block(0, 0, 512, 40), false) },
			"scattered": func() { x.matMul(c.T(), a, weights, false) },
			"patches":   func() { x.convPatches(conv, patches, in, 4, 0) },
			"forward":   func() { active.convForward(conv, out, in, 4, &packed, false) },
			"to inputs": func() { active.convInputGradient(conv, in, out, 4, &packed) },
		} {
			if n := testing.AllocsPerRun(5, f); n != 0 {
				t.Errorf("%s: %g allocations", name, n)
			}
		}
	})
}
