package zoo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/compute/nn"
)

// Spec is a network with its origin, sizes and defaults.
type Spec struct {
	Name, Title string
	// Source names the table or section that the net comes from, Note what differs.
	Source, Note string
	// Input and Outputs are the shape of an example and the number of scores; zero
	// means that the data decide, see For.
	Input   nn.Shape
	Outputs int
	// Network is the layers and the loss.
	Network nn.Spec
	// Parameters and Trainable are the counts that the file states, 0 where it does
	// not; Compile refuses a net that has others.
	Parameters, Trainable int
	Defaults              Defaults
}

// Defaults are public numbers with which a net trained best, or zero.
type Defaults struct {
	// Activation is the kind that Default puts in place of the published one, Bound
	// that of bounded_relu.
	Activation string
	Bound      float64
	// Dropout keeps dropout in Default.
	Dropout bool
	// Kappa and Radius are those of optim.StepRule, ClippingNorm goes with them.
	Kappa, Radius, ClippingNorm float64
	// Augment is the number of variants of each image whose gradients are averaged, Shift
	// their largest shift in pixels.
	Augment, Shift int
}

// ErrNoShape is returned where neither the file nor the data give a shape.
var ErrNoShape = errors.New("the network's input and outputs are not given")

// For settles the shape that a file leaves to the data: the input, the outputs,
// and the units of a last dense layer that has none. It refuses other shapes than
// the file's.
func (s Spec) For(input nn.Shape, outputs int) (Spec, error) {
	switch {
	case s.Input == nn.Shape{}:
		s.Input = input
	case s.Input != input && !(flat(s.Input) && input.Size() == s.Input.Size()):
		return Spec{}, fmt.Errorf("network %s takes %v, the data have %v", s.Name, s.Input, input)
	}
	if s.Outputs != 0 && s.Outputs != outputs {
		return Spec{}, fmt.Errorf("network %s has %d outputs, the data need %d", s.Name, s.Outputs, outputs)
	}
	s.Outputs = outputs
	if last := len(s.Network.Layers) - 1; last >= 0 && s.Network.Layers[last].Kind == "dense" && s.Network.Layers[last].Units == 0 {
		s.Network.Layers = slices.Clone(s.Network.Layers)
		s.Network.Layers[last].Units = outputs
	}
	return s, nil
}

func flat(s nn.Shape) bool { return s.Height == 1 && s.Width == 1 }

// Compile builds the net. Errors: ErrNoShape, *nn.LayerError, counts that are not
// the stated ones.
func (s Spec) Compile() (*nn.Net, error) {
	if s.Input == (nn.Shape{}) || s.Outputs == 0 {
		return nil, fmt.Errorf("network %s: %w", s.Name, ErrNoShape)
	}
	net, err := nn.Compile(s.Network, s.Input, s.Outputs)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name        string
		stated, got int
	}{{"parameters", s.Parameters, net.AllParameters()}, {"trainable", s.Trainable, net.Parameters()}} {
		if c.stated != 0 && c.stated != c.got {
			return nil, fmt.Errorf("network %s: %s is stated as %d, the layers have %d", s.Name, c.name, c.stated, c.got)
		}
	}
	return net, nil
}

// WithActivation puts one activation in place of every other one, in its standard form
// (nn.Kind.Standard); one with a bound takes Defaults.Bound where that is given.
func (s Spec) WithActivation(name string) (Spec, error) {
	kinds := nn.Activations()
	if !slices.Contains(kinds, name) {
		return Spec{}, fmt.Errorf("no activation is called %q; there are %s", name, strings.Join(kinds, ", "))
	}
	l := nn.KindOf(name).Standard
	if l.Bound > 0 && s.Defaults.Bound > 0 {
		l.Bound = s.Defaults.Bound
	}
	s.Network.Layers = slices.Clone(s.Network.Layers)
	for i, old := range s.Network.Layers {
		if slices.Contains(kinds, old.Kind) {
			s.Network.Layers[i] = l
		}
	}
	if rectifies(name) && !rectifies(s.Defaults.Activation) {
		s.Defaults.Radius *= 2
	}
	return s, nil
}

