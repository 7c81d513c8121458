package nn

// window says which pixels each output position of a convolution or a pool sees.
type window struct {
	in, out      Shape
	size, stride int
	// top and left are rows and columns of zeros before the image.
	top, left int
}

// newWindow slides a size×size window over in. With "same" padding the output
// has ⌈side/stride⌉ positions a side, and of the zeros that this takes the odd one
// goes below and right; "valid" has no zeros and drops what does not fit.
func newWindow(in Shape, size, stride, channels int, same bool) window {
	w := window{in: in, size: size, stride: stride}
	side := func(n int) (out, before int) {
		if !same {
			return (n-size)/stride + 1, 0
		}
		out = (n + stride - 1) / stride
		return out, max((out-1)*stride+size-n, 0) / 2
	}
	w.out.Height, w.top = side(in.Height)
	w.out.Width, w.left = side(in.Width)
	w.out.Channels = channels
	return w
}

func (w *window) positions() int { return w.out.Height * w.out.Width }

// span returns the part [lo, hi) of the window at output i that lies in an image
// of side n, and where in the image it begins.
func (w *window) span(i, n, before int) (lo, hi, at int) {
	at = i*w.stride - before
	lo = max(0, -at)
	hi = max(lo, min(w.size, n-at))
	return lo, hi, at + lo
}

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
