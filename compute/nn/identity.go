package nn

var _ = register(Kind{
	Name: "identity", Help: "its input, unchanged", Role: Activation, gain: 1, overTime: true, output: passed,
	build: func(*builder, Layer, *LayerInfo) (op, error) { return identity{}, nil },
})

var _ = register(Kind{
	Name: "flatten", Help: "an image as a vector", output: passed,
	build: func(b *builder, _ Layer, info *LayerInfo) (op, error) {
		info.Output = Vector(b.shape.Size())
		return identity{}, nil
	},
})

// identity hands x on: it stands for flatten too, since a row-major image is
// already the vector of its numbers.
type identity struct{}

func (identity) forward(_ *call, _ *state, x []float32) []float32 { return x }

func (identity) backward(_ *call, _ *state, dy []float32) []float32 { return dy }

func (identity) memory(_, _ bool) int { return 0 }

func (identity) write(w *writer, v value) value {
	if v.shape == w.info.Output {
		return v
	}
	return w.made(w.asFlat(v), flat)
}
