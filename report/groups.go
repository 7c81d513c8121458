package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tooFew is what is said of a group whose number of rows, as it is known, is too small.
const tooFew = "too few rows to say"

// groupRow is one group of the table, with its interval on a scale that all share.
type groupRow struct {
	Name, Value, Interval, Rows, Exact string
	X, X1, X2                          float64
	HasPoint, HasInterval              bool
}

type groupTable struct {
	Attribute, Metric, How, Cost string
	Rows                         []groupRow
	Ticks                        []tick
	All                          float64 // where the score of all rows stands
	AllText                      string  // "" where it is not known
	HasExact, Few                bool
}

const (
	groupLeft  = 6.0
	groupRight = 194.0
)

// byGroup places the scores of groups; nil where none were asked for.
func byGroup(s *Statement) *groupTable {
	if s.Score == nil || s.Score.ByGroup == nil {
		return nil
	}
	b := s.Score.ByGroup
	t := &groupTable{Attribute: or(b.Attribute, "the attribute"), Metric: metricWords(s), How: or(b.How, "not stated"), Cost: groupCost(s)}
	low, high := math.Inf(1), math.Inf(-1)
	widen := func(numbers ...Number) bool {
		for _, n := range numbers {
			if x := float64(n); x-x != 0 {
				return false
			}
		}
		for _, n := range numbers {
			low, high = math.Min(low, float64(n)), math.Max(high, float64(n))
		}
		return true
	}
	for _, g := range b.Groups {
		r := groupRow{Name: or(g.Group, "—"), Rows: groupRows(s, g)}
		if g.Test != nil && b.Epsilon > 0 { // else the value is exact itself
			r.Exact, t.HasExact = scoreText(s, *g.Test), true
		}
		if g.TooFew {
			r.Value, t.Few = tooFew, true
		} else {
			r.Value, r.Interval = scoreText(s, g.Value), strings.TrimPrefix(intervalText(s, g.Interval), "95% interval ")
			r.HasPoint = widen(g.Value)
			r.HasInterval = g.Interval != nil && widen(g.Interval[0], g.Interval[1])
		}
		t.Rows = append(t.Rows, r)
	}
	if widen(s.Score.Value) {
		t.AllText = scoreText(s, s.Score.Value)
	}
	if low > high {
		return t
	}
	low, high, step := scoreAxis(s, low, high)
	at := func(n Number) float64 { return groupLeft + (float64(n)-low)/(high-low)*(groupRight-groupLeft) }
	for _, x := range []float64{low, high} {
		t.Ticks = append(t.Ticks, tick{X: at(Number(x)), Label: axisText(s, x, step)})
	}
	t.All = at(s.Score.Value)
	for i, g := range b.Groups {
		r := &t.Rows[i]
		if r.HasPoint {
			r.X = at(g.Value)
		}
		if r.HasInterval {
			r.X1, r.X2 = at(g.Interval[0]), at(g.Interval[1])
		}
	}
	return t
}

// axisText is a mark of an axis of scores.
func axisText(s *Statement, x, step float64) string {
	if s.Score.Metric == "accuracy" {
		return strconv.FormatFloat(math.Round(100*x*1e6)/1e6, 'f', -1, 64) + "%"
	}
	return rounded(x, step)
}

// groupRows is the number of rows of a group: noisy unless the rows are public.
func groupRows(s *Statement, g GroupScore) string {
	n := float64(g.Rows)
	if n-n != 0 {
		return suppressed
	}
	text := group(strconv.FormatFloat(math.Max(math.Round(n), 0), 'f', 0, 64))
	if s.Score.ByGroup.Epsilon > 0 {
		return "about " + text
	}
	return text
}

// groupCost says what the groups cost.
func groupCost(s *Statement) string {
	if b := s.Score.ByGroup; b.Epsilon > 0 {
		return "ε " + up2(b.Epsilon) + " alone, for all groups together: each row is in exactly one"
	}
	return "none, the scored rows are public"
}

// groupLines are the groups for a terminal.
func groupLines(s *Statement) []string {
	b := s.Score.ByGroup
	name := func(g GroupScore) string { return short(or(g.Group, "—"), 24) }
	width := 0
	for _, g := range b.Groups {
		width = max(width, len([]rune(name(g))))
	}
	var out []string
	for _, g := range b.Groups {
		line := fmt.Sprintf("%-*s  ", width, name(g))
		if g.TooFew {
			out = append(out, line+tooFew)
			continue
		}
		line += fmt.Sprintf("%s, %s, %s rows", scoreText(s, g.Value), intervalText(s, g.Interval), groupRows(s, g))
		if g.Test != nil && b.Epsilon > 0 {
			line += ", exact " + scoreText(s, *g.Test)
		}
		out = append(out, line)
	}
	return out
}

// exactGroups prints the groups with all digits.
func exactGroups(sc *Score) (out []row) {
	if sc.ByGroup == nil {
		return nil
	}
	for _, g := range sc.ByGroup.Groups {
		text := tooFew
		if iv := g.Interval; !g.TooFew && iv != nil {
			text = exact(g.Value) + " [" + exact(iv[0]) + ", " + exact(iv[1]) + "]"
		}
		out = append(out, row{"score of " + or(sc.ByGroup.Attribute, "group") + " = " + or(g.Group, "—"), text})
	}
	return out
}

// validGroups refuses scores by group that nobody paid for, or that say more than
// they may.
func validGroups(s *Statement) error {
	b := s.Score.ByGroup
	if b == nil {
		return nil
	}
	if !(b.Epsilon >= 0) || b.Epsilon == 0 && !publicScore(s) {
		return invalid("score.by_group costs nothing and the scored rows are not public")
	}
	for _, g := range b.Groups {
		switch {
		case g.TooFew && !math.IsNaN(float64(g.Value)):
			return invalid("score.by_group has a value for a group with too few rows")
		case g.Test != nil && !publicScore(s):
			return invalid("score.by_group is exact and the scored rows are not public")
		}
	}
	return nil
}
