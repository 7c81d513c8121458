package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scalar is the definition for one parameter, in float64.
type scalar func(w *float64, g float64)

func momentumOf(rate, mu, take float64) scalar {
	v := 0.0
	return func(w *float64, g float64) {
		v = mu*v + take*g
		*w -= rate * v
	}
}

func adamOf(rate, b1, b2, small float64) scalar {
	m, v, t := 0.0, 0.0, 0.0
	return func(w *float64, g float64) {
		t++
		m = b1*m + (1-b1)*g
		v = b2*v + (1-b2)*g*g
		*w -= rate * (m / (1 - math.Pow(b1, t))) / (math.Sqrt(v/(1-math.Pow(b2, t))) + small)
	}
}

func withoutSecondMoment(rate, b1 float64) scalar {
	m, t := 0.0, 0.0
	return func(w *float64, g float64) {
		t++
		m = b1*m + (1-b1)*g
		*w -= rate * m / (1 - math.Pow(b1, t))
	}
}

var optimizers = []struct {
	name   string
	open   func() Optimizer
	scalar func() scalar
}{
	{"sgd", func() Optimizer { return &SGD{LearningRate: 0.3} }, func() scalar { return momentumOf(0.3, 0, 1) }},
	{"momentum", func() Optimizer { return &Momentum{LearningRate: 0.03, Momentum: 0.9} }, func() scalar { return momentumOf(0.03, 0.9, 1) }},
	{"dampened", func() Optimizer { return &Momentum{LearningRate: 0.3, Momentum: 0.9, Dampened: true} }, func() scalar { return momentumOf(0.3, 0.9, 0.1) }},
	{"adam", func() Optimizer { return &Adam{} }, func() scalar { return adamOf(1e-3, 0.9, 0.999, 1e-8) }},
	{"adam other", func() Optimizer { return &Adam{LearningRate: 0.02, Beta1: 0.8, Beta2: 0.95, Stabilizer: 0.3} }, func() scalar { return adamOf(0.02, 0.8, 0.95, 0.3) }},
	{"adam wosm", func() Optimizer { return &AdamWOSM{StepSize: 0.25} }, func() scalar { return withoutSecondMoment(0.25, 0.9) }},
	{"adam wosm other", func() Optimizer { return &AdamWOSM{StepSize: 0.25, Beta1: 0.5} }, func() scalar { return withoutSecondMoment(0.25, 0.5) }},
}

const length, steps = 37, 60

func gradientsOf(seed uint64) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([][]float32, steps)
	for t := range all {
		all[t] = make([]float32, length)
		for i := range all[t] {
			all[t][i] = float32(rng.NormFloat64() + 0.2)
		}
	}
	return all
}

// Sixty steps stay within float32 rounding of the float64 definition.
func TestStepsMatchTheirDefinition(t *testing.T) {
	for _, o := range optimizers {
		t.Run(o.name, func(t *testing.T) {
			grads := gradientsOf(1)
			opt, w := o.open(), make([]float32, length)
			for _, g := range grads {
				opt.Step(w, g)
			}
			for i := range w {
				want, step := 0.0, o.scalar()
				for _, g := range grads {
					step(&want, float64(g[i]))
				}
				if math.Abs(float64(w[i])-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("parameter %d: got %g, want %g", i, w[i], want)
				}
			}
		})
	}
}

// The same gradients give the same bits, each parameter on its own, and no
// memory is taken after the first step.
func TestStepsAreDeterministicAndFree(t *testing.T) {
	for _, o := range optimizers {
		t.Run(o.name, func(t *testing.T) {
			grads := gradientsOf(2)
			run := func(lo, hi int) []float32 {
				opt, w := o.open(), make([]float32, hi-lo)
				for _, g := range grads {
					opt.Step(w, g[lo:hi])
				}
				return w
			}
			all := run(0, length)
			if !slices.Equal(all, run(0, length)) || !slices.Equal(all[5:20], run(5, 20)) {
				t.Fatal("a run depends on more than its gradients")
			}
			opt, w := o.open(), make([]float32, length)
			opt.Step(w, grads[0])
			if n := testing.AllocsPerRun(10, func() { opt.Step(w, grads[1]) }); n != 0 {
				t.Fatalf("%g allocations a step", n)
			}
			defer func() {
				if recover() == nil {
					t.Fatal("a gradient of another length is taken")
				}
			}()
			opt.Step(w, grads[0][1:])
		})
	}
}

func TestDampenedIsTheOtherWithASmallerStep(t *testing.T) {
	a, b := &Momentum{LearningRate: 0.4, Momentum: 0.9, Dampened: true}, &Momentum{LearningRate: 0.04, Momentum: 0.9}
	v, w := make([]float32, length), make([]float32, length)
	for _, g := range gradientsOf(3) {
		a.Step(v, g)
		b.Step(w, g)
	}
	for i := range v {
		if math.Abs(float64(v[i]-w[i])) > 1e-5 {
			t.Fatalf("parameter %d: %g dampened, %g with a tenth of the step", i, v[i], w[i])
		}
	}
}

