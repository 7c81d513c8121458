package model

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/data/encode"
	"pawl/data/schema"
)

func additive(t testing.TB, target string, outputs, bins int) *Model {
	t.Helper()
	s := testSchema()
	e, err := encode.New(s, target, encode.Options{Bins: bins})
	if err != nil {
		t.Fatal(err)
	}
	terms, err := NewTerms(s, target, e, [][2]string{{"age", "colour"}}, 0)
	if target == "colour" {
		terms, err = NewTerms(s, target, e, [][2]string{{"age", "y"}, {"cost", "y"}}, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Task: Classification, Kind: Additive, Schema: s, Target: target}
	if target == "cost" {
		m.Task, m.Scale = Regression, TargetScale{Lower: 10, Upper: 1000}
	}
	var tables, counts [][]float64
	for i, term := range terms.List() {
		table, count := make([]float64, term.Levels*outputs), make([]float64, term.Levels)
		for j := range table {
			table[j] = math.Sin(float64(7*i + 3*j))
		}
		for j := range count {
			count[j] = float64(j*j%11) - 1
		}
		tables, counts = append(tables, table), append(counts, count)
	}
	m.SetTables(terms, outputs, tables, counts)
	return m
}

var additiveRows = [][]float64{{30, 0, 1, 50}, {math.NaN(), 3, 0, 900}, {120, 2, math.NaN(), 10}, {0, math.NaN(), 1, math.NaN()}}

func TestSaveAndLoadAdditive(t *testing.T) {
	for name, m := range map[string]*Model{
		"binary": additive(t, "y", 1, 16), "classes": additive(t, "colour", 4, 256), "regression": additive(t, "cost", 1, 5),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := m.Save(dir, []byte(`{"epsilon":1}`), map[string]string{"epsilon": "1"}); err != nil {
				t.Fatal(err)
			}
			got, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(m.Shapes(), got.Shapes()); d != "" {
				t.Error(d)
			}
			if m.Parameters() != got.Parameters() || m.Parameters() != len(m.Counts)*m.Outputs+m.Outputs {
				t.Errorf("%d parameters, %d after loading", m.Parameters(), got.Parameters())
			}
			for _, r := range additiveRows {
				if a, b := m.Predictor()(r), got.Predictor()(r); a != b {
					t.Errorf("row %v: predicts %v, after loading %v", r, a, b)
				}
			}
			if m.Task == Classification {
				p := make([]float64, len(m.Classes()))
				for _, r := range additiveRows {
					m.Probabilities(p, r)
					sum, best := 0.0, 0
					for k, v := range p {
						sum += v
						if v > p[best] {
							best = k
						}
					}
					if math.Abs(sum-1) > 1e-12 || float64(best) != m.Predictor()(r) {
						t.Errorf("row %v: probabilities %v, prediction %v", r, p, m.Predictor()(r))
					}
				}
			}
		})
	}
}

// Moving the mean of a shape into the intercept changes no score: it is the sum of
// the tables as they were released.
func TestAdditiveScoresAreSumsOfTables(t *testing.T) {
	m := additive(t, "y", 1, 16)
	for _, r := range additiveRows {
		want := 0.0
		for i, term := range m.Terms.List() {
			want += math.Sin(float64(7*i + 3*term.Level(r)))
		}
		score := []float64{math.NaN()}
		m.Scores(score, r, nil)
		if math.Abs(score[0]-want) > 1e-12 {
			t.Errorf("row %v scores %g, tables add up to %g", r, score[0], want)
		}
	}
	for _, s := range m.Shapes() {
		sum := 0.0
		for l, v := range s.Values {
			sum += max(s.Counts[l], 0) * v[0]
		}
		if math.Abs(sum) > 1e-9 {
			t.Errorf("shape of %s has mean %g", s.Attribute, sum)
		}
	}
}

