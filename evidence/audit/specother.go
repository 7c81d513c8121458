package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"pawl/core/accountant"
	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/core/linear"
	"pawl/core/release"
	"pawl/core/selection"
	"pawl/data/encode"
	"pawl/store/memory"
)

func otherSpecs() []Specification {
	var out []Specification
	for _, relation := range []dp.Relation{dp.AddOrRemoveOne, dp.ReplaceOne} {
		out = append(out, outputSpec(relation), objectiveSpec(relation), minimumSpec(relation), adaSSPSpec(relation))
	}
	return append(out, runsSpec(), streamsSpec(), chargesSpec(), eventsSpec(), pricesSpec(), ledgerSpec())
}

func unknown([]float64) float64 { return math.NaN() }

// fitSpec runs a fit on rows of which none has a target, so that what is left is noise.
func fitSpec(name, entry string, relation dp.Relation, k, runs int, event dp.Event, fit func(context.Context, *ledger.Permit, *intake.Rows) ([]float64, error), checks func(all [][]float64) []Check) Specification {
	return Specification{Name: named(name, relation), Entry: entry, Rows: "rows without a target: the fit is its noise",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneUnit(1, 0, 0).seal(k)
			if err != nil {
				return nil, err
			}
			desk := &desk{relation: relation, rowsPerUnit: k, events: []dp.Event{event}}
			var all [][]float64
			for range runs {
				w, err := desk.run(ctx, src, rows, fit)
				if err != nil {
					return nil, err
				}
				all = append(all, w)
			}
			return checks(all), nil
		}}
}

// wide is an encoding of many coordinates.
func wide() *encode.Encoding {
	e, err := encode.New(rowsSchema(1), classColumn, encode.Options{Bins: 200})
	if err != nil {
		panic(err) // of constants
	}
	return e
}

func flatten(all [][]float64, by float64) []float64 {
	var z []float64
	for _, w := range all {
		for _, v := range w {
			z = append(z, v/by)
		}
	}
	return z
}

func outputSpec(relation dp.Relation) Specification {
	const sigma, cap, a, k = 2, 0.5, 20, 3
	o := convex.Output{Scope: dp.WholeScope, NoiseMultiplier: sigma, Regularization: a, ResidualCap: cap, Encoding: wide(), Target: unknown}
	return fitSpec("output perturbation, units", "convex.PerturbOutput", relation, k, 8, o.Event(),
		func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
			return convex.PerturbOutput(ctx, permit, rows, o)
		}, func(all [][]float64) []Check {
			return vectorChecks([][]float64{flatten(all, sigma*cap*apartOf(relation, k)/a)})
		})
}

// The random term has a length of law Γ(d, s) and any direction.
func objectiveSpec(relation dp.Relation) Specification {
	const epsilon, a, cap, k, runs = 2, 4.0, 1, 3, 12
	o := convex.Objective{Scope: dp.WholeScope, Epsilon: epsilon, Regularization: a, ResidualCap: cap, Encoding: wide(), Target: unknown}
	return fitSpec("objective perturbation, units", "convex.PerturbObjective", relation, k, runs, o.Event(),
		func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
			return convex.PerturbObjective(ctx, permit, rows, o)
		}, func(all [][]float64) []Check {
			s := apartOf(relation, k) * cap / (0.99*epsilon - k*math.Log1p(0.25/a))
			sum, d := 0.0, 0
			var z [][]float64
			for _, w := range all {
				square := 0.0
				for _, v := range w {
					square += v * v
				}
				length := math.Sqrt(square)
				sum, d = sum+length*a/s, len(w)
				x := make([]float64, d) // uniform on the sphere: nearly normal
				for j, v := range w {
					x[j] = v / length * math.Sqrt(float64(d))
				}
				z = append(z, x)
			}
			n := float64(len(all) * d)
			return []Check{
				{What: "the random term has the priced length", Statistic: sum / n, Expected: 1, Count: len(all), PValue: chiSquare(2*sum, 2*n)},
				ReuseCheck("runs and coordinates do not share noise", z),
			}
		})
}

