package linear

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/packed"
)

// The whole run, lots included, against a plain loop over dense rows: divisor,
// momentum, tail average, and lots that are drawn from the named stream.
func TestRunMatchesPlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := drawEncoding(t)
		n := rapid.SampledFrom([]int{0, 1, 6}).Draw(t, "rows")
		cells := drawCells(t, n)
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		d := descent(enc, kind.loss, kind.outputs)
		d.Steps = rapid.IntRange(1, 5).Draw(t, "steps")
		d.SamplingRate = rapid.SampledFrom([]float64{0.1, 0.5, 1}).Draw(t, "rate")
		d.ExpectedRows = rapid.SampledFrom([]float64{0.7, 5, 40}).Draw(t, "divisor")
		d.Momentum = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "momentum")
		d.LearningRate = 0.3
		d.ClassWeights = drawClassWeights(t, kind.loss)
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := d.run(context.Background(), d.linear().On(mustOpen(t, rowsOf(1, true, cells, nil)), 0, entropy.Seeded(seed)))
		if err != nil {
			t.Fatal(err)
		}
		size := enc.Dim * kind.outputs
		w, velocity, mean := make([]float64, size), make([]float64, size), make([]float64, size)
		lots, x := entropy.Seeded(seed).Split("lots"), make([]float64, enc.Dim)
		for step := 1; step <= d.Steps; step++ {
			sum := make([]float64, size)
			joined := make([]bool, n)
			if d.SamplingRate < 1 {
				for _, i := range lots.Subset(nil, n, d.SamplingRate) {
					joined[i] = true
				}
			}
			for i := range n {
				row := cells[i*columns : (i+1)*columns]
				enc.Vector(x, row)
				if d.SamplingRate == 1 || joined[i] {
					for j, v := range naive(&d, x, target(row), w) {
						sum[j] += v
					}
				}
			}
			tail := (d.Steps + 1) / 2
			for j := range w {
				velocity[j] = d.Momentum*velocity[j] + sum[j]/(d.SamplingRate*d.ExpectedRows)
				w[j] -= d.LearningRate * velocity[j]
				if step > d.Steps-tail {
					mean[j] += w[j] / float64(tail)
				}
			}
		}
		tolerance := 1e-9
		if d.SamplingRate < 1 {
			tolerance = 1e-5 // norms and targets of lots are float32s
		}
		for j := range mean {
			if !(math.Abs(got[j]-mean[j]) <= tolerance*(1+math.Abs(mean[j]))) {
				t.Fatalf("%s, weight %d: got %g, want %g", kind.loss, j, got[j], mean[j])
			}
		}
	})
}

