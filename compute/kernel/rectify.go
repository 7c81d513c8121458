package kernel

import "math"

// Rectify sets dst[i] = min(max(src[i], 0), bound); dst may be src. A bound of +Inf
// is none. NaN stays and zeros come out as +0. It panics when the lengths differ.
func Rectify(dst, src []float32, bound float32) {
	sameLength(len(dst), len(src))
	active.rectify(dst, src, bound)
}

// RectifyChain multiplies dy by the derivative of Rectify at the result y: 1 on
// (0, bound), 0 at both ends; 1 at NaN, and without a bound at +Inf. It panics when
// the lengths differ.
func RectifyChain(dy, y []float32, bound float32) {
	sameLength(len(dy), len(y))
	if math.IsInf(float64(bound), 1) {
		bound = float32(math.NaN()) // which nothing reaches
	}
	active.rectifyChain(dy, y, bound)
}

// Scale multiplies x by a factor.
func Scale(x []float32, factor float32) { active.scale(x, x, factor) }

// TanhChain multiplies dy by 1 − y², the derivative of tanh at the result y. It
// panics when the lengths differ.
func TanhChain(dy, y []float32) {
	sameLength(len(dy), len(y))
	active.tanhChain(dy, y)
}

// SigmoidChain multiplies dy by y(1 − y), the derivative of the sigmoid at the
// result y. It panics when the lengths differ.
func SigmoidChain(dy, y []float32) {
	sameLength(len(dy), len(y))
	active.sigmoidChain(dy, y)
}

func rectifyPortable(dst, src []float32, bound float32) {
	for i, v := range src {
		dst[i] = min(max(v, 0), bound)
	}
}

// The derivatives of 0 and 1 are masks: whether a unit is on is a coin toss that
// a processor cannot guess, and a wrong guess costs more than the whole loop.
func rectifyChainPortable(dy, y []float32, bound float32) {
	for i, v := range y {
		keep := ^uint32(0)
		if v <= 0 || v >= bound {
			keep = 0
		}
		dy[i] = math.Float32frombits(math.Float32bits(dy[i]) & keep)
	}
}

func scalePortable(dst, src []float32, factor float32) {
	for i, v := range src {
		dst[i] = factor * v
	}
}

func tanhChainPortable(dy, y []float32) {
	for i, v := range y {
		dy[i] *= 1 - float32(v*v)
	}
}

func sigmoidChainPortable(dy, y []float32) {
	for i, v := range y {
		dy[i] *= float32(v * (1 - v))
	}
}
