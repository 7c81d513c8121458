package linear

import (
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

const columns = 6 // of testSchema; the last is the target

// testSchema has every kind of block. The target's three levels serve as classes,
// as 0 and 1 (2 is out of range) and as real numbers.
func testSchema(maxRows int, public bool) *schema.Schema {
	unit := schema.Unit{Name: "row", MaxRows: maxRows}
	return &schema.Schema{Version: 1, Public: public, Unit: unit, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
		{Name: "tail", Type: schema.Numeric, Lower: 0, Upper: 1e6, HeavyTailed: true},
		{Name: "flag", Type: schema.Boolean},
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}},
		{Name: "grade", Type: schema.Categorical, Categories: []string{"i", "ii", "iii"}, Ordered: true},
		{Name: "y", Type: schema.Categorical, Categories: []string{"0", "1", "2"}},
	}}
}

type fataler interface{ Fatal(...any) }

func mustEncode(t fataler, o encode.Options) *encode.Encoding {
	enc, err := encode.New(testSchema(1, true), "y", o)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

func drawEncoding(t *rapid.T) *encode.Encoding {
	if rapid.Bool().Draw(t, "maps") {
		return drawMaps(t)
	}
	return mustEncode(t, encode.Options{
		Bins: rapid.IntRange(2, 6).Draw(t, "bins"), Linear: rapid.Bool().Draw(t, "linear"), Crosses: rapid.Bool().Draw(t, "crosses"),
		Intercept: rapid.SampledFrom([]float64{1e-6, 1, 3}).Draw(t, "intercept"),
	})
}

// drawMaps is an encoding of levels with vectors of any length, a pair of columns among them.
func drawMaps(t *rapid.T) *encode.Encoding {
	vectors := func(levels, dim int) (all [][]float64) {
		for range levels {
			all = append(all, rapid.SliceOfN(rapid.Float64Range(-3, 3), dim, dim).Draw(t, "vector"))
		}
		return all
	}
	level := func(column int) func(cells []float64) int {
		return func(cells []float64) int {
			if v := cells[column]; v == v {
				return int(v)
			}
			return encode.None
		}
	}
	at := func(source int) func([]int) int { return func(sources []int) int { return sources[source] } }
	pair := func(sources []int) int {
		a, b := sources[1], sources[2]
		if a < 0 || b < 0 {
			return 1000
		}
		return 3*a + b
	}
	enc, err := encode.OfMaps(rapid.SampledFrom([]float64{1e-6, 1, 3}).Draw(t, "intercept"), []func(cells []float64) int{level(2), level(3), level(4)}, []encode.Map{
		{Name: "flag", Level: at(0), Vectors: vectors(2, 1)}, {Name: "class", Level: at(1), Vectors: vectors(4, 5)}, {Name: "pair", Level: pair, Vectors: vectors(12, 2)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// drawCells draws rows with unknown cells and unknown targets.
func drawCells(t *rapid.T, n int) []float64 {
	var cells []float64
	for range n {
		row := []float64{
			rapid.Float64Range(-1, 1).Draw(t, "number"), rapid.SampledFrom([]float64{0, 1, 1e3, 1e6}).Draw(t, "tail"),
			float64(rapid.IntRange(0, 1).Draw(t, "flag")), float64(rapid.IntRange(0, 3).Draw(t, "class")),
			float64(rapid.IntRange(0, 2).Draw(t, "grade")), float64(rapid.IntRange(0, 2).Draw(t, "y")),
		}
		unknown := rapid.IntRange(0, 1<<columns*4).Draw(t, "unknown")
		for j := range row {
			if unknown>>j&1 == 1 && unknown < 1<<columns {
				row[j] = math.NaN()
			}
		}
		cells = append(cells, row...)
	}
	return cells
}

func target(cells []float64) float64 { return cells[columns-1] }
func noTarget([]float64) float64     { return math.NaN() }

// rowsOf seals cells; hash nil gives every row a unit of its own.
func rowsOf(maxRows int, public bool, cells []float64, hash []uint64) *sealed.Rows {
	if hash == nil {
		for i := range len(cells) / columns {
			hash = append(hash, uint64(i))
		}
	}
	return sealed.New("d", testSchema(maxRows, public), cells, hash)
}

func mustOpen(t fataler, r *sealed.Rows) *sealed.View {
	v, err := sealed.OpenPublic(r, dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func matrixOf(t fataler, enc *encode.Encoding, cells []float64, target func([]float64) float64) *design.Matrix {
	return design.New(mustOpen(t, rowsOf(1, true, cells, nil)), enc, target)
}

// mustPermit is a permit whose noise does not matter.
func mustPermit(t fataler, rel dp.Relation, maxRows int, e dp.Event) *sealed.Permit {
	return permitWith(t, entropy.Seeded(1), rel, maxRows, e)
}

func permitWith(t fataler, src *entropy.Source, rel dp.Relation, maxRows int, e dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", rel, maxRows, e, src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// losses are all losses with their numbers of outputs.
var losses = []struct {
	loss    Loss
	outputs int
}{{Logistic, 1}, {Residual, 1}, {Bounded, 1}, {Softmax, 3}}

// drawClassWeights are weights of the classes of a loss, or none.
func drawClassWeights(t *rapid.T, loss Loss) []float64 {
	if loss == Residual || loss == Bounded || rapid.Bool().Draw(t, "unweighted") {
		return nil
	}
	n := map[Loss]int{Logistic: 2, Softmax: 3}[loss]
	return rapid.SliceOfN(rapid.SampledFrom([]float64{1e-6, 0.2, 1}), n, n).Draw(t, "class weights")
}

func descent(enc *encode.Encoding, loss Loss, outputs int) Descent {
	return Descent{
		Privacy:  Privacy{Scope: dp.WholeScope, ClippingNorm: 0.5, NoiseMultiplier: 2, Steps: 1, SamplingRate: 1},
		Encoding: enc, Loss: loss, Outputs: outputs, Target: target, ExpectedRows: 1, LearningRate: 1,
	}
}
