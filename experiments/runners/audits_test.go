package runners

import (
	"context"
	"testing"

	"pawl/core/gradient"
	"pawl/experiments"
	"pawl/experiments/replay"
)

// judged are the verdicts of a file's claims at a scale, where every cell of a kind measures what value says.
func judged[Args any](t *testing.T, name, kind string, scale experiments.Scale, value func(a *Args) []float64) (verdicts []experiments.Verdict) {
	t.Helper()
	content, err := files.ReadFile("tables/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := set()
	s.Kinds[kind] = replay.Of(func(_ context.Context, _ *experiments.Run, a *Args) []float64 { return value(a) })
	e, err := s.Decode(name+".yaml", content)
	if err != nil {
		t.Fatal(err)
	}
	table, err := experiments.Replay(t.Context(), e, experiments.Restored(name, scale, map[string][]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Claims {
		verdicts = append(verdicts, c.Verdict)
	}
	return verdicts
}

func wantVerdicts(t *testing.T, name string, got []experiments.Verdict, want ...experiments.Verdict) {
	t.Helper()
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("%s: verdicts %v, want %v", name, got, want)
			return
		}
	}
}

// An honest claim is never exceeded, a broken one always convicted, and a share of it is shown.
func TestCountClaims(t *testing.T) {
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	for _, c := range []struct {
		name       string
		honest     uint64 // convictions of the honest training, and runs of broken ones that are not convicted
		missed     uint64
		shown      float64
		spread     float64
		exceeded   experiments.Verdict
		share, off experiments.Verdict
	}{
		{"as it should be", 0, 0, .4, .01, r, r, r},
		{"a claim exceeded once, a fault missed once", 1, 1, .32, .9, n, s, n},
		{"little shown", 0, 0, .2, .01, r, n, r},
	} {
		got := judged(t, "audit-counts", "audit a training", experiments.Quick, func(a *auditing) []float64 {
			convicted := 1.
			if a.Fault == "honest" && a.Seed >= c.honest || a.Fault != "honest" && a.Seed < c.missed {
				convicted = 0
			}
			return []float64{4 * (c.shown + c.spread*(float64(a.Seed%2)-.5)), 4, convicted}
		})
		wantVerdicts(t, c.name, got, c.exceeded, c.off, c.off, c.exceeded, c.off, c.off, c.exceeded, c.share, c.off, c.off)
	}
}

func TestLiRAClaims(t *testing.T) {
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	for _, c := range []struct {
		name               string
		memorizes, private [3]float64 // area under the curve, true positives at 1 %, success
		want               [3]experiments.Verdict
	}{
		{"as it should be", [3]float64{.8, .05, .7}, [3]float64{.5, .01, .5}, [3]experiments.Verdict{r, r, r}},
		{"memorizes little", [3]float64{.6, .02, .6}, [3]float64{.5, .014, .5}, [3]experiments.Verdict{s, r, r}},
		{"nothing found, and too much", [3]float64{.5, .01, .5}, [3]float64{.9, .2, .95}, [3]experiments.Verdict{n, n, n}},
	} {
		got := judged(t, "audit-fashion", "attack by LiRA", experiments.Quick, func(a *inferring) (v []float64) {
			of := c.memorizes
			if a.Epsilon != "" {
				of = c.private
			}
			for _, x := range of {
				v = append(v, x, x-.005, x+.005)
			}
			return v
		})
		wantVerdicts(t, c.name, got, c.want[:]...)
	}
}

// The training that is audited is one that costs what it is asked for.
func TestAuditedTraining(t *testing.T) {
	for _, epsilon := range []string{"0.5", "1", "4"} {
		a := &auditing{Net: "mnist-paw-fcn", Rows: 60000, Epsilon: epsilon, Fault: "noise off"}
		p, claim := a.training()
		if p.Steps < 2 || !(p.SamplingRate > 0 && p.NoiseMultiplier > 0 && p.ClippingNorm > 0) || claim.Epsilon == 0 {
			t.Errorf("ε = %s: %+v, %+v", epsilon, p, claim)
		}
		if broken, err := a.broken(p); err != nil || broken.NoiseMultiplier != p.NoiseMultiplier/1000 || broken.ClippingNorm != p.ClippingNorm {
			t.Errorf("noise off: %+v, %v", broken, err)
		}
	}
	if _, err := (&auditing{Fault: "off"}).broken(gradient.Privacy{}); err == nil {
		t.Error("an unknown fault passes")
	}
}
