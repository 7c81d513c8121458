package nn

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Spec is a network as a person writes it: its layers in order and its loss.
type Spec struct {
	Layers []Layer `json:"layers"`
	Loss   Loss    `json:"loss"`
	// ClassWeights are public factors above 0 on the losses of the classes, nil for 1: an
	// example's gradient is multiplied by that of its class before anybody clips it.
	ClassWeights []float64 `json:"class_weights,omitempty"`
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
	// Filters, Kernel (side in pixels), Stride (default 1), Dilation, Groups (default 1)
	// and Padding ("valid", default, or "same") belong to conv2d; Groups to group_norm
	// too. StandardizeWeights trains weights of which each filter is used at mean 0
	// and norm 1.
	Filters  int      `json:"filters,omitempty" yaml:"filters,omitempty"`
	Kernel   int      `json:"kernel,omitempty" yaml:"kernel,omitempty"`
	Stride   int      `json:"stride,omitempty" yaml:"stride,omitempty"`
	Dilation Dilation `json:"dilation,omitzero" yaml:"dilation,omitempty"`
	Groups   int      `json:"groups,omitempty" yaml:"groups,omitempty"`
	Padding  string   `json:"padding,omitempty" yaml:"padding,omitempty"`

	StandardizeWeights bool `json:"standardize_weights,omitempty" yaml:"standardize_weights,omitempty"`
	// Size is the side of a pool's window; its Stride is Size unless given.
	Size int `json:"size,omitempty" yaml:"size,omitempty"`
	// Mode is what pool2x2 takes of four pixels: "max" or "mean"; "full" for scatter at
	// full resolution, "whitened" with its channels multiplied by a fixed matrix,
	// "mirrored" the same of an image and its mirror image; "uncentred" for dp_pca without a released mean.
	Mode string `json:"mode,omitempty" yaml:"mode,omitempty"`
	// Rate is the chance with which dropout clears a number, in [0, 1).
	Rate float64 `json:"rate,omitempty" yaml:"rate,omitempty"`
	// Bound is the largest value of bounded_relu, and the public norm of dp_pca's inputs
	// (default 1 behind rows of norm 1).
	Bound float64 `json:"bound,omitempty" yaml:"bound,omitempty"`
	// Slope is the factor of leaky_relu below 0, in (0, 1).
	Slope float64 `json:"slope,omitempty" yaml:"slope,omitempty"`
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
	// Graph is the public network of an extractor; see ReadExtractor.
	Graph *Extractor `json:"graph,omitempty" yaml:"graph,omitempty"`
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
	k, ok := kinds[l.Kind]
	if !ok {
		return unknownKind(number, l.Kind)
	}
	for _, key := range l.given() {
		if !slices.Contains(k.Keys, key) {
			takes := "it takes none"
			if len(k.Keys) > 0 {
				takes = "it takes " + strings.Join(k.Keys, ", ")
			}
			return &LayerError{Layer: number, Kind: l.Kind, Key: key, Reason: fmt.Sprintf("%q has no meaning here", key), Instead: takes}
		}
	}
	return nil
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
		if slices.Contains(kinds[l.Kind].Keys, "from") {
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

// given lists the fields of l that are set, by their names in a file.
func (l Layer) given() []string {
	var set []string
	for name, v := range l.fields() {
		if name != "kind" && !v.IsZero() {
			set = append(set, name)
		}
	}
	return set
}

// fields visits the fields of l by their names in a file.
func (l Layer) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		v := reflect.ValueOf(l)
		for i, name := range fieldNames() {
			if !yield(name, v.Field(i)) {
				return
			}
		}
	}
}

var fieldNames = sync.OnceValue(func() (names []string) {
	for i := range reflect.TypeFor[Layer]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Layer]().Field(i).Tag.Get("yaml"), ",")
		names = append(names, name)
	}
	return names
})