func minimumSpec(relation dp.Relation) Specification {
	const epsilon, delta, share = 4.0, 1e-2, 0.8
	a := convex.AMP{Scope: dp.WholeScope, Epsilon: epsilon, Delta: delta, ExpectedRows: 1e6, Share: share, Encoding: wide(), Target: unknown}
	return fitSpec("minima perturbation, units", "convex.PerturbMinimum", relation, 1, 8, a.Event(),
		func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
			return convex.PerturbMinimum(ctx, permit, rows, a)
		}, func(all [][]float64) []Check {
			const gamma = 1e-6 // 1/ExpectedRows
			j := apartOf(relation, 1)
			ridge := j * 0.25 / (0.99 * epsilon * (1 - share))
			std := j * (1 + math.Sqrt(2*math.Log(1/(0.99*delta)))) / (0.99 * epsilon * share) / ridge
			finish := 2 * gamma / ridge * (1 + math.Sqrt(2*math.Log(1/(0.01*delta)))) / (0.01 * epsilon)
			return vectorChecks([][]float64{flatten(all, math.Hypot(std, finish))})
		})
}

// momentsSpec is a fit of one weight on n rows that are 1 with target 1, against its law.
func momentsSpec(name, entry string, relation dp.Relation, event dp.Event, n int, fit func(context.Context, *ledger.Permit, *intake.Rows) ([]float64, error), law func(normal func() float64) float64) Specification {
	const runs = 4000
	return Specification{Name: named(name, relation), Entry: entry, Rows: fmt.Sprintf("%d equal rows of units of up to 3", n),
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneRowEach("o", n, 1).seal(specRows)
			if err != nil {
				return nil, err
			}
			desk := &desk{relation: relation, rowsPerUnit: specRows, events: []dp.Event{event}}
			var got, want []float64
			for range runs {
				w, err := desk.run(ctx, src, rows, fit)
				if err != nil {
					return nil, err
				}
				got = append(got, w[0])
			}
			rng := reference(src.Split("reference"))
			for range 200_000 {
				want = append(want, law(rng.NormFloat64))
			}
			return []Check{lawCheck("the weight has the distribution that the stated noise gives", got, want)}, nil
		}}
}

// beyond is a target that counts as 1.
func beyond([]float64) float64 { return 5 }

// At so few rows the ridge follows the noisy least eigenvalue, which shows in the weight.
func adaSSPSpec(relation dp.Relation) Specification {
	const sigma, n = 8.0, 160
	enc, err := constant()
	if err != nil {
		panic(err)
	}
	a := linear.AdaSSP{Scope: dp.WholeScope, NoiseMultiplier: sigma, Encoding: enc, Target: beyond}
	if relation == dp.ReplaceOne {
		a.NoiseMultiplier = sigma / 1.5
	}
	least := a.NoiseMultiplier * math.Sqrt(3) * specRows
	gram, cross := least, least
	if relation == dp.ReplaceOne {
		gram, cross = math.Sqrt2*least, 2*least
	}
	return momentsSpec("adaptive sufficient statistics, units", "linear.SolveAdaSSP", relation, a.Event(), n, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return linear.SolveAdaSSP(ctx, permit, rows, a)
	}, func(normal func() float64) float64 {
		below := max(0, n+least*normal()-least*math.Sqrt(2*math.Log(20)))
		ridge := max(0, gram*math.Sqrt(math.Log(2/0.05))-below)
		g, h := n+gram*normal(), n+cross*normal()
		for g+ridge <= 0 {
			ridge = max(2*ridge, gram)
		}
		return h / (g + ridge)
	})
}

// The number of runs follows its law and every run has noise of its own.
func runsSpec() Specification {
	const mean, studies, sigma = 10, 600, 50
	return Specification{Name: "selection, runs", Entry: "selection.Study.Run", Rows: "one row; noisy counts of it",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: sigma}
			sel := dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 1, Mean: mean}, Event: c.Event()}
			desk := &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: 1, events: []dp.Event{sel}}
			var numbers, want, z []float64
			wrong, twins, pairs := 0, 0, 0
			for range studies {
				permit, err := desk.next(ctx, src.Uint64())
				if err != nil {
					return nil, err
				}
				var values []float64
				w, err := selection.Study[struct{}, int64]{Select: sel, Draw: func(*entropy.Source) struct{} { return struct{}{} },
					Base: func(ctx context.Context, permit *ledger.Permit, _ int, _ struct{}) (int64, float64, error) {
						v, err := c.Release(ctx, permit, rows)
						values = append(values, float64(v))
						return v, float64(v), err
					}}.Run(ctx, permit)
				if err != nil {
					return nil, err
				}
				numbers = append(numbers, float64(len(values)))
				best := math.Inf(-1)
				for i, v := range values {
					z, best = append(z, (v-1)/sigma), max(best, v)
					if i > 0 {
						pairs++
						if v == values[i-1] {
							twins++
						}
					}
				}
				if w.Score != best {
					wrong++
				}
			}
			rng := reference(src.Split("reference"))
			for range 100_000 {
				k := 1.0
				for rng.Float64() > 1./mean {
					k++
				}
				want = append(want, k)
			}
			return []Check{
				lawCheck("the number of runs has the stated distribution", numbers, want), laplaceCheck("every run has the stated noise", z),
				ShareCheck("runs do not share noise: equal values only by chance", twins, pairs, 1./(4*sigma)), NeverCheck("the winner is the best run", wrong, studies),
			}, nil
		}}
}

