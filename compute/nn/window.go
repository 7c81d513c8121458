package nn

import (
	"fmt"
	"math"

	"pawl/compute/onnx"
)

// window says which pixels each output position of a convolution or a pool sees.
type window struct {
	in, out      Shape
	size, stride int
	same         bool // zeros around the image
}

// newWindow slides a size×size window over in. With "same" padding the output
// has ⌈side/stride⌉ positions a side, and of the zeros that this takes the odd one
// goes below and right; "valid" has no zeros and drops what does not fit.
func newWindow(in Shape, size, stride, channels int, same bool) window {
	w := window{in: in, size: size, stride: stride, same: same}
	side := func(n int) int {
		if same {
			return (n + stride - 1) / stride
		}
		return (n-size)/stride + 1
	}
	w.out = Shape{side(in.Height), side(in.Width), channels}
	return w
}

func (w *window) positions() int { return w.out.Height * w.out.Width }

// each visits the windows of n images that have no padding: at is the place of the
// window's first channel in the output, corner that of its first pixel in the input.
func (w *window) each(n int, visit func(at, corner int)) {
	at := 0
	for e := range n {
		for i := range w.out.Height {
			for j := range w.out.Width {
				visit(at, e*w.in.Size()+(i*w.in.Width+j)*w.stride*w.in.Channels)
				at += w.in.Channels
			}
		}
	}
}

// fits refuses windows that are larger than the image.
func (b *builder) fits(key string, size int, same bool) error {
	side := min(b.shape.Height, b.shape.Width)
	if size <= side {
		return nil
	}
	if b.shape.Height == 1 && b.shape.Width == 1 {
		return b.fault(key, fmt.Sprintf("a %d×%d window needs an image, but the input is %s", size, size, b.shape), "put it before flatten and dense, or give the input as height × width × channels")
	}
	// With "same" padding a window may reach beyond both ends of a small image.
	if same && size <= math.MaxInt16 {
		return nil
	}
	instead := fmt.Sprintf("use at most %d", side)
	if key == "kernel" {
		instead += ", or \"padding: same\""
	}
	return b.fault(key, fmt.Sprintf("a %d×%d window is larger than its input of %s", size, size, b.shape), instead)
}

// writePool adds a pool over the windows.
func (l *window) writePool(w *writer, op string, v value) value {
	size, stride := int64(l.size), int64(l.stride)
	return w.made(w.Add(op, onnx.Attributes{"kernel_shape", []int64{size, size}, "strides", []int64{stride, stride}}, w.asPlanes(v)), planes)
}
