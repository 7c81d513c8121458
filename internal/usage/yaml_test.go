package usage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/compute/zoo"
	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/search/space"
)

// kinds are those of files that people write, each with one that is sound.
var kinds = map[string]struct {
	sound string
	read  func(text []byte) error
}{
	"schema": {"version: 1\nunit: row\ncolumns:\n  - {name: x, type: numeric, lower: 0, upper: 1}\n",
		func(text []byte) error { _, err := schema.Decode("f.yaml", text); return err }},
	"network": {"version: 1\nlayers:\n  - {kind: relu}\n",
		func(text []byte) error { _, err := zoo.Decode("f.yaml", text); return err }},
	"space": {"version: 1\ndimensions:\n  layers: [1, 2]\n",
		func(text []byte) error { _, err := space.Decode("f.yaml", text); return err }},
	"SmartNoise": {"\"\":\n  s:\n    t:\n      row_privacy: True\n      x: {type: int, lower: 0, upper: 9}\n",
		func(text []byte) error { _, _, _, err := schema.FromSmartNoise("f.yaml", text); return err }},
}

// What editors leave behind is passed over, or is one line and a hint, with its place, in every kind of file that
// people write.
func TestTextOfYAML(t *testing.T) {
	for kind, k := range kinds {
		for _, text := range []string{k.sound, "\ufeff" + k.sound, strings.ReplaceAll(k.sound, "\n", "\r\n")} {
			if err := k.read([]byte(text)); err != nil {
				t.Errorf("%s: %q: %v", kind, text, err)
			}
		}
		for _, c := range []struct{ text, want, hint string }{
			{"version: 1\n\tname: x\n", "f.yaml:2:1: YAML: a tab, where only spaces may indent a line", "replace tabs by spaces"},
			{k.sound + "# \x00\nmore: keys\n", fmt.Sprintf("f.yaml:%d:3: a control character (U+0000)", strings.Count(k.sound, "\n")+1), "remove it"},
			{"\x1b[1m" + k.sound, "f.yaml:1:1: a control character (U+001B)", "remove it"},
			{"\xff\xfe" + k.sound, "f.yaml:1:1: not UTF-8 text", "save the file as UTF-8"},
		} {
			err := k.read([]byte(c.text))
			hint := interface{ Hint() string }(nil)
			if err == nil || err.Error() != c.want || !errors.As(err, &hint) || hint.Hint() != c.hint {
				t.Errorf("%s: %q: %v (%v)", kind, c.text, err, hint)
			}
		}
	}
	if line, col, msg, hint := usage.YAML(errors.New("no place")); line != 1 || col != 1 || msg != "YAML: no place" || hint != "" {
		t.Errorf("without a place: %d:%d: %s (%s)", line, col, msg, hint)
	}
}
