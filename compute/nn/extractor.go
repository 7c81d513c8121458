package nn

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"pawl/compute/kernel"
	"pawl/compute/onnx"
)

var _ = register(Kind{
	Name: "extractor", Help: "a public network from a file, frozen (pawl train --extractor)", Keys: []string{"graph"}, Role: FrontEnd, build: (*builder).extractor, output: fresh,
})

// Extractor is a public network as pawl runs it: operations on images of one size, each of which
// takes results of earlier ones. ReadExtractor makes it from a file. It is a function of one image.
type Extractor struct {
	// File and SHA256 name the file that it was read from.
	File   string `json:"file" yaml:"file"`
	SHA256 string `json:"sha256" yaml:"sha256"`
	// Pixels says what becomes of pixels in [0, 1] first: see PixelScales.
	Pixels string        `json:"pixels" yaml:"pixels"`
	Ops    []ExtractorOp `json:"ops" yaml:"ops"`

	weights []float32 // of all ops, one after another; nil once the net holds them
}

// ExtractorOp is one operation. Images lie as rows of pixels with their channels.
type ExtractorOp struct {
	// Op is conv, dense, scale (a factor and a shift for each channel), relu, clip, add, max_pool, avg_pool,
	// global_avg_pool, flatten, resize or repeat (of the channels).
	Op string `json:"op" yaml:"op"`
	// From are the operations, counted from 1, whose results it takes; 0 is the image.
	From []int `json:"from" yaml:"from"`
	// Window is height and width of a kernel, or of what resize makes; Pads are zeros above, left, below and
	// right; Outputs are channels or numbers that come out.
	Window   []int `json:"window,omitempty" yaml:"window,omitempty"`
	Stride   int   `json:"stride,omitempty" yaml:"stride,omitempty"`
	Dilation int   `json:"dilation,omitempty" yaml:"dilation,omitempty"`
	Pads     []int `json:"pads,omitempty" yaml:"pads,omitempty"`
	Groups   int   `json:"groups,omitempty" yaml:"groups,omitempty"`
	Outputs  int   `json:"outputs,omitempty" yaml:"outputs,omitempty"`
	// Bounds are those of clip. CountPads says that avg_pool takes the zeros for pixels.
	Bounds    []float32 `json:"bounds,omitempty" yaml:"bounds,omitempty"`
	CountPads bool      `json:"count_pads,omitempty" yaml:"count_pads,omitempty"`
}

// step is an operation with its sizes.
type extractorStep struct {
	ExtractorOp
	in, out Shape
	at      int // of its weights
	weights int
	conv    *kernel.Conv
	padded  Shape
}

