package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"slices"
)

// preflightRows of a schema of up to 5,000 columns are enough for every block and class to occur; of wider
// ones there are fewer, down to 8, so that the answer comes in seconds.
func preflightRows(columns int) int { return min(max(1_000_000/max(columns, 1), 8), 200) }

// preflight trains two steps without noise on synthetic rows of the same schema, and
// predicts with the result.
func (f *fit) preflight(ctx context.Context) error {
	p := f.problem
	if f.Recipe.Learner != advise.Descent || p.Rows == 0 {
		return nil
	}
	declared := *p.Schema
	declared.Public = true // the synthetic rows are
	b := intake.NewBuilder(intake.SimulationKey("synthetic", 0), &declared)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, preflightRows(len(declared.Columns)))
	for i := range rows {
		rows[i] = syntheticRow(&declared, rng)
		if err := b.Add(rows[i], schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			return err
		}
	}
	l, err := f.models.learner(f.Recipe, float64(len(rows))/f.trainScope.Fraction())
	if err != nil {
		return err
	}
	d := l.(*learn.Descent)
	d.Task.Scope, d.Steps, d.Task.Schema = dp.WholeScope, 2, &declared
	m, err := d.FitPublic(ctx, b.Seal())
	if err != nil {
		return fmt.Errorf("preflight on synthetic rows: %w", err)
	}
	predict := m.Predictor()
	for _, cells := range rows {
		v := predict(cells)
		if math.IsNaN(v) || m.Task == model.Classification && int(v) >= len(m.Classes()) {
			return fmt.Errorf("preflight on synthetic rows: the model cannot predict every row of the schema")
		}
	}
	return nil
}

// syntheticRow draws every cell uniformly from what the schema declares.
func syntheticRow(s *schema.Schema, rng *rand.Rand) []float64 {
	cells := make([]float64, len(s.Columns))
	for i := range s.Columns {
		c := &s.Columns[i]
		switch c.Type {
		case schema.Ignore:
			cells[i] = math.NaN()
		case schema.Numeric:
			cells[i] = c.Lower + rng.Float64()*(c.Upper-c.Lower)
		case schema.Integer:
			cells[i] = c.Lower + math.Floor(rng.Float64()*(c.Upper-c.Lower+1))
		case schema.Text, schema.Vector:
			cells[i] = float64(len(cells))
			cells = append(cells, syntheticWide(c, rng)...)
			continue
		default:
			cells[i] = float64(rng.IntN(len(c.Levels())))
		}
		if c.Missing == schema.MissingUnknown && rng.IntN(10) == 0 {
			cells[i] = math.NaN()
		}
	}
	return cells
}

// syntheticWide is a text of one token, or a vector.
func syntheticWide(c *schema.Column, rng *rand.Rand) []float64 {
	if c.Type == schema.Text {
		return []float64{1, float64(rng.IntN(c.Buckets)), 1}
	}
	v := make([]float64, c.Dimension)
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	return v
}

// preflight sends a few synthetic images forward and backward: traces must come and
// scores be finite numbers.
func (n *training) preflight() error {
	rng := rand.New(rand.NewPCG(1, 2))
	params := n.initial
	const examples = 4
	inputs, targets, seeds := make([]float32, examples*n.whole.Inputs()), make([]float32, examples), make([]uint64, examples)
	for i := range inputs {
		inputs[i] = rng.Float32()
	}
	if n.prefixed() {
		inputs = slices.Clone(n.whole.ForwardPrefix(0, inputs))
	}
	traces := 0
	n.net.Backprop(0, params, inputs, targets, seeds, func(gradient.Trace) { traces++ })
	for _, s := range n.net.Predict(0, params, inputs) {
		if s-s != 0 {
			return fmt.Errorf("preflight on synthetic images: %s gives scores that are not finite numbers", n.Name)
		}
	}
	if traces == 0 {
		return fmt.Errorf("preflight on synthetic images: %s hands out no gradient", n.Name)
	}
	return nil
}
