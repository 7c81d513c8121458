package workflow

import (
	"strings"
	"testing"

	"pawl/data/schema"
)

// Directions of the schema are those of the plan, of its statement and of its digest, as if they
// had been asked for; what contradicts them, and jobs that would not hold them, are refused.
func TestDirectionsOfTheSchema(t *testing.T) {
	rising := func(s *schema.Schema) { s.Columns[0].Monotone = 1 }
	planned := func(mutate func(*schema.Schema), asked map[string]int) *Plan {
		in := small(1000, mutate).input("1", "1e-6", 1)
		in.Monotone = asked
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	without, asked, declared := planned(nil, nil), planned(nil, map[string]int{"x": 1}), planned(rising, nil)
	if declared.Recipe.Learner != "gam" || declared.Recipe.Learner != asked.Recipe.Learner {
		t.Errorf("learners %s and %s, asked for and declared", asked.Recipe.Learner, declared.Recipe.Learner)
	}
	if got := declared.job.describe().choice.Hyperparameters["monotone"]; got.(map[string]int)["x"] != 1 {
		t.Errorf("the statement has %v", got)
	}
	falling := planned(func(s *schema.Schema) { s.Columns[0].Monotone = -1 }, nil)
	seen := map[string]bool{}
	for _, p := range []*Plan{without, asked, declared, falling} {
		seen[p.digest(nil)] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d digests of 4 plans", len(seen))
	}
	// It is an effect on the target: the target itself has none.
	tab := small(1000, func(s *schema.Schema) { s.Columns[3].Monotone = 1 })
	in := tab.input("1", "1e-6", 1)
	in.Target = "amount"
	if plan, err := NewPlan(in); err != nil || len(plan.problem.Monotone) > 0 {
		t.Errorf("the target has a direction: %v, %v", plan, err)
	}

	for name, want := range map[string]string{"contradiction": "contradict each other about column \"x\"", "linear": "does not hold effects to a direction",
		"three classes": "effects are monotone for two classes or a number", "private rows": "does not hold effects to a direction"} {
		in := small(1000, func(s *schema.Schema) {
			if rising(s); name == "private rows" {
				s.Rows = schema.RowCount{Kind: schema.RowsPrivate}
			}
		}).input("1", "1e-6", 1)
		switch name {
		case "contradiction":
			in.Monotone = map[string]int{"x": -1}
		case "linear":
			in.Model = "linear"
		case "three classes":
			in.Target = "g"
		case "private rows":
			in.Rows = 0
		}
		if _, err := NewPlan(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := unheld(small(10, rising).schema, "y", "a network"); err == nil || !strings.Contains(err.Error(), `declares column "x" monotone`) {
		t.Errorf("a network: %v", err)
	}
	for _, target := range []string{"x", "y"} {
		if err := unheld(small(10, nil).schema, target, "a network"); err != nil {
			t.Error(err)
		}
	}
}
