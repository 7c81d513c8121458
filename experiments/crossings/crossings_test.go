package crossings

import (
	"strings"
	"testing"
)

// A file that lacks something or contradicts itself is refused by what is wrong with it.
func TestBadFilesAreRefused(t *testing.T) {
	content, err := figures.ReadFile("figures/figure-8.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"net: mnist-paw-fcn, rates", "net: no-net, rates", `no net "no-net"`},
		{"complex: FCN}", "complex: RNN}", `no curve "RNN"`},
		{"at: largest", "at: middle", "want at: smallest"},
		{"[.05, .1, .25, .5, 1, 2]", "[.05, .1, .25, .5, 2, 1]", "rising epsilons"},
		{"  beats:", "  beat:", "unknown field"},
		{", rates: [.5, 2]}", "}", "want rates"},
		{"rows: {smoke: 120, quick: 60000, paper: 60000}", "rows: {smoke: 120, quick: 60000}", "scale paper: want rows"},
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

// A claim from an ε on compares at the first ε of the grid that is no smaller.
func TestPoint(t *testing.T) {
	grid := []float64{.1, 1, 10}
	for _, c := range []struct {
		of   claim
		want int
	}{{claim{At: "smallest"}, 0}, {claim{At: "largest"}, 2}, {claim{From: 1}, 1}, {claim{From: .5}, 1}, {claim{From: 100}, 2}} {
		if got := c.of.point(grid); got != c.want {
			t.Errorf("%+v: %d, want %d", c.of, got, c.want)
		}
	}
}
