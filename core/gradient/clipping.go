package gradient

import (
	"math"
	"slices"
)

// Clipping is the rule that bounds the norm of a row's gradient by ClippingNorm.
type Clipping string

const (
	// Flat scales a gradient by min(1, C/‖g‖).
	Flat Clipping = "flat"
	// Automatic scales by C/(‖g‖ + 0.01·C), so that every gradient has a norm of about C (Bu, Wang,
	// Zha and Karypis, arXiv:2206.07136).
	Automatic Clipping = "automatic"
	// PerLayer scales the part of a gradient that belongs to each of the L weights (with its bias) by
	// min(1, C_l/‖g_l‖) with C_l = C/√L. The bounds have ΣC_l² = C², so the whole has norm at most C
	// and costs the same as Flat (McMahan, Ramage, Talwar and Zhang, arXiv:1710.06963). A weight that
	// is used several times is one weight.
	PerLayer Clipping = "per-layer"
	// Quantile scales by min(1, C/‖g‖) with a C that follows a quantile of the norms: in every step it
	// moves towards the norm at which UnclippedShare of the examples would not be clipped (Andrew,
	// Thakkar, McMahan and Ramaswamy, arXiv:1905.03871).
	Quantile Clipping = "quantile"
	// Unclipped bounds nothing and does not leave out gradients that are not finite; it is refused
	// wherever noise is added.
	Unclipped Clipping = "none"
)

func (c Clipping) known() bool {
	return slices.Contains([]Clipping{Flat, Automatic, PerLayer, Quantile, Unclipped}, c)
}

// group puts together what is clipped together, and makes room for the factors of an
// example.
func (k *worker) group() {
	groups := 1
	if k.t.Clipping == PerLayer {
		groups = len(k.blocks)
		for i := range k.blocks {
			k.blocks[i].group = i
		}
	}
	need := groups * len(k.seeds)
	k.squares, k.factor = slices.Grow(k.squares[:0], groups)[:groups], slices.Grow(k.factor[:0], need)[:need]
}

// factors are those of a block, one for each example.
func (k *worker) factors(b *block) []float32 {
	return k.factor[b.group*len(k.seeds) : (b.group+1)*len(k.seeds)]
}

// rate turns the squared norms of the gradient of example e into its factors, and says
// whether it counts. One that is not finite in any part contributes nothing, nor does one
// so long that a factor is no normal float32 and could round up.
func (k *worker) rate(e int) bool {
	bound := k.bound / math.Sqrt(float64(len(k.squares)))
	counts, within := true, true
	for g, square := range k.squares {
		norm := math.Sqrt(square)
		within = within && norm <= bound
		f := min(1, bound/norm)
		if k.t.Clipping == Automatic {
			f = bound / (norm + 0.01*bound)
		}
		counts, k.squares[g] = counts && f >= 0x1p-126, f // NaN is not
	}
	if within {
		k.within++
	}
	if !counts {
		clear(k.squares)
	}
	for g, f := range k.squares {
		k.factor[g*len(k.seeds)+e] = float32(f)
	}
	return counts
}
