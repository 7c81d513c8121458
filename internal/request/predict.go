package request

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/data/columnar"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/data/table"
	"pawl/data/text"
	"pawl/evidence/quality"
	"pawl/internal/usage"
	"pawl/model"
	"pawl/reader"
	"pawl/report"
	"pawl/workflow"
)

// LoadModel takes the output directory of a run or the model folder in it.
func LoadModel(dir string) (*model.Model, error) {
	inner := filepath.Join(dir, workflow.ModelDir)
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		dir = inner
	}
	m, err := model.Load(dir)
	switch {
	case errors.Is(err, model.ErrNewer):
		return nil, usage.New(err.Error(), "use that version of pawl, or a later one")
	case err != nil:
		return nil, usage.New(Text(err), "MODEL is a directory that pawl fit or pawl train wrote")
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
			*c = schema.Column{Name: c.Name, Date: c.Date, Type: schema.Ignore}
		} else if c.Type != schema.Vector && !slices.Contains(header, c.Source()) {
			return nil, file.Absent(m.Schema, c.Source())
		}
	}
	declared := s.Declared()
	for _, h := range header {
		if declared[h] == 0 {
			s.Columns = append(s.Columns, schema.Column{Name: h, Type: schema.Ignore})
		}
	}
	return &s, nil
}

func (p *Predictions) rows(file string, o source.Options, bad reader.BadRows) error {
	m := p.model
	content, err := table.Read(file)
	if err != nil {
		b, ok := dataset.Lookup(file)
		if _, there := os.Stat(file); !ok || !errors.Is(there, os.ErrNotExist) {
			return err
		}
		rows, err := b.TrainCSV(o.DataDir)
		if err != nil {
			return err
		}
		plain, err := io.ReadAll(rows)
		if err != nil {
			return err
		}
		content = reader.NewContent(file, reader.Part{Name: file, Bytes: plain})
	}
	content = content.AsGiven() // the answer has the order of the rows
	// Columns that the model does not know are passed over.
	keys := reader.Keys{Names: m.Schema.Sources(), PassOver: true, File: m.Schema.File}
	c, err := reader.NewRecords(content.Name(), content.Reader(), keys)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := forFile(m, c)
	if err != nil {
		return err
	}
	for _, name := range o.Keep {
		if !slices.Contains(c.Header(), name) {
			return usage.New(fmt.Sprintf("%s: there is no column %q to keep", content.Name(), name), schema.Meant(name, c.Header(), ""))
		}
	}
	p.keep(o.Keep)
	p.flag(o.Flags)
	for i, name := range p.header() {
		if slices.Contains(p.header()[:i], name) {
			return usage.New(fmt.Sprintf("the predictions would have two columns %q", name), "keep another column, each once; without --flags there is no column flags")
		}
	}
	s.Lenient, s.Told = !o.Strict, p.told
	vectors, err := o.Vectors.ForModel(s)
	if err != nil {
		return err
	}
	options := reader.Options{BadRows: bad, PassOver: true, Trained: true}
	if vectors == nil {
		return reader.ReadBeside(content.Name(), content.Reader(), s, options, p.stretch)
	}
	return source.ReadRows(content.Name(), content.Reader(), s, options, vectors, false, p.add)
}

// stretch predicts a run of rows beside others, and appends them in their place.
func (p *Predictions) stretch() reader.Stretch {
	part, ok := p.parts.Get().(*Predictions)
	if !ok {
		part = newPrediction(p.model)
		part.keep(p.names)
		part.flag(p.flags != nil)
	}
	return reader.Stretch{Row: part.add, Told: part.told, End: func() error { p.join(part); return nil }}
}

// join appends the rows of a part and empties it.
func (p *Predictions) join(part *Predictions) {
	p.Values, part.Values = append(p.Values, part.Values...), part.Values[:0]
	p.Probs, part.Probs = append(p.Probs, part.Probs...), part.Probs[:0]
	for k := range p.Kept {
		p.Kept[k].Texts, part.Kept[k].Texts = append(p.Kept[k].Texts, part.Kept[k].Texts...), part.Kept[k].Texts[:0]
	}
	if p.flags != nil {
		p.flags.Texts, part.flags.Texts = append(p.flags.Texts, part.flags.Texts...), part.flags.Texts[:0]
	}
	for o, n := range part.odd {
		p.odd[o] += n
	}
	clear(part.odd)
	p.parts.Put(part)
}

