package audit

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/localrows"
	"pawl/core/release"
	"pawl/core/sum"
	"pawl/data/schema"
)

// one is the row that is in or out, where the mechanism cares for it as a count.
var one = row{number: 1, class: 1}

// run is what a mechanism does with the rows of one world under a permit for one run.
type run func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error)

// score runs f under a permit of its own, whose noise src seeds.
func (b *bench) score(f run) func(context.Context, World, *entropy.Source) (float64, error) {
	return func(ctx context.Context, w World, src *entropy.Source) (float64, error) {
		permit, err := b.desk.next(ctx, src.Uint64())
		if err != nil {
			return 0, err
		}
		return f(ctx, permit, b.worlds[w])
	}
}

// scored is score of a number that is computed from what a mechanism releases.
func scored[T any](b *bench, release func(context.Context, *ledger.Permit, *intake.Rows) (T, error), number func(T) float64) func(context.Context, World, *entropy.Source) (float64, error) {
	return b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
		released, err := release(ctx, permit, rows)
		if err != nil {
			return 0, err
		}
		return number(released), nil
	})
}

// releases are the small ways out. Each comment says what part of the event's power
// the score has: 1 where it is the likelihood ratio, 1/√2 where the score is one of two
// numbers that are worth the same.
func releases() []design {
	return []design{
		count, countOfUnits, majority, mean, accuracy, pureAccuracy, groupScores, absoluteError, tables, classSums,
		covariance, covarianceReplaced, inputMean, localRows, localClasses, histograms, pureHistograms, bins, levels,
	}
}

// The whole power: the count is the output.
func count(noise float64) (Mechanism, error) {
	return countOf(noise, "count", "3 rows and 4", pair{dp.AddOrRemoveOne, 1, repeat(3, one), nil, []row{one}})
}

// The same with all rows that a unit may own.
func countOfUnits(noise float64) (Mechanism, error) {
	return countOf(noise, "count, units of 3 rows", "3 rows and 6", pair{dp.AddOrRemoveOne, 3, repeat(3, one), nil, repeat(3, one)})
}

func countOf(noise float64, name, neighbours string, worlds pair) (Mechanism, error) {
	c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: noise}
	b, err := worlds.bench([]dp.Event{c.Event()})
	return Mechanism{
		Name: name, Entry: "release.Count.Release", Neighbours: neighbours, Event: c.Event(), Relation: worlds.relation,
		Score: scored(b, c.Release, func(v int64) float64 { return float64(v) }),
	}, err
}

// The whole power: a tie decides by the sign of the noise.
func majority(noise float64) (Mechanism, error) {
	m := release.Majority{Scope: dp.WholeScope, NoiseMultiplier: noise, Column: classCell, Levels: classes}
	b, err := addOrRemove([]row{{class: 0}, {class: 1}}, one, m.Event())
	return Mechanism{
		Name: "majority", Entry: "release.Majority.Release", Neighbours: "a tie and one vote more", Event: m.Event(), Relation: dp.AddOrRemoveOne,
		Score: scored(b, m.Release, func(v int) float64 { return float64(v) }),
	}, err
}

// The whole power, but for values beyond the cap.
func mean(noise float64) (Mechanism, error) {
	m := release.Mean{Scope: dp.WholeScope, NoiseMultiplier: noise, Value: func(cells []float64) float64 { return cells[numberCell] }, ExpectedRows: 1000}
	b, err := addOrRemove([]row{{number: 0.3}, {number: -0.7}}, one, m.Event())
	return Mechanism{
		Name: "mean", Entry: "release.Mean.Release", Neighbours: "one value of 1 more", Event: m.Event(), Relation: dp.AddOrRemoveOne,
		Score: b.score(m.Release),
	}, err
}

// About 1/√2: the share of right predictions shows the count of right ones, where few are,
// mixed with a little of the noise of all counts; that of the class is not looked at.
func accuracy(noise float64) (Mechanism, error) { return accuracyOf(noise, "accuracy", false, 1e-5) }

// Half of ε, for the same reason: it is one of two counts that a row moves.
func pureAccuracy(noise float64) (Mechanism, error) {
	return accuracyOf(noise, "accuracy, pure", true, 0)
}

