package audit

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
)

// people are the rows of a specification: each of a unit that may own several.
type people struct {
	unit []string
	// number is the first cell, a direction over directions; class the second.
	number, class []float64
	// texts are columns of that name whose cells all have that text, to be sealed; nil for none. They ascend.
	texts []string
}

const directions = 1 << 12 // a direction as a cell is its number over this

func (p *people) add(unit string, direction int, class float64) {
	p.unit, p.number, p.class = append(p.unit, unit), append(p.number, float64(direction)/directions), append(p.class, class)
}

func peopleSchema(rowsPerUnit int) *schema.Schema {
	s := rowsSchema(rowsPerUnit)
	s.Unit.Column = unitName
	s.Columns = append(s.Columns, schema.Column{Name: unitName, Type: schema.Ignore})
	return s
}

func (p *people) seal(rowsPerUnit int) (*intake.Rows, error) {
	b := intake.NewBuilder(intake.SimulationKey(dataset, 1), peopleSchema(rowsPerUnit))
	found := schema.Record{}
	if p.texts != nil {
		b.KeepTexts(p.texts)
		for _, text := range p.texts {
			found.Columns, found.Cells = append(found.Columns, text), append(found.Cells, schema.Found{Text: text})
		}
	}
	for i, u := range p.unit {
		// The row's number tells the rows of a unit apart, as a file would.
		found.Unit, found.Raw = u, fmt.Append(nil, i)
		if err := b.Add([]float64{p.number[i], p.class[i], math.NaN()}, found); err != nil {
			return nil, err
		}
	}
	return b.Seal(), nil
}

// oneUnit are equal rows of one unit.
func oneUnit(rows, direction int, class float64) *people {
	p := &people{}
	for range rows {
		p.add("u", direction, class)
	}
	return p
}

// oneRowEach are units with a row each, all alike, named by a prefix and their number.
func oneRowEach(prefix string, units int, class float64) *people {
	p := &people{}
	for u := range units {
		p.add(fmt.Sprint(prefix, u), 0, class)
	}
	return p
}

// permitFor is a permit for one run of events.
func permitFor(ctx context.Context, relation dp.Relation, rowsPerUnit int, seed uint64, events ...dp.Event) (*ledger.Permit, error) {
	return (&desk{relation: relation, rowsPerUnit: rowsPerUnit, events: events}).next(ctx, seed)
}

// diracNet is a network of several weights of size numbers each, on which an example's
// gradient is one number of each weight, of a length that clipping cuts, whatever the
// parameters. The direction is its input.
type diracNet struct {
	layers, size int
	// masked turns the sign of a gradient by the seed of the example, as a mask would.
	seen func(direction int, seed uint64)
}

const diracLength = 1e4

func (d diracNet) Parameters() int   { return d.layers * d.size }
func (d diracNet) Inputs() int       { return 1 }
func (d diracNet) PerExample() error { return nil }
func (d diracNet) Backprop(_ int, _, inputs, targets []float32, seeds []uint64, record func(gradient.Trace)) {
	for l := range d.layers {
		a, g := make([]float32, len(targets)*d.size), make([]float32, len(targets))
		for i := range targets {
			a[i*d.size+int(inputs[i])], g[i] = diracLength, 1
			if d.seen != nil && l == 0 {
				d.seen(int(inputs[i]), seeds[i])
			}
		}
		record(gradient.Trace{Offset: l * d.size, T: 1, M: d.size, N: 1, A: a, G: g})
	}
}

func encodeDirection(input []float32, cells []float64) {
	input[0] = float32(cells[numberCell] * directions)
}

