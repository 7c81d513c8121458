package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
	"pawl/internal/stattest"
)

// boostTerms are a binned number, a class with unknown cells and a pair.
func boostTerms() []Term {
	whole := func(c, levels int) func([]float64) int {
		return func(cells []float64) int {
			if v := cells[c]; v == v {
				return int(v)
			}
			return levels
		}
	}
	return []Term{
		{Name: "number", Levels: 9, Ordered: 8, Level: func(cells []float64) int {
			if v := cells[0]; v == v {
				return min(int(4*(v+1)), 7)
			}
			return 8
		}},
		{Name: "class", Levels: 5, Level: whole(3, 4)},
		{Name: "flag × grade", Levels: 6, Level: func(cells []float64) int {
			if cells[2] != cells[2] || cells[4] != cells[4] {
				return -1
			}
			return 3*int(cells[2]) + int(cells[4])
		}},
	}
}

func boost(loss Loss, outputs int) Boost {
	return Boost{
		Scope: dp.WholeScope, NoiseMultiplier: 2, ClippingNorm: 0.5, CountShare: 0.1, Epochs: 2, Terms: boostTerms(),
		Loss: loss, Outputs: outputs, Target: target, LearningRate: 0.5, Floor: 3, Tail: 1,
	}
}

// Neighbours that differ in j rows have counts within √terms·j and, at any tables,
// sums of residuals within C·j: the sensitivities that the noise is scaled by.
func TestBoostNeighboursDifferByTheSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		b := boost(kind.loss, kind.outputs)
		b.ClippingNorm = rapid.SampledFrom([]float64{0.01, 0.3, 1, 5}).Draw(t, "clip")
		more := rapid.IntRange(1, 3).Draw(t, "rows of the unit")
		common := drawCells(t, rapid.IntRange(0, 6).Draw(t, "rows"))
		unit := drawCells(t, more)
		steps := make([][]float64, len(b.Terms))
		for i, term := range b.Terms {
			for range term.Levels * b.Outputs {
				steps[i] = append(steps[i], rapid.Float64Range(-30, 30).Draw(t, "step"))
			}
		}
		released := func(cells []float64) (counts []float64, sums [][]float64) {
			m := b.terms().On(mustOpen(t, rowsOf(1, true, cells, nil)), sum.TermsNoise{}, nil)
			defer m.Close()
			for i, term := range b.Terms {
				count, err := m.Count()
				sum := make([]float64, term.Levels*b.Outputs)
				if err := errors.Join(err, m.Next(sum, i)); err != nil {
					t.Fatal(err)
				}
				counts, sums = append(counts, count...), append(sums, sum)
				m.Move(i, steps[i])
			}
			return counts, sums
		}
		c1, s1 := released(common)
		c2, s2 := released(append(slices.Clone(common), unit...))
		if got, bound := apart(c1, c2), math.Sqrt(float64(len(b.Terms)))*float64(more); got > bound+1e-12 {
			t.Fatalf("counts moved by %g, bound %g", got, bound)
		}
		for i := range s1 {
			if got, bound := apart(s1[i], s2[i]), b.ClippingNorm*float64(more); got > bound*(1+1e-9) {
				t.Fatalf("%s: residuals of %s moved by %g, bound %g", kind.loss, b.Terms[i].Name, got, bound)
			}
		}
	})
}

func apart(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(s)
}

// The bounds are attained, so nothing smaller would do; a clip that is forgotten
// would show as a larger move.
func TestBoostSensitivityIsTight(t *testing.T) {
	for _, kind := range losses {
		b := boost(kind.loss, kind.outputs)
		b.ClippingNorm = 0.25
		m := b.terms().On(mustOpen(t, rowsOf(1, true, []float64{0.3, 10, 1, 2, 1, 1}, nil)), sum.TermsNoise{}, nil)
		defer m.Close()
		total := 0.0
		for i, term := range b.Terms {
			sum := make([]float64, term.Levels*b.Outputs)
			counts, err := m.Count()
			if err := errors.Join(err, m.Next(sum, i)); err != nil {
				t.Fatal(err)
			}
			if got := apart(sum, make([]float64, len(sum))); math.Abs(got-0.25) > 1e-12 {
				t.Errorf("%s: one row moves residuals by %g, sensitivity 0.25", kind.loss, got)
			}
			for _, c := range counts {
				total += c * c
			}
		}
		if total != float64(len(b.Terms)) {
			t.Errorf("one row moves counts by √%g, sensitivity √%d", total, len(b.Terms))
		}
	}
}

