package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/evidence/audit/bound"
)

// AUC is the chance that a member scores above another record, ties counting half, with
// DeLong's interval (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988): normal,
// with the variance of the placements of either side. Where these do not vary at all (a
// perfect attack on these records) it is the interval of McDiarmid's inequality, valid
// for every sample:
//
//	AUC ± √(ln(2/(1−confidence))·(1/m + 1/n)/2).
func (s Scored) AUC(confidence float64) (bound.Interval, error) {
	if err := s.Check(); err != nil {
		return bound.Interval{}, err
	}
	if !(confidence > 0 && confidence < 1) {
		return bound.Interval{}, invalid("confidence must lie strictly between 0 and 1, got %g", confidence)
	}
	in, out := s.split()
	m, n := float64(len(in)), float64(len(out))
	// Placements: of a member the share of others below it, of another the share of
	// members above it. Equal scores share one, so a pass over the steps suffices.
	var area, inSquares, outSquares, inMean, outMean float64
	before := step{}
	for _, at := range s.steps() {
		here := float64(at.in - before.in)
		there := float64(at.out - before.out)
		below := (n - float64(at.out) + there/2) / n
		above := (float64(before.in) + here/2) / m
		area += here * below
		inMean, inSquares = inMean+here*below, inSquares+here*below*below
		outMean, outSquares = outMean+there*above, outSquares+there*above*above
		before = at
	}
	area /= m
	variance := sampleVariance(inMean, inSquares, m)/m + sampleVariance(outMean, outSquares, n)/n
	half := distuv.UnitNormal.Quantile(1-(1-confidence)/2) * math.Sqrt(variance)
	if !(variance > 0) {
		half = math.Sqrt(math.Log(2/(1-confidence)) * (1/m + 1/n) / 2)
	}
	return bound.Interval{Estimate: area, Lower: max(0, area-half), Upper: min(1, area+half)}, nil
}

// sampleVariance has the divisor n−1; one value has none that is known, and counts as 0.
func sampleVariance(sum, squares, n float64) float64 {
	if n < 2 {
		return 0
	}
	// The sums are of numbers in [0, 1], so what cancels is harmless beyond 1e-15.
	v := (squares - sum*sum/n) / (n - 1)
	if v < 1e-15 {
		return 0
	}
	return v
}

// Operating is an attack at a false positive rate.
type Operating struct {
	// Asked is the false positive rate that must not be exceeded on these records.
	Asked float64 `json:"false_positive_rate"`
	// Refusal says why there is no number; the fields below are then absent.
	Refusal string `json:"refusal,omitempty"`
	// TruePositives has the exact interval of Clopper and Pearson: the threshold follows
	// from the others' scores alone, so members are independent trials of it.
	TruePositives *bound.Interval `json:"true_positive_rate,omitempty"`
	// FalsePositives is the rate at the threshold on these records.
	FalsePositives *bound.Interval `json:"actual_false_positive_rate,omitempty"`
}

// At is the attack at a false positive rate: the threshold is the lowest at which at most
// ⌊rate·n⌋ of the n others are taken for members. Where that is none of them, n is too
// small to know such a rate and the number is refused; a rate of 0.1 % needs a thousand.
func (s Scored) At(rate, confidence float64) (Operating, error) {
	if err := s.Check(); err != nil {
		return Operating{}, err
	}
	if !(rate > 0 && rate < 1) {
		return Operating{}, invalid("a false positive rate must lie strictly between 0 and 1, got %g", rate)
	}
	in, out := s.split()
	allowed := int(rate * float64(len(out)) * (1 + 1e-12)) // 0.001·1000 rounds below 1
	if allowed < 1 {
		return Operating{Asked: rate, Refusal: fmt.Sprintf("not supported: a false positive rate of %g needs at least %d non-members, there are %d",
			rate, int(math.Ceil(1/rate-1e-9)), len(out))}, nil
	}
	best := step{}
	for _, at := range s.steps() {
		if at.out > allowed {
			break
		}
		best = at
	}
	tp, err := bound.ClopperPearson(best.in, len(in), confidence)
	if err != nil {
		return Operating{}, err
	}
	fp, err := bound.ClopperPearson(best.out, len(out), confidence)
	return Operating{Asked: rate, TruePositives: &tp, FalsePositives: &fp}, err
}

// Point is a point of the curve of true against false positives.
type Point struct {
	FalsePositives float64 `json:"false_positive_rate"`
	TruePositives  float64 `json:"true_positive_rate"`
}

// Curve is the receiver operating characteristic from (0, 0) to (1, 1), thinned to what a
// plot can show, on linear axes or on logarithmic ones: a point is kept where it is half
// a hundredth from the last one, or a fortieth of a decade of false positives.
func (s Scored) Curve() ([]Point, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	in, out := s.split()
	curve := []Point{{}}
	all := s.steps()
	for i, at := range all {
		p := Point{float64(at.out) / float64(len(out)), float64(at.in) / float64(len(in))}
		last := curve[len(curve)-1]
		decade := last.FalsePositives == 0 && p.FalsePositives > 0 || p.FalsePositives > last.FalsePositives*math.Pow(10, 0.025)
		if i == len(all)-1 || decade || p.FalsePositives-last.FalsePositives >= 0.005 || p.TruePositives-last.TruePositives >= 0.005 {
			curve = append(curve, p)
		}
	}
	return curve, nil
}
