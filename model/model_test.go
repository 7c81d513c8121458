package model

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/data/encode"
	"pawl/data/schema"
)

func testSchema() *schema.Schema {
	return &schema.Schema{Version: 1, Dataset: "d", Unit: schema.Unit{Name: "row", MaxRows: 1}, NA: schema.DefaultNA,
		Rows: schema.RowCount{Kind: schema.RowsPrivate}, Columns: []schema.Column{
			{Name: "age", Type: schema.Integer, Lower: 0, Upper: 120, Missing: schema.MissingUnknown},
			{Name: "colour", Type: schema.Categorical, Categories: []string{"r", "g", "b"}, Other: "else", Missing: schema.MissingRefuse},
			{Name: "y", Type: schema.Categorical, Categories: []string{"<=50K", ">50K"}, Missing: schema.MissingRefuse},
			{Name: "cost", Type: schema.Numeric, Lower: 10, Upper: 1000, HeavyTailed: true, Missing: schema.MissingRefuse},
		}}
}

func linear(t testing.TB, target string, outputs int) *Model {
	t.Helper()
	s := testSchema()
	e, err := encode.New(s, target, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Task: Classification, Kind: Linear, Schema: s, Target: target, Encoding: e, Outputs: outputs}
	if target == "cost" {
		m.Task, m.Scale = Regression, TargetScale{Lower: 10, Upper: 1000}
	}
	m.Weights = make([]float64, e.Dim*outputs)
	for i := range m.Weights {
		m.Weights[i] = math.Sin(float64(3 * i))
	}
	return m
}

func TestSaveAndLoad(t *testing.T) {
	constant := &Model{Task: Classification, Kind: Constant, Schema: testSchema(), Target: "y", Value: 1, NotPrivate: true}
	bent := linear(t, "cost", 1)
	bent.Scale.Log, bent.Scale.Bend = true, 5
	rows := [][]float64{{30, 0, 1, 50}, {math.NaN(), 3, 0, 900}, {120, 2, math.NaN(), 10}}
	for name, m := range map[string]*Model{
		"binary": linear(t, "y", 1), "classes": linear(t, "colour", 4), "regression": linear(t, "cost", 1), "constant": constant,
		"bent": bent,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := m.Save(dir, []byte(`{"epsilon":1}`), map[string]string{"epsilon": "1"}); err != nil {
				t.Fatal(err)
			}
			got, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(m.Weights, got.Weights); d != "" || got.NotPrivate != m.NotPrivate {
				t.Errorf("weights or claim changed: %s", d)
			}
			for _, r := range rows {
				if a, b := m.Predictor()(r), got.Predictor()(r); a != b {
					t.Errorf("row %v: predicts %v, after loading %v", r, a, b)
				}
			}
			// A reader of version 1 would pass over the bend: it must refuse the file.
			if b, err := os.ReadFile(filepath.Join(dir, specFile)); err != nil || strings.Contains(string(b), `"version": 1,`) == (name == "bent") {
				t.Errorf("version of %s: %s, %v", name, b, err)
			}
			if m.Task == Classification {
				p := make([]float64, len(m.Classes()))
				m.Probabilities(p, rows[0])
				sum := 0.0
				for _, v := range p {
					sum += v
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("probabilities add up to %v", sum)
				}
			}
		})
	}
}