func accuracyOf(noise float64, name string, pure bool, delta float64) (Mechanism, error) {
	a := release.Accuracy{Scope: dp.WholeScope, NoiseMultiplier: noise, Pure: pure, Column: classCell, Levels: classes, Predict: func([]float64) int { return 1 }}
	b, err := addOrRemove(append(repeat(300, row{class: 0}), repeat(15, one)...), one, a.Event())
	return Mechanism{
		Name: name, Entry: "release.Accuracy.Release", Neighbours: "15 and 16 of some 300 predictions right", Event: a.Event(),
		Relation: dp.AddOrRemoveOne, Delta: delta,
		Score: scored(b, a.Release, func(s release.AccuracyScore) float64 { return s.Value }),
	}, err
}

// The whole power: loss times rows gives the noisy sum of losses back.
func groupScores(noise float64) (Mechanism, error) {
	g := release.GroupScores{Scope: dp.WholeScope, NoiseMultiplier: noise, Groups: 1, Counted: true,
		Group: func([]float64) int { return 0 }, Loss: func(cells []float64) float64 { return cells[numberCell] }}
	b, err := addOrRemove(append(repeat(300, row{}), repeat(15, one)...), one, g.Event())
	return Mechanism{
		Name: "group scores", Entry: "release.GroupScores.Release", Neighbours: "15 and 16 of some 300 rows of a group are wrong", Event: g.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, g.Release, func(s []release.GroupScore) float64 { return s[0].Loss * s[0].Rows }),
	}, err
}

// About 0.7: both errors move by a row, the counts of rows are not looked at.
func absoluteError(noise float64) (Mechanism, error) {
	first, second := 2*noise, noise
	a := release.AbsoluteError{Scope: dp.WholeScope, MeanNoiseMultiplier: first, NoiseMultiplier: second,
		Truth: func(cells []float64) float64 { return cells[numberCell] }, Predict: func([]float64) float64 { return 0 }}
	b, err := addOrRemove(append(repeat(300, row{}), repeat(15, one)...), one, a.Events()...)
	return Mechanism{
		Name: "absolute error", Entry: "release.AbsoluteError.Release", Neighbours: "15 and 16 of some 300 rows are off by the whole range",
		// What the composition of its two events costs, and quick to evaluate.
		Event: dp.ZCDP{Rho: (1/(first*first) + 1/(second*second)) / 2}, Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, a.Release, func(s release.ErrorScore) float64 { return s.Value + s.Baseline }),
	}, err
}

// The whole power: a row adds 1 to one cell of each table.
func tables(noise float64) (Mechanism, error) {
	t := release.Tables{Scope: dp.WholeScope, NoiseMultiplier: noise, Levels: []int{classes, 1}, Pairs: [][2]int{{0, 1}, {1, 0}, {0, 0}},
		Codes: func(codes []uint16, cells []float64) { codes[0], codes[1] = uint16(cells[classCell]), 0 }}
	b, err := addOrRemove([]row{{class: 0}, {class: 1}}, one, t.Event())
	return Mechanism{
		Name: "tables", Entry: "release.Tables.Release", Neighbours: "one row more in one cell of each of three tables", Event: t.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, t.Release, func(v [][]int64) float64 { return float64(v[0][1] + v[1][1] + v[2][3]) }),
	}, err
}

// The whole power: a row on the bound moves count, sum and squares by 1 each.
func classSums(noise float64) (Mechanism, error) {
	const norm = 3
	c := release.ClassSums{Scope: dp.WholeScope, NoiseMultiplier: noise, Classes: classes, Features: 1, Norm: norm, Squares: true,
		Row: func(x, cells []float64) int { x[0] = 10 * cells[numberCell]; return int(cells[classCell]) }}
	b, err := addOrRemove([]row{{number: 0.1}}, one, c.Event())
	return Mechanism{
		Name: "class sums", Entry: "release.ClassSums.Release", Neighbours: "one row more, beyond the norm", Event: c.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, c.Release, func(s *release.Sums) float64 { return s.Counts[1] + s.Sums[1][0]/norm + s.Squares[1][0]/(norm*norm) }),
	}, err
}

