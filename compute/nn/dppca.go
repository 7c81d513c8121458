package nn

import (
	"errors"
	"fmt"
	"math"
)

var _ = register(Kind{
	Name: "dp_pca", Help: "principal components from a charged release", Keys: []string{"coefficients", "bound", "mode"}, Role: FrontEnd,
	build: (*builder).releasedPCA,
	Front: &Front{Word: "dp-pca", Count: true, Layers: func(k int, _ string) []Layer { return []Layer{{Kind: "normalize"}, {Kind: "dp_pca", Coefficients: k}} }},
})

// releasedPCA is pca whose mean and components come from a release that was paid for:
// x (n×d) becomes (x − μ)·B, divided by the example's root mean square, so that its norm
// is √k. It stands behind the frozen prefix, since it is known only after the inputs
// are sealed. Until SetReleased everything becomes zero, and a column of B that is zero
// stands for a component that was left out.
type releasedPCA struct {
	pca
	spec Released
}

func (*releasedPCA) unsettled() {}

// Released is what a dp_pca layer waits for.
type Released struct {
	// Inputs and Components are d and k.
	Inputs, Components int
	// Bound is the public norm to which an input, less its mean, is scaled down before
	// its second moments are taken.
	Bound float64
	// Centred says that a mean is released before the moments and taken off; else μ is
	// zero.
	Centred bool
}

func (b *builder) releasedPCA(l Layer, info *LayerInfo) (op, error) {
	size, bound := b.shape.Size(), l.Bound
	unit := b.hasUnitRows()
	switch {
	case b.waits:
		return nil, b.fault("", "only one of centre and dp_pca is allowed", "dp_pca can subtract its own mean")
	case l.Coefficients < 1 || l.Coefficients > size:
		return nil, b.fault("coefficients", fmt.Sprintf("coefficients must lie in 1 to %d, got %d", size, l.Coefficients), "tens are realistic")
	case l.Mode != "" && l.Mode != "centred" && l.Mode != "uncentred":
		return nil, b.fault("mode", fmt.Sprintf("mode is %q", l.Mode), "write uncentred, or leave it out to subtract a released mean")
	case bound == 0 && !unit:
		return nil, b.fault("bound", "its inputs need a public bound on their norm", "put normalize before it, or give a bound")
	case bound == 0:
		bound = 1
	case !(bound > 0 && bound < math.MaxFloat32):
		return nil, b.fault("bound", fmt.Sprintf("bound must be a finite number above 0, got %g", bound), "1 behind normalize")
	}
	b.waits = true
	info.Output, info.Parameters = Vector(l.Coefficients), size+size*l.Coefficients
	return &releasedPCA{pca{d: size, k: l.Coefficients, frozen: b.frozen},
		Released{Inputs: size, Components: l.Coefficients, Bound: bound, Centred: l.Mode != "uncentred"}}, nil
}

// Released describes the release that the net's dp_pca layer waits for; ok is false for
// a net without one.
func (n *Net) Released() (r Released, ok bool) {
	if l := only[*releasedPCA](n); l != nil {
		return l.spec, true
	}
	return Released{}, false
}

// SetReleased sets the mean (Inputs numbers) and the components (Inputs×Components,
// row-major) of the dp_pca layer. Net and Rest share them.
func (n *Net) SetReleased(mean, basis []float32) error {
	l := only[*releasedPCA](n)
	switch {
	case l == nil:
		return errors.New("network: no layer waits for principal components")
	case len(mean) != l.d || len(basis) != l.d*l.k:
		return fmt.Errorf("network: %d and %d numbers do not fit its principal components", len(mean), len(basis))
	}
	l.set(n.frozen, mean, basis)
	return nil
}
