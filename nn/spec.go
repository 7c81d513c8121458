package nn

import "slices"

// Spec is a network as a person writes it: its layers in order and its loss.
type Spec struct {
	Layers []Layer
	Loss   Loss
}

// Layer is one entry of a Spec. Kind decides which of the other fields have a
// meaning; Compile refuses those that have none, so that a slip is not silently
// ignored.
type Layer struct {
	Kind string
	// Units is the number of outputs of a dense layer.
	Units int
	// Filters, Kernel (side in pixels), Stride (default 1), Padding ("valid",
	// default, or "same") and Groups (default 1) belong to conv2d.
	Filters, Kernel, Stride, Groups int
	Padding                         string
	// Size is the side of a pool's window; its Stride is Size unless given.
	Size int
	// Mode is what pool2x2 takes of four pixels: "max" or "mean".
	Mode string
	// Rate is the chance with which dropout clears a number, in [0, 1).
	Rate float64
	// Bound is the largest value of bounded_relu.
	Bound float64
	// Scale, Temperature and Offset are those of tempered_sigmoid.
	Scale, Temperature, Offset float64
	// Coefficients is the number of outputs of dct, over all channels.
	Coefficients int
	// Trainable says which parameters are trained; the others stay as drawn.
	Trainable Trainable
}

// Trainable says which parameters of a layer are trained.
type Trainable string

const (
	// TrainAll, the default, trains weights and bias.
	TrainAll Trainable = ""
	// TrainBias trains the bias on top of frozen weights.
	TrainBias Trainable = "bias"
	// TrainNone freezes the layer: it has no trace, so it adds neither to the norm
	// that is clipped nor to the noise.
	TrainNone Trainable = "none"
)

// keys lists for each kind the fields that it reads.
var keys = map[string][]string{
	"dense":            {"units", "trainable"},
	"conv2d":           {"filters", "kernel", "stride", "padding", "groups", "trainable"},
	"max_pool":         {"size", "stride"},
	"avg_pool":         {"size", "stride"},
	"pool2x2":          {"mode"},
	"dct":              {"coefficients"},
	"standardize":      {},
	"flatten":          {},
	"dropout":          {"rate"},
	"identity":         {},
	"relu":             {},
	"bounded_relu":     {"bound"},
	"tanh":             {},
	"sigmoid":          {},
	"tempered_sigmoid": {"scale", "temperature", "offset"},
}

// Kinds lists the kinds of layers in alphabetical order.
func Kinds() []string {
	var all []string
	for k := range keys {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// Activations lists the kinds that apply one function to each number.
func Activations() []string {
	return []string{"bounded_relu", "identity", "relu", "sigmoid", "tanh", "tempered_sigmoid"}
}

// Keys lists the fields, by their names in a file, that a kind reads.
func Keys(kind string) []string { return slices.Clone(keys[kind]) }

// given lists the fields of l that are set, by their names in a file.
func (l Layer) given() []string {
	var set []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"units", l.Units != 0}, {"filters", l.Filters != 0}, {"kernel", l.Kernel != 0}, {"stride", l.Stride != 0},
		{"groups", l.Groups != 0}, {"padding", l.Padding != ""}, {"size", l.Size != 0}, {"mode", l.Mode != ""},
		{"rate", l.Rate != 0}, {"bound", l.Bound != 0}, {"scale", l.Scale != 0}, {"temperature", l.Temperature != 0},
		{"offset", l.Offset != 0}, {"coefficients", l.Coefficients != 0}, {"trainable", l.Trainable != TrainAll},
	} {
		if f.set {
			set = append(set, f.name)
		}
	}
	return set
}
