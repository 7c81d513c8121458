package workflow

import (
	"fmt"
	"math"

	"pawl/core/gradient"
)

// checkTraining refuses what has no meaning, before anything is priced.
func (n *TrainInput) checkTraining() error {
	finite := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	switch {
	case n.SamplingRate < 0 || n.SamplingRate > 1 || math.IsNaN(n.SamplingRate):
		return usage("example: --sampling-rate 0.01", "the sampling rate must lie in (0, 1]")
	case n.Batch < 1:
		return usage("--batch is the expected number of examples in a step", "batch must be at least 1")
	case !finite(n.Epochs) || n.Epochs > 1e6:
		return usage("example: --epochs 15", "epochs must be a finite number above 0")
	case n.NoiseMultiplier < 0 || math.IsNaN(n.NoiseMultiplier) || math.IsInf(n.NoiseMultiplier, 0):
		return usage("example: --noise-multiplier 1.1", "the noise multiplier must be a finite number above 0")
	case n.NoiseMultiplier > 0 && n.Epsilon != "":
		return usage("one follows from the other", "give --epsilon or --noise-multiplier, not both")
	case !n.NonPrivate && n.NoiseMultiplier == 0 && n.Epsilon == "":
		return usage("example: --epsilon 2.11", "missing --epsilon or --noise-multiplier")
	case n.NonPrivate && !n.Public:
		return usage("leave out --non-private", "training without noise is for public data only")
	case n.NonPrivate && (n.NoiseMultiplier > 0 || n.Epsilon != ""):
		return usage("leave out one of them", "--non-private goes without --epsilon and --noise-multiplier")
	case n.LearningRate < 0 || math.IsNaN(n.LearningRate) || math.IsInf(n.LearningRate, 0):
		return usage("leave it out to follow the rule", "the learning rate must be a finite number above 0")
	case !(n.ClippingNorm >= gradient.LeastNorm && n.ClippingNorm <= gradient.GreatestNorm):
		return usage("example: --clipping-norm 0.5", "the clipping norm must be a number from %g to %g", gradient.LeastNorm, gradient.GreatestNorm)
	case n.Clipping == gradient.Unclipped && !n.NonPrivate:
		return usage("clipping: flat, automatic, per-layer or quantile", "noise without clipping protects nobody")
	case !(n.Average >= 0 && n.Average <= 1):
		return usage("example: --average 0.25", "the share of averaged steps must lie in [0, 1]")
	case !(n.EMA >= 0 && n.EMA < 1):
		return usage("example: --ema 0.999", "the decay of the exponential average must lie in (0, 1)")
	case n.EMA > 0 && n.Average > 0:
		return usage("leave out one of them", "--ema averages in place of --average")
	case n.Memory < 1<<20:
		return usage("example: --memory 500MB", "a step needs at least 1 MB of memory")
	}
	if err := n.Schedule.Validate(); err != nil {
		return usage("example: --schedule cosine --warmup 0.05", "%v", err)
	}
	if err := n.checkChoices(); err != nil {
		return err
	}
	return n.Augment.check()
}

// farAbove is how many times the rule's step a learning rate may have without a
// word: twice costs a point, and thirty times has no use that we know of.
const farAbove = 30

// warnOfStep says before anything is paid that a step is far too long. It compares
// public numbers.
func (n *training) warnOfStep() []string {
	ratio, rate, ok := n.besideRule()
	if !ok || ratio <= farAbove {
		return nil
	}
	return []string{fmt.Sprintf("learning rate %.3g is %.2g times the rule's %.3g: training is likely to diverge", n.LearningRate, ratio, rate)}
}

// besideRule is a given learning rate as a multiple of the rule's.
func (n *training) besideRule() (ratio, rule float64, ok bool) {
	if n.LearningRate == 0 {
		return 0, 0, false
	}
	rule, err := n.ruleStep()
	return n.LearningRate / rule, rule, err == nil
}

// absurd is a size that no parameter of a useful network has.
const absurd = 1e6

// diverged says that released parameters are finite but of no use. It looks at
// nothing else, so it is post-processing.
func (out *Outcome) diverged() []string {
	top := float32(0)
	for _, w := range out.Model.Parameters32 {
		top = max(top, w, -w)
	}
	if top < absurd {
		return nil
	}
	return []string{fmt.Sprintf("training diverged: parameters reach %.2g; a smaller --learning-rate may help", top)}
}
