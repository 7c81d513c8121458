package quality

// Verdict says whether a model is worth using, by one rule for released and for exact numbers.
type Verdict string

// The verdicts.
const (
	// Useful: the labels are right more often, or cost less where costs were given, or errors are
	// smaller, than those of the best constant on the same rows; or, where that is not shown, rows of the second class score
	// higher than others.
	Useful Verdict = "useful"
	// NotShown: the numbers agree with a constant, and with more.
	NotShown Verdict = "not_shown"
	// Worse: a constant is better.
	Worse Verdict = "worse"
	// NotDetermined: the noise leaves nothing to say.
	NotDetermined Verdict = "not_determined"
)

// What a useful model is useful for.
const (
	ForLabels = "labels"
	// ForRanking: its order of rows is good and its labels, at the threshold that the model has,
	// are not: they want another one.
	ForRanking = "ranking"
)

// Decide applies the rule: the paired gain over the best constant first, in costs where these were
// given; then, for a
// classifier, the area under the ROC curve and the balanced accuracy, of the labels and at the
// advised threshold, each against that of a constant.
func Decide(gain Estimate, c *Classification) (v Verdict, useful string) {
	ranks, inverted, known := false, false, gain.Known()
	if c != nil {
		if c.CostGain != nil {
			gain, known = *c.CostGain, c.CostGain.Known()
		}
		half := 0.5
		if c.Positive == "" && c.Confusion != nil {
			half = 1 / float64(len(c.Confusion.Classes)) // mean recall of a constant
		}
		look := func(e Estimate) {
			ranks, inverted, known = ranks || e.Above(half), inverted || e.Below(half), known || e.Known()
		}
		look(c.BalancedAccuracy)
		if c.AUROC != nil {
			look(*c.AUROC)
		}
		if c.Advised != nil {
			look(c.Advised.BalancedAccuracy)
		}
	}
	switch {
	case gain.Above(0):
		return Useful, ForLabels
	case ranks:
		return Useful, ForRanking
	case !known:
		return NotDetermined, ""
	case gain.Below(0) || inverted:
		return Worse, ""
	}
	return NotShown, ""
}
