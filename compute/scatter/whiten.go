package scatter

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"pawl/compute/kernel"
)

// Natural images have most of their variance in a few combinations of channels, and noise has as much in each. Whiten
// takes half of that imbalance away, by a matrix that depends on no data set: M = (S + I/1000)^(−1/4), where S is the
// covariance over positions, with trace 1, of the 81 normalized channels of 5,000 pictures of random leaves
// (whiten_test.go draws them and makes whiten.f32). Power 1/2 would be full whitening, and is worse.

//go:embed whiten.f32
var whitening []byte

// Whitening is M, Channels rows of Channels numbers. It is symmetric.
var Whitening = sync.OnceValue(func() []float32 {
	m := make([]float32, Channels*Channels)
	for i := range m {
		m[i] = math.Float32frombits(binary.LittleEndian.Uint32(whitening[4*i:]))
	}
	return m
})

// Whiten multiplies the channels of each colour at each position of rows (n×Dim, as Normalize leaves them) by
// Whitening, and scales each row to norm 1. A row of zeros stays. It looks at one example at a time and costs no
// privacy. It panics unless rows hold whole examples.
func (t *Transform) Whiten(rows []float32) {
	if len(rows)%t.Dim() != 0 {
		panic(fmt.Sprintf("scatter: %d numbers, want rows of %d", len(rows), t.Dim()))
	}
	m := kernel.Dense(Whitening(), Channels, Channels)
	colour := make([]float32, Channels*t.outputs)
	for lo := 0; lo < len(rows); lo += len(colour) {
		part := rows[lo : lo+len(colour)]
		copy(colour, part)
		kernel.MatMul(kernel.Dense(part, Channels, t.outputs), m, kernel.Dense(colour, Channels, t.outputs), false)
	}
	square := make([]float64, 1)
	for lo := 0; lo < len(rows); lo += t.Dim() {
		row := rows[lo : lo+t.Dim()]
		kernel.Squares(square, row)
		norm := math.Sqrt(square[0])
		if norm == 0 {
			continue
		}
		for i, v := range row {
			row[i] = float32(float64(v) / norm)
		}
	}
}
