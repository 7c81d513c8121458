package kernel

import (
	"fmt"
	"os"
	"strings"
)

// machine is one implementation of everything this package computes.
type machine struct {
	name    string
	buffers *shelf[float32] // of products
	// tiles: for up to 16 columns, and for more.
	narrow, usual tile
	// direct is for products that are turned; see turned.
	direct direct
	// copyRows copies rows of a tile's width; nil works in Go, as the next two.
	copyRows   map[int]func(dst, src *float32, srcStride, rows int)
	copyTiles8 [2]func(dst *float32, step, tileStride int, src *float32, srcStride, tiles int)
	transpose8 func(dst *float32, dstStride int, src *float32, srcStride int, blocks int)
	// patches of convolution and windows of a pool; nil works in Go.
	copyStrips, addStrips func(patch *float32, size, gap int, image *float32, step, rowStride, count, rows, vectors int)
	maxPool2              func(y *float32, from *int32, run int, x *float32, step, right, down, count, vectors int)
	disjoint              func(dx *float32, step, right, down int, dy *float32, from *int32, run, count, vectors int)
	addWhere              func(dst, src *float32, from *int32, which, count int)

	rectify, rectifyChain, scale func(dst, src []float32, bound float32)
	tanhChain, sigmoidChain      func(dy, y []float32)
	// what Dots and Squares do for rows that are not empty; nil works in Go.
	dots    func(sums *float64, x, y *float32, n, count int)
	squares func(sums *float64, y *float32, n, count int)

	exp, sigmoid, tanh func(dst, src []float32)
	addScaled          func(dst, src []float32, scale float32)
	// keyStream writes whole units of AES-256 counter blocks; nil asks the standard
	// library.
	keyStream func(dst []byte, schedule *[60]uint32, counter uint64)
	// what Strips and SumOnGrid do, count times eight values; nil works in Go.
	strips    func(dst *float64, words *byte, table *uint64, beyond *byte, count int)
	sumOnGrid func(dst, a, b *float32, z *float64, scale, shift, near float64, divisor float32, count int) int
}

// tileFor picks the tile for n columns. It decides speed only: each element of
// a product is one chain of sums in any tile.
func (x *machine) tileFor(n int) *tile {
	if n <= 16 {
		return &x.narrow
	}
	return &x.usual
}

const forceVariable = "PAWL_KERNEL"

// active is decided before main and never changes.
var active = choose(os.Getenv(forceVariable), machines())

// Name returns the kernel in use: "avx512", "avx2" or "portable".
func Name() string { return active.name }

// choose returns the machine that forced names, or the first, best, one.
func choose(forced string, available []*machine) *machine {
	if forced == "" {
		return available[0]
	}
	var names []string
	for _, x := range available {
		if x.name == forced {
			return x
		}
		names = append(names, x.name)
	}
	panic(fmt.Sprintf("kernel: %s=%q: this processor runs %s", forceVariable, forced, strings.Join(names, ", ")))
}

var portable = machine{
	name: "portable", buffers: &buffers,
	narrow: portableTile, usual: portableTile,
	exp:       func(dst, src []float32) { each(dst, src, expOne) },
	sigmoid:   func(dst, src []float32) { each(dst, src, sigmoidOne) },
	tanh:      func(dst, src []float32) { each(dst, src, tanhOne) },
	addScaled: addScaledPortable,
	rectify:   rectifyPortable, rectifyChain: rectifyChainPortable, scale: scalePortable,
	tanhChain: tanhChainPortable, sigmoidChain: sigmoidChainPortable,
}

func each(dst, src []float32, f func(float32) float32) {
	for i, v := range src {
		dst[i] = f(v)
	}
}
