package nn

// window says which pixels each output position of a pool sees.
type window struct {
	in, out      Shape
	size, stride int
}

// newWindow slides a size×size window over in, without padding: what does not fit
// is dropped.
func newWindow(in Shape, size, stride int) window {
	return window{in: in, size: size, stride: stride,
		out: Shape{(in.Height-size)/stride + 1, (in.Width-size)/stride + 1, in.Channels}}
}

// each visits the windows of n images: at is the place of the window's first
// channel in the output, corner that of its first pixel in the input.
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
