package nn

import (
	"math"
	"slices"
	"testing"
)

// reference computes scores of one example from the definitions, one number at a
// time in float64, sharing nothing with the code under test. Parameters are those
// of a net without frozen layers.
func reference(spec Spec, in Shape, params, x []float64) []float64 {
	x = slices.Clone(x)
	// Those of a layer that shares are taken again.
	owners, outputs := map[int][]float64{}, [][]float64{x}
	steps := 0 // of a sequence, 0 for none
	var shared []float64
	shares := false
	take := func(n int) []float64 {
		from := &params
		if shares {
			from = &shared
		}
		p := (*from)[:n]
		*from = (*from)[n:]
		return p
	}
	each := func(f func(float64) float64) {
		for i := range x {
			x[i] = f(x[i])
		}
	}
	for i, l := range spec.Layers {
		owners[i+1] = params
		shares, shared = l.Share > 0, owners[l.Share]
		if y, ok := referenceSequence(l, take, x, &in, &steps); ok {
			x = y
			outputs = append(outputs, slices.Clone(x))
			continue
		}
		switch l.Kind {
		case "residual":
			for j, v := range outputs[l.From] {
				x[j] += v
			}
		case "layer_norm":
			x = referenceNorm(1, in.Channels, take, x)
		case "group_norm":
			x = referenceNorm(l.Groups, in.Channels, take, x)
		case "instance_norm":
			x = referenceNorm(in.Channels, in.Channels, take, x)
		case "dense":
			w, b := take(len(x)*l.Units), take(l.Units)
			y := slices.Clone(b)
			for i, v := range x {
				for j := range y {
					y[j] += v * w[i*l.Units+j]
				}
			}
			x, in = y, Vector(l.Units)
		case "conv2d":
			x, in = referenceConvolution(l, in, take, x)
		case "max_pool", "avg_pool", "pool2x2":
			x, in = referencePool(l, in, x)
		case "global_avg_pool":
			y := make([]float64, in.Channels)
			for j, v := range x {
				y[j%in.Channels] += v / float64(in.Height*in.Width)
			}
			x, in = y, Vector(in.Channels)
		case "flatten":
			in = Vector(len(x))
		case "dct":
			x, in = referenceDCT(l, in, x), Vector(l.Coefficients)
		case "standardize":
			mean, square := 0.0, 0.0
			for _, v := range x {
				mean += v / float64(len(x))
			}
			for _, v := range x {
				square += (v - mean) * (v - mean) / float64(len(x))
			}
			each(func(v float64) float64 { return (v - mean) / math.Sqrt(square) })
		case "relu":
			each(func(v float64) float64 { return math.Max(v, 0) })
		case "bounded_relu":
			each(func(v float64) float64 { return math.Min(math.Max(v, 0), l.Bound) })
		case "leaky_relu":
			each(func(v float64) float64 { return math.Max(v, 0) + l.Slope*math.Min(v, 0) })
		case "tanh":
			each(math.Tanh)
		case "sigmoid":
			each(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })
		case "tempered_sigmoid":
			each(func(v float64) float64 { return l.Scale/(1+math.Exp(-l.Temperature*v)) - l.Offset })
		case "identity", "dropout":
		default:
			panic(l.Kind)
		}
		outputs = append(outputs, slices.Clone(x))
	}
	return x
}

