package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

// Whatever the settings, the releases together have the precision of the one that the budget
// pays for.
func TestGAMPrecisionsAddUp(t *testing.T) {
	for _, target := range []string{"yes", "kind", "amount"} {
		for _, r := range []float64{300, 5000, 1e5} {
			g := &GAM{Task: task(target), NoiseMultiplier: 0.7, SamplingRate: 1, Additions: DefaultAdditions(task(target), r)}
			if target != "kind" {
				g.Pairs = r > 1000
			}
			total := 0.0
			for _, e := range g.Event().(dp.Compose).Events {
				count := 1.0
				if repeat, ok := e.(dp.Repeat); ok {
					count, e = float64(repeat.Count), repeat.Event
				}
				switch e := e.(type) {
				case dp.DiscreteGaussian:
					total += count / e.NoiseMultiplier / e.NoiseMultiplier
				case dp.Gaussian:
					total += count / e.NoiseMultiplier / e.NoiseMultiplier
				default:
					t.Fatalf("event %v", e)
				}
			}
			if got := total * 0.7 * 0.7; !(got <= 1+1e-9 && got > 0.999) {
				t.Errorf("%s at r %g: %g of the precision", target, r, got)
			}
		}
	}
}

// Steps over lots are priced as such, with the noise of all rows times the rate, and the other releases as without lots.
func TestGAMPricesLots(t *testing.T) {
	const rate = 0.1
	g := &GAM{Task: task("yes"), Additions: DefaultAdditions(task("yes"), 1e5)}
	g.Pairs = true
	g.Sample(1, 0.7)
	all := g.Event().(dp.Compose).Events
	g.Sample(rate, 0.7)
	for i, e := range g.Event().(dp.Compose).Events {
		want := all[i]
		if steps, ok := want.(dp.Repeat); ok && steps.Count > 1 {
			want = dp.Repeat{Count: steps.Count, Event: dp.PoissonSampled{Rate: rate, Event: dp.Gaussian{NoiseMultiplier: rate * steps.Event.(dp.Gaussian).NoiseMultiplier}}}
		}
		if e != want {
			t.Errorf("release %d: %v, want %v", i, e, want)
		}
	}
	for _, c := range []struct{ rows, multiplier, want float64 }{{199_999, 5, 1}, {200_000, 5, 0.05}, {1e8, 50, 0.05}, {1e6, 1, 0.25}, {1e6, 0.5, 1}, {1e6, 0, 1}, {1e6, math.NaN(), 1}} {
		if got := LotRate(c.rows, c.multiplier); got != c.want {
			t.Errorf("%g rows at multiplier %g: lots of %g, want %g", c.rows, c.multiplier, got, c.want)
		}
	}
}

// Lots find the pair that all rows do.
func TestGAMFitsByLots(t *testing.T) {
	rows, test := pairsRows(t, func(x []float64, rng *rand.Rand) float64 {
		return 500 + 800*(x[0]-0.5)*(x[1]-0.5) + 100*x[2] + 10*rng.NormFloat64()
	})
	m := fitPairs(t, rows, func(g *GAM) { g.Sample(0.2, g.NoiseMultiplier) })
	if got := m.Terms.Interactions; !slices.Equal(got, [][2]string{{"a", "b"}}) {
		t.Fatalf("pairs %v", got)
	}
	total, predict := 0.0, m.Predictor()
	for _, x := range test {
		total += math.Abs(predict(x)-x[4]) / float64(len(test))
	}
	if !(total < 30) { // 55 without the pair, 8 without noise
		t.Errorf("mean error %g", total)
	}
}

// pairsSchema is a table in which a number rises with the product of two others, beside one that
// says nothing.
func pairsSchema() *schema.Schema {
	s := &schema.Schema{Version: 1, Dataset: "pairs", Unit: schema.Unit{Name: "row", MaxRows: 1}, Rows: schema.RowCount{Kind: schema.RowsDeclared, N: 3000}}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Type: schema.Numeric, Lower: 0, Upper: 1, Missing: schema.MissingUnknown})
	}
	s.Columns = append(s.Columns, schema.Column{Name: "y", Type: schema.Numeric, Lower: 0, Upper: 1000})
	return s
}

