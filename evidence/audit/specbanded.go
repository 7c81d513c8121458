package audit

import (
	"context"
	"fmt"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/noise"
)

// Noise that is correlated over the steps, so small that every unit's part in every step can be read off. What
// the coefficients make of the rest must be fresh noise of the priced standard deviation.
func bandedSpec() Specification {
	const (
		units, size, steps, groups = 300, 1200, 8, 4
		k, clip, rate, sigma, left = 3, 0.5, 0.125, 0.015, 40
		chance                     = rate * groups
	)
	coefficients := []float64{1, 0.6, 0.4}
	return Specification{Name: "training, banded", Entry: "gradient.Train", Rows: "300 units of 3 rows in 8 steps, of which each joins the 2 of its group with probability 1/2; and the same without 40 of them",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			seed := src.Uint64()
			run := func(first int) (out [][]float64, err error) {
				p := &people{}
				for u := first; u < units; u++ {
					for r := range k {
						p.add(fmt.Sprint("u", u), u*k+r, 0)
					}
				}
				rows, err := p.seal(k)
				if err != nil {
					return nil, err
				}
				t := gradient.Training{
					Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: steps, SamplingRate: rate,
						Coefficients: coefficients, Groups: groups},
					Clipping: gradient.Flat, Network: diracNet{layers: 1, size: size}, Encode: encodeDirection, Target: target,
					ExpectedRows: 100, Microbatch: 8, Multiplicity: 1,
					Update: func(_ int, _, g []float32) {
						x := make([]float64, len(g))
						for j, v := range g {
							x[j] = float64(v) * 100 * rate / clip
						}
						out = append(out, x)
					},
				}
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, k, seed, t.Event())
				if err != nil {
					return nil, err
				}
				return out, gradient.Train(ctx, permit, rows, t, make([]float32, size))
			}
			whole, err := run(0)
			if err != nil {
				return nil, err
			}
			fewer, err := run(left)
			if err != nil {
				return nil, err
			}
			group := func(of [][]float64, u int) (at, strays int) {
				at = -1
				for s := range of {
					switch {
					case of[s][u*k] < 0.5:
					case at < 0:
						at = s % groups
					case at != s%groups:
						strays++
					}
				}
				return at, strays
			}
			var all []float64
			joined, torn, strays, moved, before, again := 0, 0, 0, 0, 0, 0
			for u := range units {
				at, stray := group(whole, u)
				if strays += stray; u < left {
					continue
				}
				if other, _ := group(fewer, u); at >= 0 && other >= 0 && other != at {
					moved++
				}
			}
			residuals, fresh := make([][]float64, steps), make([][]float64, steps)
			for s, x := range whole {
				residuals[s], fresh[s] = make([]float64, size), make([]float64, size)
				for j, v := range x {
					if residuals[s][j] = v; v > 0.5 {
						residuals[s][j]--
					}
					for b, c := range coefficients[:min(len(coefficients), s+1)] {
						fresh[s][j] += c * residuals[s-b][j] / (sigma * k * noise.Norm(coefficients))
					}
				}
				for u := range units {
					in := x[u*k] > 0.5
					for r := 1; r < k; r++ {
						if x[u*k+r] > 0.5 != in {
							torn++
						}
					}
					if in {
						joined++
						if s < groups {
							before++
							if whole[s+groups][u*k] > 0.5 {
								again++
							}
						}
					}
				}
				all = append(all, fresh[s]...)
			}
			checks := []Check{
				ScaleCheck("noise times its coefficients has the priced standard deviation", all),
				ReuseCheck("noise times its coefficients is fresh in every step", fresh),
				NeverCheck("units join lots with all their rows or none", torn, units*steps*(k-1)),
				NeverCheck("a unit joins the lots of one group only", strays, units),
				NeverCheck("a unit's group does not change with other units", moved, units-left),
				ShareCheck("units join the lots of their group with the priced probability", joined, units*steps/groups, chance),
			}
			if before > 0 {
				checks = append(checks, ShareCheck("lots of a group are independent", again, before, chance))
			}
			return checks, nil
		}}
}