// Precisions of all releases, by the sensitivities above, add up to that of the
// event.
func TestBoostPrecisionsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := boost(Logistic, 1)
		b.NoiseMultiplier = rapid.Float64Range(1e-3, 1e3).Draw(t, "multiplier")
		b.CountShare = rapid.Float64Range(0.01, 0.99).Draw(t, "share")
		b.Epochs = rapid.IntRange(1, 99).Draw(t, "epochs")
		b.Terms = b.Terms[:rapid.IntRange(1, 3).Draw(t, "terms")]
		k := rapid.IntRange(1, 6).Draw(t, "rows apart")
		n, terms := b.terms().Noise(k), float64(len(b.Terms))
		counts, residuals := math.Sqrt(terms)*float64(k)/n.Counts, b.ClippingNorm*float64(k)/n.Residuals
		got := counts*counts + float64(b.Epochs)*terms*residuals*residuals
		want := 1 / (b.NoiseMultiplier * b.NoiseMultiplier)
		if got > want || got < want*(1-1e-11) {
			t.Fatalf("precision %g, want %g and no more", got, want)
		}
	})
}

// boostDraws recovers all noise of a run on rows without target: a floor beyond
// every count makes steps multiples of the noise, and two lengths of the tail tell
// the epochs apart.
func boostDraws(t *testing.T, b Boost, rel dp.Relation, k int, src *entropy.Source) (counts, first, second []float64) {
	t.Helper()
	b.Target, b.Epochs, b.Floor, b.LearningRate = noTarget, 2, 1e9, 1e9
	var tail [2]*Boosted
	for i := range tail {
		b.Tail = i + 1
		out, err := TrainBoost(context.Background(), permitWith(t, src, rel, k, b.Event()), rowsOf(k, false, make([]float64, 2*columns), nil), b)
		if err != nil {
			t.Fatal(err)
		}
		tail[i] = out
	}
	for i := range b.Terms {
		counts = append(counts, tail[0].Counts[i]...)
		for j, last := range tail[0].Tables[i] {
			one := 2*tail[1].Tables[i][j] - last
			first, second = append(first, one), append(second, last-one)
		}
	}
	return counts, first, second
}

// Null: counts carry N(0, (σ√(terms/share)·k)²); residuals divided by their own claimed
// deviation are N(0, 1), fresh in every cell, term and epoch. About 4·10⁴ draws a
// case; |z| <= 4.89 has a false-alarm rate of 1e-6. The deviation of residuals is
// checked through TestBoostNoiseReachesTheTables.
func TestBoostNoise(t *testing.T) {
	wide := func(levels int) Term {
		return Term{Name: fmt.Sprint(levels), Levels: levels, Level: func([]float64) int { return 0 }}
	}
	for _, tt := range []struct {
		name string
		rel  dp.Relation
		k    int
		by   float64
	}{
		{"one row", dp.AddOrRemoveOne, 1, 1}, {"three rows", dp.AddOrRemoveOne, 3, 3},
		{"zero out", dp.ZeroOut, 1, 1}, {"replace one", dp.ReplaceOne, 1, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := boost(Logistic, 1)
			b.Terms = []Term{wide(1500), wide(1500), wide(1000)}
			var counts, first, second []float64
			for run := range uint64(10) {
				c, f, s := boostDraws(t, b, tt.rel, tt.k, entropy.Seeded(31).Split(tt.name, run))
				counts, first, second = append(counts, c...), append(first, f...), append(second, s...)
			}
			sd := 2 * math.Sqrt(3/0.1) * tt.by
			law, unit := stattest.Moments{Variance: sd * sd, Kurtosis: 3}, stattest.Moments{Variance: 1, Kurtosis: 3}
			stattest.Accept(t, stattest.Mean("counts", counts, law))
			stattest.Accept(t, stattest.Variance("counts", counts, law))
			for i, z := range [][]float64{first, second} {
				stattest.Accept(t, stattest.Variance(fmt.Sprint("epoch ", i+1), z, unit))
				stattest.Accept(t, stattest.Correlation("neighbouring cells", z[1:], z[:len(z)-1]))
				stattest.Accept(t, stattest.Correlation("terms", z[1500:], z[:len(z)-1500]))
				stattest.Accept(t, stattest.Correlation("counts and residuals", z, counts))
			}
			stattest.Accept(t, stattest.Correlation("epochs", first, second))
			stattest.Convict(t, stattest.Variance("halved", stattest.Scaled(counts, 0.5), law))
			stattest.Convict(t, stattest.Variance("off", stattest.Scaled(first, 0), unit))
			stattest.Convict(t, stattest.Correlation("reused", first, first))
		})
	}
}