// steps gives the operations their sizes. Errors name the operation.
func (e *Extractor) steps(in Shape) ([]extractorStep, error) {
	shapes, at := []Shape{in}, 0
	var steps []extractorStep
	for i, op := range e.Ops {
		fault := func(format string, args ...any) error {
			return fmt.Errorf("operation %d (%s): %s", i+1, op.Op, fmt.Sprintf(format, args...))
		}
		wanted := 1
		if op.Op == "add" {
			wanted = 2
		}
		if len(op.From) != wanted {
			return nil, fault("takes %d results, got %d", wanted, len(op.From))
		}
		for _, from := range op.From {
			if from < 0 || from > i {
				return nil, fault("takes the result of operation %d", from)
			}
		}
		s := extractorStep{ExtractorOp: op, in: shapes[op.From[0]], at: at}
		s.out = s.in
		if window := op.Op == "conv" || op.Op == "max_pool" || op.Op == "avg_pool"; window || op.Op == "resize" {
			if len(op.Window) != 2 || min(op.Window[0], op.Window[1]) < 1 || tooMany(op.Window[0], op.Window[1]) {
				return nil, fault("has no window")
			}
			if window && (op.Stride < 1 || len(op.Pads) != 4) {
				return nil, fault("has no stride or pads")
			}
			for _, p := range op.Pads {
				if p < 0 || p > 1<<16 {
					return nil, fault("has pads of %v", op.Pads)
				}
			}
		}
		switch op.Op {
		case "relu":
		case "clip":
			if len(op.Bounds) != 2 || !(op.Bounds[0] <= op.Bounds[1]) {
				return nil, fault("has no bounds")
			}
		case "add":
			if other := shapes[op.From[1]]; other != s.in {
				return nil, fault("adds %s and %s", s.in, other)
			}
		case "flatten":
			s.out = Vector(s.in.Size())
		case "global_avg_pool":
			s.out = Vector(s.in.Channels)
		case "resize":
			s.out = Shape{op.Window[0], op.Window[1], s.in.Channels}
		case "repeat":
			s.out.Channels = op.Outputs
			if s.in.Channels != 1 || op.Outputs < 1 {
				return nil, fault("repeats %d channels %d times", s.in.Channels, op.Outputs)
			}
		case "scale":
			s.weights = 2 * s.in.Channels
		case "dense":
			if s.in.Height*s.in.Width != 1 || op.Outputs < 1 || tooMany(s.in.Channels, op.Outputs) {
				return nil, fault("maps %s to %d numbers", s.in, op.Outputs)
			}
			s.out, s.weights = Vector(op.Outputs), (s.in.Channels+1)*op.Outputs
		case "conv", "max_pool", "avg_pool":
			s.padded = Shape{s.in.Height + op.Pads[0] + op.Pads[2], s.in.Width + op.Pads[1] + op.Pads[3], s.in.Channels}
			if s.padded.Height < op.Window[0] || s.padded.Width < op.Window[1] {
				return nil, fault("a window of %d×%d in %s", op.Window[0], op.Window[1], s.padded)
			}
			s.out = Shape{(s.padded.Height-op.Window[0])/op.Stride + 1, (s.padded.Width-op.Window[1])/op.Stride + 1, s.in.Channels}
			if op.Op != "conv" {
				break
			}
			if op.Groups < 1 || op.Outputs < 1 || tooMany(op.Window[0], op.Window[1], s.in.Channels, op.Outputs) {
				return nil, fault("has %d filters in %d groups", op.Outputs, op.Groups)
			}
			var err error
			s.conv, err = kernel.NewConv(kernel.ConvShape{Height: s.padded.Height, Width: s.padded.Width, Channels: s.in.Channels, KernelHeight: op.Window[0], KernelWidth: op.Window[1],
				Filters: op.Outputs, Stride: op.Stride, DilationHeight: op.Dilation, DilationWidth: op.Dilation, Groups: op.Groups})
			if err != nil {
				return nil, fault("%v", err)
			}
			s.out, s.weights = Shape{s.conv.OutHeight(), s.conv.OutWidth(), op.Outputs}, s.conv.WeightSize()+op.Outputs
		default:
			return nil, fault("is unknown")
		}
		if tooMany(s.out.Height, s.out.Width, s.out.Channels) {
			return nil, fault("an image takes more than 1 GiB here")
		}
		if at += s.weights; at > maxNumbers {
			return nil, fault("the extractor has more than %d parameters", maxNumbers)
		}
		steps, shapes = append(steps, s), append(shapes, s.out)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("the extractor has no operation")
	}
	return steps, nil
}

// Output is the shape of what the extractor makes of images of a shape.
func (e *Extractor) Output(image Shape) (Shape, error) {
	steps, err := e.steps(image)
	if err != nil {
		return Shape{}, err
	}
	return steps[len(steps)-1].out, nil
}

// extractor runs a public network on each image by itself. Nothing of it is trained, and no gradient passes it.
type extractor struct {
	graph  *Extractor
	steps  []extractorStep
	frozen int
	size   int // of the weights
}

func (b *builder) extractor(l Layer, info *LayerInfo) (op, error) {
	if l.Graph == nil {
		return nil, b.fault("graph", "it has no network", "name its file: pawl train --extractor FILE.onnx")
	}
	steps, err := l.Graph.steps(b.shape)
	if err != nil {
		return nil, b.fault("graph", err.Error(), "use another file")
	}
	last := steps[len(steps)-1]
	e := &extractor{graph: l.Graph, steps: steps, frozen: b.frozen, size: last.at + last.weights}
	info.Output, info.Parameters = last.out, e.size
	return e, nil
}

func (l *extractor) draw(n *Net, _ float64, _ []float32, _ *rand.Rand) {
	copy(n.frozen[l.frozen:l.frozen+l.size], l.graph.weights)
}

