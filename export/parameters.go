package export

import (
	"math"

	"pawl/compute/nn"
	"pawl/model"
)

// layer is one layer of a network with its numbers: what its spec says, with defaults
// filled in, and its parameters taken apart.
type layer struct {
	nn.Layer
	info     nn.LayerInfo
	number   int  // counted from 1, as errors and specs do
	sequence bool // its input has time steps
	// groups have the weights and biases of dense, conv2d and lstm, one for each group of
	// channels; two for gru, those of the input and of the state.
	groups []affine
	// scale and shift are those of a normalization, mean and variance the running ones of
	// batch_norm.
	scale, shift, mean, variance []float32
	// centre is what centre, pca and dp_pca take off, basis what the latter multiply by.
	centre, basis []float32
	table         []float32 // of an embedding
}

// affine is a map x·W + b with W rows×columns, row-major.
type affine struct {
	w, b          []float32
	rows, columns int
}

// transposed is Wᵀ of the columns lo to hi.
func (f affine) transposed(lo, hi int) []float32 {
	t := make([]float32, 0, f.rows*(hi-lo))
	for j := lo; j < hi; j++ {
		for i := range f.rows {
			t = append(t, f.w[i*f.columns+j])
		}
	}
	return t
}

// layersOf takes the parameters of a network apart. Package nn lays the trained ones of
// all layers one after another, and the others in a second vector likewise.
func layersOf(m *model.Model) []layer {
	trained, frozen := m.Parameters32, m.Net.Frozen()
	take := func(from *[]float32, n int) []float32 {
		v := (*from)[:n:n]
		*from = (*from)[n:]
		return v
	}
	all, sequence := []layer{}, false
	for i, info := range m.Net.Layers() {
		l := layer{Layer: m.Layers.Layers[i], info: info, number: i + 1, sequence: sequence}
		// own is where parameters come from that are trained or frozen as a whole.
		own := &trained
		if l.Trainable == nn.TrainNone {
			own = &frozen
		}
		in := info.Input.Size()
		if sequence {
			in = info.Input.Channels
		}
		switch l.Kind {
		case "dense":
			l.groups = l.take(take, &trained, &frozen, 1, in, l.Units)
		case "conv2d":
			l.Stride, l.Groups = max(l.Stride, 1), max(l.Groups, 1)
			l.groups = l.take(take, &trained, &frozen, l.Groups, l.Kernel*l.Kernel*(info.Input.Channels/l.Groups), l.Filters/l.Groups)
		case "lstm":
			l.groups = l.take(take, &trained, &frozen, 1, in+l.Units, 4*l.Units)
		case "gru":
			l.groups = append(l.take(take, &trained, &frozen, 1, in, 3*l.Units), l.take(take, &trained, &frozen, 1, l.Units, 3*l.Units)...)
		case "embedding":
			l.table = take(own, l.Vocabulary*l.Units)
		case "layer_norm", "group_norm", "instance_norm", "batch_norm":
			d := info.Input.Channels
			l.scale, l.shift = take(own, d), take(own, d)
			if l.Kind == "batch_norm" {
				l.mean, l.variance = take(&frozen, d), take(&frozen, d)
			}
		case "centre":
			l.centre = take(&frozen, in)
		case "pca", "dp_pca":
			l.centre, l.basis = take(&frozen, in), take(&frozen, in*l.Coefficients)
		}
		if l.Share > 0 {
			l.groups = all[l.Share-1].groups
		} else if l.StandardizeWeights {
			for g := range l.groups {
				l.groups[g].w = standardized(l.groups[g])
			}
		}
		all = append(all, l)
		switch l.Kind {
		case "embedding":
			sequence = true
		case "lstm", "gru":
			sequence = l.Mode == "sequence"
		case "mean_over_time":
			sequence = false
		}
	}
	return all
}

// take cuts the groups of an affine map off the vectors. Weights lie beside the biases
// of their group, unless one is trained and the other not.
func (l *layer) take(take func(*[]float32, int) []float32, trained, frozen *[]float32, groups, rows, columns int) []affine {
	if l.Share > 0 {
		return nil
	}
	all := make([]affine, groups)
	for g := range all {
		all[g].rows, all[g].columns = rows, columns
		switch l.Trainable {
		case nn.TrainAll:
			all[g].w, all[g].b = take(trained, rows*columns), take(trained, columns)
		case nn.TrainBias:
			all[g].w, all[g].b = take(frozen, rows*columns), take(trained, columns)
		default:
			all[g].w, all[g].b = take(frozen, rows*columns), take(frozen, columns)
		}
	}
	return all
}

// standardized are the weights that a convolution with standardize_weights uses: each
// filter at mean 0 and about norm 1, as package nn says.
func standardized(f affine) []float32 {
	w := make([]float32, len(f.w))
	for j := range f.columns {
		mean, square := 0.0, 0.0
		for i := range f.rows {
			mean += float64(f.w[i*f.columns+j])
		}
		mean /= float64(f.rows)
		for i := range f.rows {
			d := float64(f.w[i*f.columns+j]) - mean
			square += d * d
		}
		for i := range f.rows {
			w[i*f.columns+j] = float32((float64(f.w[i*f.columns+j]) - mean) / math.Sqrt(square+1e-4))
		}
	}
	return w
}

// recurrent are the maps of the input and of the state to all gates of an lstm or gru.
// Those of an lstm are one map of both, whose bias goes to the input's.
func (l *layer) recurrent() (input, state affine) {
	if l.Kind == "gru" {
		return l.groups[0], l.groups[1]
	}
	f, e := l.groups[0], l.info.Input.Channels
	input, state = f, f
	input.rows, state.rows = e, f.rows-e
	input.w, state.w = f.w[:e*f.columns], f.w[e*f.columns:]
	state.b = make([]float32, f.columns)
	return input, state
}
