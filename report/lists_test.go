package report

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"
)

type inner struct {
	Names []string       `json:"names"`
	By    map[string]int `json:"by"`
}

// An object has [] and {} for what has no elements, however deep and whoever declares it; null is left to what is not known.
func TestEmptyListsAreNotNull(t *testing.T) {
	raw := json.RawMessage(nil)
	x := struct {
		inner
		*Statement
		Unknown *float64               `json:"unknown"`
		Number  Number                 `json:"number"`
		Any     any                    `json:"any"`
		In      map[string][]inner     `json:"in"`
		Left    []string               `json:"left,omitempty"`
		Array   [1][]int               `json:"array"`
		Raw     *json.RawMessage       `json:"raw"`
		When    time.Time              `json:"when"`
		Not     []string               `json:"-"`
		Nothing any                    `json:"nothing"`
		Deep    map[string]interface{} `json:"deep"`
	}{Number: Number(math.NaN()), Any: []inner{{}}, In: map[string][]inner{"a": {{}}, "b": nil}, Raw: &raw, Deep: map[string]any{"x": []string(nil)}}
	var b bytes.Buffer
	if err := Encode(&b, &x); err != nil {
		t.Fatal(err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := `{"names":[],"by":{},"unknown":null,"number":null,"any":[{"names":[],"by":{}}],"in":{"a":[{"names":[],"by":{}}],"b":[]},"array":[[]],"raw":null,"when":"0001-01-01T00:00:00Z","nothing":null,"deep":{"x":[]}}`
	if flat.String() != want {
		t.Errorf("got\n%s, want\n%s", flat.String(), want)
	}
	if x.Names != nil || x.In["b"] != nil || x.Any.([]inner)[0].Names != nil {
		t.Error("what was written has changed")
	}
	// An object around a statement is as the statement itself: it was "seeded_runs": null.
	b.Reset()
	if err := Encode(&b, struct{ *Statement }{new(Statement)}); err != nil || bytes.Contains(b.Bytes(), []byte(`seeded_runs": null`)) || !bytes.Contains(b.Bytes(), []byte(`"seeded_runs": []`)) {
		t.Errorf("%s (%v)", b.String(), err)
	}
}
