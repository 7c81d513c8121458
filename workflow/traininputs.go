package workflow

import "pawl/data/images"

// prefixChunk is how many images go through the data-free prefix at once.
const prefixChunk = 256

// Inputs turns images into what the trained layers take: the data-free front end
// and frozen layers run once per image, since their outputs never change. Image i
// becomes Width numbers. The plan is of a network, or of a search among networks.
func (plan *Plan) Inputs(set *images.Set, visit func(i int, input []float32) error) error {
	return plan.sealing().inputs(set, visit)
}

// HasPrefix reports whether Inputs changes images at all; without a prefix bytes
// can be sealed as they are.
func (plan *Plan) HasPrefix() bool { return plan.sealing().prefixed() }

// sealing is the network whose prefix images pass before they are sealed: of a search
// the front end that all candidates have.
func (plan *Plan) sealing() *training { return plan.job.(interface{ sealing() *training }).sealing() }

// ShortInputs reports that Inputs makes more numbers than an image has, all from −1 to 1:
// they may be sealed in two bytes each.
func (plan *Plan) ShortInputs() bool {
	n := plan.sealing()
	return n.prefixed() && n.whole.UnitPrefix() && n.net.Inputs() > n.whole.Inputs()
}

func (j *train) sealing() *training { return j.of }

func (n *training) inputs(set *images.Set, visit func(i int, input []float32) error) error {
	if set.Size() != n.whole.Inputs() {
		return usage("choose a model for this size", "images of %d numbers for a network that takes %s", set.Size(), n.whole.Input())
	}
	buffer := make([]float32, prefixChunk*set.Size())
	width := n.net.Inputs()
	for lo := 0; lo < set.Len(); lo += prefixChunk {
		hi := min(lo+prefixChunk, set.Len())
		for i := lo; i < hi; i++ {
			set.At(i, buffer[(i-lo)*set.Size():(i-lo+1)*set.Size()])
		}
		out := buffer[:(hi-lo)*set.Size()]
		if n.prefixed() {
			out = n.whole.ForwardPrefix(0, out)
		}
		for i := lo; i < hi; i++ {
			if err := visit(i, out[(i-lo)*width:(i-lo+1)*width]); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefixed says that the net is trained on what its prefix makes of images.
func (n *training) prefixed() bool { return n.net != n.whole && n.whole.FrozenPrefix() > 0 }
