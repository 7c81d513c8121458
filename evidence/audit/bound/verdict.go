package bound

import (
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
)

// Claim is what a mechanism promises about any two neighbours.
type Claim struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Event, when not nil, is what the mechanism is priced as under Relation. It bounds
	// tests at every false positive rate and is a sharper promise than (ε, δ) alone.
	Event    dp.Event    `json:"-"`
	Relation dp.Relation `json:"-"`
}

// ClaimOf is the claim of an event: its smallest proven ε at δ and, for verdicts, its
// whole trade-off curve.
func ClaimOf(event dp.Event, relation dp.Relation, delta float64) (Claim, error) {
	r, err := accountant.Epsilon(event, relation, delta, accountant.MethodMin)
	if err != nil {
		return Claim{}, err
	}
	c := Claim{Epsilon: r.Epsilon, Delta: delta, Event: event, Relation: relation}
	return c, c.Check()
}

// Check refuses claims without content: an ε that is negative, infinite or NaN, a δ
// outside of [0, 1).
func (c Claim) Check() error {
	if !(c.Epsilon >= 0) || math.IsInf(c.Epsilon, 0) {
		return invalid("a claim needs a finite epsilon >= 0, got %g", c.Epsilon)
	}
	return checkDelta(c.Delta)
}

// TruePositiveRate is the largest true positive rate that the claim allows at a false
// positive rate.
func (c Claim) TruePositiveRate(falsePositives float64) (float64, error) {
	most := MaxTruePositiveRate(c.Epsilon, c.Delta, falsePositives)
	if c.Event == nil {
		return most, nil
	}
	curve, err := meaning.TruePositiveRate(c.Event, c.Relation, falsePositives, accountant.MethodMin)
	return min(most, curve), err
}

// Evidence is one test on scores that did not choose it, against what a claim allows it.
type Evidence struct {
	Test   Test   `json:"test"`
	Counts Counts `json:"counts"`
	// TruePositives is at most the true positive rate and FalsePositives at least the
	// false positive rate, both with the confidence of the verdict.
	TruePositives  float64 `json:"true_positive_rate_at_least"`
	FalsePositives float64 `json:"false_positive_rate_at_most"`
	// Allowed is the true positive rate that the claim allows at FalsePositives.
	Allowed float64 `json:"allowed"`
}

// Verdict is what an audit says about a claim.
type Verdict struct {
	Claim Claim `json:"claim"`
	// Bound is the lower bound on ε at the claim's δ that is shown, at 95 %.
	Bound Estimate `json:"bound"`
	// Suspected says that Bound exceeds the claim. Without a conviction it is a reason to
	// audit again with more runs.
	Suspected bool `json:"suspected"`
	// Convicted says that the claim is refuted at Confidence: some test is right more
	// often than the claim allows. Not convicted proves nothing.
	Convicted  bool       `json:"convicted"`
	Confidence float64    `json:"confidence"`
	Evidence   []Evidence `json:"evidence"`
}

// String says the verdict in one line.
func (v Verdict) String() string {
	// More digits than two where two would round to certainty.
	at := fmt.Sprintf("%.7g %%", 100*v.Confidence)
	found := fmt.Sprintf("epsilon is at least %.3f at delta %g (%g %%), claimed %.3f", v.Bound.Epsilon, v.Bound.Delta, 100*v.Bound.Confidence, v.Claim.Epsilon)
	switch {
	case v.Convicted:
		return "rejected at " + at + ": " + found
	case v.Suspected:
		return "suspected, not rejected at " + at + ": " + found
	}
	return "not rejected at " + at + ", which proves nothing: " + found
}

// Judge puts a claim to the test. Two tests are chosen on half of the scores, one for
// its bound on ε and one for its bound on μ, and judged on the other half, each at half
// the error: an honest claim is convicted with probability 1−confidence at most. Use
// Conviction unless there is a reason.
//
// The event of a claim, where it has one, is what convicts: halved noise of a Gaussian
// shows in the middle of its curve long before it shows in ε at a small δ.
func Judge(s Scores, claim Claim, confidence float64) (Verdict, error) {
	if err := checkConfidence(confidence); err != nil {
		return Verdict{}, err
	}
	if err := claim.Check(); err != nil {
		return Verdict{}, err
	}
	shown, err := s.Epsilon(claim.Delta, Printed)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Claim: claim, Bound: shown, Suspected: shown.Epsilon > claim.Epsilon, Confidence: confidence}
	choose, judge := s.Halves()
	const tests = 2
	for _, by := range [tests]Criterion{ByEpsilon, ByMu} {
		t := choose.Choose(by, claim.Delta, 1-(1-confidence)/tests)
		e, err := evidence(judge.At(t), claim, (1-confidence)/tests)
		if err != nil {
			return Verdict{}, err
		}
		e.Test = t
		v.Evidence = append(v.Evidence, e)
		v.Convicted = v.Convicted || e.TruePositives > e.Allowed
	}
	return v, nil
}

// evidence rests on the trade-off curve f of the claim ascending: with p <= TPR and
// q >= FPR, an honest mechanism has p <= TPR <= f(FPR) <= f(q).
func evidence(c Counts, claim Claim, alpha float64) (Evidence, error) {
	p, q := c.rates(alpha)
	allowed, err := claim.TruePositiveRate(q)
	return Evidence{Counts: c, TruePositives: p, FalsePositives: q, Allowed: allowed}, err
}
