package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pawl/compute/optim"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/data/schema"
)

// What an optimizer or a clipping does not take is refused before anything is priced,
// with the mend.
func TestChoicesThatDoNotFit(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*TrainInput)
		want string
		hint string
	}{
		{"unknown optimizer", func(in *TrainInput) { in.Optimizer = "lion" }, `unknown optimizer "lion"`, "adadp"},
		{"unknown clipping", func(in *TrainInput) { in.Clipping = "layerwise" }, `unknown clipping "layerwise"`, "per-layer"},
		{"a share of flat clipping", func(in *TrainInput) { in.Quantile = 0.5 }, "not with flat", "--clipping quantile"},
		{"a share of all", func(in *TrainInput) { in.Clipping, in.Quantile = gradient.Quantile, 1 }, "(0, 1)", "--quantile 0.5"},
		{"a share that is no number", func(in *TrainInput) { in.Clipping, in.Quantile = gradient.Quantile, math.NaN() }, "(0, 1)", "--quantile 0.5"},
		{"tolerance of another", func(in *TrainInput) { in.Tolerance = 1 }, "not with momentum", "--optimizer adadp"},
		{"steps kept by another", func(in *TrainInput) { in.KeepAll = true }, "not with momentum", "--optimizer adadp"},
		{"tolerance below 0", func(in *TrainInput) { in.Optimizer, in.Tolerance = "adadp", -1 }, "above 0", "leave it out"},
		{"a schedule of adadp", func(in *TrainInput) { in.Optimizer, in.Schedule = "adadp", optim.Schedule{Shape: "cosine"} }, "learning rate at every step", "--schedule"},
		{"unknown mechanism", func(in *TrainInput) { in.Mechanism = "ftrl" }, `unknown mechanism "ftrl"`, "banded"},
		{"unknown lots", func(in *TrainInput) { in.Mechanism, in.Lots = "banded", "shuffled" }, `unknown --lots "shuffled"`, "passes"},
		{"bands of DP-SGD", func(in *TrainInput) { in.Bands = 4 }, "goes with mechanism banded", "--mechanism banded"},
		{"passes of DP-SGD", func(in *TrainInput) { in.Lots = "passes" }, "Poisson lots", "--mechanism banded"},
		{"one band", func(in *TrainInput) { in.Mechanism, in.Bands = "banded", 1 }, "[2, 256]", "dp-sgd"},
		{"bands beyond a pass", func(in *TrainInput) { in.Mechanism, in.Bands, in.Batch, in.Epochs = "banded", 9, 25, 8 }, "memory for 8 bands", "--batch"},
		{"bands of large lots", func(in *TrainInput) { in.Mechanism, in.Batch = "banded", 150 }, "memory for 1 bands", "--batch"},
		{"a pass of one lot", func(in *TrainInput) { in.Mechanism, in.Lots, in.Batch = "banded", "passes", 150 }, "no two lots", "--batch"},
		{"bands of a quantile", func(in *TrainInput) { in.Mechanism, in.Clipping = "banded", gradient.Quantile }, "does not work with banded noise", "flat"},
		{"bands of adadp", func(in *TrainInput) { in.Mechanism, in.Optimizer = "banded", "adadp" }, "undoes steps", "momentum"},
		{"bands without noise", func(in *TrainInput) {
			in.Public, in.Schema.Public, in.NonPrivate, in.Epsilon, in.Mechanism = true, true, true, "", "banded"
		}, "no noise that bands", "--mechanism"},
		{"noise without bands", func(in *TrainInput) { in.Mechanism, in.NoiseMultiplier, in.Epsilon = "banded", 1, "" }, "decide the price together", "--bands"},
		{"a warm-up of adadp", func(in *TrainInput) { in.Optimizer, in.Schedule = "adadp", optim.Schedule{Warmup: 0.1} }, "learning rate at every step", "--warmup"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := trainInput(false)
			tt.edit(&in)
			_, err := NewTrainPlan(in)
			var mistake *UsageError
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(mistake.Hint(), tt.hint) {
				t.Fatalf("got %v, want %q and the hint %q", err, tt.want, tt.hint)
			}
		})
	}
}

// Every choice is priced as the plan of the same number of steps is, trains, and says
// what it used. Both gradients of ADADP's steps are paid for, and none is left over.
func TestChoicesTrain(t *testing.T) {
	price := map[int]float64{}
	for _, tt := range []struct {
		name string
		edit func(*TrainInput)
		odd  int // steps more
		want string
	}{
		{"flat", func(*TrainInput) {}, 0, "clipping_norm"},
		{"per layer", func(in *TrainInput) { in.Clipping = gradient.PerLayer }, 0, "clipping_norm"},
		{"quantile", func(in *TrainInput) { in.Clipping = gradient.Quantile }, 0, "last_clipping_norm"},
		{"quantile, non-private", func(in *TrainInput) { in.Clipping, in.NonPrivate, in.Epsilon = gradient.Quantile, true, "" }, 0, "last_clipping_norm"},
		{"adadp", func(in *TrainInput) { in.Optimizer = "adadp" }, 0, "tolerance"},
		{"adadp that keeps all", func(in *TrainInput) { in.Optimizer, in.KeepAll = "adadp", true }, 0, "keep_all"},
		{"adadp, odd", func(in *TrainInput) { in.Optimizer, in.Epochs = "adadp", 1.875 }, 1, "tolerance"},
		{"adadp, quantile", func(in *TrainInput) { in.Optimizer, in.Clipping, in.EMA = "adadp", gradient.Quantile, 0.9 }, 0, "unclipped_share"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := trainInput(true)
			in.SamplingRate = 0.125
			tt.edit(&in)
			plan, err := NewTrainPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			steps := plan.sealing().steps
			if want := int(in.Epochs/0.125) + tt.odd; steps != want {
				t.Fatalf("%d steps, want %d", steps, want)
			}
			if first, ok := price[steps]; !in.NonPrivate && ok && first != plan.sealing().noise {
				t.Errorf("noise of %g, flat clipping has %g", plan.sealing().noise, first)
			}
			if !in.NonPrivate {
				price[steps] = plan.sealing().noise
			}
			b := intake.NewBuilder(key(t, "squares"), plan.problem.Schema)
			for i := range 200 {
				x := make([]float32, 16)
				x[i%16] = 1
				if err := b.AddFloats([]float64{float64(i % 2)}, x, schema.Record{}); err != nil {
					t.Fatal(err)
				}
			}
			out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: b.Seal(), Images: someImages(4), Digest: bytes.Repeat([]byte{7}, 32)})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := plan.sealing().choice(out.norm).Hyperparameters[tt.want]; !ok {
				t.Errorf("%v says nothing of %s", plan.sealing().choice(out.norm).Hyperparameters, tt.want)
			}
			moved := false
			for j, w := range out.Model.Parameters32 {
				moved = moved || w != plan.sealing().initial[j]
			}
			if !moved {
				t.Error("the parameters are the first ones")
			}
		})
	}
}