// The edges that a shape states are those of the encoding: a value inside of a bin
// has its level, and the level changes at the edge.
func TestEdgesAreThoseOfTheEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lower := float64(rapid.IntRange(0, 50).Draw(t, "lower"))
		c := schema.Column{Name: "v", Lower: lower, Upper: lower + float64(rapid.IntRange(1, 500).Draw(t, "span"))}
		c.Type = rapid.SampledFrom([]schema.Type{schema.Numeric, schema.Integer}).Draw(t, "type")
		c.HeavyTailed = rapid.Bool().Draw(t, "heavy tailed")
		s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{c, {Name: "y", Type: schema.Boolean}}}
		e, err := encode.New(s, "y", encode.Options{Bins: rapid.IntRange(2, 300).Draw(t, "bins")})
		if err != nil {
			t.Fatal(err)
		}
		terms, err := NewTerms(s, "y", e, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		term := terms.List()[0]
		m := &Model{Task: Classification, Kind: Additive, Schema: s, Target: "y"}
		m.SetTables(terms, 1, [][]float64{make([]float64, term.Levels)}, [][]float64{make([]float64, term.Levels)})
		shape := m.Shapes()[0]
		if len(shape.Edges) != term.Ordered+1 || len(shape.Labels) != term.Levels || shape.Labels[term.Levels-1] != "unknown" {
			t.Fatalf("%d edges and %d labels for %d levels", len(shape.Edges), len(shape.Labels), term.Levels)
		}
		for j := range term.Ordered {
			width := shape.Edges[j+1] - shape.Edges[j]
			for _, at := range []float64{0.001, 0.5, 0.999} {
				if got := term.Level([]float64{shape.Edges[j] + at*width, 0}); got != j {
					t.Fatalf("%+v: %g of bin %d has level %d", c, at, j, got)
				}
			}
		}
		if got := term.Level([]float64{math.NaN(), 0}); got != term.Levels-1 {
			t.Fatalf("an unknown value has level %d", got)
		}
	})
}

func TestShapesOfInteractions(t *testing.T) {
	m := additive(t, "colour", 4, 16)
	shapes := m.Shapes()
	if len(shapes) != 5 {
		t.Fatalf("%d shapes", len(shapes))
	}
	pair := shapes[3]
	if pair.Attribute != "age" || pair.With != "y" || len(pair.Labels) != 4*3 || len(pair.Values) != 12 || len(pair.Values[0]) != 4 {
		t.Errorf("interaction %+v", pair)
	}
	if pair.Labels[0] != "0 to 40, <=50K" || pair.Labels[11] != "unknown, unknown" {
		t.Errorf("labels %q", pair.Labels)
	}
	term := m.Terms.List()[3]
	if got := term.Level([]float64{50, 0, 1, 0}); pair.Labels[got] != "40 to 80, >50K" {
		t.Errorf("age 50, >50K is %q", pair.Labels[got])
	}
	if linear(t, "y", 1).Shapes() != nil {
		t.Error("a linear model has shapes")
	}
}

func TestNewTermsRefuses(t *testing.T) {
	s := testSchema()
	for _, tt := range []struct {
		name  string
		o     encode.Options
		pairs [][2]string
		want  string
	}{
		{"linear", encode.Options{Linear: true}, nil, "bins"},
		{"crosses", encode.Options{Crosses: true}, nil, "bins"},
		{"no attributes", encode.Options{InterceptOnly: true}, nil, "bins"},
		{"with itself", encode.Options{}, [][2]string{{"age", "age"}}, "itself"},
		{"unknown column", encode.Options{}, [][2]string{{"age", "nope"}}, "nope"},
		{"the target", encode.Options{}, [][2]string{{"age", "y"}}, "target"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := encode.New(s, "y", tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := NewTerms(s, "y", e, tt.pairs, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLoadRefusesDamagedAdditive(t *testing.T) {
	for _, tt := range []struct {
		name, file, want string
		damage           func([]byte) []byte
	}{
		{"other bins", specFile, "shape", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"bins": 16`, `"bins": 8`, 1)) }},
		{"a weight is NaN", weightsFile, "finite", func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[len(b)-8:], math.Float64bits(math.NaN()))
			return b
		}},
		{"cut short", weightsFile, "cut short", func(b []byte) []byte { return b[:len(b)-8] }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := additive(t, "y", 1, 16).Save(dir, nil, nil); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, tt.file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.damage(slices.Clone(b)), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
