package noise

import (
	"fmt"
	"math"
)

// Banded turns the pieces of a Normals into noise that is correlated over steps: with
// coefficients c_0, …, c_(b−1) and fresh z_t ~ N(0, 1) for each coordinate,
//
//	y_t = ‖c‖·u_t,   c_0·u_t + c_1·u_(t−1) + … + c_(b−1)·u_(t−b+1) = z_t,
//
// which is the noise of dp.Banded in units of its multiplier. It keeps u of the last b−1 steps in
// float64: 8·(b−1) bytes for each coordinate, in memory only. They are functions of the stream, so
// a resumed run computes them again from step 0, and no file ever holds them: with them, a reader
// could undo the noise of later steps.
//
// # Finite precision
//
// o_t = S_t + stdDev·y_t is rounded to the grid of stdDev. With ideal numbers the rounding is post-processing of
// the priced mechanism, step by step (S_t follows from earlier releases). The computation differs: z has 53 bits
// (Grid) and u is computed in float64, so o_t is off by e_t before it is rounded, |e_t| <= η cells. Take a path of
// rounded releases. Its cells are a box in the space of o, and the ideal o has a smooth density there, N(·,
// s²(CᵀC)⁻¹) about S. The computed run follows this path for draws in a set that lies between the boxes smaller
// and larger by η cells on every side. Stretching a box about its middle by 1 ± 2η changes its volume by that
// factor per coordinate and step, and the exponent of the density by at most |z|·‖c‖₁/‖c‖·2η·2^-12 of each, so the
// path has its probability within (1 ± 2.1η)^(dT), for |z| up to 9 and coefficients in [0, 1]. η is 2^-33 where
// |o| <= 2^7·stdDev, as in Grid, and the recursion adds b·2^-53·max|y| of a deviation, which is less. This gives ε
// + 4.2η·dT, that is 5·10^-10·dT, without the square root of Grid, whose bound assumes independent steps. It is
// not charged.
type Banded struct {
	coefficients []float64   // c_1/c_0, …
	first        float64     // 1/c_0
	norm         float64     // ‖c‖
	past         [][]float64 // u of step t at t mod len
	size         int
}

// NewBanded returns the noise of size coordinates before step 0. It panics unless there are
// coefficients, all finite and the first above 0.
func NewBanded(coefficients []float64, size int) *Banded {
	if len(coefficients) == 0 || !(coefficients[0] > 0) {
		panic("noise: banded noise needs coefficients, and a first one above 0")
	}
	b := &Banded{first: 1 / coefficients[0], norm: Norm(coefficients), size: size, past: make([][]float64, max(len(coefficients)-1, 1))}
	if math.IsNaN(b.norm) || math.IsInf(b.norm, 0) {
		panic("noise: coefficients must be finite")
	}
	for _, c := range coefficients[1:] {
		b.coefficients = append(b.coefficients, c/coefficients[0])
	}
	for i := range b.past {
		b.past[i] = make([]float64, size)
	}
	return b
}

// Norm returns the Euclidean norm of coefficients.
func Norm(coefficients []float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum += c * c
	}
	return math.Sqrt(sum)
}

// Step sets y, at most Piece long, to the noise of coordinates from, from+1, … at a step. Steps of a
// coordinate must come in order from 0; calls for different coordinates may run concurrently. The
// draws are those of piece, which must be different for each step and position.
func (b *Banded) Step(y []float64, n *Normals, step, piece uint64, from int) {
	if from < 0 || from+len(y) > b.size {
		panic(fmt.Sprintf("noise: coordinates %d to %d of %d", from, from+len(y), b.size))
	}
	n.Fill(y, piece)
	if b.first != 1 {
		for i := range y {
			y[i] *= b.first
		}
	}
	depth := uint64(len(b.past))
	for j, c := range b.coefficients {
		if uint64(j) >= step {
			break // nothing comes before step 0
		}
		before := b.past[(step-1-uint64(j))%depth][from : from+len(y)]
		for i, v := range before {
			// The product is rounded by itself: a fused one would have other bits.
			y[i] -= float64(c * v)
		}
	}
	copy(b.past[step%depth][from:], y)
	for i := range y {
		y[i] *= b.norm
	}
}