// Neighbouring data sets are divided by the same public number: n equal rows move
// the first step n times as far as one.
func TestDivisorIsPublic(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	row := []float64{0.3, 10, 1, 2, 1, 1}
	for _, kind := range losses {
		for _, rate := range []float64{1, 0.5} {
			d := descent(enc, kind.loss, kind.outputs)
			d.SamplingRate, d.ExpectedRows = rate, 100
			step := func(n int) []float64 {
				var cells []float64
				for range n {
					cells = append(cells, row...)
				}
				w, err := d.run(context.Background(), d.linear().On(mustOpen(t, rowsOf(1, true, cells, nil)), 0, entropy.Seeded(3)))
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			one := d
			one.SamplingRate, one.ExpectedRows = 1, rate*100
			unit, err := one.run(context.Background(), one.linear().On(mustOpen(t, rowsOf(1, true, row, nil)), 0, nil))
			if err != nil {
				t.Fatal(err)
			}
			for n := range 9 {
				lot := float64(n)
				if rate < 1 {
					lot = float64(len(entropy.Seeded(3).Split("lots").Subset(nil, n, rate)))
				}
				for j, v := range step(n) {
					if math.Abs(v-lot*unit[j]) > 1e-12 {
						t.Fatalf("%s, rate %g: a lot of %g of %d rows moves weight %d by %g, want %g", kind.loss, rate, lot, n, j, v, lot*unit[j])
					}
				}
			}
		}
	}
}

// Rows without a target or with unknown cells only neither stop a run nor change
// the path of the others.
func TestRowsWithoutInformationDoNotMatter(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	nan := math.NaN()
	plain := []float64{0.3, 10, 1, 2, 1, 1, -0.5, 2, 0, 1, 0, 0}
	more := append([]float64{0.1, 3, 0, 1, 2, nan}, plain...)
	more = append(more, nan, nan, nan, nan, nan, nan)
	for _, kind := range losses {
		d := descent(enc, kind.loss, kind.outputs)
		d.Steps = 5
		run := func(cells []float64) []float64 {
			w, err := Descend(context.Background(), permitWith(t, entropy.Seeded(1), dp.AddOrRemoveOne, 1, d.Event()), rowsOf(1, false, cells, nil), d)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		a, b := run(plain), run(more)
		for j := range a {
			if !(math.Abs(a[j]-b[j]) < 1e-12) {
				t.Fatalf("%s: weight %d is %g with rows without a target, %g without them", kind.loss, j, b[j], a[j])
			}
		}
	}
	// Weights that overflow are a matter of step sizes, not of rows: every step is
	// still taken and noised.
	d := descent(enc, Softmax, 3)
	d.Steps, d.LearningRate = 40, 1e300
	steps := 0
	d.Progress = func(int, int) { steps++ }
	if _, err := Descend(context.Background(), permitWith(t, entropy.Seeded(1), dp.AddOrRemoveOne, 1, d.Event()), rowsOf(1, false, plain, nil), d); err != nil || steps != 40 {
		t.Fatalf("overflowing weights ended the run after %d steps (%v)", steps, err)
	}
}

// Partial sums are added in a fixed order: a replayed trial gives the same bits with
// any number of workers.
func TestResultDoesNotDependOnWorkers(t *testing.T) {
	const n = 3*4096 + 5
	var cells []float64
	for i := range n {
		cells = append(cells, math.Sin(float64(i)), float64(i%1000), float64(i%2), float64(i%4), float64(i%3), float64(i*i%3))
	}
	enc := mustEncode(t, encode.Options{Linear: true})
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	for _, kind := range losses {
		d := descent(enc, kind.loss, kind.outputs)
		d.Steps, d.SamplingRate, d.ExpectedRows = 2, 0.5, n
		var first []float64
		for _, workers := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(workers)
			w, err := Descend(context.Background(), permitWith(t, entropy.Seeded(9), dp.AddOrRemoveOne, 1, d.Event()), rowsOf(1, false, cells, nil), d)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = w
			}
			for j := range w {
				if w[j] != first[j] {
					t.Fatalf("%s: %d workers change weight %d: %v and %v", kind.loss, workers, j, w[j], first[j])
				}
			}
		}
	}
}

// The event that is taken is the event of the run, once; nothing less pays for it.
func TestDescendTakesItsEvent(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	cells := []float64{0.3, 10, 1, 2, 1, 1}
	half := dp.Scope{Lower: 0, Upper: 0.5}
	base := descent(enc, Logistic, 1)
	base.Steps, base.NoiseMultiplier = 4, 2
	full := dp.Repeat{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 2}}
	lots := dp.Repeat{Count: 4, Event: dp.PoissonSampled{Rate: 0.25, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	tests := []struct {
		name string
		held dp.Event
		edit func(d *Descent)
		ok   bool
	}{
		{"the event", full, func(*Descent) {}, true},
		{"with lots", lots, func(d *Descent) { d.SamplingRate = 0.25 }, true},
		{"on its scope", dp.Scoped{Scope: half, Event: full}, func(d *Descent) { d.Scope = half }, true},
		{"one release that amounts to it", dp.Gaussian{NoiseMultiplier: 1}, func(*Descent) {}, true},
		{"less noise", full, func(d *Descent) { d.NoiseMultiplier = 1.999 }, false},
		{"one step more", full, func(d *Descent) { d.Steps = 5 }, false},
		{"another scope", dp.Scoped{Scope: half, Event: full}, func(*Descent) {}, false},
		{"full batch for lots", lots, func(*Descent) {}, false},
		{"a higher rate", lots, func(d *Descent) { d.SamplingRate = 0.26 }, false},
		{"fewer steps of lots", lots, func(d *Descent) { d.SamplingRate, d.Steps = 0.25, 3 }, false},
		{"no noise", full, func(d *Descent) { d.NoiseMultiplier = 0 }, false},
		{"negative noise", full, func(d *Descent) { d.NoiseMultiplier = -2 }, false},
		{"NaN noise", full, func(d *Descent) { d.NoiseMultiplier = math.NaN() }, false},
		{"infinite noise", full, func(d *Descent) { d.NoiseMultiplier = math.Inf(1) }, false},
		{"NaN clipping norm", full, func(d *Descent) { d.ClippingNorm = math.NaN() }, false},
		{"infinite clipping norm", full, func(d *Descent) { d.ClippingNorm = math.Inf(1) }, false},
		{"NaN rate", full, func(d *Descent) { d.SamplingRate = math.NaN() }, false},
		{"no divisor", full, func(d *Descent) { d.ExpectedRows = 0 }, false},
		{"no step", full, func(d *Descent) { d.Steps = 0 }, false},
		{"outputs that do not fit the loss", full, func(d *Descent) { d.Outputs = 2 }, false},
		{"unknown loss", full, func(d *Descent) { d.Loss = "hinge" }, false},
		{"no target", full, func(d *Descent) { d.Target = nil }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := base
			tt.edit(&d)
			p := mustPermit(t, dp.AddOrRemoveOne, 1, tt.held)
			w, err := Descend(context.Background(), p, rowsOf(1, false, cells, nil), d)
			if (err == nil) != tt.ok || (w != nil) != tt.ok || p.Opened() != tt.ok {
				t.Fatalf("err %v, weights %v, opened %v; want ok %v", err, w != nil, p.Opened(), tt.ok)
			}
			if !tt.ok {
				return
			}
			if _, err := Descend(context.Background(), p, rowsOf(1, false, cells, nil), d); !errors.Is(err, sealed.ErrNotReserved) {
				t.Fatalf("one reservation paid for two runs (%v)", err)
			}
		})
	}
	if _, err := DescendPublic(context.Background(), rowsOf(1, false, cells, nil), base); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("training without noise opened sensitive rows (%v)", err)
	}
}