// A permit pays for one release of its event, and for no dearer one.
func chargesSpec() Specification {
	return Specification{Name: "charges", Entry: "ledger.Ledger.Reserve", Rows: "one row",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			more := &people{}
			more.add("u", 0, 1)
			wider, err := more.seal(3)
			if err != nil {
				return nil, err
			}
			c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: 1}
			loud := release.Count{Scope: dp.WholeScope, NoiseMultiplier: 0.5}
			half := release.Count{Scope: dp.Scope{Lower: 0, Upper: 0.5}, NoiseMultiplier: 1}
			permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), c.Event())
			if err != nil {
				return nil, err
			}
			tries, bad := 0, 0
			refused := func(err error) {
				if tries++; err == nil {
					bad++
				}
			}
			_, err = c.Release(ctx, nil, rows)
			refused(err)
			_, err = loud.Release(ctx, permit, rows)
			refused(err)
			_, err = c.Release(ctx, permit, wider)
			refused(err)
			// One of its own: what should have been refused may have used the other up.
			if permit, err = permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), c.Event()); err != nil {
				return nil, err
			}
			if _, err = c.Release(ctx, permit, rows); err != nil {
				return nil, err
			}
			_, err = c.Release(ctx, permit, rows)
			refused(err)
			for _, event := range []dp.Event{dp.Scoped{Scope: half.Scope, Event: c.Event()}} {
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), event)
				if err != nil {
					return nil, err
				}
				_, err = c.Release(ctx, permit, rows)
				refused(err)
			}
			return []Check{NeverCheck("what was not charged is refused: no permit, more, twice, more rows, another scope", bad, tries)}, nil
		}}
}

// The price of what mechanisms take, against formulas of its own. A price below a bound that
// some neighbours attain is false.
func pricesSpec() Specification {
	return Specification{Name: "prices", Entry: "accountant.Epsilon", Rows: "no rows",
		observe: func(context.Context, *entropy.Source) ([]Check, error) {
			const delta = 1e-5
			var checks []Check
			least := func(what string, e dp.Event, relation dp.Relation, delta, least float64) error {
				r, err := accountant.Epsilon(e, relation, delta, accountant.MethodMin)
				if err != nil {
					return err
				}
				c := Check{What: "the price is not below the attained epsilon: " + what, Statistic: r.Epsilon, Expected: least, Count: 1, PValue: 1}
				if !(r.Epsilon >= least*(1-1e-6)) {
					c.PValue = 0
				}
				checks = append(checks, c)
				return nil
			}
			g := dp.Gaussian{NoiseMultiplier: 1}
			sampled := func(n int64) dp.Event {
				return dp.Repeat{Count: n, Event: dp.PoissonSampled{Rate: 0.1, Event: g}}
			}
			banded := func(rate float64) dp.Event {
				return dp.Banded{Steps: 20, Groups: 5, Rate: rate, NoiseMultiplier: 1, Coefficients: []float64{2, 1, 0.5}}
			}
			return checks, errors.Join(
				least("Gaussian", g, dp.AddOrRemoveOne, delta, gaussianEpsilon(1, delta)),
				least("four Gaussians", dp.Repeat{Count: 4, Event: g}, dp.AddOrRemoveOne, delta, gaussianEpsilon(2, delta)),
				least("Gaussians of two multipliers", dp.Compose{Events: []dp.Event{g, dp.Gaussian{NoiseMultiplier: 0.75}}}, dp.AddOrRemoveOne, delta, gaussianEpsilon(5./3, delta)),
				least("discrete Gaussian", dp.DiscreteGaussian{NoiseMultiplier: 2}, dp.AddOrRemoveOne, delta, gaussianEpsilon(0.5, delta)*0.9),
				least("zCDP", dp.ZCDP{Rho: 0.5}, dp.AddOrRemoveOne, delta, gaussianEpsilon(1, delta)),
				least("Laplace", dp.DiscreteLaplace{NoiseMultiplier: 2}, dp.AddOrRemoveOne, 0, 0.5),
				least("three pure events", dp.Repeat{Count: 3, Event: dp.Pure{Epsilon: 0.5}}, dp.AddOrRemoveOne, 0, 1.5),
				least("sampled Gaussian", sampled(1), dp.AddOrRemoveOne, delta, sampledEpsilon(0.1, 1, delta)),
				// Groups that take turns: every fifth step of a unit counts, cut off or not.
				least("banded noise, fixed passes", banded(1), dp.AddOrRemoveOne, delta, gaussianEpsilon(2, delta)),
				least("banded noise, one turn", dp.Banded{Steps: 3, Groups: 3, Rate: 0.1, NoiseMultiplier: 1, Coefficients: []float64{1, 0.5}}, dp.AddOrRemoveOne, delta, sampledEpsilon(0.1, 1, delta)),
				// Four lots show at least what one of them does, and the mean of many is a Gaussian.
				least("many sampled Gaussians", sampled(1000), dp.AddOrRemoveOne, delta, 0.9*gaussianEpsilon(0.1*math.Sqrt(1000), delta)),
				least("the best of many runs", dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 1, Mean: 10}, Event: dp.Pure{Epsilon: 1}}, dp.AddOrRemoveOne, 0, 1),
			)
		}}
}

