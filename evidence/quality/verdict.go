package quality

// Verdict says whether a model is worth using, by one rule for released and for exact numbers.
type Verdict string

const (
	// Useful: the labels are right more often, or errors are smaller, than those of the best
	// constant on the same rows.
	Useful Verdict = "useful"
	// UsefulRanking: that is not shown, but rows of the second class score higher than the others.
	// The labels want another threshold, or none.
	UsefulRanking Verdict = "useful_ranking"
	// NotShown: the numbers agree with a constant, and with more.
	NotShown Verdict = "not_shown"
	// Worse: a constant is better.
	Worse Verdict = "worse"
	// NotDetermined: the noise leaves nothing to say.
	NotDetermined Verdict = "not_determined"
)

// Decide applies the rule: the paired gain over the best constant first; then, for a
// classifier, the balanced accuracy at the advised threshold and the area under the ROC curve,
// each against a half.
func Decide(gain Estimate, c *Classification) Verdict {
	ranks, inverted, known := false, false, gain.Known()
	if c != nil {
		for _, e := range []*Estimate{c.AUROC, &c.BalancedAccuracy} {
			if e == nil {
				continue
			}
			constant := 0.5
			if c.Positive == "" && c.Confusion != nil { // mean recall of a constant
				constant = 1 / float64(len(c.Confusion.Classes))
			}
			ranks, known = ranks || e.Above(constant), known || e.Known()
			inverted = inverted || e.Below(constant)
		}
		if c.Advised != nil {
			ranks = ranks || c.Advised.BalancedAccuracy.Above(0.5)
		}
	}
	switch {
	case gain.Above(0):
		return Useful
	case ranks:
		return UsefulRanking
	case !known:
		return NotDetermined
	case gain.Below(0) || inverted:
		return Worse
	}
	return NotShown
}
