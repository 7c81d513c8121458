package net

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/search/space"
)

// ErrPoint is wrapped where a point does not describe a network.
var ErrPoint = errors.New("the point describes no network")

// Net builds the network of a point for inputs of a shape and a number of outputs
// (classes, or 1). The result has no stated counts; its Compile reports what the
// shape does not allow. Errors wrap ErrPoint where a value is missing or has no
// meaning.
func Net(p space.Point, input nn.Shape, outputs int) (zoo.Spec, error) {
	b := &builder{point: p, outputs: outputs}
	var s zoo.Spec
	switch family := p.Net(); family {
	case "fcn":
		s.Network.Layers = b.fcn()
	case "cnn":
		s.Network.Layers = b.cnn()
	default:
		known, ok := zoo.Lookup(family)
		if !ok {
			return zoo.Spec{}, fmt.Errorf("%w: unknown net %q: use fcn, cnn or a network of pawl models list", ErrPoint, family)
		}
		s = b.known(known)
	}
	if b.err != nil {
		return zoo.Spec{}, b.err
	}
	if s.Name == "" {
		s.Name, s.Title = p.Net()+"-"+p.Digest()[:8], p.String()
		s.Input, s.Outputs = input, outputs
		return s, nil
	}
	return s.For(input, outputs)
}

// builder reads a point and remembers the first fault.
type builder struct {
	point   space.Point
	outputs int
	err     error
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %s", ErrPoint, fmt.Sprintf(format, args...))
	}
}

// count reads a whole number of at least 1 under the first of some names that the
// point has.
func (b *builder) count(names ...string) int {
	for _, name := range names {
		if b.point.Has(name) {
			n, ok := b.point.Int(name)
			if !ok || n < 1 {
				v, _ := b.point.Value(name)
				b.fail("%s is %v, it must be a whole number of at least 1", name, v)
				return 1
			}
			return n
		}
	}
	b.fail("%s is missing", strings.Join(names, " or "))
	return 1
}

// activation reads the layer that follows a linear one; absent, it is the default.
func (b *builder) activation(absent string, names ...string) nn.Layer {
	kind := absent
	for _, name := range names {
		if s, ok := b.point.Text(name); ok {
			kind = strings.ToLower(s)
			break
		}
	}
	switch {
	case kind == "":
		b.fail("%s is missing", strings.Join(names, " or "))
	case !slices.Contains(nn.Activations(), kind):
		b.fail("no activation is called %q; there are %s", kind, strings.Join(nn.Activations(), ", "))
	}
	l := nn.KindOf(kind).Standard
	if l.Bound > 0 {
		l.Bound = b.bound(l.Bound)
	}
	return l
}

func (b *builder) bound(absent float64) float64 {
	x, ok := b.point.Float("bound")
	switch {
	case !ok:
		return absent
	case !(x > 0):
		b.fail("bound is %v, it must be above 0", x)
	}
	return x
}

// frozen is what a trainable dimension makes of a layer.
func (b *builder) frozen(name string) nn.Trainable {
	if train, ok := b.point.Flag(name); ok && !train {
		return nn.TrainNone
	}
	return nn.TrainAll
}

// dropout appends dropout, unless its rate is 0.
func (b *builder) dropout(layers []nn.Layer, absent float64) []nn.Layer {
	rate, ok := b.point.Float("dropout")
	if !ok {
		rate = absent
	}
	switch {
	case !(rate >= 0 && rate < 1):
		b.fail("dropout is %v; it must be in [0, 1)", rate)
	case rate > 0:
		layers = append(layers, nn.Layer{Kind: "dropout", Rate: rate})
	}
	return layers
}

func (b *builder) fcn() []nn.Layer {
	layers := b.frontEnd()
	for i := 1; i <= b.count("layers", "num_layers") && b.err == nil; i++ {
		layers = append(layers, nn.Layer{Kind: "dense", Units: b.count(fmt.Sprintf("units_%d", i), "units", "num_units_per_layer"), Trainable: b.frozen(fmt.Sprintf("trainable_%d", i))})
		layers = append(layers, b.activation("", fmt.Sprintf("activation_%d", i), "activation", "activation_fn"))
		layers = b.dropout(layers, 0.2)
	}
	return append(layers, nn.Layer{Kind: "dense", Units: b.outputs, Trainable: b.frozen("trainable_out")})
}

// frontEnd is the choice of features.
func (b *builder) frontEnd() []nn.Layer {
	name, ok := b.point.Text("features")
	if !ok {
		return nil
	}
	words := []string{"all"}
	for _, f := range nn.Fronts() {
		if f.Searched {
			if words = append(words, f.Word); f.Word != name {
				continue
			}
			coefficients, choice := 0, ""
			if f.Count {
				coefficients = b.count("coefficients")
			}
			if len(f.Choices) > 0 {
				choice = f.Choices[0]
			}
			return f.Layers(coefficients, choice)
		}
	}
	if name != "all" {
		b.fail("features is %q; there are %s", name, strings.Join(words, ", "))
	}
	return nil
}

func (b *builder) cnn() []nn.Layer {
	layers := []nn.Layer{{Kind: "pool2x2", Mode: "max"}}
	filters := b.count("filters")
	for i := 1; i <= b.count("blocks") && b.err == nil; i++ {
		// Block i has i·filters filters: Table XIX shows 16, 32, 48. The last block has no
		// pool, the first one has it unless it is the last.
		l := nn.Layer{Kind: "conv2d", Filters: i * filters, Kernel: 5, Trainable: b.frozen(fmt.Sprintf("trainable_conv_%d", i))}
		if i > 1 {
			l.Kernel, l.Padding = 3, "same"
		}
		layers = append(layers, l)
		if i < b.count("blocks") {
			layers = append(layers, nn.Layer{Kind: "max_pool", Size: 2})
		}
		layers = append(layers, b.activation("relu", "activation_conv", "activation"))
	}
	layers = append(layers, nn.Layer{Kind: "flatten"}, nn.Layer{Kind: "dense", Units: b.count("units"), Trainable: b.frozen("trainable_dense")}, b.activation("relu", "activation_dense", "activation"))
	return append(b.dropout(layers, 0.3), nn.Layer{Kind: "dense", Units: b.outputs, Trainable: b.frozen("trainable_out")})
}

// known varies a net of the zoo.
func (b *builder) known(s zoo.Spec) zoo.Spec {
	s.Defaults.Bound = b.bound(s.Defaults.Bound)
	if name, ok := b.point.Text("activation"); ok {
		with, err := s.WithActivation(strings.ToLower(name))
		if err != nil {
			b.fail("%v", err)
			return s
		}
		s = with
	}
	if rate, ok := b.point.Float("dropout"); ok {
		s.Network.Layers = slices.Clone(s.Network.Layers)
		switch {
		case rate == 0:
			s = s.WithoutDropout()
		case !(rate > 0 && rate < 1):
			b.fail("dropout is %v; it must be in [0, 1)", rate)
		}
		for i := range s.Network.Layers {
			if s.Network.Layers[i].Kind == "dropout" {
				s.Network.Layers[i].Rate = rate
			}
		}
	}
	if b.point.Has("train_last") {
		s = s.TrainLast(b.count("train_last"))
	}
	return s
}
