package formulas

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"pawl/evidence/theory"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// The point at which dropping a feature helps although the printed condition of
// Lemma 1 is false.
var (
	counterExample = LinearModel{Coefficients: []float64{.7, -.3, .5, .2}, Feature: 3, StdDev: .3, StdDevDropped: .3}
	counterPoint   = []float64{.4, .9, -.5, .6}
	counterTarget  = -.4
)

func TestPrintedLemmaIsSufficientOnly(t *testing.T) {
	d, err := counterExample.AtPoint(counterPoint, counterTarget)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "residual", d.Residual, -.28, 1e-12)
	near(t, "full", d.Full, .2206, 5e-5)
	near(t, "dropped", d.Dropped, .1354, 5e-5)
	if !d.Helps() || d.PrintedRuleHolds() {
		t.Fatalf("helps %v, printed rule %v: want true, false", d.Helps(), d.PrintedRuleHolds())
	}
}

// Null: the simulated means are those of AtPoint; n = 1e5; |z| <= 4.8916 (1e-6 a
// check). At this n a wrong noise of 2 % shows at more than 5 standard errors.
func TestLemmaAgainstSimulation(t *testing.T) {
	cases := []struct {
		name   string
		model  LinearModel
		x      []float64
		target float64
	}{
		{"counter-example", counterExample, counterPoint, counterTarget},
		{"no error at the point", LinearModel{[]float64{1, -2}, 1, .5, .5}, []float64{2, 1}, 0},
		{"less noise with fewer features", LinearModel{[]float64{1, -2, .1}, 2, 1, .6}, []float64{.5, 1, -1}, .3},
		{"more noise with fewer features", LinearModel{[]float64{1, -2, .1}, 0, .5, .8}, []float64{.5, 1, -1}, 3},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := c.model.AtPoint(c.x, c.target)
			if err != nil {
				t.Fatal(err)
			}
			s, err := c.model.Simulate(c.x, c.target, 1e5, seeded(uint64(i)+1))
			if err != nil {
				t.Fatal(err)
			}
			stattest.Accept(t, stattest.Z("full", s.Full, d.Full, s.FullStdErr))
			stattest.Accept(t, stattest.Z("dropped", s.Dropped, d.Dropped, s.DroppedStdErr))
		})
	}
	wrong := counterExample
	wrong.StdDev *= 1.05
	d, _ := counterExample.AtPoint(counterPoint, counterTarget)
	s, _ := wrong.Simulate(counterPoint, counterTarget, 1e5, seeded(9))
	stattest.Convict(t, stattest.Z("5 % too much noise", s.Full, d.Full, s.FullStdErr))
}

func drawModel(t *rapid.T) (LinearModel, []float64, float64) {
	number := rapid.Float64Range(-3, 3)
	n := rapid.IntRange(1, 6).Draw(t, "features")
	m := LinearModel{
		Coefficients:  rapid.SliceOfN(number, n, n).Draw(t, "theta"),
		Feature:       rapid.IntRange(0, n-1).Draw(t, "m"),
		StdDev:        rapid.Float64Range(0, 2).Draw(t, "sigma"),
		StdDevDropped: rapid.Float64Range(0, 2).Draw(t, "sigma'"),
	}
	return m, rapid.SliceOfN(number, n, n).Draw(t, "x"), number.Draw(t, "y")
}

func TestLemmaProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, x, y := drawModel(t)
		d, err := m.AtPoint(x, y)
		if err != nil {
			t.Fatal(err)
		}
		margin := math.Abs(d.Full-d.Dropped) > 1e-9
		low, high, ok := d.Range()
		if inside := ok && low <= d.Effect && d.Effect <= high; margin && inside != d.Helps() {
			t.Errorf("range [%v, %v] and effect %v, but helps is %v", low, high, d.Effect, d.Helps())
		}
		if margin && d.PrintedRuleHolds() && !d.Helps() {
			t.Errorf("printed rule holds and dropping does not help: %+v", d)
		}
		if margin && d.Residual*d.Effect >= 0 && d.Helps() != d.PrintedRuleHolds() {
			t.Errorf("equal signs, but exact rule %v and printed rule %v", d.Helps(), d.PrintedRuleHolds())
		}
		// Corollary 1: move the target onto the prediction, make the noises equal.
		m.StdDevDropped = m.StdDev
		clean, _ := m.AtPoint(x, y-d.Residual)
		if math.Abs(clean.Full-clean.Dropped) > 1e-9 && m.CorollaryHolds() != clean.Helps() {
			t.Errorf("corollary says %v, exact rule %v", m.CorollaryHolds(), clean.Helps())
		}
	})
}

// At the least-squares optimum the cross term vanishes, and the rule is |θ_m| <= σ.
func TestDropOnDataAtLeastSquares(t *testing.T) {
	rng := seeded(4)
	const n, p = 200, 4
	x, y := mat.NewDense(n, p, nil), mat.NewVecDense(n, nil)
	rows, targets := make([][]float64, n), make([]float64, n)
	for i := range n {
		row := make([]float64, p)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		rows[i] = row
		x.SetRow(i, row)
		targets[i] = row[0] - .4*row[1] + .1*row[2] + .5*rng.NormFloat64()
		y.SetVec(i, targets[i])
	}
	var theta mat.VecDense
	if err := theta.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	for feature := range p {
		for _, sigma := range []float64{.01, .08, .2, .6, 2} {
			m := LinearModel{theta.RawVector().Data, feature, sigma, sigma}
			d, err := m.OnData(rows, targets)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "cross term", d.CrossTerm, 0, 1e-12)
			if d.Helps() != (d.Dropped <= d.Full) || d.Helps() != d.HelpsAtLeastSquares() || d.Helps() != m.CorollaryHolds() {
				t.Errorf("feature %d, sigma %v: rules disagree: %+v", feature, sigma, d)
			}
		}
	}
}

func TestLemmaRefuses(t *testing.T) {
	ok := counterExample
	for name, change := range map[string]func(m *LinearModel){
		"feature outside":      func(m *LinearModel) { m.Feature = 4 },
		"negative sigma":       func(m *LinearModel) { m.StdDev = -1 },
		"NaN sigma":            func(m *LinearModel) { m.StdDevDropped = math.NaN() },
		"too few coefficients": func(m *LinearModel) { m.Coefficients = m.Coefficients[:3]; m.Feature = 0 },
	} {
		m := ok
		change(&m)
		if _, err := m.AtPoint(counterPoint, 0); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := m.Simulate(counterPoint, 0, 10, seeded(1)); !errors.Is(err, theory.ErrInput) {
			t.Errorf("%s: simulation error %v", name, err)
		}
	}
	if _, err := ok.OnData(nil, nil); !errors.Is(err, theory.ErrInput) {
		t.Errorf("no rows: error %v", err)
	}
	if _, err := ok.Simulate(counterPoint, 0, 1, seeded(1)); !errors.Is(err, theory.ErrInput) {
		t.Errorf("one draw: error %v", err)
	}
}
