package pawl

import (
	"io"

	"pawl/internal/request"
	"pawl/model"
)

// Model is a trained model, made by [LoadModel] or [Plan.Run]. Predicting charges nothing: a private model may be used any number
// of times.
type Model struct{ model *model.Model }

// LoadModel reads a model from the directory that a run wrote, or the model folder in it.
//
// Errors: [ErrUsage] for a directory that holds no model.
func LoadModel(dir string) (*Model, error) {
	m, err := request.LoadModel(dir)
	if err != nil {
		return nil, fail(err)
	}
	return &Model{m}, nil
}

// Target is the name of the column that the model predicts.
func (m *Model) Target() string { return m.model.Target }

// Classes are the classes in order, nil for a model of a number.
func (m *Model) Classes() []string {
	if m.model.Task == model.Classification {
		return m.model.Classes()
	}
	return nil
}

// NotPrivate says that the model comes from a run without a claim: what it predicts may give
// away the rows that it was trained on.
func (m *Model) NotPrivate() bool { return m.model.NotPrivate }

// Predict predicts every row of a table, every image of a folder or file, or every line of a
// file of texts, in order; or those of a built-in data set. Of a Source it uses Data, BadRows,
// Embeddings, Key and DataDir. Columns that the model does not use may be missing or hold
// anything.
//
// Errors: [ErrUsage] for a missing column and a row that does not parse, with its place.
func (m *Model) Predict(s Source) (*Predictions, error) {
	if s.Data == "" {
		return nil, fail(noData)
	}
	p, err := request.Predict(m.model, s.Data, s.options())
	if err != nil {
		return nil, fail(err)
	}
	return &Predictions{p}, nil
}

// Predictions are what a model says about rows, in their order. A row below 0 or from Len on
// panics.
type Predictions struct{ rows *request.Predictions }

// Len is the number of rows.
func (p *Predictions) Len() int { return len(p.rows.Values) }

// Value is the prediction for row i: a number in units of the target, or for a classifier the
// position of the class in [Model.Classes].
func (p *Predictions) Value(i int) float64 { return p.rows.Values[i] }

// Class is the predicted class of row i, "" for a model of a number.
func (p *Predictions) Class(i int) string {
	if p.rows.Classes == nil {
		return ""
	}
	return p.rows.Classes[int(p.rows.Values[i])]
}

// Probabilities are the model's for row i, one a class, nil for a model of a number. They order
// rows; noise leaves them uncalibrated.
func (p *Predictions) Probabilities(i int) []float64 {
	if p.rows.Classes == nil {
		return nil
	}
	return p.rows.Row(i)
}

// WriteCSV writes one line a row under a header: prediction, and for a classifier the
// probability of the second of two classes or of each.
func (p *Predictions) WriteCSV(w io.Writer) error { return p.rows.WriteCSV(w) }

// WriteParquet writes the columns of WriteCSV.
func (p *Predictions) WriteParquet(w io.Writer) error { return p.rows.WriteParquet(w) }

// WriteJSON writes one object with all predictions.
func (p *Predictions) WriteJSON(w io.Writer) error { return p.rows.WriteJSON(w) }