// A damaged model directory is an error that names the file; it never predicts.
func TestLoadRefusesDamage(t *testing.T) {
	edit := func(file string, f func([]byte) []byte) func(string) error {
		return func(dir string) error {
			path := filepath.Join(dir, file)
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, f(b), 0o644)
		}
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return []byte(strings.Replace(string(b), old, new, 1)) }
	}
	for _, c := range []struct {
		name   string
		damage func(dir string) error
		want   string
	}{
		{"no description", func(d string) error { return os.Remove(filepath.Join(d, specFile)) }, "not a model directory"},
		{"not JSON", edit(specFile, func([]byte) []byte { return []byte("{") }), "not a model description"},
		{"newer", edit(specFile, replace(`"version": 1`, `"version": 3`)), "version 3"},
		{"no bend", func(dir string) error {
			m := linear(t, "cost", 1)
			m.Scale.Log, m.Scale.Bend = true, 5
			if err := m.Save(dir, nil, nil); err != nil {
				return err
			}
			return edit(specFile, replace(`"bend": 5`, `"bend": -5`))(dir)
		}, "bend"},
		{"other target", edit(specFile, replace(`"target": "y"`, `"target": "z"`)), "shape"},
		{"other kind", edit(specFile, replace(`"kind": "linear"`, `"kind": "forest"`)), "forest"},
		{"other encoding", edit(specFile, replace(`"bins": 16`, `"bins": 8`)), "shape"},
		{"no weights", func(d string) error { return os.Remove(filepath.Join(d, weightsFile)) }, weightsFile},
		{"weights cut short", edit(weightsFile, func(b []byte) []byte { return b[:len(b)-8] }), "cut short"},
		{"header cut short", edit(weightsFile, func(b []byte) []byte { return b[:9] }), "cut short"},
		{"empty weights", edit(weightsFile, func([]byte) []byte { return nil }), "cut short"},
		{"huge header", edit(weightsFile, func(b []byte) []byte { binary.LittleEndian.PutUint64(b, math.MaxUint64); return b }), "cut short"},
		{"a weight is NaN", edit(weightsFile, func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[len(b)-8:], math.Float64bits(math.NaN()))
			return b
		}), "finite"},
		{"other bounds", edit(schemaFile, replace("upper: ", "upper: 9")), "another schema.yaml"},
		{"other classes", edit(schemaFile, replace(`["<=50K", ">50K"]`, `[">50K", "<=50K"]`)), "another schema.yaml"},
		{"no schema", func(d string) error { return os.Remove(filepath.Join(d, schemaFile)) }, schemaFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := linear(t, "y", 1).Save(dir, nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := c.damage(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

func FuzzSafetensors(f *testing.F) {
	want := func() []tensor {
		return []tensor{{name: "w", shape: []int{2, 1}, float64s: []float64{}}, {name: "f", shape: []int{1}, float32s: []float32{}}}
	}
	f.Add(safetensors(map[string]string{"a": "b"}, tensor{name: "w", shape: []int{2, 1}, float64s: []float64{1, 2}}, tensor{name: "f", shape: []int{1}, float32s: []float32{3}}))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, '{'})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseSafetensors(b, want()...)
		if err == nil && (len(got[0].float64s) != 2 || len(got[1].float32s) != 1) {
			t.Fatal("values are missing without an error")
		}
	})
}

func TestTargetScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := TargetScale{Lower: rapid.Float64Range(-1e6, 1e6).Draw(t, "lower"), Log: rapid.Bool().Draw(t, "log"), Bend: rapid.SampledFrom([]float64{0, 0.1, 5, 1e4}).Draw(t, "bend")}
		s.Upper = s.Lower + rapid.Float64Range(1e-3, 1e6).Draw(t, "span")
		y := s.Lower + rapid.Float64Range(0, 1).Draw(t, "position")*(s.Upper-s.Lower)
		v := s.Scale(y)
		if !(v >= -1 && v <= 1) {
			t.Fatalf("%v on %+v scales to %v", y, s, v)
		}
		if back := s.Unscale(v); math.Abs(back-y) > 1e-9*(math.Abs(y)+s.Upper-s.Lower) {
			t.Fatalf("%v on %+v comes back as %v", y, s, back)
		}
		if p := s.Unscale(rapid.Float64().Draw(t, "wild")); !(p >= s.Lower-1e-9*math.Abs(s.Lower) && p <= s.Upper+1e-9*math.Abs(s.Upper)) {
			t.Fatalf("a prediction left the bounds: %v on %+v", p, s)
		}
	})
	if v := (TargetScale{Lower: 0, Upper: 1}).Unscale(math.NaN()); v != 0.5 {
		t.Errorf("an unknown prediction is %v, want the middle", v)
	}
}
