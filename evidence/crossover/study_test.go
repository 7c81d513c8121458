package crossover

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/evidence/cells"
	"pawl/evidence/lab"
	"pawl/evidence/theory"
	"pawl/workflow"
)

// made answers without training: the score is a function of what stands in the name.
type made struct {
	score func(spec string, epsilon float64, rows, seed int) float64
	// common is what a given step size takes off, by configuration.
	common map[string]float64
}

func (m *made) Cell(_ context.Context, name string, _ func() ([]float64, error)) ([]float64, error) {
	parts := strings.Split(name, ", ")
	epsilon, rows, seed := math.Inf(1), 0, 0
	for _, p := range parts {
		if v, ok := strings.CutPrefix(p, "ε "); ok {
			epsilon, _ = strconv.ParseFloat(v, 64)
		}
		if v, ok := strings.CutSuffix(p, " rows"); ok {
			rows, _ = strconv.Atoi(v)
		}
		if v, ok := strings.CutPrefix(p, "seed "); ok {
			seed, _ = strconv.Atoi(v)
		}
	}
	v := m.score(parts[3], epsilon, rows, seed)
	if strings.Contains(name, "step size 0.5") {
		v -= m.common[parts[3]]
	}
	return []float64{v}, nil
}

func open(t *testing.T, name string) *Data {
	t.Helper()
	table, err := lab.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return &Data{Name: name, Key: name + ", " + table.Target, Table: table}
}

