package dp

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// everyKind has one event of each kind; adding a kind without a codec fails the
// round trip below.
var everyKind = []Event{
	NoOp{}, NonPrivate{}, Gaussian{1.5}, Laplace{0.1}, DiscreteGaussian{4}, DiscreteLaplace{10},
	RandomizedResponse{0.5, 3}, ExponentialMechanism{0.3}, Pure{1}, Approximate{1, 1e-6}, ZCDP{0.02},
	PoissonSampled{Rate: 0.01, Event: Gaussian{1}}, PoissonSampled{Rate: 0.01, Event: Laplace{1}, OneSided: Laplace{2}}, FixedSizeSampled{10, 100, Gaussian{1}}, Shuffled{3, Gaussian{2}},
	Repeat{300000, PoissonSampled{Rate: 1.0 / 600, Event: Gaussian{2}}}, Compose{[]Event{Pure{1}, Gaussian{1}}}, Compose{},
	Scoped{Scope{0, 0.8}, Gaussian{1}}, Select{TruncatedNegativeBinomial{-0.5, 30}, Gaussian{1}},
	Banded{Steps: 100, Groups: 4, Rate: 0.25, NoiseMultiplier: 1.3, Coefficients: []float64{1, 0.5, 0.375}},
	Select{PoissonRuns{10}, Pure{1}}, Select{RandomStopping{0.1, 1e-6}, Gaussian{1}},
}

func TestEventRoundTrip(t *testing.T) {
	for _, e := range everyKind {
		raw, err := EncodeEvent(e)
		if err != nil {
			t.Fatalf("%#v: %v", e, err)
		}
		got, err := DecodeEvent(raw)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: got %#v, %v; want %#v", raw, got, err, e)
		}
	}
}