// The whole power: the inner product of the moments with those of the row.
func covariance(noise float64) (Mechanism, error) {
	return covarianceOf(noise, "covariance", "one row more, beyond the norm", pair{dp.AddOrRemoveOne, 1, []row{{number: -0.1}}, nil, []row{one}},
		func(m []float64) float64 { return m[0] + m[1] + m[2] + m[3] })
}

// The same where orthogonal rows replace each other, which move the moments by √2 of
// what one does.
func covarianceReplaced(noise float64) (Mechanism, error) {
	return covarianceOf(noise, "covariance, replaced", "two orthogonal rows, beyond the norm",
		pair{dp.ReplaceOne, 1, []row{{number: -0.1}}, []row{{number: 1, class: 0}}, []row{{number: 0, class: 1}}},
		func(m []float64) float64 { return m[3] - m[0] })
}

func covarianceOf(noise float64, name, neighbours string, worlds pair, score func(moments []float64) float64) (Mechanism, error) {
	c := release.Covariance{Scope: dp.WholeScope, NoiseMultiplier: noise, Features: 2, Norm: 2,
		Row: func(x, cells []float64) { x[0], x[1] = 10*cells[numberCell], 10*cells[classCell] }}
	b, err := worlds.bench([]dp.Event{c.Event()})
	return Mechanism{
		Name: name, Entry: "release.Covariance.Release", Neighbours: neighbours, Event: c.Event(), Relation: worlds.relation, Delta: 1e-5,
		Score: scored(b, c.Release, func(m *release.SecondMoments) float64 { return score(m.Matrix) }),
	}, err
}

// The whole power: a row beyond the norm moves the sum by it.
func inputMean(noise float64) (Mechanism, error) {
	m := release.InputMean{Scope: dp.WholeScope, NoiseMultiplier: noise, Norm: 2, ExpectedRows: 10}
	b, err := addOrRemove([]row{{input: []float32{0.5}}}, row{input: []float32{7}}, m.Event())
	return Mechanism{
		Name: "input mean", Entry: "release.InputMean.Release", Neighbours: "one input more, beyond the norm", Event: m.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, m.Release, func(v []float64) float64 { return v[0] }),
	}, err
}

// The whole power: the row is alone, so the vector that leaves is its own.
func localRows(noise float64) (Mechanism, error) {
	l := localrows.Table{Scope: dp.WholeScope, NoiseMultiplier: noise, Rows: 1, Features: 1, Norm: 2,
		Row: func(x, cells []float64) { x[0] = 10 * cells[numberCell] }}
	b, err := replace(nil, row{number: -1}, row{number: 1}, l.Events()...)
	return Mechanism{
		Name: "local rows", Entry: "localrows.Table.Release", Neighbours: "one row on either end of the norm",
		Event: dp.Compose{Events: l.Events()}, Relation: dp.ReplaceOne, Delta: 1e-5,
		Score: scored(b, l.Release, func(t *localrows.Noisy) float64 { return t.X[0] }),
	}, err
}

// The whole power: neighbours of equal vectors differ by the response alone, whose ε is
// the claim.
func localClasses(noise float64) (Mechanism, error) {
	l := localrows.Table{Scope: dp.WholeScope, NoiseMultiplier: noise, Rows: 1, Features: 1, Norm: 2, Classes: classes, LabelNoise: 2 / (1 + math.Pow(7./3, 1/noise)),
		Row:   func(x, cells []float64) { x[0] = 10 * cells[numberCell] },
		Label: func(cells []float64) int { return int(cells[classCell]) }}
	b, err := replace(nil, row{class: 0}, row{class: 1}, l.Events()...)
	return Mechanism{
		Name: "local rows, class", Entry: "localrows.Table.Release", Neighbours: "one row of either class, with the same vector",
		// A response of two classes is the worst mechanism of its ε.
		Event: dp.Pure{Epsilon: math.Log((1 - l.LabelNoise/2) / (l.LabelNoise / 2))}, Relation: dp.ReplaceOne,
		Score: scored(b, l.Release, func(t *localrows.Noisy) float64 { return float64(t.Labels[0]) }),
	}, err
}

