package release

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

var background = context.Background()

// rowsOf seals rows of (class of four or unknown, number).
func rowsOf(maxRows int, cells ...[2]float64) *sealed.Rows {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: maxRows}, Columns: []schema.Column{
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}},
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1}}}
	var flat []float64
	var hash []uint64
	for i, c := range cells {
		flat, hash = append(flat, c[0], c[1]), append(hash, uint64(i)<<56)
	}
	return sealed.New("d", s, flat, hash)
}

// publicRowsOf is rowsOf, and public: what rows add up to is looked at there without noise.
func publicRowsOf(cells ...[2]float64) *sealed.Rows {
	rows := rowsOf(1, cells...)
	s := *rows.Schema()
	s.Public = true
	var flat []float64
	for _, c := range cells {
		flat = append(flat, c[:]...)
	}
	return sealed.New("d", &s, flat, make([]uint64, len(cells)))
}

// exactly fails the test on an error.
func exactly[T any](t fataler) func(v T, err error) T {
	return func(v T, err error) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

type fataler interface{ Fatal(...any) }

// permitFor is a permit whose noise does not matter.
func permitFor(t fataler, rel dp.Relation, maxRows int, events ...dp.Event) *sealed.Permit {
	return permitWith(t, entropy.Seeded(20), rel, maxRows, events...)
}

func permitWith(t fataler, src *entropy.Source, rel dp.Relation, maxRows int, events ...dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", rel, maxRows, dp.Compose{Events: events}, src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// streamsOf are the streams of the events of a permit under src, taken in order.
func streamsOf(t fataler, src *entropy.Source, events ...dp.Event) (all []*entropy.Source) {
	p := permitWith(t, src, dp.AddOrRemoveOne, 1, events...)
	for _, e := range events {
		v, err := sealed.Open(rowsOf(1), p, dp.WholeScope, e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.Noise())
	}
	return all
}

// setting is who the neighbours are; apart is the number of rows in which they
// differ, by which every scale is multiplied.
type setting struct {
	rel   dp.Relation
	rows  int
	apart float64
}

var settings = []setting{{dp.AddOrRemoveOne, 1, 1}, {dp.AddOrRemoveOne, 3, 3}, {dp.ZeroOut, 2, 2}, {dp.ReplaceOne, 1, 2}, {dp.ReplaceOne, 3, 6}}

func (s setting) String() string { return fmt.Sprintf("%v, %d rows per unit", s.rel, s.rows) }

// source is a stream of its own for each draw.
func source(label string, n int) *entropy.Source { return entropy.Seeded(20).Split(label, uint64(n)) }

// law is a distribution on the integers −reach … reach.
type law struct {
	reach int
	p     []float64
}

func newLaw(reach int, weight func(x float64) float64) law {
	l := law{reach, make([]float64, 2*reach+1)}
	sum := 0.0
	for i := range l.p {
		l.p[i] = weight(float64(i - reach))
		sum += l.p[i]
	}
	for i := range l.p {
		l.p[i] /= sum
	}
	return l
}

// discreteLaplace has P(x) ∝ exp(−|x|/scale), discreteGaussian exp(−x²/2sd²); both
// are cut where less than 1e-12 is left.
func discreteLaplace(scale float64) law {
	return newLaw(int(30*scale)+30, func(x float64) float64 { return math.Exp(-math.Abs(x) / scale) })
}

func discreteGaussian(sd float64) law {
	return newLaw(int(8*sd)+8, func(x float64) float64 { return math.Exp(-x * x / (2 * sd * sd)) })
}

func (l law) at(x int) float64 {
	if x < -l.reach || x > l.reach {
		return 0
	}
	return l.p[x+l.reach]
}

// atMost is P(X <= x).
func (l law) atMost(x int) float64 {
	s := 0.0
	for i := -l.reach; i <= x; i++ {
		s += l.at(i)
	}
	return s
}

// judge compares integer draws with the law by chi-square, cells below ten merged.
func (l law) judge(name string, draws []float64) stattest.Verdict {
	n := float64(len(draws))
	count := map[int]int{}
	for _, d := range draws {
		count[int(math.Round(d))]++
	}
	var observed []int
	var expected []float64
	o, e := 0, 0.0
	seen := 0
	for x := -l.reach; x <= l.reach; x++ {
		o, e = o+count[x], e+n*l.at(x)
		seen += count[x]
		if e >= 10 {
			observed, expected = append(observed, o), append(expected, e)
			o, e = 0, 0
		}
	}
	last := len(observed) - 1
	observed[last] += o + len(draws) - seen
	expected[last] += e
	return stattest.ChiSquare(name, observed, expected)
}

func scaled(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Round(f * v)
	}
	return out
}

// acceptLaw accepts the draws and convicts the same draws halved and switched off.
func acceptLaw(t *testing.T, name string, l law, draws []float64) {
	t.Helper()
	stattest.Accept(t, l.judge(name, draws))
	stattest.Convict(t, l.judge(name+" halved", scaled(draws, 0.5)))
	stattest.Convict(t, l.judge(name+" off", scaled(draws, 0)))
}
