package identity

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func loose(s string) string { return string(appendLoose(nil, s)) }

func TestLooseForms(t *testing.T) {
	for _, same := range [][]string{
		{"1.5", "1.50", "01.5", "+1.5", "1.5e0", "15e-1", "0.15E1", " 1.5 ", "\t1.5\u00a0", "001.5000"},
		{"7", "7.0", "07", "+7", "7.", "7e0", "0.7e1", "70e-1", "7.000"},
		{"0", "-0", "0.0", "-0.00", "+0", "0e9", ".0"},
		{"-12.25", "-12.250", "-1225e-2", "-012.25"},
		{"50", "5e1", "50.0", "050"},
		{".5", "0.5", "0.50", "5e-1"},
		{"0.1", "0.10000000000000001", "0.1000000000000000055511151231257827"},
		{"123456789012345678", "123456789012345680", "1.2345678901234568e17"},
		{"1e300", "10e299", "1E+300"},
		{"1e-30", "0.000000000000000000000000000001"},
		{"true", "TRUE", "True", " true"}, {"false", "FALSE", "False"},
		{"", " ", "NA", "NaN", "nan", "null", "NULL", "None", "n/a", "#N/A", "<NA>"},
	} {
		for _, s := range same {
			if got, want := loose(s), loose(same[0]); got != want {
				t.Errorf("%q becomes %q, %q becomes %q", s, got, same[0], want)
			}
		}
	}
	apart := []string{"1.5", "15", "-1.5", "1.05", "1.5.0", "1e5x", "e5", "+", ".", "-", "--1", "1_000", "nab", "truee", "T", "1e99999", "0x10", "7 7", "1e300", "1e301", "0", "123456789012345", "123456789012346"}
	for i, s := range apart {
		for _, other := range apart[:i] {
			if loose(s) == loose(other) {
				t.Errorf("%q and %q both become %q", s, other, loose(s))
			}
		}
	}
}

// Every way in which programs print a float64 has one form, and no two numbers share it.
func TestLooseNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		want := loose(strconv.FormatFloat(v, 'g', -1, 64))
		forms := []string{strconv.FormatFloat(v, 'e', -1, 64), strconv.FormatFloat(v, 'E', 17, 64), strconv.FormatFloat(v, 'e', 25, 64)}
		if math.Abs(v) < 1e15 && math.Abs(v) > 1e-15 {
			plain := strconv.FormatFloat(v, 'f', -1, 64)
			forms = append(forms, plain, strconv.FormatFloat(v, 'f', 60, 64))
			if v > 0 {
				forms = append(forms, "+"+plain, "0"+plain)
			}
		}
		for _, s := range forms {
			if got := loose(s); got != want {
				t.Fatalf("%q becomes %q, want %q", s, got, want)
			}
		}
		if back, err := strconv.ParseFloat(want, 64); err != nil || back != v {
			t.Fatalf("%g becomes %q", v, want)
		}
		if again := loose(want); again != want {
			t.Fatalf("%q becomes %q", want, again)
		}
	})
}

func FuzzLoose(f *testing.F) {
	for _, s := range []string{"1.50", "+.5e-3", "true", "NA", "\xff\xfe", "1e", "-", "0000000000000000000000000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendLoose([]byte("before"), s)
		if !bytes.HasPrefix(got, []byte("before")) {
			t.Fatalf("%q lost what was there", s)
		}
		if again := loose(string(got[6:])); again != string(got[6:]) {
			t.Errorf("%q becomes %q, which becomes %q", s, got[6:], again)
		}
	})
}
