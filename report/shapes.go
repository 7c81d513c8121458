package report

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Shapes are the contributions of an additive model. All numbers in it were released
// with the model, or are public.
type Shapes struct {
	// Scale says what a contribution is added to.
	Scale string `json:"scale"`
	// Outputs name the curves: one for two classes and for a number, one for each
	// class otherwise.
	Outputs []string `json:"outputs"`
	// Attributes come in order of importance.
	Attributes []Shape `json:"attributes"`
}

// Shape is what one attribute contributes, bin by bin.
type Shape struct {
	Attribute string `json:"attribute"`
	// Importance is the mean size of the contribution over the noisy numbers of rows,
	// the largest over outputs.
	Importance Number `json:"importance"`
	// Edges bound the bins of a number, one more than there are bins; Categories name
	// the bins otherwise.
	Edges      []Number `json:"edges,omitempty"`
	Categories []string `json:"categories,omitempty"`
	// Unknown says that the last bin is of cells without a value; it has neither edge
	// nor category.
	Unknown bool `json:"unknown"`
	// Values hold one list over bins for each output; Rows the noisy numbers of training
	// rows, which may be negative.
	Values [][]Number `json:"values"`
	Rows   []Number   `json:"rows"`
}

// known is the number of bins but the unknown one.
func (s Shape) known() int { return len(s.Rows) - map[bool]int{true: 1}[s.Unknown] }

// validShapes refuses lists that do not fit together.
func validShapes(s *Shapes) error {
	if s == nil {
		return nil
	}
	for _, a := range s.Attributes {
		n := a.known()
		if len(a.Values) != len(s.Outputs) || n < 1 || len(a.Categories) != n && len(a.Edges) != n+1 || len(a.Categories) > 0 && len(a.Edges) > 0 {
			return invalid("shapes: attribute %q has lists that do not fit together", Plain(a.Attribute))
		}
		for _, list := range append([][]Number{a.Rows, a.Edges, {a.Importance}}, a.Values...) {
			for _, v := range list {
				if x := float64(v); x-x != 0 {
					return invalid("shapes: attribute %q has a number that is not finite", Plain(a.Attribute))
				}
			}
		}
		for _, v := range a.Values {
			if len(v) != len(a.Rows) {
				return invalid("shapes: attribute %q has lists that do not fit together", Plain(a.Attribute))
			}
		}
	}
	return nil
}

const (
	// mostShapes figures are drawn, of mostLines outputs and mostBars categories; the
	// statement has all of them.
	mostShapes = 24
	mostLines  = 6
	mostBars   = 40
)

// legendKey names one line of all figures.
type legendKey struct {
	Line int
	Name string
}

type shapesView struct {
	Scale, Note string
	Legend      []legendKey
	Figures     []shapeFigure
}

// shapesOf draws the shapes; nil for a model without any.
func shapesOf(s *Statement) *shapesView {
	if s.Shapes == nil || len(s.Shapes.Attributes) == 0 {
		return nil
	}
	v := &shapesView{Scale: or(s.Shapes.Scale, "the score")}
	lines := chosenLines(s.Shapes)
	if len(s.Shapes.Outputs) > 1 {
		for i, k := range lines {
			v.Legend = append(v.Legend, legendKey{i, or(s.Shapes.Outputs[k], "—")})
		}
	}
	var notes []string
	if n := len(s.Shapes.Outputs); n > len(lines) {
		notes = append(notes, fmt.Sprintf("Lines are drawn for %d of %d classes, those with the largest total effect.", len(lines), n))
	}
	attributes := s.Shapes.Attributes
	if n := len(attributes); n > mostShapes {
		notes = append(notes, fmt.Sprintf("%d of %d attributes are drawn.", mostShapes, n))
		attributes = attributes[:mostShapes]
	}
	finest := 0.0
	for _, a := range attributes {
		low, high := span(a, lines)
		finest = math.Max(finest, (high-low)/4)
	}
	to := v.Scale
	if len(v.Legend) > 0 {
		to = "the score of " + v.Legend[0].Name
	}
	for i, a := range attributes {
		f, cut := newFigure(a, lines, finest)
		f.Rank, f.Label = i+1, shapeWords(a, lines[0], to)
		v.Figures = append(v.Figures, f)
		if cut > 0 {
			notes = append(notes, fmt.Sprintf("For %s, the %d categories with the most rows (by noisy counts) of %d are drawn.", f.Name, mostBars, cut))
		}
	}
	if len(notes) > 0 {
		notes = append(notes, "The statement lists all of them.")
	}
	v.Note = strings.Join(notes, " ")
	return v
}

// chosenLines picks the outputs that are drawn, in their own order.
func chosenLines(s *Shapes) []int {
	all := make([]int, len(s.Outputs))
	moved := make([]float64, len(all))
	for k := range all {
		all[k] = k
		for _, a := range s.Attributes {
			total, sum := 0.0, 0.0
			for j, c := range a.Rows {
				w := math.Max(float64(c), 0)
				total, sum = total+w, sum+w*math.Abs(float64(a.Values[k][j]))
			}
			if total > 0 {
				moved[k] += sum / total
			}
		}
	}
	if len(all) <= mostLines {
		return all
	}
	sort.SliceStable(all, func(i, j int) bool { return moved[all[i]] > moved[all[j]] })
	all = all[:mostLines]
	sort.Ints(all)
	return all
}

// span is the range of what is drawn of a shape, 0 included.
func span(a Shape, lines []int) (low, high float64) {
	for _, k := range lines {
		for _, v := range a.Values[k] {
			low, high = math.Min(low, float64(v)), math.Max(high, float64(v))
		}
	}
	return low, high
}

// shapeWords reads a figure out.
func shapeWords(a Shape, k int, scale string) string {
	low, high := 0, 0
	for j, v := range a.Values[k] {
		if v < a.Values[k][low] {
			low = j
		}
		if v > a.Values[k][high] {
			high = j
		}
	}
	return fmt.Sprintf("%s adds to %s from %s at %s to %s at %s.", or(a.Attribute, "An attribute"), scale,
		quantity(float64(a.Values[k][low])), binName(a, low), quantity(float64(a.Values[k][high])), binName(a, high))
}

// binName names a bin in words.
func binName(a Shape, j int) string {
	switch {
	case j >= a.known():
		return "unknown"
	case len(a.Categories) > 0:
		return or(a.Categories[j], "—")
	}
	return mark(float64(a.Edges[j])) + " to " + mark(float64(a.Edges[j+1]))
}

// leading names the attributes of largest importance.
func leading(s *Shapes, most int) string {
	if s == nil {
		return ""
	}
	var names []string
	for i, a := range s.Attributes {
		if i == most {
			break
		}
		names = append(names, short(or(a.Attribute, "—"), 24))
	}
	return strings.Join(names, ", ")
}