// Predictions are what a model says about rows.
type Predictions struct {
	// Classes are nil for a number. Values are numbers, or positions in Classes; Probs are one
	// per class and row.
	Classes []string
	Values  []float64
	Probs   []float64
	// Kept are columns of the file, as texts, in the order in which they were asked for.
	Kept []columnar.Data

	odd     map[oddity]int // numbers of cells that are not taken as they stand
	row     []string       // those of the row being read
	flags   *columnar.Data // those of each row, nil unless asked for
	names   []string       // of Kept
	parts   sync.Pool      // empty Predictions of the same form, for runs of rows
	model   *model.Model
	predict func(cells []float64) float64
	probe   func(p, cells []float64)
}

// flagColumn names the column of flags.
const flagColumn = "flags"

// oddity is a way in which cells of a column are not taken as they stand.
type oddity struct {
	column string
	why    schema.Odd
}

func newPrediction(m *model.Model) *Predictions {
	p := &Predictions{model: m, odd: map[oddity]int{}}
	if m.OfTable() {
		p.predict, p.probe = m.Predictor(), m.Prober()
	}
	if m.Task == model.Classification {
		p.Classes = m.Classes()
	}
	return p
}

func (p *Predictions) keep(names []string) {
	p.names = names
	for _, name := range names {
		p.Kept = append(p.Kept, columnar.Data{Name: name, Texts: []string{}})
	}
}

func (p *Predictions) flag(asked bool) {
	if asked {
		p.flags = &columnar.Data{Name: flagColumn, Texts: []string{}}
	}
}

// told takes note of a cell of the row being read.
func (p *Predictions) told(column string, why schema.Odd) {
	p.odd[oddity{column, why}]++
	if p.flags != nil {
		p.row = append(p.row, column+" "+string(why))
	}
}

// Notes say what was done to cells of the file.
func (p *Predictions) Notes() (notes []string) {
	order := func(a, b oddity) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.why, b.why))
	}
	for _, o := range slices.SortedFunc(maps.Keys(p.odd), order) {
		n := p.odd[o]
		cells, are, hold, count := "cells", "are", "hold", "count"
		if n == 1 {
			cells, are, hold, count = "cell", "is", "holds", "counts"
		}
		what := ""
		switch o.why {
		case schema.Unseen:
			what = fmt.Sprintf("%s a category that the model does not know, and %s as unknown (--strict refuses it)", hold, count)
		case schema.Clipped:
			what = are + " outside the bounds of the schema, and clipped to them"
		case schema.Defaulted:
			what = are + " missing or malformed, and replaced by the column's default"
		default:
			what = are + " missing or malformed, and " + count + " as unknown"
		}
		notes = append(notes, fmt.Sprintf("column %q: %d %s %s", o.column, n, cells, what))
	}
	return notes
}

func (p *Predictions) add(cells []float64, found schema.Record) error {
	for k := range p.Kept {
		text := ""
		if at, ok := slices.BinarySearch(found.Columns, p.Kept[k].Name); ok {
			text = strings.Clone(found.Cells[at].Text)
		}
		p.Kept[k].Texts = append(p.Kept[k].Texts, text)
	}
	if p.flags != nil {
		p.flags.Texts, p.row = append(p.flags.Texts, strings.Join(p.row, "; ")), p.row[:0]
	}
	p.Values = append(p.Values, p.predict(cells))
	if n := len(p.Classes); n > 0 {
		at := len(p.Probs)
		p.Probs = append(p.Probs, make([]float64, n)...)
		p.probe(p.Probs[at:], cells)
	}
	return nil
}

// Row returns the probabilities of a row by class.
func (p *Predictions) Row(i int) []float64 { return p.Probs[i*len(p.Classes) : (i+1)*len(p.Classes)] }

// Class is the class that is predicted for row i, "" for a number.
func (p *Predictions) Class(i int) string {
	if p.Classes == nil {
		return ""
	}
	return p.Classes[int(p.Values[i])]
}

// firstClass is the class of the first column of probabilities.
func (p *Predictions) firstClass() int {
	if len(p.Classes) == 2 {
		return 1
	}
	return 0
}

