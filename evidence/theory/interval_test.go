package theory

import (
	"errors"
	"math"
	"testing"
)

func TestIntervals(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 6}, []float64{1.1, 1.8, 2.7, 3.9, 5.1}
	i, err := MeanInterval(a, .95) // R: t.test(c(1,2,3,4,6)) = [0.8116, 5.5884]
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lower", i.Lower, .8116, 1e-3)
	near(t, "upper", i.Upper, 5.5884, 1e-3)
	i, _ = PairedInterval(a, b, .9)
	near(t, "paired difference", i.Estimate, .28, 1e-12)
	if u, _ := UnpairedInterval(a, b, .9); !(u.Upper-u.Lower > 3*(i.Upper-i.Lower)) {
		t.Error("pairing must shorten the interval of samples that move together")
	}
	if c, err := CostOfPrivacy([]float64{.3, .3}, []float64{.1, .1, .1}, .95); err != nil || math.Abs(c.Estimate-.2) > 1e-12 || c.Lower != c.Upper {
		t.Errorf("cost without spread: %+v, %v", c, err)
	}
	for name, run := range map[string]func() error{
		"one value":        func() error { _, err := MeanInterval(a[:1], .9); return err },
		"NaN":              func() error { _, err := MeanInterval([]float64{1, math.NaN()}, .9); return err },
		"unequal pairs":    func() error { _, err := PairedInterval(a, b[1:], .9); return err },
		"full confidence":  func() error { _, err := UnpairedInterval(a, b, 1); return err },
		"one of two short": func() error { _, err := UnpairedInterval(a, b[:1], .9); return err },
	} {
		if err := run(); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