func specifications() []Specification {
	out := []Specification{
		trainingSpec("training, steps", gradient.Flat, 1, dp.AddOrRemoveOne),
		trainingSpec("training, steps, replaced", gradient.Flat, 1, dp.ReplaceOne),
		trainingSpec("training, steps, automatic", gradient.Automatic, 1, dp.AddOrRemoveOne),
		trainingSpec("training, steps, per layer", gradient.PerLayer, 4, dp.AddOrRemoveOne),
		trainingSpec("training, steps, several weights", gradient.Flat, 4, dp.AddOrRemoveOne),
		quantileSpec(), bandedSpec(), masksSpec(), kindsSpec(), boostClipSpec(), descentNormSpec(), resumedSpec(), descentSpec(dp.AddOrRemoveOne), descentSpec(dp.ReplaceOne), descentLotsSpec(), descentClipSpec(), descentMapsSpec(),
		boostSpec(dp.AddOrRemoveOne), boostSpec(dp.ReplaceOne),
	}
	return append(append(out, releaseSpecs()...), otherSpecs()...)
}

// A training whose noise is so small that every unit's part in every step can be read off.
func trainingSpec(name string, clipping gradient.Clipping, layers int, relation dp.Relation) Specification {
	const (
		units, size, steps = 300, 1200, 4
		k, clip, rate      = 3, 0.5, 0.25
	)
	s := Specification{Name: name, Entry: "gradient.Train", Rows: fmt.Sprintf("300 units of 3 rows, some with 5, in %d of the lots' 4 steps each with probability 1/4, every row a direction of its own or its unit's", steps)}
	if clipping == gradient.PerLayer || layers > 1 {
		s.Rows += "; 4 weights"
	}
	s.observe = func(ctx context.Context, src *entropy.Source) ([]Check, error) {
		sigma := 0.015
		apart := float64(k)
		if relation == dp.ReplaceOne {
			apart, sigma = 2*k, sigma/2
		}
		sigma /= math.Sqrt(float64(layers))
		p := &people{}
		rows := make([]int, units) // that count
		for u := range units {
			name := fmt.Sprint("u", u)
			switch {
			case u%2 == 1: // three directions of its own
				for r := range k {
					p.add(name, u*3+r, 0)
				}
			case u%4 == 0: // five rows, of which three count
				for range k + 2 {
					p.add(name, u*3, 0)
				}
			default:
				for range k {
					p.add(name, u*3, 0)
				}
			}
		}
		_ = rows
		rowsOf, err := p.seal(k)
		if err != nil {
			return nil, err
		}
		var stepsOf [][]float64
		t := gradient.Training{
			Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: steps, SamplingRate: rate},
			Clipping: clipping, Network: diracNet{layers: layers, size: size}, Encode: encodeDirection, Target: target,
			ExpectedRows: 100, Microbatch: 8, Multiplicity: 1,
			Update: func(_ int, params, g []float32) {
				x := make([]float64, len(g))
				for j, v := range g {
					x[j] = float64(v) * 100 * rate / clip * math.Sqrt(float64(layers))
				}
				stepsOf = append(stepsOf, x)
			},
		}
		permit, err := permitFor(ctx, relation, k, src.Uint64(), t.Event())
		if err != nil {
			return nil, err
		}
		if err := gradient.Train(ctx, permit, rowsOf, t, make([]float32, layers*size)); err != nil {
			return nil, err
		}
		return readLots(stepsOf, units, size, layers, sigma*apart*math.Sqrt(float64(layers)), k, rate), nil
	}
	return s
}

