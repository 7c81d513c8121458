package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/localrows"
	"pawl/core/release"
	"pawl/core/sum"
)

// specRows is the bound on a unit's rows in specifications of releases.
const specRows = 3

// releaseSpec runs a release runs times on one unit of 5 rows (3 count) in the first
// direction and class b, under both relations that price it.
func releaseSpec[T any](name, entry string, relation dp.Relation, runs int, events func() []dp.Event, also func(*people),
	release func(context.Context, *ledger.Permit, *intake.Rows) (T, error), look func(released T, apart float64), checks func(apart float64) []Check) Specification {
	return Specification{Name: named(name, relation), Entry: entry, Rows: "one unit of 5 rows, of which 3 count, and others",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			p := &people{}
			for range specRows + 2 {
				p.add("u", 0, 1)
			}
			if also != nil {
				also(p)
			}
			rows, err := p.seal(specRows)
			if err != nil {
				return nil, err
			}
			desk := &desk{relation: relation, rowsPerUnit: specRows, events: events()}
			apart := apartOf(relation, specRows)
			for range runs {
				permit, err := desk.next(ctx, src.Uint64())
				if err != nil {
					return nil, err
				}
				released, err := release(ctx, permit, rows)
				if err != nil {
					return nil, err
				}
				look(released, apart)
			}
			return checks(apart), nil
		}}
}

const (
	scaled = "noise has the priced standard deviation, and a unit's rows add no more than their bound"
	apartS = "numbers do not share noise"
)

func releaseSpecs() []Specification {
	var out []Specification
	for _, relation := range []dp.Relation{dp.AddOrRemoveOne, dp.ReplaceOne} {
		out = append(out, cellsSpec(relation), countSpec(relation), meanSpec(relation), accuracySpec(relation), absoluteErrorSpec(relation), groupsSpec(relation), groupsPureSpec(relation),
			tablesSpec(relation), classSumsSpec(relation), covarianceSpec(relation), inputMeanSpec(relation), histogramsSpec(relation, false), histogramsSpec(relation, true), levelsSpec(relation), majoritySpec(relation))
	}
	return append(out, accuracyPureSpec(), localRowsSpec(), scopesSpec())
}

func countSpec(relation dp.Relation) Specification {
	const sigma = 10
	c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: sigma}
	var z []float64
	return releaseSpec("count, units", "release.Count.Release", relation, 1000, func() []dp.Event { z = nil; return []dp.Event{c.Event()} }, nil,
		c.Release, func(v int64, apart float64) {
			z = append(z, (float64(v)-specRows)/(sigma*apart))
		}, func(float64) []Check {
			return []Check{laplaceCheck(scaled, z), ReuseCheck("releases do not share noise", [][]float64{normalScores(z)})}
		})
}

// Rows try to add more than they may: twice to one cell, far too much to the next, and to the
// last what is beyond the bound with all before.
func cellsSpec(relation dp.Relation) Specification {
	const sigma, unit = 0.25, 100
	c := sum.Cells{Scope: dp.WholeScope, Event: dp.DiscreteLaplace{NoiseMultiplier: sigma}, Size: 4, L1: 3 * unit,
		Row: func(_ []float64, _ []float32, add *sum.Tally) {
			add.Add(0, unit)
			add.Add(0, unit)
			add.Add(1, 100*unit)
			add.Add(2, 2*unit)
			add.Add(3, 2*unit)
		}}
	var z []float64
	return releaseSpec("cells, bound", "sum.Cells.Release", relation, 1000, func() []dp.Event { z = nil; return []dp.Event{c.Event} }, nil,
		c.Release, func(v []int64, apart float64) {
			for cell, adds := range []float64{1, 0, 2, 0} {
				z = append(z, (float64(v[cell])-adds*unit*specRows)/(3*unit*sigma*apart))
			}
		}, func(float64) []Check { return []Check{laplaceCheck(scaled, z)} })
}

