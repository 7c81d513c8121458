package export

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"pawl/compute/nn"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/quality"
	"pawl/model"
)

// clinic has a column of every kind and every rule for missing and undeclared cells.
func clinic() *schema.Schema {
	return &schema.Schema{Version: 1, Dataset: "clinic", Unit: schema.Unit{Name: "row", MaxRows: 1}, NA: schema.DefaultNA,
		Rows: schema.RowCount{Kind: schema.RowsPrivate}, Columns: []schema.Column{
			{Name: "age", Type: schema.Integer, Lower: 0, Upper: 120, Missing: schema.MissingUnknown},
			{Name: "weight", Type: schema.Numeric, Lower: -0.5, Upper: 0.5, Missing: schema.MissingValue, MissingNumber: 0.25},
			{Name: "grade", Type: schema.Integer, Lower: 1, Upper: 5, Missing: schema.MissingRefuse},
			{Name: "gain", Type: schema.Numeric, Lower: 0, Upper: 1e5, HeavyTailed: true, Missing: schema.MissingUnknown},
			{Name: "visits", Type: schema.Integer, Lower: 0, Upper: 300, HeavyTailed: true, Missing: schema.MissingUnknown},
			{Name: "band", Type: schema.Categorical, Ordered: true, Categories: []string{"a", "b", "c", "d"}, Missing: schema.MissingUnknown},
			{Name: "label", Type: schema.Categorical, Categories: []string{"r", "g", "?"}, Other: "else", Missing: schema.MissingUnknown},
			{Name: "ward", Type: schema.Categorical, Categories: []string{"x", "y", "z"}, Other: "y", Missing: schema.MissingValue, MissingCategory: "z"},
			{Name: "sex", Type: schema.Categorical, Categories: []string{"f", "m"}, Missing: schema.MissingUnknown},
			{Name: "smoker", Type: schema.Boolean, Missing: schema.MissingUnknown},
			{Name: "member", Type: schema.Boolean, Values: []string{"Nein", "?"}, Missing: schema.MissingUnknown},
			dated("days", 0, 20000), dated("month", 1, 12), dated("weekday", 1, 7),
			{Name: "note", Type: schema.Ignore},
			{Name: "sick", Type: schema.Boolean, Missing: schema.MissingRefuse},
			{Name: "stage", Type: schema.Categorical, Categories: []string{"i", "ii", "iii"}, Missing: schema.MissingRefuse},
			{Name: "cost", Type: schema.Numeric, Lower: 10, Upper: 100000, HeavyTailed: true, Missing: schema.MissingRefuse},
		}}
}

func dated(part string, lower, upper float64) schema.Column {
	c := schema.Column{Name: "born." + part, Type: schema.Integer, Lower: lower, Upper: upper, Missing: schema.MissingUnknown}
	c.Date = &schema.Date{Column: "born", Formats: []string{"D/M/YYYY"}, Part: part, Origin: day0, Lower: day0, Upper: day0.AddDate(0, 0, 20000)}
	return c
}

var day0 = time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)

// cell draws a cell of the file that the schema accepts.
func cell(c *schema.Column, rng *rand.Rand) string {
	if rng.IntN(8) == 0 && (c.Missing == schema.MissingUnknown || c.Missing == schema.MissingValue) {
		return schema.DefaultNA[rng.IntN(len(schema.DefaultNA))]
	}
	if c.Date != nil {
		return day0.AddDate(0, 0, rng.IntN(26000)-3000).Format("2/1/2006")
	}
	switch c.Type {
	case schema.Numeric:
		// Beyond the bounds too, with the digits that people write, so that many lie on edges.
		v := c.Lower + (c.Upper-c.Lower)*(1.4*rng.Float64()-0.2)
		if c.HeavyTailed && rng.IntN(2) == 0 {
			v = math.Expm1(math.Log1p(c.Upper) * rng.Float64())
		}
		return strconv.FormatFloat(v, 'g', 1+rng.IntN(6), 64)
	case schema.Integer:
		return strconv.Itoa(int(c.Lower) - 3 + rng.IntN(int(c.Upper-c.Lower)+7))
	case schema.Boolean:
		if c.Values != nil {
			return c.Values[rng.IntN(2)]
		}
		return []string{"true", "FALSE", "Yes", "no", "1", "0", "t", "N"}[rng.IntN(8)]
	case schema.Categorical:
		if c.Other != "" && rng.IntN(6) == 0 {
			return "something"
		}
		return c.Levels()[rng.IntN(len(c.Levels()))]
	}
	return ""
}