// readLots tests what the steps of trainingSpec show, in units of a row's part.
func readLots(steps [][]float64, units, size, layers int, std float64, k int, rate float64) []Check {
	var all, members []float64
	residuals := make([][]float64, len(steps))
	in := make([][]bool, len(steps))
	joined, torn, tornOf, over, overOf := 0, 0, 0, 0, 0
	for s, x := range steps {
		in[s] = make([]bool, units)
		z := make([]float64, len(x))
		for j, v := range x {
			u, r := j%size/3, j%size%3
			want := 0.0
			if u < units {
				first := x[j-r] // the unit's first direction, of this weight
				level := float64(k)
				if u%2 == 1 {
					level = 1
				}
				here := u%2 == 1 && v > 0.5 || u%2 == 0 && r == 0 && v > float64(k)/2
				if here {
					want = level
					members = append(members, (v-want)/std)
				}
				if r == 0 && j < size {
					if in[s][u] = here; here {
						joined++
					}
				}
				if u%2 == 1 && r > 0 {
					tornOf++
					if here != (first > 0.5) {
						torn++
					}
				}
				if u%4 == 0 && r == 0 && here {
					overOf++
					if v > float64(k)+1 {
						over++
					}
				}
			}
			z[j] = (v - want) / std
		}
		residuals[s] = z
		all = append(all, z...)
	}
	again, before := 0, 0
	for s := 1; s < len(in); s++ {
		for u := range in[s] {
			if in[s-1][u] {
				before++
				if in[s][u] {
					again++
				}
			}
		}
	}
	short := make([][]float64, len(residuals))
	for s := range short {
		short[s] = residuals[s][:min(len(residuals[s]), 1200)]
	}
	checks := []Check{
		ScaleCheck("noise has the priced standard deviation on every coordinate of every step", all),
		MeanCheck("a row adds the clipping norm and no more", members),
		ReuseCheck("steps and coordinates do not share noise", short),
		ShareCheck("units join lots at the sampling rate", joined, units*len(steps), rate),
		NeverCheck("units join lots with all their rows or none", torn, tornOf),
		NeverCheck("a unit's rows beyond its bound add nothing", over, overOf),
	}
	if before > 0 {
		checks = append(checks, ShareCheck("lots of different steps are independent", again, before, rate))
	}
	return checks
}

// A norm that follows a quantile: the noise on the sum and on the count of every step.
func quantileSpec() Specification {
	const size, steps, clip, z, lot, k, n = 16, 300, 0.5, 0.5, 60.0, 2, 20
	return Specification{Name: "training, quantile, steps", Entry: "gradient.Train", Rows: "20 units of 2 rows, all clipped, in 300 steps",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			p := &people{}
			for u := range n {
				for range k {
					p.add(fmt.Sprint("u", u), 0, 0)
				}
			}
			rows, err := p.seal(k)
			if err != nil {
				return nil, err
			}
			var sums, counts []float64
			deviation := max(lot/20, z)
			x := z / (2 * deviation)
			onSum := z / math.Sqrt((1-x)*(1+x))
			norm := 0.0
			t := gradient.Training{
				Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: z, Steps: steps, SamplingRate: 1},
				Clipping: gradient.Quantile, UnclippedShare: 0.3, Network: diracNet{layers: 1, size: size}, Encode: encodeDirection, Target: target,
				ExpectedRows: lot, Microbatch: 8, Multiplicity: 1,
				Follow: func(c, share float64) {
					norm = c
					counts = append(counts, ((2*share-1)*lot+n*k)/math.Sqrt(4*deviation*deviation*k*k+1./12))
				},
				Update: func(_ int, _, g []float32) {
					for j, v := range g {
						s := float64(v) * lot / norm
						if j == 0 {
							s -= n * k
						}
						sums = append(sums, s/(onSum*k))
					}
				},
			}
			permit, err := permitFor(ctx, dp.AddOrRemoveOne, k, src.Uint64(), t.Event())
			if err != nil {
				return nil, err
			}
			if err := gradient.Train(ctx, permit, rows, t, make([]float32, size)); err != nil {
				return nil, err
			}
			return []Check{
				ScaleCheck("noise on the sum has the priced standard deviation", sums), MeanCheck("each row moves the sum by the norm", sums),
				ScaleCheck("noise on the count has the priced standard deviation", counts), MeanCheck("each row moves the count by a half", counts),
				ReuseCheck("steps do not share noise on the sum", [][]float64{sums[:min(len(sums), 2000)]}),
				ReuseCheck("steps do not share noise on the count", [][]float64{counts}),
			}, nil
		}}
}

