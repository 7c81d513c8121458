package workflow

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pawl/compute/optim"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/workflow/checkpoint"
)

// resumed is a training on sealed rows with its ledger and its checkpoint.
type resumed struct {
	t      *testing.T
	in     TrainInput
	ledger *ledger.Ledger
	path   string
}

func (r resumed) open(plan **Plan) Env {
	r.t.Helper()
	f, err := checkpoint.Open(r.path, 0)
	if errors.Is(err, os.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no such") {
		f, err = checkpoint.Create(r.path, 0)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	in := r.in
	first := f.Initial()
	in.Initial = &first
	if *plan, err = NewTrainPlan(in); err != nil {
		r.t.Fatal(err)
	}
	b := intake.NewBuilder(key(r.t, "squares"), (*plan).problem.Schema)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		x := make([]float32, 16)
		for j := range x {
			x[j] = rng.Float32()
		}
		if err := b.AddFloats([]float64{float64(i % 2)}, x, schema.Record{}); err != nil {
			r.t.Fatal(err)
		}
	}
	return Env{Ledger: r.ledger, Rows: b.Seal(), Images: someImages(4), Digest: bytes.Repeat([]byte{7}, 32), Checkpoint: f, Software: "v1"}
}

// run goes on until the step stop, or to the end.
func (r resumed) run(stop int) (*Outcome, error) {
	r.t.Helper()
	var plan *Plan
	env := r.open(&plan)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env.Progress = func(stage string, done, _ int) {
		if stage == "train" && done == stop {
			cancel()
		}
	}
	return plan.Run(ctx, env)
}

// A training that is interrupted again and again ends in the same bits, the same score
// and the same price as one that is not, and is charged once, whatever the optimizer, the
// average and the clipping.
func TestResumedTraining(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*TrainInput)
	}{
		{"momentum", func(*TrainInput) {}},
		{"sgd, cosine", func(in *TrainInput) { in.Optimizer, in.Schedule = "sgd", optim.Schedule{Shape: "cosine", Warmup: 0.2} }},
		{"adam, moving average", func(in *TrainInput) { in.Optimizer, in.EMA = "adam", 0.9 }},
		{"adam without second moment", func(in *TrainInput) { in.Optimizer = "adam-wosm" }},
		{"adadp, per layer", func(in *TrainInput) { in.Optimizer, in.Clipping = "adadp", gradient.PerLayer }},
		{"quantile", func(in *TrainInput) { in.Clipping = gradient.Quantile }},
		{"banded", func(in *TrainInput) { in.Mechanism, in.Bands = "banded", 3 }},
		{"banded, fixed passes", func(in *TrainInput) { in.Mechanism, in.Lots, in.Bands = "banded", "passes", 2 }},
		{"all rows in a lot", func(in *TrainInput) { in.Batch, in.Epochs = 200, 8 }},
		{"without noise", func(in *TrainInput) { in.NonPrivate, in.NoiseMultiplier = true, 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := trainInput(c.name == "without noise")
			in.Seed, in.Batch, in.Epochs = nil, 50, 3
			in.Epsilon, in.NoiseMultiplier, in.Accountant = "", 2, accountant.MethodRDP // priced fast
			c.edit(&in)
			whole := resumed{t, in, memoryLedger(), filepath.Join(t.TempDir(), "whole")}
			var plan *Plan
			env := whole.open(&plan)
			if err := plan.GoesOn(env); err != nil { // writes the file
				t.Fatal(err)
			}
			b, err := os.ReadFile(whole.path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := whole.run(-1)
			if err != nil {
				t.Fatal(err)
			}
			parts := resumed{t, in, memoryLedger(), filepath.Join(t.TempDir(), "parts")}
			if err := os.WriteFile(parts.path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			for stop := 1; stop < plan.sealing().steps; stop += 1 + stop/3 {
				if _, err := parts.run(stop); !errors.Is(err, context.Canceled) {
					t.Fatalf("stopped after step %d: %v", stop, err)
				}
			}
			got, err := parts.run(-1)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Model.Parameters32, want.Model.Parameters32) || *got.Score.Exact != *want.Score.Exact {
				t.Errorf("another model, or score: %v, want %v", *got.Score.Exact, *want.Score.Exact)
			}
			view, err := figures.Show(context.Background(), parts.ledger, "squares")
			if in.NonPrivate {
				return // books nothing that an interruption would leave
			}
			if err != nil || len(view.Entries) != 1 || !got.Receipt.Replayed {
				t.Errorf("%d entries, replayed %v, %v", len(view.Entries), got.Receipt.Replayed, err)
			}
		})
	}
}

// Another computation is refused by name before the ledger hears of it; a new file is
// gone when nothing was charged.
func TestResumeOfAnotherTraining(t *testing.T) {
	in := trainInput(false)
	in.Seed = nil
	r := resumed{t, in, memoryLedger(), filepath.Join(t.TempDir(), "f")}
	if _, err := r.run(1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.ledger = memoryLedger()
	for name, edit := range map[string]func(*TrainInput){
		"another clipping-norm": func(in *TrainInput) { in.ClippingNorm = 0.1 }, "another epsilon": func(in *TrainInput) { in.Epsilon = "3" },
		"another model": func(in *TrainInput) { in.Layers.Layers = slices.Delete(slices.Clone(in.Layers.Layers), 1, 2) }, "another seed": func(in *TrainInput) { s := uint64(4); in.Seed = &s },
	} {
		r.in = in
		edit(&r.in)
		_, err := r.run(-1)
		var e *checkpoint.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := figures.Show(context.Background(), r.ledger, "squares"); !errors.Is(err, ledger.ErrUnknownDataset) {
		t.Errorf("a refused checkpoint reached the ledger: %v", err)
	}
	r.in, r.path = in, filepath.Join(t.TempDir(), "g")
	r.in.Epsilon = "1000" // nobody grants this to himself
	if _, err := r.run(-1); !errors.Is(err, ledger.ErrRefused) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(r.path); err == nil {
		t.Error("a run that was refused leaves its key")
	}
}

// The law of a score's noise follows from the data set's budget, which is in no digest. What goes on is
// planned with the budget of its beginning, and costs the same after a raise.
func TestLawFollowsTheBudgetOfTheBeginning(t *testing.T) {
	planned := func(granted string) *Plan {
		tab := small(5000, func(s *schema.Schema) { s.GrantedEpsilon = granted })
		plan, err := NewPlan(tab.input("1", "1e-6", 1))
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	first, raised := planned("1"), planned("10")
	if first.digest(nil) != raised.digest(nil) || reflect.DeepEqual(first.Event, raised.Event) {
		t.Fatal("a raise is to change the noise, and nothing that names the computation")
	}
	if again := planned(first.Granted()); !reflect.DeepEqual(again.Event, first.Event) {
		t.Errorf("planned for the budget of the beginning the event is %v, and was %v", again.Event, first.Event)
	}
}
