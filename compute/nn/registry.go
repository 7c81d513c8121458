package nn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Kind is a kind of layer: what a Spec may say of it, how it is built, and what the rest
// of the program asks of it. Each stands in the file of its layer and registers itself;
// nothing else in the program lists kinds.
type Kind struct {
	Name string
	// Help is one line for a list of kinds.
	Help string
	// Keys are the fields of Layer that it reads, by their names in a file.
	Keys []string
	// Also lists its names in other libraries, in small letters without _ and -.
	Also []string
	Role Role
	// Standard is the layer that is meant where only the kind is named.
	Standard Layer
	// Front says how people ask for it as a front end; nil for a kind that is none.
	Front *Front
	// Reach is about the root mean square of the numbers that it hands on, by which the
	// rule of step sizes takes the inputs of the next layer; 0 for a kind that leaves it.
	Reach float64

	build func(b *builder, l Layer, info *LayerInfo) (op, error)
	// overTime says that it takes sequences; sequence, whether it hands one on, nil for a
	// kind that hands on what it took.
	overTime bool
	sequence func(l Layer) bool
	// windows says that it slides a window over an image, or averages all of it, so that it
	// matters where a number lies.
	windows bool
	output  output
	// unitRows says whether l makes rows of norm 1 at most; nil for never.
	unitRows func(l Layer) bool
	// gain is the variance of a new weight, times the number of inputs: of an activation
	// that of the weights before it, of a layer with weights its own, 0 for that of what
	// follows.
	gain float64
	// positions is how often an example uses the weights; nil for once.
	positions func(l LayerInfo) int
	// rows is the norm of the rows that the weights multiply, for inputs of a reach; nil
	// where the rule of step sizes does not ask.
	rows func(l LayerInfo, reach float64) float64
}

// Role is what a kind of layer is for.
type Role int

const (
	// Between is every layer that is none of the others: pools, dropout, joins.
	Between Role = iota
	// Weights have a linear map that is trained, alone or with its bias.
	Weights
	// Scales normalize, and have a scale and a shift.
	Scales
	// Activation applies one function to each number.
	Activation
	// FrontEnd has no backward pass and stands before the first trainable layer.
	FrontEnd
)

// output says where the numbers lie that an op hands on. By default they are needed by
// the backward pass, or belong to somebody else.
type output int

const (
	// fresh ones lie in a buffer that nobody reads again.
	fresh output = iota + 1
	// passed ones are the input.
	passed
)

// Front says how people ask for a front end.
type Front struct {
	// Word is what it is called: dct.
	Word string
	// Choices are the words that may stand behind a colon. Count says that a number of
	// coefficients stands there. Without both nothing does.
	Choices []string
	Count   bool
	// Searched says that a search space may choose it: it waits for no release.
	Searched bool
	// Layers are what it stands for: coefficients of them, or with the choice.
	Layers func(coefficients int, choice string) []Layer
}

// Forms are the ways to write it, for a list: dct:K.
func (f *Front) Forms() []string {
	switch {
	case f.Count:
		return []string{f.Word + ":K"}
	case len(f.Choices) == 0:
		return []string{f.Word}
	}
	var all []string
	for _, c := range f.Choices {
		all = append(all, f.Word+":"+c)
	}
	return all
}

// one is a front end of one layer.
func one(l Layer) func(int, string) []Layer {
	return func(coefficients int, choice string) []Layer {
		l := l
		l.Coefficients, l.Mode = coefficients, choice
		return []Layer{l}
	}
}

// kinds has them by name.
var kinds = map[string]Kind{}

// register adds a kind while the program starts. It panics where that would leave a gap.
func register(k Kind) bool {
	if _, twice := kinds[k.Name]; twice || k.build == nil || k.Help == "" {
		panic("nn: layer " + k.Name + " is registered twice or in part")
	}
	k.Standard.Kind = k.Name
	kinds[k.Name] = k
	return true
}