// Masks follow from a row's unit: what stands before it in the file must not change them.
func masksSpec() Specification {
	const n = 40
	return Specification{Name: "training, masks", Entry: "gradient.Train", Rows: "40 units, and the same without the first one",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			seed := src.Uint64()
			seeds := func(first, steps int) ([]map[int]uint64, error) {
				p := &people{}
				for u := first; u < n; u++ {
					p.add(fmt.Sprint("u", u), u, 0)
				}
				rows, err := p.seal(1)
				if err != nil {
					return nil, err
				}
				now, out := map[int]uint64{}, []map[int]uint64(nil)
				t := gradient.Training{
					Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 1, NoiseMultiplier: 1, Steps: steps, SamplingRate: 1},
					Clipping: gradient.Flat, Network: diracNet{layers: 1, size: n, seen: func(d int, seed uint64) { now[d] = seed }},
					Encode: encodeDirection, Target: target, ExpectedRows: n, Microbatch: n, Multiplicity: 1, Alone: true,
					Update: func(int, []float32, []float32) { out, now = append(out, now), map[int]uint64{} },
				}
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, seed, t.Event())
				if err != nil {
					return nil, err
				}
				return out, gradient.Train(ctx, permit, rows, t, make([]float32, n))
			}
			a, err := seeds(0, 2)
			if err != nil {
				return nil, err
			}
			b, err := seeds(1, 2)
			if err != nil {
				return nil, err
			}
			moved, same, equal := 0, 0, 0
			seen := map[uint64]bool{}
			for d := 1; d < n; d++ {
				for s := range a {
					if a[s][d] != b[s][d] {
						moved++
					}
				}
				if a[0][d] == a[1][d] {
					same++
				}
				if seen[a[0][d]] {
					equal++
				}
				seen[a[0][d]] = true
			}
			return []Check{
				NeverCheck("masks do not change with the rows before", moved, 2*(n-1)),
				NeverCheck("masks differ from step to step", same, n-1),
				NeverCheck("units do not share masks", equal, n-1),
			}, nil
		}}
}

// A run that goes on after a step has the noise of the steps that are left, and none that was used.
func resumedSpec() Specification {
	const n, size, steps = 50, 600, 4
	return Specification{Name: "training, going on", Entry: "gradient.Train", Rows: "50 units, 4 steps, and the last 2 of them again",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			p := &people{}
			for u := range n {
				p.add(fmt.Sprint("u", u), u, 0)
			}
			rows, err := p.seal(1)
			if err != nil {
				return nil, err
			}
			seed := src.Uint64()
			run := func(first int) (out [][]float64, err error) {
				t := gradient.Training{
					Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 1e-3, NoiseMultiplier: 1, Steps: steps, SamplingRate: 0.5},
					Clipping: gradient.Flat, Network: diracNet{layers: 1, size: size}, Encode: encodeDirection, Target: target,
					ExpectedRows: 1, Microbatch: 8, Multiplicity: 1, First: first,
					Update: func(_ int, _, g []float32) {
						z := make([]float64, size-n)
						for j := range z {
							z[j] = float64(g[n+j]) * 0.5 / 1e-3
						}
						out = append(out, z)
					},
				}
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, seed, t.Event())
				if err != nil {
					return nil, err
				}
				return out, gradient.Train(ctx, permit, rows, t, make([]float32, size))
			}
			whole, err := run(0)
			if err != nil {
				return nil, err
			}
			rest, err := run(2)
			if err != nil {
				return nil, err
			}
			other := 0
			for s, z := range rest {
				for j, v := range z {
					if v != whole[s+2][j] {
						other++
					}
				}
			}
			return []Check{
				ReuseCheck("a resumed run uses no noise of earlier steps", append([][]float64{whole[0], whole[1]}, rest...)),
				NeverCheck("a resumed run has the noise of an uninterrupted one", other, 2*(size-n)),
			}, nil
		}}
}
