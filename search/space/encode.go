package space

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Encode writes the space as a file that Decode reads back.
func (s *Space) Encode() []byte {
	d := &s.definition
	var b strings.Builder
	fmt.Fprintf(&b, "version: %d\n", Version)
	for _, f := range []struct{ key, text string }{{"name", d.Name}, {"title", d.Title}, {"source", d.Source}, {"note", d.Note}, {"net", d.Net}} {
		if f.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.key, quote(f.text))
		}
	}
	b.WriteString(d.body())
	return []byte(b.String())
}

// Digest is the SHA-256, in hexadecimal, of what decides which points there are and
// what they mean: dimensions, constraints and the net, not titles and notes.
func (s *Space) Digest() string {
	sum := sha256.Sum256([]byte("pawl search space 1\n" + quote(s.definition.Net) + "\n" + s.definition.body()))
	return hex.EncodeToString(sum[:])
}

func (d *Definition) body() string {
	var b strings.Builder
	b.WriteString("dimensions:\n")
	for i := range d.Dimensions {
		fmt.Fprintf(&b, "  %s: %s\n", key(d.Dimensions[i].Name), d.Dimensions[i].text())
	}
	if len(d.Constraints) > 0 {
		b.WriteString("constraints:\n")
	}
	for _, c := range d.Constraints {
		if len(c.When) == 0 {
			fmt.Fprintf(&b, "  - %s\n", quote(c.Check))
		} else {
			fmt.Fprintf(&b, "  - {check: %s, when: %s}\n", quote(c.Check), whenText(c.When))
		}
	}
	return b.String()
}

func (d *Dimension) text() string {
	var parts []string
	switch {
	case d.Range != nil:
		r := d.Range
		kind := "reals"
		if r.Integer {
			kind = "integers"
		}
		parts = append(parts, fmt.Sprintf("%s: [%v, %v]", kind, NumberValue(r.Low), NumberValue(r.High)))
		if r.Log {
			parts = append(parts, "scale: log")
		}
		if r.Steps > 0 {
			parts = append(parts, fmt.Sprintf("steps: %d", r.Steps))
		}
		if r.Step > 0 {
			parts = append(parts, fmt.Sprintf("step: %v", NumberValue(r.Step)))
		}
	case d.Subset != nil:
		parts = append(parts, "subset: "+list(SetValue(d.Subset.Of...).words()), fmt.Sprintf("size: [%d, %d]", d.Subset.Min, d.Subset.Max))
	default:
		values := make([]string, len(d.Values))
		for i, v := range d.Values {
			values[i] = v.String()
		}
		if len(d.When) == 0 {
			return list(values)
		}
		parts = append(parts, "values: "+list(values))
	}
	if len(d.When) > 0 {
		parts = append(parts, "when: "+whenText(d.When))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (v Value) words() []string {
	out := make([]string, len(v.set))
	for i, s := range v.set {
		out[i] = word(s)
	}
	return out
}

func list(parts []string) string { return "[" + strings.Join(parts, ", ") + "]" }

func whenText(when []Condition) string {
	parts := make([]string, len(when))
	for i, c := range when {
		values := make([]string, len(c.Values))
		for k, v := range c.Values {
			values[k] = v.String()
		}
		text := list(values)
		switch {
		case c.Operator != "in":
			text = quote(c.Operator + " " + values[0])
		case len(values) == 1:
			text = values[0]
		}
		parts[i] = key(c.Dimension) + ": " + text
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// key quotes a name that YAML reads as something else.
func key(name string) string {
	if plain(name) {
		return name
	}
	return strconv.Quote(name)
}

// quote is a text in double quotes, with the escapes that YAML and Go share.
func quote(s string) string { return strconv.Quote(s) }