func TestEncodedForm(t *testing.T) {
	e := Select{TruncatedNegativeBinomial{0, 30}, Repeat{5, PoissonSampled{Rate: 0.25, Event: Gaussian{2}}}}
	const want = `{"version":1,"kind":"select","runs":{"kind":"tnb","eta":0,"mean":30},"event":{"kind":"repeat","count":5,"event":{"kind":"poisson_sampled","rate":0.25,"event":{"kind":"gaussian","noise_multiplier":2}}}}`
	if got, err := EncodeEvent(e); err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat(`{"kind":"repeat","count":1,"event":`, 80) + `{"kind":"no_op"}` + strings.Repeat("}", 80)
	for name, text := range map[string]string{
		"empty":               ``,
		"null":                `null`,
		"array":               `[]`,
		"no kind":             `{}`,
		"kind is a number":    `{"kind":1}`,
		"unknown kind":        `{"kind":"gauss","noise_multiplier":1}`,
		"kind in other case":  `{"Kind":"no_op"}`,
		"unknown version":     `{"version":2,"kind":"no_op"}`,
		"version is text":     `{"version":"1","kind":"no_op"}`,
		"inner version":       `{"kind":"repeat","count":1,"event":{"version":1,"kind":"no_op"}}`,
		"unknown field":       `{"kind":"gaussian","noise_multiplier":1,"sigma":2}`,
		"field in other case": `{"kind":"gaussian","Noise_Multiplier":1}`,
		"missing field":       `{"kind":"gaussian"}`,
		"null field":          `{"kind":"gaussian","noise_multiplier":null}`,
		"duplicate field":     `{"kind":"gaussian","noise_multiplier":9,"noise_multiplier":1}`,
		"duplicate kind":      `{"kind":"no_op","kind":"no_op"}`,
		"negative":            `{"kind":"gaussian","noise_multiplier":-1}`,
		"too large a number":  `{"kind":"gaussian","noise_multiplier":1e999}`,
		"fractional count":    `{"kind":"repeat","count":1.5,"event":{"kind":"no_op"}}`,
		"missing event":       `{"kind":"repeat","count":1}`,
		"null in a list":      `{"kind":"compose","events":[null]}`,
		"missing list":        `{"kind":"compose"}`,
		"no coefficient":      `{"kind":"banded","steps":4,"groups":2,"rate":1,"noise_multiplier":1,"coefficients":[]}`,
		"bands overlap":       `{"kind":"banded","steps":4,"groups":2,"rate":1,"noise_multiplier":1,"coefficients":[1,0.5,0.3]}`,
		"first is no noise":   `{"kind":"banded","steps":4,"groups":2,"rate":1,"noise_multiplier":1,"coefficients":[0,0.5]}`,
		"no group":            `{"kind":"banded","steps":4,"groups":0,"rate":1,"noise_multiplier":1,"coefficients":[1]}`,
		"chance above 1":      `{"kind":"banded","steps":4,"groups":2,"rate":1.5,"noise_multiplier":1,"coefficients":[1]}`,
		"unknown runs":        `{"kind":"select","runs":{"kind":"fixed","mean":3},"event":{"kind":"no_op"}}`,
		"extra in runs":       `{"kind":"select","runs":{"kind":"poisson","mean":3,"eta":1},"event":{"kind":"no_op"}}`,
		"runs not an object":  `{"kind":"select","runs":3,"event":{"kind":"no_op"}}`,
		"extra in scope":      `{"kind":"scoped","scope":{"lower":0,"upper":1,"x":1},"event":{"kind":"no_op"}}`,
		"empty scope":         `{"kind":"scoped","scope":{"lower":1,"upper":1},"event":{"kind":"no_op"}}`,
		"trailing object":     `{"kind":"no_op"}{}`,
		"trailing text":       `{"kind":"no_op"} x`,
		"unfinished":          `{"kind":"no_op"`,
		"too deep":            deep,
		"too long":            `{"kind":"no_op"}` + strings.Repeat(" ", MaxEventBytes),
	} {
		if e, err := DecodeEvent([]byte(text)); !errors.Is(err, ErrInvalidEvent) {
			t.Errorf("%s: got %#v, %v; want ErrInvalidEvent", name, e, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	deep := Event(NoOp{})
	for range 80 {
		deep = Repeat{1, deep}
	}
	long := Compose{Events: make([]Event, MaxEventBytes/8)}
	for i := range long.Events {
		long.Events[i] = NoOp{}
	}
	for name, e := range map[string]Event{
		"nil": nil, "nan": Gaussian{math.NaN()}, "infinite": Pure{math.Inf(1)}, "deep": deep, "long": long,
		"nil inner": Repeat{1, nil}, "nil in list": Compose{[]Event{nil}}, "nil runs": Select{nil, NoOp{}},
	} {
		if raw, err := EncodeEvent(e); !errors.Is(err, ErrInvalidEvent) {
			t.Errorf("%s: got %.60s, %v; want ErrInvalidEvent", name, raw, err)
		}
	}
}

// drawEvent makes a random valid event.
func drawEvent(depth int) *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		x := rapid.Float64Range(0, math.MaxFloat64).Draw(t, "x")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		n := rapid.IntRange(1, 1<<40).Draw(t, "n")
		kinds := 19
		if depth == 0 {
			kinds = 11
		}
		in := func() Event { return drawEvent(depth-1).Draw(t, "inner") }
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return NoOp{}
		case 1:
			return NonPrivate{}
		case 2:
			return Gaussian{x}
		case 3:
			return Laplace{x}
		case 4:
			return DiscreteGaussian{x}
		case 5:
			return DiscreteLaplace{x}
		case 6:
			return RandomizedResponse{p, n + 1}
		case 7:
			return ExponentialMechanism{x}
		case 8:
			return Pure{x}
		case 9:
			return Approximate{x, p}
		case 10:
			return ZCDP{x}
		case 11:
			return PoissonSampled{Rate: p, Event: in()}
		case 12:
			return FixedSizeSampled{rapid.IntRange(0, n).Draw(t, "m"), n, in()}
		case 13:
			return Shuffled{n, in()}
		case 14:
			return Repeat{int64(n), in()}
		case 15:
			var c Compose
			for range rapid.IntRange(0, 3).Draw(t, "len") {
				c.Events = append(c.Events, in())
			}
			return c
		case 16:
			lower := rapid.Float64Range(0, 0.999).Draw(t, "lower")
			return Scoped{Scope{lower, rapid.Float64Range(math.Nextafter(lower, 1), 1).Draw(t, "upper")}, in()}
		case 17:
			return Banded{Steps: int64(n), Groups: 2 + n%7, Rate: p, NoiseMultiplier: x, Coefficients: []float64{1 + p, p}[:1+n%2]}
		default:
			return Select{TruncatedNegativeBinomial{p - 0.5, 2 + p}, in()}
		}
	})
}

func TestRandomEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(4).Draw(t, "event")
		raw, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeEvent(raw)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%s: %#v, %v", raw, got, err)
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	for _, e := range everyKind {
		raw, err := EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"kind":"gaussian","noise_multiplier":1,"noise_multiplier":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeEvent(data)
		if err != nil {
			if !errors.Is(err, ErrInvalidEvent) {
				t.Fatalf("%q: error %v does not wrap ErrInvalidEvent", data, err)
			}
			return
		}
		raw, err := EncodeEvent(e)
		if err != nil {
			t.Fatalf("%q was read but cannot be written: %v", data, err)
		}
		again, err := DecodeEvent(raw)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q: %#v, %v", data, again, err)
		}
		if raw2, _ := EncodeEvent(again); !bytes.Equal(raw, raw2) {
			t.Fatalf("%q: two encodings", data)
		}
	})
}