func specs(t *testing.T, texts ...string) (out []Spec) {
	t.Helper()
	for _, text := range texts {
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func study(t *testing.T, d *Data, texts ...string) *Study {
	t.Helper()
	return &Study{
		Data: d, Specs: specs(t, texts...), Epsilons: []float64{.1, .3, 1, 3, 10}, Delta: "1e-05", Seeds: 5, Plain: 2,
		Tuning: Rule, Confidence: .95,
	}
}

// noise is a small number that both configurations share and one that they do not.
func noise(spec string, seed int) float64 {
	return .05*float64(seed%3) + .001*float64((seed*7+len(spec))%5)
}

func TestCrossoverIsWhereTheCurvesMeet(t *testing.T) {
	for _, c := range []struct {
		name     string
		gap      func(logEpsilon float64) float64 // simple less complex
		verdict  theory.CrossoverVerdict
		estimate float64
		take     string
		words    string
	}{
		{"crossing", func(e float64) float64 { return -.1 * e }, theory.CrossingWithin, 1, "either", "is better, above it"},
		{"never better", func(float64) float64 { return -.1 }, theory.ComplexEverywhere, 0, "B", "no crossing in the range"},
		{"always better", func(float64) float64 { return .1 }, theory.SimpleEverywhere, math.Inf(1), "A", "no crossing in the range"},
		{"the same", func(float64) float64 { return 0 }, theory.ComplexEverywhere, 0, "either", "score the same in every run"},
		{"two crossings", func(e float64) float64 {
			if math.Abs(e) < .5 {
				return .1
			}
			return -.1
		}, theory.SeveralCrossings, 0, "A", "cross more than once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := study(t, open(t, "breast-cancer"), "linear", "ebm")
			s.At = 1
			s.Cells = &made{score: func(spec string, epsilon float64, _, seed int) float64 {
				v := .7 + noise(spec, seed)
				if c.name == "the same" {
					return v - noise(spec, seed)
				}
				if spec == "linear" {
					v += c.gap(math.Log10(min(epsilon, 100)))
				}
				return v
			}}
			r, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p := r.Pairs[0]
			if p.Verdict != string(c.verdict) || !strings.Contains(strings.Join(r.Words, "\n"), c.words) {
				t.Errorf("verdict %q, words %q; want %q and %q", p.Verdict, r.Words, c.verdict, c.words)
			}
			if got := float64(p.Crossover.Estimate); c.verdict != theory.SeveralCrossings && got != c.estimate && !(math.Abs(got-c.estimate) < .1) {
				t.Errorf("crossover %v, want %v", got, c.estimate)
			}
			if p.At == nil || p.At.Take != c.take {
				t.Errorf("at ε = 1: %+v, want to take %s", p.At, c.take)
			}
			if plot := r.Plot("accuracy <&>", 100, s.At); !wellFormed(plot) {
				t.Errorf("the plot is no XML: %s", plot)
			}
		})
	}
}

func wellFormed(text string) bool {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// The crossover of these curves falls as ln(1 + 3000/rows): the fit has to find it, and the
// rows from which the complex one is worth it.
func TestRowsThatMakeTheComplexOneWorthIt(t *testing.T) {
	s := study(t, open(t, "adult"), "linear", "ebm")
	s.Epsilons = []float64{.05, .1, .2, .4, .8, 1.6}
	s.Epsilons = append(s.Epsilons, 3.2)
	s.At, s.Rows, s.Reach = .1, []int{1000, 3000, 9000}, .75
	s.Cells = &made{score: func(spec string, epsilon float64, rows, seed int) float64 {
		crossing := math.Log(1 + 3000/float64(rows))
		v := .75 + .1*math.Log(min(epsilon, 100)/crossing)
		if spec == "linear" {
			v = .75 + .05*math.Log(min(epsilon, 100)/crossing)
		}
		return v + .0005*float64(seed)
	}}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := r.Sizes.Pairs[0]
	want := theory.SizeCurve{Alpha: 1, Beta: 3000}.Rows(.1)
	if p.Needed == nil || math.Abs(float64(p.Needed.Estimate)/want-1) > .15 {
		t.Errorf("rows needed %+v (%s), want about %.0f", p.Needed, p.Why, want)
	}
	if c := r.Sizes.Curves[1]; c.Beta == nil || math.Abs(float64(c.Beta.Estimate)/3000-1) > .15 {
		t.Errorf("β %+v (%s), want about 3000", c.Beta, c.Why)
	}
}

func TestCommonRateShowsWhatItHides(t *testing.T) {
	s := study(t, open(t, "breast-cancer"), "linear", "features:age")
	s.Tuning, s.Rates = CommonRate, []float64{.5}
	s.Cells = &made{common: map[string]float64{"linear": .2}, score: func(spec string, epsilon float64, _, seed int) float64 {
		return .7 + noise(spec, seed) + .02*math.Log(min(epsilon, 100))
	}}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Common[0].Lost; len(r.Common) != 1 || l[0].Points < .1 || l[1].Points > .1 {
		t.Errorf("lost %+v, want about .2 of A and nothing of B", r.Common)
	}
}

func TestStudyRefuses(t *testing.T) {
	data := open(t, "breast-cancer")
	for _, c := range []struct {
		name   string
		change func(*Study)
		want   string
	}{
		{"one configuration", func(s *Study) { s.Specs = s.Specs[:1] }, "two configurations"},
		{"itself", func(s *Study) { s.Specs[1] = s.Specs[0] }, "compared with itself"},
		{"one epsilon", func(s *Study) { s.Epsilons = []float64{1} }, "two epsilons"},
		{"unsorted", func(s *Study) { s.Epsilons = []float64{1, .5} }, "must increase"},
		{"repeated", func(s *Study) { s.Epsilons = []float64{1, 1} }, "given twice"},
		{"repeated later", func(s *Study) { s.Epsilons = []float64{1, 2, 1} }, "given twice"},
		{"not a number", func(s *Study) { s.Epsilons = []float64{1, math.NaN()} }, "finite numbers"},
		{"one seed", func(s *Study) { s.Seeds = 1 }, "two seeds"},
		{"one plain run", func(s *Study) { s.Plain = 1 }, "two runs"},
		{"not measured", func(s *Study) { s.At = .77 }, "not measured"},
		{"tuning", func(s *Study) { s.Tuning = "best" }, "unknown tuning"},
		{"rates", func(s *Study) { s.Tuning = CommonRate }, "missing --rates"},
		{"rows fall", func(s *Study) { s.Rows = []int{200, 100} }, "must increase"},
		{"too many rows", func(s *Study) { s.Rows = []int{100, 1000} }, "has 229 to train on"},
		{"image network", func(s *Study) { s.Specs = specs(t, "linear", "mnist-paw-cnn") }, "does not fit"},
		{"scatter", func(s *Study) { s.Specs = specs(t, "linear", "features:scatter") }, "is for images"},
		{"column", func(s *Study) { s.Specs = specs(t, "linear", "features:nothing") }, "not a usable column"},
		{"count", func(s *Study) { s.Specs = specs(t, "linear", "features:10+unpaid") }, "has 9 columns"},
		{"hopeless choice", func(s *Study) { s.Specs = specs(t, "features:1", "features:all") }, "do not select privately"},
		{"rwt", func(s *Study) { s.Specs = specs(t, "linear", "ebm+rwt") }, "is for networks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := study(t, data, "linear", "ebm")
			c.change(s)
			err := s.Check()
			var usage *workflow.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || usage.Advice == "" {
				t.Errorf("got %v, want %q and a hint", err, c.want)
			}
		})
	}
}

// A study that was interrupted measures what is missing, and says the same as one that was
// not.
func TestAnInterruptedStudyGoesOn(t *testing.T) {
	dir := t.TempDir()
	do := func(stop int) (*Result, int, error) {
		run, err := cells.Open("study", "runs", "test", dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var began int
		run.Progress = func(string) {
			if began++; began == stop {
				cancel()
			}
		}
		s := study(t, open(t, "breast-cancer"), "features:age", "linear")
		s.Epsilons, s.Seeds, s.Cells = []float64{1, 10}, 2, run
		r, err := s.Run(ctx)
		return r, began, err
	}
	if _, _, err := do(4); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted study returned %v", err)
	}
	first, began, err := do(0)
	if err != nil {
		t.Fatal(err)
	}
	if began == 0 || began > 10 {
		t.Errorf("the second study began %d of 12 trainings", began)
	}
	again, began, err := do(0)
	if err != nil || began != 0 {
		t.Fatalf("the third study began %d trainings: %v", began, err)
	}
	if strings.Join(first.Words, "\n") != strings.Join(again.Words, "\n") {
		t.Errorf("%q and %q", first.Words, again.Words)
	}
}

// Every part of a cell is in its name: what a score depends on must not be shared.
func TestCellNamesDiffer(t *testing.T) {
	base := job{data: &Data{Key: "a"}, spec: Spec{Text: "linear"}, cell: cell{epsilon: 1, rows: 10, seed: 1}}
	seen := map[string]bool{base.name("1e-05"): true}
	for _, change := range []func(*job){
		func(j *job) { j.data = &Data{Key: "b"} }, func(j *job) { j.spec.Text = "ebm" }, func(j *job) { j.cell.epsilon = 2 },
		func(j *job) { j.cell.epsilon = math.Inf(1) }, func(j *job) { j.cell.rows = 11 }, func(j *job) { j.cell.seed = 2 },
		func(j *job) { j.cell.rate = 1 }, func(j *job) { j.cell.factor = 2 },
	} {
		j := base
		change(&j)
		if name := j.name("1e-05"); seen[name] {
			t.Errorf("two cells are called %q", name)
		} else {
			seen[name] = true
		}
	}
	if name := base.name("1e-06"); seen[name] {
		t.Errorf("two deltas share %q", name)
	}
	d := open(t, "breast-cancer")
	d.By = ""
	plain := job{data: d, spec: base.spec, cell: base.cell}
	name := plain.name("1e-05")
	for by, same := range map[workflow.Metric]bool{workflow.ByAccuracy: true, workflow.ByLogLoss: false} {
		d.By = by
		if got := plain.name("1e-05"); (got == name) != same {
			t.Errorf("by %s a cell is called %q, by none %q", by, got, name)
		}
	}
}

// What runs are compared by is more for the better, and a guess's where the noise leaves nothing.
func TestMetricsOfRuns(t *testing.T) {
	d := open(t, "breast-cancer")
	for by, want := range map[workflow.Metric]float64{"": .5, workflow.ByBalancedAccuracy: .5, workflow.ByLogLoss: -math.Log(2), workflow.ByBrier: -1} {
		if d.By = by; d.worst(math.NaN()) != want {
			t.Errorf("by %s a run of which nothing is known counts as %g, want %g", by, d.worst(math.NaN()), want)
		}
		v, err := d.score(context.Background(), specs(t, "linear")[0], "1e-4", cell{epsilon: 5, rows: d.Rows(), seed: 1})
		if err != nil || (v < 0) != (by == workflow.ByLogLoss || by == workflow.ByBrier) || v < want-1 {
			t.Errorf("by %s a run has %g (%v)", by, v, err)
		}
	}
}

// A choice of features and the training after it cost no more than ε together.
func TestAChoiceIsPaidOutOfTheSameEpsilon(t *testing.T) {
	d := open(t, "adult")
	s := specs(t, "features:6")[0]
	f := newTableFit(d, s)
	f.delta = "1e-06"
	for _, epsilon := range []float64{.5, 5} {
		in := f.choice(d.Table, epsilon, 1)
		choice, training, err := f.share(d.Table, in, cell{epsilon: epsilon, seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		in.Epsilon = choice
		first, err := workflow.NewSelectPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		second, err := f.plan(d.Table, []string{"age", "sex"}, training, 1)
		if err != nil {
			t.Fatal(err)
		}
		price, err := accountant.Epsilon(dp.Compose{Events: []dp.Event{first.Event, second.Event}}, dp.AddOrRemoveOne, 1e-6, accountant.MethodMin)
		if err != nil {
			t.Fatal(err)
		}
		if price.Epsilon > epsilon || price.Epsilon < .97*epsilon {
			t.Errorf("ε %g: choice %s and training %s cost %g", epsilon, choice, training, price.Epsilon)
		}
	}
}

// Every word of tables trains, and what it asks for changes what is trained.
func TestConfigurationsOfTablesTrain(t *testing.T) {
	d := open(t, "breast-cancer")
	scores := map[float64][]string{}
	for _, text := range []string{"linear", "logistic+encoding:linear", "encoding:integer", "encoding:numeric", "features:deg-malig", "columns:2+unpaid", "model:naive-bayes", "objective-perturbation", "stw", "linear+lr=3", "linear+clip=0.01", "fcn-64+epochs=2", "fcn-64+rwt=1+epochs=2"} {
		s := specs(t, text)[0]
		if err := d.Check(s, "1e-04"); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, epsilon := range []float64{8, math.Inf(1)} {
			v, err := d.score(t.Context(), s, "1e-04", cell{epsilon: epsilon, rows: d.Rows(), seed: 1})
			if err != nil || !(v > .2 && v <= 1) {
				t.Errorf("%s at ε %g: %g, %v", text, epsilon, v, err)
			}
			scores[v] = append(scores[v], text)
		}
	}
	if len(scores) < 4 {
		t.Errorf("scores of 13 configurations: %v", scores)
	}
}

func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 20).Draw(t, "values")
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		monotone(v)
		for i, x := range v {
			sum -= x
			if i > 0 && v[i] < v[i-1]-1e-12 {
				t.Fatalf("%v falls at %d", v, i)
			}
		}
		if math.Abs(sum) > 1e-9 {
			t.Fatalf("the sum moved by %g", sum)
		}
	})
}
