package kernel

import (
	"fmt"
	"math"
)

// Exp sets dst[i] = e^src[i]; dst may be src. The error is below 1.0 ulp of the
// result, also below the normal range; above 88.73 it gives +Inf, below −103.98
// zero, for NaN NaN. It panics when the lengths differ.
func Exp(dst, src []float32) {
	sameLength(len(dst), len(src))
	active.exp(dst, src)
}

// Sigmoid sets dst[i] = 1/(1+e^−src[i]); dst may be src. The error is below 2.5
// ulp; ±Inf give 1 and 0, NaN gives NaN. It panics when the lengths differ.
func Sigmoid(dst, src []float32) {
	sameLength(len(dst), len(src))
	active.sigmoid(dst, src)
}

// Tanh sets dst[i] = tanh(src[i]); dst may be src. The error is below 1.5 ulp;
// ±0 keep their sign, ±Inf give ±1, NaN gives NaN. It panics when the lengths
// differ.
func Tanh(dst, src []float32) {
	sameLength(len(dst), len(src))
	active.tanh(dst, src)
}

// AddScaled sets dst[i] += scale·src[i], product and sum each rounded. It panics
// when the lengths differ.
func AddScaled(dst, src []float32, scale float32) {
	sameLength(len(dst), len(src))
	active.addScaled(dst, src, scale)
}

func sameLength(a, b int) {
	if a != b {
		panic(fmt.Sprintf("kernel: %d values into %d", b, a))
	}
}

const (
	// roundMagic is 1.5·2²³: adding it to |t| < 2²² rounds t to an integer, which
	// then is in the low bits.
	roundMagic     = float32(12582912)
	roundMagicBits = 0x4B400000
	log2E          = float32(1.4426950408889634)
	// ln2Hi has ten bits, so n·ln2Hi is exact for the n of exp.
	ln2Hi  = float32(0.693359375)
	ln2Lo  = float32(-2.1219444005469057e-4)
	expMin = float32(-104)
	expMax = float32(89)
)

// Minimax polynomials, fitted by Remez exchange at 40 digits, then rounded;
// relative errors of the whole function before rounding in brackets.
var (
	expPolynomial  = [...]float32{0.4999999403953552, 0.1666651964187622, 0.04166839271783829, 0.008368780836462975, 0.0013814467238262296}  // (eˣ−1−x)/x², |x| ≤ ½ln2 [3.1e-9]
	tanhPolynomial = [...]float32{-0.3333328068256378, 0.13331441581249237, -0.05373971536755562, 0.0206390880048275, -0.005704986862838268} // (tanh(√z)/√z−1)/z, z ≤ 0.625² [4.4e-9]
)

// polynomial returns Σ c[i]·x^i, at most 8 terms, by Estrin's scheme: pairs, then
// pairs of pairs, with fused sums. The assembly goes the same way, which halves
// the latency of Horner's rule.
func polynomial(c []float32, x float32) float32 {
	var terms [4]float32
	n := (len(c) + 1) / 2
	for i := range n {
		terms[i] = c[2*i]
		if 2*i+1 < len(c) {
			terms[i] = fused(c[2*i+1], x, c[2*i])
		}
	}
	for power := float32(x * x); n > 1; power = float32(power * power) {
		for i := range (n + 1) / 2 {
			t := terms[2*i]
			if 2*i+1 < n {
				t = fused(terms[2*i+1], power, t)
			}
			terms[i] = t
		}
		n = (n + 1) / 2
	}
	return terms[0]
}

// fused returns x·y + z rounded once, as the instruction does. The product is
// exact in float64; the sum is rounded to odd there, after which rounding to
// float32 cannot be led astray (Boldo and Melquiond 2008).
func fused(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	back := s - p
	lost := (p - (s - back)) + (float64(z) - back)
	if bits := math.Float64bits(s); lost != 0 && bits&1 == 0 && lost == lost {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// expOne reduces x = n·ln2 + r with |r| ≤ ½ln2 and returns 2ⁿ·e^r.
func expOne(x float32) float32 {
	// Comparisons let NaN through.
	if x < expMin {
		x = expMin
	}
	if x > expMax {
		x = expMax
	}
	t := float32(x*log2E) + roundMagic
	n := t - roundMagic
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	p := polynomial(expPolynomial[:], r)
	y := float32(p*float32(r*r)) + r + 1
	// 2ⁿ in two factors, so that results below the normal range round once.
	e := int32(math.Float32bits(t)) - roundMagicBits
	half := e >> 1
	return float32(y*power(half)) * power(e-half)
}

func power(e int32) float32 { return math.Float32frombits(uint32(e+127) << 23) }

// sigmoidOne works with e^−|x|, which cannot overflow.
func sigmoidOne(x float32) float32 {
	z := expOne(-abs(x))
	if math.Signbit(float64(x)) {
		return z / (1 + z)
	}
	return 1 / (1 + z)
}

// tanhOne is x + x³P(x²) below 0.625, where 1 − 2/(e^2x+1) would cancel.
func tanhOne(x float32) float32 {
	a := abs(x)
	y := 1 - 2/(expOne(a+a)+1)
	if a < 0.625 {
		z := float32(a * a)
		y = float32(float32(polynomial(tanhPolynomial[:], z)*z)*a) + a
	}
	return math.Float32frombits(math.Float32bits(y) | math.Float32bits(x)&(1<<31))
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
