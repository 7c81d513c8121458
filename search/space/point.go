package space

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Point is one candidate: a value for each active dimension. Points are immutable;
// the zero Point belongs to no space.
type Point struct {
	frame *frame
	genes []uint64
}

// IsZero says whether p is the zero Point.
func (p Point) IsZero() bool { return p.frame == nil }

// Net is the Definition.Net of the point's space.
func (p Point) Net() string {
	if p.frame == nil {
		return ""
	}
	return p.frame.net
}

// Value returns the choice of a dimension; false where it is not active or unknown.
func (p Point) Value(dimension string) (Value, bool) {
	if p.frame == nil {
		return Value{}, false
	}
	i, ok := p.frame.index[dimension]
	if !ok || p.genes[i] == inactive {
		return Value{}, false
	}
	return p.frame.dims[i].value(p.genes[i]), true
}

// Has says whether a dimension is active.
func (p Point) Has(dimension string) bool {
	_, ok := p.Value(dimension)
	return ok
}

// Float returns the number of an active dimension of numbers.
func (p Point) Float(dimension string) (float64, bool) {
	v, ok := p.Value(dimension)
	return v.number, ok && v.kind == Number
}

// Int returns the number of an active dimension whose value is whole.
func (p Point) Int(dimension string) (int, bool) {
	x, ok := p.Float(dimension)
	n := int(x)
	return n, ok && float64(n) == x
}

// Text returns the word of an active dimension of words.
func (p Point) Text(dimension string) (string, bool) {
	v, ok := p.Value(dimension)
	return v.text, ok && v.kind == Text
}

// Flag returns the truth of an active dimension of true and false.
func (p Point) Flag(dimension string) (value, ok bool) {
	v, ok := p.Value(dimension)
	return v.Flag(), ok && v.kind == Flag
}

// Names returns the names of an active subset dimension.
func (p Point) Names(dimension string) ([]string, bool) {
	v, ok := p.Value(dimension)
	return v.Names(), ok && v.kind == Set
}

// All goes through the active dimensions as they are declared.
func (p Point) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if p.frame == nil {
			return
		}
		for i, d := range p.frame.dims {
			if p.genes[i] != inactive && !yield(d.name, d.value(p.genes[i])) {
				return
			}
		}
	}
}

// Equal says whether both are the same point of one space.
func (p Point) Equal(q Point) bool { return p.frame == q.frame && slices.Equal(p.genes, q.genes) }

// String lists the active dimensions as they are declared, such as
// "layers=1 units_1=64 activation_1=relu". Space.Parse reads it back.
func (p Point) String() string {
	var b strings.Builder
	for name, v := range p.All() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(v.String())
	}
	return b.String()
}

