package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normals writes what noise in float64 is made of: points of the strips of a ziggurat, and
// noisy sums on a grid, eight values a round.
func normals() {
	c := newConstants("quads")
	for _, v := range []lanes{avx2, avx512} {
		v.strips(c)
		v.sumOnGrid(c)
	}
}

// strips takes limits and units from the table in 16 bytes for each word, not by gathering instructions,
// which some processors have made slow.
func (v lanes) strips(c *constants) {
	TEXT("strips"+v.suffix, NOSPLIT, "func(dst *float64, words *byte, table *uint64, beyond *byte, count int)")
	Pragma("noescape")
	Doc("strips" + v.suffix + " is Strips for count times eight words.")
	dst := Load(Param("dst"), GP64())
	words := Load(Param("words"), GP64())
	table := Load(Param("table"), GP64())
	beyond := Load(Param("beyond"), GP64())
	count := Load(Param("count"), GP64())
	zero := v.reg()
	v.zero(zero)
	var low, high, bias reg.VecVirtual
	if !v.wide() {
		low, high, bias = v.reg(), v.reg(), v.reg()
		VMOVUPD(c.quad(0x4330000000000000), low)  // 2⁵²
		VMOVUPD(c.quad(0x4530000000000000), high) // 2⁸⁴
		VMOVUPD(c.quad(math.Float64bits(0x1p84+0x1p52)), bias)
	}
	Label("next")
	at := make([]Mem, 8)
	for i := range at {
		index := GP64()
		MOVBQZX(Mem{Base: words, Disp: 8 * i}, index)
		ADDQ(index, index)
		at[i] = Mem{Base: table, Index: index, Scale: 8}
	}
	// pairs has the strips of words i, i+2, …: of each 128 bits, so that unpacking leaves the order of the words.
	pairs := func(i int) reg.VecVirtual {
		y := func(i int) reg.VecVirtual {
			x, y := XMM(), YMM()
			VMOVUPD(at[i], x)
			VINSERTF128(Imm(1), at[i+2], x.AsY(), y)
			return y
		}
		if !v.wide() {
			return y(i)
		}
		z, top := y(i), y(i+4)
		both := ZMM()
		VINSERTF64X4(Imm(1), top, z.AsZ(), both)
		return both
	}
	var misses []reg.GPVirtual
	for from := 0; from < 8; from += v.bytes / 8 {
		even, odd := pairs(from), pairs(from+1)
		inside, unit := v.reg(), v.reg()
		VUNPCKLPD(odd, even, inside)
		VUNPCKHPD(odd, even, unit)
		w, step, x := v.reg(), v.reg(), v.reg()
		if v.wide() {
			VMOVDQU64(Mem{Base: words, Disp: 8 * from}, w)
		} else {
			VMOVDQU(Mem{Base: words, Disp: 8 * from}, w)
		}
		VPSRLQ(Imm(11), w, step)
		if v.wide() {
			k := K()
			VPCMPUQ(Imm(5), inside, step, k) // step >= inside
			KMOVB(k, Mem{Base: beyond})
			VCVTQQ2PD(step, x)
		} else {
			within, miss := v.reg(), GP64()
			VPCMPGTQ(step, inside, within) // both are below 2⁵³
			VMOVMSKPD(within, miss.As32())
			misses = append(misses, miss)
			// The low half behind 2⁵², the high one behind 2⁸⁴: every step of this is exact.
			l, h := v.reg(), v.reg()
			VPBLENDD(Imm(0xaa), low, step, l)
			VPSRLQ(Imm(32), step, h)
			VPOR(high, h, h)
			VSUBPD(bias, h, h)
			VADDPD(l, h, x)
		}
		VMULPD(unit, x, x)
		VPSRLQ(Imm(8), w, w)
		VPSLLQ(Imm(63), w, w)
		v.xor(w, x, x)
		VADDPD(zero, x, x) // −0 becomes 0
		VMOVUPD(x, Mem{Base: dst, Disp: 8 * from})
	}
	if !v.wide() {
		SHLQ(Imm(4), misses[1])
		ORQ(misses[1], misses[0])
		NOTQ(misses[0])
		MOVB(misses[0].As8(), Mem{Base: beyond})
	}
	ADDQ(Imm(64), dst)
	ADDQ(Imm(64), words)
	INCQ(beyond)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func (v lanes) sumOnGrid(c *constants) {
	TEXT("sumOnGrid"+v.suffix, NOSPLIT, "func(dst, a, b *float32, z *float64, scale, shift, near float64, divisor float32, count int) int")
	Pragma("noescape")
	Doc("sumOnGrid" + v.suffix + " is SumOnGrid for up to count times eight values; it returns how often it did eight.")
	dst := Load(Param("dst"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	z := Load(Param("z"), GP64())
	broadcast := func(name string, to reg.VecVirtual) reg.VecVirtual {
		p, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		if name == "divisor" {
			VBROADCASTSS(p.Addr, to)
		} else {
			VBROADCASTSD(p.Addr, to)
		}
		return to
	}
	scale, shift, near := broadcast("scale", v.reg()), broadcast("shift", v.reg()), broadcast("near", v.reg())
	half := func() reg.VecVirtual {
		if v.wide() {
			return YMM()
		}
		return XMM()
	}
	divisor := broadcast("divisor", half())
	magnitude := v.reg()
	VMOVUPD(c.quad(1<<63-1), magnitude)
	count := Load(Param("count"), GP64())
	done := GP64()
	XORQ(done, done)
	Label("next")
	var rounded []reg.VecVirtual
	for from := 0; from < 8; from += v.bytes / 8 {
		s, sum, noise, size := half(), v.reg(), v.reg(), v.reg()
		VMOVUPS(Mem{Base: a, Disp: 4 * from}, s)
		VADDPS(Mem{Base: b, Disp: 4 * from}, s, s)
		VCVTPS2PD(s, sum)
		VMULPD(Mem{Base: z, Disp: 8 * from}, scale, noise)
		VADDPD(noise, sum, sum)
		if v.wide() {
			VPANDQ(magnitude, sum, size)
			k := K()
			VCMPPD(Imm(1), near, size, k) // size < near, not of NaN
			KORTESTB(k, k)
			JCC(LabelRef("end"))
		} else {
			VPAND(magnitude, sum, size)
			VCMPPD(Imm(1), near, size, size)
			all := GP32()
			VMOVMSKPD(size, all)
			CMPL(all, Imm(15))
			JNE(LabelRef("end"))
		}
		VADDPD(shift, sum, sum)
		VSUBPD(shift, sum, sum)
		r := half()
		if v.wide() {
			VCVTPD2PS(sum, r)
		} else {
			VCVTPD2PSY(sum, r)
		}
		VDIVPS(divisor, r, r)
		rounded = append(rounded, r)
	}
	for i, r := range rounded {
		VMOVUPS(r, Mem{Base: dst, Disp: i * v.bytes / 2})
	}
	ADDQ(Imm(32), dst)
	ADDQ(Imm(32), a)
	ADDQ(Imm(32), b)
	ADDQ(Imm(64), z)
	INCQ(done)
	DECQ(count)
	JNZ(LabelRef("next"))
	Label("end")
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}
