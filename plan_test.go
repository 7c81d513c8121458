package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
)

// A plan keeps what it was made for: what becomes of the caller's map afterwards changes neither what
// runs nor what is stated.
func TestPlansKeepWhatWasAsked(t *testing.T) {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("wdbc", "")
	if err != nil {
		t.Fatal(err)
	}
	seed, weights := uint64(1), map[string]float64{"M": 5}
	plan, err := led.Plan(ctx, data, pawl.Fit{Model: "linear", ClassWeights: weights, Budget: pawl.Budget{Epsilon: "1"}, Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	seed, weights["M"] = 2, 7
	res, err := plan.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(res.Statement, []byte(`"M": 5`)) || !res.NotPrivate {
		t.Errorf("other weights than the plan's: %s", res.Statement)
	}
}

// Arguments that no run can have are mistakes of the caller, with a hint, and no panic: a panic
// under a missing context would leave the ledger locked.
func TestWrongArguments(t *testing.T) {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("wdbc", "")
	if err != nil {
		t.Fatal(err)
	}
	fit := pawl.Fit{Budget: pawl.Budget{Epsilon: "1"}}
	plan, err := led.Plan(ctx, data, fit)
	if err != nil {
		t.Fatal(err)
	}
	shut, err := pawl.OpenLedger(ctx, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	late, err := shut.Plan(ctx, data, fit)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := shut.Close(); err != nil {
			t.Fatal(err)
		}
	}
	planned := func(l *pawl.Ledger, ctx context.Context, d *pawl.Data, j pawl.Job) error {
		_, err := l.Plan(ctx, d, j)
		return err
	}
	ran := func(p *pawl.Plan, ctx context.Context, options ...pawl.RunOption) error {
		_, err := p.Run(ctx, options...)
		return err
	}
	_, unopened := pawl.OpenLedger(nil, "") //lint:ignore SA1012 the mistake is what is tested
	_, nameless := pawl.Open("", "")
	for what, err := range map[string]error{
		"no context for a ledger": unopened,
		"no name":                 nameless,
		"no context for a plan":   planned(led, nil, data, fit),
		"no context for a run":    ran(plan, nil),
		"no job":                  planned(led, ctx, data, nil),
		"a nil pointer":           planned(led, ctx, data, (*pawl.Fit)(nil)),
		"no data":                 planned(led, ctx, nil, fit),
		"unopened data":           planned(led, ctx, &pawl.Data{}, fit),
		"an unopened ledger":      planned(&pawl.Ledger{}, ctx, data, fit),
		"a closed ledger":         planned(shut, ctx, data, fit),
		"a run on a closed one":   ran(late, ctx),
		"a check on a closed one": late.Check(ctx),
		"resume from nothing":     planned(led, ctx, data, pawl.Train{Model: "fcn-64", Budget: fit.Budget, Checkpoint: pawl.Checkpoint{Resume: true}}),
		"less than no variants":   planned(led, ctx, data, pawl.Train{Model: "fcn-64", Budget: fit.Budget, Augment: -1}),
		"a run in a run":          ran(plan, ctx, nil, pawl.OnReady(func(p *pawl.Plan) error { return ran(p, ctx) })),
	} {
		if e := pawl.AsError(err); !errors.Is(err, pawl.ErrUsage) || e.ExitStatus() != 2 || e.Hint() == "" {
			t.Errorf("%s: %v, status %d, hint %q", what, err, e.ExitStatus(), e.Hint())
		}
	}
	// A deadline is no mistake, though its error looks like that of a file.
	over, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	if err := ran(plan, over); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, pawl.ErrUsage) || pawl.AsError(err).ExitStatus() != 1 {
		t.Errorf("after the deadline: %v, status %d", err, pawl.AsError(err).ExitStatus())
	}
	if err := ran(plan, ctx); err != nil {
		t.Errorf("the plan is spoilt: %v", err)
	}
	if pawl.AsError(nil).ExitStatus() != 0 {
		t.Error("no error has an exit status")
	}
}

// Counts below zero are named, and two of them do not make a sampling rate.
func TestNegativeCounts(t *testing.T) {
	for _, d := range []pawl.DPSGD{
		{SamplingRate: 0.1, NoiseMultiplier: 1, Steps: -3},
		{Rows: -3, Batch: -3, NoiseMultiplier: 1, Steps: 3},
		{SamplingRate: 0.1, Rows: -3, NoiseMultiplier: 1, Steps: 3},
	} {
		if a, err := (pawl.Account{DPSGD: &d, Delta: "1e-5"}).Answer(); !errors.Is(err, pawl.ErrUsage) || !strings.Contains(err.Error(), "is negative") {
			t.Errorf("%+v: %v, %v", d, a, err)
		}
	}
	if _, err := (pawl.Calibrate{Release: "laplace", Count: -3, Epsilon: "1"}).Answer(); !errors.Is(err, pawl.ErrUsage) {
		t.Errorf("-3 releases: %v", err)
	}
}
