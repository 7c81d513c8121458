package nn

import (
	"fmt"
	"math"
	"slices"
)

// maxNumbers bounds the parameters of a net, and the numbers of one example in
// any layer: 1 GiB of float32, far beyond what this package is made for.
const maxNumbers = 1 << 28

// maxSide bounds the images that dct takes: it keeps a table of side² cosines.
const maxSide = 4096

// Compile checks spec for examples of shape input and a number of outputs
// (classes, or 1), and returns the net. Nothing is trained or drawn yet.
//
// Errors are *LayerError: an unknown layer or key, sizes that do not fit, a
// layer that mixes examples, a number of scores that is not outputs, no trainable
// parameter.
func Compile(spec Spec, input Shape, outputs int) (*Net, error) {
	if min(input.Height, input.Width, input.Channels) < 1 || tooMany(input.Height, input.Width, input.Channels) {
		return nil, &LayerError{Key: "input", Reason: fmt.Sprintf("an input of %d×%d×%d has no use", input.Height, input.Width, input.Channels),
			Instead: "give height, width and channels, each at least 1"}
	}
	loss := spec.Loss.withDefaults()
	if err := loss.check(outputs); err != nil {
		return nil, err
	}
	if len(spec.Layers) == 0 {
		return nil, &LayerError{Key: "layers", Reason: "there are no layers", Instead: "the smallest net is one dense layer"}
	}
	b := &builder{net: &Net{input: input, outputs: outputs, loss: loss}, shape: input, spec: spec.Layers}
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
	b.net.prefix = b.prefix()
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
		switch o.(type) {
		case *centre, *releasedPCA, *batchNorm:
			most = min(most, i)
		}
	}
	crossed := func(p int) bool {
		for i, o := range n.ops[p:] {
			if r, ok := o.(residual); ok && i < r.back {
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
	b.shape, b.sequence = info.Output, b.staysSequence(l)
	n.trainable += info.Trainable
	b.frozen += info.Parameters - info.Trainable
	if n.trainable+b.frozen > maxNumbers {
		return b.fault("", fmt.Sprintf("the net has more than %d parameters", maxNumbers), "make it smaller")
	}
	return nil
}

func (b *builder) build(l Layer, info *LayerInfo) (op, error) {
	if IsFrontEnd(l.Kind) && b.net.trainable > 0 {
		return nil, b.fault("", "it stands behind a trainable layer", "put it before the first trainable layer: it is a front end without a backward pass")
	}
	if b.sequence && !overTime(l.Kind) {
		return nil, b.fault("", "it does not know the time steps of a sequence", instead(b.shape))
	}
	switch l.Kind {
	case "embedding", "lstm", "gru", "mean_over_time":
		return b.overTime(l, info)
	case "layer_norm", "group_norm", "instance_norm", "batch_norm":
		return b.norm(l, info)
	case "residual":
		return b.residual(l)
	case "dense":
		return b.dense(l, info)
	case "conv2d":
		return b.conv2d(l, info)
	case "max_pool", "avg_pool", "pool2x2":
		return b.pool(l, info)
	case "dct":
		return b.dct(l, info)
	case "pca":
		size := b.shape.Size()
		switch {
		case len(b.net.ops) > 0:
			return nil, b.fault("", "it is not the first layer", "components are fitted on the inputs as they are: put it first")
		case l.Coefficients < 1 || l.Coefficients > size:
			return nil, b.fault("coefficients", fmt.Sprintf("coefficients must lie in 1 to %d, got %d", size, l.Coefficients), "64 is a common choice")
		}
		info.Output, info.Parameters = Vector(l.Coefficients), size+size*l.Coefficients
		return &pca{d: size, k: l.Coefficients, frozen: b.frozen}, nil
	case "dp_pca":
		return b.releasedPCA(l, info)
	case "random":
		return b.random(l, info)
	case "standardize":
		return &standardize{b.shape.Size()}, nil
	case "scatter":
		return b.scatter(l, info)
	case "normalize":
		scale, err := b.rowNorm(l)
		return &normalize{b.shape.Size(), scale}, err
	case "centre":
		switch {
		case b.waits:
			return nil, b.fault("", "it is the second one that waits for a release", "one of centre and dp_pca: leave the others out")
		case !b.hasUnitRows():
			return nil, b.fault("", "its inputs need a public bound: rows of norm 1", "put normalize before it")
		}
		b.waits = true
		scale, err := b.rowNorm(l)
		info.Parameters = b.shape.Size()
		return &centre{d: b.shape.Size(), scale: scale, frozen: b.frozen}, err
	case "flatten":
		info.Output = Vector(b.shape.Size())
		return identity{}, nil
	case "dropout":
		if !(l.Rate >= 0 && l.Rate < 1) {
			return nil, b.fault("rate", fmt.Sprintf("rate must lie in [0, 1), got %g", l.Rate), "0.2 is a common choice")
		}
		d := &dropout{d: b.shape.Size(), rate: l.Rate}
		if b.sequence {
			d.d, d.length = b.shape.Channels, b.shape.Height
		}
		return d, nil
	case "identity":
		return identity{}, nil
	}
	return b.activation(l)
}

// hasUnitRows says whether the layer before makes rows of norm 1 at most.
func (b *builder) hasUnitRows() bool {
	if b.layer < 2 {
		return false
	}
	before := b.spec[b.layer-2]
	return before.Kind == "scatter" || before.Kind == "normalize" && (before.Scale == 0 || before.Scale == 1)
}

// rowNorm is the norm of the rows that normalize and centre make, 1 unless given.
func (b *builder) rowNorm(l Layer) (float64, error) {
	switch {
	case l.Scale == 0:
		return 1, nil
	case l.Scale > 0 && l.Scale <= 1e6:
		return l.Scale, nil
	}
	return 0, b.fault("scale", fmt.Sprintf("scale must be a finite number above 0, got %g", l.Scale), "leave it out for rows of norm 1")
}

func (b *builder) dense(l Layer, info *LayerInfo) (op, error) {
	if l.Units < 1 {
		return nil, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "give the number of outputs of the layer")
	}
	f := affine{t: 1, m: b.shape.Size(), n: l.Units, groups: 1, part: l.Trainable}
	info.Output = Vector(l.Units)
	if b.sequence {
		f.t, f.m, f.ragged = b.shape.Height, b.shape.Channels, true
		info.Output = Shape{f.t, 1, f.n}
	}
	f, err := b.affine(f, l.Share, info)
	return &denseLayer{f}, err
}

// affine gives f its places in the vectors of parameters, those of layer share if
// that is not 0.
func (b *builder) affine(f affine, share int, info *LayerInfo) (affine, error) {
	switch f.part {
	case TrainAll, TrainBias, TrainNone:
	default:
		return f, b.fault("trainable", fmt.Sprintf("trainable is %q", f.part), "write true, false or bias")
	}
	if tooMany(f.m+1, f.n, f.groups) {
		return f, b.fault("", fmt.Sprintf("the layer has more than %d parameters", maxNumbers), "make it smaller")
	}
	if share != 0 {
		return b.share(f, share)
	}
	f.block, f.frozen = b.net.trainable, b.frozen
	info.Parameters, info.Trainable = f.weights()+f.biases(), f.trained()
	return f, nil
}

func (b *builder) conv2d(l Layer, info *LayerInfo) (op, error) {
	stride, groups := max(l.Stride, 1), max(l.Groups, 1)
	in := b.shape
	switch {
	case l.Filters < 1:
		return nil, b.fault("filters", fmt.Sprintf("filters must be at least 1, got %d", l.Filters), "give the number of output channels")
	case l.Kernel < 1:
		return nil, b.fault("kernel", fmt.Sprintf("kernel must be at least 1, got %d", l.Kernel), "3 is a common choice")
	case l.Stride < 0 || l.Stride > maxNumbers:
		return nil, b.fault("stride", fmt.Sprintf("stride must be at least 1 and no larger than an image, got %d", l.Stride), "leave it out for 1")
	case l.Padding != "" && l.Padding != "valid" && l.Padding != "same":
		return nil, b.fault("padding", fmt.Sprintf("padding is %q", l.Padding), "write valid or same")
	case l.Groups < 0 || in.Channels%groups != 0 || l.Filters%groups != 0:
		return nil, b.fault("groups", fmt.Sprintf("%d groups divide neither evenly: %d channels, %d filters", l.Groups, in.Channels, l.Filters),
			"use a number that divides both")
	}
	same := l.Padding == "same"
	if err := b.fits("kernel", l.Kernel, same); err != nil {
		return nil, err
	}
	m := l.Kernel * l.Kernel * (in.Channels / groups)
	if tooMany(l.Kernel, l.Kernel, in.Channels, l.Filters/groups) {
		return nil, b.fault("", fmt.Sprintf("the layer has more than %d parameters", maxNumbers), "make it smaller")
	}
	w := newWindow(in, l.Kernel, stride, l.Filters, same)
	info.Output = w.out
	if tooMany(w.out.Height, w.out.Width, w.out.Channels) || tooMany(w.positions(), m, groups) {
		return nil, b.fault("filters", "one example takes more than 1 GiB here", "make the layer smaller or the stride larger")
	}
	f, err := b.affine(affine{t: w.positions(), m: m, n: l.Filters / groups, groups: groups, part: l.Trainable}, l.Share, info)
	if err != nil {
		return nil, err
	}
	c, err := newConv2d(f, w)
	if err == nil {
		c.standard = l.StandardizeWeights
	}
	return c, err
}

// fits refuses windows that are larger than the image.
func (b *builder) fits(key string, size int, same bool) error {
	side := min(b.shape.Height, b.shape.Width)
	if size <= side {
		return nil
	}
	if b.shape.Height == 1 && b.shape.Width == 1 {
		return b.fault(key, fmt.Sprintf("a %d×%d window needs an image, but the input is %s", size, size, b.shape), "put it before flatten and dense, or give the input as height × width × channels")
	}
	// With "same" padding a window may reach beyond both ends of a small image.
	if same && size <= math.MaxInt16 {
		return nil
	}
	instead := fmt.Sprintf("use at most %d", side)
	if key == "kernel" {
		instead += ", or \"padding: same\""
	}
	return b.fault(key, fmt.Sprintf("a %d×%d window is larger than its input of %s", size, size, b.shape), instead)
}

func (b *builder) pool(l Layer, info *LayerInfo) (op, error) {
	size, stride, mean := l.Size, l.Stride, l.Kind == "avg_pool"
	key := "size"
	if l.Kind == "pool2x2" {
		size, stride, mean, key = 2, 2, l.Mode == "mean", ""
		if l.Mode != "mean" && l.Mode != "max" {
			return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write mean or max")
		}
	}
	if stride == 0 {
		stride = size
	}
	switch {
	case size < 1:
		return nil, b.fault("size", fmt.Sprintf("size must be at least 1, got %d", size), "2 is a common choice")
	case stride < 1 || stride > maxNumbers:
		return nil, b.fault("stride", fmt.Sprintf("stride must be at least 1 and no larger than an image, got %d", stride), "leave it out for the size of the window")
	}
	if err := b.fits(key, size, false); err != nil {
		return nil, err
	}
	w := newWindow(b.shape, size, stride, b.shape.Channels, false)
	info.Output = w.out
	if mean {
		return &avgPool{w}, nil
	}
	return &maxPool{w}, nil
}

func (b *builder) dct(l Layer, info *LayerInfo) (op, error) {
	in := b.shape
	switch {
	case l.Coefficients < 1 || l.Coefficients%in.Channels != 0:
		return nil, b.fault("coefficients", fmt.Sprintf("%d coefficients cannot be shared by %d channels", l.Coefficients, in.Channels), "give a multiple of the number of channels")
	case l.Coefficients > in.Size():
		return nil, b.fault("coefficients", fmt.Sprintf("%d coefficients are more than the numbers of %s", l.Coefficients, in), fmt.Sprintf("use at most %d", in.Size()))
	case tooMany(in.Size(), l.Coefficients) || max(in.Height, in.Width) > maxSide:
		return nil, b.fault("coefficients", "the transform takes more than 1 GiB here", "use fewer coefficients, or pool the image first")
	}
	info.Output = Vector(l.Coefficients)
	return newDCT(in, l.Coefficients), nil
}

func (b *builder) activation(l Layer) (op, error) {
	finite := func(v float64) bool { return math.Abs(v) < math.MaxFloat32 }
	var a activation
	switch l.Kind {
	case "relu":
		a = relu()
	case "tanh":
		a = hyperbolicTangent()
	case "sigmoid":
		a = sigmoid()
	case "bounded_relu":
		if !(l.Bound > 0) || !finite(l.Bound) {
			return nil, b.fault("bound", fmt.Sprintf("bound must be a finite number above 0, got %g", l.Bound), "2 to 4 are common choices")
		}
		a = boundedReLU(float32(l.Bound))
	case "tempered_sigmoid":
		if !(l.Scale > 0 && l.Temperature > 0) || !finite(l.Scale) || !finite(l.Temperature) || !finite(l.Offset) {
			return nil, b.fault("scale", "scale and temperature must be finite numbers above 0", "2, 2 and offset 1 are tanh")
		}
		a = temperedSigmoid(float32(l.Scale), float32(l.Temperature), float32(l.Offset))
	}
	a.d, a.inPlace = b.shape.Size(), b.outputIsFree()
	return &a, nil
}

// outputIsFree says whether the output of the last layer so far may be
// overwritten: it lies in a buffer of its own that neither the backward pass reads
// nor a residual.
func (b *builder) outputIsFree() bool {
	for i, o := range slices.Backward(b.net.ops) {
		// What comes out of op i is the output of layer i+1.
		if slices.ContainsFunc(b.spec, func(l Layer) bool { return l.Kind == "residual" && l.From == i+1 }) {
			return false
		}
		switch o.(type) {
		case identity:
			continue
		case *denseLayer, *conv2d, *maxPool, *avgPool, *norm, *batchNorm, *lstm, *gru, *embedding, *meanOverTime, residual:
			return true
		}
		return false
	}
	return false
}
