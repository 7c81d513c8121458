package sum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/packed"
	"pawl/data/schema"
)

// texts are rows of two columns of texts; "" is a cell without one. Rows of one unit have its number.
type textRow struct {
	unit  int
	texts [2]string
}

// textRows seals rows of k rows a unit at most, whatever the rows are: what a mechanism holds a unit to is
// seen.
func textRows(k int, rows ...textRow) *sealed.Rows {
	s := &schema.Schema{Unit: schema.Unit{Name: "person", Column: "id", MaxRows: k}, Columns: []schema.Column{{Name: "id", Type: schema.Ignore}}}
	t, cells := sealed.Table{Texts: sealed.Texts{Dictionary: make([][]string, 2)}}, []float64{}
	for _, r := range rows {
		cells = append(cells, math.NaN())
		t.Hash = append(t.Hash, uint64(r.unit)<<32)
		t.Unit = append(t.Unit, int32(r.unit))
		for c, text := range r.texts {
			i := int32(sealed.NoText)
			if text != "" {
				if i = int32(slices.Index(t.Texts.Dictionary[c], text)); i < 0 {
					i = int32(len(t.Texts.Dictionary[c]))
					t.Texts.Dictionary[c] = append(t.Texts.Dictionary[c], text)
				}
			}
			t.Texts.Of = append(t.Texts.Of, i)
		}
	}
	if k == 1 {
		t.Unit = nil
	}
	t.Cells = packed.Of(cells, 1)
	return sealed.Seal(sealed.NewKey("d", [32]byte{}, [32]byte{}), s, t)
}

func textPermit(t fataler, seed uint64, k int, rel dp.Relation, rows *sealed.Rows, events ...dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", rel, k, dp.Compose{Events: events}, entropy.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Assign(p, rows.Assignment())
}

type fataler interface{ Fatal(...any) }

// levelsOf has two columns, with one known level, the missing one.
func levelsOf(multiplier, tau float64) Levels {
	return Levels{Scope: dp.WholeScope, Noise: dp.Gaussian{NoiseMultiplier: multiplier}, Failure: dp.Approximate{Delta: tau}, Columns: []int{0, 1}, Known: 1, Most: 1,
		Mark: func(_ int, text string, null bool) ([]int, string) {
			switch {
			case null:
				return []int{0}, ""
			case text == "?":
				return []int{-1, 1, 0}, text // more than it may, and beyond the cells
			case text == "skip":
				return nil, ""
			}
			return nil, text
		}}
}

// binsOf has bins alone.
func binsOf(multiplier float64) Levels {
	return Levels{Scope: dp.WholeScope, Noise: dp.Gaussian{NoiseMultiplier: multiplier}, Columns: []int{0, 1}, Known: 30, Most: 3,
		Mark: func(_ int, text string, null bool) ([]int, string) {
			if null {
				return nil, ""
			}
			n := int(text[0] - 'a')
			return []int{n, 10 + n, 20 + n, 29}, text
		}}
}

func viewOf(t fataler, rows *sealed.Rows, k int) *sealed.View {
	g := dp.Gaussian{NoiseMultiplier: 1}
	v, err := sealed.Open(rows, textPermit(t, 1, k, dp.AddOrRemoveOne, rows, g), dp.WholeScope, g)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// exactLevels are the counts before noise, by column and text; known levels have none.
func exactLevels(t fataler, rows *sealed.Rows, k int) map[string]float64 {
	counts, levels, err := levelsOf(1, .1).count(viewOf(t, rows, k), k)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for i, n := range counts {
		if i < 2 {
			out[fmt.Sprint(i)] = n
		} else {
			out[fmt.Sprint(levels[i-2].column, levels[i-2].text)] = n
		}
	}
	return out
}

func exactBins(t fataler, rows *sealed.Rows, k int) map[string]float64 {
	counts, levels, err := binsOf(1).count(viewOf(t, rows, k), k)
	if err != nil || len(levels) > 0 {
		t.Fatal(err, levels)
	}
	out := map[string]float64{}
	for cell, n := range counts {
		out[fmt.Sprint(cell)] = n
	}
	return out
}

// A unit, whatever its rows and in whatever order, moves at most P·k levels, and as many bins three times, by 1 each; and as
// many as its rows have.
func TestLevelsSensitivity(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "?", "skip", "a", "b", "c", "d", "e", "f", "g"})
	for name, exact := range map[string]func(fataler, *sealed.Rows, int) map[string]float64{"levels": exactLevels, "bins": exactBins} {
		t.Run(name, func(t *testing.T) {
			reached := 0.0
			rapid.Check(t, func(t *rapid.T) {
				k := rapid.IntRange(1, 3).Draw(t, "k")
				var all, less []textRow
				for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
					r := textRow{unit: 1 + i/k, texts: [2]string{text.Draw(t, "a"), text.Draw(t, "b")}}
					all, less = append(all, r), append(less, r)
				}
				rows := k
				if k > 1 {
					rows = k + rapid.IntRange(0, 2).Draw(t, "beyond") // the bound holds by itself
				}
				for range rows {
					all = append(all, textRow{texts: [2]string{text.Draw(t, "a"), text.Draw(t, "b")}})
				}
				if rapid.Bool().Draw(t, "first") {
					slices.Reverse(all)
				}
				with, without := exact(t, textRows(k, all...), k), exact(t, textRows(k, less...), k)
				moved, most := 0.0, float64(2*k)
				if name == "bins" {
					most *= 3
				}
				for cell, n := range with {
					d := n - without[cell]
					if d != 0 && d != 1 {
						t.Fatalf("a unit moves %s by %g", cell, d)
					}
					moved += d
				}
				for cell, n := range without {
					if with[cell] < n {
						t.Fatalf("a unit more takes %s from %g to %g", cell, n, with[cell])
					}
				}
				if moved > most {
					t.Fatalf("a unit of %d rows moves %g cells, more than %g", k, moved, most)
				}
				reached = math.Max(reached, moved/most)
			})
			if reached < 1 {
				t.Errorf("no unit moved more than %.2f of what it may", reached)
			}
		})
	}
}