// rows draws cells as a file has them and as a model takes them.
func rows(t testing.TB, s *schema.Schema, n int, rng *rand.Rand) (raw [][]string, cells [][]float64) {
	t.Helper()
	for range n {
		row, parsed := make([]string, len(s.Columns)), make([]float64, len(s.Columns))
		for i := range s.Columns {
			c := &s.Columns[i]
			if c.Type == schema.Vector {
				parsed[i] = math.NaN()
				if rng.IntN(5) > 0 {
					parsed[i] = float64(len(parsed))
					for range c.Dimension {
						parsed = append(parsed, float64(float32(rng.NormFloat64())))
					}
				}
				continue
			}
			row[i] = cell(c, rng)
			v, err := s.Parse(i, row[i])
			if err != nil {
				t.Fatal(err)
			}
			parsed[i] = v
		}
		raw, cells = append(raw, row), append(cells, parsed)
	}
	return raw, cells
}

// feed makes the inputs of a graph from a file's cells.
func feed(s *schema.Schema, ports []Port, raw [][]string, cells [][]float64) map[string]array {
	in := map[string]array{}
	for _, p := range ports {
		a := array{dims: []int{len(raw), 1}}
		i := s.Column(p.Name)
		for r, row := range raw {
			switch {
			case i < 0: // rows
				a.v = append(a.v, 0)
			case s.Columns[i].Type == schema.Vector:
				a.dims[1] = s.Columns[i].Dimension
				if at := cells[r][i]; at == at {
					a.v = append(a.v, cells[r][int(at):][:a.dims[1]]...)
				} else {
					a.v = append(a.v, make([]float64, a.dims[1])...)
				}
			case p.Type == "string":
				a.texts = append(a.texts, row[i])
			default:
				v, err := strconv.ParseFloat(row[i], 64)
				if t, no := time.Parse("2/1/2006", row[i]); no == nil && s.Columns[i].Date != nil {
					v, err = map[string]float64{"days": t.Sub(day0).Hours() / 24, "month": float64(t.Month()), "weekday": float64(t.Weekday())}[s.Columns[i].Date.Part], nil
					if v == 0 && s.Columns[i].Date.Part == "weekday" {
						v = 7
					}
				}
				if err != nil {
					v = math.NaN()
				}
				a.v = append(a.v, float64(float32(v)))
			}
		}
		in[p.Name] = a
	}
	return in
}

// answers is what a model says about rows, as the outputs of its graph have it.
type answers struct {
	labels []string
	// numbers are probabilities by class, or values.
	numbers []float64
	// span is what errors of numbers are measured by.
	span float64
}

func answersOf(m *model.Model, cells [][]float64) answers {
	a := answers{span: 1}
	predict := m.Predictor()
	if m.Task == model.Regression {
		a.span = m.Scale.Upper - m.Scale.Lower
	}
	for _, row := range cells {
		v := predict(row)
		if m.Task == model.Regression {
			a.numbers = append(a.numbers, v)
			continue
		}
		a.labels = append(a.labels, m.Classes()[int(v)])
		p := make([]float64, len(m.Classes()))
		m.Probabilities(p, row)
		a.numbers = append(a.numbers, p...)
	}
	return a
}

// worst compares a graph's outputs with a model's answers: the largest error in units of
// the span, and how many labels differ although the probabilities do not decide both.
func (a answers) worst(out map[string]array, label string) (worst float64, differ int) {
	numbers := out["prediction"]
	if a.labels != nil {
		numbers = out["probabilities"]
	}
	if len(numbers.v) != len(a.numbers) {
		return math.Inf(1), 0
	}
	for i, v := range numbers.v {
		d := math.Abs(v-a.numbers[i]) / a.span
		if d != d {
			d = math.Inf(1)
		}
		worst = max(worst, d)
	}
	for i, l := range a.labels {
		if out[label].texts[i] != l {
			differ++
		}
	}
	return worst, differ
}

