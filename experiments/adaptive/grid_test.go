package adaptive

import "testing"

func TestGridIsThatOfTable3(t *testing.T) {
	if sgd, own := len(SGD()), len(Own("adam")); sgd != 40 || own != 4 {
		t.Errorf("%d candidates of DP-SGD and %d of DP-Adam, want 40 and 4", sgd, own)
	}
}

func TestCurves(t *testing.T) {
	c := Curves{{{10, 90}, {20, 70}}, {{30, 60}, {10, 80}}, {{30, 95}, {10, 85}}}
	if got := c.Mean(0, 1); got != 80 {
		t.Errorf("mean %v, want 80", got)
	}
	// At the first look candidates 1 and 2 are equal.
	if a, b := c.Best(0), c.Best(1); a != 1 || b != 2 {
		t.Errorf("best %d and %d, want 1 and 2", a, b)
	}
	if got := c.Median(1); got != 80 {
		t.Errorf("median %v, want 80", got)
	}
}

// The appendix: noise 2, lots of 250 and C = 0.5 give a step of 0.25.
func TestOwnRate(t *testing.T) {
	g := &Grid{lot: 250}
	for _, c := range []struct {
		optimizer string
		noise     float64
		want      float64
	}{{"adam", 2, 1e-3}, {"adam-wosm", 2, .25}, {"adam-wosm", 4, .125}, {"adadp", 2, 0}} {
		if got := g.ownRate(Candidate{Optimizer: c.optimizer, Clip: .5}, c.noise); got < c.want*(1-1e-5) || got > c.want*(1+1e-5) {
			t.Errorf("%s at noise %g: %v, want %v", c.optimizer, c.noise, got, c.want)
		}
	}
}
