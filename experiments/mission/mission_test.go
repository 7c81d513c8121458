package mission

import (
	"strings"
	"testing"

	"pawl/experiments"
)

// A file that lacks something or contradicts itself is refused by what is wrong with it.
func TestBadFilesAreRefused(t *testing.T) {
	refused(t, "mission-sms-spam", [][3]string{
		{"usual: text-net, metric", "usual: nothing, metric", `no usual "nothing"`},
		{"metric: accuracy", "metric: beauty", `metric "beauty"`},
		{"data: sms-spam", "data: secret", "not built in"},
		{"candidates: {smoke: 2, quick: 6, paper: 16}", "candidates: {smoke: 2, quick: 6}", "candidates above 0 at scale paper"},
		{"optimizer: adam", "optimiser: adam", "unknown field"},
		{"net: sms-rnn-simple\n  opt", "net: no-net\n  opt", `no net "no-net"`},
		{"usual: text-net, metric", "usual: text-net, split: 3, metric", "leave out usual"},
		{`epsilons: ["1", "3"]`, "epsilons: []", "want epsilons"},
		{`epsilons: ["1", "3"]`, `epsilons: ["1", "-3"]`, `epsilon "-3"`},
	})
	refused(t, "goals-tables", [][3]string{
		{"aims: [82, 87]", "aims: [82]", "1 aims for 2 epsilons"},
		{"metric: r2", "metric: r2, preset: thorough", "for images"},
		{"metric: r2", "metric: r2, public: 1", "from 0 to below 1"},
	})
	refused(t, "goals-images", [][3]string{
		{"metric: accuracy, preset: thorough", "metric: accuracy, split: 1", "are for tables"},
		{"preset: thorough", "preset: long", `preset "long"`},
	})
}

func refused(t *testing.T, name string, changes [][3]string) {
	t.Helper()
	content, err := files.ReadFile("tables/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
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
