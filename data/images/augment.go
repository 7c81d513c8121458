package images

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// Augmentation makes variants of an image by rules that look at no data: a shift of
// up to Shift pixels in each direction and, with Flip, a mirror image in half of the
// cases. Every variant is drawn anew and none is sure to be the image itself.
type Augmentation struct {
	// Shape is height, width and channels.
	Shape [3]int
	// Shift is the largest shift in pixels; each of the (2·Shift+1)² shifts is
	// equally likely. Pixels that come in from outside are 0, which is black.
	Shift int
	// Flip mirrors left and right with chance 1/2.
	Flip bool
}

// Validate reports why images cannot be varied so.
func (a Augmentation) Validate() error {
	h, w, c := a.Shape[0], a.Shape[1], a.Shape[2]
	switch {
	case min(h, w) < 2 || c < 1:
		return fmt.Errorf("images of %d×%d×%d cannot be shifted", h, w, c)
	case a.Shift < 0 || a.Shift >= min(h, w):
		return fmt.Errorf("a shift must lie in 0 to %d pixels, got %d", min(h, w)-1, a.Shift)
	}
	return nil
}

// Variant writes the variant of a seed to dst. Both have the numbers of an image;
// equal seeds give equal variants. It is safe for concurrent use.
func (a Augmentation) Variant(dst, image []float32, seed uint64) {
	var rng rand.PCG
	rng.Seed(seed, 0)
	within := func(n int) int {
		hi, _ := bits.Mul64(rng.Uint64(), uint64(n)) // off by 2⁻⁶⁴ from uniform
		return int(hi)
	}
	down, right := within(2*a.Shift+1)-a.Shift, within(2*a.Shift+1)-a.Shift
	a.move(dst, image, down, right, a.Flip && within(2) == 1)
}

// move shifts an image, and then mirrors it.
func (a Augmentation) move(dst, image []float32, down, right int, mirror bool) {
	h, w, c := a.Shape[0], a.Shape[1], a.Shape[2]
	clear(dst)
	for y := max(0, down); y < min(h, h+down); y++ {
		from, to := image[(y-down)*w*c:(y-down+1)*w*c], dst[y*w*c:(y+1)*w*c]
		lo, hi := max(0, right), min(w, w+right)
		if !mirror {
			copy(to[lo*c:hi*c], from[(lo-right)*c:(hi-right)*c])
			continue
		}
		for x := lo; x < hi; x++ {
			copy(to[(w-1-x)*c:(w-x)*c], from[(x-right)*c:(x-right+1)*c])
		}
	}
}
