package menu

import (
	"fmt"
	"strings"

	"pawl/evidence/advise"
)

// Checked is how the advice did on the whole table.
type Checked struct {
	Good       int                `json:"good"`
	Of         int                `json:"of"`
	Unmeasured int                `json:"not_measured"`
	Below      int                `json:"below_baseline"`
	Cells      []advise.Judgement `json:"cells"`
}

// Check asks the rules for their advice in every cell that is judged, and the table how
// good it was. It reads no row.
func Check(table advise.Menu) (Checked, error) {
	var c Checked
	for _, p := range Problems {
		for _, epsilon := range Judged {
			advised, err := p.Advised(epsilon)
			if err != nil {
				return c, err
			}
			j := table.Judge(p.Name, epsilon, advised)
			if j.Ratio == 0 {
				j.Kind, j.Rows = p.Kind, p.Train
				if j.Ratio, err = p.Ratio(epsilon); err != nil {
					return c, err
				}
			}
			c.Of++
			switch {
			case j.Good():
				c.Good++
			case j.Outcome == advise.Unmeasured:
				c.Unmeasured++
			}
			if !j.AboveBaseline {
				c.Below++
			}
			c.Cells = append(c.Cells, j)
		}
	}
	return c, nil
}

// Summary is one line on it.
func (c Checked) Summary() string {
	var behind []string
	for _, j := range c.Cells {
		if j.Outcome == advise.Behind {
			behind = append(behind, fmt.Sprintf("%s at ε %g", j.Data, j.Epsilon))
		}
	}
	s := fmt.Sprintf("The advice is best, within a point of the best, or tied with it in %d of %d cells; below the baseline by more than half a point in %d; not measured %d.", c.Good, c.Of, c.Below, c.Unmeasured)
	if len(behind) > 0 {
		s += " Behind: " + strings.Join(behind, ", ") + "."
	}
	return s
}
