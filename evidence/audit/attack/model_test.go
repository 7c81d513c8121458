package attack

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func drawRows(t *rapid.T) (rows [][]float64, member []bool) {
	n, d := rapid.IntRange(4, 40).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
	for i := range n {
		x := make([]float64, d)
		for j := range x {
			x[j] = rapid.Float64Range(-3, 3).Draw(t, "x")
		}
		rows, member = append(rows, x), append(member, i == 0 || i > 1 && rapid.Bool().Draw(t, "member"))
	}
	return rows, member
}

// At the minimum the gradient vanishes: Σ (p_i − y_i)·x_i + w/c = 0 in scaled features.
func TestLogisticIsTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, member := drawRows(t)
		c := rapid.SampledFrom([]float64{0.1, 1, 100}).Draw(t, "c")
		l, err := TrainLogistic(rows, member, c)
		if err != nil {
			t.Fatal(err)
		}
		d := len(rows[0])
		g := make([]float64, d+1)
		for j := range d {
			g[j] = l.weights[j] / c
		}
		for i, x := range rows {
			r := sigmoid(l.Score(x))
			if member[i] {
				r--
			}
			for j, v := range l.scale.scale(x) {
				g[j] += r * v
			}
			g[d] += r
		}
		for j, v := range g {
			if math.Abs(v) > 1e-3 {
				t.Fatalf("gradient %d is %v", j, v)
			}
		}
	})
}

// The conditions of Karush, Kuhn and Tucker within the tolerance, and a gap between primal
// and dual objective that they imply: together they say that the dual is solved.
func TestSVMIsTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, member := drawRows(t)
		o := SVMOptions{C: rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "c"), Gamma: rapid.SampledFrom([]float64{0.1, 1}).Draw(t, "gamma"), Tolerance: 1e-6}
		s, err := TrainSVM(rows, member, o)
		if err != nil {
			t.Fatal(err)
		}
		weight := map[int]float64{}
		used := 0
		for i, x := range rows {
			z := s.scale.scale(x)
			if used < len(s.support) && equal(s.support[used], z) && (s.weight[used] > 0) == member[i] {
				weight[i] = math.Abs(s.weight[used])
				used++
			}
		}
		if used != len(s.support) {
			t.Fatalf("%d of %d support vectors are rows", used, len(s.support))
		}
		var sum, dual, slack, norm float64
		for i, x := range rows {
			a, y := weight[i], -1.0
			if member[i] {
				y = 1
			}
			f := s.Score(x)
			if a < 0 || a > o.C*(1+1e-12) {
				t.Fatalf("weight %v outside of [0, %v]", a, o.C)
			}
			sum += a * y
			norm += a * y * (f - s.bias)
			slack += max(0, 1-y*f)
			dual += a
		}
		dual -= norm / 2
		primal := norm/2 + o.C*slack
		if math.Abs(sum) > 1e-9 {
			t.Fatalf("weights add up to %v", sum)
		}
		if primal-dual > 1e-4*(1+primal) || primal-dual < -1e-9*(1+primal) {
			t.Fatalf("primal %v, dual %v", primal, dual)
		}
	})
}

func equal(a, b []float64) bool {
	for j := range a {
		if a[j] != b[j] {
			return false
		}
	}
	return true
}

// What no linear model can do.
func TestSVMSolvesTheChessboard(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var rows [][]float64
	var member []bool
	for range 400 {
		x := []float64{rng.Float64()*4 - 2, rng.Float64()*4 - 2}
		rows, member = append(rows, x), append(member, (x[0] > 0) == (x[1] > 0))
	}
	right := func(m Model) int {
		n := 0
		for i, x := range rows {
			if (m.Score(x) > 0) == member[i] {
				n++
			}
		}
		return n
	}
	s, err := TrainSVM(rows, member, SVMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := TrainLogistic(rows, member, 1)
	if err != nil {
		t.Fatal(err)
	}
	if right(s) < 380 || right(l) > 260 {
		t.Errorf("of 400 the SVM has %d right and logistic regression %d", right(s), right(l))
	}
}

// Few kept rows of the kernel change the time and nothing else.
func TestKernelRowsAreACache(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	x := make([][]float64, 30)
	for i := range x {
		x[i] = []float64{rng.NormFloat64()}
	}
	few, all := newKernelRows(x, 0.5, 2), newKernelRows(x, 0.5, 30)
	for range 300 {
		i, j := rng.IntN(30), rng.IntN(30)
		a, b := few.row(i), few.row(j)
		for k := range x {
			if a[k] != all.row(i)[k] || b[k] != all.row(j)[k] || b[k] != gaussian(0.5, x[j], x[k]) {
				t.Fatalf("row %d or %d is wrong at %d", i, j, k)
			}
		}
		if len(few.kept) > 2 {
			t.Fatalf("%d rows are kept", len(few.kept))
		}
	}
}

func TestTrainingRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		rows   [][]float64
		member []bool
	}{
		"nothing": {}, "lengths": {[][]float64{{1}}, []bool{true, false}}, "ragged": {[][]float64{{1}, {1, 2}}, []bool{true, false}},
		"empty rows": {[][]float64{{}, {}}, []bool{true, false}}, "NaN": {[][]float64{{1}, {math.NaN()}}, []bool{true, false}},
		"one kind": {[][]float64{{1}, {2}}, []bool{true, true}},
	} {
		if _, err := TrainLogistic(c.rows, c.member, 1); !errors.Is(err, ErrInput) {
			t.Errorf("%s: logistic: %v", name, err)
		}
		if _, err := TrainSVM(c.rows, c.member, SVMOptions{}); !errors.Is(err, ErrInput) {
			t.Errorf("%s: SVM: %v", name, err)
		}
	}
	rows, member := [][]float64{{0}, {1}, {0.5}, {2}}, []bool{true, false, false, true}
	if _, err := TrainSVM(rows, member, SVMOptions{Steps: 1, Tolerance: 1e-12}); !errors.Is(err, ErrNotConverged) {
		t.Errorf("one step: %v", err)
	}
	// Features that are constant, and rows that are equal, are ordinary.
	if _, err := TrainSVM([][]float64{{1, 2}, {1, 2}}, []bool{true, false}, SVMOptions{}); err != nil {
		t.Errorf("equal rows: %v", err)
	}
	if _, err := TrainLogistic([][]float64{{1, 2}, {1, 2}}, []bool{true, false}, 1); err != nil {
		t.Errorf("equal rows: %v", err)
	}
}
