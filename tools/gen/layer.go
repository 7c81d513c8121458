package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of a comparison: a > b, false for NaN; not a ≤ b and not a ≥ b, true
// for NaN.
const (
	greater    = 30
	notAtMost  = 6
	notAtLeast = 9
)

// layer writes what stands between the products of a network: pools, rectifiers
// and norms. These move more than they compute, so one width serves all machines.
func layer() {
	maxPool2()
	disjoint()
	addWhere()
	rectify()
	rectifyChain()
	scale()
	// Behind mask lie 32 zeros, before it 32 ones.
	masks := GLOBL("mask", 8|16) // RODATA|NOPTR
	for i := range 64 {
		DATA(4*i, U32(0xffffffff*uint32((63-i)/32)))
	}
	for _, v := range []lanes{avx2, avx512} {
		v.dots("dots", "func(sums *float64, x, y *float32, n, count int)", "⟨x, y⟩", masks.Offset(128))
		v.dots("squares", "func(sums *float64, y *float32, n, count int)", "⟨y, y⟩", masks.Offset(128))
	}
	chain("tanhChainAVX2", "1 − y²", func(one, y, to reg.VecVirtual) {
		VMULPS(y, y, to)
		VSUBPS(to, one, to)
	})
	chain("sigmoidChainAVX2", "y·(1 − y)", func(one, y, to reg.VecVirtual) {
		VSUBPS(y, one, to)
		VMULPS(to, y, to)
	})
}

func load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// everywhere fills a vector with the low word of x.
func everywhere(x reg.GPVirtual) reg.VecVirtual {
	v := YMM()
	VMOVD(x.As32(), v.AsX())
	VPBROADCASTD(v.AsX(), v)
	return v
}

// one is a vector of the number 1.
func one() reg.VecVirtual {
	bits := GP64()
	MOVQ(I32(0x3f800000), bits)
	return everywhere(bits)
}

// corners are the addresses of a window's other three pixels.
func corners(x, right, down, below reg.GPVirtual) [4]Mem {
	return [4]Mem{{Base: x}, {Base: x, Index: right, Scale: 4}, {Base: below}, {Base: below, Index: right, Scale: 4}}
}

// windows emits the loops over count windows of vectors·8 channels. advance moves
// the pointers that a vector moves; those in rewound then go on to the next window
// by the number of bytes beside them.
func windows(count, vectors reg.GPVirtual, pointers []reg.GPVirtual, skip []reg.GPVirtual, body func()) {
	left, size := GP64(), GP64()
	MOVQ(vectors, size)
	SHLQ(Imm(5), size)
	// A window is left at its end, so the way to the next is shorter by that.
	for i, s := range skip {
		seen := false
		for _, other := range skip[:i] {
			seen = seen || other == s
		}
		if !seen {
			SUBQ(size, s)
		}
	}
	Label("window")
	MOVQ(vectors, left)
	Label("vector")
	body()
	for _, p := range pointers {
		ADDQ(Imm(32), p)
	}
	DECQ(left)
	JNZ(LabelRef("vector"))
	for i, p := range pointers {
		ADDQ(skip[i], p)
	}
	DECQ(count)
	JNZ(LabelRef("window"))
	VZEROUPPER()
	RET()
}

func maxPool2() {
	TEXT("maxPool2AVX2", NOSPLIT, "func(y *float32, from *int32, run int, x *float32, step, right, down, count, vectors int)")
	Pragma("noescape")
	Doc("maxPool2AVX2 sets y to the largest of x at 0, right, down and down+right, and from to that place, for count windows of vectors·8 channels.",
		"Windows are run bytes apart in y and from and step bytes in x; right and down are in values. The first of equal values is taken.")
	y, from, run, x, step, right, down := load("y"), load("from"), load("run"), load("x"), load("step"), load("right"), load("down")
	r, d := everywhere(right), everywhere(down)
	below := GP64()
	LEAQ(Mem{Base: x, Index: down, Scale: 4}, below)
	at := corners(x, right, down, below)
	count, vectors := load("count"), load("vectors")
	windows(count, vectors, []reg.GPVirtual{y, from, x, below}, []reg.GPVirtual{run, run, step, step}, func() {
		// Of equal values, and beside a NaN, the maximum takes its second operand, the
		// first one here: the earlier place.
		larger := func(first, second Mem) (value, right reg.VecVirtual) {
			a, b, mask := YMM(), YMM(), YMM()
			VMOVUPS(first, a)
			VMOVUPS(second, b)
			VCMPPS(Imm(greater), a, b, mask)
			VMAXPS(a, b, b)
			VPAND(r, mask, mask)
			return b, mask
		}
		above, place := larger(at[0], at[1])
		under, then := larger(at[2], at[3])
		VPADDD(d, then, then)
		mask := YMM()
		VCMPPS(Imm(greater), above, under, mask)
		VMAXPS(above, under, under)
		VBLENDVPS(mask, then, place, place)
		VMOVUPS(under, Mem{Base: y})
		VMOVUPS(place, Mem{Base: from})
	})
}

