package membership

import (
	"errors"
	"pawl/internal/cost"
	"pawl/internal/usage"
	"pawl/report"

	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/evidence/audit/bound"
	"pawl/workflow"
)

// Released is the one number of an audit of sensitive data that may leave.
type Released struct {
	Attack   string `json:"attack"` // "correct"
	Model    string `json:"model"`
	Data     string `json:"data"`
	Internal bool   `json:"internal"`
	// Success is the noisy share of records about which the attack is right, Interval its
	// 95 % interval and StdErr its deviation, by noise and by chance.
	Success  float64    `json:"success"`
	Interval [2]float64 `json:"interval"`
	StdErr   float64    `json:"standard_error"`
	// Claim is that of the target, Ceiling the success that it allows.
	Claim   bound.Claim `json:"claim"`
	Ceiling float64     `json:"ceiling"`
	// Booked is what the ledger was charged, at the data set's delta.
	Booked struct {
		Epsilon  float64 `json:"epsilon"`
		Delta    float64 `json:"delta"`
		OfTarget float64 `json:"epsilon_of_target"`
		OfNumber float64 `json:"epsilon_of_number"`
		Entry    string  `json:"entry"`
	} `json:"booked"`
	Notes []string `json:"notes"`
}

// Codes of the column that a release counts by.
const (
	outside = iota
	inside
)

// Release trains a target by coins and releases with noise how often it is right that
// those are members whom the target answers rightly. That attack has no threshold and no
// shadow model that would look at rows, so that all it costs is the target and the count.
// Both are booked on the data set before a row is used. Notes are put before its own.
func (r *Recipe) Release(ctx context.Context, noise string, notes ...string) (*Released, error) {
	f, l := r.o, r.o.Ledger
	epsilon, err := cost.ParseReal("release", noise)
	if err != nil {
		return nil, err
	}
	switch {
	case !(epsilon > 0):
		return nil, usage.New("--release must be above 0", "it is the epsilon of the noise: a smaller value costs less and shows less")
	case f.Seed != nil:
		return nil, usage.New("--release and --seed exclude each other: predictable noise protects nobody", "leave out --seed")
	case r.declared == 0 || f.Records > 0:
		return nil, usage.New("--release needs a public number of rows, and uses all of them", "declare rows: N or rows: public in the schema, and leave out --records")
	}
	book, err := figures.Show(ctx, l, r.data)
	if err != nil {
		return nil, err
	}
	if book.Relation != dp.AddOrRemoveOne {
		return nil, usage.New(fmt.Sprintf("the budget of %q is stated under replace_one, and the audit needs add_or_remove_one", r.data), "")
	}
	plan, err := r.plan(int(r.declared/2), 0)
	if err != nil {
		return nil, err
	}
	score := release.Accuracy{Scope: dp.WholeScope, NoiseMultiplier: 1 / epsilon, Pure: true, Levels: 2,
		PredictInput: func(input []float32) int { return int(input[0]) }}
	out := &Released{Attack: "correct", Model: f.Model, Data: r.data, Notes: notes}
	target := dp.Unscoped(plan.Event)
	together := dp.Compose{Events: []dp.Event{target, score.Event()}}
	if text := report.SeededMark(len(book.SeededRuns)); text != "" {
		out.Notes = append(out.Notes, text+": the charge bounds this audit, not them")
	}
	delta := float64(book.Total.Delta)
	for _, c := range []struct {
		event dp.Event
		to    *float64
	}{{target, &out.Booked.OfTarget}, {score.Event(), &out.Booked.OfNumber}, {together, &out.Booked.Epsilon}} {
		price, err := accountant.Epsilon(c.event, dp.AddOrRemoveOne, delta, accountant.MethodMin)
		if err != nil {
			return nil, err
		}
		*c.to = price.Epsilon
	}
	out.Booked.Delta, out.Claim = delta, bound.Claim{Epsilon: out.Booked.OfTarget, Delta: delta}
	out.Ceiling = bound.MaxSuccess(out.Claim.Epsilon, delta, 0.5)
	b := &out.Booked
	if b.Entry, err = l.Book(ctx, ledger.Booking{Dataset: r.data, Event: together, Reason: "membership audit, released: its own target and one noisy count"}); err != nil {
		return nil, fmt.Errorf("the release costs epsilon %s at delta %s (%s for the audit's target, %s for the figure): %w", bound.Figure(b.Epsilon), cost.Full(delta), bound.Figure(b.OfTarget), bound.Figure(b.OfNumber), err)
	}
	share, err := r.correct(ctx, plan, score, f.Source)
	if err != nil {
		return nil, fmt.Errorf("the audit was charged and then failed: %w", err)
	}
	if err := l.ConfirmEntry(context.WithoutCancel(ctx), r.data, b.Entry); err != nil {
		return nil, &workflow.UnconfirmedError{Entry: b.Entry, Cause: err}
	}
	out.Success, out.Interval, out.StdErr = share.Value, share.Interval, share.StdErr
	return out, nil
}

// correct tosses the coins, trains the target and counts.
func (r *Recipe) correct(ctx context.Context, plan *workflow.Plan, score release.Accuracy, src *entropy.Source) (release.AccuracyScore, error) {
	coins := src.Split("members")
	in := make([]bool, len(r.label))
	var members []int
	for i := range in {
		if in[i] = coins.Bernoulli(0.5); in[i] {
			members = append(members, i)
		}
	}
	p, err := r.train(ctx, plan, members)
	if err != nil {
		return release.AccuracyScore{}, err
	}
	sc := &schema.Schema{Version: schema.Version, Dataset: "audit", Rows: schema.RowCount{Kind: schema.RowsPrivate}, Unit: schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{{Name: "member", Type: schema.Categorical, Categories: []string{"out", "in"}, Missing: schema.MissingRefuse}}}
	own := ThrowAway()
	key, err := own.Ledger.Key(ctx, "audit")
	if err != nil {
		return release.AccuracyScore{}, err
	}
	b := intake.NewBuilder(key, sc)
	for i, y := range r.label {
		guess, truth := float32(inside), float64(outside)
		for k := range r.classes {
			if k != y && p[i*r.classes+k] >= p[i*r.classes+y] {
				guess = outside
			}
		}
		if in[i] {
			truth = inside
		}
		if err := b.AddFloats([]float64{truth}, []float32{guess}, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			return release.AccuracyScore{}, err
		}
	}
	rows := b.Seal()
	permit, _, err := own.Ledger.Reserve(ctx, ledger.Request{Dataset: "audit", Plan: "audit", Event: score.Event(), Relation: dp.AddOrRemoveOne,
		Unit: "row", RowsPerUnit: 1, Public: true, Rows: rows, Digest: own.Digest})
	if err != nil {
		return release.AccuracyScore{}, err
	}
	return score.Release(ctx, permit, rows)
}

// WriteText writes the number and the notes for a person.
func (out *Released) WriteText(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "attack\tguess \"member\" where the target is correct, on %s with the settings of %s\n", out.Data, out.Model)
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", bound.Figure(out.Claim.Epsilon), cost.Full(out.Claim.Delta))
	fmt.Fprintf(w, "success\t%.3f, 95%% interval %.3f to %.3f, released with noise (chance: 0.500; the claim allows %.3f)\n", out.Success, out.Interval[0], out.Interval[1], out.Ceiling)
	fmt.Fprintf(w, "charged\tepsilon %s at delta %s, entry %s\n", bound.Figure(out.Booked.Epsilon), cost.Full(out.Booked.Delta), out.Booked.Entry)
	return errors.Join(w.Flush(), bound.WriteNotes(to, out.Notes))
}
