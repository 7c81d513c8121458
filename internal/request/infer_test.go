package request

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pawl/data/infer"
)

// A person reads no count below 0, in the schema and in the table; a program gets what was released.
func TestNoisyCountsAreNotBelowZero(t *testing.T) {
	missing := -12.4
	levels := []infer.Level{{Text: "yes", Units: 40}, {Text: "no", Units: -.2}}
	if got, want := counted(levels, &missing), `about: "yes" 40, "no" 0, missing 0`; got != want {
		t.Errorf("the schema says %s, want %s", got, want)
	}
	v := &InferView{Columns: []InferredColumn{{Name: "ill", Type: "boolean", Levels: levels, Missing: &missing}}}
	var b bytes.Buffer
	if err := v.Table(&b); err != nil || strings.Contains(b.String(), "-") || !strings.Contains(b.String(), "  0\n") {
		t.Errorf("the table says %s (%v)", b.String(), err)
	}
	if out, err := json.Marshal(v); err != nil || !strings.Contains(string(out), "-12.4") {
		t.Errorf("a program gets %s (%v)", out, err)
	}
}
