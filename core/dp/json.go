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
	f, err := readEvent(data)
	if err != nil {
		return nil, err
	}
	return f.versioned()
}

func readEvent(data []byte) (*fields, error) {
	if len(data) > MaxEventBytes {
		return nil, invalid("event", "longer than %d bytes", MaxEventBytes)
	}
	return readFields("event", data)
}

func (f *fields) versioned() (Event, error) {
	if _, ok := f.raw["version"]; ok {
		var version int
		if f.value("version", &version); f.err != nil {
			return nil, f.err
		}
		if version != EventVersion {
			return nil, invalid("event", "unknown version %d (this program reads %d)", version, EventVersion)
		}
	}
	e, err := f.event(1)
	if err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return e, nil
}

// fields is one JSON object whose members are taken one by one; what is left at
// the end is an unknown field. The first error sticks.
type fields struct {
	kind string
	raw  map[string]json.RawMessage
	err  error
}

func readFields(kind string, data []byte) (*fields, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, invalid(kind, "want a JSON object at byte %d", d.InputOffset())
	}
	f := &fields{kind: kind, raw: map[string]json.RawMessage{}}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, invalid(kind, "want a field name at byte %d", d.InputOffset())
		}
		// encoding/json would keep the last of two equal names; two readers could
		// then price one stored event differently.
		if _, twice := f.raw[name]; twice {
			return nil, invalid(kind, "field %q occurs twice", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, invalid(kind, "field %q at byte %d: not JSON", name, d.InputOffset())
		}
		f.raw[name] = raw
	}
	if t, err := d.Token(); err != nil || t != json.Delim('}') {
		return nil, invalid(kind, "unfinished object at byte %d", d.InputOffset())
	}
	if len(bytes.TrimLeft(data[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, invalid(kind, "trailing data at byte %d", d.InputOffset())
	}
	return f, nil
}

// take removes a required field; null counts as missing.
func (f *fields) take(name string) json.RawMessage {
	raw, ok := f.raw[name]
	delete(f.raw, name)
	if f.err == nil && (!ok || string(raw) == "null") {
		f.err = invalid(f.kind, "field %q is missing", name)
	}
	return raw
}

func (f *fields) value(name string, into any) {
	raw := f.take(name)
	if f.err != nil {
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		f.err = invalid(f.kind, "field %q: want a number or text of the declared type and range", name)
	}
}

func (f *fields) object(kind, name string) *fields {
	raw := f.take(name)
	if f.err != nil {
		return &fields{kind: kind, err: f.err}
	}
	o, err := readFields(kind, raw)
	if err != nil {
		f.err = err
		return &fields{kind: kind, err: err}
	}
	return o
}

func (f *fields) nestedIn(name string, depth int) Event {
	o := f.object("event", name)
	if f.err != nil {
		return nil
	}
	e, err := o.event(depth + 1)
	f.err = err
	return e
}

// done reports the first error, or the fields that nobody took.
func (f *fields) done() error {
	if f.err != nil {
		return f.err
	}
	for name := range f.raw {
		if len(f.raw) == 1 {
			return invalid(f.kind, "unknown field %q", strings.ToValidUTF8(name, "?"))
		}
		return invalid(f.kind, "%d unknown fields", len(f.raw))
	}
	return nil
}

func (f *fields) event(depth int) (Event, error) {
	if depth > MaxEventDepth {
		return nil, invalid("event", "nested deeper than %d", MaxEventDepth)
	}
	var kind string
	if f.value("kind", &kind); f.err != nil {
		return nil, f.err
	}
	f.kind = kind
	t, known := kinds[kind]
	if !known {
		return nil, invalid("event", "unknown kind %q", strings.ToValidUTF8(kind, "?"))
	}
	e := reflect.New(t).Elem()
	f.fill(e, depth)
	if err := f.done(); err != nil {
		return nil, err
	}
	return e.Interface().(Event), nil
}

// fill takes the fields of a struct.
func (f *fields) fill(into reflect.Value, depth int) {
	for i := range into.NumField() {
		name, option, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		if _, there := f.raw[name]; option == "omitempty" && !there {
			continue
		}
		switch field := into.Field(i).Addr().Interface().(type) {
		case *Event:
			*field = f.nestedIn(name, depth)
		case *[]Event:
			*field = f.compose(name, depth)
		case *Scope:
			f.part(f.object("scope", name), reflect.ValueOf(field).Elem())
		case *Runs:
			*field = f.runs(name)
		default:
			f.value(name, field)
		}
	}
}

// part takes the fields of an object that is a field of f.
func (f *fields) part(o *fields, into reflect.Value) {
	if o.fill(into, 0); f.err == nil {
		f.err = o.done()
	}
}

func (f *fields) compose(name string, depth int) (events []Event) {
	var list []json.RawMessage
	f.value(name, &list)
	for _, raw := range list {
		if f.err != nil {
			return nil
		}
		var o *fields
		if o, f.err = readFields("event", raw); f.err != nil {
			return nil
		}
		var e Event
		e, f.err = o.event(depth + 1)
		events = append(events, e)
	}
	return events
}

func (f *fields) runs(name string) Runs {
	o := f.object("runs", name)
	var kind string
	if o.value("kind", &kind); o.err != nil {
		f.err = o.err
		return nil
	}
	o.kind = kind
	t, known := lawsOfRuns[kind]
	if !known {
		f.err = invalid("runs", "unknown kind %q", strings.ToValidUTF8(kind, "?"))
		return nil
	}
	r := reflect.New(t).Elem()
	f.part(o, r)
	return r.Interface().(Runs)
}
