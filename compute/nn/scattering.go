package nn

import (
	"fmt"
	"runtime"
	"sync"

	"pawl/compute/scatter"
)

var _ = register(Kind{
	Name: "scatter", Help: "scattering features of an image, rows of norm 1 at most", Keys: []string{"mode"}, Role: FrontEnd, build: (*builder).scatter,
	unitRows: always, Front: &Front{Word: "scatter", Searched: true, Layers: one(Layer{Kind: "scatter"})},
})

// scattering maps images x (n×H×W×C) to their scattering features, rows of norm 1 at
// most (package scatter). It depends on no data and stands before the first trainable
// layer, so it has no backward pass.
type scattering struct {
	d int
	// transform is built when it is first used: most nets are only looked at.
	transform func() *scatter.Transform
}

func (b *builder) scatter(l Layer, info *LayerInfo) (op, error) {
	if l.Mode != "" && l.Mode != "full" {
		return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write full, or leave it out for the first scale on every second pixel")
	}
	in := b.shape
	d, err := scatter.Size(in.Height, in.Width, in.Channels)
	if err != nil {
		return nil, b.fault("", fmt.Sprintf("its input is %s", in), err.Error())
	}
	info.Output = Vector(d)
	return &scattering{d, sync.OnceValue(func() *scatter.Transform {
		t, err := scatter.New(in.Height, in.Width, in.Channels, scatter.Options{Full: l.Mode == "full"})
		if err != nil {
			panic(err) // Size has checked the shape
		}
		return t
	})}, nil
}

func (l *scattering) forward(c *call, s *state, x []float32) []float32 {
	y := grow(&s.y, c.n*l.d)
	t := l.transform()
	t.Apply(y, x, runtime.GOMAXPROCS(0))
	t.Normalize(y)
	return y
}

func (l *scattering) backward(*call, *state, []float32) []float32 { return nil }

func (l *scattering) memory(_, _ bool) int { return l.d }
