package request

import (
	"context"

	"pawl/data/source"
)

// Terms are what every job has: the most that it may cost, and whose rows it uses. Empty fields stand for
// the defaults.
type Terms struct {
	Epsilon, Delta, Accountant string
	AllowLargeDelta            bool
	// Anyway runs a job that public rules call hopeless.
	Anyway bool
	// Seed makes a simulation of it.
	Seed string
	// Updated says that the bytes changed on purpose.
	Updated bool
	Copies  source.Copies
}

// Asked is a request for a job: a *Fit, *Train, *Search, *Select or *Describe.
type Asked interface {
	// Plan prices it. It changes the request as the operator's answers say.
	Plan(context.Context, *Desk, *source.Data) (*Job, error)
	// SameAs names the data set of the ledger of which DATA is another form.
	SameAs(name string)
}

// SameAs implements Asked.
func (t *Terms) SameAs(name string) { t.Copies.SameAs = name }

// Plan implements Asked.
func (f *Fit) Plan(ctx context.Context, d *Desk, data *source.Data) (*Job, error) {
	return d.Fit(ctx, data, f)
}

// Plan implements Asked.
func (f *Train) Plan(ctx context.Context, d *Desk, data *source.Data) (*Job, error) {
	return d.Train(ctx, data, f)
}

// Plan implements Asked.
func (f *Search) Plan(ctx context.Context, d *Desk, data *source.Data) (*Job, error) {
	return d.Search(ctx, data, f)
}

// Plan implements Asked.
func (f *Select) Plan(ctx context.Context, d *Desk, data *source.Data) (*Job, error) {
	return d.Select(ctx, data, f)
}

// Plan implements Asked.
func (f *Describe) Plan(ctx context.Context, d *Desk, data *source.Data) (*Job, error) {
	return d.Describe(ctx, data, f)
}
