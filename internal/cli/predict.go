package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/data/columnar"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/model"
	"pawl/reader"
	"pawl/workflow"
)

func (a *app) predictCommand() *cobra.Command {
	var out, badRows string
	var embeddings source.Vectors
	c := &cobra.Command{
		Use:   "predict MODEL FILE",
		Short: "Predict the target of each row, text or image",
		Long: `Predict with a model that pawl fit or pawl train wrote. MODEL is its output directory,
or the model folder in it. FILE (CSV, TSV, JSON lines, Parquet or Arrow) needs the
columns that the model uses; other columns, including the target, are ignored. A model
trained with --embeddings needs vectors from the same extractor.

The answer is CSV, or Parquet if --output ends in .parquet, with one line per row of
FILE, in order: the prediction and, for a classifier, the probability of the second
class (two classes) or of every class.

For an image network, FILE is what pawl train reads: a built-in set of images (its test
set), a folder of PNG files with sub-folders, or an IDX or npy file.

Probabilities rank rows; noise leaves them uncalibrated. Predictions cost no privacy
budget: a private model may be used any number of times.`,
		Example: "  pawl predict out new-patients.csv > predictions.csv",
		Args:    exactArgs("MODEL", "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.predict(args[0], args[1], out, reader.BadRows(badRows), embeddings)
		},
	}
	registerVectors(&embeddings, c, " (default: the one used in training)")
	c.Flags().StringVar(&out, "output", "", "output file, Parquet if it ends in .parquet; an existing file is replaced (default: standard output)")
	c.Flags().StringVar(&badRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	return c
}

func (a *app) predict(dir, file, out string, bad reader.BadRows, embeddings source.Vectors) error {
	if bad != reader.Refuse && bad != reader.Default {
		return &usageError{fmt.Sprintf("unknown --bad-rows %q", bad), "use --bad-rows refuse or --bad-rows default"}
	}
	m, err := loadModel(dir)
	if err != nil {
		return err
	}
	// All rows are predicted before the first line is written: a bad row at the end
	// must not leave half an answer that looks whole.
	p := newPrediction(m)
	if !m.OfTable() {
		if embeddings != (source.Vectors{}) {
			return &usageError{"this model is a network for images or texts and takes no embeddings", "leave out --embeddings and --key"}
		}
		err = a.predictImages(file, m, p)
	} else {
		err = a.readForPrediction(file, m, bad, embeddings, p.add)
	}
	if err != nil {
		return err
	}
	if m.NotPrivate {
		fmt.Fprintln(a.err, "NOT PRIVATE: this model has no privacy guarantee; its predictions may reveal the rows it was trained on")
	}
	switch {
	case out != "":
		write := p.writeCSV
		if strings.EqualFold(filepath.Ext(out), ".parquet") {
			write = p.writeParquet
		}
		if err := writeFile(out, true, write); err != nil {
			return err
		}
		if a.json {
			return writeJSON(a.out, map[string]any{"output": out, "not_private": m.NotPrivate})
		}
		return nil
	case a.json:
		return p.writeJSON(a.out)
	}
	var b bytes.Buffer
	if err := p.writeCSV(&b); err != nil {
		return err
	}
	_, err = a.out.Write(b.Bytes())
	return err
}

// loadModel takes the output directory of a run or the model folder in it.
func loadModel(dir string) (*model.Model, error) {
	inner := filepath.Join(dir, workflow.ModelDir)
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		dir = inner
	}
	m, err := model.Load(dir)
	if err != nil {
		return nil, &usageError{err.Error(), "MODEL is a directory that pawl fit or pawl train wrote"}
	}
	return m, nil
}

// forFile is the model's schema for a file of this header: every column that the
// model does not look at is ignored, declared or not, so that the file may lack it
// or hold anything in it, the target above all.
func forFile(m *model.Model, file *reader.Records) (*schema.Schema, error) {
	header := file.Header()
	features := map[string]bool{}
	if m.Encoding != nil {
		for _, f := range m.Encoding.Features() {
			features[f] = true
		}
	}
	s := *m.Schema
	s.Unit = schema.Unit{Name: "row", MaxRows: 1}
	s.Columns = append([]schema.Column(nil), s.Columns...)
	for i := range s.Columns {
		c := &s.Columns[i]
		if !features[c.Name] {
			*c = schema.Column{Name: c.Name, Type: schema.Ignore}
		} else if c.Type != schema.Vector && !slices.Contains(header, c.Name) {
			advice := ""
			if near := schema.Nearest(c.Name, header); near != "" {
				advice = fmt.Sprintf("did you mean its column %q?", near)
			}
			return nil, &usageError{file.Absent(c.Name, "which the model needs").Error(), advice}
		}
	}
	for _, h := range header {
		if s.Column(h) < 0 {
			s.Columns = append(s.Columns, schema.Column{Name: h, Type: schema.Ignore})
		}
	}
	return &s, nil
}

