package selectionstudy

import (
	"fmt"
	"math"

	"pawl/data/schema"
	"pawl/evidence/lab"
	"pawl/experiments"
)

func columnsOf(t *lab.Table) int {
	n := 0
	for i := range t.Schema.Columns {
		if c := &t.Schema.Columns[i]; c.Type != schema.Ignore && c.Name != t.Target {
			n++
		}
	}
	return n
}

// paid are the ways of choosing that look at rows.
var paid = []string{information, correlation, distance, careful, searching}

// tally counts outcomes and keeps where each way pays.
type tally struct {
	pays, loses, open, useless int
	where                      []string
}

func (t *tally) add(c *cell, method string, k int) {
	what, gain := c.against(method, k)
	switch what {
	case pays:
		t.pays++
		t.where = append(t.where, fmt.Sprintf("%s, ε = %g (r = %.3g), %s, %s %+.1f", c.problem.name, c.budget.epsilon, c.budget.ratio(c.problem.train), c.problem.learners[k], method, gain.Estimate))
	case loses:
		t.loses++
	case useless:
		t.useless++
	default:
		t.open++
	}
}

func (t *tally) text() string {
	return fmt.Sprintf("pays in %d, loses in %d, cannot tell in %d, no model either way in %d", t.pays, t.loses, t.open, t.useless)
}

func count(all []cell, methods []string, take func(c *cell, k int) bool) tally {
	var t tally
	for i := range all {
		c := &all[i]
		for _, m := range methods {
			for k := range c.scores[m] {
				if take(c, k) {
					t.add(c, m, k)
				}
			}
		}
	}
	return t
}

func claims(all []cell) []experiments.Claim {
	real := func(c *cell, _ int) bool { return !c.problem.known }
	made := func(c *cell, _ int) bool { return c.problem.known }
	var out []experiments.Claim
	add := func(statement string, holds, some bool, evidence string) {
		v := experiments.Not
		switch {
		case holds:
			v = experiments.Reproduced
		case some:
			v = experiments.SameSign
		}
		out = append(out, experiments.Claim{Statement: statement, Verdict: v, Evidence: evidence})
	}
	for _, m := range paid {
		t := count(all, []string{m}, real)
		if t.pays+t.loses+t.open+t.useless == 0 {
			continue
		}
		add(fmt.Sprintf("%s pays on tables that documentation describes (our question)", m), t.pays > 0 && t.loses == 0, t.pays > t.loses, t.text()+"; pays at: "+listed(t.where))
	}
	t := count(all, []string{documented}, real)
	if t.pays+t.loses+t.open > 0 {
		add("columns named by documentation, which cost nothing, pay (our question)", t.pays > 0 && t.loses == 0, t.pays > t.loses, t.text()+"; pays at: "+listed(t.where))
	}
	t = count(all, paid, made)
	add("choosing privately pays on generated tables where few columns matter (our question)", t.pays > 0 && t.loses == 0, t.pays > t.loses, t.text()+"; pays at: "+listed(t.where))
	inside, outside := count(all, []string{careful}, region(true)), count(all, []string{careful}, region(false))
	add(rule, inside.pays > 0 && inside.loses == 0 && outside.pays == 0, inside.pays > inside.loses && outside.pays <= outside.loses,
		fmt.Sprintf("inside: %s; outside: %s, pays at: %s", inside.text(), outside.text(), listed(outside.where)))
	return out
}

const rule = "by public facts: DFS if it holds the distance, with the linear model, pays or costs nothing where d ≥ 100 and r ≥ 100·√d, and pays nowhere else (our proposal)"

// region is the rule as a function of n, d, ε and δ alone.
func region(inside bool) func(c *cell, k int) bool {
	return func(c *cell, k int) bool {
		d := float64(c.columns)
		return c.problem.learners[k] == linear && (d >= 100 && c.budget.ratio(c.problem.train) >= 100*math.Sqrt(d)) == inside
	}
}
