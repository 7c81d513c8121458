package workflow

import (
	"context"

	"pawl/core/ledger"
	"pawl/feature"
)

// Foretell says how the ledger would decide on the plan now, and books nothing. Its errors
// are those by which Run or Choose would end before a row is opened, but for faults of the
// rows. Of env it reads the ledger, the digest, Updated and what makes a run go on that
// was interrupted. A choice that looks at no row is booked nowhere: its verdict is empty.
func (plan *Plan) Foretell(ctx context.Context, env Env) (ledger.Verdict, error) {
	if !plan.books() {
		return ledger.Verdict{}, nil
	}
	booked := plan.asBooked()
	v, err := env.Ledger.Foretell(ctx, booked.request(env, plan.problem.Seed != nil || env.Source != nil && env.Source.Seeded()))
	if err != nil {
		return v, err
	}
	return v, booked.suits(v.Receipt)
}

// books says whether the plan is entered in the ledger at all.
func (plan *Plan) books() bool {
	c := plan.choosing
	return c == nil || c.Method == "pafs" || c.selector.Need() != feature.NeedNothing
}

// asBooked is the plan as the ledger is asked for it. A choice as published is booked as
// what it is, so that the ledger holds the data set as public, or refuses where it holds
// it as sensitive. The request wants an epsilon; none is claimed.
func (plan *Plan) asBooked() *Plan {
	if c := plan.choosing; c == nil || !c.AsPublished {
		return plan
	}
	asked, booked := *plan.problem, *plan
	asked.Epsilon = "1"
	booked.problem = &asked
	return &booked
}

// suits refuses a plan for public data whose data set the ledger holds as sensitive:
// somebody registered it while the plan was made.
func (plan *Plan) suits(receipt ledger.Receipt) error {
	if plan.problem.Public && !receipt.Public {
		return usage("run the command again", "the ledger holds data set %q as sensitive, the plan was made for public data", plan.problem.Dataset)
	}
	return nil
}