// Every count has the stated noise, also of k rows and of known levels, and no two share it.
func TestLevelsNoise(t *testing.T) {
	var rows []textRow
	for i := range 4000 {
		rows = append(rows, textRow{unit: i / 2, texts: [2]string{string(rune('a' + i/2%2)), "x"}})
	}
	for _, tt := range []struct {
		k   int
		rel dp.Relation
	}{{2, dp.AddOrRemoveOne}, {3, dp.AddOrRemoveOne}, {2, dp.ReplaceOne}} {
		sealedRows := textRows(tt.k, rows...)
		var level, known, bin []float64
		for run := range 300 {
			l, b := levelsOf(2, 1e-4), binsOf(2)
			b.Mark = func(int, string, bool) ([]int, string) { return []int{4}, "" }
			p := textPermit(t, uint64(run), tt.k, tt.rel, sealedRows, l.Noise, l.Failure, b.Noise)
			found, err := l.Release(context.Background(), p, sealedRows)
			if err != nil {
				t.Fatal(err)
			}
			if len(found[0].Levels) != 2 || len(found[1].Levels) != 1 || found[0].Levels[0].Text != "a" {
				t.Fatalf("found %+v", found)
			}
			level = append(level, found[0].Levels[0].Units-1000, found[1].Levels[0].Units-2000)
			known = append(known, found[0].Known[0], found[1].Known[0])
			bins, err := b.Release(context.Background(), p, sealedRows)
			if err != nil {
				t.Fatal(err)
			}
			bin = append(bin, bins[0].Known[3], bins[1].Known[4]-2000)
		}
		apart := float64(tt.k)
		if tt.rel == dp.ReplaceOne {
			apart *= 2
		}
		for name, s := range map[string]struct {
			draws []float64
			want  float64
		}{"levels": {level, 2 * math.Sqrt(2*apart)}, "known": {known, 2 * math.Sqrt(2*apart)}, "bins": {bin, 2 * math.Sqrt(6*apart)}} {
			square, cross := 0.0, 0.0
			for i, z := range s.draws {
				square += z * z
				if i%2 == 1 {
					cross += z * s.draws[i-1]
				}
			}
			n := float64(len(s.draws))
			if ratio := square / n / s.want / s.want; math.Abs(ratio-1) > 4*math.Sqrt(2/n) {
				t.Errorf("%s, %d rows, %v: variance %.3f of the stated one", name, tt.k, tt.rel, ratio)
			}
			if c := cross / (n / 2) / s.want / s.want; math.Abs(c) > 4/math.Sqrt(n/2) {
				t.Errorf("%s, %d rows: two counts have correlation %.3f", name, tt.k, c)
			}
		}
	}
}

// The levels that one unit holds alone, as many as it may, are released with a chance of at most τ in all, and
// with nearly that.
func TestThresholdHidesOneUnit(t *testing.T) {
	const tau, runs = .2, 4000
	for _, k := range []int{1, 3} {
		var rows []textRow
		for i := range k {
			rows = append(rows, textRow{unit: 7, texts: [2]string{string(rune('a' + i)), string(rune('p' + i))}})
		}
		sealedRows, l, shown := textRows(k, rows...), levelsOf(3, tau), 0
		for run := range runs {
			found, err := l.Release(context.Background(), textPermit(t, uint64(run), k, dp.AddOrRemoveOne, sealedRows, l.Noise, l.Failure), sealedRows)
			if err != nil {
				t.Fatal(err)
			}
			if len(found[0].Levels)+len(found[1].Levels) > 0 {
				shown++
			}
		}
		share, sd := float64(shown)/runs, math.Sqrt(tau*(1-tau)/runs)
		if share > tau+3.5*sd || share < tau-5*sd {
			t.Errorf("%d rows: a unit alone is shown in %.4f of runs, τ is %g", k, share, tau)
		}
	}
}