func disjoint() {
	TEXT("disjointAVX2", NOSPLIT, "func(dx *float32, step, right, down int, dy *float32, from *int32, run, count, vectors int)")
	Pragma("noescape")
	Doc("disjointAVX2 sets dx at 0, right, down and down+right to dy where from is that place and to 0 elsewhere; see maxPool2AVX2.")
	dx, step, right, down, dy, from, run := load("dx"), load("step"), load("right"), load("down"), load("dy"), load("from"), load("run")
	r, d, both, zero := everywhere(right), everywhere(down), YMM(), YMM()
	VPADDD(r, d, both)
	VXORPS(zero, zero, zero)
	below := GP64()
	LEAQ(Mem{Base: dx, Index: down, Scale: 4}, below)
	at := corners(dx, right, down, below)
	count, vectors := load("count"), load("vectors")
	windows(count, vectors, []reg.GPVirtual{dy, from, dx, below}, []reg.GPVirtual{run, run, step, step}, func() {
		v, place := YMM(), YMM()
		VMOVUPS(Mem{Base: dy}, v)
		VMOVUPS(Mem{Base: from}, place)
		for i, which := range []reg.VecVirtual{zero, r, d, both} {
			mask := YMM()
			VPCMPEQD(which, place, mask)
			VANDPS(v, mask, mask)
			VMOVUPS(mask, at[i])
		}
	})
}

func addWhere() {
	TEXT("addWhereAVX2", NOSPLIT, "func(dst, src *float32, from *int32, which, count int)")
	Pragma("noescape")
	Doc("addWhereAVX2 adds src where from is which, else 0, to dst, for count whole vectors.")
	dst, src, from := load("dst"), load("src"), load("from")
	which := everywhere(load("which"))
	count := load("count")
	Label("next")
	mask := YMM()
	VPCMPEQD(Mem{Base: from}, which, mask)
	VANDPS(Mem{Base: src}, mask, mask)
	VADDPS(Mem{Base: dst}, mask, mask)
	VMOVUPS(mask, Mem{Base: dst})
	for _, p := range []reg.GPVirtual{dst, src, from} {
		ADDQ(Imm(32), p)
	}
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// overVectors emits the loop over count vectors of two arrays.
func overVectors(a, b, count reg.GPVirtual, body func()) {
	Label("next")
	body()
	ADDQ(Imm(32), a)
	ADDQ(Imm(32), b)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func bound() reg.VecVirtual {
	at, err := Param("bound").Resolve()
	if err != nil {
		panic(err)
	}
	b := YMM()
	VBROADCASTSS(at.Addr, b)
	return b
}

func rectify() {
	TEXT("rectifyAVX2", NOSPLIT, "func(dst, src *float32, bound float32, count int)")
	Pragma("noescape")
	Doc("rectifyAVX2 sets dst = min(max(src, 0), bound) for count whole vectors; NaN stays and zeros are +0.")
	dst, src, most, count, zero := load("dst"), load("src"), bound(), load("count"), YMM()
	VXORPS(zero, zero, zero)
	overVectors(dst, src, count, func() {
		x, mask := YMM(), YMM()
		VMOVUPS(Mem{Base: src}, x)
		VCMPPS(Imm(notAtMost), zero, x, mask)
		VANDPS(x, mask, x)
		VMINPS(x, most, x) // the second source, x, where it is NaN
		VMOVUPS(x, Mem{Base: dst})
	})
}

func scale() {
	TEXT("scaleAVX2", NOSPLIT, "func(dst, src *float32, bound float32, count int)")
	Pragma("noescape")
	Doc("scaleAVX2 sets dst = src·bound for count whole vectors.")
	dst, src, factor, count := load("dst"), load("src"), bound(), load("count")
	overVectors(dst, src, count, func() {
		x := YMM()
		VMULPS(Mem{Base: src}, factor, x)
		VMOVUPS(x, Mem{Base: dst})
	})
}

func rectifyChain() {
	TEXT("rectifyChainAVX2", NOSPLIT, "func(dy, y *float32, bound float32, count int)")
	Pragma("noescape")
	Doc("rectifyChainAVX2 clears dy where y ≤ 0 or y ≥ bound, for count whole vectors; a bound of NaN is none.")
	dy, y, most, count, zero := load("dy"), load("y"), bound(), load("count"), YMM()
	VXORPS(zero, zero, zero)
	overVectors(dy, y, count, func() {
		v, low, high := YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: y}, v)
		VCMPPS(Imm(notAtMost), zero, v, low)
		VCMPPS(Imm(notAtLeast), most, v, high)
		VANDPS(low, high, high)
		VANDPS(Mem{Base: dy}, high, high)
		VMOVUPS(high, Mem{Base: dy})
	})
}