func meanSpec(relation dp.Relation) Specification {
	const sigma, n = 1, 1000
	m := release.Mean{Scope: dp.WholeScope, NoiseMultiplier: sigma, Value: func([]float64) float64 { return 7 }, ExpectedRows: n}
	var z []float64
	return releaseSpec("mean, units", "release.Mean.Release", relation, 1000, func() []dp.Event { z = nil; return []dp.Event{m.Event()} }, nil,
		m.Release, func(v float64, apart float64) {
			z = append(z, (v*n-specRows)/(sigma*apart))
		}, func(float64) []Check { return []Check{laplaceCheck(scaled, z)} })
}

// scoredPeople are rows of which half are predicted right, and of three classes 1 : 1 in two.
func scoredPeople(n int) func(*people) {
	return func(p *people) {
		for i := range n {
			p.add(fmt.Sprint("o", i), i%2, float64(i%2))
		}
	}
}

func accuracySpec(relation dp.Relation) Specification {
	const sigma, n = 1, 3000
	a := release.Accuracy{Scope: dp.WholeScope, NoiseMultiplier: sigma, Column: classCell, Levels: classes, Predict: func(cells []float64) int { return 1 }}
	var z, base []float64
	return releaseSpec("accuracy, units", "release.Accuracy.Release", relation, 1000, func() []dp.Event { z, base = nil, nil; return []dp.Event{a.Event()} }, scoredPeople(n),
		a.Release, func(s release.AccuracyScore, apart float64) {
			// (right − wrong)/2 and the number of rows is known: half the variance of a count.
			const all, right = n + specRows, n/2 + specRows
			std := sigma * math.Sqrt2 * apart
			share := float64(right) / all
			// right − d has (1+L)v, rows 2Lv and both Lv, where v is std²/(2+L).
			v := std * std / 4
			z = append(z, (s.Value-share)*all/math.Sqrt(3*v-2*share*2*v+share*share*4*v))
			// The larger of two nearly even classes has no normal law.
			base = append(base, s.Baseline)
		}, func(apart float64) []Check {
			rng := rand.New(rand.NewPCG(13, 7))
			want := make([]float64, 200_000)
			draw := func(c float64) float64 { return math.Round(c + sigma*math.Sqrt2*apart*rng.NormFloat64()) }
			for i := range want {
				right, wrong, a, b := draw(n/2+specRows), draw(n/2), draw(n/2), draw(n/2+specRows)
				d := (right + wrong - a - b) / 4
				want[i] = (max(a, b) + d) / (right + wrong - 2*d)
			}
			return []Check{ScaleCheck(scaled, z), lawCheck("the baseline has the distribution of noisy counts", base, want)}
		})
}

// normalScores turns Laplace residuals into normal ones.
func normalScores(z []float64) []float64 {
	out := make([]float64, len(z))
	for i, v := range z {
		out[i] = math.Copysign(distuv.UnitNormal.Quantile(1-math.Exp(-math.Abs(v))/2), v)
	}
	return out
}

func accuracyPureSpec() Specification {
	const sigma, n = 1, 3000
	a := release.Accuracy{Scope: dp.WholeScope, NoiseMultiplier: sigma, Pure: true, Column: classCell, Levels: classes, Predict: func(cells []float64) int { return 1 }}
	var z []float64
	return releaseSpec("accuracy, pure, units", "release.Accuracy.Release", dp.AddOrRemoveOne, 3000, func() []dp.Event { z = nil; return []dp.Event{a.Event()} }, scoredPeople(n),
		a.Release, func(s release.AccuracyScore, _ float64) {
			z = append(z, s.Value)
		}, func(apart float64) []Check {
			rng := rand.New(rand.NewPCG(11, 7))
			want := make([]float64, 200_000)
			for i := range want {
				draw := func() float64 { return laplaceDraw(rng, 2*sigma*apart) }
				right, wrong := n/2+specRows+draw(), n/2+draw()
				d := (right + wrong - n - specRows - draw() - draw()) / 4
				want[i] = (right - d) / (right + wrong - 2*d)
			}
			return []Check{lawCheck("the score has the distribution of counts with Laplace noise", z, want)}
		})
}

