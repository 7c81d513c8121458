package mission

import (
	"strings"
	"testing"

	"pawl/experiments"
)

// A file that lacks something or contradicts itself is refused by what is wrong with it.
func TestBadFilesAreRefused(t *testing.T) {
	content, err := files.ReadFile("tables/mission-sms-spam.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"usual: text-net, metric", "usual: nothing, metric", `no usual "nothing"`},
		{"metric: accuracy", "metric: beauty", `metric "beauty"`},
		{"data: sms-spam", "data: secret", "not built in"},
		{"candidates: {smoke: 2, quick: 6, paper: 16}", "candidates: {smoke: 2, quick: 6}", "candidates above 0 at scale paper"},
		{"optimizer: adam", "optimiser: adam", "unknown field"},
		{"net: sms-rnn-simple\n  opt", "net: no-net\n  opt", `no net "no-net"`},
	} {
		changed := strings.Replace(string(content), c[0], c[1], 1)
		if changed == string(content) {
			t.Fatalf("nothing to change: %s", c[0])
		}
		if _, err := Decode("changed.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", c[1], err, c[2])
		}
	}
}

// Wins, ties and losses are counted by the intervals of the differences, and the median is that of
// their means.
func TestAgainst(t *testing.T) {
	a := &against{name: "others"}
	for i, d := range []*experiments.Estimate{{Mean: 2, Low: 1, High: 3}, {Mean: 1, Low: -1, High: 3}, {Mean: -4, Low: -5, High: -3}, {Mean: 3, Low: 2, High: 4}} {
		a.add(string(rune('a'+i)), d)
	}
	got := a.claim("1")
	want := "better on 2 of 4, worse on 1, within their intervals of each other on 1; median difference +1.5 points, least on c (-4.0)"
	if got.Evidence != want || got.Verdict != experiments.Unpublished {
		t.Errorf("%s: %q, want %q", got.Verdict, got.Evidence, want)
	}
}
