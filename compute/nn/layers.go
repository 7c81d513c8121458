package nn

import "fmt"

// overTime says whether a kind of layer takes sequences.
func overTime(kind string) bool {
	switch kind {
	case "lstm", "gru", "mean_over_time", "dense", "dropout", "identity", "residual", "layer_norm",
		"relu", "bounded_relu", "tanh", "sigmoid", "tempered_sigmoid":
		return true
	}
	return false
}

// staysSequence says whether what comes out of a layer is one.
func (b *builder) staysSequence(l Layer) bool {
	switch l.Kind {
	case "embedding":
		return true
	case "lstm", "gru":
		return l.Mode == "sequence"
	case "mean_over_time":
		return false
	}
	return b.sequence
}

// instead is what to write in place of a layer that does not go with shape.
func instead(shape Shape) string {
	switch {
	case shape.Height > 1 && shape.Width == 1:
		return "put lstm, gru or mean_over_time before it"
	case shape.Height == 1 && shape.Width == 1:
		return "use layer_norm, which treats each example by itself"
	}
	for groups := min(32, shape.Channels/2); groups > 1; groups-- {
		if shape.Channels%groups == 0 {
			return fmt.Sprintf("use group_norm, which treats each example by itself, with groups that divide the %d channels, such as %d", shape.Channels, groups)
		}
	}
	return "use layer_norm or group_norm, which treat each example by itself"
}

// share gives f the parameters of layer number.
func (b *builder) share(f affine, number int) (affine, error) {
	refuse := func(reason string) (affine, error) {
		return f, b.fault("share", reason, "name an earlier layer of the same kind and sizes")
	}
	if number < 1 || number >= b.layer {
		return refuse(fmt.Sprintf("share is %d, which is no layer before it", number))
	}
	own, other := b.spec[b.layer-1], b.spec[number-1]
	if f.part != TrainAll {
		return f, b.fault("trainable", "it shares its parameters", "write trainable in layer "+fmt.Sprint(number))
	}
	var g affine
	switch o := b.net.ops[number-1].(type) {
	case *denseLayer:
		g = o.affine
	case *conv2d:
		g = o.affine
	}
	if own.Kind != other.Kind || g.m != f.m || g.n != f.n || g.groups != f.groups || own.StandardizeWeights != other.StandardizeWeights {
		return refuse(fmt.Sprintf("it does not have the weights of layer %d", number))
	}
	f.part, f.block, f.frozen, f.shared = g.part, g.block, g.frozen, true
	return f, nil
}

func (b *builder) residual(l Layer) (op, error) {
	if l.From < 0 || l.From >= b.layer-1 {
		return nil, b.fault("from", fmt.Sprintf("from is %d, which is no layer before the one that it follows", l.From), "give the number of an earlier layer, or 0 for the input")
	}
	from, sequence := b.net.input, false
	if l.From > 0 {
		from = b.net.layers[l.From-1].Output
		sequence = l.From < len(b.sequences) && b.sequences[l.From]
	}
	if from != b.shape || sequence != b.sequence {
		return nil, b.fault("from", fmt.Sprintf("it adds %s to %s", from, b.shape), "let the layers between keep the shape (padding: same, as many units or filters)")
	}
	return residual{d: b.shape.Size(), back: b.layer - 1 - l.From}, nil
}

func (b *builder) norm(l Layer, info *LayerInfo) (op, error) {
	s := scaling{d: b.shape.Channels, part: l.Trainable, block: b.net.trainable}
	groups := 1
	switch {
	case l.Trainable == TrainBias:
		return nil, b.fault("trainable", "its shift cannot be trained alone", "write true or false")
	case l.Kind == "group_norm":
		if groups = l.Groups; groups < 1 || s.d%groups != 0 {
			return nil, b.fault("groups", fmt.Sprintf("%d groups do not divide %d channels", groups, s.d), instead(b.shape))
		}
	case l.Kind == "instance_norm":
		groups = s.d
	}
	if l.Kind != "layer_norm" && b.sequence || b.shape.Height*b.shape.Width*s.d/groups == 1 {
		return nil, b.fault("", "one number has no deviation", "leave it out, or use layer_norm on more numbers")
	}
	info.Parameters = 2 * s.d
	if l.Trainable == TrainAll {
		info.Trainable = info.Parameters
	} else {
		s.block = b.frozen
	}
	if l.Kind != "batch_norm" {
		return &norm{scaling: s, in: b.shape, groups: groups, ragged: b.sequence}, nil
	}
	// Mean and variance lie behind what is frozen of scale and shift.
	frozen := b.frozen + info.Parameters - info.Trainable
	info.Parameters += 2 * s.d
	return &batchNorm{scaling: s, in: b.shape, frozen: frozen, running: &running{}}, nil
}