// rectifies says whether an activation's outputs are of one sign and not bounded by
// 1: their norm is then about twice that of a tanh layer, and the step rule needs
// half the step (Arous' net with bounded ReLU at ε 1.43: 96.8 % at a quarter of the
// step for tanh, 95.6 % at all of it).
func rectifies(activation string) bool { return nn.KindOf(activation).Reach > 1 }

// WithFrontEnd puts front ends in place of those before the first layer that is none.
// The stated counts and the radius, which were those of the other front end, are
// dropped.
func (s Spec) WithFrontEnd(layers ...nn.Layer) Spec {
	n := 0
	for _, l := range s.Network.Layers {
		if nn.KindOf(l.Kind).Front == nil {
			break
		}
		n++
	}
	s.Network = s.Network.Behind(n, layers...)
	s.Parameters, s.Trainable, s.Defaults.Radius = 0, 0, 0
	return s
}

// BehindExtractor puts a public network before all layers, for images of a shape. The radius stays that of the
// layers behind it.
func (s Spec) BehindExtractor(e *nn.Extractor, image nn.Shape) Spec {
	s.Network, s.Input = s.Network.Behind(0, nn.Layer{Kind: "extractor", Graph: e}), image
	s.Parameters, s.Trainable = 0, 0
	return s
}

// WithoutDropout leaves dropout layers out.
func (s Spec) WithoutDropout() Spec {
	s.Network = s.Network.Without(func(l nn.Layer) bool { return l.Kind == "dropout" })
	return s
}

// Default is the form to train under privacy: the default activation, and no
// dropout unless the defaults keep it.
func (s Spec) Default() Spec {
	if s.Defaults.Activation != "" {
		if with, err := s.WithActivation(s.Defaults.Activation); err == nil { // Decode has checked the name
			s = with
		}
	}
	if !s.Defaults.Dropout {
		s = s.WithoutDropout()
	}
	return s
}

// TrainLast freezes all but the last k layers that have weights, and trains these
// wholly (random weights training); a normalization goes with the layer before it.
// The stated Trainable and the radius, which belong to other trained layers, are
// dropped.
func (s Spec) TrainLast(k int) Spec {
	s.Network.Layers = slices.Clone(s.Network.Layers)
	for i, l := range slices.Backward(s.Network.Layers) {
		if l.Share > 0 {
			continue
		}
		part := nn.TrainNone
		if k > 0 {
			part = nn.TrainAll
		}
		switch nn.KindOf(l.Kind).Role {
		case nn.Weights:
			s.Network.Layers[i].Trainable = part
			k--
		case nn.Scales:
			s.Network.Layers[i].Trainable = part
		}
	}
	s.Trainable, s.Defaults.Radius = 0, 0
	return s
}

// LayersWithWeights is the number of layers that TrainLast counts.
func (s Spec) LayersWithWeights() int {
	n := 0
	for _, l := range s.Network.Layers {
		if nn.KindOf(l.Kind).Role == nn.Weights {
			n++
		}
	}
	return n
}

// Radius is Defaults.Radius or, where that is zero, the rule's own: the largest
// over the trained dense layers of 0.6·√m behind a bounded activation, lstm or gru,
// 1.2·√m behind a rectifier and √m otherwise, for m inputs, and over the trained
// lstm and gru of the same for their inputs and 0.6·√h for their h states together (1 for a single dense layer, whose rows are taken to
// have norm 1). It needs a shape.
func (s Spec) Radius() (float64, error) {
	if s.Defaults.Radius > 0 {
		return s.Defaults.Radius, nil
	}
	net, err := s.Compile()
	if err != nil {
		return 0, err
	}
	layers := net.Layers()
	if len(layers) == 1 {
		return 1, nil
	}
	radius, reach := 0.0, 1.0
	for _, l := range layers {
		if l.Trainable > 0 {
			radius = max(radius, l.RowNorm(reach))
		}
		if own := nn.KindOf(l.Kind).Reach; own > 0 {
			reach = own
		}
	}
	if radius == 0 {
		radius = 0.6 * math.Sqrt(float64(layers[len(layers)-1].Input.Size()))
	}
	return radius, nil
}
