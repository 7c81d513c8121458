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

// EncodeEvent writes an event as versioned JSON: an object with "version", "kind" and the fields of
// that kind in their declared order. Equal events give equal bytes. An invalid, too deep or too
// large event gives an error that wraps ErrInvalidEvent, so that everything written can be read
// again.
func EncodeEvent(e Event) ([]byte, error) { return Stated{Event: e}.Encode() }

// write appends the value of a member; what has kinds as an object that begins with its kind.
// depth is that of the event that has the member.
func write(b *bytes.Buffer, of, name string, x any, depth int) error {
	kind, types := "", kinds
	switch x := x.(type) {
	case nil:
		return invalid(of, "%s is missing", name)
	case Event:
		kind, depth = x.kind(), depth+1
	case Runs:
		kind, types = x.runsKind(), lawsOfRuns
	case []Event:
		b.WriteByte('[')
		for i, e := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, of, "event", e, depth); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	default:
		raw, err := json.Marshal(x)
		if err != nil {
			return invalid(of, "%s: %v", name, err)
		}
		b.Write(raw)
		return nil
	}
	v := reflect.ValueOf(x)
	switch {
	case depth > MaxEventDepth:
		return invalid(kind, "nested deeper than %d", MaxEventDepth)
	case b.Len() > MaxEventBytes:
		return invalid(kind, "longer than %d bytes", MaxEventBytes)
	case types[kind] != v.Type():
		return invalid(kind, "unknown kind")
	}
	fmt.Fprintf(b, `{"kind":%q`, kind)
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if option == "omitempty" && v.Field(i).IsZero() {
			continue
		}
		fmt.Fprintf(b, ",%q:", name)
		if err := write(b, kind, name, v.Field(i).Interface(), depth); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// kinds are the types of events and lawsOfRuns those of runs, by the names under which they are stored. Fields are
// stored in the order of their declaration, under the names of their tags.
var (
	kinds = typesBy[Event](Event.kind, NoOp{}, NonPrivate{}, Gaussian{}, Laplace{}, DiscreteGaussian{}, DiscreteLaplace{}, RandomizedResponse{}, ExponentialMechanism{},
		Pure{}, Approximate{}, ZCDP{}, PoissonSampled{}, FixedSizeSampled{}, Shuffled{}, Banded{}, Repeat{}, Compose{}, Scoped{}, Select{})
	lawsOfRuns = typesBy[Runs](Runs.runsKind, TruncatedNegativeBinomial{}, PoissonRuns{}, RandomStopping{})
)

func typesBy[T any](name func(T) string, all ...T) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, x := range all {
		types[name(x)] = reflect.TypeOf(x)
	}
	return types
}

// DecodeEvent reads the output of EncodeEvent. "version" may be absent, which means 1. An unknown
// version, kind or field, a repeated or missing field, a value of another type, trailing data,
// nesting beyond MaxEventDepth and more than MaxEventBytes give errors that wrap ErrInvalidEvent,
// because an event that is not fully understood has no known cost. An empty Compose is read with
// nil Events.
func DecodeEvent(data []byte) (Event, error) { return decode(data, nil) }

// member is a member of an object that may be absent.
type member struct {
	name string
	into any
}

// decode reads an event and what stands beside its kind.
func decode(data []byte, beside []member) (e Event, err error) {
	if len(data) > MaxEventBytes {
		return nil, invalid("event", "longer than %d bytes", MaxEventBytes)
	}
	o, err := readObject("event", data)
	if err != nil {
		return nil, err
	}
	version := EventVersion
	for _, m := range append(beside, member{"version", &version}) {
		if _, there := o.raw[m.name]; there {
			if err := o.take(m.name, m.into, 0); err != nil {
				return nil, err
			}
		}
	}
	if version != EventVersion {
		return nil, invalid("event", "unknown version %d (this program reads %d)", version, EventVersion)
	}
	if e, err = typed[Event](o, kinds, 1); err == nil {
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

// take removes a required field, null counts as missing, and reads it; depth is that of the event that has it.
func (o *object) take(name string, into any, depth int) (err error) {
	raw, ok := o.raw[name]
	delete(o.raw, name)
	if !ok || string(raw) == "null" {
		return invalid(o.kind, "field %q is missing", name)
	}
	switch into := into.(type) {
	case *Event:
		*into, err = within[Event]("event", raw, kinds, depth+1)
		return err
	case *Runs:
		*into, err = within[Runs]("runs", raw, lawsOfRuns, 0)
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
			e, err := within[Event]("event", one, kinds, depth+1)
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

func within[T any](what string, raw []byte, types map[string]reflect.Type, depth int) (x T, err error) {
	o, err := readObject(what, raw)
	if err != nil {
		return x, err
	}
	return typed[T](o, types, depth)
}

// typed reads an object as the type that its kind names.
func typed[T any](o *object, types map[string]reflect.Type, depth int) (x T, err error) {
	if depth > MaxEventDepth {
		return x, invalid(o.kind, "nested deeper than %d", MaxEventDepth)
	}
	var kind string
	if err := o.take("kind", &kind, 0); err != nil {
		return x, err
	}
	t, known := types[kind]
	if !known {
		return x, invalid(o.kind, "unknown kind %q", strings.ToValidUTF8(kind, "?"))
	}
	o.kind = kind
	v := reflect.New(t).Elem()
	if err := o.fill(v, depth); err != nil {
		return x, err
	}
	return v.Interface().(T), nil
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