// Kinds lists the kinds of layers in alphabetical order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// KindOf returns a kind by its name, and one without a name for none.
func KindOf(name string) Kind { return kinds[name] }

// Activations lists the kinds that apply one function to each number, in alphabetical
// order.
func Activations() []string {
	return slices.DeleteFunc(Kinds(), func(k string) bool { return kinds[k].Role != Activation })
}

// Fronts lists the front ends by their words, in alphabetical order.
func Fronts() []*Front {
	var all []*Front
	for _, k := range kinds {
		if k.Front != nil {
			all = append(all, k.Front)
		}
	}
	slices.SortFunc(all, func(a, b *Front) int { return cmp.Compare(a.Word, b.Word) })
	return all
}

// outputIsFree says whether the output of the last layer so far may be
// overwritten: it lies in a buffer of its own that neither the backward pass reads
// nor a residual.
func (b *builder) outputIsFree() bool {
	for i, l := range slices.Backward(b.net.layers) {
		// What comes out of op i is the output of layer i+1.
		if slices.ContainsFunc(b.spec, func(l Layer) bool { return l.From == i+1 }) {
			return false
		}
		if o := kinds[l.Kind].output; o != passed {
			return o == fresh
		}
	}
	return false
}

// windowsFollow says whether the first layer behind that asks where numbers lie slides windows over them: dense and
// flatten take them as a vector.
func (b *builder) windowsFollow() bool {
	for _, l := range b.spec[b.layer:] {
		switch k := kinds[l.Kind]; {
		case k.windows:
			return true
		case k.Role == Weights || l.Kind == "flatten":
			return false
		}
	}
	return false
}

// hasUnitRows says whether the layer before makes rows of norm 1 at most.
func (b *builder) hasUnitRows() bool {
	if b.layer < 2 {
		return false
	}
	return makesUnitRows(b.spec[b.layer-2])
}

func makesUnitRows(l Layer) bool {
	k := kinds[l.Kind]
	return k.unitRows != nil && k.unitRows(l)
}

// Positions is how often an example uses a layer's weights: once, or for each output
// pixel of a convolution, or each step of the longest text; never for an embedding,
// which is looked up.
func (l LayerInfo) Positions() int {
	if f := kinds[l.Kind].positions; f != nil {
		return f(l)
	}
	return 1
}

// RowNorm is about the norm of the rows that a layer's weights multiply, where its
// inputs have a reach (Kind.Reach): what the rule of step sizes goes by. It is 0 for
// layers that the rule does not ask.
func (l LayerInfo) RowNorm(reach float64) float64 {
	if f := kinds[l.Kind].rows; f != nil {
		return f(l, reach)
	}
	return 0
}

// gains gives each layer the variance of its weights from the activation that
// follows it: 2 before the rectifiers, which halve it (He et al.,
// arXiv:1502.01852), else 1 (LeCun et al., Efficient BackProp, 1998). A net of one
// layer is convex and has no symmetry to break: it starts at 0.
func (n *Net) gains(layers []Layer) {
	gain := 1.0
	var weighted []int
	for i, l := range slices.Backward(layers) {
		switch k := kinds[l.Kind]; {
		case k.Role == Weights:
			n.layers[i].gain, gain = cmp.Or(k.gain, gain), 1
			weighted = append(weighted, i)
		case k.gain > 0:
			gain = k.gain
		}
	}
	if len(weighted) == 1 {
		n.layers[weighted[0]].gain = 0
	}
}

// checkCoefficients refuses a number of outputs that a linear front end cannot have.
func (b *builder) checkCoefficients(l Layer, instead string) error {
	if size := b.shape.Size(); l.Coefficients < 1 || l.Coefficients > size {
		return b.fault("coefficients", fmt.Sprintf("coefficients must lie in 1 to %d, got %d", size, l.Coefficients), instead)
	}
	return nil
}