func TestAverages(t *testing.T) {
	iterates := gradientsOf(4)
	tests := []struct {
		name    string
		average Average
		want    func(i int) float64
	}{
		{"tail of a quarter", NewTail(steps, 0.25), func(i int) float64 { return meanOf(iterates[45:], i) }},
		{"tail of all", NewTail(steps, 1), func(i int) float64 { return meanOf(iterates, i) }},
		{"tail of none is the last", NewTail(steps, 0), func(i int) float64 { return float64(iterates[steps-1][i]) }},
		{"tail of a tenth", NewTail(steps, 0.1), func(i int) float64 { return meanOf(iterates[54:], i) }},
		{"moving", &EMA{Decay: 0.9}, func(i int) float64 { return movingOf(iterates, i, 0.9) }},
		{"moving slowly", &EMA{Decay: 0.9999}, func(i int) float64 { return movingOf(iterates, i, 0.9999) }},
		{"moving at once", &EMA{}, func(i int) float64 { return float64(iterates[steps-1][i]) }},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			if c.average.Value() != nil {
				t.Fatal("an average of nothing")
			}
			for _, w := range iterates {
				c.average.Add(w)
			}
			for i, v := range c.average.Value() {
				if want := c.want(i); math.Abs(float64(v)-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("parameter %d: got %g, want %g", i, v, want)
				}
			}
			if n := testing.AllocsPerRun(10, func() { c.average.Add(iterates[0]) }); n != 0 {
				t.Fatalf("%g allocations an iterate", n)
			}
		})
	}
}

func meanOf(iterates [][]float32, i int) float64 {
	s := 0.0
	for _, w := range iterates {
		s += float64(w[i])
	}
	return s / float64(len(iterates))
}

func movingOf(iterates [][]float32, i int, decay float64) float64 {
	a := float64(iterates[0][i])
	for t, w := range iterates[1:] {
		d := math.Min(decay, (float64(t)+3)/(float64(t)+12))
		a = d*a + (1-d)*float64(w[i])
	}
	return a
}

// A constant iterate averages to itself, so no average leaks its start at zero.
func TestAverageOfAConstant(t *testing.T) {
	for _, a := range []Average{NewTail(9, 0.5), &EMA{Decay: 0.999}} {
		for range 9 {
			a.Add([]float32{3, -0.1})
		}
		if v := a.Value(); v[0] != 3 || v[1] != -0.1 {
			t.Errorf("%T of constants: %v", a, v)
		}
	}
}

func TestStepRules(t *testing.T) {
	// The small CNN of the recipe: κ 2.5, R 17, B 2048, 15 epochs of 60,000, σ 1.49.
	cnn := StepRule{Noise: Noise{ClippingNorm: 0.5, NoiseMultiplier: 1.49, ExpectedBatchSize: 2048}, Kappa: 2.5, Radius: 17, Steps: 440}
	rate, err := cnn.LearningRate()
	if err != nil || math.Abs(rate*0.5-9.636) > 0.01 {
		t.Errorf("learning rate × clipping norm: got %g (%v), want 9.64", rate*0.5, err)
	}
	other := cnn
	other.ClippingNorm = 0.1
	if r, _ := other.LearningRate(); math.Abs(r*0.1-rate*0.5) > 1e-9 {
		t.Errorf("learning rate × clipping norm changes with the norm: %g and %g", r*0.1, rate*0.5)
	}
	// With next to no noise the step stays where the loss can bear it.
	quiet := cnn
	quiet.NoiseMultiplier = 1e-3
	if r, err := quiet.LearningRate(); err != nil || math.Abs(r/rate-1.49/0.35) > 1e-9 {
		t.Errorf("learning rate at σ = 0.001: got %g (%v), want %g", r, err, rate*1.49/0.35)
	}
	if got := cnn.EffectiveStep(cnn.Base()); math.Abs(got-rate) > 1e-4*rate {
		t.Errorf("effective step %g, learning rate %g", got, rate)
	}
	for _, c := range []struct{ sigma, want float64 }{{2, 0.25}, {4, 0.125}} {
		n := Noise{ClippingNorm: 0.5, NoiseMultiplier: c.sigma, ExpectedBatchSize: 250}
		if got := n.EffectiveStep(1e-3); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("published effective step at σ = %g: got %g, want %g", c.sigma, got, c.want)
		}
	}
	if got, want := Theorem4Product(3, 2, 100, 1), 3/math.Sqrt(500); math.Abs(got-want) > 1e-12 {
		t.Errorf("theorem 4: got %g, want %g", got, want)
	}
	if got, want := Theorem4Product(3, 2, 100, 6), 0.06; math.Abs(got-want) > 1e-12 {
		t.Errorf("theorem 4 with dimension: got %g, want %g", got, want)
	}
	for _, bad := range []func(r *StepRule){
		func(r *StepRule) { r.Kappa = 0 }, func(r *StepRule) { r.Radius = math.NaN() }, func(r *StepRule) { r.Steps = 0 },
		func(r *StepRule) { r.NoiseMultiplier = 0 }, func(r *StepRule) { r.ClippingNorm = math.Inf(1) }, func(r *StepRule) { r.ExpectedBatchSize = -1 },
		func(r *StepRule) { r.Momentum = 1 }, func(r *StepRule) { r.Momentum = math.NaN() },
	} {
		r := cnn
		bad(&r)
		if v, err := r.LearningRate(); err == nil || v != 0 {
			t.Errorf("%+v gives %g", r, v)
		}
	}
}

