package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/compute/nn"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/data/schema"
)

// components asks for k principal components of rows of 16 numbers of norm 1 at most.
func components(k int, mode string) TrainInput {
	in := trainInput(false, nn.Layer{Kind: "dp_pca", Coefficients: k, Bound: 1, Mode: mode})
	in.Accountant = accountant.MethodRDP // the fastest
	return in
}

// runOn runs a plan on rows of 16 numbers and returns what the dp_pca layer holds.
func runOn(t *testing.T, plan *Plan, row func(i int, x []float32)) (*Outcome, []float32, error) {
	t.Helper()
	b := intake.NewBuilder(key(t, "squares"), plan.problem.Schema)
	for i := range 200 {
		x := make([]float32, 16)
		row(i, x)
		if err := b.AddFloats([]float64{float64(i % 2)}, x, schema.Record{}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: b.Seal(), Images: someImages(4), Digest: bytes.Repeat([]byte{7}, 32)})
	return out, plan.sealing().whole.Frozen(), err
}

// twoDirections has unit rows in a plane: exact moments of rank two.
func twoDirections(i int, x []float32) {
	x[3+5*(i%2)] = 1
	if i%4 == 0 {
		x[3], x[8] = 0.6, 0.8
	}
}

func mustPlan(t *testing.T, in TrainInput) *Plan {
	t.Helper()
	plan, err := NewTrainPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Mean, moments and training are booked together at no more than was asked, and each
// release takes its own event: with one left out of the booking the run stops.
func TestComponentsAreBooked(t *testing.T) {
	for _, c := range []struct {
		mode   string
		stages []string
	}{{"", []string{"mean", "components", "train", "score"}}, {"uncentred", []string{"components", "train", "score"}}} {
		plan := mustPlan(t, components(2, c.mode))
		var names []string
		for _, s := range plan.Stages {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, c.stages) || plan.Epsilon > 2 || plan.Epsilon < 1.99 {
			t.Errorf("%q: stages %v at epsilon %g, want %v at 2", c.mode, names, plan.Epsilon, c.stages)
		}
		if out, _, err := runOn(t, plan, twoDirections); err != nil || out.Components.Asked != 2 {
			t.Fatalf("%q: %v", c.mode, err)
		}
		for _, without := range c.stages[:len(c.stages)-1] {
			plan := mustPlan(t, components(2, c.mode))
			var events []dp.Event
			for _, s := range plan.Stages {
				for _, e := range s.Events {
					if s.Name != without {
						events = append(events, dp.Scoped{Scope: s.Scope, Event: e})
					}
				}
			}
			plan.Event = dp.Compose{Events: events}
			if _, _, err := runOn(t, plan, twoDirections); err == nil || !strings.Contains(err.Error(), "not reserved") {
				t.Errorf("%q without the event of %s: %v", c.mode, without, err)
			}
		}
	}
}

// The released moments carry noise: equal rows and other seeds give other components,
// rows of zeros give none, and exact ones are exact.
func TestComponentsAreNoisy(t *testing.T) {
	zeros := func(int, []float32) {}
	var released [][]float32
	nothing := 0
	for _, seed := range []uint64{5, 6, 7} {
		in := components(2, "uncentred")
		in.Seed = &seed
		out, frozen, err := runOn(t, mustPlan(t, in), twoDirections)
		if err != nil || out.Components.Kept != 2 {
			t.Fatalf("%+v, %v", out.Components, err)
		}
		released = append(released, frozen)
		if out, _, err = runOn(t, mustPlan(t, in), zeros); err != nil {
			t.Fatal(err)
		}
		if out.Components.Kept == 0 {
			nothing++
			if w := out.Components.warnings(); len(w) != 1 || !strings.Contains(w[0], "none of 2") {
				t.Errorf("warnings %q", w)
			}
		}
	}
	if slices.Equal(released[0], released[1]) || nothing < 2 {
		t.Errorf("other seeds give equal components, or noise alone keeps some (%d of 3 kept none)", nothing)
	}
	off := 0.0
	for i, v := range released[0][16:] { // the mean, then 16×2
		if i/2 != 3 && i/2 != 8 {
			off = math.Hypot(off, float64(v))
		}
	}
	if off < 0.05 {
		t.Errorf("components of two directions leave their plane by %g: without noise", off)
	}
	in := components(2, "uncentred")
	in.Public, in.Schema.Public, in.NonPrivate, in.Epsilon, in.Seed = true, true, true, "", nil
	_, exact, err := runOn(t, mustPlan(t, in), twoDirections)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range exact[16:] {
		if i/2 != 3 && i/2 != 8 && math.Abs(float64(v)) > 1e-6 {
			t.Fatalf("exact components leave the plane: %v", exact[16:])
		}
	}
}

// A row beyond the public bound counts as one at the bound: a thousand times longer,
// nothing changes.
func TestComponentsAreClipped(t *testing.T) {
	long := func(i int, x []float32) {
		if twoDirections(i, x); i == 17 {
			for j := range x {
				x[j] *= 1024
			}
		}
	}
	_, one, err := runOn(t, mustPlan(t, components(2, "")), twoDirections)
	if err != nil {
		t.Fatal(err)
	}
	plan := mustPlan(t, components(2, ""))
	_, two, err := runOn(t, plan, long)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := plan.sealing().net.Released()
	for i, v := range one[:spec.Inputs] {
		if math.Abs(float64(v-two[i])) > 1e-6 {
			t.Fatalf("a long row moves the mean from %v to %v", one[:16], two[:16])
		}
	}
	_, two, err = runOn(t, mustPlan(t, components(2, "uncentred")), long)
	if err != nil {
		t.Fatal(err)
	}
	_, one, err = runOn(t, mustPlan(t, components(2, "uncentred")), twoDirections)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range one {
		if math.Abs(float64(v-two[i])) > 1e-4 {
			t.Fatalf("a long row moves component %d from %g to %g", i, v, two[i])
		}
	}
}

// What no rows could make stand out is refused before anything is charged, with counts
// and an epsilon that would do.
func TestHopelessComponentsAreRefused(t *testing.T) {
	in := components(12, "")
	_, err := NewTrainPlan(in)
	var mistake *UsageError
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "12 principal components are hopeless") {
		t.Fatalf("got %v", err)
	}
	_, rest, ok := strings.Cut(mistake.Advice, "epsilon ")
	epsilon, _, _ := strings.Cut(rest, ",")
	if !ok || !strings.Contains(mistake.Advice, "at most ") || !strings.Contains(mistake.Advice, "dct:K") {
		t.Fatalf("hint %q", mistake.Advice)
	}
	in.Epsilon = epsilon
	if _, err := NewTrainPlan(in); err != nil {
		t.Errorf("at the epsilon of the hint: %v", err)
	}
	in = components(1, "")
	in.Epsilon = "0.01"
	if _, err := NewTrainPlan(in); !errors.As(err, &mistake) || strings.Contains(mistake.Advice, "at most") {
		t.Errorf("no component can stand out: %v, %q", err, mistake.Advice)
	}
	in = components(1, "")
	in.Shape = nn.Shape{Height: 100, Width: 100, Channels: 1}
	if _, err := NewTrainPlan(in); !errors.As(err, &mistake) || !strings.Contains(mistake.Advice, "pool:mean") {
		t.Errorf("10,000 inputs: %v", err)
	}
	in = components(1, "")
	in.Augment.Variants, in.Augment.Shift, in.Augment.Shape = 2, 1, [3]int{4, 4, 1}
	if _, err := NewTrainPlan(in); !errors.As(err, &mistake) || !strings.Contains(mistake.Advice, "--augment") {
		t.Errorf("variants: %v", err)
	}
}
