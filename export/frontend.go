package export

import (
	"fmt"
	"math"

	"pawl/compute/nn"
)

// frontEnd is a layer without a backward pass, float [N, d] to [N, k].
func (n *network) frontEnd(l *layer, v value) (string, error) {
	if l.Kind == "scatter" {
		return n.scatter(l, n.asPlanes(v)), nil
	}
	x := n.asFlat(v)
	d, k := l.info.Input.Size(), l.info.Output.Size()
	switch l.Kind {
	case "dct":
		return n.unit(n.op("MatMul", x, n.tensor("cosines", cosines(l.info.Input, k), d, k)), math.Sqrt(float64(k))), nil
	case "pca", "dp_pca":
		x = n.op("MatMul", n.op("Sub", x, n.tensor("mean", l.centre, d)), n.tensor("components", l.basis, d, k))
		return n.unit(x, math.Sqrt(float64(k))), nil
	case "random":
		signs, err := signsOf(l)
		return n.op("MatMul", x, n.tensor("signs", signs, d, k)), err
	case "normalize":
		return n.unit(x, rowNorm(l)), nil
	case "centre":
		return n.unit(n.op("Sub", x, n.tensor("mean", l.centre, d)), rowNorm(l)), nil
	case "standardize":
		wide := n.to(doubles, x)
		mean := n.add("ReduceMean", attributes{"axes", []int64{1}, "keepdims", int64(1)}, wide)
		return n.to(floats, n.divided(n.op("Sub", wide, mean), math.Sqrt(float64(d)))), nil
	}
	return "", &Error{fmt.Sprintf("layer %d (%s)", l.number, l.Kind), "the ONNX writer does not know this front end", "predict with pawl predict, or export the weights with --format safetensors"}
}

// rowNorm is the norm of the rows that normalize and centre make.
func rowNorm(l *layer) float64 {
	if l.Scale == 0 {
		return 1
	}
	return l.Scale
}

// unit brings every row of x, float [N, d], to a norm; rows of zeros stay.
func (g *graph) unit(x string, norm float64) string {
	return g.to(floats, g.divided(g.to(doubles, x), norm))
}

// divided is unit in doubles.
func (g *graph) divided(x string, norm float64) string {
	length := g.op("Sqrt", g.add("ReduceSum", attributes{"keepdims", int64(1)}, g.op("Mul", x, x), g.ints(1)))
	zero := g.op("Equal", length, g.double(0))
	y := g.op("Div", x, g.op("Where", zero, g.double(1), length))
	if norm == 1 {
		return y
	}
	return g.op("Mul", y, g.double(norm))
}

// cosines is the transform of a dct layer, size×k: of each channel the k/channels lowest
// frequencies (i, j) of the orthonormal DCT-II, by i+j and then by i, as package nn says.
func cosines(in nn.Shape, k int) []float32 {
	b := make([]float32, in.Size()*k)
	each, at := k/in.Channels, 0
	cosine := func(i, y, n int) float64 {
		if i == 0 {
			return math.Sqrt(1 / float64(n))
		}
		return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*float64((2*y+1)*i%(4*n))/float64(2*n))
	}
	for sum := 0; at < each; sum++ {
		for i := max(0, sum-in.Width+1); i <= min(sum, in.Height-1) && at < each; i++ {
			for y := range in.Height {
				for x := range in.Width {
					v := float32(cosine(i, y, in.Height) * cosine(sum-i, x, in.Width))
					for c := range in.Channels {
						b[((y*in.Width+x)*in.Channels+c)*k+c*each+at] = v
					}
				}
			}
			at++
		}
	}
	return b
}

// signsOf is the matrix of a random layer: what a net of that layer makes of the unit
// vectors.
func signsOf(l *layer) ([]float32, error) {
	d, k := l.info.Input.Size(), l.info.Output.Size()
	net, err := nn.Compile(nn.Spec{Layers: []nn.Layer{l.Layer, {Kind: "dense", Units: 2}}}, nn.Vector(d), 2)
	if err != nil {
		return nil, err
	}
	signs, unit := make([]float32, 0, d*k), make([]float32, d)
	for i := range unit {
		unit[i] = 1
		signs = append(signs, net.ForwardPrefix(0, unit)...)
		unit[i] = 0
	}
	return signs, nil
}
