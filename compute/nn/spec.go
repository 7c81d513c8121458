package nn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Spec is a network as a person writes it: its layers in order and its loss.
type Spec struct {
	Layers []Layer `json:"layers"`
	Loss   Loss    `json:"loss"`
}

// Layer is one entry of a Spec. Kind decides which of the other fields have a
// meaning; Compile refuses those that have none, so that a slip is not silently
// ignored. The names in files are those of the tags.
type Layer struct {
	Kind string `json:"kind" yaml:"kind"`
	// Units is the number of outputs of a dense layer, of numbers of an embedding's
	// vectors, and of those in the state of lstm and gru.
	Units int `json:"units,omitempty" yaml:"units,omitempty"`
	// Vocabulary is the number of tokens that an embedding knows.
	Vocabulary int `json:"vocabulary,omitempty" yaml:"vocabulary,omitempty"`
	// Filters, Kernel (side in pixels), Stride (default 1), Groups (default 1) and
	// Padding ("valid", default, or "same") belong to conv2d; Groups to group_norm
	// too. StandardizeWeights trains weights of which each filter is used at mean 0
	// and norm 1.
	Filters int    `json:"filters,omitempty" yaml:"filters,omitempty"`
	Kernel  int    `json:"kernel,omitempty" yaml:"kernel,omitempty"`
	Stride  int    `json:"stride,omitempty" yaml:"stride,omitempty"`
	Groups  int    `json:"groups,omitempty" yaml:"groups,omitempty"`
	Padding string `json:"padding,omitempty" yaml:"padding,omitempty"`

	StandardizeWeights bool `json:"standardize_weights,omitempty" yaml:"standardize_weights,omitempty"`
	// Size is the side of a pool's window; its Stride is Size unless given.
	Size int `json:"size,omitempty" yaml:"size,omitempty"`
	// Mode is what pool2x2 takes of four pixels: "max" or "mean"; "full" for scatter at
	// full resolution; "uncentred" for dp_pca without a released mean.
	Mode string `json:"mode,omitempty" yaml:"mode,omitempty"`
	// Rate is the chance with which dropout clears a number, in [0, 1).
	Rate float64 `json:"rate,omitempty" yaml:"rate,omitempty"`
	// Bound is the largest value of bounded_relu, and the public norm of dp_pca's inputs
	// (default 1 behind rows of norm 1).
	Bound float64 `json:"bound,omitempty" yaml:"bound,omitempty"`
	// Scale, Temperature and Offset are those of tempered_sigmoid. Scale is also the norm
	// of the rows that normalize and centre make (default 1).
	Scale       float64 `json:"scale,omitempty" yaml:"scale,omitempty"`
	Temperature float64 `json:"temperature,omitempty" yaml:"temperature,omitempty"`
	Offset      float64 `json:"offset,omitempty" yaml:"offset,omitempty"`
	// Coefficients is the number of outputs of dct, over all channels, of pca, dp_pca and
	// random.
	Coefficients int `json:"coefficients,omitempty" yaml:"coefficients,omitempty"`
	// Seed is the public seed of random's signs.
	Seed uint64 `json:"seed,omitempty" yaml:"seed,omitempty"`
	// From is the layer, counted from 1, whose output residual adds to its input; 0 is
	// the input of the net.
	From int `json:"from,omitempty" yaml:"from,omitempty"`
	// Share is the layer, counted from 1, whose parameters a dense or conv2d layer
	// uses in place of its own.
	Share int `json:"share,omitempty" yaml:"share,omitempty"`
	// Trainable says which parameters are trained; the others stay as drawn.
	Trainable Trainable `json:"trainable,omitempty" yaml:"trainable,omitempty"`
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

// MarshalText writes true, false or bias.
func (t Trainable) MarshalText() ([]byte, error) {
	switch t {
	case TrainAll:
		return []byte("true"), nil
	case TrainNone:
		return []byte("false"), nil
	}
	return []byte(t), nil
}

// UnmarshalText reads true, false or bias.
func (t *Trainable) UnmarshalText(text []byte) error {
	switch string(text) {
	case "true":
		*t = TrainAll
	case "false":
		*t = TrainNone
	case "bias":
		*t = TrainBias
	default:
		return errors.New("trainable must be true, false or bias")
	}
	return nil
}

// Validate checks what needs no shapes: kinds, and keys that have no meaning.
func (s Spec) Validate() error {
	for i, l := range s.Layers {
		if err := l.validate(i + 1); err != nil {
			return err
		}
	}
	return nil
}

func (l Layer) validate(number int) error {
	known, ok := keys[l.Kind]
	if !ok {
		return unknownKind(number, l.Kind)
	}
	for _, k := range l.given() {
		if !slices.Contains(known, k) {
			takes := "it takes none"
			if len(known) > 0 {
				takes = "it takes " + strings.Join(known, ", ")
			}
			return &LayerError{Layer: number, Kind: l.Kind, Key: k, Reason: fmt.Sprintf("%q has no meaning here", k), Instead: takes}
		}
	}
	return nil
}

// keys lists for each kind the fields that it reads.
var keys = map[string][]string{
	"dense":            {"units", "share", "trainable"},
	"conv2d":           {"filters", "kernel", "stride", "padding", "groups", "standardize_weights", "share", "trainable"},
	"embedding":        {"vocabulary", "units", "trainable"},
	"lstm":             {"units", "mode", "trainable"},
	"gru":              {"units", "mode", "trainable"},
	"mean_over_time":   {},
	"residual":         {"from"},
	"layer_norm":       {"trainable"},
	"group_norm":       {"groups", "trainable"},
	"instance_norm":    {"trainable"},
	"batch_norm":       {"trainable"},
	"max_pool":         {"size", "stride"},
	"avg_pool":         {"size", "stride"},
	"pool2x2":          {"mode"},
	"dct":              {"coefficients"},
	"pca":              {"coefficients"},
	"dp_pca":           {"coefficients", "bound", "mode"},
	"random":           {"coefficients", "seed"},
	"standardize":      {},
	"scatter":          {"mode"},
	"normalize":        {"scale"},
	"centre":           {"scale"},
	"flatten":          {},
	"dropout":          {"rate"},
	"identity":         {},
	"relu":             {},
	"bounded_relu":     {"bound"},
	"tanh":             {},
	"sigmoid":          {},
	"tempered_sigmoid": {"scale", "temperature", "offset"},
}

// Without leaves out the layers that drop names, and keeps the references of the
// others: one to a layer that is left out goes to what comes before it.
func (s Spec) Without(drop func(Layer) bool) Spec {
	var kept []Layer
	now := make([]int, 1, len(s.Layers)+1) // the new number of each layer
	for _, l := range s.Layers {
		if !drop(l) {
			for _, to := range []*int{&l.From, &l.Share} {
				if *to > 0 && *to < len(now) { // Compile refuses the others
					*to = now[*to]
				}
			}
			kept = append(kept, l)
		}
		now = append(now, len(kept))
	}
	s.Layers = kept
	return s
}

// Behind puts layers in place of the first n, and keeps the references of the others:
// one to what is replaced, or to the input, goes to the last of layers.
func (s Spec) Behind(n int, layers ...Layer) Spec {
	moved := func(reference int) int { return max(reference-n, 0) + len(layers) }
	all := slices.Clone(layers)
	for _, l := range s.Layers[n:] {
		if l.Kind == "residual" {
			l.From = moved(l.From)
		}
		if l.Share > 0 {
			l.Share = moved(l.Share)
		}
		all = append(all, l)
	}
	s.Layers = all
	return s
}

// IsFrontEnd says whether layers of a kind have no backward pass, so that they stand
// before the first trainable layer.
func IsFrontEnd(kind string) bool {
	switch kind {
	case "dct", "pca", "dp_pca", "random", "scatter", "standardize", "normalize", "centre":
		return true
	}
	return false
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
		{"units", l.Units != 0}, {"vocabulary", l.Vocabulary != 0}, {"standardize_weights", l.StandardizeWeights}, {"from", l.From != 0},
		{"share", l.Share != 0}, {"filters", l.Filters != 0}, {"kernel", l.Kernel != 0}, {"stride", l.Stride != 0},
		{"groups", l.Groups != 0}, {"padding", l.Padding != ""}, {"size", l.Size != 0}, {"mode", l.Mode != ""},
		{"rate", l.Rate != 0}, {"bound", l.Bound != 0}, {"scale", l.Scale != 0}, {"temperature", l.Temperature != 0},
		{"offset", l.Offset != 0}, {"coefficients", l.Coefficients != 0}, {"seed", l.Seed != 0}, {"trainable", l.Trainable != TrainAll},
	} {
		if f.set {
			set = append(set, f.name)
		}
	}
	return set
}