// forward shares the images between as many goroutines as there are processors; each image is a
// pass of its own, so its numbers depend on nothing else.
func (l *extractor) forward(c *call, s *state, x []float32) []float32 {
	in, out := l.steps[0].in.Size(), l.steps[len(l.steps)-1].out.Size()
	y, weights := grow(&s.y, c.n*out), c.net.frozen[l.frozen:l.frozen+l.size]
	packed := make([]kernel.ConvWeights, len(l.steps))
	for i, st := range l.steps {
		for g := 0; st.conv != nil && g < st.Groups; g++ {
			each := (st.weights - st.Outputs) / st.Groups
			st.conv.PackGroup(&packed[i], g, weights[st.at+g*each:st.at+(g+1)*each], false)
		}
	}
	workers := min(runtime.GOMAXPROCS(0), c.n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			values, pad := make([][]float32, len(l.steps)+1), []float32(nil)
			for i := range l.steps {
				values[i+1] = make([]float32, l.steps[i].out.Size())
			}
			for e := w; e < c.n; e += workers {
				values[0] = x[e*in : (e+1)*in]
				for i := range l.steps {
					pad = l.steps[i].run(values, i, weights, &packed[i], pad)
				}
				copy(y[e*out:], values[len(l.steps)])
			}
		}()
	}
	wait.Wait()
	return y
}

// run computes operation i of one image. pad is memory that it may use.
func (s *extractorStep) run(values [][]float32, i int, all []float32, packed *kernel.ConvWeights, pad []float32) []float32 {
	x, y, w := values[s.From[0]], values[i+1], all[s.at:s.at+s.weights]
	switch s.Op {
	case "relu":
		for j, v := range x {
			y[j] = max(v, 0)
		}
	case "clip":
		for j, v := range x {
			y[j] = min(max(v, s.Bounds[0]), s.Bounds[1])
		}
	case "add":
		for j, v := range values[s.From[1]] {
			y[j] = x[j] + v
		}
	case "scale":
		channels := s.in.Channels
		for j, v := range x {
			y[j] = float32(v*w[j%channels]) + w[channels+j%channels]
		}
	case "repeat":
		for j := range y {
			y[j] = x[j/s.Outputs]
		}
	case "flatten": // by channels first, as files have it
		positions := s.in.Height * s.in.Width
		for j, v := range x {
			y[j%s.in.Channels*positions+j/s.in.Channels] = v
		}
	case "global_avg_pool":
		positions := s.in.Height * s.in.Width
		for k := range y {
			sum := 0.0
			for p := range positions {
				sum += float64(x[p*len(y)+k])
			}
			y[k] = float32(sum / float64(positions))
		}
	case "dense":
		m := s.in.Channels
		copy(y, w[m*s.Outputs:])
		for k, v := range x {
			kernel.AddScaled(y, w[k*s.Outputs:(k+1)*s.Outputs], v)
		}
	case "resize":
		s.resize(y, x)
	case "conv":
		from := x
		if s.padded != s.in {
			from = grow(&pad, s.padded.Size())
			clear(from)
			row := s.in.Width * s.in.Channels
			for r := range s.in.Height {
				copy(from[((r+s.Pads[0])*s.padded.Width+s.Pads[1])*s.in.Channels:], x[r*row:(r+1)*row])
			}
		}
		s.conv.Forward(y, from, 1, packed, w[len(w)-s.Outputs:])
	case "max_pool", "avg_pool":
		s.pool(y, x)
	}
	return pad
}

// pool takes the largest, or the mean, of each window. Zeros around the image never are the largest.
func (s *extractorStep) pool(y, x []float32) {
	channels, at := s.in.Channels, 0
	for i := range s.out.Height {
		for j := range s.out.Width {
			to, count := y[at:at+channels], 0
			at += channels
			clear(to)
			for r := range s.Window[0] {
				for q := range s.Window[1] {
					row, col := i*s.Stride+r-s.Pads[0], j*s.Stride+q-s.Pads[1]
					if row < 0 || row >= s.in.Height || col < 0 || col >= s.in.Width {
						continue
					}
					pixel := x[(row*s.in.Width+col)*channels:][:channels]
					for k, v := range pixel {
						switch {
						case s.Op == "avg_pool":
							to[k] += v
						case count == 0 || v > to[k]:
							to[k] = v
						}
					}
					count++
				}
			}
			if s.CountPads {
				count = s.Window[0] * s.Window[1]
			}
			for k := range to {
				if s.Op == "avg_pool" && count > 0 {
					to[k] /= float32(count)
				}
			}
		}
	}
}

// resize is linear between pixels, whose middles lie at halves, as ONNX's half_pixel.
func (s *extractorStep) resize(y, x []float32) {
	place := func(i, out, in int) (lo, hi int, share float32) {
		at := (float64(i)+0.5)*float64(in)/float64(out) - 0.5
		at = min(max(at, 0), float64(in-1))
		lo = int(at)
		return lo, min(lo+1, in-1), float32(at - float64(lo))
	}
	channels := s.in.Channels
	for i := range s.out.Height {
		top, bottom, down := place(i, s.out.Height, s.in.Height)
		for j := range s.out.Width {
			left, right, across := place(j, s.out.Width, s.in.Width)
			for k := range channels {
				pixel := func(r, q int) float32 { return x[(r*s.in.Width+q)*channels+k] }
				upper := pixel(top, left)*(1-across) + pixel(top, right)*across
				lower := pixel(bottom, left)*(1-across) + pixel(bottom, right)*across
				y[(i*s.out.Width+j)*channels+k] = upper*(1-down) + lower*down
			}
		}
	}
}

