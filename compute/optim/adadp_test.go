package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// adadp is the definition, one pair after another, in float64.
func adadp(w []float64, grads [][]float32, rate, tolerance float64, keep bool) (kept int) {
	for t := 0; t+1 < len(grads); t += 2 {
		next, square := slices.Clone(w), 0.0
		for j := range w {
			p := w[j] - rate*float64(grads[t][j])
			next[j] = w[j] - rate/2*float64(grads[t][j]) - rate/2*float64(grads[t+1][j])
			square += (p - next[j]) * (p - next[j]) / math.Max(1, p*p)
		}
		err := math.Sqrt(square)
		if err <= tolerance || keep {
			copy(w, next)
			kept++
		}
		rate *= math.Min(math.Max(math.Sqrt(tolerance/err), 0.9), 1.1)
	}
	return kept
}

// Steps, restored ones among them, follow the definition; a last step without a partner
// leaves the parameters alone.
func TestADADPMatchesItsDefinition(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  ADADP
		kept int // of 30 pairs, in the definition
	}{
		{"as published", ADADP{Steps: steps, Tolerance: 1, LearningRate: 0.3}, 14},
		{"all kept", ADADP{Steps: steps, Tolerance: 1, LearningRate: 0.3, KeepAll: true}, 30},
		{"default tolerance", ADADP{Steps: steps, LearningRate: 0.1}, 0},
		{"odd", ADADP{Steps: steps - 1, Tolerance: 1, LearningRate: 0.2}, 0},
		{"default step", ADADP{Steps: steps, Tolerance: 1}, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			grads := gradientsOf(3)[:tt.opt.Steps]
			rate, tolerance := or(tt.opt.LearningRate, 1e-3), or(tt.opt.Tolerance, math.Sqrt(length/float64(2*tt.opt.Steps)))
			want := make([]float64, length)
			kept := adadp(want, grads, rate, tolerance, tt.opt.KeepAll)
			if tt.kept > 0 && kept != tt.kept {
				t.Errorf("%d pairs kept, want %d", kept, tt.kept)
			}
			got := make([]float32, length)
			var last []float32
			for i, g := range grads {
				last = slices.Clone(got)
				tt.opt.Step(got, g)
				if half := i%2 == 0 && i != len(grads)-1; tt.opt.Between() != half {
					t.Fatalf("step %d: between %v", i, !half)
				}
			}
			if len(grads)%2 == 1 && !slices.Equal(got, last) {
				t.Error("a step without a partner moved the parameters")
			}
			for j := range got {
				if math.Abs(float64(got[j])-want[j]) > 1e-5*(1+math.Abs(want[j])) {
					t.Fatalf("parameter %d: got %g, want %g", j, got[j], want[j])
				}
			}
		})
	}
}

// Under noise alone the step settles where the doc comment says: at 1/(s·√T) for the
// default tolerance, within 5 %.
func TestADADPSettles(t *testing.T) {
	const d, calls, s = 2000, 400, 0.02
	rng := rand.New(rand.NewPCG(5, 0))
	for _, first := range []float64{0.1, 100} {
		o, w, g := &ADADP{Steps: calls, LearningRate: first}, make([]float32, d), make([]float32, d)
		for range calls {
			for j := range g {
				g[j] = float32(s * rng.NormFloat64())
			}
			o.Step(w, g)
		}
		if want := 1 / (s * math.Sqrt(calls)); math.Abs(o.rate/want-1) > 0.05 {
			t.Errorf("from %g the step is %g, want %g", first, o.rate, want)
		}
	}
}

// What is not finite goes back to where the step began; gradients of 0 leave a finite
// step; a run takes memory once; lengths and steps are checked.
func TestADADPEdges(t *testing.T) {
	o, w := &ADADP{Steps: 8, Tolerance: 1}, []float32{1, 2}
	for i, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.NaN()), float32(math.Inf(-1))} {
		o.KeepAll = i > 1
		o.Step(w, []float32{1, 1})
		o.Step(w, []float32{bad, 0})
		if !slices.Equal(w, []float32{1, 2}) || !(o.rate > 0) {
			t.Fatalf("after %g: %v at a step of %g", bad, w, o.rate)
		}
	}
	zero, still := &ADADP{Steps: 1 << 20}, []float32{1}
	for range 20000 {
		zero.Step(still, []float32{0})
	}
	if still[0] != 1 || math.IsInf(zero.rate, 0) {
		t.Errorf("gradients of 0 lead to %v at a step of %g", still, zero.rate)
	}
	if n := testing.AllocsPerRun(10, func() { zero.Step(still, []float32{0}) }); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
	for name, f := range map[string]func(){
		"another length": func() { zero.Step(still, []float32{0, 1}) },
		"no steps":       func() { (&ADADP{}).Step(still, []float32{0}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f()
		}()
	}
}

// A run that is stopped after any call, between the halves of a step or not, ends in the
// same bits; bytes that are cut short are refused and change nothing.
func TestADADPGoesOn(t *testing.T) {
	grads := gradientsOf(4)
	open := func() *ADADP { return &ADADP{Steps: steps, Tolerance: 1, LearningRate: 0.3} }
	want, o := make([]float32, length), open()
	for _, g := range grads {
		o.Step(want, g)
	}
	for _, every := range []int{1, 2, 7} {
		got, o := make([]float32, length), open()
		for i, g := range grads {
			o.Step(got, g)
			if (i+1)%every != 0 {
				continue
			}
			b := o.AppendState(nil)
			next := open()
			for n := range b {
				if _, err := next.RestoreState(b[:n]); err == nil || next.calls != 0 || next.rate != 0 || next.start != nil {
					t.Fatalf("%d bytes of %d are taken", n, len(b))
				}
			}
			rest, err := next.RestoreState(append(b, 'x'))
			if err != nil || string(rest) != "x" || next.Between() != o.Between() {
				t.Fatalf("rest %q, %v", rest, err)
			}
			o = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("stopped after every %d calls, a run ends elsewhere", every)
		}
	}
}