// An interrupted run gives nothing away and stays charged.
func TestInterruptedRunStaysCharged(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	d := descent(enc, Logistic, 1)
	d.Steps = 100
	for _, after := range []int{0, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		if after == 0 {
			cancel()
		}
		last := 0
		d.Progress = func(done, steps int) {
			if last = done; done == after {
				cancel()
			}
		}
		p := mustPermit(t, dp.AddOrRemoveOne, 1, d.Event())
		w, err := Descend(ctx, p, rowsOf(1, false, []float64{0.3, 10, 1, 2, 1, 1}, nil), d)
		if !errors.Is(err, context.Canceled) || w != nil || last != after {
			t.Fatalf("after %d steps: weights %v, error %v, %d steps seen", after, w != nil, err, last)
		}
		if !p.Opened() {
			t.Fatalf("after %d steps: the permit claims that no row was read", after)
		}
		cancel()
	}
}

// A callback that panics on a row ends the run with an error that does not show
// the row, from workers too.
func TestPanicShowsNoRow(t *testing.T) {
	enc := mustEncode(t, encode.Options{})
	for _, n := range []int{1, 3 * 4096} {
		d := descent(enc, Logistic, 1)
		d.Target = func(cells []float64) float64 { panic(cells[1]) }
		p := mustPermit(t, dp.AddOrRemoveOne, 1, d.Event())
		w, err := Descend(context.Background(), p, rowsOf(1, false, make([]float64, n*columns), nil), d)
		if w != nil || err != sealed.ErrFault || !p.Opened() {
			t.Fatalf("%d rows: weights %v, error %v, opened %v", n, w != nil, err, p.Opened())
		}
	}
}

// Where the encrypted file of rows cannot be read any longer, a training that was charged ends with an error that says
// nothing of rows, and the charge stays.
func TestRowsThatAreLost(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	table := packed.New(columns, packed.NewStore(0))
	n := 20_000
	for i := range n {
		if err := table.Append([]float64{math.Sin(float64(i)), float64(i), float64(i % 2), float64(i % 4), float64(i % 3), float64(i % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	table.Close()
	if !loseRows(t) {
		// The file has no name, so that nobody else can open it: a test finds it among its own descriptors alone.
		t.Skip("the file cannot be found without /proc")
	}
	s := testSchema(1, true)
	rows := sealed.Seal(sealed.NewSimulationKey("d", 1), s, sealed.Table{Cells: table, Hash: make([]uint64, n)})
	for _, kind := range losses {
		d := descent(mustEncode(t, encode.Options{}), kind.loss, kind.outputs)
		p := mustPermit(t, dp.AddOrRemoveOne, 1, d.Event())
		if w, err := Descend(context.Background(), p, rows, d); w != nil || !errors.Is(err, sealed.ErrFault) || !p.Opened() {
			t.Errorf("%s: %v, %v, opened %v", kind.loss, w, err, p.Opened())
		}
	}
}

// loseRows cuts the files of rows that this process has open.
func loseRows(t *testing.T) (found bool) {
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range open {
		if file, err := os.Readlink(name); err == nil && strings.Contains(file, ".pawl-rows-") {
			if err := os.Truncate(name, 0); err != nil {
				t.Fatal(err)
			}
			found = true
		}
	}
	return found
}