// tableModels are models of every kind, task and encoding with random numbers.
func tableModels(t testing.TB) map[string]*model.Model {
	t.Helper()
	s := clinic()
	all := map[string]*model.Model{}
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		w := make([]float64, n)
		for i := range w {
			w[i] = 2 * rng.NormFloat64()
		}
		return w
	}
	targets := map[string]int{"sick": 1, "stage": 3, "cost": 1}
	base := func(target string, s *schema.Schema) *model.Model {
		m := &model.Model{Task: model.Classification, Schema: s, Target: target, Outputs: targets[target]}
		if target == "cost" {
			m.Task, m.Scale = model.Regression, model.TargetScale{Lower: 10, Upper: 100000}
		}
		return m
	}
	encoding := func(s *schema.Schema, target string, o encode.Options) *encode.Encoding {
		e, err := encode.New(s, target, o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	linear := func(name, target string, s *schema.Schema, o encode.Options) *model.Model {
		m := base(target, s)
		m.Kind, m.Encoding = model.Linear, encoding(s, target, o)
		m.Weights = random(m.Encoding.Dim * m.Outputs)
		all[name] = m
		return m
	}
	for target := range targets {
		for name, o := range map[string]encode.Options{
			"bins": {}, "affine": {Linear: true}, "crosses": {Bins: 8, Crosses: true}, "intercept": {InterceptOnly: true}, "bag": {Bag: true},
			"some": {Attributes: []string{"sex", "gain", "age"}, Bins: 100, Intercept: 3},
		} {
			linear("linear "+name+" "+target, target, s, o)
		}
		for name, pairs := range map[string][][2]string{"ebm": nil, "ebm pairs": {{"age", "label"}, {"gain", "weight"}, {"smoker", "band"}}, "gam pairs": {{"age", "label"}, {"gain", "age"}, {"smoker", "label"}}} {
			m := base(target, s)
			m.Kind = model.Additive
			terms, err := model.NewTerms(s, target, encoding(s, target, encode.Options{Bins: 32}), pairs, 0)
			if name == "gam pairs" {
				groups := map[string][]int{"label": {0, 1, 2, 1}, "smoker": {0, 1}, "age": make([]int, 32), "gain": make([]int, 32)}
				for l := range 32 {
					groups["age"][l], groups["gain"][l] = l/8, l/20
				}
				terms, err = model.NewGrouped(s, target, encoding(s, target, encode.Options{Bins: 32}), pairs, groups)
			}
			if err != nil {
				t.Fatal(err)
			}
			var tables, counts [][]float64
			for _, term := range terms.List() {
				tables, counts = append(tables, random(term.Levels*m.Outputs)), append(counts, random(term.Levels))
			}
			m.SetTables(terms, m.Outputs, tables, counts)
			all[name+" "+target] = m
		}
		m := base(target, s)
		m.Kind, m.Value = model.Constant, 0.3
		if target != "cost" {
			m.Value = 1
		}
		all["constant "+target] = m
	}
	for target, outputs := range targets {
		for name, o := range map[string]encode.Options{"bins": {}, "affine": {Linear: true}, "crosses": {Bins: 8, Crosses: true}, "bag": {Bag: true}, "some": {Attributes: []string{"sex", "gain", "age"}, Bins: 100}} {
			m := base(target, s)
			m.Kind, m.Encoding = model.Network, encoding(s, target, o)
			m.Layers = nn.Spec{Layers: []nn.Layer{{Kind: "dense", Units: 6}, {Kind: "tanh"}, {Kind: "dense", Units: outputs}}, Loss: nn.Loss{Kind: nn.Logistic}}
			switch target {
			case "stage":
				m.Layers.Loss.Kind = nn.Softmax
			case "cost":
				m.Layers.Loss.Kind = nn.Squared
			}
			var err error
			if m.Net, err = nn.Compile(m.Layers, nn.Vector(m.Encoding.Inputs()), outputs); err != nil {
				t.Fatal(err)
			}
			m.Parameters32 = m.Net.Init(rand.New(rand.NewPCG(3, 4)))
			all["network "+name+" "+target] = m
		}
	}
	for _, name := range []string{"linear bins sick", "ebm sick", "network affine sick"} {
		calibrated := *all[name]
		calibrated.Calibration = &quality.Calibration{Intercept: -0.7, Slope: 0.45}
		all["calibrated "+name] = &calibrated
		decided := calibrated
		decided.Threshold = 0.3
		all["decided "+name] = &decided
		threshold := *all[name]
		threshold.Threshold = 0.8
		all["threshold "+name] = &threshold
	}
	// Drawn below where the others would be above the first, and pushed apart.
	for _, name := range []string{"linear bins stage", "ebm stage", "network affine stage"} {
		for of, c := range map[string]quality.Calibration{"calibrated ": {Intercept: -0.9, Slope: 0.3}, "pushed ": {Intercept: 0.2, Slope: 2}} {
			m := *all[name]
			m.Calibration = &c
			all[of+name] = &m
		}
	}
	bent := linear("bent scale", "cost", s, encode.Options{})
	bent.Scale.Log = true
	amount := linear("amount", "cost", s, encode.Options{})
	amount.Scale.Log, amount.Scale.Bend = true, 5
	numbers := *s
	numbers.Columns = append([]schema.Column{{Name: "scan", Type: schema.Vector, Dimension: 6, Key: "id", Missing: schema.MissingUnknown}}, s.Columns...)
	linear("vector", "sick", &numbers, encode.Options{})
	return all
}

func TestTablesAnswerAsTheModel(t *testing.T) {
	for name, m := range tableModels(t) {
		t.Run(name, func(t *testing.T) {
			f, err := ONNX(m, Facts{Version: "1.2.3"})
			if err != nil {
				t.Fatal(err)
			}
			raw, cells := rows(t, m.Schema, 300, rand.New(rand.NewPCG(5, 6)))
			out := parse(t, f.Bytes).run(t, feed(m.Schema, f.Inputs, raw, cells))
			label := "label"
			if _, ok := out[label]; !ok {
				label = "label_" // a column of the schema is called label
			}
			worst, differ := answersOf(m, cells).worst(out, label)
			if !(worst <= 1e-5) || differ > 0 {
				t.Errorf("worst error %g, %d labels differ", worst, differ)
			}
		})
	}
}

func TestInputsAreTheColumnsInUse(t *testing.T) {
	m := tableModels(t)["linear some sick"]
	f, err := ONNX(m, Facts{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range f.Inputs {
		got = append(got, fmt.Sprintf("%s %s %s", p.Name, p.Type, p.Shape))
	}
	want := []string{"sex string [N, 1]", "gain float [N, 1]", "age float [N, 1]"}
	if !slices.Equal(got, want) {
		t.Errorf("inputs are %q, want %q", got, want)
	}
}

// Cells that pawl predict flags are to ONNX what they are to it: a category that nobody declared is unknown,
// and a number beyond its bounds is clipped, whatever the calibration and threshold.
func TestFlaggedCellsAnswerAsTheModel(t *testing.T) {
	all := tableModels(t)
	for _, name := range []string{"linear bins sick", "decided ebm sick", "calibrated linear bins stage", "pushed ebm stage", "linear bins cost"} {
		m := all[name]
		s := *m.Schema
		flagged := map[schema.Odd]int{}
		s.Lenient, s.Told = true, func(_ string, why schema.Odd) { flagged[why]++ }
		rng := rand.New(rand.NewPCG(7, 8))
		raw, cells := rows(t, m.Schema, 200, rng)
		for r := range raw {
			for i := range s.Columns {
				c := &s.Columns[i]
				if rng.IntN(3) > 0 || c.Date != nil || c.Missing != schema.MissingUnknown {
					continue
				}
				switch {
				case c.Type == schema.Categorical && c.Other == "":
					raw[r][i] = "nobody's"
				case c.Type == schema.Numeric || c.Type == schema.Integer:
					raw[r][i] = []string{"-1000000", "9000000"}[rng.IntN(2)]
				}
				v, err := s.Parse(i, raw[r][i])
				if err != nil {
					t.Fatal(err)
				}
				cells[r][i] = v
			}
		}
		if flagged[schema.Unseen] == 0 || flagged[schema.Clipped] == 0 {
			t.Fatalf("%s: flagged are %v", name, flagged)
		}
		f, err := ONNX(m, Facts{})
		if err != nil {
			t.Fatal(err)
		}
		out := parse(t, f.Bytes).run(t, feed(m.Schema, f.Inputs, raw, cells))
		label := "label"
		if _, ok := out[label]; !ok {
			label = "label_"
		}
		if worst, differ := answersOf(m, cells).worst(out, label); !(worst <= 1e-5) || differ > 0 {
			t.Errorf("%s: worst error %g, %d labels differ", name, worst, differ)
		}
	}
}
