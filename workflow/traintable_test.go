package workflow

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"pawl/compute/zoo"
	"pawl/data/encode"
	"pawl/model"
)

// tableInput asks for a network on the rows of a built-in table.
func tableInput(t *testing.T, tab table, name string) TrainInput {
	t.Helper()
	seed := uint64(3)
	in := TrainInput{Input: Input{Dataset: tab.name, Schema: tab.schema, Public: true, Target: tab.target, Epsilon: "2", Delta: "1e-5",
		Rows: int64(len(tab.rows)), Test: HeldOut, Seed: &seed}, Encoding: &encode.Options{}, Epochs: 10}
	spec, ok := zoo.Lookup(name)
	if !ok {
		t.Fatal(name)
	}
	if err := in.Table(spec.Default()); err != nil {
		t.Fatal(err)
	}
	return in
}

// A network learns from rows of a table, is scored as other models of tables are, and
// answers the same from its files.
func TestNetworkOfATable(t *testing.T) {
	tab := builtin(t, "wdbc")
	plan, err := NewTrainPlan(tableInput(t, tab, "fcn-64"))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Preflight(context.Background()); err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 7), Digest: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	if *out.Score.Exact < *out.Score.ExactBaseline+0.1 {
		t.Errorf("accuracy %.3f, the majority class has %.3f", *out.Score.Exact, *out.Score.ExactBaseline)
	}
	dir := t.TempDir()
	if err := out.Model.Save(dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	here, there := out.Model.Predictor(), loaded.Predictor()
	p, q := make([]float64, 2), make([]float64, 2)
	for _, cells := range tab.rows[:50] {
		out.Model.Probabilities(p, cells)
		if loaded.Probabilities(q, cells); here(cells) != there(cells) || p[0] != q[0] {
			t.Fatal("the saved model answers otherwise")
		}
	}
}

// A numeric target is learnt on its declared range.
func TestNetworkOfARegression(t *testing.T) {
	tab := builtin(t, "insurance")
	in := tableInput(t, tab, "medical-2x10")
	in.Epochs = 60
	plan, err := NewTrainPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 7), Digest: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	if unit := *out.Score.Exact / 64000; unit > 0.098 {
		t.Errorf("mean absolute error %.4f of the range", unit)
	}
}

func TestNetworksThatDoNotFitATable(t *testing.T) {
	tab := builtin(t, "wdbc")
	for _, c := range []struct{ name, model, want string }{
		{"a loss for numbers", "medical-2x10", "the target has classes"},
		{"images", "lenet-5", "takes 28×28×1"},
	} {
		spec, _ := zoo.Lookup(c.model)
		in := TrainInput{Input: Input{Dataset: tab.name, Schema: tab.schema, Target: tab.target, Rows: 100}, Encoding: &encode.Options{}}
		err := in.Table(spec)
		var mistake *UsageError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) || mistake.Hint() == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
