package audit

import (
	"context"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/internal/stattest"
)

// Null hypothesis: DP-SGD of eight sampled steps is as private as it is priced; one run
// with 1,000 canaries convicts it with probability 1e-6. Power: a twentieth of the noise,
// and a norm that never clips under the noise of one that does, are convicted from as many.
func TestGradientCanaries(t *testing.T) {
	honest := gradient.Privacy{ClippingNorm: 0.5, NoiseMultiplier: 4, Steps: 8, SamplingRate: 0.5}
	quiet, loose := honest, honest
	quiet.NoiseMultiplier /= 20
	loose.ClippingNorm, loose.NoiseMultiplier = honest.ClippingNorm*20, honest.NoiseMultiplier/20
	price := honest.Event()
	const delta = 1e-8
	for _, c := range []struct {
		name string
		run  GradientCanaries
		want bool
	}{
		{"honest", GradientCanaries{Canaries: 1000, Privacy: honest, Delta: delta}, false},
		{"a twentieth of the noise", GradientCanaries{Canaries: 1000, Privacy: quiet, Delta: delta, Priced: price}, true},
		{"norm of twenty times", GradientCanaries{Canaries: 1000, Privacy: loose, Delta: delta, Priced: price}, true},
	} {
		r, err := c.run.Run(context.Background(), certain, entropy.Seeded(4))
		if err != nil {
			t.Fatal(err)
		}
		if r.Convicted != c.want {
			t.Errorf("%s: convicted %v, claim %.3f, bound %+v", c.name, r.Convicted, r.Claim.Epsilon, r.Bound)
		}
		if c.want {
			continue
		}
		convicts := 0.0
		if r.Convicted {
			convicts = 1
		}
		stattest.Accept(t, stattest.Verdict{Name: c.name, Statistic: convicts, Limit: 0.5})
		if r.Shown.Epsilon > r.Claim.Epsilon {
			t.Errorf("shown %v, claim %v", r.Shown.Epsilon, r.Claim.Epsilon)
		}
	}
}

func TestGradientCanariesRefuse(t *testing.T) {
	p := gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 1, NoiseMultiplier: 1, Steps: 1, SamplingRate: 1}
	silent := p
	silent.NoiseMultiplier = 0
	for name, g := range map[string]GradientCanaries{
		"none": {Privacy: p, Delta: 1e-5}, "too few": {Canaries: 3, Privacy: p, Delta: 1e-5}, "too many": {Canaries: 1 << 20, Privacy: p, Delta: 1e-5},
		"delta": {Canaries: 20, Privacy: p, Delta: 0}, "no noise": {Canaries: 20, Privacy: silent, Delta: 1e-5},
	} {
		if r, err := g.Run(context.Background(), 0, entropy.Seeded(1)); err == nil {
			t.Errorf("%s: %+v and no error", name, r)
		}
	}
	if _, err := (GradientCanaries{Canaries: 20, Privacy: p, Delta: 1e-5}).Run(context.Background(), 0, nil); err == nil {
		t.Error("no source, and no error")
	}
}