// A known noise reaches the tables in the units it claims: with a count of 1 in
// every cell and no floor to speak of, a step is the noise itself. Null as above,
// 5·10⁴ draws; convicts a forgotten clipping norm, rows per unit, number of epochs or
// of terms.
func TestBoostNoiseReachesTheTables(t *testing.T) {
	for _, tt := range []struct {
		name string
		rel  dp.Relation
		k    int
		by   float64
	}{{"one row", dp.AddOrRemoveOne, 1, 1}, {"three rows", dp.AddOrRemoveOne, 3, 3}, {"replace one", dp.ReplaceOne, 1, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			b := boost(Residual, 1)
			b.NoiseMultiplier, b.CountShare, b.Epochs, b.ClippingNorm = 1e-9, 0.5, 1, 0.125
			b.Target, b.LearningRate, b.Floor = noTarget, 1, 1e-9
			b.Terms = []Term{{Levels: 25000, Level: func([]float64) int { return 0 }}, {Levels: 25000, Level: func([]float64) int { return 0 }}}
			out, err := TrainBoost(context.Background(), permitWith(t, entropy.Seeded(8), tt.rel, tt.k, b.Event()), rowsOf(tt.k, false, make([]float64, columns), nil), b)
			if err != nil {
				t.Fatal(err)
			}
			z := append(slices.Clone(out.Tables[0]), out.Tables[1]...)
			sd := 1e-9 * math.Sqrt(2/0.5) * 0.125 * tt.by
			stattest.Accept(t, stattest.Variance("residuals", z, stattest.Moments{Variance: sd * sd, Kurtosis: 3}))
			stattest.Convict(t, stattest.Variance("halved", stattest.Scaled(z, 0.5), stattest.Moments{Variance: sd * sd, Kurtosis: 3}))
		})
	}
}

// The whole run without noise against a plain loop over rows.
func TestBoostMatchesPlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(losses).Draw(t, "loss")
		b := boost(kind.loss, kind.outputs)
		b.Epochs = rapid.IntRange(1, 4).Draw(t, "epochs")
		b.Tail = rapid.IntRange(1, b.Epochs).Draw(t, "tail")
		n := rapid.IntRange(0, 12).Draw(t, "rows")
		cells := drawCells(t, n)
		got, err := TrainBoostPublic(context.Background(), rowsOf(1, true, cells, nil), b)
		if err != nil {
			t.Fatal(err)
		}
		f, mean := make([][]float64, len(b.Terms)), make([][]float64, len(b.Terms))
		for i, term := range b.Terms {
			f[i], mean[i] = make([]float64, term.Levels*b.Outputs), make([]float64, term.Levels*b.Outputs)
		}
		for epoch := range b.Epochs {
			for i, term := range b.Terms {
				sum, count := make([]float64, term.Levels*b.Outputs), make([]float64, term.Levels)
				for r := range n {
					row := cells[r*columns : (r+1)*columns]
					l := term.Level(row)
					if y := target(row); y != y || l < 0 {
						continue
					}
					s := make([]float64, b.Outputs)
					for j, other := range b.Terms {
						if c := other.Level(row); c >= 0 {
							for k := range s {
								s[k] += f[j][c*b.Outputs+k]
							}
						}
					}
					count[l]++
					for k, v := range plainResidual(b.Loss, s, target(row), b.ClippingNorm) {
						sum[l*b.Outputs+k] += v
					}
				}
				move := make([]float64, len(sum))
				boostStep(move, sum, count, term.Ordered, b.Outputs, 0)
				for j := range move {
					f[i][j] -= b.LearningRate * move[j]
				}
			}
			if epoch >= b.Epochs-b.Tail {
				for i := range f {
					for j := range f[i] {
						mean[i][j] += f[i][j] / float64(b.Tail)
					}
				}
			}
		}
		for i := range mean {
			for j := range mean[i] {
				if math.Abs(got.Tables[i][j]-mean[i][j]) > 1e-9 {
					t.Fatalf("%s, %s cell %d: got %g, want %g", kind.loss, b.Terms[i].Name, j, got.Tables[i][j], mean[i][j])
				}
			}
		}
	})
}

