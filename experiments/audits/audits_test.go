package audits

import (
	"testing"

	"pawl/evidence/audit/bound"
	"pawl/experiments"
)

func TestCountClaims(t *testing.T) {
	e := experiments.Of([]float64{1, 2})
	for _, c := range []struct {
		fault     string
		convicted int
		want      experiments.Verdict
	}{
		{"honest", 0, experiments.Reproduced}, {"honest", 1, experiments.Not},
		{"noise off", 20, experiments.Reproduced}, {"noise off", 19, experiments.Not},
	} {
		if got := countClaim("4", c.fault, c.convicted, 20, e).Verdict; got != c.want {
			t.Errorf("%s, convicted %d of 20: %q", c.fault, c.convicted, got)
		}
	}
	for _, c := range []struct {
		mean, low float64
		want      experiments.Verdict
	}{{.4, .35, experiments.Reproduced}, {.32, .2, experiments.SameSign}, {.2, .1, experiments.Not}} {
		if got := shareClaim(&experiments.Estimate{Mean: c.mean, Low: c.low, High: 1, Runs: 9}).Verdict; got != c.want {
			t.Errorf("share %g from %g: %q", c.mean, c.low, got)
		}
	}
}

func TestFashionClaims(t *testing.T) {
	at := func(v float64) bound.Interval { return bound.Interval{Estimate: v, Lower: v - .005, Upper: v + .005} }
	claim := bound.Claim{Epsilon: 2, Delta: 1e-5}
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	for _, c := range []struct {
		name               string
		memorizes, private found
		want               [3]experiments.Verdict
	}{
		{"as it should be", found{at(.8), at(.05), at(.7)}, found{at(.5), at(.01), at(.5)}, [3]experiments.Verdict{r, r, r}},
		{"memorizes little", found{at(.6), at(.02), at(.6)}, found{at(.5), at(.014), at(.5)}, [3]experiments.Verdict{s, r, r}},
		{"nothing found, and too much", found{at(.5), at(.01), at(.5)}, found{at(.9), at(.2), at(.95)}, [3]experiments.Verdict{n, n, n}},
	} {
		for i, got := range fashionClaims(c.memorizes, c.private, .01, claim) {
			if got.Verdict != c.want[i] {
				t.Errorf("%s: %q is %q, %s", c.name, got.Statement, got.Verdict, got.Evidence)
			}
		}
	}
	f := found{at(.8), at(.05), at(.7)}
	if got := readFound(f.flat()); got != f {
		t.Errorf("%+v is kept as %+v", f, got)
	}
}

// The training that is audited is one that costs what it is asked for.
func TestTraining(t *testing.T) {
	for _, c := range audited {
		p, claim, err := c.training()
		if err != nil {
			t.Fatal(err)
		}
		if p.Steps < 2 || !(p.SamplingRate > 0 && p.NoiseMultiplier > 0 && p.ClippingNorm > 0) || claim.Epsilon == 0 {
			t.Errorf("ε = %s: %+v, %+v", c.epsilon, p, claim)
		}
	}
}
