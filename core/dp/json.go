package dp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

const (
	// EventVersion is the envelope version that EncodeEvent writes.
	EventVersion = 1
	// MaxEventBytes bounds a stored event, so that reading one takes bounded time.
	MaxEventBytes = 1 << 20
	// MaxEventDepth bounds the nesting of a stored event.
	MaxEventDepth = 64
)

// EncodeEvent writes an event as versioned JSON: an object with "version",
// "kind" and the fields of that kind in their declared order. Equal events give
// equal bytes. Invalid, too deep or too large events are an error that wraps
// ErrInvalidEvent, so that whatever was written can be read again.
func EncodeEvent(e Event) ([]byte, error) {
	if e == nil {
		return nil, invalid("event", "event is missing")
	}
	// Depth first: Validate recurses without a bound of its own.
	var b bytes.Buffer
	b.WriteByte('{')
	fmt.Fprintf(&b, `"version":%d,`, EventVersion)
	if err := writeEvent(&b, e, 1); err != nil {
		return nil, err
	}
	if b.Len() > MaxEventBytes {
		return nil, invalid(e.Kind(), "longer than %d bytes", MaxEventBytes)
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeEvent appends everything of an event object after its opening brace.
func writeEvent(b *bytes.Buffer, e Event, depth int) error {
	if e == nil {
		return invalid("event", "event is missing")
	}
	if depth > MaxEventDepth {
		return invalid(e.Kind(), "nested deeper than %d", MaxEventDepth)
	}
	if b.Len() > MaxEventBytes {
		return invalid(e.Kind(), "longer than %d bytes", MaxEventBytes)
	}
	v := reflect.ValueOf(e)
	if kinds[e.Kind()] != v.Type() {
		return invalid(e.Kind(), "unknown kind")
	}
	fmt.Fprintf(b, `"kind":%q`, e.Kind())
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if option == "omitempty" && v.Field(i).IsZero() {
			continue
		}
		fmt.Fprintf(b, ",%q:", name)
		if err := writeField(b, e.Kind(), name, v.Field(i), depth); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeField appends the value of one field of a kind of event.
func writeField(b *bytes.Buffer, kind, name string, field reflect.Value, depth int) error {
	switch field.Type() {
	case reflect.TypeFor[Event]():
		b.WriteByte('{')
		e, _ := field.Interface().(Event)
		return writeEvent(b, e, depth+1)
	case reflect.TypeFor[[]Event]():
		b.WriteByte('[')
		for i, e := range field.Interface().([]Event) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			if err := writeEvent(b, e, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	runs, isRuns := field.Interface().(Runs)
	if field.Type() == reflect.TypeFor[Runs]() && !isRuns {
		return invalid(kind, "runs is missing")
	}
	raw, err := json.Marshal(field.Interface())
	if err != nil {
		return invalid(kind, "%s: %v", name, err)
	}
	if isRuns {
		// Every law of runs has at least one field, so the kind always precedes a comma.
		fmt.Fprintf(b, `{"kind":%q,`, runs.RunsKind())
		raw = raw[1:]
	}
	b.Write(raw)
	return nil
}

// kinds are the types of events and lawsOfRuns those of runs, by the names under which they are stored. Fields are
// stored in the order of their declaration, under the names of their tags.
var (
	kinds = typesBy[Event](Event.Kind, NoOp{}, NonPrivate{}, Gaussian{}, Laplace{}, DiscreteGaussian{}, DiscreteLaplace{}, RandomizedResponse{}, ExponentialMechanism{},
		Pure{}, Approximate{}, ZCDP{}, PoissonSampled{}, FixedSizeSampled{}, Shuffled{}, Banded{}, Repeat{}, Compose{}, Scoped{}, Select{})
	lawsOfRuns = typesBy[Runs](Runs.RunsKind, TruncatedNegativeBinomial{}, PoissonRuns{}, RandomStopping{})
)

func typesBy[T any](name func(T) string, all ...T) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, x := range all {
		types[name(x)] = reflect.TypeOf(x)
	}
	return types
}

// DecodeEvent reads what EncodeEvent writes. "version" may be absent, which
// means 1. An unknown version, kind or field, a repeated or missing field, a
// value of another type, trailing data, nesting beyond MaxEventDepth and more
// than MaxEventBytes are errors that wrap ErrInvalidEvent: an event that is not
// understood in full has no known cost. An empty Compose is read with nil Events.
func DecodeEvent(data []byte) (Event, error) {
	o, err := readEvent(data)
	if err != nil {
		return nil, err
	}
	return o.versioned()
}

func readEvent(data []byte) (*object, error) {
	if len(data) > MaxEventBytes {
		return nil, invalid("event", "longer than %d bytes", MaxEventBytes)
	}
	return readObject("event", data)
}

func (o *object) versioned() (e Event, err error) {
	version := EventVersion
	if err := o.optional("version", &version); err != nil {
		return nil, err
	}
	if version != EventVersion {
		return nil, invalid("event", "unknown version %d (this program reads %d)", version, EventVersion)
	}
	if e, err = o.event(1); err == nil {
		err = e.Validate()
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// object is one JSON object whose members are taken one by one; what is left at
// the end is an unknown field.
type object struct {
	kind string
	raw  map[string]json.RawMessage
}

func readObject(kind string, data []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, invalid(kind, "want a JSON object at byte %d", d.InputOffset())
	}
	o := &object{kind: kind, raw: map[string]json.RawMessage{}}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, invalid(kind, "want a field name at byte %d", d.InputOffset())
		}
		// encoding/json would keep the last of two equal names; two readers could
		// then price one stored event differently.
		if _, twice := o.raw[name]; twice {
			return nil, invalid(kind, "field %q occurs twice", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, invalid(kind, "field %q at byte %d: not JSON", name, d.InputOffset())
		}
		o.raw[name] = raw
	}
	if t, err := d.Token(); err != nil || t != json.Delim('}') {
		return nil, invalid(kind, "unfinished object at byte %d", d.InputOffset())
	}
	if len(bytes.TrimLeft(data[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, invalid(kind, "trailing data at byte %d", d.InputOffset())
	}
	return o, nil
}

// optional takes a field that may be absent.
func (o *object) optional(name string, into any) error {
	if _, there := o.raw[name]; !there {
		return nil
	}
	return o.take(name, into, 0)
}

// take removes a required field, null counts as missing, and reads it; depth is that of the event that has it.
func (o *object) take(name string, into any, depth int) error {
	raw, ok := o.raw[name]
	delete(o.raw, name)
	if !ok || string(raw) == "null" {
		return invalid(o.kind, "field %q is missing", name)
	}
	switch into := into.(type) {
	case *Event:
		inner, err := readObject("event", raw)
		if err == nil {
			*into, err = inner.event(depth + 1)
		}
		return err
	case *Runs:
		inner, err := readObject("runs", raw)
		if err == nil {
			err = inner.typed("runs", lawsOfRuns, 0, func(v any) { *into = v.(Runs) })
		}
		return err
	case *Scope:
		inner, err := readObject("scope", raw)
		if err == nil {
			err = inner.fill(reflect.ValueOf(into).Elem(), 0)
		}
		return err
	case *[]Event:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			break
		}
		for _, one := range list {
			inner, err := readObject("event", one)
			if err != nil {
				return err
			}
			e, err := inner.event(depth + 1)
			if err != nil {
				return err
			}
			*into = append(*into, e)
		}
		return nil
	default:
		if json.Unmarshal(raw, into) == nil {
			return nil
		}
	}
	return invalid(o.kind, "field %q: want a number or text of the declared type and range", name)
}

func (o *object) event(depth int) (e Event, err error) {
	if depth > MaxEventDepth {
		return nil, invalid("event", "nested deeper than %d", MaxEventDepth)
	}
	err = o.typed("event", kinds, depth, func(v any) { e = v.(Event) })
	return e, err
}

// typed reads an object as the type that its kind names.
func (o *object) typed(what string, types map[string]reflect.Type, depth int, to func(any)) error {
	var kind string
	if err := o.take("kind", &kind, 0); err != nil {
		return err
	}
	t, known := types[kind]
	if !known {
		return invalid(what, "unknown kind %q", strings.ToValidUTF8(kind, "?"))
	}
	o.kind = kind
	v := reflect.New(t).Elem()
	if err := o.fill(v, depth); err != nil {
		return err
	}
	to(v.Interface())
	return nil
}

// fill takes the fields of a struct, and refuses those that are left.
func (o *object) fill(into reflect.Value, depth int) error {
	for i := range into.NumField() {
		name, option, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		if _, there := o.raw[name]; option == "omitempty" && !there {
			continue
		}
		if err := o.take(name, into.Field(i).Addr().Interface(), depth); err != nil {
			return err
		}
	}
	for name := range o.raw {
		if len(o.raw) == 1 {
			return invalid(o.kind, "unknown field %q", strings.ToValidUTF8(name, "?"))
		}
		return invalid(o.kind, "%d unknown fields", len(o.raw))
	}
	return nil
}
