package workflow

import (
	"pawl/compute/nn"
	"pawl/core/gradient"
	"pawl/data/images"
)

// Augment asks for several variants of each example in every step. Their gradients
// are averaged before clipping, so an example still contributes one vector of norm
// ClippingNorm at most and the variants cost no privacy (De et al.,
// arXiv:2204.13650, Sec. 3). They are drawn by data-free rules: anew in every step,
// and none is sure to be the image itself.
type Augment struct {
	// Variants is the number of them; 1 takes the image as it is.
	Variants int
	images.Augmentation
}

// mostVariants keeps an example within the memory that a step may take.
const mostVariants = 64

func (a Augment) check() error {
	switch {
	case a.Variants > mostVariants:
		return usage("example: --augment 4", "--augment takes 1 to %d variants of an image", mostVariants)
	case a.Variants == 1 && (a.Shift != 0 || a.Flip):
		return usage("example: --augment 4 --flip", "shifts and mirror images need --augment")
	case a.Variants == 1:
		return nil
	}
	if err := a.Validate(); err != nil {
		return usage("--augment is for images; leave it out", "%v", err)
	}
	if a.Shift == 0 && !a.Flip {
		return usage("give --shift or --flip", "identical variants cost time and change nothing")
	}
	return nil
}

// variant is the rule for core, nil where images are taken as they are.
func (a Augment) variant() func(dst, image []float32, seed uint64) {
	if a.Variants == 1 {
		return nil
	}
	return a.Variant
}

// behindPrefix is the part of the net that is trained on sealed inputs. Variants are
// made of pixels, so with them images are sealed as they are and the prefix is run at
// every step, as the first layers of the whole net: the same numbers for more time. A
// net that mixes examples is refused where they are clipped.
func (n *training) behindPrefix() (*nn.Net, error) {
	if n.Clipping != gradient.Unclipped {
		// Here, before anything is reserved; core would refuse it too.
		if err := n.whole.PerExample(); err != nil {
			return nil, err
		}
	}
	switch {
	case n.encoding != nil:
		return n.whole, nil // rows are encoded at every step
	case n.Augment.Variants == 1:
		return n.whole.Rest(), nil
	}
	if _, ok := n.whole.Released(); ok || n.whole.Centred() > 0 {
		return nil, usage("leave out --augment, or take a network without a centre or dp_pca layer",
			"%s needs a release about the output of its front end, and there is none for variants of pixels", n.Name)
	}
	return n.whole, nil
}

// fit is the number of examples that go through the network at once: as many as the
// memory holds for two workers, without effect on the guarantee.
func (n *training) fit() int {
	each := int64(n.Augment.Variants * n.net.MemoryPerExample())
	return int(min(max(n.Memory/(2*each), 1), 512, int64(n.Batch)))
}
