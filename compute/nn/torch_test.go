package nn

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Scores, losses and gradients of single texts agree with PyTorch's LSTM and GRU in
// float64 within what float32 leaves: 2e-6 of the largest number. The texts go through
// the net together, padded. torch_recurrent.py wrote the file; do NOT edit it.
func TestRecurrentLayersAgreeWithPyTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/torch_recurrent.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Vocabulary, Units, State, Length int
		Cases                            []struct {
			Kind, Mode string
			Parameters []float64
			Texts      []struct {
				Tokens           []int
				Target, Loss     float64
				Scores, Gradient []float64
			}
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil || len(golden.Cases) != 4 {
		t.Fatalf("%d cases: %v", len(golden.Cases), err)
	}
	for _, c := range golden.Cases {
		t.Run(c.Kind+" "+c.Mode, func(t *testing.T) {
			net := mustCompile(t, Spec{Layers: []Layer{embed(golden.Vocabulary, golden.Units), {Kind: c.Kind, Units: golden.State, Mode: c.Mode}, units(3)}},
				Tokens(golden.Length), 3)
			params := narrow(c.Parameters)
			var inputs, targets []float32
			for _, one := range c.Texts {
				x := make([]float32, net.Inputs())
				PutTokens(x, one.Tokens)
				inputs, targets = append(inputs, x...), append(targets, float32(one.Target))
			}
			near := func(what string, got, want []float64) {
				t.Helper()
				largest := 0.0
				for _, v := range want {
					largest = math.Max(largest, math.Abs(v))
				}
				for i, v := range want {
					if !(math.Abs(got[i]-v) <= 2e-6*largest) {
						t.Fatalf("%s %d: got %g, want %g", what, i, got[i], v)
					}
				}
			}
			all := gradients(net, params, inputs, targets, make([]uint64, len(targets)))
			scores := net.Predict(0, params, inputs)
			for e, one := range c.Texts {
				own := scores[e*3 : (e+1)*3]
				near("score", widen(own), one.Scores)
				near("loss", []float64{net.Loss().Value(own, targets[e])}, []float64{one.Loss})
				near("parameter", all[e], one.Gradient)
			}
		})
	}
}
