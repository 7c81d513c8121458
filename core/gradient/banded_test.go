package gradient

import (
	"context"
	"math"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/noise"
	"pawl/internal/stattest"
)

var bands = []float64{1, 0.6, 0.4}

func bandedTraining(net Network, steps int) Training {
	tr := training(net, nil)
	tr.Coefficients, tr.Groups, tr.SamplingRate, tr.Steps = bands, 4, 0.1, steps
	return tr
}

// Null: what the coefficients make of the released steps at zero gradient is N(0, (σ‖c‖Ck)²) in every
// coordinate, without correlation between steps, and so whatever the relation and the rows of a unit. 4·10⁴
// numbers a case. Convicts half of the noise, noise that forgets k or ‖c‖, and steps that are independent.
func TestBandedNoise(t *testing.T) {
	net := rawNet{t: 1, m: 50, n: 20}
	for _, tt := range []struct {
		name  string
		rel   dp.Relation
		k     int
		apart float64
	}{{"add or remove", dp.AddOrRemoveOne, 1, 1}, {"three rows per unit", dp.AddOrRemoveOne, 3, 3}, {"replace one", dp.ReplaceOne, 1, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			const steps = 40
			tr := bandedTraining(net, steps)
			tr.NoiseMultiplier, tr.Target, tr.ExpectedRows = 3, noTarget, 70
			var released [][]float64
			tr.Update = func(_ int, _, g []float32) {
				released = append(released, stattest.Scaled(widen(g), 0.1*70/(3*0.5*tt.apart)))
			}
			permit := permitWith(t, entropy.Seeded(6).Split(tt.name), tt.rel, tt.k, tr.Event())
			if err := Train(context.Background(), permit, rawRows(tt.k, false, net, 30), tr, make([]float32, net.Parameters())); err != nil {
				t.Fatal(err)
			}
			var fresh, before, raw, rawBefore []float64
			last := make([]float64, net.Parameters())
			for step, y := range released {
				z := make([]float64, len(y))
				for j, c := range bands {
					if step-j >= 0 {
						for i := range z {
							z[i] += c * released[step-j][i] / noise.Norm(bands)
						}
					}
				}
				if step > 0 {
					fresh, before = append(fresh, z...), append(before, last...)
					raw, rawBefore = append(raw, y...), append(rawBefore, released[step-1]...)
				}
				last = z
			}
			normal := stattest.Moments{Variance: 1, Kurtosis: 3}
			stattest.Accept(t, stattest.Mean("mean", fresh, normal))
			stattest.Accept(t, stattest.Variance("variance", fresh, normal))
			stattest.Accept(t, stattest.Correlation("steps", fresh, before))
			stattest.Convict(t, stattest.Correlation("released steps", raw, rawBefore))
			stattest.Convict(t, stattest.Variance("half the noise", stattest.Scaled(fresh, 0.5), normal))
			stattest.Convict(t, stattest.Variance("without the norm of the coefficients", stattest.Scaled(fresh, 1/noise.Norm(bands)), normal))
		})
	}
}

// lotsOf says who was in which lot, from sums without noise in which every row is a coordinate.
func lotsOf(t *testing.T, rows, k, steps, skip int, seed uint64, set func(*Training)) (in [][]bool) {
	net := rawNet{t: 1, m: rows, n: 1}
	var inputs [][]float32
	var hash []uint64
	for i := range rows {
		x := make([]float32, net.Inputs())
		x[i], x[rows] = 1, 1
		inputs, hash = append(inputs, x), append(hash, mix(78, uint64(i/k)))
	}
	tr := bandedTraining(net, steps)
	set(&tr)
	tr.Update = func(_ int, _, g []float32) {
		lot := make([]bool, rows)
		for i, v := range g {
			lot[i] = v != 0
		}
		in = append(in, lot)
	}
	view := mustOpen(t, imageRows(k, true, inputs[skip:], make([]float64, rows-skip), hash[skip:], net.Inputs()))
	if err := tr.run(context.Background(), view, make([]float32, rows), 0, entropy.Seeded(seed)); err != nil {
		t.Fatal(err)
	}
	return in
}

