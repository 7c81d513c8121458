package nn

import (
	"fmt"
	"math"
	"slices"

	"pawl/compute/kernel"
)

// LossKind names a loss of one example with scores s and target t.
type LossKind string

const (
	// Softmax is −log of the softmax probability of class t: s has one score for
	// each class, t is a class index. It is the zero value of Loss.
	Softmax LossKind = "softmax"
	// Logistic is log(1+e^s) − t·s with one score; t is 0 or 1.
	Logistic LossKind = "logistic"
	// Squared is (s−t)²/2 with one score.
	Squared LossKind = "squared"
	// Absolute is |s−t| with one score; its derivative at 0 is 0.
	Absolute LossKind = "absolute"
	// Huber is (s−t)²/2 up to |s−t| = h and h·|s−t| − h²/2 beyond.
	Huber LossKind = "huber"
)

// Loss is a LossKind with its threshold h, which only Huber has (default 1).
type Loss struct {
	Kind      LossKind `json:"kind"`
	Threshold float64  `json:"threshold,omitempty"`
}

// LossKinds lists the losses in alphabetical order.
func LossKinds() []LossKind { return []LossKind{Absolute, Huber, Logistic, Softmax, Squared} }

func (l Loss) withDefaults() Loss {
	if l.Kind == "" {
		l.Kind = Softmax
	}
	if l.Kind == Huber && l.Threshold == 0 {
		l.Threshold = 1
	}
	return l
}

// check reports a loss that does not go with a number of outputs.
func (l Loss) check(outputs int) error {
	switch {
	case !slices.Contains(LossKinds(), l.Kind):
		return &LayerError{Key: "loss", Reason: "no loss is called \"" + string(l.Kind) + "\"", Instead: "losses: softmax, logistic, squared, absolute, huber"}
	case l.Kind != Huber && l.Threshold != 0:
		return &LayerError{Key: "huber_threshold", Reason: "a threshold belongs to the huber loss only", Instead: "leave it out"}
	case l.Kind == Huber && !(l.Threshold > 0 && l.Threshold < math.MaxFloat32):
		return &LayerError{Key: "huber_threshold", Reason: "the threshold of the huber loss must be a finite number above 0", Instead: "1 is a common choice"}
	case l.Kind == Softmax && outputs < 2:
		return &LayerError{Key: "outputs", Reason: "the softmax loss needs at least 2 outputs, one for each class", Instead: "for one score use the logistic loss"}
	case l.Kind != Softmax && outputs != 1:
		return &LayerError{Key: "outputs", Reason: "the " + string(l.Kind) + " loss takes 1 output", Instead: "for classes use the softmax loss"}
	}
	return nil
}

// Value is the loss of one example, in float64. It is NaN for a target that is
// not a class, and for NaN.
func (l Loss) Value(scores []float32, target float32) float64 {
	l = l.withDefaults()
	s, t := float64(scores[0]), float64(target)
	switch l.Kind {
	case Softmax:
		class, ok := classOf(target, len(scores))
		if !ok {
			return math.NaN()
		}
		top := float64(slices.Max(scores))
		total := 0.0
		for _, v := range scores {
			total += math.Exp(float64(v) - top)
		}
		return math.Log(total) + top - float64(scores[class])
	case Logistic:
		// log(1+e^s) without overflow.
		return max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))) - t*s
	case Squared:
		return (s - t) * (s - t) / 2
	case Absolute:
		return math.Abs(s - t)
	case Huber:
		d := math.Abs(s - t)
		if d <= l.Threshold {
			return d * d / 2
		}
		return l.Threshold*d - l.Threshold*l.Threshold/2
	}
	panic("nn: loss " + string(l.Kind))
}

// Gradients sets dst (n×outputs) to the gradient of each example's own loss at
// scores (n×outputs), for n targets. An example whose target is NaN, or is no
// class of a softmax, gets zeros: it has nothing to say, and a step must not fail
// because of it.
func (l Loss) Gradients(dst, scores, targets []float32) {
	l = l.withDefaults()
	switch l.Kind {
	case Softmax:
		softmaxGradients(dst, scores, targets)
		return
	case Logistic:
		kernel.Sigmoid(dst, scores)
		for i, t := range targets {
			dst[i] -= t
		}
	default:
		h := float32(math.Inf(1))
		if l.Kind == Huber {
			h = float32(l.Threshold)
		}
		for i, t := range targets {
			d := scores[i] - t
			if l.Kind == Absolute {
				d = sign(d)
			}
			dst[i] = min(max(d, -h), h)
		}
	}
	for i, t := range targets {
		if isNaN(t) {
			dst[i] = 0
		}
	}
}

func sign(d float32) float32 {
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return d
}

// classOf is the class that a target names.
func classOf(target float32, classes int) (int, bool) {
	if !(target >= 0 && target < float32(classes)) {
		return 0, false
	}
	k := int(target)
	return k, float32(k) == target
}

func softmaxGradients(dst, scores, targets []float32) {
	if len(targets) == 0 {
		return
	}
	k := len(scores) / len(targets)
	for i := 0; i < len(scores); i += k {
		row := scores[i : i+k]
		top := slices.Max(row)
		for j, v := range row {
			dst[i+j] = v - top
		}
	}
	kernel.Exp(dst, dst)
	for i, t := range targets {
		row := dst[i*k : (i+1)*k]
		class, ok := classOf(t, k)
		if !ok {
			clear(row)
			continue
		}
		total := float32(0)
		for _, v := range row {
			total += v
		}
		for j := range row {
			row[j] /= total
		}
		// The target's own entry is p − 1, a difference that loses its digits as
		// p nears 1; minus the sum of the others does not.
		rest := float32(0)
		for j, v := range row {
			if j != class {
				rest += v
			}
		}
		row[class] = -rest
	}
}

// checkWeights refuses class weights that do not go with a loss.
func (l Loss) checkWeights(weights []float64, outputs int) error {
	classes := outputs
	if l.Kind == Logistic {
		classes = 2
	}
	switch {
	case weights == nil:
	case l.Kind != Softmax && l.Kind != Logistic:
		return &LayerError{Key: "class_weights", Reason: "class weights belong to a loss of classes", Instead: "leave them out"}
	case len(weights) != classes || slices.ContainsFunc(weights, func(w float64) bool { return !(w > 0 && w < math.MaxFloat32) }):
		return &LayerError{Key: "class_weights", Reason: fmt.Sprintf("class weights must be finite numbers above 0, one for each of %d classes", classes), Instead: "leave them out for 1"}
	}
	return nil
}

// weigh multiplies the gradient of each example by the weight of its class. Gradients of
// targets that are no class are 0.
func (n *Net) weigh(gradients, targets []float32) {
	if n.weights == nil {
		return
	}
	k := n.outputs
	for i, t := range targets {
		if class, ok := classOf(t, len(n.weights)); ok {
			kernel.Scale(gradients[i*k:(i+1)*k], float32(n.weights[class]))
		}
	}
}
