package workflow

import (
	"pawl/evidence/quality"
	"pawl/model"
)

// twoClasses reports whether the target has two classes.
func (p *problem) twoClasses() bool {
	return p.task == model.Classification && len(p.Schema.Columns[p.targetColumn].Levels()) == 2
}

// moreClasses reports whether the target has more than two classes.
func (p *problem) moreClasses() bool { return p.task == model.Classification && !p.twoClasses() }

// checkDecision refuses a decision that cannot be, by public facts only.
func (p *problem) checkDecision() error {
	d := p.Decision
	if !d.Given() || p.task == "" { // without a target nothing is said of it
		return nil
	}
	costs := d.FalseNegative != 0 || d.FalsePositive != 0
	ways := 0
	for _, given := range []bool{d.Threshold != 0, d.Recall != 0, costs} {
		if given {
			ways++
		}
	}
	switch {
	case !p.twoClasses():
		return usage("leave it out", "a threshold, a recall and costs need a target of two classes, and %q has another type or number of classes", p.Target)
	case ways > 1:
		return usage("give one of them", "--threshold, --recall and --cost exclude each other")
	case d.Threshold != 0 && !(d.Threshold > 0 && d.Threshold < 1):
		return usage("example: --threshold 0.2", "threshold %g is not a probability between 0 and 1", d.Threshold)
	case d.Recall != 0 && !(d.Recall > 0 && d.Recall < 1):
		return usage("example: --recall 0.8", "recall %g is not a share between 0 and 1", d.Recall)
	case costs && !(d.FalseNegative > 0 && d.FalsePositive > 0 && d.FalseNegative <= mostCost && d.FalsePositive <= mostCost):
		return usage("example: --cost false-negative=10", "costs must be above 0 and at most %g", float64(mostCost))
	}
	return nil
}

// mostCost bounds costs, whose ratio makes a threshold.
const mostCost = 1e6

func (p *problem) decisionKey() *quality.Decision {
	if !p.Decision.Given() {
		return nil
	}
	return &p.Decision
}
