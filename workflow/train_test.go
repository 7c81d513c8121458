package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pawl/compute/nn"
	"pawl/core/intake"
	"pawl/core/ledger/figures"
	"pawl/data/images"
	"pawl/data/schema"
)

// trainInput asks for one hidden layer on 4×4 images of two classes.
func trainInput(public bool, layers ...nn.Layer) TrainInput {
	seed := uint64(5)
	s := &schema.Schema{Version: schema.Version, Dataset: "squares", Public: public, NA: schema.DefaultNA,
		Rows: schema.RowCount{Kind: schema.RowsDeclared, N: 200}, Unit: schema.Unit{Name: "image", MaxRows: 1},
		Columns: []schema.Column{{Name: "y", Type: schema.Categorical, Categories: []string{"a", "b"}, Missing: schema.MissingRefuse}}}
	in := TrainInput{Input: Input{Dataset: "squares", Schema: s, Public: public, Target: "y", Epsilon: "2", Delta: "1e-4", Rows: 200, Test: Official, Seed: &seed},
		Name: "tiny", Shape: nn.Shape{Height: 4, Width: 4, Channels: 1}, Outputs: 2, Radius: 4, Epochs: 2}
	in.Layers.Layers = append(layers, nn.Layer{Kind: "dense", Units: 6}, nn.Layer{Kind: "tanh"}, nn.Layer{Kind: "dense", Units: 2})
	return in
}

func someImages(n int) *images.Set {
	s := &images.Set{Shape: [3]int{4, 4, 1}, Classes: []string{"a", "b"}}
	for i := range n {
		for p := range 16 {
			s.Bytes = append(s.Bytes, uint8((i*37+p*p*11)%251))
		}
		s.Labels = append(s.Labels, int32(i%2))
	}
	return s
}

// Inputs that do not fit the network are found before a row is opened: nothing stays
// charged.
func TestTrainingRefusesInputsOfAnotherSize(t *testing.T) {
	plan, err := NewTrainPlan(trainInput(false))
	if err != nil {
		t.Fatal(err)
	}
	b := intake.NewBuilder(key(t, "squares"), plan.problem.Schema)
	for i := range 200 {
		if err := b.AddFloats([]float64{float64(i % 2)}, []float32{1, 2, 3}, schema.Record{}); err != nil {
			t.Fatal(err)
		}
	}
	l := memoryLedger()
	_, err = plan.Run(context.Background(), Env{Ledger: l, Rows: b.Seal(), Images: someImages(4), Digest: bytes.Repeat([]byte{7}, 32)})
	var mistake *UsageError
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "3 numbers") {
		t.Fatalf("got %v", err)
	}
	view, err := figures.Show(context.Background(), l, "squares")
	if err != nil {
		t.Fatal(err)
	}
	if view.Spent.Epsilon != 0 || view.Reserved.Epsilon != 0 {
		t.Errorf("spent %v, reserved %v", view.Spent, view.Reserved)
	}
}

// Components need public data, the operator's word, and a test set that they have not
// seen.
func TestComponentsAsPublished(t *testing.T) {
	layer := nn.Layer{Kind: "pca", Coefficients: 3}
	for _, c := range []struct {
		name   string
		change func(*TrainInput)
		want   string
	}{
		{"sensitive", func(in *TrainInput) { in.Public, in.Schema.Public = false, false }, "public data"},
		{"without a word", func(in *TrainInput) { in.AsPublished = false }, "not paid for"},
		{"held out", func(in *TrainInput) { in.Test = HeldOut }, "held-out images"},
	} {
		in := trainInput(true, layer)
		in.AsPublished = true
		c.change(&in)
		if _, err := NewTrainPlan(in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	in := trainInput(true, layer)
	in.AsPublished = true
	plan, err := NewTrainPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.FitComponents(someImages(200)); err != nil {
		t.Fatal(err)
	}
	s, err := plan.Statement("test", time.Unix(0, 0))
	if err != nil || !plan.AsPublished() || !s.NotPrivate {
		t.Error("a replay must claim nothing")
	}
	zero := true
	for _, v := range plan.sealing().whole.Frozen() {
		zero = zero && v == 0
	}
	if zero {
		t.Error("the components were not set")
	}
}

// More variants leave room for fewer examples at once.
func TestMicrobatchShrinksWithVariants(t *testing.T) {
	size := func(variants int) int {
		in := trainInput(false, nn.Layer{Kind: "conv2d", Filters: 8, Kernel: 3, Padding: "same"})
		in.Batch, in.Memory = 100, 1<<20
		in.Augment = Augment{Variants: variants, Augmentation: images.Augmentation{Shape: [3]int{4, 4, 1}, Shift: 1}}
		if variants == 1 {
			in.Augment = Augment{}
		}
		plan, err := NewTrainPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		return plan.sealing().microbatch
	}
	one, eight, all := size(1), size(8), size(64)
	if !(all >= 1 && all < eight && eight <= one) || all > one/4 {
		t.Errorf("microbatches of %d, %d, %d examples for 1, 8 and 64 variants", one, eight, all)
	}
}

// Large lots and few steps under little noise: the loss bounds the rule's step, by its kind, its
// classes and the momentum. What a search multiplies is the step that comes out.
func TestRuleStepIsBounded(t *testing.T) {
	product := func(change func(*TrainInput), factor float64) float64 {
		in := trainInput(false)
		in.Rows, in.Schema.Rows.N, in.Batch, in.Epochs, in.Epsilon, in.Delta = 60000, 60000, 4000, 2, "50", "1e-5"
		change(&in)
		plan, err := NewTrainPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		n := *plan.sealing()
		n.factor = factor
		rate, err := n.stepSize()
		if err != nil {
			t.Fatal(err)
		}
		return rate * n.ClippingNorm * n.Radius
	}
	for _, c := range []struct {
		name   string
		change func(*TrainInput)
		factor float64
		want   float64
	}{
		{"two classes", func(*TrainInput) {}, 0, 186.2},
		{"half of it", func(*TrainInput) {}, 0.5, 93.1},
		{"twice", func(*TrainInput) {}, 2, 372.4},
		{"momentum 0.8", func(in *TrainInput) { in.Momentum = 0.8 }, 0, 88.2},
		{"sgd, whatever its momentum is said to be", func(in *TrainInput) { in.Optimizer, in.Momentum = "sgd", 0.95 }, 0, 39.2},
		{"adam-wosm, whose first steps are whole", func(in *TrainInput) { in.Optimizer = "adam-wosm" }, 0, 39.2},
		{"given", func(in *TrainInput) { in.LearningRate = 500 }, 0, 1000},
		{"ten classes", func(in *TrainInput) {
			in.Outputs, in.Schema.Columns[0].Categories = 10, strings.Split("abcdefghij", "")
			in.Layers.Layers[len(in.Layers.Layers)-1].Units = 10
		}, 0, 405.6},
	} {
		if got := product(c.change, c.factor); math.Abs(got-c.want) > 0.1 {
			t.Errorf("%s: α·C·R is %.1f, want %g", c.name, got, c.want)
		}
	}
	if got := product(func(in *TrainInput) { in.Epsilon, in.Epochs = "0.5", 30 }, 0); !(got < 100) {
		t.Errorf("under much noise α·C·R is %g", got)
	}
}
