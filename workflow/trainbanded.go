package workflow

import (
	"fmt"
	"math"

	"pawl/compute/optim"
	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/gradient"
)

// Mechanisms of TrainInput.Mechanism, and lots of TrainInput.Lots.
const (
	dpsgd, banded   = "dp-sgd", "banded"
	poisson, passes = "poisson", "passes"
)

// bands is noise that is correlated over the steps (dp.Banded); the zero value is none.
type bands struct {
	groups       int
	coefficients []float64
	// relative is the noise of the iterates over that of independent noise with the same
	// multiplier; beside is that of the whole run over DP-SGD's on the same lots at the same
	// epsilon, 0 where it is not known.
	relative, beside float64
}

// offeredBands are tried where their number is not given: more take memory and are no better at the
// numbers of rows that were measured.
var offeredBands = []int{2, 4, 8, 16, 32}

// checkMechanism refuses what has no meaning together.
func (n *TrainInput) checkMechanism() error {
	on := n.Mechanism == banded
	switch {
	case n.Mechanism != "" && n.Mechanism != dpsgd && !on:
		return usage("mechanisms: dp-sgd, banded", "unknown mechanism %q", n.Mechanism)
	case n.Lots != "" && n.Lots != poisson && n.Lots != passes:
		return usage("batches: poisson, passes", "unknown --lots %q", n.Lots)
	case !on && n.Bands != 0:
		return usage("add --mechanism banded", "--bands goes with mechanism banded")
	case !on && n.Lots == passes:
		return usage("add --mechanism banded", "--lots passes goes with mechanism banded: DP-SGD is priced for Poisson lots")
	case !on:
		return nil
	case n.Bands < 0 || n.Bands == 1 || n.Bands > dp.MaxBands:
		return usage("one band is --mechanism dp-sgd", "the number of bands must lie in [2, %d]", dp.MaxBands)
	case n.NonPrivate:
		return usage("leave out --mechanism", "--non-private has no noise that bands could correlate")
	case n.Clipping == gradient.Quantile:
		return usage("use --clipping flat", "--clipping quantile does not work with banded noise: the noisy count of a step would need a share of its own")
	case n.Bands == 0 && n.NoiseMultiplier > 0:
		return usage("example: --bands 8", "--noise-multiplier with --mechanism banded needs --bands: they decide the price together")
	}
	return nil
}

// pass makes a pass of whole lots, where lots are fixed.
func (n *training) pass() error {
	if n.Mechanism != banded || n.Lots != passes {
		return nil
	}
	groups := math.Round(1 / n.rate)
	if groups < 2 {
		return usage("lower --batch", "a pass of %.0f rows in lots of %.0f has no two lots", n.expectedRows(), n.rate*n.expectedRows())
	}
	n.rate = 1 / groups
	return nil
}

// most is the largest number of bands that lots, steps and memory leave room for.
func (n *training) most() int {
	turns := math.Floor(1/n.rate + 1e-9)
	memory := float64(n.Memory/int64(8*n.net.Parameters())) + 1
	return int(min(turns, memory, float64(n.steps), dp.MaxBands))
}

// band sets the bands that are given, and refuses those that cannot be.
func (n *training) band() error {
	if n.Mechanism != banded {
		return nil
	}
	most := n.most()
	if most < 2 || n.Bands > most {
		return usage("lower --batch or --bands, or raise --epochs or --memory",
			"lots of %d of about %.0f rows, %d steps and %d parameters leave memory for %d bands, and banded noise needs %d", n.Batch, n.expectedRows(), n.steps, n.net.Parameters(), most, max(n.Bands, 2))
	}
	n.setBands(max(n.Bands, 2))
	return nil
}

func (n *training) setBands(count int) {
	b := optim.Bands{Bands: count, Steps: n.steps, Momentum: n.momentum()}
	n.bands = bands{groups: count, coefficients: b.Coefficients()}
	if n.Lots == passes {
		n.groups = int(math.Round(1 / n.rate))
	}
	n.relative = b.Relative(n.coefficients)
}

// chooseBands takes the number of bands whose iterates have the least noise, by the quick accountant: a
// function of public numbers.
func (n *training) chooseBands() {
	if n.Mechanism != banded || n.NoiseMultiplier > 0 {
		return
	}
	noise := func() float64 {
		x, _, err := calibrate.To(calibrate.Target{Epsilon: n.problem.target(), Delta: n.problem.delta}, n.problem.relation, accountant.MethodRDP,
			calibrate.Search{Event: func(x float64) dp.Event { return n.event(n.scope, x) }, Decreasing: true})
		if err != nil {
			return math.Inf(1)
		}
		return x
	}
	tried := offeredBands
	if n.Bands > 0 {
		tried = []int{n.Bands}
	}
	best, least := n.bands, math.Inf(1)
	for _, count := range tried {
		if count > n.most() {
			break
		}
		n.setBands(count)
		if x := noise() * n.relative; x < least {
			best, least = n.bands, x
		}
	}
	n.bands = bands{}
	if alone := noise(); !math.IsInf(alone, 0) && !math.IsInf(least, 0) {
		best.beside = least / alone
	}
	n.bands = best
	if n.beside >= 1 {
		n.problem.warnings = append(n.problem.warnings, fmt.Sprintf("banded noise does not help here: the iterates have %.2f times the noise of DP-SGD on the same batches at this epsilon; leave out --mechanism, or lower --batch", n.beside))
	}
}

// effective is the multiplier of independent noise of which iterates carry as much.
func (n *training) effective() float64 {
	if n.coefficients == nil {
		return n.noise
	}
	return n.noise * n.relative
}

// wholeNoise is the multiplier of one release that the training amounts to, for steps of multiplier x.
func (n *training) wholeNoise(x float64) float64 {
	p := n.privacy(n.scope, x)
	rounds := float64(n.steps)
	if n.coefficients != nil {
		rounds = math.Ceil(rounds / float64(n.groups))
	}
	return x / (p.Chance() * math.Sqrt(rounds))
}

// mechanismWords name the noise of a stage.
func (n *training) mechanismWords() string {
	if n.coefficients == nil {
		return "DP-SGD"
	}
	return fmt.Sprintf("DP-SGD with banded noise (%d bands, %d groups)", len(n.coefficients), n.groups)
}

// samplingWords is Privacy.Sampling of a statement, "" for the plain kinds.
func (n *training) samplingWords() string {
	switch {
	case n.coefficients == nil:
		return ""
	case n.Lots == passes:
		return "fixed passes"
	}
	return "Poisson within groups"
}
