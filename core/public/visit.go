// Package public shows the rows of public data sets, exactly and as replays of published methods
// see them. It can open no others, since it takes no permit.
package public

import (
	"pawl/core/dp"
	"pawl/core/internal/sealed"
)

// Visit visits the rows of a scope of a public data set. It returns an error for any other, since
// only benchmarks have exact numbers.
func Visit(rows *sealed.Rows, scope dp.Scope, visit func(cells []float64)) error {
	view, err := sealed.OpenPublic(rows, scope)
	if err != nil {
		return err
	}
	row := view.Rows()
	for i := range view.Len() {
		visit(row(i))
	}
	return nil
}

// VisitInputs is Visit for rows with dense inputs. input is valid until visit
// returns.
func VisitInputs(rows *sealed.Rows, scope dp.Scope, visit func(cells []float64, input []float32)) error {
	view, err := sealed.OpenPublic(rows, scope)
	if err != nil {
		return err
	}
	input, row := make([]float32, view.InputDim()), view.Rows()
	for i := range view.Len() {
		view.Input(i, input)
		visit(row(i), input)
	}
	return nil
}
