package workflow

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/data/schema"
	"pawl/model"
	"pawl/report"
)

// shapes are the contributions of an additive model for the report, nil for any other
// model. They follow from its released weights and counts and from the schema.
func (out *Outcome) shapes() *report.Shapes {
	m := out.Model
	if m == nil || m.Kind != model.Additive {
		return nil
	}
	s := &report.Shapes{Outputs: []string{""}, Attributes: []report.Shape{}}
	unit := 1.0
	switch {
	case m.Task == model.Regression && m.Scale.Log:
		s.Scale, s.Outputs[0] = fmt.Sprintf("the position of %s on the model's logarithmic scale from −1 to 1", m.Target), m.Target
	case m.Task == model.Regression:
		unit = (m.Scale.Upper - m.Scale.Lower) / 2
		s.Scale, s.Outputs[0] = "the prediction, in units of "+m.Target, m.Target
	case m.Outputs == 1:
		s.Outputs[0] = m.Classes()[1]
		s.Scale = "the score (log-odds) of " + s.Outputs[0]
	default:
		s.Scale, s.Outputs = "the score of a class", m.Classes()
	}
	for _, shape := range m.Shapes() {
		if shape.With == "" { // a table of pairs has no curve
			s.Attributes = append(s.Attributes, out.shape(shape, unit))
		}
	}
	slices.SortStableFunc(s.Attributes, func(a, b report.Shape) int { return -cmp.Compare(a.Importance, b.Importance) })
	return s
}

func (out *Outcome) shape(s model.Shape, unit float64) report.Shape {
	c := &out.Model.Schema.Columns[out.Model.Schema.Column(s.Attribute)]
	known := len(s.Labels) - 1
	// Where the schema knows no unknown cells, the bin of unknown ones holds noise only.
	r := report.Shape{Attribute: s.Attribute, Importance: digits6(s.Importance * unit), Unknown: c.Missing == schema.MissingUnknown,
		Values: make([][]report.Number, out.Model.Outputs)}
	bins := known
	if r.Unknown {
		bins++
	}
	for _, e := range s.Edges {
		r.Edges = append(r.Edges, digits6(e))
	}
	if s.Edges == nil {
		r.Categories = s.Labels[:known]
	}
	for j := range bins {
		r.Rows = append(r.Rows, report.Number(math.Round(s.Counts[j])))
		for k := range r.Values {
			r.Values[k] = append(r.Values[k], digits6(s.Values[j][k]*unit))
		}
	}
	return r
}

// digits6 keeps six significant digits: the model's own files hold all of them.
func digits6(x float64) report.Number {
	if x == 0 || x-x != 0 {
		return report.Number(x)
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return 0
	}
	return report.Number(math.Round(x*scale) / scale)
}
