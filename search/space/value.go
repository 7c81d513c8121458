package space

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a Value holds.
type Kind uint8

const (
	// Number is a float64; whole numbers are exact up to 2⁵³.
	Number Kind = iota + 1
	// Text is a word, such as the name of an activation.
	Text
	// Flag is true or false.
	Flag
	// Set is some of the names that a subset dimension lists, in its order.
	Set
)

func (k Kind) String() string {
	switch k {
	case Number:
		return "number"
	case Text:
		return "text"
	case Flag:
		return "true or false"
	case Set:
		return "set of names"
	}
	return "nothing"
}

// Value is one choice. Its zero value is no choice.
type Value struct {
	kind   Kind
	number float64
	text   string
	set    []string
}

// NumberValue returns x as a Value. −0 becomes 0, so that equal numbers print alike.
func NumberValue(x float64) Value { return Value{kind: Number, number: x + 0} }

// TextValue returns s as a Value.
func TextValue(s string) Value { return Value{kind: Text, text: s} }

// FlagValue returns b as a Value.
func FlagValue(b bool) Value {
	v := Value{kind: Flag}
	if b {
		v.number = 1
	}
	return v
}

// SetValue returns names as a Value.
func SetValue(names ...string) Value { return Value{kind: Set, set: slices.Clone(names)} }

// ValueOf turns a Go number, string, bool or []string into a Value.
func ValueOf(x any) (Value, error) {
	switch x := x.(type) {
	case Value:
		return x, nil
	case bool:
		return FlagValue(x), nil
	case string:
		return TextValue(x), nil
	case []string:
		return SetValue(x...), nil
	case int:
		return NumberValue(float64(x)), nil
	case int64:
		return NumberValue(float64(x)), nil
	case uint64:
		return NumberValue(float64(x)), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Value{}, fmt.Errorf("%v is not a value of a search space: numbers must be finite", x)
		}
		return NumberValue(x), nil
	}
	return Value{}, fmt.Errorf("a %T is not a value of a search space", x)
}

// Kind says what v holds; 0 for no choice.
func (v Value) Kind() Kind { return v.kind }

// Float is the number; a flag is 0 or 1, a set its number of names.
func (v Value) Float() float64 {
	if v.kind == Set {
		return float64(len(v.set))
	}
	return v.number
}

// Text is the word of a Text, else "".
func (v Value) Text() string { return v.text }

// Flag is the truth of a Flag.
func (v Value) Flag() bool { return v.kind == Flag && v.number == 1 }

// Names are those of a Set.
func (v Value) Names() []string { return slices.Clone(v.set) }

// Any is v as a float64, string, bool or []string.
func (v Value) Any() any {
	switch v.kind {
	case Number:
		return v.number
	case Text:
		return v.text
	case Flag:
		return v.number == 1
	case Set:
		return append([]string{}, v.set...) // not nil: JSON would read null
	}
	return nil
}

// Equal says whether both are the same choice.
func (v Value) Equal(w Value) bool {
	return v.kind == w.kind && v.number == w.number && v.text == w.text && slices.Equal(v.set, w.set)
}

// String is the canonical text of v, in the notation of space files: the shortest
// number that reads back as the same float64, words quoted where they could be read
// as something else, sets in brackets.
func (v Value) String() string {
	switch v.kind {
	case Number:
		return strconv.FormatFloat(v.number, 'g', -1, 64)
	case Text:
		return word(v.text)
	case Flag:
		return strconv.FormatBool(v.number == 1)
	case Set:
		names := make([]string, len(v.set))
		for i, s := range v.set {
			names[i] = word(s)
		}
		return "[" + strings.Join(names, ",") + "]"
	}
	return "none"
}

// word quotes s unless it reads as a word on its own, in YAML and in points.
func word(s string) string {
	if plain(s) {
		return s
	}
	return strconv.Quote(s)
}

// plain admits letters first, then also digits, - and _; and none of YAML's words.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !(c == '_' || c == '-' || '0' <= c && c <= '9')) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "nan", "inf", "infinity":
		return false
	}
	return true
}