// Key is the canonical text of p, with dimensions in alphabetical order: points that
// mean the same have the same key, in every space that has their dimensions.
func (p Point) Key() string {
	var parts []string
	for name, v := range p.All() {
		parts = append(parts, name+"="+v.String())
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Digest is the SHA-256 of the key, in hexadecimal. It is stable over versions.
func (p Point) Digest() string {
	sum := sha256.Sum256([]byte("pawl search point 1\n" + p.Key()))
	return hex.EncodeToString(sum[:])
}

// MarshalJSON writes an object of the active dimensions as they are declared.
func (p Point) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for name, v := range p.All() {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(v.Any())
		if err != nil {
			return nil, err
		}
		b.WriteString(strconv.Quote(name))
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Point makes a point from a value for each active dimension. It refuses values that
// are no choice, active dimensions without a value, values of dimensions that are
// not active, and points that violate a constraint.
func (s *Space) Point(values map[string]Value) (Point, error) {
	if err := s.ready(); err != nil {
		return Point{}, err
	}
	genes := s.blank()
	for name := range values {
		if _, ok := s.frame.index[name]; !ok {
			return Point{}, fmt.Errorf("search space %s: %q is not a dimension%s", s.Name(), name, near(name, s.Dimensions()))
		}
	}
	for _, i := range s.frame.order {
		d := s.frame.dims[i]
		v, given := values[d.name]
		switch active := d.active(genes); {
		case !active && given:
			return Point{}, fmt.Errorf("search space %s: %s has no meaning here; its conditions do not hold", s.Name(), d.name)
		case !active:
			continue
		case !given:
			return Point{}, fmt.Errorf("search space %s: %s is missing", s.Name(), d.name)
		}
		g, ok := d.gene(v)
		if !ok {
			return Point{}, fmt.Errorf("search space %s: %s cannot be %v; its choices are %s", s.Name(), d.name, v, d.describe())
		}
		genes[i] = g
	}
	for _, c := range s.components {
		if !c.satisfied(s, genes) {
			return Point{}, fmt.Errorf("search space %s: the point violates a constraint", s.Name())
		}
	}
	return Point{s.frame, genes}, nil
}

// Contains says whether p is a point of s.
func (s *Space) Contains(p Point) bool {
	values := map[string]Value{}
	for name, v := range p.All() {
		values[name] = v
	}
	_, err := s.Point(values)
	return err == nil
}

// Parse reads the text of String or Key.
func (s *Space) Parse(text string) (Point, error) {
	values := map[string]Value{}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		name, after, ok := strings.Cut(rest, "=")
		if _, twice := values[name]; !ok || twice {
			return Point{}, fmt.Errorf("search space %s: %q: expected name=value, each name once", s.Name(), name)
		}
		v, left, err := parseValue(after)
		if err != nil {
			return Point{}, fmt.Errorf("search space %s: %s: %w", s.Name(), name, err)
		}
		values[name], rest = v, left
	}
	return s.Point(values)
}

// parseValue reads one value and what follows it.
func parseValue(text string) (v Value, rest string, err error) {
	if !strings.HasPrefix(text, "[") {
		return parseScalar(text, " ")
	}
	var list []string
	for text = text[1:]; !strings.HasPrefix(text, "]"); text = strings.TrimPrefix(text, ",") {
		if v, text, err = parseScalar(text, ",]"); err != nil {
			return Value{}, "", err
		}
		if v.kind != Text || text == "" {
			return Value{}, "", fmt.Errorf("a set is written [a,b]")
		}
		list = append(list, v.text)
	}
	return SetValue(list...), text[1:], nil
}

// parseScalar reads up to one of the bytes in stop.
func parseScalar(text, stop string) (Value, string, error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return Value{}, "", fmt.Errorf("a quotation mark is not closed")
		}
		s, err := strconv.Unquote(quoted)
		return TextValue(s), text[len(quoted):], err
	}
	end := strings.IndexAny(text, stop)
	if end < 0 {
		end = len(text)
	}
	v, err := scalar(text[:end])
	return v, text[end:], err
}

// scalar reads an unquoted word.
func scalar(s string) (Value, error) {
	switch s {
	case "true", "false":
		return FlagValue(s == "true"), nil
	}
	if plain(s) {
		return TextValue(s), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%q is neither a number nor a word; quote it", s)
	}
	return ValueOf(x)
}

// UnmarshalPoint reads an object as MarshalJSON writes it.
func (s *Space) UnmarshalPoint(data []byte) (Point, error) {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return Point{}, fmt.Errorf("search space %s: a point is a JSON object: %w", s.Name(), err)
	}
	values := map[string]Value{}
	for name, x := range raw {
		if list, ok := x.([]any); ok {
			set := []string{}
			for _, e := range list {
				word, ok := e.(string)
				if !ok {
					return Point{}, fmt.Errorf("search space %s: %s: a set lists names", s.Name(), name)
				}
				set = append(set, word)
			}
			x = set
		}
		v, err := ValueOf(x)
		if err != nil {
			return Point{}, fmt.Errorf("search space %s: %s: %w", s.Name(), name, err)
		}
		values[name] = v
	}
	return s.Point(values)
}

// subsetSize is the number of names of a set's gene.
func subsetSize(gene uint64) int { return bits.OnesCount64(gene) }
