package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadText(t *testing.T) {
	for _, name := range []string{"sms-spam", "SMSSpam"} {
		s, err := LoadText(name, "")
		if err != nil {
			t.Fatal(err)
		}
		spam := 0
		for _, l := range s.Labels {
			spam += int(l)
		}
		if len(s.Texts) != 5574 || len(s.Labels) != 5574 || spam != 747 || !slices.Equal(s.Classes, []string{"ham", "spam"}) {
			t.Errorf("%d texts, %d spam, classes %v", len(s.Texts), spam, s.Classes)
		}
		if !strings.HasPrefix(s.Texts[1], "Ok lar") || !strings.HasSuffix(s.Texts[5573], "true to its name") {
			t.Error("the first or the last text is another")
		}
	}
	if _, err := LoadText("adult", ""); err == nil {
		t.Error("a table was read as texts")
	}
}

func TestReadTSV(t *testing.T) {
	classes := []string{"ham", "spam"}
	for _, tt := range []struct {
		name, in, err string
		want          []string
	}{
		{"lines", "ham\tone\nspam\ttwo\r\nham\t\n", "", []string{"one", "two", ""}},
		{"tabs and quotes", "ham\t\"a\tb\n", "", []string{"\"a\tb"}},
		{"no tab", "ham\tx\nSECRET\n", "f:2: no tab", nil},
		{"blank line", "ham\tx\n\nham\ty\n", "f:2: no tab", nil},
		{"another class", "SECRET\tx\n", "f:1: not one of the 2 declared classes", nil},
		{"not UTF-8", "ham\tSECRET\xff\n", "f:1: not UTF-8", nil},
		{"empty", "", "f:1: no tab", nil},
		{"long", "ham\t" + strings.Repeat("x", maxText+1), "f:1: longer than 1 MiB", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadTSV("f", strings.NewReader(tt.in), classes)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "SECRET") {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !cmp.Equal(got.Texts, tt.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func FuzzReadTSV(f *testing.F) {
	f.Add("ham\tone\nspam\ttwo\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ReadTSV("f", strings.NewReader(in), []string{"ham", "spam"})
		if err == nil && (len(got.Texts) != len(got.Labels) || len(got.Texts) == 0) {
			t.Fatal("texts and labels do not fit together")
		}
	})
}
