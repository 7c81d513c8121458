package attack

import (
	"math"
	"slices"
)

// Posteriors are what a model answers to records: for each its class and the
// probabilities of all classes.
type Posteriors struct {
	Classes int
	// P is records×Classes, row-major.
	P []float64
	// Label is the true class of each record.
	Label []int
}

// leastProbability keeps logarithms finite: a softmax in float32 has zeros.
const leastProbability = 1e-30

// Check refuses shapes that do not fit, numbers that are no probabilities, rows whose sum
// is more than a thousandth from 1 (logits, for instance) and labels that are no class.
func (p Posteriors) Check() error {
	if p.Classes < 2 || len(p.P) != len(p.Label)*p.Classes || len(p.Label) == 0 {
		return invalid("%d probabilities for %d records of %d classes", len(p.P), len(p.Label), p.Classes)
	}
	for i, y := range p.Label {
		if y < 0 || y >= p.Classes {
			return invalid("record %d: its label is none of %d classes", i, p.Classes)
		}
		sum := 0.0
		for _, v := range p.row(i) {
			if !(v >= 0 && v <= 1+1e-6) {
				return invalid("record %d: a posterior is not a probability", i)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-3 {
			return invalid("record %d: posteriors do not add up to 1", i)
		}
	}
	return nil
}

func (p Posteriors) row(i int) []float64 { return p.P[i*p.Classes : (i+1)*p.Classes] }

// Signal is a number made of a posterior that is larger for records on which a model does
// well, as it does on those that it was trained on.
type Signal string

const (
	// Loss is ln p_y, the negative cross-entropy (Yeom, Giacomelli, Fredrikson and Jha,
	// arXiv:1709.01604).
	Loss Signal = "loss"
	// Confidence is the largest probability, whatever the class (Salem et al.,
	// arXiv:1806.01246).
	Confidence Signal = "confidence"
	// TrueConfidence is p_y. It orders records as Loss does.
	TrueConfidence Signal = "true_confidence"
	// Entropy is Σ p ln p, the negative entropy.
	Entropy Signal = "entropy"
	// ModifiedEntropy is (1−p_y)·ln p_y + Σ_{k≠y} p_k·ln(1−p_k), the negative of the
	// entropy that knows the label (Song and Mittal, arXiv:2003.10595, Eq. 6).
	ModifiedEntropy Signal = "modified_entropy"
	// Correct is 1 where the most probable class is the label: the gap attack, which
	// measures overfitting alone.
	Correct Signal = "correct"
	// Logit is ln(p_y/(1−p_y)), which is about normal over shadow models: the input of
	// LiRA. 1−p_y is summed from the other classes, where a p_y that rounds to 1 still
	// says how sure the model is.
	Logit Signal = "logit"
)

// Signals lists every signal, for those who try them all.
func Signals() []Signal {
	return []Signal{Loss, Confidence, TrueConfidence, Entropy, ModifiedEntropy, Correct, Logit}
}

// Scores returns a signal for every record.
func (p Posteriors) Scores(signal Signal) ([]float64, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if !slices.Contains(Signals(), signal) {
		return nil, invalid("no signal %q; there are %q", signal, Signals())
	}
	scores := make([]float64, len(p.Label))
	for i, y := range p.Label {
		scores[i] = signal.of(p.row(i), y)
	}
	return scores, nil
}

func (s Signal) of(p []float64, y int) float64 {
	switch s {
	case Loss:
		return logOf(p[y])
	case Confidence:
		return slices.Max(p)
	case TrueConfidence:
		return p[y]
	case Entropy:
		sum := 0.0
		for _, v := range p {
			sum += v * logOf(v)
		}
		return sum
	case ModifiedEntropy:
		sum := 0.0
		for k, v := range p {
			if k == y {
				sum += others(p, y) * logOf(v)
			} else {
				sum += v * logOf(others(p, k))
			}
		}
		return sum
	case Correct:
		for k, v := range p {
			if k != y && v >= p[y] {
				return 0
			}
		}
		return 1
	default:
		return logOf(p[y]) - logOf(others(p, y))
	}
}

func logOf(p float64) float64 { return math.Log(max(p, leastProbability)) }

// others is 1−p_y as the sum of the other probabilities.
func others(p []float64, y int) float64 {
	sum := 0.0
	for k, v := range p {
		if k != y {
			sum += v
		}
	}
	return sum
}
