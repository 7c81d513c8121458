package model

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"pawl/data/schema"
)

// Effects say what each column does to a model's answer, by the model and its schema alone.
type Effects struct {
	// Scale is what effects are in: the log-odds of a class, or the unit of the target.
	Scale string `json:"scale"`
	// Outputs name the parts of the answer: one class of two, each class of more, or the target.
	Outputs []string `json:"outputs"`
	// Columns come in order of importance.
	Columns []ColumnEffect `json:"columns"`
}

// ColumnEffect is that of one column.
type ColumnEffect struct {
	Column string `json:"column"`
	// Importance is the standard deviation of the effect over the column's values, each of them
	// counted alike; the largest over outputs.
	Importance float64       `json:"importance"`
	Values     []ValueEffect `json:"values"`
}

// ValueEffect is the answer where the column has a value, less the answer at its mean value.
type ValueEffect struct {
	Value   string    `json:"value"`
	Effects []float64 `json:"effects"` // by output
}

const (
	// effectRows is the number of rows that stand for all others.
	effectRows = 256
	// gridPoints is the number of values of a numeric column at which its effect is computed.
	gridPoints = 9
	// wholeNumbers is the largest number of whole numbers that are each a value.
	wholeNumbers = 16
)

// Explain computes the effects of the columns: the partial dependence (Friedman, Annals of
// Statistics 29, 2001) over rows drawn from the schema, which is public. Levels are drawn with
// equal chances and numbers evenly between their bounds, evenly in log(1+x) where they are declared
// heavy-tailed: real rows would cost privacy, and lie elsewhere. For an additive model other columns
// cancel, and the effect is exact. The rows are the same in every call.
//
// Errors: a constant, a model of images or texts, and one that uses vectors or texts beside a table.
func (m *Model) Explain() (*Effects, error) {
	used, err := m.explained()
	if err != nil {
		return nil, err
	}
	e := &Effects{}
	answer := m.answers(e)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, effectRows)
	for r := range rows {
		rows[r] = make([]float64, len(m.Schema.Columns))
		for i := range rows[r] {
			rows[r][i] = math.NaN()
		}
		for _, i := range used {
			c := &m.Schema.Columns[i]
			if n := len(c.Levels()); n > 0 {
				rows[r][i] = float64(rng.IntN(n))
			} else {
				rows[r][i] = between(c, rng.Float64())
			}
		}
	}
	for _, i := range used {
		e.Columns = append(e.Columns, m.effect(i, rows, len(e.Outputs), answer))
	}
	slices.SortStableFunc(e.Columns, func(a, b ColumnEffect) int { return -cmp.Compare(a.Importance, b.Importance) })
	return e, nil
}

// explained are the columns that the model looks at.
func (m *Model) explained() (used []int, err error) {
	if m.Kind == Constant || m.Encoding == nil && m.Kind != Additive {
		what := "a constant, which uses no column"
		if m.Kind != Constant {
			what = "a network of images or texts, and only models of tables are explained"
		}
		return nil, fmt.Errorf("the model is %s", what)
	}
	for _, name := range m.features() {
		i := m.Schema.Column(name)
		if i < 0 || slices.Contains(used, i) {
			continue
		}
		if c := &m.Schema.Columns[i]; c.Wide() {
			return nil, fmt.Errorf("the model uses column %q of type %s, and only numbers and categories are explained", name, c.Type)
		}
		used = append(used, i)
	}
	if len(used) == 0 {
		return nil, fmt.Errorf("the model uses no column")
	}
	return used, nil
}

// features are the names of the columns that the model looks at.
func (m *Model) features() (names []string) {
	if m.Kind != Additive {
		return m.Encoding.Features()
	}
	for _, s := range m.Shapes() {
		names = append(names, s.Attribute)
		if s.With != "" {
			names = append(names, s.With)
		}
	}
	return names
}

// answers names the outputs and returns what fills in a row's.
func (m *Model) answers(e *Effects) func(out, cells []float64) {
	if m.Task == Regression {
		predict := m.Predictor()
		e.Scale, e.Outputs = "units of "+m.Target, []string{m.Target}
		return func(out, cells []float64) { out[0] = predict(cells) }
	}
	classes := m.Classes()
	p := make([]float64, len(classes))
	logOdds := func(x float64) float64 {
		x = min(max(x, 1e-12), 1-1e-12)
		return math.Log(x / (1 - x))
	}
	e.Scale, e.Outputs = "log-odds of the class", classes
	if len(classes) == 2 {
		e.Scale, e.Outputs = "log-odds of "+classes[1], classes[1:]
	}
	first, probe := len(classes)-len(e.Outputs), m.Prober()
	return func(out, cells []float64) {
		probe(p, cells)
		for k := range out {
			out[k] = logOdds(p[first+k])
		}
	}
}

// between is the number at a place in [0, 1] between a column's bounds.
func between(c *schema.Column, place float64) float64 {
	v := c.Lower + place*(c.Upper-c.Lower)
	if c.HeavyTailed {
		v = math.Expm1(math.Log1p(c.Lower) + place*(math.Log1p(c.Upper)-math.Log1p(c.Lower)))
	}
	if c.Type == schema.Integer {
		v = math.Round(v)
	}
	return v
}

// points are the values of a column with their names.
func points(c *schema.Column) (values []float64, names []string) {
	switch levels := c.Levels(); {
	case len(levels) > 0:
		for i := range levels {
			values = append(values, float64(i))
		}
		names = slices.Clone(levels)
	case c.Type == schema.Integer && c.Upper-c.Lower < wholeNumbers:
		for v := c.Lower; v <= c.Upper; v++ {
			values = append(values, v)
		}
	default:
		for i := range gridPoints {
			if v := between(c, float64(i)/(gridPoints-1)); i == 0 || v != values[len(values)-1] {
				values = append(values, v)
			}
		}
	}
	for i := len(names); i < len(values); i++ {
		names = append(names, strconv.FormatFloat(values[i], 'g', 6, 64))
	}
	if c.Missing == schema.MissingUnknown {
		values, names = append(values, math.NaN()), append(names, "unknown")
	}
	return values, names
}

func (m *Model) effect(column int, rows [][]float64, outputs int, answer func(out, cells []float64)) ColumnEffect {
	c := &m.Schema.Columns[column]
	values, names := points(c)
	e := ColumnEffect{Column: c.Name}
	mean, out, cells := make([]float64, outputs), make([]float64, outputs), make([]float64, len(m.Schema.Columns))
	for j, v := range values {
		effects := make([]float64, outputs)
		for _, row := range rows {
			copy(cells, row)
			cells[column] = v
			answer(out, cells)
			for k := range out {
				effects[k] += out[k] / float64(len(rows))
			}
		}
		for k := range effects {
			mean[k] += effects[k] / float64(len(values))
		}
		e.Values = append(e.Values, ValueEffect{names[j], effects})
	}
	for k := range mean {
		square := 0.0
		for _, v := range e.Values {
			v.Effects[k] -= mean[k]
			square += v.Effects[k] * v.Effects[k] / float64(len(values))
		}
		e.Importance = max(e.Importance, math.Sqrt(square))
	}
	return e
}
