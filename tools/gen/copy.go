package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copies writes the moves of packing (rows of a panel's width, the 8×8
// transpose) and of convolution (runs of patches).
func copies() {
	for _, width := range []int{16, 32, 48} {
		copyRows(width)
	}
	transpose8()
	copyRuns()
	addRuns()
}

func copyRows(width int) {
	name := fmt.Sprintf("copyRows%d", width)
	TEXT(name, NOSPLIT, "func(dst, src *float32, srcStride, rows int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies rows of %d values, srcStride bytes apart, one after another.", name, width))
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	stride := Load(Param("srcStride"), GP64())
	rows := Load(Param("rows"), GP64())
	Label("next")
	var row []reg.VecVirtual
	for i := range width / 8 {
		row = append(row, YMM())
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, row[i])
	}
	for i, r := range row {
		VMOVUPS(r, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(stride, src)
	ADDQ(I32(int32(4*width)), dst)
	DECQ(rows)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// transpose8 turns blocks of 8 columns × 8 values into 8 rows of 8.
func transpose8() {
	TEXT("transpose8AVX2", NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride int, blocks int)")
	Pragma("noescape")
	Doc("transpose8AVX2 sets dst[k][i] = src[i][k] for i < 8 and k < 8·blocks; strides are in bytes.")
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("dstStride"), GP64())
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	ss := Load(Param("srcStride"), GP64())
	blocks := Load(Param("blocks"), GP64())
	in := rowAddresses{bases: []reg.GPVirtual{src, GP64()}, s: ss, s3: GP64(), s5: GP64()}
	LEAQ(Mem{Base: ss, Index: ss, Scale: 2}, in.s3)
	LEAQ(Mem{Base: ss, Index: ss, Scale: 4}, in.s5)
	LEAQ(Mem{Base: src, Index: in.s3, Scale: 2}, in.bases[1])
	ADDQ(ss, in.bases[1])
	Label("next")
	// Rows i and i+4 share a register, which leaves no crossing of its halves.
	half := func(disp int) (out [4]reg.VecVirtual) {
		var r, u [4]reg.VecVirtual
		for i := range r {
			r[i] = YMM()
			low, high := in.row(i), in.row(i+4)
			low.Disp, high.Disp = disp, disp
			VMOVUPS(low, r[i].AsX())
			VINSERTF128(Imm(1), high, r[i], r[i])
		}
		for i := range u {
			u[i], out[i] = YMM(), YMM()
		}
		VUNPCKLPS(r[1], r[0], u[0])
		VUNPCKHPS(r[1], r[0], u[1])
		VUNPCKLPS(r[3], r[2], u[2])
		VUNPCKHPS(r[3], r[2], u[3])
		VUNPCKLPD(u[2], u[0], out[0])
		VUNPCKHPD(u[2], u[0], out[1])
		VUNPCKLPD(u[3], u[1], out[2])
		VUNPCKHPD(u[3], u[1], out[3])
		return out
	}
	for _, disp := range []int{0, 16} {
		for _, r := range half(disp) {
			VMOVUPS(r, Mem{Base: dst})
			ADDQ(ds, dst)
		}
	}
	for _, b := range in.bases {
		ADDQ(Imm(32), b)
	}
	DECQ(blocks)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// runs holds what the two loops over runs have in common.
type runs struct{ dst, dstStride, src, srcStride, count, to, from, left reg.GPVirtual }

func loadRuns() runs {
	load := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	return runs{load("dst"), load("dstStride"), load("src"), load("srcStride"), load("count"), GP64(), GP64(), GP64()}
}

// each emits the loop; body sees to, from and left (n vectors or values).
func (r runs) each(n reg.Register, body func()) {
	Label("run")
	MOVQ(r.dst, r.to)
	MOVQ(r.src, r.from)
	MOVQ(n, r.left)
	body()
	ADDQ(r.dstStride, r.dst)
	ADDQ(r.srcStride, r.src)
	DECQ(r.count)
	JNZ(LabelRef("run"))
	VZEROUPPER()
	RET()
}

func copyRuns() {
	TEXT("copyRunsAVX2", NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride int, count, vectors int)")
	Pragma("noescape")
	Doc("copyRunsAVX2 copies count runs of vectors·8 values; strides are in bytes.")
	r := loadRuns()
	vectors := Load(Param("vectors"), GP64())
	x := YMM()
	r.each(vectors, func() {
		Label("vector")
		VMOVUPS(Mem{Base: r.from}, x)
		VMOVUPS(x, Mem{Base: r.to})
		ADDQ(Imm(32), r.from)
		ADDQ(Imm(32), r.to)
		DECQ(r.left)
		JNZ(LabelRef("vector"))
	})
}

func addRuns() {
	index := GLOBL("lane", 8|16) // RODATA|NOPTR
	for i := range 8 {
		DATA(4*i, U32(uint32(i)))
	}
	TEXT("addRunsAVX2", NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride int, count, n int)")
	Pragma("noescape")
	Doc("addRunsAVX2 adds count runs of n values, one after the other, since they may overlap; strides are in bytes.")
	r := loadRuns()
	n := Load(Param("n"), GP64())
	rest, x, y, mask := GP64(), YMM(), YMM(), YMM()
	MOVQ(n, rest)
	ANDQ(Imm(7), rest)
	VMOVD(rest.As32(), mask.AsX())
	VPBROADCASTD(mask.AsX(), mask)
	VPCMPGTD(index, mask, mask)
	SHRQ(Imm(3), n)
	r.each(n, func() {
		TESTQ(r.left, r.left)
		JZ(LabelRef("tail"))
		Label("vector")
		VMOVUPS(Mem{Base: r.from}, x)
		VADDPS(Mem{Base: r.to}, x, x)
		VMOVUPS(x, Mem{Base: r.to})
		ADDQ(Imm(32), r.from)
		ADDQ(Imm(32), r.to)
		DECQ(r.left)
		JNZ(LabelRef("vector"))
		Label("tail")
		TESTQ(rest, rest)
		JZ(LabelRef("added"))
		VMASKMOVPS(Mem{Base: r.from}, mask, x)
		VMASKMOVPS(Mem{Base: r.to}, mask, y)
		VADDPS(y, x, x)
		VMASKMOVPS(x, mask, Mem{Base: r.to})
		Label("added")
	})
}
