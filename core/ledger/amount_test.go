package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseAmount(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // as a fraction
	}{
		{"1", "1"}, {"0", "0"}, {"0.1", "1/10"}, {".5", "1/2"}, {"2.", "2"}, {"1e-6", "1/1000000"}, {"1.5E+2", "150"},
		{"007", "7"}, {"0.024499999999999997", "24499999999999997/1000000000000000000"},
	} {
		got, err := ParseAmount(c.text)
		if err != nil || got.Rat().RatString() != c.want || got.String() != c.text {
			t.Errorf("ParseAmount(%q) = %v = %s, %v; want %s", c.text, got, got.Rat().RatString(), err, c.want)
		}
	}
	for _, text := range []string{"", " 1", "1 ", "-1", "+1", "NaN", "Inf", "inf", "1/3", "0x10", "1_000", "1e999999999", "1e100",
		"1e", ".", "e5", "1.2.3", "１", strings.Repeat("1", 65)} {
		if got, err := ParseAmount(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseAmount(%q) = %v, %v; want ErrInvalid", text, got, err)
		}
	}
}

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		limit string
		x     float64
		want  bool
	}{
		{"1", 1, true},
		{"1", 1.0000000000000002, true}, // eleven parts of 1/11
		{"1", 1 + 1e-9, false},
		{"1", 1 + 1e-11, false},
		{"0.1", 0.1, true}, // the float64 is larger than the decimal
		{"0.024499999999999997", 0.0244999999999999987, true},
		{"1", math.NaN(), false},
		{"1", math.Inf(1), false},
		{"0", 0, true},
		{"0", 5e-324, false},
	} {
		limit, err := ParseAmount(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := limit.allows(c.x); got != c.want {
			t.Errorf("%s allows %v: got %v, want %v", c.limit, c.x, got, c.want)
		}
	}
}

func TestRounding(t *testing.T) {
	one, _ := ParseAmount("1")
	for _, c := range []struct {
		x        float64
		limit    *Amount
		up, down string
	}{
		{0.95, nil, "0.95", "0.95"},
		{0.30000000000000004, nil, "0.300000001", "0.3"},
		{1.0000000000000002, &one, "1", "1"},
		{1.0000000000000002, nil, "1.000000001", "1"},
		{1e-12, nil, "1e-09", "0"},
		{0, nil, "0", "0"},
		{-1, nil, "inf", "0"},
		{math.NaN(), nil, "inf", "0"},
		{math.Inf(1), nil, "inf", "inf"},
	} {
		if up, down := NumberOf(RoundUp(c.x, c.limit)).String(), NumberOf(RoundDown(c.x)).String(); up != c.up || down != c.down {
			t.Errorf("%v: up %s, down %s; want %s, %s", c.x, up, down, c.up, c.down)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 1e6).Draw(t, "x")
		exact, _ := new(big.Rat).SetString(fmt.Sprint(x))
		if up := RoundUp(x, nil); up.Cmp(exact) < 0 {
			t.Fatalf("%v rounded up to %s", x, up.FloatString(12))
		}
		if down := RoundDown(x); down.Cmp(exact) > 0 {
			t.Fatalf("%v rounded down to %s", x, down.FloatString(12))
		}
	})
}
