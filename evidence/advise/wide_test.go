package advise

import (
	"fmt"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/model"
)

func wideFacts(columns ...schema.Column) Facts {
	f := facts(5000, 5)
	f.Schema.Columns = append(f.Schema.Columns, columns...)
	return f
}

func flags(n int) (columns []schema.Column) {
	for i := range n {
		columns = append(columns, schema.Column{Name: fmt.Sprint("flag", i), Type: schema.Boolean})
	}
	return columns
}

func TestBagFromAHundredColumns(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns []schema.Column
		target  string
		bag     bool
	}{
		{"few", flags(98), "y", false},
		{"many", flags(100), "y", true},
		{"many, three classes", flags(100), "g", true},
		{"many, a number", flags(100), "amount", true},
		{"many counts", func() []schema.Column {
			all := flags(120)
			for i := range all {
				all[i].Type, all[i].HeavyTailed, all[i].Upper = schema.Integer, true, 9
			}
			return all
		}(), "y", true},
		{"many numbers", func() []schema.Column {
			all := flags(120)
			for i := range all {
				all[i].Type, all[i].Upper = schema.Numeric, 9
			}
			return all
		}(), "y", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := wideFacts(c.columns...)
			if f.Target = c.target; f.Target == "amount" {
				f.Task = model.Regression
			}
			got, err := Choose(f)
			if err != nil {
				t.Fatal(err)
			}
			if got.Encoding.Bag != c.bag {
				t.Errorf("bag %v, want %v", got.Encoding.Bag, c.bag)
			}
			said := false
			for _, r := range got.Rules {
				said = said || strings.Contains(r.Rule, "as one bag")
			}
			if said != c.bag {
				t.Errorf("the rule is told: %v, want %v", said, c.bag)
			}
		})
	}
}

func TestTextsAndVectorsGoWithTheLinearModel(t *testing.T) {
	for _, c := range []schema.Column{{Name: "note", Type: schema.Text, Buckets: 64}, {Name: "v", Type: schema.Vector, Dimension: 8, Key: "g"}} {
		f := wideFacts(c)
		if got, err := Choose(f); err != nil || got.Learner != Descent || got.Encoding.Intercept != 0.5 {
			t.Errorf("%s: %s, intercept %v, %v", c.Type, got.Learner, got.Encoding.Intercept, err)
		}
		for _, l := range []Learner{"ebm", "naive-bayes", "output-perturbation", "amp", "adassp"} {
			f.Learner = l
			if _, err := Choose(f); err == nil || !strings.Contains(err.Error(), c.Name) {
				t.Errorf("%s with a %s: %v", l, c.Type, err)
			}
		}
		f.Learner, f.Delta = "", 0
		if _, err := Choose(f); err == nil {
			t.Errorf("%s at delta 0 was accepted", c.Type)
		}
		f.Learner = Majority
		if _, err := Choose(f); err != nil {
			t.Errorf("majority beside a %s: %v", c.Type, err)
		}
		// A list without it needs no refusal.
		f.Learner, f.Delta, f.Attributes = "ebm", 1e-6, []string{"x"}
		if _, err := Choose(f); err != nil {
			t.Errorf("EBM on other columns: %v", err)
		}
	}
}
