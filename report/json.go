package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
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
	c.Choice.Hyperparameters = jsonValue(s.Choice.Hyperparameters).(map[string]any)
	var b bytes.Buffer
	if err := Encode(&b, &c); err != nil {
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

// Encode writes one indented JSON object and a newline. Lists and maps without elements are [] and {}, never null, which
// is left to what is not known. Nothing is escaped for HTML: people read labels such as "<=50K" too.
func Encode(w io.Writer, v any) error {
	if v != nil {
		v = filled(reflect.ValueOf(v)).Interface()
	}
	return EncodeWhole(w, v)
}

// EncodeWhole is Encode for a value none of whose lists and maps is nil. It copies nothing, so it is for large ones.
func EncodeWhole(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

var marshals, writesText = reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()

// fillFields fills the fields of a struct that are written, those of embedded structs among them.
func fillFields(of reflect.Value) {
	for i := range of.NumField() {
		switch f := of.Type().Field(i); {
		case f.Tag.Get("json") == "-":
		case f.IsExported():
			of.Field(i).Set(filled(of.Field(i)))
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			fillFields(of.Field(i))
		}
	}
}

// filled is v with empty lists and maps for nil ones; it copies what it changes. What writes itself is left as it is.
func filled(v reflect.Value) reflect.Value {
	t := v.Type()
	for _, own := range []reflect.Type{marshals, writesText} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return v
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out := reflect.New(t.Elem())
			out.Elem().Set(filled(v.Elem()))
			return out
		}
	case reflect.Interface:
		if !v.IsNil() {
			return filled(v.Elem())
		}
	case reflect.Struct:
		out := reflect.New(t).Elem()
		out.Set(v)
		fillFields(out)
		return out
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			break // a text
		}
		out := reflect.New(t).Elem()
		if t.Kind() == reflect.Slice {
			out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(filled(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(t)
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, filled(v.MapIndex(k)))
		}
		return out
	}
	return v
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