func referenceConvolution(l Layer, in Shape, take func(int) []float64, x []float64) ([]float64, Shape) {
	stride, groups := max(l.Stride, 1), max(l.Groups, 1)
	down, across := max(l.Dilation.Height, 1), max(l.Dilation.Width, 1)
	high, wide := (l.Kernel-1)*down+1, (l.Kernel-1)*across+1
	height, width, top, left := (in.Height-high)/stride+1, (in.Width-wide)/stride+1, 0, 0
	if l.Padding == "same" {
		height, width = int(math.Ceil(float64(in.Height)/float64(stride))), int(math.Ceil(float64(in.Width)/float64(stride)))
		top = max((height-1)*stride+high-in.Height, 0) / 2
		left = max((width-1)*stride+wide-in.Width, 0) / 2
	}
	channels, filters := in.Channels/groups, l.Filters/groups
	y := make([]float64, height*width*l.Filters)
	for g := range groups {
		w, b := take(l.Kernel*l.Kernel*channels*filters), take(filters)
		if l.StandardizeWeights {
			w = referenceStandard(w, filters)
		}
		for i := range height {
			for j := range width {
				for f := range filters {
					sum := b[f]
					for r := range l.Kernel {
						for q := range l.Kernel {
							for c := range channels {
								row, col := i*stride-top+r*down, j*stride-left+q*across
								if row < 0 || col < 0 || row >= in.Height || col >= in.Width {
									continue
								}
								sum += x[(row*in.Width+col)*in.Channels+g*channels+c] * w[((r*l.Kernel+q)*channels+c)*filters+f]
							}
						}
					}
					y[(i*width+j)*l.Filters+g*filters+f] = sum
				}
			}
		}
	}
	return y, Shape{height, width, l.Filters}
}

func referencePool(l Layer, in Shape, x []float64) ([]float64, Shape) {
	size, stride, mean := l.Size, l.Stride, l.Kind == "avg_pool"
	if l.Kind == "pool2x2" {
		size, mean = 2, l.Mode == "mean"
	}
	if stride == 0 {
		stride = size
	}
	height, width := (in.Height-size)/stride+1, (in.Width-size)/stride+1
	y := make([]float64, height*width*in.Channels)
	for i := range height {
		for j := range width {
			for c := range in.Channels {
				sum, top := 0.0, math.Inf(-1)
				for r := range size {
					for q := range size {
						v := x[((i*stride+r)*in.Width+j*stride+q)*in.Channels+c]
						sum, top = sum+v, math.Max(top, v)
					}
				}
				if mean {
					top = sum / float64(size*size)
				}
				y[(i*width+j)*in.Channels+c] = top
			}
		}
	}
	return y, Shape{height, width, in.Channels}
}

// referenceDCT sorts all frequencies and takes the first, by the definition.
func referenceDCT(l Layer, in Shape, x []float64) []float64 {
	var order [][2]int
	for i := range in.Height {
		for j := range in.Width {
			order = append(order, [2]int{i, j})
		}
	}
	slices.SortStableFunc(order, func(a, b [2]int) int { return a[0] + a[1] - b[0] - b[1] })
	scale := func(i, n int) float64 {
		if i == 0 {
			return math.Sqrt(1 / float64(n))
		}
		return math.Sqrt(2 / float64(n))
	}
	var y []float64
	square := 0.0
	for c := range in.Channels {
		for _, f := range order[:l.Coefficients/in.Channels] {
			sum := 0.0
			for r := range in.Height {
				for q := range in.Width {
					sum += x[(r*in.Width+q)*in.Channels+c] *
						math.Cos(math.Pi*(float64(r)+0.5)*float64(f[0])/float64(in.Height)) *
						math.Cos(math.Pi*(float64(q)+0.5)*float64(f[1])/float64(in.Width))
				}
			}
			sum *= scale(f[0], in.Height) * scale(f[1], in.Width)
			y = append(y, sum)
			square += sum * sum
		}
	}
	for i := range y {
		y[i] /= math.Sqrt(square / float64(len(y)))
	}
	return y
}

// referenceLoss is the loss of scores in float64.
func referenceLoss(l Loss, s []float64, t float64) float64 {
	d := math.Abs(s[0] - t)
	switch l.withDefaults().Kind {
	case Softmax:
		total := 0.0
		for _, v := range s {
			total += math.Exp(v)
		}
		return math.Log(total) - s[int(t)]
	case Logistic:
		return math.Log(1+math.Exp(s[0])) - t*s[0]
	case Squared:
		return d * d / 2
	case Absolute:
		return d
	}
	h := l.withDefaults().Threshold
	if d <= h {
		return d * d / 2
	}
	return h*d - h*h/2
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func mustCompile(t testing.TB, spec Spec, in Shape, outputs int) *Net {
	t.Helper()
	n, err := Compile(spec, in, outputs)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
