package usage_test

import (
	"errors"
	"testing"

	"pawl/compute/zoo"
	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/search/space"
)

// A tab is one line and a hint, with its place, in every kind of file that people write.
func TestTabsInYAML(t *testing.T) {
	text := []byte("version: 1\n\tname: x\n")
	for kind, read := range map[string]func() error{
		"schema":     func() error { _, err := schema.Decode("f.yaml", text); return err },
		"network":    func() error { _, err := zoo.Decode("f.yaml", text); return err },
		"space":      func() error { _, err := space.Decode("f.yaml", text); return err },
		"SmartNoise": func() error { _, _, _, err := schema.FromSmartNoise("f.yaml", text); return err },
	} {
		err := read()
		hint := interface{ Hint() string }(nil)
		if err == nil || err.Error() != "f.yaml:2:1: YAML: a tab, where only spaces may indent a line" || !errors.As(err, &hint) || hint.Hint() != "replace tabs by spaces" {
			t.Errorf("%s: %v (%v)", kind, err, hint)
		}
	}
	if line, col, msg, hint := usage.YAML(errors.New("no place")); line != 1 || col != 1 || msg != "YAML: no place" || hint != "" {
		t.Errorf("without a place: %d:%d: %s (%s)", line, col, msg, hint)
	}
}
