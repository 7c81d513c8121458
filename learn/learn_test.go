package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

// A small world in which everything can be learned: the target of each task depends
// on a number, a class and a flag.
func worldSchema() *schema.Schema {
	return &schema.Schema{Version: 1, Dataset: "world", Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1, Missing: schema.MissingUnknown},
		{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}, Missing: schema.MissingUnknown},
		{Name: "flag", Type: schema.Boolean, Missing: schema.MissingUnknown},
		{Name: "yes", Type: schema.Boolean},
		{Name: "kind", Type: schema.Categorical, Categories: []string{"x", "y", "z"}},
		{Name: "amount", Type: schema.Numeric, Lower: 0, Upper: 100},
	}}
}

const worldRows = 3000

// worldCells are the rows that world seals, and 2,000 for tests behind them.
func worldCells() (all [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	row := func() []float64 {
		number, class, flag := 2*rng.Float64()-1, rng.IntN(4), rng.IntN(2)
		score := 4*number + float64(class) - 1.5 + 2*float64(flag) - 1
		yes, kind := 0.0, 0.0
		if score+rng.NormFloat64() > 0 {
			yes = 1
		}
		if s := 3*number + 0.5*rng.NormFloat64(); s > 1 {
			kind = 2
		} else if s > -1 {
			kind = 1
		}
		cells := []float64{number, float64(class), float64(flag), yes, kind, min(max(50+6*score+2*rng.NormFloat64(), 0), 100)}
		if i := rng.IntN(100); i < 3 {
			cells[i] = math.NaN()
		}
		return cells
	}
	for range worldRows + 2000 {
		all = append(all, row())
	}
	return all
}

func world(t testing.TB) (rows *intake.Rows, test [][]float64) {
	t.Helper()
	all := worldCells()
	key, err := testLedger().Key(context.Background(), "world")
	if err != nil {
		t.Fatal(err)
	}
	b := intake.NewBuilder(key, worldSchema())
	for i, cells := range all[:worldRows] {
		if err := b.Add(cells, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Seal(), all[worldRows:]
}

func task(target string) Task {
	t := Task{Schema: worldSchema(), Target: target, Kind: model.Classification, Scope: dp.WholeScope, ExpectedRows: worldRows}
	if target == "amount" {
		t.Kind, t.Scale = model.Regression, model.TargetScale{Lower: 0, Upper: 100}
	}
	return t
}

func encoding(t testing.TB, target string, o encode.Options) *encode.Encoding {
	t.Helper()
	o.Attributes = []string{"number", "class", "flag"}
	enc, err := encode.New(worldSchema(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// learners lists every learner with a setting for the tests' world, at a noise that
// hardly matters.
func learners(t testing.TB) map[string]Learner {
	const tiny = 1e-3
	descent := func(target string) *Descent {
		return &Descent{Task: task(target), Privacy: gradient.Privacy{ClippingNorm: 0.5, NoiseMultiplier: tiny * 10, Steps: 100, SamplingRate: 1},
			Encoding: encoding(t, target, encode.Options{}), LearningRate: 2, Momentum: 0.9}
	}
	boosting := func(target string) *EBM {
		kind := task(target).Kind
		b := DefaultBoosting(kind, 1e6)
		return &EBM{Task: task(target), NoiseMultiplier: tiny, Encoding: encoding(t, target, encode.Options{Bins: b.Bins}), Boosting: b}
	}
	additive := func(target string) *GAM {
		g := &GAM{Task: task(target), NoiseMultiplier: tiny, SamplingRate: 1, Encoding: encoding(t, target, encode.Options{Bins: 64}), Additions: DefaultAdditions(task(target), 30000)}
		g.Pairs = target != "kind"
		return g
	}
	pairs := boosting("yes")
	pairs.Interactions = [][2]string{{"number", "flag"}, {"class", "flag"}}
	return map[string]Learner{
		"descent, two classes":        descent("yes"),
		"descent, three classes":      descent("kind"),
		"descent, regression":         descent("amount"),
		"boosting, two classes":       boosting("yes"),
		"boosting, three classes":     boosting("kind"),
		"boosting, regression":        boosting("amount"),
		"boosting, interactions":      pairs,
		"additive, two classes":       additive("yes"),
		"additive, three classes":     additive("kind"),
		"additive, regression":        additive("amount"),
		"objective, two classes":      &Objective{Task: task("yes"), Epsilon: 1e4, Encoding: encoding(t, "yes", encode.Options{})},
		"objective, three classes":    &Objective{Task: task("kind"), Epsilon: 1e4, Encoding: encoding(t, "kind", encode.Options{})},
		"adaptive ridge":              &AdaSSP{Task: task("amount"), NoiseMultiplier: tiny, Encoding: encoding(t, "amount", encode.Options{Linear: true})},
		"output, two classes":         &OutputPerturbation{Task: task("yes"), NoiseMultiplier: tiny, Regularization: 0.1, Encoding: encoding(t, "yes", encode.Options{})},
		"output, three classes":       &OutputPerturbation{Task: task("kind"), NoiseMultiplier: tiny, Regularization: 0.1, Encoding: encoding(t, "kind", encode.Options{})},
		"minima, two classes":         &MinimaPerturbation{Task: task("yes"), Epsilon: 5, Delta: 1e-2, Encoding: encoding(t, "yes", encode.Options{})},
		"naive Bayes, two classes":    &NaiveBayes{Task: task("yes"), NoiseMultiplier: tiny * 100, Encoding: encoding(t, "yes", encode.Options{})},
		"naive Bayes, three classes":  &NaiveBayes{Task: task("kind"), NoiseMultiplier: tiny * 100, Encoding: encoding(t, "kind", encode.Options{})},
		"discriminant, two classes":   &Discriminant{Task: task("yes"), NoiseMultiplier: tiny, Encoding: encoding(t, "yes", encode.Options{Linear: true})},
		"discriminant, three classes": &Discriminant{Task: task("kind"), NoiseMultiplier: tiny, Encoding: encoding(t, "kind", encode.Options{Bins: 8})},
		"majority (baseline itself)":  &Majority{Task: task("yes"), NoiseMultiplier: tiny},
		"mean (baseline itself)":      &Mean{Task: task("amount"), NoiseMultiplier: tiny},
	}
}

// loss is the error rate, or the mean absolute error.
func loss(target string, predict func([]float64) float64, test [][]float64) float64 {
	col, total := worldSchema().Column(target), 0.0
	for _, cells := range test {
		switch miss := math.Abs(predict(cells) - cells[col]); {
		case target == "amount":
			total += miss
		case miss != 0:
			total++
		}
	}
	return total / float64(len(test))
}

func targetOf(l Learner) string {
	switch l := l.(type) {
	case *Descent:
		return l.Target
	case *EBM:
		return l.Target
	case *GAM:
		return l.Target
	case *Objective:
		return l.Target
	case *Majority:
		return l.Target
	case *Discriminant:
		return l.Target
	case *NaiveBayes:
		return l.Target
	case *AdaSSP:
		return l.Target
	case *OutputPerturbation:
		return l.Target
	case *MinimaPerturbation:
		return l.Target
	}
	return l.(*Mean).Target
}

// Every learner, with almost no noise, has at most half of the constant model's loss
// (the constant models themselves match it), and books exactly what Event says: the
// same permit does not pay twice, and without it nothing runs.
func TestLearners(t *testing.T) {
	rows, test := world(t)
	constant := map[string]float64{}
	for _, target := range []string{"yes", "kind", "amount"} {
		best := math.Inf(1)
		for _, v := range []float64{0, 1, 2, 50, 51, 52, 53} {
			best = min(best, loss(target, func([]float64) float64 { return v }, test))
		}
		constant[target] = best
	}
	for name, l := range learners(t) {
		t.Run(name, func(t *testing.T) {
			ctx, target := context.Background(), targetOf(l)
			if l.Name() == "" {
				t.Error("no name")
			}
			if err := l.Event().Validate(); err != nil {
				t.Fatal(err)
			}
			permit := testPermit(t, "world", l.Event())
			m, err := l.Fit(ctx, permit, rows)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			limit := constant[target] / 2
			if m.Kind == model.Constant {
				limit = constant[target] * 1.05
			}
			if got := loss(target, m.Predictor(), test); !(got <= limit) {
				t.Errorf("loss %.4f, the best constant has %.4f, want at most %.4f", got, constant[target], limit)
			}
			if _, err := l.Fit(ctx, permit, rows); !errors.Is(err, errNotReserved(t, rows)) {
				t.Errorf("one reservation paid twice (%v)", err)
			}
			if _, err := l.Fit(ctx, nil, rows); err == nil {
				t.Error("it ran without a permit")
			}
			if _, err := l.Fit(ctx, testPermit(t, "world", dp.Gaussian{NoiseMultiplier: 1e6}), rows); !errors.Is(err, errNotReserved(t, rows)) {
				t.Errorf("it ran on another event (%v)", err)
			}
			if _, err := l.Fit(ctx, testPermit(t, "elsewhere", l.Event()), rows); err == nil {
				t.Error("it ran on another data set's reservation")
			}
		})
	}
}

// errNotReserved fetches the error of core for an event that a permit lacks; it lives
// in an internal package.
func errNotReserved(t testing.TB, rows *intake.Rows) error {
	t.Helper()
	m := &Majority{Task: task("yes"), NoiseMultiplier: 1}
	_, err := m.Fit(context.Background(), testPermit(t, "world", dp.Gaussian{NoiseMultiplier: 1}), rows)
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// FitPublic refuses rows that are not public.
func TestFitPublicNeedsPublicRows(t *testing.T) {
	rows, _ := world(t)
	for name, l := range learners(t) {
		p, ok := l.(interface {
			FitPublic(ctx context.Context, rows *intake.Rows) (*model.Model, error)
		})
		if !ok {
			continue
		}
		if _, err := p.FitPublic(context.Background(), rows); !errors.Is(err, errNotReserved(t, rows)) {
			t.Errorf("%s trained on sensitive rows without a permit (%v)", name, err)
		}
	}
}

func TestDefaultBoosting(t *testing.T) {
	for _, kind := range []model.Task{model.Classification, model.Regression} {
		bins := 0
		for r := 0.01; r < 1e7; r *= 1.5 {
			b := DefaultBoosting(kind, r)
			if b.Bins < bins || b.Tail > b.Epochs || !(b.ClippingNorm > 0 && b.LearningRate > 0 && b.Floor > 0) {
				t.Fatalf("%s, r %g: %+v", kind, r, b)
			}
			bins = b.Bins
		}
	}
}

// An EBM recovers the shapes of the world, and without its encoding's bins it is
// refused before rows open.
func TestEBMShapes(t *testing.T) {
	rows, _ := world(t)
	l := learners(t)["boosting, regression"].(*EBM)
	m, err := l.Fit(context.Background(), testPermit(t, "world", l.Event()), rows)
	if err != nil {
		t.Fatal(err)
	}
	shapes := m.Shapes()
	if len(shapes) != 3 || shapes[0].Attribute != "number" {
		t.Fatalf("shapes %v", shapes)
	}
	v := shapes[0].Values
	if n := len(shapes[0].Edges) - 1; !(v[n-1][0]-v[0][0] > 0.3) {
		t.Errorf("the shape of a rising number goes from %g to %g", v[0][0], v[n-1][0])
	}
	flag := shapes[2].Values
	if d := flag[1][0] - flag[0][0]; math.Abs(d-0.24) > 0.05 {
		t.Errorf("the flag adds %g, want about 0.24", d)
	}
	if !(shapes[0].Importance > shapes[1].Importance && shapes[2].Importance > 0) {
		t.Errorf("importances %g %g %g", shapes[0].Importance, shapes[1].Importance, shapes[2].Importance)
	}
	l.Encoding = encoding(t, "amount", encode.Options{Linear: true})
	if _, err := l.Fit(context.Background(), &ledger.Permit{}, rows); err == nil {
		t.Error("an encoding without bins was accepted")
	}
}

// One training of each learner on 3,000 rows with three attributes.
func BenchmarkFit(b *testing.B) {
	rows, _ := world(b)
	for name, l := range learners(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				permit := testPermit(b, "world", l.Event())
				b.StartTimer()
				if _, err := l.Fit(context.Background(), permit, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The weight of a rare class moves predictions towards it, by its proportion to the other
// alone.
func TestClassWeightsMovePredictions(t *testing.T) {
	rows, test := world(t)
	column := worldSchema().Column("kind")
	share := func(weights []float64) float64 {
		d := learners(t)["descent, three classes"].(*Descent)
		d.ClassWeights = weights
		m, err := d.Fit(context.Background(), testPermit(t, "world", d.Event()), rows)
		if err != nil {
			t.Fatal(err)
		}
		predict := m.Predictor()
		all, found := 0.0, 0.0
		for _, cells := range test {
			if cells[column] == 2 {
				all++
				if predict(cells) == 2 {
					found++
				}
			}
		}
		return found / all
	}
	plain, heavy, light := share(nil), share([]float64{0.1, 0.1, 1}), share([]float64{1, 1, 0.1})
	if !(light < plain-0.02 && plain < heavy) {
		t.Errorf("found %.3f, %.3f and %.3f of a class of weight 0.1, 1 and 10", light, plain, heavy)
	}
}
