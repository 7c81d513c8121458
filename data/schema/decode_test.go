package schema

import (
	"strings"
	"testing"
)

// Nesting is refused before it is parsed: the parser's memory grows with its square.
func TestDeepNestingIsRefused(t *testing.T) {
	for _, open := range []string{"[", "{", "- ["} {
		text := "version: 1\ncolumns: " + strings.Repeat(open, 100_000)
		_, err := Decode("deep.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "deep.yaml:2:") || !strings.Contains(err.Error(), "nested") {
			t.Errorf("%q: %.200v", open, err)
		}
	}
}
