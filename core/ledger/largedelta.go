package ledger

import "fmt"

// MaxDelta is the largest delta of a budget without an explicit request. An (epsilon, delta)-DP
// mechanism may publish one unit in 1/delta whole: above one in a hundred that is a release of rows
// and not a protection. Delta should lie below 1/units in any case, which the ledger cannot check.
const MaxDelta = "0.01"

const allowLargeDelta = "--allow-large-delta"

// large reports whether a delta is beyond MaxDelta.
func (a Amount) large() bool {
	most, _ := ParseAmount(MaxDelta)
	return a.Cmp(most) > 0
}

func refuseLargeDelta(dataset string, delta Amount, advice string) error {
	return &RefusedError{Dataset: dataset, Advice: advice,
		Reason: fmt.Sprintf("delta %v is more than %s: a job may then publish the whole data of more than one unit in a hundred; it should lie below 1/units", delta, MaxDelta)}
}