// The step that is best for noise is taken up to the one that the loss bears.
func TestLargestStep(t *testing.T) {
	// Five passes over 20,000 rows in lots of 1,000 at ε = 100.
	large := StepRule{Noise: Noise{ClippingNorm: 0.5, NoiseMultiplier: 0.27, ExpectedBatchSize: 1000}, Kappa: 2.4, Radius: 8, Steps: 100}
	for _, c := range []struct {
		name     string
		classes  int
		momentum float64
		want     float64 // α·C·R
	}{
		{"another loss", 0, 0.9, 685.7},
		{"one score", 1, 0.9, 685.7},
		{"ten classes", 10, 0.9, 405.6},
		{"five", 5, 0.9, 226.6},
		{"three", 3, 0.9, 186.2},
		{"two count as three", 2, 0.9, 186.2},
		{"more classes, less curvature", 100, 0.9, 685.7},
		{"more momentum", 10, 0.95, 685.7},
		{"no momentum", 10, 0, 85.4},
		{"little momentum counts as none", 10, 0.4, 85.4},
	} {
		r := large
		r.Scores, r.Momentum = c.classes, c.momentum
		rate, err := r.LearningRate()
		if got := rate * r.ClippingNorm * r.Radius; err != nil || math.Abs(got-c.want) > 0.1 {
			t.Errorf("%s: α·C·R is %.2f (%v), want %g", c.name, got, err, c.want)
		}
	}
	// At the usual noise of an ε of 1 nothing changes.
	usual := large
	usual.NoiseMultiplier, usual.Scores, usual.Momentum = 2.32, 10, 0.9
	rate, err := usual.LearningRate()
	if want := usual.Base() / usual.Deviation(); err != nil || rate != want {
		t.Errorf("under noise the step is %g (%v), want %g", rate, err, want)
	}
}

// Largest is where clipped gradient descent on examples that all look alike, as many of each
// class, stops forgetting a shift of the scores: the gradients themselves say so.
func TestLargestStepIsStable(t *testing.T) {
	const radius, norm = 7, 0.5
	after := func(classes int, momentum, rate float64) float64 {
		w := make([]float32, classes) // of the one direction that inputs have
		w[0] = 0.01 / radius
		o := &Momentum{LearningRate: rate, Momentum: momentum, Dampened: true}
		for range 400 {
			total, p := 0.0, make([]float64, classes)
			for j, v := range w {
				p[j] = math.Exp(radius * float64(v-slices.Max(w)))
				total += p[j]
			}
			mean := make([]float32, classes)
			for y := range classes {
				square := 0.0
				q := make([]float64, classes)
				for j := range q {
					q[j] = radius * p[j] / total
					if j == y {
						q[j] -= radius
					}
					square += q[j] * q[j]
				}
				scale := min(1, norm/math.Sqrt(square)) / float64(classes)
				for j := range q {
					mean[j] += float32(scale * q[j])
				}
			}
			o.Step(w, mean)
		}
		largest := 0.0
		for _, v := range w {
			largest = max(largest, math.Abs(radius*float64(v-w[classes-1])))
		}
		return largest
	}
	for _, classes := range []int{3, 4, 10, 100} {
		for _, momentum := range []float64{0.7, 0.9, 0.95} {
			bound := StepRule{Noise: Noise{ClippingNorm: norm}, Radius: radius, Scores: classes, Momentum: momentum}.Largest()
			if shift := after(classes, momentum, 0.95*bound); shift > 0.01 {
				t.Errorf("%d classes, momentum %g: below the bound a shift of 0.01 becomes %g", classes, momentum, shift)
			}
			if shift := after(classes, momentum, 1.1*bound); !(shift > 0.1) {
				t.Errorf("%d classes, momentum %g: above the bound a shift of 0.01 becomes %g", classes, momentum, shift)
			}
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, o := range optimizers {
		b.Run(o.name, func(b *testing.B) {
			opt, w, g := o.open(), make([]float32, 1362122), make([]float32, 1362122)
			for i := range g {
				g[i] = float32(i%13) - 6
			}
			b.SetBytes(int64(4 * len(w)))
			b.ReportAllocs()
			for b.Loop() {
				opt.Step(w, g)
			}
		})
	}
}
