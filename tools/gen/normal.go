package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalPairs is how many pairs of normals one block of 1,024 key stream bytes
// gives, whatever the width of the vectors.
const normalPairs = 64

// normals writes the Box–Muller transform of one or more blocks: see
// normalPair in the package for the method.
func (v lanes) normals(c *constants) {
	TEXT("normals"+v.suffix, NOSPLIT, "func(dst *float32, words *byte, blocks int, scale float32)")
	Pragma("noescape")
	Doc("normals"+v.suffix+" turns blocks of 1,024 random bytes into 128 normals each, times scale.",
		"A block holds 64 words each of: radius high, radius low, angle high, angle low.")
	dst := Load(Param("dst"), GP64())
	words := Load(Param("words"), GP64())
	blocks := Load(Param("blocks"), GP64())
	scale := v.reg()
	at, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(at.Addr, scale)
	inner := GP64()
	Label("block")
	MOVQ(I32(int32(normalPairs*4/v.bytes)), inner)
	Label("next")
	word := func(i int) Mem { return Mem{Base: words, Disp: 4 * normalPairs * i} }
	r, co, s := v.reg(), v.reg(), v.reg()
	interleave(v.radius(c, word(0), word(1), scale, r), v.direction(c, word(2), word(3), co, s))
	VMULPS(r, co, co)
	VMULPS(r, s, s)
	VMOVUPS(co, Mem{Base: dst})
	VMOVUPS(s, Mem{Base: dst, Disp: 4 * normalPairs})

	ADDQ(Imm(uint64(v.bytes)), words)
	ADDQ(Imm(uint64(v.bytes)), dst)
	DECQ(inner)
	JNZ(LabelRef("next"))
	ADDQ(I32(3*4*normalPairs), words)
	ADDQ(I32(4*normalPairs), dst)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

const (
	radiusSplit  = 0x5a827999 // √½·2³¹, rounded down
	sqrtHalfBits = 0x3f3504f3 // √½ as a float32
)

// radius leaves scale·√(−2 ln u).
func (v lanes) radius(c *constants, high, low Mem, scale, r reg.VecVirtual) (p steps) {
	h, l, mask, t, u, e, f, z, y := v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg()
	twice := make([]float32, len(logPolynomial))
	for i, x := range logPolynomial {
		twice[i] = -2 * x
	}
	p.add(
		func() { VMOVUPS(high, h) },
		func() { VMOVUPS(low, l) },
		func() { VPSRLD(Imm(1), h, h) },
		func() { VPSRLD(Imm(1), l, l) },
		// The complement of u from √½ on.
		func() { VMOVUPS(c.word(radiusSplit-1), mask) },
		func() { VPSUBD(h, mask, mask) },
		func() { VPSRAD(Imm(31), mask, mask) },
		func() { v.and(c.word(0x7fffffff), mask, t) },
		func() { v.xor(t, h, h) },
		func() { v.xor(t, l, l) },
	)
	p.add(v.fraction(c, h, l, u)...)
	p.add(
		// u·2³¹ = 2ᵉ(1+f) with 1+f in [√½, √2), or f = −(1−u) and e = 0.
		func() { VPADDD(c.word(0x3f800000-sqrtHalfBits), u, e) },
		func() { v.and(c.word(0x7fffff), e, f) },
		func() { VPADDD(c.word(sqrtHalfBits), f, f) },
		func() { VSUBPS(c.float(1), f, f) },
		func() { VMULPS(c.float(-0x1p-31), u, u) },
		func() { v.choose(mask, u, f, f) },
		func() { VPSRLD(Imm(23), e, e) },
		func() { VMULPS(f, f, z) },
		func() { VPSUBD(c.word(127+31), e, e) },
		func() { v.andNot(mask, e, e) },
		func() { VCVTDQ2PS(e, e) },
	)
	// −2·ln u = −2f³P(f) − 2e·ln 2 + f² − 2f.
	p.add(v.polynomial(c, twice, f, z, y)...)
	p.add(
		func() { VMULPS(f, z, t) },
		func() { VMULPS(t, y, y) },
		func() { VFMADD231PS(c.float(-2*ln2Lo), e, y) },
		func() { VADDPS(z, y, y) },
		func() { VFMADD231PS(c.float(-2), f, y) },
		func() { VFMADD231PS(c.float(-2*ln2Hi), e, y) },
		func() { VSQRTPS(y, r) },
		func() { VMULPS(scale, r, r) },
	)
	return p
}

// direction leaves cosine and sine of the angle: π/4 times a fraction of 29 +
// 31 bits, mirrored and signed by the three bits above.
func (v lanes) direction(c *constants, high, low Mem, co, s reg.VecVirtual) (p steps) {
	w, l, a, z, square, t, sign := v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg(), v.reg()
	p.add(
		func() { VMOVUPS(high, w) },
		func() { VMOVUPS(low, l) },
		func() { VPSRLD(Imm(1), l, l) },
		func() { v.and(c.word(0x1fffffff), w, t) },
	)
	p.add(v.fraction(c, t, l, a)...)
	p.add(
		func() { VMULPS(c.float(0x1p-29), a, a) },
		func() { VMULPS(a, a, z) },
		func() { VMULPS(z, z, square) },
	)
	p.add(v.polynomial(c, sinPolynomial, z, square, s)...)
	p.add(v.polynomial(c, cosPolynomial, z, square, co)...)
	p.add(
		func() { VMULPS(a, s, s) },
		func() { VFMADD213PS(c.float(1), z, co) },
		func() { VPSLLD(Imm(2), w, t) },
		func() { v.choose(t, s, co, a) },
		func() { v.choose(t, co, s, s) },
		func() { v.and(c.word(signBit), w, sign) },
		func() { v.xor(sign, a, co) },
		func() { VPSLLD(Imm(1), w, w) },
		func() { v.and(c.word(signBit), w, w) },
		func() { v.xor(w, s, s) },
	)
	return p
}

// fraction leaves high + (low|1)·2⁻³¹ for integers below 2³¹, with one rounding
// of low and two of the sum, each relative: a small fraction keeps all the bits
// below its first.
func (v lanes) fraction(c *constants, high, low, to Op) steps {
	return steps{
		func() { v.or(c.word(1), low, low) },
		func() { VCVTDQ2PS(high, to) },
		func() { VCVTDQ2PS(low, low) },
		func() { VFMADD231PS(c.float(0x1p-31), low, to) },
	}
}