// laplaceDraw is a draw of the discrete Laplace law: the difference of two geometric ones.
func laplaceDraw(rng *rand.Rand, scale float64) float64 {
	return math.Floor(scale*rng.ExpFloat64()) - math.Floor(scale*rng.ExpFloat64())
}

// All truths are a quarter, so that the baseline's error is that of the noisy mean.
func absoluteErrorSpec(relation dp.Relation) Specification {
	const first, second, n = 60, 0.2, 20_000
	a := release.AbsoluteError{Scope: dp.WholeScope, MeanNoiseMultiplier: first, NoiseMultiplier: second,
		Truth: func([]float64) float64 { return 0.25 }, Predict: func([]float64) float64 { return 0.75 }}
	var z, base []float64
	s := releaseSpec("absolute error, units", "release.AbsoluteError.Release", relation, 400, func() []dp.Event { z, base = nil, nil; return a.Events() }, scoredPeople(n),
		a.Release, func(s release.ErrorScore, apart float64) {
			const all = n + specRows
			z = append(z, (s.Value-0.5)*all/(second*math.Sqrt(3)*apart*math.Sqrt(1.25)))
			base = append(base, s.Baseline*all/(first*math.Sqrt2*apart*math.Sqrt(1+1./16)))
		}, func(float64) []Check {
			return []Check{ScaleCheck("noise on the errors has the priced standard deviation", z), ScaleCheck("noise on the mean has the priced standard deviation", base)}
		})
	return s
}

// Each of 60 groups has 400 rows, half of them wrong.
func groupedPeople(p *people) {
	for g := range 60 {
		for i := range 400 {
			p.add(fmt.Sprint("g", g, "i", i), g+1, float64(i%2))
		}
	}
}

func groupScoresOf(relation dp.Relation, name string, pure bool, runs int) Specification {
	const sigma = 2
	g := release.GroupScores{Scope: dp.WholeScope, NoiseMultiplier: sigma, Pure: pure, Groups: 60, Counted: true,
		Group: func(cells []float64) int { return int(cells[numberCell]*directions) - 1 }, Loss: func(cells []float64) float64 { return 3 * cells[classCell] }} // of which 1 counts
	var loss, gain []float64
	return releaseSpec(name, "release.GroupScores.Release", relation, runs, func() []dp.Event { loss, gain = nil, nil; return []dp.Event{g.Event()} }, groupedPeople,
		g.Release, func(s []release.GroupScore, apart float64) {
			for _, v := range s[:60] {
				l := v.Loss * v.Rows
				loss, gain = append(loss, (l-200)/(sigma*apart)), append(gain, (v.Rows-l-200)/(sigma*apart))
			}
		}, func(float64) []Check {
			test := ScaleCheck
			if pure {
				test = laplaceCheck
			}
			out := []Check{test(scaled, append(slices.Clone(loss), gain...))}
			if !pure {
				out = append(out, ReuseCheck(apartS, [][]float64{loss, gain}))
			}
			return out
		})
}

func groupsSpec(r dp.Relation) Specification {
	return groupScoresOf(r, "group scores, units", false, 10)
}
func groupsPureSpec(r dp.Relation) Specification {
	return groupScoresOf(r, "group scores, pure, units", true, 10)
}

func tablesSpec(relation dp.Relation) Specification {
	const sigma, levels = 3, 600
	t := release.Tables{Scope: dp.WholeScope, NoiseMultiplier: sigma, Levels: []int{levels, 1}, Pairs: [][2]int{{0, 1}, {1, 0}, {0, 1}},
		Codes: func(codes []uint16, cells []float64) {
			codes[0], codes[1] = uint16(cells[numberCell]*directions), 0
		}}
	var z [][]float64
	return releaseSpec("tables, units", "release.Tables.Release", relation, 1, func() []dp.Event { z = nil; return []dp.Event{t.Event()} }, nil,
		t.Release, func(v [][]int64, apart float64) {
			for _, table := range v {
				x := make([]float64, len(table))
				for j, c := range table {
					x[j] = float64(c)
				}
				x[0] -= specRows
				for j := range x {
					x[j] /= sigma * math.Sqrt(3) * apart
				}
				z = append(z, x)
			}
		}, func(float64) []Check { return vectorChecks(z) })
}