// WriteParquet writes the columns of WriteCSV, numbers with all of their digits.
func (p *Predictions) WriteParquet(w io.Writer) error {
	if p.Classes == nil {
		return columnar.WriteParquet(w, p.flagged(append(slices.Clone(p.Kept), columnar.Data{Name: "prediction", Floats: p.Values})))
	}
	first := p.firstClass()
	out := make([]columnar.Data, 1+len(p.Classes)-first)
	out[0] = columnar.Data{Name: "prediction", Texts: make([]string, len(p.Values))}
	for k, c := range p.Classes[first:] {
		out[k+1] = columnar.Data{Name: "probability_" + c, Floats: make([]float64, len(p.Values))}
	}
	for i := range p.Values {
		out[0].Texts[i] = p.Class(i)
		for k, q := range p.Row(i)[first:] {
			out[k+1].Floats[i] = q
		}
	}
	return columnar.WriteParquet(w, p.flagged(append(slices.Clone(p.Kept), out...)))
}

// flagged adds the column of flags, where it was asked for.
func (p *Predictions) flagged(columns []columnar.Data) []columnar.Data {
	if p.flags != nil {
		columns = append(columns, *p.flags)
	}
	return columns
}

// header names the columns of WriteCSV.
func (p *Predictions) header() []string {
	names := append(slices.Clone(p.names), "prediction")
	if p.Classes != nil {
		for _, c := range p.Classes[p.firstClass():] {
			names = append(names, "probability_"+c)
		}
	}
	if p.flags != nil {
		names = append(names, p.flags.Name)
	}
	return names
}

func (p *Predictions) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(p.header()); err != nil {
		return err
	}
	if out.Flush(); out.Error() != nil {
		return out.Error()
	}
	return inRuns(w, len(p.Values), p.lines)
}

// lines writes the lines of some rows as CSV.
func (p *Predictions) lines(w io.Writer, from, to int) error {
	first, out := p.firstClass(), csv.NewWriter(w)
	var record []string
	for i, v := range p.Values[from:to] {
		i += from
		record = record[:0]
		for _, k := range p.Kept {
			record = append(record, k.Texts[i])
		}
		if p.Classes == nil {
			record = append(record, short(v))
		} else {
			record = append(record, p.Class(i))
			for _, q := range p.Row(i)[first:] {
				record = append(record, short(q))
			}
		}
		if p.flags != nil {
			record = append(record, p.flags.Texts[i])
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (p *Predictions) WriteJSON(w io.Writer) error {
	type line struct {
		Kept          map[string]string  `json:"kept,omitempty"`
		Prediction    any                `json:"prediction"`
		Probabilities map[string]float64 `json:"probabilities,omitempty"`
		Flags         *string            `json:"flags,omitempty"`
	}
	lines := make([]line, len(p.Values))
	for i, v := range p.Values {
		if len(p.Kept) > 0 {
			lines[i].Kept = map[string]string{}
		}
		for _, k := range p.Kept {
			lines[i].Kept[k.Name] = k.Texts[i]
		}
		if p.flags != nil {
			lines[i].Flags = &p.flags.Texts[i]
		}
		if p.Classes == nil {
			lines[i].Prediction = v
			continue
		}
		lines[i].Prediction, lines[i].Probabilities = p.Class(i), map[string]float64{}
		for k, q := range p.Row(i) {
			lines[i].Probabilities[p.Classes[k]] = q
		}
	}
	return report.EncodeWhole(w, map[string]any{"target": p.model.Target, "not_private": p.model.NotPrivate, "predictions": lines})
}

// images adds what a network says about every image of FILE, in order.
func (p *Predictions) images(file, dataDir string) error {
	m := p.model
	if vocabulary, ok := source.VocabularyOf(m.Layers.Layers); ok {
		return p.texts(file, vocabulary)
	}
	set, err := openUnlabelled(file, dataDir)
	if err != nil {
		return err
	}
	if set.Size() != m.Net.Inputs() {
		return usage.New(fmt.Sprintf("%s: the images are %d×%d×%d, and the model takes %s", file, set.Shape[0], set.Shape[1], set.Shape[2], m.Net.Input()), "")
	}
	p.addSet(set)
	return nil
}

// addSet adds what a network says about every row of a set.
func (p *Predictions) addSet(set *images.Set) {
	m := p.model
	predict, prober, input := m.InputPredictor(), m.InputProber(), make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, input)
		p.Values = append(p.Values, predict(input))
		if n := len(p.Classes); n > 0 {
			at := len(p.Probs)
			p.Probs = append(p.Probs, make([]float64, n)...)
			prober(p.Probs[at:], input)
		}
	}
}

func openUnlabelled(file, dataDir string) (*images.Set, error) {
	info, err := os.Stat(file)
	if b, ok := dataset.Images(file); ok && err != nil {
		return b.Test(dataDir)
	}
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return images.OpenFolder(file, nil)
	case strings.HasSuffix(file, ".npy"):
		return images.OpenNPY(images.Pair{Images: file}, nil)
	}
	return images.OpenIDX(images.Pair{Images: file}, nil)
}