// A unit joins lots of one group's turns only, there with the chance of the event, with all its rows, and its
// group does not change with the units before it in the file. Null: 300 units, 4 groups, each lot of its
// turn with chance 0.4; the shares are passed with probability 1e-6. Convicts groups that are ignored or
// follow positions, and a rate that is that of an ungrouped run.
func TestBandedLots(t *testing.T) {
	const rows, k, steps, groups = 600, 2, 40, 4
	in := lotsOf(t, rows, k, steps, 0, 9, func(*Training) {})
	group := make([]int, rows)
	joined, turns := 0, 0
	sizes := make([]int, groups)
	for i := range rows {
		group[i] = -1
		for step := range steps {
			if !in[step][i] {
				continue
			}
			if g := step % groups; group[i] >= 0 && group[i] != g {
				t.Fatalf("row %d joins a lot of group %d and one of %d", i, group[i], g)
			}
			group[i] = step % groups
			if in[step][i-i%k] != in[step][i] {
				t.Fatalf("unit %d is torn", i/k)
			}
		}
	}
	for i := 0; i < rows; i += k {
		if group[i] < 0 {
			continue // joined none of 10 lots: a chance of 0.6^10
		}
		sizes[group[i]]++
		for step := group[i]; step < steps; step += groups {
			turns++
			if in[step][i] {
				joined++
			}
		}
	}
	stattest.Accept(t, stattest.Proportion("chance of a lot", joined, turns, 0.4/(1-math.Pow(0.6, 10))))
	for _, n := range sizes {
		stattest.Accept(t, stattest.Proportion("size of a group", n, rows/k, (1-math.Pow(0.6, 10))/groups))
	}
	fewer := lotsOf(t, rows, k, steps, 10*k, 9, func(*Training) {})
	for step := range steps {
		for i := 10 * k; i < rows; i++ {
			if fewer[step][i] && group[i] >= 0 && step%groups != group[i] {
				t.Fatalf("row %d has another group where ten units before it are missing", i)
			}
		}
	}
}

// Where the chance is 1 a group is a lot: every unit joins once in Groups steps, always in the same place.
func TestBandedPasses(t *testing.T) {
	in := lotsOf(t, 90, 1, 15, 0, 3, func(tr *Training) { tr.Groups, tr.SamplingRate, tr.Coefficients = 5, 0.2, bands })
	for i := range 90 {
		for pass := range 3 {
			count := 0
			for step := 5 * pass; step < 5*pass+5; step++ {
				if in[step][i] != in[step%5][i] {
					t.Fatalf("row %d: pass %d differs from the first", i, pass)
				}
				if in[step][i] {
					count++
				}
			}
			if count != 1 {
				t.Fatalf("row %d joins %d lots of a pass", i, count)
			}
		}
	}
	tr := bandedTraining(rawNet{t: 1, m: 1, n: 1}, 10)
	tr.Groups, tr.SamplingRate = 5, 0.2
	if e, ok := tr.Event().(dp.Banded); !ok || e.Rate != 1 {
		t.Errorf("passes are priced as %+v", tr.Event())
	}
}

// A run pays with its own event, and what has no meaning opens nothing.
func TestBandedTakesItsEvent(t *testing.T) {
	net := rawNet{t: 1, m: 4, n: 3}
	booked := bandedTraining(net, 8)
	for name, change := range map[string]func(*Training){
		"":                       func(*Training) {},
		"less noise":             func(tr *Training) { tr.NoiseMultiplier = 1.99 },
		"other coefficients":     func(tr *Training) { tr.Coefficients = []float64{1, 0.6, 0.5} },
		"other groups":           func(tr *Training) { tr.Groups = 3 },
		"more steps":             func(tr *Training) { tr.Steps = 9 },
		"a larger rate":          func(tr *Training) { tr.SamplingRate = 0.11 },
		"no correlation":         func(tr *Training) { tr.Coefficients, tr.Groups = nil, 0 },
		"groups alone":           func(tr *Training) { tr.Coefficients = nil },
		"fewer groups than band": func(tr *Training) { tr.Groups = 2 },
		"too large a lot":        func(tr *Training) { tr.SamplingRate = 0.3 },
		"rising coefficients":    func(tr *Training) { tr.Coefficients = []float64{1, 1.1} },
		"negative":               func(tr *Training) { tr.Coefficients = []float64{1, -0.1} },
		"NaN":                    func(tr *Training) { tr.Coefficients = []float64{1, math.NaN()} },
		"a quantile":             func(tr *Training) { tr.Clipping, tr.UnclippedShare = Quantile, 0.5 },
	} {
		tr := booked
		change(&tr)
		p := mustPermit(t, dp.AddOrRemoveOne, 1, booked.Event())
		err := Train(context.Background(), p, rawRows(1, false, net, 3), tr, make([]float32, net.Parameters()))
		if (err == nil) != (name == "") || p.Opened() != (name == "") {
			t.Errorf("%q: error %v, opened %v", name, err, p.Opened())
		}
	}
}

// A run that goes on after any step makes the bits of one that never stopped: noise that is left is a function
// of the stream, and nothing of it is stored.
func TestBandedGoesOn(t *testing.T) {
	net := &tinyNet{t: 5, m: 3, n: 2, bias: true}
	rows := rawRows(1, false, net, 61)
	const steps = 9
	run := func(first int, params []float32) (after [][]float32) {
		tr := bandedTraining(net, steps)
		tr.First, tr.ExpectedRows = first, 61
		tr.Update = func(_ int, w, g []float32) {
			for j, v := range g {
				w[j] -= 0.3 * v
			}
			after = append(after, slices.Clone(w))
		}
		if err := Train(context.Background(), mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, params); err != nil {
			t.Fatal(err)
		}
		return after
	}
	whole := run(0, make([]float32, net.Parameters()))
	for first := 1; first < steps; first++ {
		for i, w := range run(first, slices.Clone(whole[first-1])) {
			if !slices.Equal(w, whole[first+i]) {
				t.Fatalf("from %d: step %d differs", first, first+i)
			}
		}
	}
}
