package workflow

import (
	"context"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// Foretell says how the ledger would decide on the plan now, and books nothing. Its errors
// are those by which Run or Choose would end before a row is opened, but for faults of the
// rows. Of env it reads the ledger, the digest, Updated and what makes a run go on that
// was interrupted. A choice that looks at no row is booked nowhere: its verdict is empty.
func (plan *Plan) Foretell(ctx context.Context, env Env) (figures.Verdict, error) {
	if plan.free {
		return figures.Verdict{}, nil
	}
	q, err := plan.request(env)
	if err != nil {
		return figures.Verdict{}, err
	}
	v, err := figures.Foretell(ctx, env.Ledger, q)
	if err != nil {
		return v, err
	}
	return v, plan.suits(v.Receipt)
}

// suits refuses a plan for public data whose data set the ledger holds as sensitive:
// somebody registered it while the plan was made.
func (plan *Plan) suits(receipt ledger.Receipt) error {
	if plan.problem.Public && !receipt.Public {
		return usage("run the command again", "the ledger holds data set %q as sensitive, the plan was made for public data", plan.problem.Dataset)
	}
	return nil
}