func plainResidual(loss Loss, s []float64, y, c float64) []float64 {
	r := slices.Clone(s)
	switch loss {
	case Logistic:
		r[0] = 1/(1+math.Exp(-s[0])) - y
	case Residual, Bounded:
		r[0] = s[0] - y
	default:
		total := 0.0
		for _, v := range s {
			total += math.Exp(v)
		}
		for k, v := range s {
			r[k] = math.Exp(v) / total
			if k == int(y) {
				r[k]--
			}
		}
	}
	if n := apart(r, make([]float64, len(r))); n > c {
		for k := range r {
			r[k] *= c / n
		}
	}
	return r
}

func TestBoostStep(t *testing.T) {
	for _, tt := range []struct {
		name       string
		sum, count []float64
		ordered    int
		floor      float64
		want       []float64
	}{
		{"single cells", []float64{2, -3}, []float64{4, 1}, 0, 0.1, []float64{0.5, -3}},
		{"an empty cell divides by one", []float64{2}, []float64{-7}, 0, 0.1, []float64{2}},
		{"the floor", []float64{2}, []float64{3}, 0, 8, []float64{0.25}},
		// Widths 1 and 2: twice the mean of (1/2, 3/6), (2/4, 3/6) and (6/4, 6/4).
		{"runs", []float64{1, 2, 6, 5}, []float64{2, 4, 4, 5}, 3, 0.1, []float64{1, 1, 3, 1}},
		// A floor of 4 for one cell is 4√2 for two.
		{"the floor of runs", []float64{1, 2, 4}, []float64{0, 0, 0}, 3, 4,
			[]float64{1./4 + 3/(4*math.Sqrt2), 2./4 + 3/(4*math.Sqrt2), 1 + 1}},
		{"two cells are no run", []float64{1, 2}, []float64{4, 4}, 2, 0.1, []float64{0.25, 0.5}},
		{"one ordered cell", []float64{6}, []float64{3}, 1, 0.1, []float64{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			move := make([]float64, len(tt.sum))
			boostStep(move, tt.sum, tt.count, tt.ordered, 1, tt.floor)
			if apart(move, tt.want) > 1e-12 {
				t.Errorf("got %v, want %v", move, tt.want)
			}
		})
	}
}