// pairsRows seals rows whose target is amount(row).
func pairsRows(t testing.TB, amount func(x []float64, rng *rand.Rand) float64) (*intake.Rows, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	key, err := testLedger().Key(context.Background(), "pairs")
	if err != nil {
		t.Fatal(err)
	}
	b, all := intake.NewBuilder(key, pairsSchema()), [][]float64{}
	for i := range 4000 {
		x := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64(), 0}
		x[4] = min(max(amount(x, rng), 0), 1000)
		if all = append(all, x); i < 3000 {
			if err := b.Add(x, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Seal(), all[3000:]
}

func fitPairs(t testing.TB, rows *intake.Rows, change func(*GAM)) *model.Model {
	t.Helper()
	s := pairsSchema()
	enc, err := encode.New(s, "y", encode.Options{Bins: 64})
	if err != nil {
		t.Fatal(err)
	}
	k := Task{Schema: s, Target: "y", Kind: model.Regression, Scope: dp.WholeScope, ExpectedRows: 3000, Scale: model.TargetScale{Upper: 1000}}
	g := &GAM{Task: k, NoiseMultiplier: 0.1, SamplingRate: 1, Encoding: enc, Additions: DefaultAdditions(k, 30000)}
	g.Pairs = true
	change(g)
	m, err := g.Fit(context.Background(), permitFor(t, "pairs", rows, g.Event()), rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

// The pair that matters is found and the others are not; its table is learned, is saved, and says
// what it is of.
func TestGAMFindsPairs(t *testing.T) {
	rows, test := pairsRows(t, func(x []float64, rng *rand.Rand) float64 {
		return 500 + 800*(x[0]-0.5)*(x[1]-0.5) + 100*x[2] + 10*rng.NormFloat64()
	})
	with := fitPairs(t, rows, func(*GAM) {})
	if got := with.Terms.Interactions; !slices.Equal(got, [][2]string{{"a", "b"}}) {
		t.Fatalf("pairs %v", got)
	}
	error := func(m *model.Model) float64 {
		total, predict := 0.0, m.Predictor()
		for _, x := range test {
			total += math.Abs(predict(x)-x[4]) / float64(len(test))
		}
		return total
	}
	without := fitPairs(t, rows, func(g *GAM) { g.Pairs = false })
	if a, b := error(with), error(without); !(a < 0.6*b) {
		t.Errorf("error %g with the pair and %g without", a, b)
	}
	dir := t.TempDir()
	if err := with.Save(dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, q := with.Predictor(), loaded.Predictor()
	for _, x := range append(test[:50:50], []float64{math.NaN(), 0.5, 1, 0, 0}) {
		if p(x) != q(x) {
			t.Fatalf("loaded, a model predicts %g in place of %g", q(x), p(x))
		}
	}
	shapes := loaded.Shapes()
	if last := shapes[len(shapes)-1]; last.With != "b" || len(last.Labels) != 81 || last.Labels[80] != "unknown, unknown" {
		t.Errorf("the last shape is of %s × %s with %d labels", last.Attribute, last.With, len(last.Labels))
	}
}

// A constraint holds at every value, whatever the noise, and takes the column out of pairs.
func TestGAMIsMonotone(t *testing.T) {
	rows, test := pairsRows(t, func(x []float64, rng *rand.Rand) float64 {
		return 500 + 800*(x[0]-0.5)*(x[1]-0.5) + 20*x[0] + 100*rng.NormFloat64()
	})
	for _, way := range []int{1, -1} {
		m := fitPairs(t, rows, func(g *GAM) { g.NoiseMultiplier, g.Monotone = 2, map[string]int{"a": way} })
		predict := m.Predictor()
		for _, x := range test[:20] {
			last := math.Inf(-way)
			for v := 0.0; v <= 1; v += 1.0 / 256 {
				x[0] = v
				y := predict(x)
				if float64(way)*(y-last) < 0 {
					t.Fatalf("from %g the prediction moves by %g", v, y-last)
				}
				last = y
			}
		}
	}
	free := fitPairs(t, rows, func(g *GAM) { g.NoiseMultiplier = 2 })
	low, high := free.Shapes()[0].Values, 0
	for l := range len(low) - 2 {
		if low[l+1][0] < low[l][0] {
			high++
		}
	}
	if high == 0 {
		t.Error("without a constraint the noisy curve rises all the same: the test says nothing")
	}
}

// Coordinates are those of the curve, whatever the masses, the factor and the kind of levels.
func TestCoordinatesAreOfTheCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		levels int
		order  bool
		exact  float64
	}{{1, true, 0}, {2, true, 0}, {9, true, 0}, {9, true, 0.5}, {1, false, 0}, {2, false, 0}, {7, false, 0}} {
		counts, curve := make([]float64, c.levels), make([]float64, c.levels)
		for l := range curve {
			counts[l], curve[l] = float64(rng.IntN(3)*rng.IntN(100)), rng.NormFloat64()
		}
		p := part{vectors: levelVectors(masses(counts, c.order), c.order, c.exact)}
		p.scale(7)
		w := coordinates(p.vectors, curve, c.order)
		off := 0.0
		for l, v := range p.vectors {
			got := 0.0
			for j, x := range v {
				got += x * w[j]
			}
			if l == 0 {
				off = curve[0] - got
			}
			if math.Abs(got+off-curve[l]) > 1e-9 {
				t.Fatalf("%+v: level %d has %g in place of %g", c, l, got+off, curve[l])
			}
		}
	}
}

// A model that public rows taught is theirs where training has no movement left, on its own scale and
// its own curves, and is not where there is none.
func TestGAMBeginsWithThePublicModel(t *testing.T) {
	of := func(x []float64) float64 { return math.Exp(3*x[0] + 2*math.Abs(x[1]-0.5) + 2) }
	rows, test := pairsRows(t, func(x []float64, rng *rand.Rand) float64 { return of(x) })
	open := *pairsSchema()
	open.Public = true
	b := intake.NewBuilder(intake.SimulationKey("open", 1), &open)
	for i, x := range test {
		if err := b.Add(x, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	public := b.Seal()
	errors := map[bool]float64{}
	for _, taught := range []bool{false, true} {
		m := fitPairs(t, rows, func(g *GAM) {
			g.NoiseMultiplier, g.Pairs, g.ChooseScale = 300, false, true
			if !taught {
				return
			}
			s := Settings{Task: Task{Scope: dp.WholeScope, ExpectedRows: float64(len(test))}}
			if err := g.Teach(context.Background(), public, s); err != nil {
				t.Fatal(err)
			}
			if !g.Scale.Log || g.ChooseScale {
				t.Error("the public rows do not choose the scale")
			}
			g.Movement *= 1e-6
		})
		predict := m.Predictor()
		for _, x := range test {
			errors[taught] += math.Abs(predict(x)-x[4]) / of(x) / float64(len(test))
		}
	}
	if !(errors[true] < 0.1 && errors[false] > 3*errors[true]) {
		t.Errorf("relative errors of %.3f, taught %.3f", errors[false], errors[true])
	}
	// Rows that are not public teach nothing.
	g := &GAM{Task: Task{Schema: pairsSchema(), Target: "y", Kind: model.Regression, Scale: model.TargetScale{Upper: 1000}}, Additions: DefaultAdditions(task("amount"), 100)}
	var err error
	if g.Encoding, err = encode.New(pairsSchema(), "y", encode.Options{Bins: 8}); err != nil {
		t.Fatal(err)
	}
	if err := g.Teach(context.Background(), rows, Settings{Task: Task{Scope: dp.WholeScope, ExpectedRows: 10}}); err == nil {
		t.Error("sensitive rows were looked at without a charge")
	}
}

// Curves of a number move half as far below the r from which there are pairs, unless they begin with those of public rows,
// after which a part of the movement is given.
func TestCurvesAloneMoveHalf(t *testing.T) {
	made := func(ratio, movement float64) *GAM {
		s := Settings{Task: Task{Schema: pairsSchema(), Kind: model.Regression, ExpectedRows: 1e6}, Ratio: ratio, Movement: movement}
		return KindOf("gam").New(s).(*GAM)
	}
	below, above, taught := made(1999, 0), made(2001, 0), made(1999, 1)
	if below.Pairs || !above.Pairs || below.ClippingNorm != above.ClippingNorm/2 || below.Movement != taught.Movement/2 || taught.ClippingNorm != above.ClippingNorm {
		t.Errorf("below %+v, above %+v, taught %+v", below.Additions, above.Additions, taught.Additions)
	}
}

// The marginal of a target chooses its scale, and leaves that of an amount bent.
func TestGAMChoosesTheScale(t *testing.T) {
	for want, amount := range map[bool]func(x []float64, rng *rand.Rand) float64{
		true:  func(x []float64, rng *rand.Rand) float64 { return math.Exp(2*x[0] + 2*x[1] + 0.2*rng.NormFloat64()) },
		false: func(x []float64, rng *rand.Rand) float64 { return 300 + 300*x[0] + 10*rng.NormFloat64() },
	} {
		rows, test := pairsRows(t, amount)
		m := fitPairs(t, rows, func(g *GAM) { g.ChooseScale = true })
		if m.Scale.Log != want {
			t.Errorf("logarithmic %v, want %v", m.Scale.Log, want)
		}
		bent := fitPairs(t, rows, func(g *GAM) { g.ChooseScale, g.Scale.Bend = true, 5 }).Scale
		if !bent.Log || (bent.Bend == 0) != want {
			t.Errorf("an amount: scale %+v, logarithmic %v", bent, want)
		}
		off, size, predict := 0.0, 0.0, m.Predictor()
		for _, x := range test {
			off, size = off+math.Abs(predict(x)-x[4]), size+x[4]
		}
		if !(off < size/5) {
			t.Errorf("logarithmic %v: an error of %.3f of the target", want, off/size)
		}
	}
}

// A side effect of noise alone must not turn masses into what they are not: they add up to 1,
// none is negative, and cells that are empty stay nearly so.
func TestMassesAndGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	counts := make([]float64, 256)
	for l := range counts {
		if counts[l] = 60 * rng.NormFloat64(); l < 16 {
			counts[l] += 1000
		}
	}
	p := masses(counts, true)
	total, low := 0.0, 0.0
	for l, v := range p {
		if v < 0 {
			t.Fatal("a negative mass")
		}
		if total += v; l < 16 {
			low += v
		}
	}
	if math.Abs(total-1) > 1e-9 || low < 0.9 {
		t.Errorf("masses add up to %g, of the filled cells to %g", total, low)
	}
	for _, q := range [][]float64{masses(make([]float64, 3), true), masses([]float64{-5, -1, -2}, false)} {
		if math.Abs(q[0]+q[1]+q[2]-1) > 1e-9 {
			t.Errorf("masses of nothing: %v", q)
		}
	}
	if of := groups(p, true, 8); of[0] != 0 || slices.Max(of) > 7 || !slices.IsSorted(of) {
		t.Errorf("groups %v", of)
	}
	if of := groups([]float64{0.1, 0.4, 0.1, 0.3, 0.1}, false, 3); of[1] != 0 || of[3] != 1 || of[0] != 2 || of[4] != 2 {
		t.Errorf("groups %v", of)
	}
}

// Single cells of heavy-tailed columns count from an effective r of 6,000, which is half of the rows at most, and pairs
// are looked for beside them from a whole r of 10,000.
func TestAdditionsOfHeavyTails(t *testing.T) {
	k := task("yes")
	s := *k.Schema
	s.Columns = slices.Clone(s.Columns)
	numeric := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Type == schema.Numeric && c.Name != k.Target })
	s.Columns[numeric].HeavyTailed = true
	k.Schema = &s
	for _, c := range []struct {
		rows, r, exact float64
		pairs          bool
	}{{40_000, 3499, 0, false}, {40_000, 3500, 0, true}, {40_000, 5999, 0, true}, {40_000, 6000, 0.7, false}, {40_000, 9999, 0.7, false}, {40_000, 10_000, 0.7, true}, {12_000, 10_000, 0.7, true}, {11_000, 30_000, 0, true}} {
		k.ExpectedRows = c.rows
		if a := DefaultAdditions(k, c.r); a.Exact != c.exact || a.Pairs != c.pairs {
			t.Errorf("%g rows, r %g: exact %g, pairs %t", c.rows, c.r, a.Exact, a.Pairs)
		}
	}
	if a := DefaultAdditions(task("yes"), 30_000); a.Exact != 0 {
		t.Errorf("without a heavy tail: %+v", a)
	}
}