func (a *app) readForPrediction(file string, m *model.Model, bad reader.BadRows, embeddings source.Vectors, row reader.Row) error {
	content, err := source.ReadFile(file)
	if err != nil {
		b, ok := dataset.Lookup(file)
		if _, there := os.Stat(file); !ok || !errors.Is(there, os.ErrNotExist) {
			return err
		}
		rows, err := b.TrainCSV(a.dataDir)
		if err != nil {
			return err
		}
		if content, err = io.ReadAll(rows); err != nil {
			return err
		}
	}
	keys := reader.Keys{PassOver: true} // as columns are that the model does not know
	for i := range m.Schema.Columns {
		keys.Names = append(keys.Names, m.Schema.Columns[i].Name)
	}
	c, err := reader.NewRecords(file, bytes.NewReader(content), keys)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := forFile(m, c)
	if err != nil {
		return err
	}
	vectors, err := embeddings.ForModel(s)
	if err != nil {
		return err
	}
	return source.ReadRows(file, bytes.NewReader(content), s, reader.Options{BadRows: bad, PassOver: true}, vectors, false, row)
}

// prediction collects what a model says about rows.
type prediction struct {
	model   *model.Model
	predict func(cells []float64) float64
	classes []string
	values  []float64
	probs   []float64 // one per class and row
}

func newPrediction(m *model.Model) *prediction {
	p := &prediction{model: m}
	if m.OfTable() {
		p.predict = m.Predictor()
	}
	if m.Task == model.Classification {
		p.classes = m.Classes()
	}
	return p
}

func (p *prediction) add(cells []float64, _ schema.Record) error {
	p.values = append(p.values, p.predict(cells))
	if n := len(p.classes); n > 0 {
		at := len(p.probs)
		p.probs = append(p.probs, make([]float64, n)...)
		p.model.Probabilities(p.probs[at:], cells)
	}
	return nil
}

// row returns the probabilities of a row by class.
func (p *prediction) row(i int) []float64 { return p.probs[i*len(p.classes) : (i+1)*len(p.classes)] }

// firstClass is the class of the first column of probabilities.
func (p *prediction) firstClass() int {
	if len(p.classes) == 2 {
		return 1
	}
	return 0
}

// writeParquet writes the columns of writeCSV, numbers with all of their digits.
func (p *prediction) writeParquet(w io.Writer) error {
	if p.classes == nil {
		return columnar.WriteParquet(w, []columnar.Data{{Name: "prediction", Floats: p.values}})
	}
	first := p.firstClass()
	out := make([]columnar.Data, 1+len(p.classes)-first)
	out[0] = columnar.Data{Name: "prediction", Texts: make([]string, len(p.values))}
	for k, c := range p.classes[first:] {
		out[k+1] = columnar.Data{Name: "probability_" + c, Floats: make([]float64, len(p.values))}
	}
	for i, v := range p.values {
		out[0].Texts[i] = p.classes[int(v)]
		for k, q := range p.row(i)[first:] {
			out[k+1].Floats[i] = q
		}
	}
	return columnar.WriteParquet(w, out)
}

func (p *prediction) writeCSV(w io.Writer) error {
	first := p.firstClass()
	record := []string{"prediction"}
	if p.classes != nil {
		for _, c := range p.classes[first:] {
			record = append(record, "probability_"+c)
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return err
	}
	for i, v := range p.values {
		if p.classes == nil {
			record = append(record[:0], shortNumber(v))
		} else {
			record = append(record[:0], p.classes[int(v)])
			for _, q := range p.row(i)[first:] {
				record = append(record, shortNumber(q))
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (p *prediction) writeJSON(w io.Writer) error {
	type line struct {
		Prediction    any                `json:"prediction"`
		Probabilities map[string]float64 `json:"probabilities,omitempty"`
	}
	lines := make([]line, len(p.values))
	for i, v := range p.values {
		if p.classes == nil {
			lines[i].Prediction = v
			continue
		}
		lines[i].Prediction, lines[i].Probabilities = p.classes[int(v)], map[string]float64{}
		for k, q := range p.row(i) {
			lines[i].Probabilities[p.classes[k]] = q
		}
	}
	return writeJSON(w, map[string]any{"target": p.model.Target, "not_private": p.model.NotPrivate, "predictions": lines})
}
