package nn

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSequenceRefusals(t *testing.T) {
	text, image := Tokens(4), Shape{4, 4, 6}
	e := embed(5, 3)
	for _, c := range []struct {
		name   string
		in     Shape
		layers []Layer
		layer  int
		key    string
		words  string
	}{
		{"embedding of an image", image, []Layer{e, units(2)}, 1, "", "not a sequence of tokens"},
		{"late embedding", text, []Layer{units(5), e}, 2, "", "must be the first layer"},
		{"no vocabulary", text, []Layer{{Kind: "embedding", Units: 2}}, 1, "vocabulary", "must lie in 1 to"},
		{"no units", text, []Layer{{Kind: "embedding", Vocabulary: 2}}, 1, "units", "at least 1"},
		{"vast embedding", text, []Layer{embed(1<<20, 1<<10)}, 1, "units", "more than"},
		{"sequence at the end", text, []Layer{e, units(2)}, 2, "", "put lstm, gru or mean_over_time"},
		{"flatten over time", text, []Layer{e, kind("flatten"), units(2)}, 2, "", "time steps"},
		{"convolution over time", text, []Layer{e, {Kind: "conv2d", Filters: 2, Kernel: 3}}, 2, "", "time steps"},
		{"group norm over time", text, []Layer{e, {Kind: "group_norm", Groups: 3}}, 2, "", "time steps"},
		{"lstm of a vector", Vector(4), []Layer{{Kind: "lstm", Units: 2}}, 1, "", "embedding before it"},
		{"mean of a vector", Vector(4), []Layer{kind("mean_over_time")}, 1, "", "embedding before it"},
		{"no state", text, []Layer{e, kind("gru")}, 2, "units", "at least 1"},
		{"vast state", text, []Layer{e, {Kind: "gru", Units: 1 << 15}}, 2, "units", "1 GiB"},
		{"mode", text, []Layer{e, {Kind: "lstm", Units: 2, Mode: "first"}}, 2, "mode", "last, mean or sequence"},
		{"bias of an lstm", text, []Layer{e, {Kind: "lstm", Units: 2, Trainable: TrainBias}}, 2, "trainable", "true or false"},
		{"bias of a norm", Vector(4), []Layer{{Kind: "layer_norm", Trainable: TrainBias}}, 1, "trainable", "true or false"},
		{"no groups", image, []Layer{kind("group_norm")}, 1, "groups", "such as 3"},
		{"uneven groups", image, []Layer{{Kind: "group_norm", Groups: 4}}, 1, "groups", "do not divide 6 channels"},
		{"instance norm of a vector", Vector(4), []Layer{kind("instance_norm")}, 1, "", "layer_norm"},
		{"residual of another shape", Vector(4), []Layer{units(3), {Kind: "residual"}, units(2)}, 2, "from", "a vector of 4 to a vector of 3"},
		{"residual of itself", Vector(4), []Layer{units(4), {Kind: "residual", From: 1}, units(2)}, 2, "from", "earlier layer"},
		{"residual from the future", Vector(4), []Layer{units(4), {Kind: "residual", From: 7}, units(2)}, 2, "from", "earlier layer"},
		{"shares with itself", Vector(4), []Layer{{Kind: "dense", Units: 4, Share: 1}}, 1, "share", "earlier layer"},
		{"shares other sizes", Vector(4), []Layer{units(3), {Kind: "dense", Units: 4, Share: 1}}, 2, "share", "does not have the weights"},
		{"shares with tanh", Vector(4), []Layer{kind("tanh"), {Kind: "dense", Units: 4, Share: 1}}, 2, "share", "does not have the weights"},
		{"shares and freezes", Vector(4), []Layer{units(4), {Kind: "dense", Units: 4, Share: 1, Trainable: TrainNone}}, 2, "trainable", "layer 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(Spec{Layers: c.layers}, c.in, 2)
			var l *LayerError
			if !errors.As(err, &l) || l.Layer != c.layer || l.Key != c.key || l.Instead == "" || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v: want layer %d, key %q, %q", err, c.layer, c.key, c.words)
			}
		})
	}
}

// Layers are left out, and put in front, without moving what others refer to.
func TestReferencesFollowTheirLayers(t *testing.T) {
	dropout := Layer{Kind: "dropout", Rate: 0.5}
	spec := Spec{Layers: []Layer{{Kind: "pool2x2", Mode: "mean"}, units(4), kind("tanh"), dropout, {Kind: "dense", Units: 4}, dropout, {Kind: "residual", From: 4},
		dropout, {Kind: "dense", Units: 4, Share: 5}, units(2)}}
	got := spec.Without(func(l Layer) bool { return l.Kind == "dropout" })
	want := []Layer{spec.Layers[0], units(4), kind("tanh"), units(4), {Kind: "residual", From: 3}, {Kind: "dense", Units: 4, Share: 4}, units(2)}
	if !slices.Equal(got.Layers, want) || spec.Layers[6].From != 4 {
		t.Errorf("without dropout %+v", got.Layers)
	}
	got = spec.Behind(1, kind("standardize"), kind("identity"))
	if l := got.Layers; len(l) != 11 || l[7].From != 5 || l[9].Share != 6 {
		t.Errorf("behind another front end %+v", got.Layers)
	}
	input := Spec{Layers: []Layer{units(4), {Kind: "residual"}, units(2)}}
	if l := input.Behind(0, kind("standardize")).Layers; l[2].From != 1 {
		t.Errorf("a residual from the input skips the front end: %+v", l)
	}
	odd := Spec{Layers: []Layer{units(4), {Kind: "residual", From: 9}, {Kind: "residual", From: -1}}}
	if l := odd.Without(func(Layer) bool { return false }).Layers; l[1].From != 9 || l[2].From != -1 {
		t.Errorf("references that make no sense are mended: %+v", l)
	}
}
