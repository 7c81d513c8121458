package crossover

import (
	"context"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/workflow"
)

// Purse pays for runs on sensitive rows: each is planned, booked in the ledger and scored
// as a single fit is, before it touches a row.
type Purse struct {
	// Input declares the rows, under the schema of the table; Epsilon, Delta, Model and
	// Features are each run's own.
	Input workflow.Input
	// Env holds the ledger, the sealed rows of a table and, where a test file is public, its
	// rows.
	Env workflow.Env
	// Seal seals images as the network of a plan takes them; nil for a table.
	Seal func(*workflow.Plan) (*intake.Rows, error)
}

// checkPaid refuses what cannot be paid for.
func (d *Data) checkPaid(s Spec) error {
	if !d.Paid() {
		return nil
	}
	const stand = "--stand-in compares it on public rows"
	switch {
	case s.Unpaid:
		return usage("features:K and columns:K pay for their choice", "%s: unpaid looks at exact tables, and %s is sensitive", s.Text, d.Name)
	case s.Standard:
		return usage(stand, "%s: stw chooses by exact scores, and %s is sensitive", s.Text, d.Name)
	case s.Encoding == "integer":
		return usage("declare the categories ordered in the schema, or "+stand, "%s: encoding:integer reads the rows by another schema, and those of %s are sealed by their own", s.Text, d.Name)
	}
	return nil
}

// checkPaid refuses measurements that nobody pays for.
func (s *Study) checkPaid() error {
	if !s.Data.Paid() {
		return nil
	}
	switch {
	case s.Plain > 0:
		return usage("--plain 0", "training without noise is for public rows, and %s is sensitive", s.Data.Name)
	case s.Tuning != Rule:
		return usage("--tune rule", "tuning %q is for public rows: on %s every run of it would have to be paid for as well", s.Tuning, s.Data.Name)
	case len(s.Rows) > 0:
		return usage("leave out --rows, or compare on --stand-in", "other numbers of rows are measured on public rows, and %s is sensitive", s.Data.Name)
	}
	return nil
}

// Price is what all runs of a paid study cost together at its δ, and Event what is
// booked, if no run is interrupted and charged twice.
type Price struct {
	Epsilon float64
	Runs    int
	Event   dp.Event
}

// Price composes the events of every run that is not kept: each choice, each training and
// each noisy score. Nothing is read and nothing is booked.
func (s *Study) Price() (Price, error) {
	p := Price{}
	var events []dp.Event
	for _, spec := range s.Specs {
		for _, epsilon := range s.Epsilons {
			missing := int64(0)
			for seed := range s.Seeds {
				j := job{data: s.Data, spec: spec, cell: cell{epsilon: epsilon, rows: s.Data.Rows(), seed: uint64(seed + 1)}}
				if k, ok := s.Cells.(interface{ Keeps(name string) bool }); !ok || !k.Keeps(j.name(s.Delta)) {
					missing++
				}
			}
			if missing == 0 {
				continue
			}
			one, err := s.Data.events(spec, s.Delta, epsilon)
			if err != nil {
				return p, err
			}
			events = append(events, dp.Repeat{Count: missing, Event: dp.Compose{Events: one}})
			p.Runs += int(missing)
		}
	}
	if p.Event = (dp.Compose{Events: events}); len(events) == 0 {
		return p, nil
	}
	price, err := accountant.Epsilon(p.Event, dp.AddOrRemoveOne, deltaOf(s.Delta), accountant.MethodRDP)
	p.Epsilon = price.Epsilon
	return p, err
}

// events are what one run books.
func (d *Data) events(s Spec, delta string, epsilon float64) ([]dp.Event, error) {
	if s.Count > 0 {
		f := newTableFit(d, s)
		f.delta = delta
		c := cell{epsilon: epsilon, seed: 1}
		in := f.choice(d.Table, epsilon, c.seed)
		choice, training, err := f.share(d.Table, in, c)
		if err != nil {
			return nil, err
		}
		return f.both(d.Table, in, choice, training, c.seed)
	}
	plan, err := d.plan(s, delta, epsilon)
	if err != nil {
		return nil, err
	}
	return []dp.Event{plan.Event}, nil
}

// plan is that of one run, of all columns where they are still to be chosen.
func (d *Data) plan(s Spec, delta string, epsilon float64) (*workflow.Plan, error) {
	c := cell{epsilon: epsilon, rows: d.Rows(), seed: 1}
	if d.Images != nil {
		return d.imagePlan(d.Images, s, delta, c)
	}
	f := newTableFit(d, s)
	f.delta = delta
	if s.ofTable() {
		return f.networkPlan(d.Table, d, c)
	}
	return f.plan(d.Table, s.Features, number(epsilon), c.seed)
}

// Rehearse runs two steps of every configuration on synthetic rows: what would fail after
// the first run was paid for fails before.
func (s *Study) Rehearse(ctx context.Context) error {
	for _, spec := range s.Specs {
		for _, epsilon := range s.Epsilons {
			plan, err := s.Data.plan(spec, s.Delta, epsilon)
			if err != nil {
				return err
			}
			if err := plan.Preflight(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