// overTime builds layers that make, take or end sequences.
func (b *builder) overTime(l Layer, info *LayerInfo) (op, error) {
	if l.Trainable == TrainBias {
		return nil, b.fault("trainable", "its bias cannot be trained alone", "write true or false")
	}
	in := b.shape
	switch {
	case l.Kind == "embedding":
		return b.embedding(l, info)
	case !b.sequence:
		return nil, b.fault("", fmt.Sprintf("it takes sequences, but its input is %s", in), "put an embedding before it")
	case l.Kind == "mean_over_time":
		info.Output = Vector(in.Channels)
		return &meanOverTime{in.Height, in.Channels}, nil
	case l.Units < 1:
		return nil, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "give the count of numbers in the state")
	case l.Mode != "" && l.Mode != "last" && l.Mode != "mean" && l.Mode != "sequence":
		return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write last, mean or sequence")
	case tooMany(in.Channels+l.Units+1, l.Units, 4) || tooMany(in.Height, in.Channels+8*l.Units):
		return nil, b.fault("units", "the layer takes more than 1 GiB", "make it smaller")
	}
	info.Output = Vector(l.Units)
	if l.Mode == "sequence" {
		info.Output = Shape{in.Height, 1, l.Units}
	}
	r := recurrent{length: in.Height, e: in.Channels, h: l.Units, mode: l.Mode}
	if l.Kind == "lstm" {
		f, err := b.affine(affine{t: r.length, m: r.e + r.h, n: 4 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
		return &lstm{r, f}, err
	}
	x, err := b.affine(affine{t: r.length, m: r.e, n: 3 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
	if err != nil {
		return nil, err
	}
	// The second matrix lies behind the first in the vector that holds both.
	first := *info
	h, err := b.affine(affine{t: r.length, m: r.h, n: 3 * r.h, groups: 1, part: l.Trainable, ragged: true}, 0, info)
	h.block, h.frozen = h.block+first.Trainable, h.frozen+first.Parameters-first.Trainable
	info.Parameters, info.Trainable = info.Parameters+first.Parameters, info.Trainable+first.Trainable
	return &gru{recurrent: r, x: x, h: h}, err
}

func (b *builder) embedding(l Layer, info *LayerInfo) (op, error) {
	in := b.shape
	length := in.Size() - 1
	switch {
	case len(b.net.ops) > 0:
		return nil, b.fault("", "it is not the first layer", "tokens are read from the inputs as they are: put it first")
	case !(in.Height == 1 && in.Width == 1 && length >= 1 && length <= maxLength):
		return nil, b.fault("", fmt.Sprintf("%s is no sequence of tokens", in), "give the input as 1 + the largest number of tokens")
	case l.Vocabulary < 1 || l.Vocabulary > 1<<24:
		return nil, b.fault("vocabulary", fmt.Sprintf("vocabulary must lie in 1 to %d, got %d", 1<<24, l.Vocabulary), "give the number of different tokens")
	case l.Units < 1:
		return nil, b.fault("units", fmt.Sprintf("units must be at least 1, got %d", l.Units), "50 is a common choice")
	case tooMany(l.Vocabulary, l.Units) || tooMany(length, l.Units):
		return nil, b.fault("units", fmt.Sprintf("the layer has more than %d numbers", maxNumbers), "make it smaller")
	}
	info.Output = Shape{length, 1, l.Units}
	info.Parameters = l.Vocabulary * l.Units
	e := &embedding{length: length, tokens: l.Vocabulary, d: l.Units, part: l.Trainable, block: b.net.trainable}
	if l.Trainable == TrainAll {
		info.Trainable = info.Parameters
	} else {
		e.block = b.frozen
	}
	return e, nil
}
