package query

import (
	"errors"
	"pawl/internal/usage"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name, in, model, again string
	}{
		{"a table", "22,750\ntable\n14\nclassification\n2\n0.1\n", "linear", ""},
		{"usual answers", "22750\n\n14\n\n\n\n", "gam", ""},
		{"after slips", "-3\n22750\nfoo\nt\nno\n14\nguess\nreg\n0\nnan\n0.1\n", "linear", "please enter a whole number of at least 1"},
		{"images", "60000\nimages\n28 by 28\n28x28x1\n10\n1\n", "scatter-linear", "not an image size"},
		{"texts", "5000\ntext\nc\n2\n1\n", "linear", ""},
		{"vectors", "5000\nv\n64\nc\n3\n1\n", "linear", ""},
		{"few rows", "40\ntable\n3\nclassification\n2\n0.1\n", "majority", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Facts{Given: map[string]bool{}, Model: "auto", Features: "auto", Preset: "balanced", Classes: 2}
			var out strings.Builder
			if err := f.Ask(t.Context(), strings.NewReader(c.in), &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if !strings.Contains(out.String(), c.again) {
				t.Errorf("%q is not said:\n%s", c.again, out.String())
			}
			a, err := f.Answer(nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Advice.Entry != c.model {
				t.Errorf("advised %s, want %s", a.Advice.Entry, c.model)
			}
		})
	}
	f := Facts{Given: map[string]bool{}}
	if err := f.Ask(t.Context(), strings.NewReader("100\n"), &strings.Builder{}); err == nil || !errors.Is(err, usage.Err) {
		t.Errorf("answers that end: %v", err)
	}
}
