package schema

import (
	"math"
	"strconv"
	"testing"
)

// A short number is the float that strconv makes of it, bit for bit.
func FuzzShortNumber(f *testing.F) {
	for _, s := range []string{"", "-", ".", "-.", "1", "-0", "0.1", ".5", "5.", "-12.50", "123456789012345", "1234567890123456", "12345678.9012345", "123456789.0123456",
		"1e5", "+1", "1..2", "0.000000000000001", "000000000000000", "99999999999999.9", "9007199254740993", "1_0", "0x1", "nan"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := shortNumber(s)
		if v != v {
			return
		}
		want, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q is %v, want %v (%v)", s, v, want, err)
		}
	})
}

// Numbers of tables are short ones.
func TestShortNumbersAreTaken(t *testing.T) {
	for _, s := range []string{"0", "7", "-3.25", "1234.5678", "100000", ".5", "5."} {
		if v := shortNumber(s); v != v {
			t.Errorf("%q is left to strconv", s)
		}
	}
}
