package learn

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"pawl/core/dp"
	"pawl/data/encode"
)

func discriminant(t *testing.T, target string, noise float64) *Discriminant {
	return &Discriminant{Task: task(target), NoiseMultiplier: noise, Encoding: encoding(t, target, encode.Options{Linear: true})}
}

// The two releases together cost what one Gaussian of the stated multiplier does.
func TestDiscriminantPrecisionsAddUp(t *testing.T) {
	const noise = 3.7
	precision := 0.0
	for _, e := range discriminant(t, "yes", noise).Event().(dp.Compose).Events {
		precision += math.Pow(e.(dp.Gaussian).NoiseMultiplier, -2)
	}
	if want := 1 / (noise * noise); math.Abs(precision/want-1) > 1e-12 {
		t.Errorf("the releases have a precision of %g together, want %g", precision, want)
	}
}

// Almost without noise the weights are those of the textbook, from the same rows: Fisher's
// direction Σ⁻¹(μ₁−μ₀), and the middle between the means shifted by the odds of the classes.
func TestDiscriminantIsFishers(t *testing.T) {
	const noise = 1e-5
	d := discriminant(t, "yes", noise)
	rows, _ := world(t)
	m, err := d.Fit(context.Background(), testPermit(t, "world", d.Event()), rows)
	if err != nil {
		t.Fatal(err)
	}
	dim, column := d.Encoding.Dim-1, d.column()
	all := worldCells()[:worldRows]
	x := make([]float64, dim+1)
	var n [2]float64
	means := [2]*mat.VecDense{mat.NewVecDense(dim, nil), mat.NewVecDense(dim, nil)}
	each := func(f func(k int, x *mat.VecDense)) {
		for _, cells := range all {
			if y := cells[column]; y == y {
				d.Encoding.Vector(x, cells)
				f(int(y), mat.NewVecDense(dim, x[1:]))
			}
		}
	}
	each(func(k int, x *mat.VecDense) { n[k]++; means[k].AddVec(means[k], x) })
	for k := range means {
		means[k].ScaleVec(1/n[k], means[k])
	}
	scatter := mat.NewSymDense(dim, nil)
	each(func(k int, x *mat.VecDense) {
		x.SubVec(x, means[k])
		scatter.SymRankOne(scatter, 1/(n[0]+n[1]), x)
	})
	// A one-hot block and the constant are linearly dependent on each other but for unknown
	// cells, so a ridge far below every other variance takes no part.
	for j := range dim {
		scatter.SetSym(j, j, scatter.At(j, j)+1e-9)
	}
	var w, middle, apart mat.VecDense
	apart.SubVec(means[1], means[0])
	middle.AddVec(means[1], means[0])
	if err := w.SolveVec(scatter, &apart); err != nil {
		t.Fatal(err)
	}
	bias := math.Log(n[1]/n[0]) - mat.Dot(&w, &middle)/2
	constant := d.Encoding.Scale * d.Encoding.Options.Intercept
	score := []float64{0}
	for _, cells := range all[:200] {
		d.Encoding.Vector(x, cells)
		want := bias + mat.Dot(&w, mat.NewVecDense(dim, x[1:]))
		m.Scores(score, cells, nil)
		if math.Abs(score[0]-want) > 0.02*(1+math.Abs(want)) {
			t.Fatalf("a row scores %g, want %g (constant %g)", score[0], want, constant)
		}
	}
}

// Where noise hides everything, the largest class remains, and never a model that is not
// finite.
func TestDiscriminantInNoise(t *testing.T) {
	rows, test := world(t)
	for _, noise := range []float64{300, 3e4, 1e8} {
		d := discriminant(t, "kind", noise)
		// One fit in 3,000 finds the least of the classes by chance; two in turn are a fault (1e-7).
		least := 1.0
		for range 2 {
			m, err := d.Fit(context.Background(), testPermit(t, "world", d.Event()), rows)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Validate(); err != nil {
				t.Fatalf("noise %g: %v", noise, err)
			}
			least = min(least, loss("kind", m.Predictor(), test))
		}
		if !(least <= 0.9) {
			t.Errorf("noise %g: loss %.3f", noise, least)
		}
	}
}