// dots keeps 32 sums of each row in registers: as many chains as hide how long an addition takes. Squares widen a value once.
func (v lanes) dots(name, signature, what string, mask Mem) {
	TEXT(name+v.suffix, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + v.suffix + " sets count sums to " + what + " in float64, for adjacent rows y of n values, by 32 interleaved sums, of which halves are added up.")
	sums, y, n, count := load("sums"), load("y"), load("n"), load("count")
	var x, own reg.GPVirtual
	if name == "dots" {
		x, own = load("x"), GP64()
	}
	half := func() reg.VecVirtual {
		if v.wide() {
			return YMM()
		}
		return XMM()
	}
	rest, masks, left := GP64(), GP64(), GP64()
	MOVQ(n, rest)
	ANDQ(Imm(31), rest)
	SHRQ(Imm(5), n)
	LEAQ(mask, masks)
	back := GP64()
	MOVQ(rest, back)
	SHLQ(Imm(2), back)
	SUBQ(back, masks) // as many ones as values that are left
	acc := make([]reg.VecVirtual, 256/v.bytes)
	Label("row")
	for i := range acc {
		acc[i] = v.reg()
		v.zero(acc[i])
	}
	if x != nil {
		MOVQ(x, own)
	}
	MOVQ(n, left)
	TESTQ(left, left)
	JZ(LabelRef("last"))
	Label("next")
	for i := range acc {
		a, b := v.reg(), v.reg()
		VCVTPS2PD(Mem{Base: y, Disp: v.bytes / 2 * i}, a)
		if x == nil {
			VFMADD231PD(a, a, acc[i])
			continue
		}
		VCVTPS2PD(Mem{Base: own, Disp: v.bytes / 2 * i}, b)
		VFMADD231PD(a, b, acc[i])
	}
	if x != nil {
		ADDQ(I32(128), own)
	}
	ADDQ(I32(128), y)
	DECQ(left)
	JNZ(LabelRef("next"))
	Label("last")
	TESTQ(rest, rest)
	JZ(LabelRef("whole"))
	for i := range acc {
		k, p, q, a, b := half(), half(), half(), v.reg(), v.reg()
		VMOVUPS(Mem{Base: masks, Disp: v.bytes / 2 * i}, k)
		VMASKMOVPS(Mem{Base: y, Disp: v.bytes / 2 * i}, k, p)
		VCVTPS2PD(p, a)
		if x == nil {
			VFMADD231PD(a, a, acc[i])
			continue
		}
		VMASKMOVPS(Mem{Base: own, Disp: v.bytes / 2 * i}, k, q)
		VCVTPS2PD(q, b)
		VFMADD231PD(a, b, acc[i])
	}
	LEAQ(Mem{Base: y, Index: rest, Scale: 4}, y)
	Label("whole")
	for size := len(acc) / 2; size > 0; size /= 2 {
		for i := range size {
			VADDPD(acc[i+size], acc[i], acc[i])
		}
	}
	sum, high := acc[0], v.reg()
	if v.wide() {
		VEXTRACTF64X4(Imm(1), sum, high.AsY())
		VADDPD(high.AsY(), sum.AsY(), sum.AsY())
	}
	VEXTRACTF128(Imm(1), sum.AsY(), high.AsX())
	VADDPD(high.AsX(), sum.AsX(), sum.AsX())
	VPERMILPD(Imm(1), sum.AsX(), high.AsX())
	VADDSD(high.AsX(), sum.AsX(), sum.AsX())
	VMOVSD(sum.AsX(), Mem{Base: sums})
	ADDQ(Imm(8), sums)
	DECQ(count)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// chain multiplies by a derivative that is a function of y.
func chain(name, what string, derivative func(one, y, to reg.VecVirtual)) {
	TEXT(name, NOSPLIT, "func(dy, y *float32, count int)")
	Pragma("noescape")
	Doc(name + " multiplies dy by " + what + " for count whole vectors.")
	dy, y, count, unit := load("dy"), load("y"), load("count"), one()
	overVectors(dy, y, count, func() {
		v, d := YMM(), YMM()
		VMOVUPS(Mem{Base: y}, v)
		derivative(unit, v, d)
		VMULPS(Mem{Base: dy}, d, d)
		VMOVUPS(d, Mem{Base: dy})
	})
}
