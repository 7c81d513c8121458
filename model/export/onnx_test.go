package export

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

func TestMetadataStateTheClaim(t *testing.T) {
	m := tableModels(t)["linear bins sick"]
	facts := Facts{Version: "1.2.3", Epsilon: "0.5", Delta: "1e-06", Relation: "add_or_remove_one", Unit: "person"}
	f, err := ONNX(m, facts)
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, f.Bytes)
	digest := p.properties["schema_sha256"]
	if len(digest) != 64 {
		t.Errorf("the schema's digest is %q", digest)
	}
	want := map[string]string{"software": "pawl 1.2.3", "task": "classification", "target": "sick", "kind": "linear", "schema_sha256": digest,
		"claim": "differential privacy", "epsilon": "0.5", "delta": "1e-06", "relation": "add_or_remove_one", "unit": "person"}
	if d := cmp.Diff(want, p.properties); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{"": 17, "ai.onnx.ml": 3}, p.opsets); d != "" || p.ir != 8 {
		t.Errorf("format %d of operators %s", p.ir, d)
	}

	private := *m
	private.NotPrivate = true
	if f, err = ONNX(&private, facts); err != nil {
		t.Fatal(err)
	}
	p = parse(t, f.Bytes)
	if p.properties["claim"] != "NOT PRIVATE" || p.properties["epsilon"] != "" || !strings.HasPrefix(p.note, "NOT PRIVATE") || strings.Contains(p.note, "epsilon") {
		t.Errorf("metadata of a model without a claim are %q, its note is %q", p.properties, p.note)
	}
	b, err := Safetensors(&private, facts)
	if err != nil {
		t.Fatal(err)
	}
	if _, metadata := readSafetensors(t, b); metadata["claim"] != "NOT PRIVATE" || metadata["epsilon"] != "" {
		t.Errorf("metadata of a model without a claim are %q", metadata)
	}

	// Nobody stated anything: then nothing is claimed.
	if f, err = ONNX(m, Facts{}); err != nil {
		t.Fatal(err)
	}
	if p = parse(t, f.Bytes); p.properties["claim"] != "" {
		t.Errorf("metadata without facts are %q", p.properties)
	}
}

func TestEqualModelsGiveEqualBytes(t *testing.T) {
	for name, m := range tableModels(t) {
		a, err := ONNX(m, Facts{})
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := ONNX(m, Facts{}); !bytes.Equal(a.Bytes, b.Bytes) {
			t.Errorf("%s: bytes differ", name)
		}
	}
}

func TestTextsAreRefusedByName(t *testing.T) {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, NA: schema.DefaultNA, Rows: schema.RowCount{Kind: schema.RowsPrivate}, Columns: []schema.Column{
		{Name: "message", Type: schema.Text, Buckets: 16}, {Name: "spam", Type: schema.Boolean, Missing: schema.MissingRefuse}}}
	e, err := encode.New(s, "spam", encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Task: model.Classification, Kind: model.Linear, Schema: s, Target: "spam", Encoding: e, Outputs: 1, Weights: make([]float64, e.Dim)}
	f, err := ONNX(m, Facts{})
	var refused *Error
	if f != nil || !errors.As(err, &refused) || refused.Part != `column "message"` || refused.Hint() == "" {
		t.Fatalf("got %v", err)
	}
	if _, err := Safetensors(m, Facts{}); err != nil {
		t.Errorf("safetensors: %v", err)
	}
	m.Weights = nil
	if _, err := ONNX(m, Facts{}); err == nil {
		t.Error("a model without weights was written")
	}
	if _, err := Safetensors(m, Facts{}); err == nil {
		t.Error("a model without weights was written as safetensors")
	}
}

// A decimal that lies on the edge of a bin falls to the same side as in the program,
// although it is no float.
func TestDecimalsOnEdgesKeepTheirBin(t *testing.T) {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, NA: schema.DefaultNA, Rows: schema.RowCount{Kind: schema.RowsPrivate}, Columns: []schema.Column{
		{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 1, Missing: schema.MissingUnknown}, {Name: "y", Type: schema.Boolean, Missing: schema.MissingRefuse}}}
	for _, bins := range []int{2, 5, 10, 20, 50, 100} {
		e, err := encode.New(s, "y", encode.Options{Bins: bins})
		if err != nil {
			t.Fatal(err)
		}
		edges := edges(s, &e.Blocks[1])
		rng := rand.New(rand.NewPCG(1, uint64(bins)))
		for range 2000 {
			v := float64(rng.IntN(1001)) / 1000
			bin := 0
			for _, edge := range edges {
				if float32(v) >= edge {
					bin++
				}
			}
			if want := e.Blocks[1].Level([]float64{v, 0}); bin != want {
				t.Fatalf("%d bins: %v is in bin %d, want %d", bins, v, bin, want)
			}
		}
	}
}
