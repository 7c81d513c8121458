package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
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

	// Radius: u = (high + (low+½)/2³¹)/2³¹, its complement above √½.
	h, l, mask, t := v.reg(), v.reg(), v.reg(), v.reg()
	VMOVUPS(word(0), h)
	VMOVUPS(word(1), l)
	VPSRLD(Imm(1), h, h)
	VPSRLD(Imm(1), l, l)
	VMOVUPS(c.word(radiusSplit-1), mask)
	VPSUBD(h, mask, mask)
	VPSRAD(Imm(31), mask, mask)
	v.and(c.word(0x7fffffff), mask, t)
	v.xor(t, h, h)
	v.xor(t, l, l)
	u := v.reg()
	v.fraction(c, h, l, u)
	VMULPS(c.float(0x1p-31), u, u)

	// u = 2ᵉ(1+f) with 1+f in [√½, √2), or f = −(1−u) and e = 0.
	e, f := v.reg(), v.reg()
	VPADDD(c.word(0x3f800000-sqrtHalfBits), u, e)
	v.and(c.word(0x7fffff), e, f)
	VPADDD(c.word(sqrtHalfBits), f, f)
	VSUBPS(c.float(1), f, f)
	VPSRLD(Imm(23), e, e)
	VPSUBD(c.word(127), e, e)
	v.andNot(mask, e, e)
	VCVTDQ2PS(e, e)
	v.xor(c.word(signBit), u, u)
	v.choose(mask, u, f, f)

	// −2·ln u = −2(f − f²/2 + f³P(f) + e·ln 2).
	z, p := v.reg(), v.reg()
	v.polynomial(c, logPolynomial, f, p)
	VMULPS(f, f, z)
	VMULPS(f, p, p)
	VMULPS(z, p, p)
	VMULPS(c.float(ln2Lo), e, t)
	VADDPS(t, p, p)
	VMULPS(c.float(0.5), z, z)
	VSUBPS(z, p, p)
	VADDPS(f, p, p)
	VMULPS(c.float(ln2Hi), e, t)
	VADDPS(t, p, p)
	VMULPS(c.float(-2), p, p)
	r := v.reg()
	VSQRTPS(p, r)
	VMULPS(scale, r, r)

	// Angle: π/4 times a fraction of 29 + 31 bits, then the octant.
	w, g := v.reg(), v.reg()
	VMOVUPS(word(2), w)
	VMOVUPS(word(3), l)
	VPSRLD(Imm(1), l, l)
	v.and(c.word(0x1fffffff), w, g)
	a := v.reg()
	v.fraction(c, g, l, a)
	VMULPS(c.float(0x1p-29), a, a)
	s, co := v.reg(), v.reg()
	VMULPS(a, a, z)
	v.polynomial(c, sinPolynomial, z, s)
	VMULPS(a, s, s)
	v.polynomial(c, cosPolynomial, z, co)
	VMULPS(z, co, co)
	VADDPS(c.float(1), co, co)
	VPSLLD(Imm(2), w, t)
	VPSRAD(Imm(31), t, t)
	swap := v.reg()
	v.xor(s, co, swap)
	v.and(t, swap, swap)
	v.xor(swap, s, s)
	v.xor(swap, co, co)
	VMULPS(r, co, co)
	VMULPS(r, s, s)
	v.and(c.word(signBit), w, t)
	v.xor(t, co, co)
	VPSLLD(Imm(1), w, w)
	v.and(c.word(signBit), w, w)
	v.xor(w, s, s)
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

// fraction leaves high + (low+½)·2⁻³¹ for integers below 2³¹. As float32, each
// part and the sum are rounded to 24 bits, relative to their size: a small
// fraction keeps all the bits below its first.
func (v lanes) fraction(c *constants, high, low, to Op) {
	VCVTDQ2PS(low, low)
	VADDPS(c.float(0.5), low, low)
	VMULPS(c.float(0x1p-31), low, low)
	VCVTDQ2PS(high, to)
	VADDPS(low, to, to)
}