func vectorChecks(z [][]float64) []Check {
	return []Check{ScaleCheck(scaled, slices.Concat(z...)), ReuseCheck(apartS, z)}
}

func classSumsSpec(relation dp.Relation) Specification {
	const sigma, norm, features = 2, 3.0, 500
	c := release.ClassSums{Scope: dp.WholeScope, NoiseMultiplier: sigma, Classes: classes, Features: features, Norm: norm, Squares: true,
		Row: func(x, cells []float64) int { x[0] = 1e6; return int(cells[classCell]) }}
	var counts []float64
	var z [][]float64
	return releaseSpec("class sums, units", "release.ClassSums.Release", relation, 60, func() []dp.Event { z, counts = nil, nil; return []dp.Event{c.Event()} }, nil,
		c.Release, func(s *release.Sums, apart float64) {
			std := sigma * math.Sqrt(3) * apart
			for a := range classes {
				k := float64(a * specRows)
				counts = append(counts, (s.Counts[a]-k)/std)
				x, y := slices.Clone(s.Sums[a]), slices.Clone(s.Squares[a])
				x[0], y[0] = x[0]-k*norm, y[0]-k*norm*norm
				for j := range x {
					x[j], y[j] = x[j]/(std*norm), y[j]/(std*norm*norm)
				}
				if len(z) < 4 {
					z = append(z, x, y)
				}
			}
		}, func(float64) []Check {
			return append(vectorChecks(z), ScaleCheck("noise on counts has the priced standard deviation", counts))
		})
}

func covarianceSpec(relation dp.Relation) Specification {
	const sigma, norm, features = 2, 2.0, 60
	c := release.Covariance{Scope: dp.WholeScope, NoiseMultiplier: sigma, Features: features, Norm: norm, Row: func(x, cells []float64) { x[0], x[1] = 1e6, 1e6 }}
	var diagonal, off []float64
	return releaseSpec("covariance, units", "release.Covariance.Release", relation, 4, func() []dp.Event { diagonal, off = nil, nil; return []dp.Event{c.Event()} }, nil,
		c.Release, func(m *release.SecondMoments, _ float64) {
			std := sigma * norm * norm * specRows
			if relation == dp.ReplaceOne {
				std *= math.Sqrt2
			}
			for j := range features {
				for l := j; l < features; l++ {
					v := m.Matrix[j*features+l]
					if l < 2 {
						v -= specRows * norm * norm / 2
					}
					if j == l {
						diagonal = append(diagonal, v/std)
					} else {
						off = append(off, v*math.Sqrt2/std)
					}
				}
			}
		}, func(float64) []Check {
			return []Check{ScaleCheck("noise on the diagonal has the priced standard deviation", diagonal), ScaleCheck("noise off the diagonal has that divided by √2", off),
				ReuseCheck(apartS, [][]float64{diagonal, off[:1770]})}
		})
}

func inputMeanSpec(relation dp.Relation) Specification {
	const sigma, norm, features, n = 2, 2.0, 1500, 10
	m := release.InputMean{Scope: dp.WholeScope, NoiseMultiplier: sigma, Norm: norm, ExpectedRows: n, Features: features, Row: func(x, cells []float64) { x[0] = 1e6 }}
	var z [][]float64
	return releaseSpec("input mean, units", "release.InputMean.Release", relation, 1, func() []dp.Event { z = nil; return []dp.Event{m.Event()} }, nil,
		m.Release, func(v []float64, apart float64) {
			for j := range v {
				v[j] *= n
			}
			v[0] -= specRows * norm
			for j := range v {
				v[j] /= sigma * norm * apart
			}
			z = [][]float64{v}
		}, func(float64) []Check { return vectorChecks(z) })
}

