package request

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/model"
	"pawl/reader"
)

// Rows are predicted and written in runs side by side; whatever the number of processors, the answer is that
// of one reader that goes row by row.
func TestPredictBeside(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte(`
version: 1
unit: row
rows: 1000
columns:
  - {name: age, type: integer, lower: 0, upper: 99}
  - {name: job, type: categorical, categories: [a, b, c], missing: unknown}
  - {name: y, type: boolean}
`))
	if err != nil {
		t.Fatal(err)
	}
	enc, err := encode.New(s, "y", encode.Options{Bins: 8})
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Task: model.Classification, Kind: model.Linear, Schema: s, Target: "y", Encoding: enc, Outputs: 1, Weights: make([]float64, enc.Dim)}
	for j := range m.Weights {
		m.Weights[j] = math.Sin(float64(j))
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	var b bytes.Buffer
	b.WriteString("id,age,job\n")
	const rows = 90_000 // more than a block of 1 MiB
	for i := range rows {
		fmt.Fprintf(&b, "person-%d,%d,%c\n", i, i*7919%113, 'a'+i*31%5)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := source.Options{Keep: []string{"id"}, Flags: true}
	written := func(p *Predictions) string {
		var out bytes.Buffer
		if err := p.WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(out.String(), p.Notes())
	}

	// The oracle: no stretches, and lines written in one go.
	oracle := newPrediction(m)
	oracle.keep(o.Keep)
	oracle.flag(true)
	declared := *s
	declared.Lenient, declared.Told, declared.IgnoreOthers = true, oracle.told, true
	declared.Columns = append([]schema.Column(nil), s.Columns...)
	declared.Columns[2] = schema.Column{Name: "y", Type: schema.Ignore}
	if err := reader.ReadFrom(file, bytes.NewReader(b.Bytes()), &declared, reader.Options{}, oracle.add); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	lines.WriteString("id,prediction,probability_true,flags\n")
	if err := oracle.lines(&lines, 0, rows); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(lines.String(), oracle.Notes())

	for _, workers := range []int{1, 3} {
		before := runtime.GOMAXPROCS(workers)
		p, err := Predict(m, file, o)
		if err != nil {
			t.Fatal(err)
		}
		got := written(p)
		runtime.GOMAXPROCS(before)
		if got != want {
			t.Errorf("%d workers: other bytes than one reader", workers)
		}
	}
}
