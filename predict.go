package pawl

import (
	"io"

	"pawl/internal/request"
	"pawl/model"
)

// Model is a trained model. [LoadModel] and [Plan.Run] make it. Predictions charge nothing: a private
// model may be used any number of times.
type Model struct{ model *model.Model }

// LoadModel reads a model from the output directory of a run, or from the model folder in it.
//
// Errors: [ErrUsage] for a directory that holds no model.
func LoadModel(dir string) (*Model, error) {
	m, err := request.LoadModel(dir)
	return handle(&Model{m}, err)
}

// Target returns the name of the column that the model predicts.
func (m *Model) Target() string { return m.model.Target }

// Classes returns the classes in order, nil for a regression.
func (m *Model) Classes() []string {
	if m.model.Task == model.Classification {
		return m.model.Classes()
	}
	return nil
}

// NotPrivate reports that the model comes from a run without a privacy claim: its predictions may
// reveal the rows that it was trained on.
func (m *Model) NotPrivate() bool { return m.model.NotPrivate }

// Predict predicts, in order, every row of a table, every image of a folder or file, every line of a
// file of texts, or every example of a built-in data set. It uses the fields Data, BadRows,
// Embeddings, Key, Keep, Strict, Flags and DataDir of a Source. Columns that the model does not use may be
// missing or hold anything.
//
// Errors: [ErrUsage] for a missing column, and for a row that does not parse, with its place.
func (m *Model) Predict(s Source) (*Predictions, error) {
	if s.Data == "" {
		return nil, fail(noData)
	}
	p, err := request.Predict(m.model, s.Data, s.options())
	return handle(&Predictions{p}, err)
}

// At returns a model of two classes with another threshold, in (0, 1): the smallest probability of the
// second class at which it is predicted. It costs nothing.
//
// Errors: [ErrUsage] for a model of another kind, and for a threshold out of range.
func (m *Model) At(threshold float64) (*Model, error) {
	other, err := request.At(m.model, threshold)
	return handle(&Model{other}, err)
}

// Raw returns the model without the calibration and threshold of its score: with the probabilities of
// the trained model, and the more probable class as the label.
func (m *Model) Raw() *Model { return &Model{m.model.Raw()} }

// Released returns in words the recall and precision of the second of two classes at the released
// threshold nearest to threshold, "" if none was released.
func (m *Model) Released(threshold float64) string { return request.Released(m.model, threshold) }

// Predictions are a model's predictions for rows, in the order of the rows. An index below 0, or of
// Len or more, panics.
type Predictions struct{ rows *request.Predictions }

// Notes returns, in words and with counts, which cells of the file were changed or unknown: clipped to
// the bounds, replaced by a default, missing, or of a category that the model does not know.
func (p *Predictions) Notes() []string { return p.rows.Notes() }

// Len returns the number of rows.
func (p *Predictions) Len() int { return len(p.rows.Values) }

// Value returns the prediction for row i: a number in units of the target, or for a classifier the
// index of the class in [Model.Classes].
func (p *Predictions) Value(i int) float64 { return p.rows.Values[i] }

// Class returns the predicted class of row i, "" for a regression.
func (p *Predictions) Class(i int) string { return p.rows.Class(i) }

// Probabilities returns one probability per class for row i, nil for a regression. They are
// calibrated if the score of the run determined a calibration.
func (p *Predictions) Probabilities(i int) []float64 { return p.rows.Row(i) }

// WriteCSV writes a header and one line per row: the prediction, and for a classifier the
// probability of the second of two classes, or of each class.
func (p *Predictions) WriteCSV(w io.Writer) error { return p.rows.WriteCSV(w) }

// WriteParquet writes the columns of WriteCSV.
func (p *Predictions) WriteParquet(w io.Writer) error { return p.rows.WriteParquet(w) }

// WriteJSON writes one object with all predictions.
func (p *Predictions) WriteJSON(w io.Writer) error { return p.rows.WriteJSON(w) }
