package dp

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	fmt.Fprintf(b, `"kind":%q`, e.Kind())
	field := func(name string, value any) error {
		raw, err := json.Marshal(value)
		if err != nil {
			return invalid(e.Kind(), "%s: %v", name, err)
		}
		fmt.Fprintf(b, `,%q:%s`, name, raw)
		return nil
	}
	nested := func(x Event) error {
		b.WriteString(`,"event":{`)
		return writeEvent(b, x, depth+1)
	}
	var err error
	switch e := e.(type) {
	case NoOp, NonPrivate:
	case Gaussian:
		err = field("noise_multiplier", e.NoiseMultiplier)
	case Laplace:
		err = field("noise_multiplier", e.NoiseMultiplier)
	case DiscreteGaussian:
		err = field("noise_multiplier", e.NoiseMultiplier)
	case DiscreteLaplace:
		err = field("noise_multiplier", e.NoiseMultiplier)
	case RandomizedResponse:
		err = first(field("noise_probability", e.NoiseProbability), func() error { return field("categories", e.Categories) })
	case ExponentialMechanism:
		err = field("epsilon", e.Epsilon)
	case Pure:
		err = field("epsilon", e.Epsilon)
	case Approximate:
		err = first(field("epsilon", e.Epsilon), func() error { return field("delta", e.Delta) })
	case ZCDP:
		err = field("rho", e.Rho)
	case PoissonSampled:
		err = first(field("rate", e.Rate), func() error { return nested(e.Event) })
		if err == nil && e.OneSided != nil {
			b.WriteString(`,"one_sided":{`)
			err = writeEvent(b, e.OneSided, depth+1)
		}
	case FixedSizeSampled:
		fmt.Fprintf(b, `,"sample_size":%d,"source_size":%d`, e.SampleSize, e.SourceSize)
		err = nested(e.Event)
	case Shuffled:
		fmt.Fprintf(b, `,"epochs":%d`, e.Epochs)
		err = nested(e.Event)
	case Banded:
		fmt.Fprintf(b, `,"steps":%d,"groups":%d`, e.Steps, e.Groups)
		err = first(field("rate", e.Rate), func() error {
			return first(field("noise_multiplier", e.NoiseMultiplier), func() error { return field("coefficients", e.Coefficients) })
		})
	case Repeat:
		fmt.Fprintf(b, `,"count":%d`, e.Count)
		err = nested(e.Event)
	case Compose:
		b.WriteString(`,"events":[`)
		for i, c := range e.Events {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			if err := writeEvent(b, c, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case Scoped:
		err = first(field("scope", e.Scope), func() error { return nested(e.Event) })
	case Select:
		if e.Runs == nil {
			return invalid(e.Kind(), "runs is missing")
		}
		raw, merr := json.Marshal(e.Runs)
		if merr != nil {
			return invalid(e.Kind(), "runs: %v", merr)
		}
		// Every law of runs has at least one field, so the kind always precedes a comma.
		fmt.Fprintf(b, `,"runs":{"kind":%q,%s`, e.Runs.RunsKind(), raw[1:])
		err = nested(e.Event)
	default:
		err = invalid(e.Kind(), "unknown kind")
	}
	if err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}

func first(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
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

func (f *fields) float(name string) (x float64) { f.value(name, &x); return x }
func (f *fields) int(name string) (n int)       { f.value(name, &n); return n }

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

func (f *fields) nested(depth int) Event { return f.nestedIn("event", depth) }

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
	var e Event
	switch kind {
	case NoOp{}.Kind():
		e = NoOp{}
	case NonPrivate{}.Kind():
		e = NonPrivate{}
	case Gaussian{}.Kind():
		e = Gaussian{NoiseMultiplier: f.float("noise_multiplier")}
	case Laplace{}.Kind():
		e = Laplace{NoiseMultiplier: f.float("noise_multiplier")}
	case DiscreteGaussian{}.Kind():
		e = DiscreteGaussian{NoiseMultiplier: f.float("noise_multiplier")}
	case DiscreteLaplace{}.Kind():
		e = DiscreteLaplace{NoiseMultiplier: f.float("noise_multiplier")}
	case RandomizedResponse{}.Kind():
		e = RandomizedResponse{NoiseProbability: f.float("noise_probability"), Categories: f.int("categories")}
	case ExponentialMechanism{}.Kind():
		e = ExponentialMechanism{Epsilon: f.float("epsilon")}
	case Pure{}.Kind():
		e = Pure{Epsilon: f.float("epsilon")}
	case Approximate{}.Kind():
		e = Approximate{Epsilon: f.float("epsilon"), Delta: f.float("delta")}
	case ZCDP{}.Kind():
		e = ZCDP{Rho: f.float("rho")}
	case PoissonSampled{}.Kind():
		s := PoissonSampled{Rate: f.float("rate"), Event: f.nested(depth)}
		if _, ok := f.raw["one_sided"]; ok && f.err == nil {
			s.OneSided = f.nestedIn("one_sided", depth)
		}
		e = s
	case FixedSizeSampled{}.Kind():
		e = FixedSizeSampled{SampleSize: f.int("sample_size"), SourceSize: f.int("source_size"), Event: f.nested(depth)}
	case Shuffled{}.Kind():
		e = Shuffled{Epochs: f.int("epochs"), Event: f.nested(depth)}
	case Banded{}.Kind():
		c := Banded{Groups: f.int("groups"), Rate: f.float("rate"), NoiseMultiplier: f.float("noise_multiplier")}
		f.value("steps", &c.Steps)
		f.value("coefficients", &c.Coefficients)
		e = c
	case Repeat{}.Kind():
		r := Repeat{}
		f.value("count", &r.Count)
		r.Event = f.nested(depth)
		e = r
	case Compose{}.Kind():
		c, err := f.compose(depth)
		if err != nil {
			return nil, err
		}
		e = c
	case Scoped{}.Kind():
		o := f.object("scope", "scope")
		scope := Scope{Lower: o.float("lower"), Upper: o.float("upper")}
		if err := o.done(); err != nil {
			return nil, err
		}
		e = Scoped{Scope: scope, Event: f.nested(depth)}
	case Select{}.Kind():
		runs, err := f.object("runs", "runs").runs()
		if err != nil {
			return nil, err
		}
		e = Select{Runs: runs, Event: f.nested(depth)}
	default:
		return nil, invalid("event", "unknown kind %q", strings.ToValidUTF8(kind, "?"))
	}
	if err := f.done(); err != nil {
		return nil, err
	}
	return e, nil
}

func (f *fields) compose(depth int) (Compose, error) {
	var list []json.RawMessage
	if f.value("events", &list); f.err != nil {
		return Compose{}, f.err
	}
	var c Compose
	for _, raw := range list {
		o, err := readFields("event", raw)
		if err != nil {
			return Compose{}, err
		}
		e, err := o.event(depth + 1)
		if err != nil {
			return Compose{}, err
		}
		c.Events = append(c.Events, e)
	}
	return c, nil
}

func (f *fields) runs() (Runs, error) {
	var kind string
	if f.err == nil {
		f.value("kind", &kind)
	}
	if f.err != nil {
		return nil, f.err
	}
	f.kind = kind
	var r Runs
	switch kind {
	case TruncatedNegativeBinomial{}.RunsKind():
		r = TruncatedNegativeBinomial{Eta: f.float("eta"), Mean: f.float("mean")}
	case PoissonRuns{}.RunsKind():
		r = PoissonRuns{Mean: f.float("mean")}
	case RandomStopping{}.RunsKind():
		r = RandomStopping{Gamma: f.float("gamma"), Delta2: f.float("delta2")}
	default:
		return nil, invalid("runs", "unknown kind %q", strings.ToValidUTF8(kind, "?"))
	}
	return r, f.done()
}
