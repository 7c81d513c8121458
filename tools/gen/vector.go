package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func vector() {
	c := newConstants("constant")
	for _, v := range []lanes{avx2, avx512} {
		v.elementwise(c, "exp", "e^src", v.exp)
		v.elementwise(c, "sigmoid", "1/(1+e^−src)", v.sigmoid)
		v.elementwise(c, "tanh", "tanh(src)", v.tanh)
		v.addScaled()
	}
}

const (
	signBit = 0x80000000
	// roundMagic is 1.5·2²³: adding it to |t| < 2²² rounds t to an integer, which
	// then is in the low bits.
	roundMagic     = 12582912
	roundMagicBits = 0x4B400000
)

var (
	expPolynomial  = []float32{0.4999999403953552, 0.1666651964187622, 0.04166839271783829, 0.008368780836462975, 0.0013814467238262296}
	tanhPolynomial = []float32{-0.3333328068256378, 0.13331441581249237, -0.05373971536755562, 0.0206390880048275, -0.005704986862838268}
)

const (
	log2E  = 1.4426950408889634
	ln2Hi  = 0.693359375
	ln2Lo  = -2.1219444005469057e-4
	expMin = -104
	expMax = 89
)

// elementwise wraps one function of a vector register into a loop over count
// vectors.
func (v lanes) elementwise(c *constants, name, what string, f func(c *constants, x reg.VecVirtual) reg.VecVirtual) {
	TEXT(name+v.suffix, NOSPLIT, "func(dst, src *float32, count int)")
	Pragma("noescape")
	Doc(name + v.suffix + " sets dst = " + what + " for count whole vectors.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	count := Load(Param("count"), GP64())
	Label("next")
	x := v.reg()
	VMOVUPS(Mem{Base: src}, x)
	VMOVUPS(f(c, x), Mem{Base: dst})
	ADDQ(Imm(uint64(v.bytes)), src)
	ADDQ(Imm(uint64(v.bytes)), dst)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// exp: see expOne in the package for the method; the order of operations is
// the same.
func (v lanes) exp(c *constants, x reg.VecVirtual) reg.VecVirtual {
	r, t, n, p, q := v.reg(), v.reg(), v.reg(), v.reg(), v.reg()
	// The second source is what min and max return for NaN, so x comes second
	// (first in this order of operands).
	VMOVUPS(c.float(expMin), t)
	VMAXPS(x, t, r)
	VMOVUPS(c.float(expMax), t)
	VMINPS(r, t, r)
	VMULPS(c.float(log2E), r, t)
	VADDPS(c.float(roundMagic), t, t)
	VSUBPS(c.float(roundMagic), t, n)
	VMULPS(c.float(ln2Hi), n, p)
	VSUBPS(p, r, r)
	VMULPS(c.float(ln2Lo), n, p)
	VSUBPS(p, r, r)
	VMULPS(r, r, q)
	interleave(v.polynomial(c, expPolynomial, r, q, p))
	VMULPS(q, p, p)
	VADDPS(r, p, p)
	VADDPS(c.float(1), p, p)
	// 2ⁿ in two factors, so that results below the normal range round once.
	VPSUBD(c.word(roundMagicBits), t, t)
	VPSRAD(Imm(1), t, q)
	VPSUBD(q, t, t)
	for _, e := range []Op{q, t} {
		VPADDD(c.word(127), e, e)
		VPSLLD(Imm(23), e, e)
		VMULPS(e, p, p)
	}
	return p
}

func (v lanes) sigmoid(c *constants, x reg.VecVirtual) reg.VecVirtual {
	a := v.reg()
	v.or(c.word(signBit), x, a)
	z := v.exp(c, a)
	one, mask, top := v.reg(), v.reg(), v.reg()
	VMOVUPS(c.float(1), one)
	VPSRAD(Imm(31), x, mask)
	v.choose(mask, z, one, top)
	VADDPS(one, z, z)
	VDIVPS(z, top, z)
	return z
}

func (v lanes) tanh(c *constants, x reg.VecVirtual) reg.VecVirtual {
	a, sign := v.reg(), v.reg()
	v.and(c.word(signBit), x, sign)
	v.xor(sign, x, a)
	twice := v.reg()
	VADDPS(a, a, twice)
	e := v.exp(c, twice)
	VADDPS(c.float(1), e, e)
	two := v.reg()
	VMOVUPS(c.float(2), two)
	VDIVPS(e, two, e)
	big := v.reg()
	VMOVUPS(c.float(1), big)
	VSUBPS(e, big, big)
	z, square, p := v.reg(), v.reg(), v.reg()
	VMULPS(a, a, z)
	VMULPS(z, z, square)
	interleave(v.polynomial(c, tanhPolynomial, z, square, p))
	VMULPS(z, p, p)
	VMULPS(a, p, p)
	VADDPS(a, p, p)
	mask := v.reg()
	VPSUBD(c.float(0.625), a, mask)
	VPSRAD(Imm(31), mask, mask)
	v.choose(mask, p, big, p)
	v.or(sign, p, p)
	return p
}

func (v lanes) addScaled() {
	TEXT("addScaled"+v.suffix, NOSPLIT, "func(dst, src *float32, scale float32, count int)")
	Pragma("noescape")
	Doc("addScaled" + v.suffix + " sets dst += scale·src for count whole vectors.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	scale := v.reg()
	at, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(at.Addr, scale)
	count := Load(Param("count"), GP64())
	Label("next")
	x := v.reg()
	VMULPS(Mem{Base: src}, scale, x)
	VADDPS(Mem{Base: dst}, x, x)
	VMOVUPS(x, Mem{Base: dst})
	ADDQ(Imm(uint64(v.bytes)), src)
	ADDQ(Imm(uint64(v.bytes)), dst)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}