// A unit's rows mark one public cell of two columns, and a level of each that nobody else has.
func levelsSpec(relation dp.Relation) Specification {
	const sigma, cells = 4, 600
	l := sum.Levels{Scope: dp.WholeScope, Noise: dp.Gaussian{NoiseMultiplier: sigma}, Failure: dp.Approximate{Delta: 1e-9}, Columns: []int{0, 1}, Known: cells, Most: 3,
		Mark: func(_ int, text string, _ bool) ([]int, string) { return []int{cells / 2}, text }}
	var z [][]float64
	shown := 0
	return releaseSpec("levels, units", "sum.Levels.Release", relation, 1, func() []dp.Event { z, shown = nil, 0; return []dp.Event{l.Noise, l.Failure} },
		func(p *people) { p.texts = []string{"a", "b"} },
		l.Release, func(found []sum.ColumnLevels, apart float64) {
			for _, c := range found {
				shown += len(c.Levels)
				x := slices.Clone(c.Known)
				x[cells/2]-- // its rows mark it once
				for j := range x {
					x[j] /= sigma * math.Sqrt(3*2*apart)
				}
				z = append(z, x)
			}
		}, func(float64) []Check {
			return append(vectorChecks(z), NeverCheck("a level that one unit alone holds is not released", shown, len(z)))
		})
}

func histogramsSpec(relation dp.Relation, pure bool) Specification {
	const sigma, bins, columns = 4, 600, 2
	name := "histograms, units"
	h := sum.Cells{Scope: dp.WholeScope, Event: dp.DiscreteGaussian{NoiseMultiplier: sigma}, Size: bins * columns, L1: columns, L2Squared: columns,
		Row: func(_ []float64, _ []float32, add *sum.Tally) {
			for c := range columns {
				add.Add(c*bins+bins/2, 1)
			}
		}}
	if pure {
		name, h.Event = "histograms, pure, units", dp.DiscreteLaplace{NoiseMultiplier: sigma}
	}
	var z [][]float64
	return releaseSpec(name, "sum.Cells.Release", relation, 1, func() []dp.Event { z = nil; return []dp.Event{h.Event} }, nil,
		h.Release, func(counts []int64, apart float64) {
			scale := sigma * math.Sqrt(columns) * apart
			if pure {
				scale = sigma * columns * apart
			}
			for c := range columns {
				x := make([]float64, bins)
				for j, v := range counts[c*bins : (c+1)*bins] {
					x[j] = float64(v)
				}
				x[bins/2] -= specRows
				for j := range x {
					x[j] /= scale
				}
				z = append(z, x)
			}
		}, func(float64) []Check {
			if pure {
				same := 0
				for j := range z[0] {
					if z[0][j] == z[1][j] && z[0][j] != 0 {
						same++
					}
				}
				return []Check{laplaceCheck(scaled, slices.Concat(z...)), ShareCheck(apartS+": equal values only by chance", same, bins, 1./(4*scaleOf(sigma, columns, relation)))}
			}
			return vectorChecks(z)
		})
}

// scaleOf is the scale of integer Laplace noise, of which two draws are equal with chance
// 1/(4·scale) or so.
func scaleOf(sigma, columns float64, relation dp.Relation) float64 {
	return sigma * columns * apartOf(relation, specRows)
}

