package nn

import (
	"fmt"
)

// maxNumbers bounds the parameters of a net, and the numbers of one example in
// any layer: 1 GiB of float32, far beyond what this package is made for.
const maxNumbers = 1 << 28

// Compile checks spec for examples of shape input and a number of outputs
// (classes, or 1), and returns the net. Nothing is trained or drawn yet.
//
// Errors are *LayerError: an unknown layer or key, sizes that do not fit, a
// layer that mixes examples, a number of scores that is not outputs, no trainable
// parameter.
func Compile(spec Spec, input Shape, outputs int) (*Net, error) {
	if min(input.Height, input.Width, input.Channels) < 1 || tooMany(input.Height, input.Width, input.Channels) {
		return nil, &LayerError{Key: "input", Reason: fmt.Sprintf("an input of %d×%d×%d is not possible", input.Height, input.Width, input.Channels),
			Instead: "give height, width and channels, each at least 1"}
	}
	loss := spec.Loss.withDefaults()
	if err := loss.check(outputs); err != nil {
		return nil, err
	}
	if err := loss.checkWeights(spec.ClassWeights, outputs); err != nil {
		return nil, err
	}
	if len(spec.Layers) == 0 {
		return nil, &LayerError{Key: "layers", Reason: "there are no layers", Instead: "the smallest net is one dense layer"}
	}
	b := &builder{net: &Net{input: input, outputs: outputs, loss: loss, weights: spec.ClassWeights}, shape: input, spec: spec.Layers}
	for i, l := range spec.Layers {
		b.layer, b.kind = i+1, l.Kind
		if err := b.add(l); err != nil {
			return nil, err
		}
	}
	if b.sequence {
		return nil, b.fault("", "the last layer gives a sequence", instead(b.shape)+fmt.Sprintf(", then end with a dense layer of %d units", outputs))
	}
	if got := b.shape.Size(); got != outputs {
		return nil, b.fault("", fmt.Sprintf("the last layer gives %s, but %d outputs are wanted", b.shape, outputs),
			fmt.Sprintf("end with a dense layer of %d units", outputs))
	}
	if b.net.trainable == 0 {
		return nil, &LayerError{Key: "layers", Reason: "no layer has a trainable parameter", Instead: "leave out \"trainable: false\" in the last dense layer"}
	}
	b.net.gains(spec.Layers)
	if b.net.prefix = b.prefix(); b.net.prefix > 0 {
		b.net.unitPrefix = makesUnitRows(b.spec[b.net.prefix-1])
	}
	b.net.link()
	b.net.frozen = make([]float32, b.frozen)
	return b.net, nil
}

// builder holds what Compile knows when it comes to a layer.
type builder struct {
	net    *Net
	shape  Shape
	frozen int
	layer  int
	kind   string
	spec   []Layer
	// sequence says that the shape is one of sequences: their length × 1 × numbers.
	sequence bool
	// sequences has it for the input of each op.
	sequences []bool
	// waits says that a centre or dp_pca layer has been seen.
	waits bool
}

// prefix is the number of ops whose results can be kept in place of the inputs: none
// is trained, waits for what is released when the inputs are there, or looks at the
// batch; the results are no sequences, whose lengths would be lost, and no later
// residual wants what lies before them.
func (b *builder) prefix() int {
	n := b.net
	most := n.first
	for i, o := range n.ops[:n.first] {
		if _, ok := o.(unsettled); ok {
			most = min(most, i)
		}
	}
	crossed := func(p int) bool {
		for i, o := range n.ops[p:] {
			if j, ok := o.(joiner); ok && i < j.summand() {
				return true
			}
		}
		return false
	}
	for most > 0 && (b.sequences[most] || crossed(most)) {
		most--
	}
	return most
}

func (b *builder) fault(key, reason, instead string) error {
	return &LayerError{Layer: b.layer, Kind: b.kind, Key: key, Reason: reason, Instead: instead}
}

func tooMany(factors ...int) bool {
	n := 1
	for _, f := range factors {
		if f > 0 && n > maxNumbers/f {
			return true
		}
		n *= f
	}
	return false
}

func (b *builder) add(l Layer) error {
	if err := l.validate(b.layer); err != nil {
		return err
	}
	info := LayerInfo{Kind: l.Kind, Input: b.shape, Output: b.shape}
	o, err := b.build(l, &info)
	if err != nil {
		return err
	}
	n := b.net
	if n.trainable == 0 && info.Trainable > 0 {
		n.first = len(n.ops)
	}
	b.sequences = append(b.sequences, b.sequence)
	n.ops, n.layers = append(n.ops, o), append(n.layers, info)
	b.shape = info.Output
	if after := kinds[l.Kind].sequence; after != nil {
		b.sequence = after(l)
	}
	n.trainable += info.Trainable
	b.frozen += info.Parameters - info.Trainable
	if n.trainable+b.frozen > maxNumbers {
		return b.fault("", fmt.Sprintf("the net has more than %d parameters", maxNumbers), "make it smaller")
	}
	return nil
}

func (b *builder) build(l Layer, info *LayerInfo) (op, error) {
	k := kinds[l.Kind]
	if k.Role == FrontEnd && b.net.trainable > 0 {
		return nil, b.fault("", "it comes after a trainable layer", "put it before the first trainable layer: it is a front end without a backward pass")
	}
	if b.sequence && !k.overTime {
		return nil, b.fault("", "it cannot be applied to a sequence of time steps", instead(b.shape))
	}
	return k.build(b, l, info)
}