func TestUpperQuantile(t *testing.T) {
	for _, x := range []float64{.4, .1, 1e-3, 1e-7, 1e-12, 1e-30, 1e-200} {
		z := upperQuantile(x)
		if p := math.Erfc(z/math.Sqrt2) / 2; p > x || p < x*(1-1e-6) {
			t.Errorf("%g: P(N > %g) = %g", x, z, p)
		}
	}
	for _, x := range []float64{0, -1, math.NaN()} {
		if z := upperQuantile(x); !math.IsInf(z, 1) {
			t.Errorf("%g: a threshold of %g", x, z)
		}
	}
}

// Rows in another order, texts of rows that nobody kept, and texts of one level give the same release.
func TestLevelsKnowNoOrder(t *testing.T) {
	var rows []textRow
	for i := range 60 {
		rows = append(rows, textRow{unit: i, texts: [2]string{string(rune('a' + i%3)), string(rune('k' + i%2))}})
	}
	l := levelsOf(.5, .1)
	release := func(rows *sealed.Rows) string {
		found, err := l.Release(context.Background(), textPermit(t, 5, 1, dp.AddOrRemoveOne, rows, l.Noise, l.Failure), rows)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found)
	}
	want := release(textRows(1, rows...))
	slices.Reverse(rows)
	if got := release(textRows(1, rows...)); got != want {
		t.Errorf("rows in another order: %s, want %s", got, want)
	}
}

// Nothing leaves without both events, each once, with less noise, or under a relation without a price.
func TestLevelsNeedTheirCharge(t *testing.T) {
	rows := textRows(1, textRow{texts: [2]string{"a", "b"}})
	l, b := levelsOf(2, .01), binsOf(2)
	for name, p := range map[string]*sealed.Permit{
		"no permit":      nil,
		"no failure":     textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, l.Noise),
		"no noise":       textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, l.Failure),
		"a smaller τ":    textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, l.Noise, dp.Approximate{Delta: .001}),
		"a larger noise": textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, dp.Gaussian{NoiseMultiplier: 3}, l.Failure),
		"zero-out":       textPermit(t, 1, 1, dp.ZeroOut, rows, l.Noise, l.Failure),
	} {
		if found, err := l.Release(context.Background(), p, rows); err == nil || found != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if _, err := b.Release(context.Background(), nil, rows); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("bins without a permit: %v", err)
	}
	p := textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, l.Noise, l.Failure, b.Noise)
	for try := range 2 {
		if _, err := l.Release(context.Background(), p, rows); (err == nil) != (try == 0) {
			t.Errorf("levels, try %d: %v", try, err)
		}
	}
	p = textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, b.Noise)
	for try := range 2 {
		if _, err := b.Release(context.Background(), p, rows); (err == nil) != (try == 0) {
			t.Errorf("bins, try %d: %v", try, err)
		}
	}
	for i, bad := range []func(*Levels){
		func(l *Levels) { l.Columns = nil },
		func(l *Levels) { l.Columns = []int{2} },
		func(l *Levels) { l.Failure.Delta = 1 },
		func(l *Levels) { l.Failure.Delta = math.NaN() },
		func(l *Levels) { l.Failure.Epsilon = 1 },
		func(l *Levels) { l.Most = 0 },
		func(l *Levels) { l.Known = MostCells },
		func(l *Levels) { l.Mark = nil },
		func(l *Levels) { l.Noise.NoiseMultiplier = 0 },
		func(l *Levels) { l.Noise.NoiseMultiplier = math.NaN() },
	} {
		l := levelsOf(2, .01)
		bad(&l)
		if found, err := l.Release(context.Background(), textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, dp.Gaussian{NoiseMultiplier: 2}, dp.Approximate{Delta: .01}), rows); err == nil {
			t.Errorf("fault %d: %v", i, found)
		}
	}
	// Without the failure there are public cells, and no level whatever the counts.
	free := levelsOf(1e-9, 0)
	found, err := free.Release(context.Background(), textPermit(t, 1, 1, dp.AddOrRemoveOne, rows, free.Noise), rows)
	if err != nil || len(found[0].Levels)+len(found[1].Levels) > 0 || len(found[0].Known) != 1 {
		t.Errorf("without a chance of failure: %v, %v", found, err)
	}
}
