package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestVocabulary(t *testing.T) {
	const list = "free\nyou\n000\n£\n"
	for unknown, want := range map[Unknown][]int{Skip: {0, 3, 2, 1}, Shared: {0, 4, 3, 2, 4, 1, 4}} {
		v, err := ReadVocabulary(strings.NewReader(list), unknown)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Numbers(nil, "FREE entry £123 for you!", 100); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", unknown, got, want)
		}
		if got := v.Numbers([]int{9}, "free free free you", 2); !slices.Equal(got, []int{9, 0, 0}) {
			t.Errorf("%s: %v", unknown, got)
		}
		if most := slices.Max(want); v.Size() <= most || string(v.Bytes()) != list {
			t.Errorf("%s: %d numbers, list %q", unknown, v.Size(), v.Bytes())
		}
		again, err := ReadVocabulary(strings.NewReader("\ufeff"+strings.ReplaceAll(list, "\n", "\r\n")), unknown)
		if err != nil || again.Digest() != v.Digest() {
			t.Errorf("%s: another form of the list is another list: %v", unknown, err)
		}
	}
}

func TestVocabularyFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "empty",
		"a\n\nb\n":               "an empty line",
		"a\nfree entry\n":        "is split into 2",
		"a\nFree\n":              "small letters",
		"a\n123\n":               "small letters",
		"a\nb\na\n":              "listed twice",
		"a\n \n":                 "is split into 0",
		"a\n\xff\n":              "not UTF-8",
		strings.Repeat("a", 2e6): "longer than 1 MiB",
	} {
		_, err := ReadVocabulary(strings.NewReader(text), Skip)
		var fault *VocabularyError
		if !errors.As(err, &fault) || !strings.Contains(fault.Msg, want) || fault.Line < 1 {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadVocabulary(strings.NewReader("a\n"), ""); err == nil {
		t.Error("a vocabulary without a rule for what it does not list")
	}
}
