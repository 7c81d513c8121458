package bound

// JudgeCounts is Judge for a test that was fixed, direction included.
func JudgeCounts(c Counts, claim Claim, confidence float64) (Verdict, error) {
	if err := checkConfidence(confidence); err != nil {
		return Verdict{}, err
	}
	if err := claim.Check(); err != nil {
		return Verdict{}, err
	}
	epsilon, err := c.Epsilon(claim.Delta, Printed)
	if err != nil {
		return Verdict{}, err
	}
	e, err := evidence(c, claim, 1-confidence)
	return Verdict{
		Claim: claim, Confidence: confidence, Evidence: []Evidence{e},
		Suspected: epsilon > claim.Epsilon, Convicted: e.TruePositives > e.Allowed,
		Bound: Estimate{Epsilon: epsilon, Delta: claim.Delta, Confidence: Printed, Counts: c, Correction: Fixed},
	}, err
}
