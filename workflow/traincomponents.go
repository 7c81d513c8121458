package workflow

import (
	"context"
	"fmt"
	"math"
	"strings"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/search/feature"
)

// A net with a dp_pca layer takes the principal components of its inputs from their
// noisy second moments (Dwork, Talwar, Thakurta and Zhang, "Analyze Gauss", STOC 2014):
// one Gaussian release on the training rows, after one of their mean where the layer is
// centred, both booked beside the training and paid for with it.

// componentShare and componentMeanShare are how much more noise the second moments and
// the mean have than the training as a whole, as centreShare is: the moments cost a
// 1/componentShare² of the training's Rényi divergence.
const (
	componentShare     = 3
	componentMeanShare = 10
)

// mostMoments bounds the inputs of a dp_pca layer: their second moments take inputs²
// numbers, and half of that in operations for each row.
const mostMoments = 4096

// components is how much noise the releases of a dp_pca layer have beside a training
// of multiplier x: multipliers of the mean (0 for none) and of the moments.
func (n *training) componentNoise(x float64) (mean, moments float64) {
	spec, ok := n.net.Released()
	if !ok {
		return 0, 0
	}
	whole := n.wholeNoise(x)
	if spec.Centred {
		mean = componentMeanShare * whole
	}
	return mean, componentShare * whole
}

// componentEvents are what the releases cost.
func (n *training) componentEvents(x float64) (events []dp.Event) {
	mean, moments := n.componentNoise(x)
	for _, m := range []float64{mean, moments} {
		if m > 0 {
			events = append(events, dp.Gaussian{NoiseMultiplier: m})
		}
	}
	return events
}

// checkComponents refuses, from public numbers, a count of components of which the last
// cannot stand out: rows of norm R at most have eigenvalues that add up to n·R² at
// most, so the K-th is at most n·R²/K, whatever the rows are.
func (n *training) checkComponents() error {
	spec, ok := n.net.Released()
	switch {
	case !ok:
		return nil
	case spec.Inputs > mostMoments:
		return usage("put pool:mean or dct:K before it, as in --front-end dct:300,dp-pca:30: fewer inputs also mean less noise",
			"principal components of %d inputs take too long; at most %d", spec.Inputs, mostMoments)
	case n.NonPrivate:
		return nil
	}
	_, multiplier := n.componentNoise(n.noise)
	c := n.covariance(multiplier)
	std, err := c.StdDev(n.problem.relation, n.problem.Schema.Unit.MaxRows)
	if err != nil {
		return err
	}
	rows, noise := n.expectedRows(), feature.SpectralNoise(spec.Inputs, std)
	most, last := feature.MostComponents(rows, spec.Bound, noise), rows*spec.Bound*spec.Bound/float64(spec.Components)
	if float64(spec.Components) <= most {
		return nil
	}
	var ways []string
	if most >= 1 {
		ways = append(ways, fmt.Sprintf("at most %.0f components (a third of that is realistic)", most))
	}
	if e, ok := n.epsilonFor(n.noise * last / noise); ok {
		ways = append(ways, "epsilon "+e)
	}
	ways = append(ways, "dct:K or random:K, which use no row")
	return usage("take "+strings.Join(ways, ", or "),
		"%d principal components are hopeless at this budget: over %.0f rows of norm %.3g the last has an eigenvalue of at most %.4g, and noise alone reaches %.4g",
		spec.Components, rows, spec.Bound, last, noise)
}

// epsilonFor is the price of the training at multiplier x, rounded up to two digits.
func (n *training) epsilonFor(x float64) (string, bool) {
	p := n.problem
	price, err := accountant.Epsilon(n.event(n.scope, x), p.relation, p.delta, p.Accountant)
	if err != nil || !(price.Epsilon > 0) || math.IsInf(price.Epsilon, 0) {
		return "", false
	}
	unit := math.Pow(10, math.Floor(math.Log10(price.Epsilon))-1)
	return fmt.Sprintf("%.4g", math.Ceil(price.Epsilon/unit)*unit), true
}

func (n *training) covariance(multiplier float64) release.Covariance {
	spec, _ := n.net.Released()
	return release.Covariance{Scope: n.scope, NoiseMultiplier: multiplier, Features: spec.Inputs, Norm: spec.Bound}
}

// planComponents adds the stages.
func (j *train) planComponents() {
	n := j.of
	spec, ok := n.net.Released()
	if !ok {
		return
	}
	mean, moments := n.componentNoise(n.noise)
	if mean > 0 {
		j.add("mean", n.scope, fmt.Sprintf("mean of %d inputs", spec.Inputs), dp.Gaussian{NoiseMultiplier: mean})
	}
	j.add("components", n.scope, fmt.Sprintf("second moments of %d inputs, for at most %d principal components", spec.Inputs, spec.Components),
		dp.Gaussian{NoiseMultiplier: moments})
}

// components releases what the dp_pca layer waits for and puts it into the net.
// Components that do not stand out of the noise are left out, and out says how many
// stay: a function of what was released.
func (n *training) components(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	spec, ok := n.net.Released()
	if !ok {
		return nil
	}
	meanNoise, momentNoise := n.componentNoise(n.noise)
	m := release.InputMean{Scope: n.scope, NoiseMultiplier: meanNoise, Norm: spec.Bound, ExpectedRows: n.expectedRows()}
	c := n.covariance(momentNoise)
	var err error
	if spec.Centred {
		env.Progress.step("mean", 0, 0)
		if n.NonPrivate {
			c.Centre, err = m.Public(env.Rows)
		} else {
			c.Centre, err = m.Release(ctx, permit, env.Rows)
		}
		if err != nil {
			return fmt.Errorf("mean of the inputs: %w", err)
		}
	}
	env.Progress.step("components", 0, 0)
	var moments *release.SecondMoments
	if n.NonPrivate {
		moments, err = c.Public(ctx, env.Rows)
	} else {
		moments, err = c.Release(ctx, permit, env.Rows)
	}
	if err != nil {
		return fmt.Errorf("principal components: %w", err)
	}
	found, err := feature.PrincipalComponents(feature.Moments(*moments), spec.Components)
	if err != nil {
		return err
	}
	out.Components = &Components{Asked: spec.Components, Kept: found.Kept}
	mean := make([]float32, spec.Inputs)
	for j, v := range c.Centre {
		mean[j] = float32(v)
	}
	return n.net.SetReleased(mean, found.Vectors)
}

// Components says how many principal components were asked for and how many stood out
// of the noise of their release.
type Components struct{ Asked, Kept int }

func (c *Components) warnings() []string {
	switch {
	case c == nil || c.Kept == c.Asked:
		return nil
	case c.Kept == 0:
		return []string{fmt.Sprintf("none of %d principal components stands out from the noise of the release: the model can predict only a constant", c.Asked)}
	}
	return []string{fmt.Sprintf("%d of %d principal components stand out from the noise of the release; the others were left out", c.Kept, c.Asked)}
}
