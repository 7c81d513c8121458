package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
)

// WriteJSON writes s as one indented JSON object and a newline. Map keys are
// sorted, so equal statements give equal bytes; lists without elements are [] and
// never null, infinite values the string "inf". It returns an error, and writes
// nothing, when Validate does.
func WriteJSON(w io.Writer, s *Statement) error {
	if err := Validate(s); err != nil {
		return err
	}
	c := *s
	c.Advice = list(c.Advice)
	c.Warnings = list(c.Warnings)
	c.SeededRuns, c.Cleared = list(c.SeededRuns), list(c.Cleared)
	c.Choice.Features = list(c.Choice.Features)
	if s.Choice.Selection != nil {
		k := *s.Choice.Selection
		k.LeftOut = list(k.LeftOut)
		c.Choice.Selection = &k
	}
	c.Privacy.Events = list(c.Privacy.Events)
	c.Privacy.NotCovered = list(c.Privacy.NotCovered)
	if c.Privacy.ByStage == nil {
		c.Privacy.ByStage = map[string]Stage{}
	}
	if c.Privacy.EpsilonBounds == nil {
		c.Privacy.EpsilonBounds = map[string]Number{}
	}
	c.Choice.Hyperparameters = map[string]any{}
	for k, v := range s.Choice.Hyperparameters {
		c.Choice.Hyperparameters[k] = jsonValue(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // class labels such as "<=50K" are read by people too
	e.SetIndent("", "  ")
	if err := e.Encode(&c); err != nil {
		return fmt.Errorf("write statement: %w", err)
	}
	_, err := w.Write(numberLists.ReplaceAllFunc(b.Bytes(), func(list []byte) []byte {
		return bytes.ReplaceAll(blanks.ReplaceAll(list, nil), []byte(","), []byte(", "))
	}))
	return err
}

// Two numbers or more stand in one line. A text cannot look like a list of them:
// JSON writes its line breaks as escapes.
var (
	numberLists = regexp.MustCompile(`\[\n +(?:-?[0-9][0-9.eE+-]*|null)(?:,\n +(?:-?[0-9][0-9.eE+-]*|null)){1,}\n +\]`)
	blanks      = regexp.MustCompile(`\s+`)
)

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// jsonValue gives floats that JSON cannot hold the form of Number; a clipping norm
// of +Inf is an ordinary hyperparameter of a run without clipping.
func jsonValue(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return Number(x)
		}
	case float32:
		return jsonValue(float64(x))
	case []float64:
		out := make([]Number, len(x))
		for i, f := range x {
			out[i] = Number(f)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = jsonValue(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = jsonValue(x[k])
		}
		return out
	}
	return v
}