// The whole power: a row adds 1 to one bin of each column.
func histograms(noise float64) (Mechanism, error) {
	return histogram("histograms", twoBins(dp.DiscreteGaussian{NoiseMultiplier: noise}), 1e-5, func(c int64) float64 { return float64(c) })
}

// The whole power: under Laplace noise the likelihood ratio of a count stops outside of
// the two values that it has without noise.
func pureHistograms(noise float64) (Mechanism, error) {
	return histogram("histograms, pure", twoBins(dp.DiscreteLaplace{NoiseMultiplier: noise}), 0, func(c int64) float64 { return float64(min(max(c, 1), 2)) })
}

// The whole power: a row moves one bin by 1.
func bins(noise float64) (Mechanism, error) {
	s := release.Bins{Scope: dp.WholeScope, NoiseMultiplier: noise, Size: 2, Pure: true, Counted: true, Bin: func([]float64, []float32) (int, float64) { return 1, 0 }}
	b, err := addOrRemove(repeat(3, one), one, s.Event())
	return Mechanism{
		Name: "bins", Entry: "release.Bins.Release", Neighbours: "3 and 4 rows in one bin", Event: s.Event(), Relation: dp.AddOrRemoveOne,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			counts, _, err := s.Release(ctx, permit, rows)
			if err != nil {
				return 0, err
			}
			return counts[1], nil
		}),
	}, err
}

// twoBins are histograms of two bins each of two columns.
func twoBins(event dp.Event) sum.Cells {
	return sum.Cells{Scope: dp.WholeScope, Event: event, Size: 4, L1: 2, L2Squared: 2,
		Row: func(cells []float64, _ []float32, add *sum.Tally) {
			for c, edge := range []float64{numberCell: 0, classCell: 0.5} {
				bin := 2 * c
				if cells[c] >= edge {
					bin++
				}
				add.Add(bin, 1)
			}
		}}
}

func histogram(name string, h sum.Cells, delta float64, term func(count int64) float64) (Mechanism, error) {
	b, err := addOrRemove([]row{one}, one, h.Event)
	return Mechanism{
		Name: name, Entry: "sum.Cells.Release", Neighbours: "1 and 2 rows in one bin of two columns", Event: h.Event,
		Relation: dp.AddOrRemoveOne, Delta: delta,
		Score: scored(b, h.Release, func(counts []int64) float64 { return term(counts[1]) + term(counts[3]) }),
	}, err
}

// The whole power: the three rows of a unit mark three cells of each of two columns, and their noise is the
// same.
func levels(noise float64) (Mechanism, error) {
	const rows = 3
	l := sum.Levels{Scope: dp.WholeScope, Noise: dp.Gaussian{NoiseMultiplier: noise}, Columns: []int{0, 1}, Known: rows, Most: 1,
		Mark: func(_ int, text string, null bool) ([]int, string) {
			if null {
				return nil, ""
			}
			return []int{int(text[0] - '0')}, ""
		}}
	b := &bench{desk: &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: rows, events: []dp.Event{l.Noise}}}
	for w, units := range [2]int{Out: 1, In: 2} {
		build := intake.NewBuilder(intake.SimulationKey(dataset, 1), peopleSchema(rows))
		columns := []string{"a", "b"}
		build.KeepTexts(columns)
		for i := range units * rows {
			text := schema.Found{Text: fmt.Sprint(i % rows)}
			if err := build.Add([]float64{0, 0, math.NaN()}, schema.Record{Unit: fmt.Sprint(i / rows), Columns: columns, Cells: []schema.Found{text, text}}); err != nil {
				return Mechanism{}, err
			}
		}
		b.worlds[w] = build.Seal()
	}
	return Mechanism{
		Name: "levels", Entry: "sum.Levels.Release", Neighbours: "1 and 2 units of three rows, whose texts differ", Event: l.Noise,
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: scored(b, l.Release, func(found []sum.ColumnLevels) float64 {
			total := 0.0
			for _, c := range found {
				for _, n := range c.Known {
					total += n
				}
			}
			return total
		}),
	}, nil
}
