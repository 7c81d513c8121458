package search

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Published is what a paper reports for a strategy. It is shown beside ours and
// guarantees nothing.
type Published struct {
	// Epsilon as the paper gives it, and as its formula gives it to us (0 where we
	// have no formula that explains it).
	Epsilon, Replayed float64
	Accuracy          float64 // per cent, MNIST
	Trainings         float64
	Source, Note      string
}

// PublishedFor returns the papers' figures for MNIST at 2.11 a training, if any.
func PublishedFor(kind Kind, one dp.Event) (Published, bool) {
	const source = "Bao, Bauer and Bindschaedler, Sec. VII"
	switch kind {
	case PAAS:
		p := Published{Epsilon: 22.3, Accuracy: 94.94, Trainings: 60, Source: source, Note: "composition of the distinct training runs among 60; their validation scores are counted on other units"}
		r, err := accountant.Epsilon(dp.Repeat{Count: 54, Event: one}, dp.AddOrRemoveOne, 1e-5, accountant.MethodRDP)
		if err == nil {
			p.Replayed = r.Epsilon
		}
		return p, true
	case RS:
		p := Published{Epsilon: 3.51, Accuracy: 95.18, Trainings: 400, Source: source,
			Note: "our copy prints k inside the logarithm as a divisor; 3.512 needs it as a factor. The bound is for a test of one pair of training runs, not for the best of k"}
		p.Replayed, _ = RandomSearchPublished(2.11, 0.05, 0.04, 5000, 400)
		return p, true
	case MGRS:
		return Published{Epsilon: 8.53, Accuracy: 95.54, Trainings: 70, Source: source, Note: "the sum over generations; the formula as we read it gives 9.4 to 9.5"}, true
	}
	return Published{}, false
}

// RandomSearchPublished is the published accounting of random search over k nets: the
// epsilon of one training plus 8ε', where
//
//	loss·validation = (4/ε')·ln(k/(ε'·δ))
//
// loss is the accuracy that may be given up, validation the number of rows that score.
// It is no guarantee for the best of k trainings.
func RandomSearchPublished(epsilon, loss, delta, validation, k float64) (float64, error) {
	if !(epsilon > 0 && loss > 0 && delta > 0 && delta < 1 && validation > 0 && k >= 1) {
		return 0, errors.New("published accounting of random search: every number must be above 0")
	}
	short := func(e float64) float64 { return 4/e*math.Log(k/(e*delta)) - loss*validation }
	low, high := 1e-9, k/delta // the left side falls in ε' and ends at 0
	if short(high) > 0 {
		return 0, fmt.Errorf("no ε' gives an accuracy within %g on %g rows", loss, validation)
	}
	for range 200 {
		if mid := math.Sqrt(low * high); short(mid) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return epsilon + 8*high, nil
}
