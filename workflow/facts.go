package workflow

import "pawl/evidence/advise"

// Facts are the public facts that the plan's recipe follows from, where the number of
// rows is public: what advise.Choose was asked.
func (plan *Plan) Facts() advise.Facts { return plan.facts(float64(plan.problem.Rows)) }
