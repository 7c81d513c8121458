package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// difference is the mean difference of paired scores with half of its 95 % interval, Student's t.
func difference(a, b []float64) (mean, half float64) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	mean, sd := stat.MeanStdDev(d, nil)
	n := float64(len(d))
	return mean, sd / math.Sqrt(n) * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
}

// set says that a cell's target set the rule.
func (r rule) set(c cell) bool {
	return slices.ContainsFunc(r.cases, func(p problem) bool { return p.set && p.data == c.data && p.target == c.target })
}

// page is a table for every rule, with a line that counts the cells that judge it.
func page(cells []cell) string {
	var b strings.Builder
	for _, r := range rules {
		var mine []cell
		for _, c := range cells {
			if c.rule == r.name {
				mine = append(mine, c)
			}
		}
		if len(mine) == 0 {
			continue
		}
		fmt.Fprintf(&b, "**%s**, against: %s.\n\n| data | rows | ε | r | by the rule | passed over | difference |\n|---|---|---|---|---|---|---|\n", r.title, r.other)
		better, worse := 0, 0
		var all []float64
		for i := 0; i < len(mine); {
			j := i
			var at [5][]string
			set := r.set(mine[i])
			for ; j < len(mine) && mine[j].data == mine[i].data && mine[j].target == mine[i].target && mine[j].rows == mine[i].rows; j++ {
				c := mine[j]
				d, half := difference(c.mine, c.theirs)
				if !set {
					all = append(all, d)
					if d > half {
						better++
					} else if d < -half {
						worse++
					}
				}
				for k, s := range []string{c.epsilon, fmt.Sprintf("%.0f", c.ratio), minus(fmt.Sprintf("%.1f", stat.Mean(c.mine, nil))), minus(fmt.Sprintf("%.1f", stat.Mean(c.theirs, nil))), signed(d) + fmt.Sprintf(" ± %.1f", half)} {
					at[k] = append(at[k], s)
				}
			}
			mark := ""
			if set {
				mark = " (set the rule)"
			}
			fmt.Fprintf(&b, "| %s, %s%s | %d |", mine[i].data, mine[i].target, mark, mine[i].rows)
			for _, parts := range at {
				b.WriteString(" " + strings.Join(parts, " / ") + " |")
			}
			b.WriteString("\n")
			i = j
		}
		slices.Sort(all)
		fmt.Fprintf(&b, "\nBetter in %d of %d cells that judge it, worse in %d, within the interval in %d; median %s points, least %s.\n\n", better, len(all), worse, len(all)-better-worse,
			signed((all[(len(all)-1)/2]+all[len(all)/2])/2), signed(all[0]))
	}
	return b.String()
}

func signed(x float64) string { return minus(fmt.Sprintf("%+.1f", x)) }

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