func TestTrainBoostTakesItsEvent(t *testing.T) {
	half := dp.Scope{Lower: 0, Upper: 0.5}
	cells := []float64{0.3, 10, 1, 2, 1, 1}
	base := boost(Logistic, 1)
	one := dp.Gaussian{NoiseMultiplier: 2}
	for _, tt := range []struct {
		name string
		held dp.Event
		edit func(b *Boost)
		ok   bool
	}{
		{"the event", one, func(*Boost) {}, true},
		{"more epochs at the same total", one, func(b *Boost) { b.Epochs = 50 }, true},
		{"on its scope", dp.Scoped{Scope: half, Event: one}, func(b *Boost) { b.Scope = half }, true},
		{"less noise", one, func(b *Boost) { b.NoiseMultiplier = 1.999 }, false},
		{"another scope", dp.Scoped{Scope: half, Event: one}, func(*Boost) {}, false},
		{"sampled", dp.PoissonSampled{Rate: 0.5, Event: one}, func(*Boost) {}, false},
		{"no noise", one, func(b *Boost) { b.NoiseMultiplier = 0 }, false},
		{"NaN noise", one, func(b *Boost) { b.NoiseMultiplier = math.NaN() }, false},
		{"infinite noise", one, func(b *Boost) { b.NoiseMultiplier = math.Inf(1) }, false},
		{"NaN clipping norm", one, func(b *Boost) { b.ClippingNorm = math.NaN() }, false},
		{"no floor", one, func(b *Boost) { b.Floor = 0 }, false},
		{"counts for nothing", one, func(b *Boost) { b.CountShare = 0 }, false},
		{"all for counts", one, func(b *Boost) { b.CountShare = 1 }, false},
		{"no epoch", one, func(b *Boost) { b.Epochs = 0 }, false},
		{"a tail beyond the run", one, func(b *Boost) { b.Tail = 3 }, false},
		{"no terms", one, func(b *Boost) { b.Terms = nil }, false},
		{"a term without a map", one, func(b *Boost) { b.Terms = []Term{{Levels: 2}} }, false},
		{"a term too large", one, func(b *Boost) { b.Terms = []Term{{Levels: 1 << 16, Level: func([]float64) int { return 0 }}} }, false},
		{"outputs that do not fit the loss", one, func(b *Boost) { b.Outputs = 2 }, false},
		{"no target", one, func(b *Boost) { b.Target = nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := base
			tt.edit(&b)
			p := mustPermit(t, dp.AddOrRemoveOne, 1, tt.held)
			out, err := TrainBoost(context.Background(), p, rowsOf(1, false, cells, nil), b)
			if (err == nil) != tt.ok || (out != nil) != tt.ok || p.Opened() != tt.ok {
				t.Fatalf("err %v, result %v, opened %v; want ok %v", err, out != nil, p.Opened(), tt.ok)
			}
			if !tt.ok {
				return
			}
			if _, err := TrainBoost(context.Background(), p, rowsOf(1, false, cells, nil), b); !errors.Is(err, sealed.ErrNotReserved) {
				t.Fatalf("one reservation paid for two runs (%v)", err)
			}
		})
	}
	if _, err := TrainBoost(context.Background(), nil, rowsOf(1, false, cells, nil), base); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("no permit: %v", err)
	}
	if _, err := TrainBoostPublic(context.Background(), rowsOf(1, false, cells, nil), base); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("boosting without noise opened sensitive rows (%v)", err)
	}
}

func TestInterruptedBoostStaysCharged(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := boost(Logistic, 1)
	b.Epochs = 100
	b.Progress = func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}
	p := mustPermit(t, dp.AddOrRemoveOne, 1, b.Event())
	out, err := TrainBoost(ctx, p, rowsOf(1, false, []float64{0.3, 10, 1, 2, 1, 1}, nil), b)
	if !errors.Is(err, context.Canceled) || out != nil || !p.Opened() {
		t.Fatalf("result %v, error %v, opened %v", out != nil, err, p.Opened())
	}
}

// A callback that panics on a row shows nothing of it.
func TestBoostPanicShowsNoRow(t *testing.T) {
	b := boost(Logistic, 1)
	b.Terms[1].Level = func(cells []float64) int { panic(cells[1]) }
	out, err := TrainBoost(context.Background(), permitWith(t, entropy.Seeded(1), dp.AddOrRemoveOne, 1, b.Event()), rowsOf(1, false, make([]float64, columns), nil), b)
	if out != nil || err != sealed.ErrFault {
		t.Fatalf("result %v, error %v", out != nil, err)
	}
}

// A replayed trial gives the same bits with any number of workers, and levels out of
// range touch nothing.
func TestBoostDoesNotDependOnWorkers(t *testing.T) {
	const n = 2*4096 + 5
	var cells []float64
	for i := range n {
		cells = append(cells, math.Sin(float64(i)), float64(i%1000), float64(i%2), float64(i%4), float64(i%3), float64(i*i%3))
	}
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	for _, kind := range losses {
		b := boost(kind.loss, kind.outputs)
		b.Terms = append(b.Terms, Term{Name: "out of range", Levels: 2, Level: func([]float64) int { return 1 << 20 }})
		var first *Boosted
		for workers := 1; workers <= 4; workers++ {
			runtime.GOMAXPROCS(workers)
			out, err := TrainBoost(context.Background(), permitWith(t, entropy.Seeded(1), dp.AddOrRemoveOne, 1, b.Event()), rowsOf(1, false, cells, nil), b)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = out
				continue
			}
			for i := range out.Tables {
				if !slices.Equal(out.Tables[i], first.Tables[i]) || !slices.Equal(out.Counts[i], first.Counts[i]) {
					t.Fatalf("%s: %d workers change term %d", kind.loss, workers, i)
				}
			}
		}
	}
}
