package nn

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// A convolution, or a pool, takes the features as maps: the same numbers as the vector, bit for bit, and channel k
// of the vector at channel k of each position.
func TestScatterMaps(t *testing.T) {
	const h, w, colours, images = 8, 12, 2, 3
	in, rng := Shape{h, w, colours}, rand.New(rand.NewPCG(1, 2))
	x := make([]float32, images*in.Size())
	for i := range x {
		x[i] = rng.Float32()
	}
	conv, pool := Layer{Kind: "conv2d", Filters: 2, Kernel: 2}, Layer{Kind: "avg_pool", Size: 2}
	for _, mode := range []string{"", "full", "whitened", "mirrored"} {
		front := Layer{Kind: "scatter", Mode: mode}
		features := func(layers ...Layer) (*Net, []float32) {
			net := mustCompile(t, Spec{Layers: append([]Layer{front}, append(layers, units(2))...)}, in, 2)
			return net, net.ForwardPrefix(0, x)
		}
		_, vector := features()
		for _, behind := range [][]Layer{{conv}, {kind("centre"), conv}, {pool}, {kind("tanh"), {Kind: "group_norm", Groups: 54}, conv}, {kind("global_avg_pool")}} {
			net, maps := features(behind...)
			if got, want := net.Layers()[0].Output, (Shape{h / 4, w / 4, colours * 81}); got != want {
				t.Fatalf("mode %q before %s: %s, want %s", mode, behind[0].Kind, got, want)
			}
			if net.FrozenPrefix() != 1 {
				continue // what follows is kept with it
			}
			positions, channels := h/4*w/4, colours*81
			for i := range images {
				for k := range channels {
					for p := range positions {
						at := i * positions * channels
						if maps[at+p*channels+k] != vector[at+k*positions+p] {
							t.Fatalf("mode %q before %s: image %d, channel %d, position %d differs", mode, behind[0].Kind, i, k, p)
						}
					}
				}
			}
		}
		for _, behind := range [][]Layer{{}, {kind("flatten")}, {kind("centre"), units(4)}, {{Kind: "group_norm", Groups: 54}}, {{Kind: "dense", Units: 4}, kind("tanh")}} {
			net, got := features(behind...)
			if net.Layers()[0].Output != Vector(len(vector)/images) {
				t.Fatalf("mode %q before %v: %s, want a vector", mode, behind, net.Layers()[0].Output)
			}
			for i, v := range got {
				if net.FrozenPrefix() == 1 && v != vector[i] {
					t.Fatalf("mode %q before %v: number %d differs", mode, behind, i)
				}
			}
		}
	}
}

// An image that scatter does not take, and maps that are smaller than a window, are refused by the layer at fault.
func TestScatterMapsRefusals(t *testing.T) {
	scatter := Layer{Kind: "scatter"}
	for _, c := range []struct {
		name  string
		in    Shape
		next  Layer
		layer int
		words string
	}{
		{"odd sides", Shape{30, 30, 1}, Layer{Kind: "conv2d", Filters: 2, Kernel: 3}, 1, "sides must be multiples of 4 from 8 to 64"},
		{"too small", Shape{4, 4, 1}, Layer{Kind: "conv2d", Filters: 2, Kernel: 1}, 1, "sides must be multiples of 4 from 8 to 64"},
		{"a vector", Vector(64), Layer{Kind: "conv2d", Filters: 2, Kernel: 1}, 1, "its input is a vector of 64"},
		{"kernel larger than the maps", Shape{8, 12, 1}, Layer{Kind: "conv2d", Filters: 2, Kernel: 3}, 2, "3×3 window is larger than its input of 2×3×81; use at most 2"},
		{"pool larger than the maps", Shape{8, 8, 1}, Layer{Kind: "max_pool", Size: 3}, 2, "larger than its input of 2×2×81"},
		{"groups that do not divide the channels", Shape{8, 8, 1}, Layer{Kind: "conv2d", Filters: 2, Kernel: 2, Groups: 2}, 2, "81 channels"},
	} {
		_, err := Compile(Spec{Layers: []Layer{scatter, c.next, units(2)}}, c.in, 2)
		var l *LayerError
		if !errors.As(err, &l) || l.Layer != c.layer || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v; want layer %d and %q", c.name, err, c.layer, c.words)
		}
	}
}
