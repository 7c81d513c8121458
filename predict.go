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
// Embeddings, Key, Keep, Strict, Flags and DataDir. Columns that the model does not use may be missing or hold
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

// At is the model with another threshold, of two classes: the smallest probability of the second
// class at which it is predicted, above 0 and below 1. It costs nothing.
//
// Errors: [ErrUsage] for a model of another kind and an impossible threshold.
func (m *Model) At(threshold float64) (*Model, error) {
	other, err := request.At(m.model, threshold)
	if err != nil {
		return nil, fail(err)
	}
	return &Model{other}, nil
}

// Raw is the model with probabilities as training left them, without the calibration that its
// score gave, and with the more probable class as its label.
func (m *Model) Raw() *Model { return &Model{m.model.Raw()} }

// Released says what the released score knows of a threshold of a model of two classes: recall and
// precision of the second class at the nearest threshold that was released, "" where nothing is known.
func (m *Model) Released(threshold float64) string { return request.Released(m.model, threshold) }

// Predictions are what a model says about rows, in their order. A row below 0 or from Len on
// panics.
type Predictions struct{ rows *request.Predictions }

// Notes say in words, with counts, which cells of the file were not taken as they stand: clipped to
// the bounds, replaced by a default, missing, or of a category that the model does not know.
func (p *Predictions) Notes() []string { return p.rows.Notes() }

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

// Probabilities are the model's for row i, one a class, nil for a model of a number. They are
// calibrated where the score of the run determined a calibration.
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