// gaussianEpsilon is the ε at which δ_μ(ε) = Φ(μ/2−ε/μ) − e^ε·Φ(−μ/2−ε/μ) is δ.
func gaussianEpsilon(mu, delta float64) float64 {
	return bisect(func(e float64) float64 { return phi(mu/2-e/mu) - math.Exp(e)*phi(-mu/2-e/mu) }, delta)
}

// sampledEpsilon is that of one sampled Gaussian when a unit leaves: the mixture against the rest.
func sampledEpsilon(q, sigma, delta float64) float64 {
	return bisect(func(e float64) float64 {
		// The loss grows with x: the event is x > t.
		ratio := (math.Exp(e) - 1 + q) / q
		if !(ratio > 0) {
			return 1
		}
		t := sigma*sigma*math.Log(ratio) + 0.5
		return (1-q)*phi(-t/sigma) + q*phi((1-t)/sigma) - math.Exp(e)*phi(-t/sigma)
	}, delta)
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func bisect(delta func(epsilon float64) float64, want float64) float64 {
	low, high := 0.0, 100.0
	for range 100 {
		if mid := (low + high) / 2; delta(mid) > want {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// A budget is spent once.
func ledgerSpec() Specification {
	return Specification{Name: "budget", Entry: "ledger.Ledger.Reserve", Rows: "no rows",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "audit"})
			admitted := 0
			for range 12 {
				_, _, err := l.Reserve(ctx, ledger.Request{
					Dataset: "budget", Event: dp.Pure{Epsilon: 0.3}, Relation: dp.AddOrRemoveOne, Unit: unitName, RowsPerUnit: 1, Epsilon: "1", Delta: "1e-6",
				})
				if err == nil {
					admitted++
				}
			}
			// Gaussian jobs: what was admitted, at once, must fit in the total.
			const delta, mu = 1e-6, 0.1
			fits, many := 0, 0
			for gaussianEpsilon(mu*math.Sqrt(float64(fits+1)), delta) <= 1 {
				fits++
			}
			for range 2 * fits {
				_, _, err := l.Reserve(ctx, ledger.Request{
					Dataset: "jobs", Event: dp.Gaussian{NoiseMultiplier: 1 / mu}, Relation: dp.AddOrRemoveOne, Unit: unitName, RowsPerUnit: 1, Epsilon: "1", Delta: "1e-6",
				})
				if err == nil {
					many++
				}
			}
			return []Check{NeverCheck("a total of 1 admits at most three events of 0.3", max(admitted-3, 0), 12),
				NeverCheck("a total admits no more Gaussian jobs than fit when priced together", max(many-fits, 0), 2*fits)}, nil
		}}
}

// What mechanisms say that a run costs, against what it is. What is read here stands in
// the ledger: a mechanism that states less is never charged for the rest.
func eventsSpec() Specification {
	return Specification{Name: "events", Entry: "gradient.Privacy.Event", Rows: "no rows",
		observe: func(context.Context, *entropy.Source) ([]Check, error) {
			const z = 1.5
			var step dp.Event = dp.Gaussian{NoiseMultiplier: z}
			sampled := gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 1, NoiseMultiplier: z, Steps: 7, SamplingRate: 0.3}
			whole := sampled
			whole.SamplingRate = 1
			inBands := sampled
			inBands.Coefficients, inBands.Groups = []float64{1, 0.5}, 2
			discrete, laplace := dp.DiscreteGaussian{NoiseMultiplier: z}, dp.DiscreteLaplace{NoiseMultiplier: z}
			stated := []struct{ got, want dp.Event }{
				{sampled.Event(), dp.Repeat{Count: 7, Event: dp.PoissonSampled{Rate: 0.3, Event: step}}},
				{whole.Event(), dp.Repeat{Count: 7, Event: step}},
				{inBands.Event(), dp.Banded{Steps: 7, Groups: 2, Rate: 0.6, NoiseMultiplier: z, Coefficients: inBands.Coefficients}},
				{(&linear.Boost{NoiseMultiplier: z}).Event(), step},
				{release.Count{NoiseMultiplier: z}.Event(), laplace}, {release.Majority{NoiseMultiplier: z}.Event(), laplace},
				{release.Mean{NoiseMultiplier: z}.Event(), laplace},
				{release.Accuracy{NoiseMultiplier: z}.Event(), discrete}, {release.Accuracy{NoiseMultiplier: z, Pure: true}.Event(), laplace},
				{release.GroupScores{NoiseMultiplier: z}.Event(), discrete}, {release.GroupScores{NoiseMultiplier: z, Pure: true}.Event(), laplace},
				{release.Tables{NoiseMultiplier: z}.Event(), discrete}, {release.ClassSums{NoiseMultiplier: z}.Event(), step},
				{release.Covariance{NoiseMultiplier: z}.Event(), step}, {release.InputMean{NoiseMultiplier: z}.Event(), step},
				{convex.Output{NoiseMultiplier: z}.Event(), step},
				{linear.AdaSSP{NoiseMultiplier: z}.Event(), dp.Repeat{Count: 3, Event: dp.Gaussian{NoiseMultiplier: z * math.Sqrt(3)}}},
				{convex.Objective{Epsilon: z}.Event(), dp.Pure{Epsilon: z}}, {convex.AMP{Epsilon: z, Delta: 1e-3}.Event(), dp.Approximate{Epsilon: z, Delta: 1e-3}},
			}
			for i, e := range (release.AbsoluteError{MeanNoiseMultiplier: z, NoiseMultiplier: 2 * z}).Events() {
				stated = append(stated, struct{ got, want dp.Event }{e, dp.DiscreteGaussian{NoiseMultiplier: z * float64(i+1)}})
			}
			wrong := 0
			for _, s := range stated {
				if !reflect.DeepEqual(s.got, s.want) {
					wrong++
				}
			}
			return []Check{NeverCheck("mechanisms state their own event", wrong, len(stated))}, nil
		}}
}

// Two releases of one permit do not share noise, equal as they are.
func streamsSpec() Specification {
	const sigma, runs = 50, 400
	return Specification{Name: "streams", Entry: "release.Count.Release", Rows: "one row, counted twice under one permit",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: sigma}
			desk := &desk{relation: dp.AddOrRemoveOne, rowsPerUnit: 1, events: []dp.Event{c.Event(), c.Event()}}
			twins := 0
			for range runs {
				permit, err := desk.next(ctx, src.Uint64())
				if err != nil {
					return nil, err
				}
				a, err := c.Release(ctx, permit, rows)
				if err != nil {
					return nil, err
				}
				b, err := c.Release(ctx, permit, rows)
				if err != nil {
					return nil, err
				}
				if a == b {
					twins++
				}
			}
			return []Check{ShareCheck("releases of one permit do not share noise: equal values only by chance", twins, runs, 1./(4*sigma))}, nil
		}}
}
