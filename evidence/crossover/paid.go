package crossover

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"

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

	// labels are the digests of what runs book, by configuration, δ and ε.
	labels map[string]string
}

// label names what one run books. A kept run of other events, by a program with other
// rules, is not what the price of this one covers.
func (d *Data) label(s Spec, delta string, epsilon float64) string {
	key := fmt.Sprintf("%s, %s, %g", s.key(), delta, epsilon)
	if label, ok := d.Purse.labels[key]; ok {
		return label
	}
	events, err := d.events(s, delta, epsilon)
	if err != nil {
		return "without a plan" // and is never run
	}
	sum := sha256.New()
	for _, e := range events {
		encoded, err := dp.EncodeEvent(e)
		if err != nil {
			return "without a plan"
		}
		sum.Write(encoded)
	}
	if d.Purse.labels == nil {
		d.Purse.labels = map[string]string{}
	}
	label := fmt.Sprintf("event %x", sum.Sum(nil)[:4])
	d.Purse.labels[key] = label
	return label
}

// checkPaid refuses what cannot be paid for.
func (d *Data) checkPaid(s Spec) error {
	if !d.Paid() {
		return nil
	}
	const stand = "--stand-in compares it on public rows"
	switch {
	case s.Unpaid:
		return usage("features:K and columns:K pay for their choice", "%s: unpaid uses exact tables, and %s is sensitive", s.Text, d.Name)
	case s.Standard:
		return usage(stand, "%s: stw chooses by exact scores, and %s is sensitive", s.Text, d.Name)
	case d.Rows() < 1 && (s.LearningRate > 0 || s.ClippingNorm > 0 || s.Encoding != ""):
		return usage("leave them out, or declare the rows in the schema (about N)", "%s: lr=, clip= and encoding: go by the number of rows, and that of %s is not public", s.Text, d.Name)
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

// Price is what runs on sensitive rows cost together at a δ.
type Price struct {
	Epsilon float64
	Runs    int
	// Bookings are the events in the order in which the ledger is asked for them: a choice
	// of features, and then a training with its noisy score. Each is decided beside those
	// before it.
	Bookings []dp.Event
}

// Price composes the events of all runs that the result shows: what may be claimed of it.
// Nothing is read and nothing is booked. A run that was interrupted is charged beside it.
func (s *Study) Price() (Price, error) { return s.price(func(string) bool { return false }) }

// Missing is Price for the runs that are not kept: what is still to be paid.
func (s *Study) Missing() (Price, error) {
	keeper, ok := s.Cells.(interface{ Keeps(name string) bool })
	if !ok {
		return s.Price()
	}
	return s.price(keeper.Keeps)
}

func (s *Study) price(paid func(name string) bool) (p Price, err error) {
	for _, epsilon := range s.Epsilons {
		for _, spec := range s.Specs {
			var one []dp.Event
			for seed := range s.Seeds {
				j := job{data: s.Data, spec: spec, cell: cell{epsilon: epsilon, rows: s.Data.Rows(), seed: uint64(seed + 1)}}
				if paid(j.name(s.Delta)) {
					continue
				}
				if one == nil {
					if one, err = s.Data.events(spec, s.Delta, epsilon); err != nil {
						return p, err
					}
				}
				p.Bookings = append(p.Bookings, one...)
				p.Runs++
			}
		}
	}
	if p.Runs == 0 {
		return p, nil
	}
	p.Epsilon, err = epsilonOf(p.Bookings, s.Delta)
	return p, err
}

// epsilonOf composes events. Without a δ only pure ones have a price.
func epsilonOf(events []dp.Event, delta string) (float64, error) {
	method, d := accountant.MethodRDP, deltaOf(delta)
	if d == 0 {
		method = accountant.MethodMin
	}
	price, err := accountant.Epsilon(dp.Compose{Events: gathered(events)}, dp.AddOrRemoveOne, d, method)
	return price.Epsilon, err
}

// gathered puts neighbours that are the same event into one, which is faster to compose.
func gathered(events []dp.Event) (out []dp.Event) {
	for i := 0; i < len(events); {
		n := i + 1
		for n < len(events) && reflect.DeepEqual(events[n], events[i]) {
			n++
		}
		out = append(out, dp.Repeat{Count: int64(n - i), Event: events[i]})
		i = n
	}
	return out
}

// events are what one run books, in order; a choice of features is priced beside a
// training on all columns.
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
		return d.imagePlan(d.images(c.seed, c.rows), s, delta, c)
	}
	f, t := newTableFit(d, s), d.table(c.seed, c.rows)
	f.delta = delta
	if s.ofTable() {
		return f.networkPlan(t, d, c)
	}
	return f.plan(t, s.Features, number(epsilon), c.seed)
}

// Foretell asks the ledger about one of the runs: what it decides by beside the sum, such as
// the bytes, the unit and whether the data set is frozen, it decides alike for all.
func (s *Study) Foretell(ctx context.Context) error {
	plan, err := s.Data.plan(s.Specs[0], s.Delta, s.Epsilons[0])
	if err != nil {
		return err
	}
	_, err = plan.Foretell(ctx, s.Data.Purse.Env)
	return err
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
