package workflow

import (
	"math"
	"slices"
	"strings"

	"pawl/compute/optim"
	"pawl/core/gradient"
)

// adadp is the optimizer that pairs steps.
const adadp = "adadp"

var (
	optimizers = []string{"sgd", "momentum", "adam", "adam-wosm", adadp}
	clippings  = []gradient.Clipping{gradient.Flat, gradient.Automatic, gradient.PerLayer, gradient.Quantile, gradient.Unclipped}
)

// checkChoices refuses what does not go with the optimizer or the clipping.
func (n *TrainInput) checkChoices() error {
	switch {
	case !slices.Contains(clippings, n.Clipping):
		return usage("clipping: flat, automatic, per-layer, quantile, or none with --non-private", "unknown clipping %q", n.Clipping)
	case !slices.Contains(optimizers, n.Optimizer):
		return usage("optimizers: "+strings.Join(optimizers, ", "), "unknown optimizer %q", n.Optimizer)
	case n.Optimizer == adadp && n.Mechanism == banded:
		return usage("use --optimizer momentum", "optimizer adadp undoes steps, which does not work with noise that is correlated over the steps")
	case n.Clipping != gradient.Quantile && n.Quantile != 0:
		return usage("add --clipping quantile", "--quantile goes with clipping quantile, not with %s", n.Clipping)
	case n.Clipping == gradient.Quantile && !(n.Quantile > 0 && n.Quantile < 1):
		return usage("example: --quantile 0.5", "the share of gradients that are not clipped must lie in (0, 1)")
	case n.Optimizer != adadp && n.Tolerance != 0:
		return usage("add --optimizer adadp", "--tolerance goes with optimizer adadp, not with %s", n.Optimizer)
	case n.Optimizer != adadp && n.KeepAll:
		return usage("add --optimizer adadp", "--keep-all goes with optimizer adadp, not with %s", n.Optimizer)
	case n.Tolerance < 0 || math.IsNaN(n.Tolerance) || math.IsInf(n.Tolerance, 0):
		return usage("leave it out for √(parameters/(2·steps))", "the tolerance must be a finite number above 0")
	case n.Optimizer == adadp && n.Schedule != (optim.Schedule{}) && n.Schedule != (optim.Schedule{Shape: "constant"}):
		return usage("leave out --schedule and --warmup", "optimizer adadp adapts its learning rate at every step")
	}
	return n.checkMechanism()
}

// wholeSteps is a number of steps that the optimizer uses up: ADADP takes two at a time,
// and one more than planned is better than one that is paid for and does nothing.
func (n *training) wholeSteps(steps int) int {
	if n.Optimizer == adadp {
		steps += steps % 2
	}
	return steps
}

// iterates is how many parameters a run passes through.
func (n *training) iterates() int {
	if n.Optimizer == adadp {
		return max(1, n.steps/2)
	}
	return n.steps
}

// tolerance and firstRate are those that ADADP runs with.
func (n *training) tolerance() float64 {
	if n.Tolerance > 0 {
		return n.Tolerance
	}
	return math.Sqrt(float64(n.net.Parameters()) / float64(2*n.steps))
}

func (n *training) firstRate() float64 {
	if n.LearningRate > 0 {
		return n.LearningRate
	}
	return 1e-3
}

// update steps and averages. Of a pair of steps the average takes the second. norm is that
// of the step, under a norm that follows a quantile, and 0 else.
func (n *training) update(step optim.Optimizer, average optim.Average, norm *float64) func(int, []float32, []float32) {
	paired, _ := step.(*optim.ADADP)
	return func(_ int, params, g []float32) {
		// Step rules keep the noise of a run by the product of step and norm, so a step is
		// that of the first norm, times the first norm over this one.
		if *norm > 0 {
			scale := float32(n.ClippingNorm / *norm)
			for i := range g {
				g[i] *= scale
			}
		}
		step.Step(params, g)
		if paired == nil || !paired.Between() {
			average.Add(params)
		}
	}
}

// follow lets the clipping norm follow a quantile, and norm hold that of the step.
func (n *training) follow(t *gradient.Training, norm *float64) {
	if n.Clipping != gradient.Quantile {
		return
	}
	t.UnclippedShare = n.Quantile
	t.Follow = func(now, _ float64) { *norm = now }
}