func (l *extractor) backward(*call, *state, []float32) []float32 { return nil }

// memory counts what is handed on: the rest is that of one image for each goroutine.
func (l *extractor) memory(_, _ bool) int { return l.steps[len(l.steps)-1].out.Size() }

func (l *extractor) tensors(_, frozen []float32) []Tensor {
	if l.size == 0 {
		return nil
	}
	return []Tensor{{"weight", []int{l.size}, frozen[l.frozen : l.frozen+l.size]}}
}

func (l *extractor) write(n *writer, v value) value {
	weights := n.frozen[l.frozen : l.frozen+l.size]
	names := make([]string, len(l.steps)+1)
	names[0] = n.asPlanes(v)
	for i := range l.steps {
		s := &l.steps[i]
		names[i+1] = s.write(n, names, weights[s.at:s.at+s.weights])
	}
	return n.made(names[len(l.steps)], planes)
}

// write adds the operation, of values as planes; a vector is planes of one pixel.
func (s *extractorStep) write(n *writer, names []string, w []float32) string {
	x, two := names[s.From[0]], func(v int) []int64 { return []int64{int64(v), int64(v)} }
	windowed := func() onnx.Attributes {
		a := onnx.Attributes{"kernel_shape", []int64{int64(s.Window[0]), int64(s.Window[1])}, "strides", two(s.Stride)}
		return append(a, "pads", []int64{int64(s.Pads[0]), int64(s.Pads[1]), int64(s.Pads[2]), int64(s.Pads[3])})
	}
	switch s.Op {
	case "relu":
		return n.Op("Relu", x)
	case "clip":
		return n.Op("Clip", x, n.Once([]float32{s.Bounds[0]}), n.Once([]float32{s.Bounds[1]}))
	case "add":
		return n.Op("Add", x, names[s.From[1]])
	case "scale":
		c := s.in.Channels
		return n.Op("Add", n.Op("Mul", x, n.Tensor("scale", w[:c], 1, c, 1, 1)), n.Tensor("shift", w[c:], 1, c, 1, 1))
	case "repeat":
		return n.Op("Tile", x, n.Ints(1, int64(s.Outputs), 1, 1))
	case "flatten":
		return n.Reshape(x, -1, int64(s.out.Channels), 1, 1)
	case "global_avg_pool":
		return n.Op("GlobalAveragePool", x)
	case "dense":
		m := s.in.Channels
		y := n.Op("Add", n.Op("MatMul", n.Reshape(x, -1, int64(m)), n.Tensor("weights", w[:m*s.Outputs], m, s.Outputs)), n.Tensor("bias", w[m*s.Outputs:], s.Outputs))
		return n.Reshape(y, -1, int64(s.Outputs), 1, 1)
	case "resize":
		return n.Add("Resize", onnx.Attributes{"mode", "linear", "coordinate_transformation_mode", "half_pixel"}, x, "",
			n.Once([]float32{1, 1, float32(s.out.Height) / float32(s.in.Height), float32(s.out.Width) / float32(s.in.Width)}, 4))
	case "conv":
		a := append(windowed(), "group", int64(s.Groups), "dilations", two(max(s.Dilation, 1)))
		filters, channels, pixels := s.Outputs/s.Groups, s.in.Channels/s.Groups, s.Window[0]*s.Window[1]
		var values []float32
		for g := range s.Groups {
			own := w[g*pixels*channels*filters:]
			for f := range filters {
				for c := range channels {
					for p := range pixels {
						values = append(values, own[(p*channels+c)*filters+f])
					}
				}
			}
		}
		return n.Add("Conv", a, x, n.Tensor("weights", values, s.Outputs, channels, s.Window[0], s.Window[1]), n.Tensor("bias", w[len(w)-s.Outputs:], s.Outputs))
	case "max_pool":
		return n.Add("MaxPool", windowed(), x)
	}
	a := windowed()
	if s.CountPads {
		a = append(a, "count_include_pad", int64(1))
	}
	return n.Add("AveragePool", a, x)
}
