package learn

import (
	"context"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/model"
)

// oneAgainstRest returns one target for two classes and one for each of more: 1 for a
// row of the class, 0 for another, NaN for an unknown one.
func (t Task) oneAgainstRest() []func(cells []float64) float64 {
	column, classes := t.column(), t.Levels()
	first := 0
	if classes == 2 {
		first = 1
	}
	var out []func(cells []float64) float64
	for k := first; k < classes; k++ {
		out = append(out, func(cells []float64) float64 {
			switch y := cells[column]; {
			case y != y:
				return y
			case y == float64(k):
				return 1
			}
			return 0
		})
	}
	return out
}

// binaries puts the weights of fits one against the rest into one model.
func (t Task) binaries(enc *encode.Encoding, columns [][]float64) *model.Model {
	m := t.model(model.Linear)
	m.Encoding, m.Outputs = enc, len(columns)
	m.Weights = make([]float64, enc.Dim*len(columns))
	for k, w := range columns {
		for j, v := range w {
			m.Weights[j*len(columns)+k] = v
		}
	}
	return m
}

// together is the event of several fits.
func together[C interface{ Event() dp.Event }](fits []C) dp.Event {
	var events []dp.Event
	for _, f := range fits {
		events = append(events, f.Event())
	}
	if len(events) == 1 {
		return events[0]
	}
	return dp.Compose{Events: events}
}

// byClass fits one problem a class, one after another, each with randomness of its own.
func byClass[C any](ctx context.Context, permit *ledger.Permit, rows *intake.Rows, t Task, enc *encode.Encoding, problems []C,
	fit func(context.Context, *ledger.Permit, *intake.Rows, C) ([]float64, error)) (*model.Model, error) {
	var columns [][]float64
	for _, c := range problems {
		w, err := fit(ctx, permit, rows, c)
		if err != nil {
			return nil, err
		}
		columns = append(columns, w)
	}
	return t.binaries(enc, columns), nil
}
