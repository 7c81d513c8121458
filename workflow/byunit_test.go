package workflow

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/data/schema"
)

// Null: intervals of exact scores hold in 95 % of cases, however much the rows of a unit
// are alike: each of a unit's up to 8 rows repeats its first with chance alike. 1,000
// samples a cell; a share's that holds in 94 % is found below 91 % with a chance of 4e-5.
// (Those of a mean of skewed errors hold less often where units are few: 90 % are asked
// of 30 units and more.) Convicts intervals that take rows as independent.
func TestExactIntervalsGoByUnits(t *testing.T) {
	const repetitions = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, units := range []int{10, 30, 100} {
		for _, p := range []float64{0.8, 0.95} {
			for _, alike := range []float64{0.45, 0.8, 1} {
				for _, fewest := range []int{1, 8} {
					var share, mean, unknown, deaf int
					holds := func(n *int, i [2]float64, truth float64) {
						if i[0] <= truth && truth <= i[1] {
							*n++
						}
					}
					for range repetitions {
						right, errors := byUnit{perUnit: 8}, byUnit{perUnit: 8}
						for u := range units {
							first, miss := rng.Float64() < p, math.Abs(rng.NormFloat64())
							for range fewest + rng.IntN(9-fewest) {
								r, e := first, miss
								if rng.Float64() >= alike {
									r, e = rng.Float64() < p, math.Abs(rng.NormFloat64())
								}
								v := 0.0
								if r {
									v = 1
								}
								right.add(v, float64(u))
								errors.add(e, float64(u))
							}
						}
						holds(&share, right.share(), p)
						holds(&mean, errors.interval(100), math.Sqrt(2/math.Pi))
						right.units[0] = math.NaN()
						holds(&unknown, right.share(), p)
						if alike == 1 {
							right.perUnit = 1
							holds(&deaf, right.share(), p)
						}
					}
					rate := func(n int) float64 { return float64(n) / repetitions }
					if rate(share) < 0.91 || rate(unknown) < 0.91 {
						t.Errorf("%d units, share %g, alike %g, %d rows or more: %.1f %% hold, %.1f %% with units unknown", units, p, alike, fewest, 100*rate(share), 100*rate(unknown))
					}
					if units >= 30 && rate(mean) < 0.9 {
						t.Errorf("%d units, alike %g, %d rows or more: %.1f %% of means hold", units, alike, fewest, 100*rate(mean))
					}
					if alike == 1 && units > 10 && rate(deaf) > 0.75 {
						t.Errorf("%d units, share %g: %.1f %% hold with rows as independent: the test is too weak", units, p, 100*rate(deaf))
					}
				}
			}
		}
	}
}

// Without units of several rows an exact share has Wilson's interval, and a mean
// Student's; where nothing varies, or there is one row, an interval is not a point.
func TestExactIntervalsOfSingleRows(t *testing.T) {
	var ones, other byUnit
	ones.perUnit, other.perUnit = 1, 1
	for i := range 10 {
		ones.add(1, math.NaN())
		other.add(float64(i%2), float64(i))
	}
	near := func(name string, got [2]float64, low, high float64) {
		t.Helper()
		if math.Abs(got[0]-low) > 1e-4 || math.Abs(got[1]-high) > 1e-4 {
			t.Errorf("%s: %.4f, want %.4f to %.4f", name, got, low, high)
		}
	}
	near("10 of 10", ones.share(), 0.7225, 1)
	near("5 of 10", other.share(), 0.2366, 0.7634)
	near("mean", other.interval(1), 0.5-2.2622*math.Sqrt(0.25/9), 0.5+2.2622*math.Sqrt(0.25/9))
	if i := ones.interval(4); !(i[0] < 1 && i[1] > 1 && i[1] < 4) {
		t.Errorf("errors that are all 1 of 4 have the interval %.3f", i)
	}
	one := byUnit{values: []float64{3}, units: []float64{math.NaN()}, perUnit: 1}
	near("one row", one.interval(20), 0, 20)
	of8 := byUnit{values: []float64{1, 1, 1}, units: []float64{7, 7, 7}, perUnit: 8}
	near("one unit", of8.share(), 0, 1)
}

// The score of a public test file knows whose its rows are: with each row ten times, an
// interval is as wide as that of the rows once where they have the unit's number, and
// much narrower where each is said to be a unit of its own.
func TestTestFilesGoByUnits(t *testing.T) {
	for _, target := range []string{"y", "amount"} {
		width := func(copies int, unit func(row, copy int) float64) (value, baseline, group float64) {
			tab := small(1000, nil)
			tab.schema.Columns = append(tab.schema.Columns, schema.Column{Name: "who", Type: schema.Ignore})
			tab.schema.Unit = schema.Unit{Name: "person", Column: "who", MaxRows: 1}
			for i := range tab.rows {
				tab.rows[i] = append(tab.rows[i], math.NaN())
			}
			in := grouped(tab, "2", "1e-6", func(in *Input) { in.Target, in.Test = target, TestFile })
			for i, cells := range tab.rows[:200] {
				for j := range copies {
					row := append([]float64(nil), cells...)
					row[len(row)-1] = unit(i, j)
					tab.test = append(tab.test, row)
				}
			}
			plan, err := NewPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Test: tab.test, Digest: bytes.Repeat([]byte{7}, 32)})
			if err != nil {
				t.Fatal(err)
			}
			s := out.Score
			return s.Interval[1] - s.Interval[0], s.BaselineInterval[1] - s.BaselineInterval[0], s.Groups[0].Interval[1] - s.Groups[0].Interval[0]
		}
		once := func(row, _ int) float64 { return float64(row) }
		v, b, g := width(1, once)
		v10, b10, g10 := width(10, once)
		vOwn, bOwn, gOwn := width(10, func(row, copy int) float64 { return float64(10*row + copy) })
		for name, w := range map[string][3]float64{"value": {v, v10, vOwn}, "baseline": {b, b10, bOwn}, "group": {g, g10, gOwn}} {
			if r := w[1] / w[0]; !(r > 0.95 && r < 1.1) {
				t.Errorf("%s, %s: ten copies of one unit change the interval's width by %.3f", target, name, r)
			}
			if r := w[2] / w[0]; !(r < 0.5) {
				t.Errorf("%s, %s: ten rows of ten units change the interval's width by %.3f", target, name, r)
			}
		}
	}
}
