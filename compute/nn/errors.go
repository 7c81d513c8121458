package nn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/data/schema"
)

// ErrSpec is wrapped by every error of Compile.
var ErrSpec = errors.New("network cannot be built")

// LayerError says which layer of a Spec cannot be built, why, and what to write
// instead.
type LayerError struct {
	// Layer counts from 1; 0 stands for the network as a whole.
	Layer int
	// Kind is the layer's kind as written.
	Kind string
	// Key is the field at fault, "" for the layer itself.
	Key string
	// Reason is what is wrong; Instead is a supported way to write it.
	Reason, Instead string
}

func (e *LayerError) Error() string {
	var b strings.Builder
	b.WriteString("network: ")
	if e.Layer > 0 {
		fmt.Fprintf(&b, "layer %d (%s): ", e.Layer, e.Kind)
	}
	b.WriteString(e.Reason)
	if e.Instead != "" {
		b.WriteString("; " + e.Instead)
	}
	return b.String()
}

// ExitStatus is that of wrong usage or data.
func (e *LayerError) ExitStatus() int { return 2 }

// Unwrap makes errors.Is(err, ErrSpec) hold.
func (e *LayerError) Unwrap() error { return ErrSpec }

// elsewhere holds kinds that people know from other libraries and that have no
// place here, with the reason and the way out.
var elsewhere = map[string][2]string{
	"softmax": {"softmax is part of the loss", "end with a dense layer with one unit for each class"},
}

func plainName(kind string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(kind))
}

// unknownKind explains a kind that does not exist.
func unknownKind(layer int, kind string) error {
	e := &LayerError{Layer: layer, Kind: kind, Key: "kind"}
	plain := plainName(kind)
	ours := ""
	for _, k := range Kinds() {
		if slices.Contains(kinds[k].Also, plain) {
			ours = k
		}
	}
	if ours == "" {
		for k := range elsewhere {
			if plainName(k) == plain {
				ours = k
			}
		}
	}
	if why, ok := elsewhere[ours]; ok {
		e.Reason, e.Instead = why[0], why[1]
		return e
	}
	e.Reason = fmt.Sprintf("no layer is called %q", kind)
	if kind == "" {
		e.Reason = "the layer has no kind"
	}
	if ours == "" {
		ours = schema.Nearest(kind, Kinds())
	}
	if ours != "" {
		e.Instead = fmt.Sprintf("did you mean %q?", ours)
	} else {
		e.Instead = "layers: " + strings.Join(Kinds(), ", ")
	}
	return e
}

// instead is what to write in place of a layer that does not go with shape.
func instead(shape Shape) string {
	switch {
	case shape.Height > 1 && shape.Width == 1:
		return "put lstm, gru or mean_over_time before it"
	case shape.Height == 1 && shape.Width == 1:
		return "use layer_norm, which treats each example separately"
	}
	for groups := min(32, shape.Channels/2); groups > 1; groups-- {
		if shape.Channels%groups == 0 {
			return fmt.Sprintf("use group_norm, which treats each example separately, with groups that divide the %d channels, such as %d", shape.Channels, groups)
		}
	}
	return "use layer_norm or group_norm, which treat each example separately"
}
