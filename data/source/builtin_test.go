package source

import (
	"strings"
	"testing"

	"pawl/internal/usage"
)

// What declares one's own images is not passed over in silence beside a built-in name.
func TestBuiltinImagesTakeNoDeclarations(t *testing.T) {
	for _, o := range []Options{{Labels: "labels.npy"}, {Classes: "a,b"}, {Rows: "about 60000"}} {
		o.DataDir = t.TempDir()
		if _, err := Open("mnist", o); err == nil || !usage.Mistake(err) || !strings.Contains(err.Error(), "mnist is a built-in data set") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