// texts adds what a network says about every text of FILE, in order.
func (p *Predictions) texts(file string, vocabulary int) error {
	m := p.model
	texts, err := source.ReadLines(file, m.Schema)
	if err != nil {
		return err
	}
	count := source.Numbering(text.Hasher{Buckets: vocabulary}.Numbers)
	if m.Vocabulary != nil {
		count = m.Vocabulary.Numbers
	}
	p.addSet(source.Numbered(texts, m.Net.Inputs(), count))
	return nil
}

// Predict predicts every row of a table, or every image or text, in order: those of file, or
// of a built-in data set.
func Predict(m *model.Model, file string, o source.Options) (*Predictions, error) {
	bad, err := o.Rule()
	if err != nil {
		return nil, err
	}
	// All rows are predicted before the first is handed out: a bad row at the end must not leave
	// half an answer that looks whole.
	p := newPrediction(m)
	if m.OfTable() {
		err = p.rows(file, o, bad)
	} else if o.Flags {
		err = usage.New("the model is a network of images or texts, whose files have no cells to flag", "leave out --flags")
	} else if len(o.Keep) > 0 {
		err = usage.New("the model is a network of images or texts, whose files have no columns to keep", "leave out --keep")
	} else if o.Vectors != (source.Vectors{}) {
		err = usage.New("the model is a network of images or texts and takes no embeddings", "leave out --embeddings and --key")
	} else {
		err = p.images(file, o.DataDir)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// At is a model of two classes with another threshold: the smallest probability of the second
// class at which it is predicted. It costs nothing.
func At(m *model.Model, threshold float64) (*model.Model, error) {
	switch {
	case !m.TwoClasses():
		return nil, usage.New("a threshold is for a model of two classes", "leave out --threshold")
	case !(threshold > 0 && threshold < 1):
		return nil, usage.New(fmt.Sprintf("threshold %g is not a probability between 0 and 1", threshold), "example: --threshold 0.2")
	}
	other := *m
	other.Threshold = threshold
	return &other, nil
}

// Released says what the released score knows of a threshold, at the nearest one that it has; "" for
// nothing.
func Released(m *model.Model, threshold float64) string {
	var near *quality.Operating
	for i := range m.Thresholds {
		if t := &m.Thresholds[i]; near == nil || math.Abs(t.Threshold-threshold) < math.Abs(near.Threshold-threshold) {
			near = t
		}
	}
	if near == nil || !near.Recall.Known() {
		return ""
	}
	percent := func(name string, e quality.Estimate) string {
		if !e.Known() {
			return name + " not determined"
		}
		return fmt.Sprintf("%s %.0f%% (%.0f%% to %.0f%%)", name, 100**e.Value, 100*e.Interval[0], 100*e.Interval[1])
	}
	return fmt.Sprintf("at threshold %.3g, the nearest that was released: %s, %s", near.Threshold, percent("recall", near.Recall), percent("precision", near.Precision))
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// inRuns has runs of rows formatted side by side, and writes them in order.
func inRuns(w io.Writer, rows int, format func(w io.Writer, from, to int) error) error {
	const run = 8192
	type formatted struct {
		text []byte
		err  error
	}
	order := make(chan chan formatted, runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(order)
		for from := 0; from < rows; from += run {
			one := make(chan formatted, 1)
			select {
			case order <- one:
			case <-stop:
				return
			}
			go func() {
				var b bytes.Buffer
				err := format(&b, from, min(from+run, rows))
				one <- formatted{b.Bytes(), err}
			}()
		}
	}()
	for one := range order {
		f := <-one
		if f.err != nil {
			return f.err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	return nil
}
