package table_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/model"
	"pawl/search/space"
	"pawl/search/space/table"
)

const columns = `
version: 1
unit: row
rows: about 30000
columns:
  - {name: age, type: integer, lower: 0, upper: 120}
  - {name: sex, type: categorical, categories: [f, m]}
  - {name: work, type: categorical, categories: [a, b, c]}
  - {name: hours, type: integer, lower: 0, upper: 168}
  - {name: income, type: categorical, categories: [low, high]}
`

func facts(t *testing.T, target string) advise.Facts {
	t.Helper()
	s, err := schema.Decode("columns.yaml", []byte(columns))
	if err != nil {
		t.Fatal(err)
	}
	f := advise.Facts{Schema: s, Target: target, Task: model.Classification, Rows: 30000, NoiseMultiplier: 4, Epsilon: 1, Delta: 1e-6}
	if target == "hours" {
		f.Task = model.Regression
	}
	return f
}

func tabular(t *testing.T) *space.Space {
	t.Helper()
	s, ok := space.Lookup("tabular")
	if !ok {
		t.Fatal("no space tabular")
	}
	return s
}

// What remains for a target: 36 linear models, one EBM and naive Bayes, 12 outputs, 4
// objectives, one AdaSSP, for two sets of features.
func TestForFacts(t *testing.T) {
	pure, few := facts(t, "income"), facts(t, "income")
	pure.Delta, pure.NoiseMultiplier = 0, 0
	few.Attributes = []string{"age", "sex"}
	for _, c := range []struct {
		name, size string
		facts      advise.Facts
	}{
		{"classes", "100", facts(t, "income")},
		{"a number", "76", facts(t, "hours")},
		{"pure epsilon", "8", pure},
		{"nothing one-hot", "50", few},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := table.For(tabular(t), c.facts)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Size().String(); got != c.size {
				t.Errorf("got %s points, want %s", got, c.size)
			}
			all, err := s.All()
			if err != nil {
				t.Fatal(err)
			}
			for p := range all {
				if _, err := table.Recipe(p, c.facts); err != nil {
					t.Fatalf("%v: %v", p, err)
				}
			}
		})
	}
}

func TestRecipe(t *testing.T) {
	f := facts(t, "income")
	rule, err := advise.Choose(f)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) table.Choice {
		t.Helper()
		p, err := tabular(t).Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := table.Recipe(p, f)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := parse("features=all learner=linear encoding=thermometer bins=64 clipping_factor=1 movement_factor=1")
	if c.Recipe.Learner != advise.Descent || c.Recipe.ClippingNorm != rule.ClippingNorm || c.Recipe.LearningRate != rule.LearningRate || c.Recipe.Encoding.Bins != 64 || c.Recipe.Encoding.Linear || c.RegularizationFactor != 1 {
		t.Errorf("got %+v", c)
	}
	c = parse("features=without-one-hot learner=linear encoding=linear clipping_factor=0.5 movement_factor=4")
	want := rule.Scaled(0.5, 4)
	if c.Recipe.ClippingNorm != want.ClippingNorm || c.Recipe.Steps != want.Steps || c.Recipe.LearningRate != want.LearningRate || !c.Recipe.Encoding.Linear || !slices.Equal(c.Recipe.Encoding.Attributes, []string{"age", "sex", "hours"}) {
		t.Errorf("got %+v, want %+v", c.Recipe, want)
	}
	c = parse("features=all learner=output-perturbation encoding=linear regularization_factor=10")
	if c.Recipe.Learner != "output-perturbation" || c.RegularizationFactor != 10 {
		t.Errorf("got %+v", c)
	}
}

func TestSubsetOfColumns(t *testing.T) {
	s, err := space.Decode("columns.yaml", []byte("version: 1\ndimensions: {features: {subset: [age, work, hours], size: [1, 2]}}"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Draw(rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := table.Recipe(p, facts(t, "income"))
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := p.Names("features"); !slices.Equal(c.Recipe.Encoding.Attributes, names) {
		t.Errorf("%v: got %v", p, c.Recipe.Encoding.Attributes)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, point, want string }{
		{"features: some", "features=some", `features is "some"`},
		{"features: {subset: [age, weight], size: 2}", "features=[age,weight]", `the schema has no column "weight"`},
		{"learner: forest", "learner=forest", `no learner is called "forest"`},
		{"encoding: hash", "encoding=hash", `encoding is "hash"`},
		{"bins: 1", "bins=1", "bins must be a whole number"},
		{"clipping_factor: 0", "clipping_factor=0", "clipping_factor must be a number above 0"},
	} {
		s, err := space.Decode("bad.yaml", []byte("version: 1\ndimensions: {"+c.text+"}"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Parse(c.point)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Recipe(p, facts(t, "income")); !errors.Is(err, table.ErrPoint) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	fcn, _ := space.Lookup("fcn")
	if _, err := table.For(fcn, facts(t, "income")); err == nil || !strings.Contains(err.Error(), "nothing reads dimension layers") {
		t.Errorf("got %v", err)
	}
	only, err := space.Decode("only.yaml", []byte("version: 1\ndimensions: {learner: [adassp]}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.For(only, facts(t, "income")); err == nil || !strings.Contains(err.Error(), "adassp fits a regression") {
		t.Errorf("got %v", err)
	}
}