// Of two levels, and of three, the winner's share.
func majoritySpec(relation dp.Relation) Specification {
	const sigma, runs = 4, 3000
	var two, three []float64
	second := release.Majority{Scope: dp.WholeScope, NoiseMultiplier: sigma, Column: classCell, Levels: 2}
	third := second
	third.Levels = 3
	lead := func(relation dp.Relation) int { return int(apartOf(relation, specRows) * sigma) }
	return releaseSpec("majority, units", "release.Majority.Release", relation, runs, func() []dp.Event { two, three = nil, nil; return []dp.Event{second.Event(), third.Event()} },
		func(p *people) {
			for i := range lead(relation) {
				p.add(fmt.Sprint("o", i), 0, 1)
			}
		},
		func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (won [2]int, err error) {
			if won[0], err = second.Release(ctx, permit, rows); err == nil {
				won[1], err = third.Release(ctx, permit, rows)
			}
			return won, err
		}, func(won [2]int, _ float64) {
			two, three = append(two, float64(won[0])), append(three, float64(won[1]))
		}, func(apart float64) []Check {
			rng := rand.New(rand.NewPCG(3, 5))
			t := sigma * apart
			votes := float64(lead(relation) + specRows)
			draw := func() float64 { return laplaceDraw(rng, t) }
			var wantTwo, wantThree []float64
			for range 100_000 {
				w := 0.0
				if votes+draw() > 0 {
					w = 1
				}
				wantTwo = append(wantTwo, w)
				c := [3]float64{draw(), votes + draw(), draw()}
				best := 0
				for k := range c {
					if c[k] > c[best] {
						best = k
					}
				}
				wantThree = append(wantThree, float64(best))
			}
			return []Check{lawCheck("the winner of two has the stated distribution", two, wantTwo), lawCheck("the winner of three has the stated distribution", three, wantThree)}
		})
}

// A table of noisy rows: one unit, one row.
func localRowsSpec() Specification {
	const sigma, norm, features, n, flip = 1.5, 2.0, 4, 800, 0.6
	return Specification{Name: "local rows, units", Entry: "localrows.Table.Release", Rows: "800 equal rows of one class",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneRowEach("o", n, 1).seal(1)
			if err != nil {
				return nil, err
			}
			l := localrows.Table{Scope: dp.WholeScope, NoiseMultiplier: sigma, Rows: n, Features: features, Norm: norm, Classes: classes, LabelNoise: flip,
				Row: func(x, cells []float64) { x[0] = 1e6 }, Label: func(cells []float64) int { return 1 }}
			permit, err := permitFor(ctx, dp.ReplaceOne, 1, src.Uint64(), l.Events()...)
			if err != nil {
				return nil, err
			}
			t, err := l.Release(ctx, permit, rows)
			if err != nil {
				return nil, err
			}
			kept := 0
			for i, y := range t.Labels {
				t.X[i*features] -= norm
				if y == 1 {
					kept++
				}
			}
			for j := range t.X {
				t.X[j] /= 2 * norm * sigma
			}
			return []Check{ScaleCheck(scaled, t.X), ReuseCheck(apartS, [][]float64{t.X}), ShareCheck("classes are answered at random as often as stated", kept, n, 1-flip/2)}, nil
		}}
}

// Parts of the hash line hold the share of units that they should, and none of the others.
func scopesSpec() Specification {
	const n = 2000
	return Specification{Name: "scopes", Entry: "release.Count.Release", Rows: "2,000 units, counted in two halves of the hash line",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneRowEach("o", n, 1).seal(1)
			if err != nil {
				return nil, err
			}
			lower, upper := dp.Scope{Lower: 0, Upper: 0.5}, dp.Scope{Lower: 0.5, Upper: 1}
			var counts [2]int
			for i, scope := range []dp.Scope{lower, upper} {
				c := release.Count{Scope: scope, NoiseMultiplier: 0.01}
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), dp.Scoped{Scope: scope, Event: c.Event()})
				if err != nil {
					return nil, err
				}
				v, err := c.Release(ctx, permit, rows)
				if err != nil {
					return nil, err
				}
				counts[i] = int(v)
			}
			return []Check{ShareCheck("a scope of half the interval holds half of the units", min(max(counts[0], 0), n), n, 0.5),
				NeverCheck("no unit lies in both halves, or in none", max(counts[0]+counts[1]-n, n-counts[0]-counts[1]), n)}, nil
		}}
}
