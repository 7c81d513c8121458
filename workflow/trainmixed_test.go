package workflow

import (
	"errors"
	"strings"
	"testing"

	"pawl/compute/nn"
	"pawl/core/gradient"
)

// A net that mixes examples is refused by the name of its layer before anything is
// priced, and with a way out; without clipping, on public data, it is planned.
func TestNetsThatMixExamplesAreRefused(t *testing.T) {
	layers := []nn.Layer{{Kind: "dense", Units: 6}, {Kind: "batch_norm"}, {Kind: "tanh"}, {Kind: "dense", Units: 2}}
	in := trainInput(true, layers...)
	_, err := NewTrainPlan(in)
	var l *nn.LayerError
	if !errors.As(err, &l) || l.Layer != 2 || !strings.Contains(err.Error(), "batch normalization mixes the examples") || l.Instead == "" {
		t.Errorf("with privacy: %v", err)
	}
	in = trainInput(true, layers...)
	in.NonPrivate, in.Clipping, in.Epsilon = true, gradient.Unclipped, ""
	if _, err := NewTrainPlan(in); errors.As(err, &l) {
		t.Errorf("without: %v", err)
	}
	layers[1].Kind = "layer_norm"
	if _, err := NewTrainPlan(trainInput(true, layers...)); err != nil {
		t.Errorf("layer normalization: %v", err)
	}
}
