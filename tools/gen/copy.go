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
	for _, width := range []int{16, 32} {
		copyRows(width)
	}
	transpose8()
	copyTiles(1)
	copyTiles(2)
	copyStrips()
	addStrips()
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

// eightRows makes the addresses of eight rows, stride bytes apart.
func eightRows(src, stride reg.GPVirtual) rowAddresses {
	in := rowAddresses{bases: []reg.GPVirtual{src, GP64()}, s: stride, s3: GP64(), s5: GP64()}
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, in.s3)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, in.s5)
	LEAQ(Mem{Base: src, Index: in.s3, Scale: 2}, in.bases[1])
	ADDQ(stride, in.bases[1])
	return in
}

// transpose8 turns blocks of 8 columns × 8 values into 8 rows of 8.
func transpose8() {
	TEXT("transpose8AVX2", NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride int, blocks int)")
	Pragma("noescape")
	Doc("transpose8AVX2 sets dst[k][i] = src[i][k] for i < 8 and k < 8·blocks; strides are in bytes.")
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("dstStride"), GP64())
	src, ss := load("src"), load("srcStride")
	blocks := Load(Param("blocks"), GP64())
	in := eightRows(src, ss)
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

// copyTiles turns eight rows of a transposed A into steps of tiles: row after row is
// read onwards, which the processor foresees.
func copyTiles(vectors int) {
	name := fmt.Sprintf("copyTiles%dAVX2", vectors)
	TEXT(name, NOSPLIT, "func(dst *float32, step, tileStride int, src *float32, srcStride, tiles int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies 8 rows of src, step bytes of each to every tile, whole vectors (%d) at a time: what runs over is written again.", name, vectors))
	dst, step, tileStride, src, ss, tiles := load("dst"), load("step"), load("tileStride"), load("src"), load("srcStride"), load("tiles")
	in := eightRows(src, ss)
	to, x := GP64(), []reg.VecVirtual{YMM(), YMM()}
	Label("tile")
	MOVQ(dst, to)
	for i := range 8 {
		for v := range vectors {
			from := in.row(i)
			from.Disp = 32 * v
			VMOVUPS(from, x[v])
			VMOVUPS(x[v], Mem{Base: to, Disp: 32 * v})
		}
		if i < 7 {
			ADDQ(step, to)
		}
	}
	for _, b := range in.bases {
		ADDQ(step, b)
	}
	ADDQ(tileStride, dst)
	DECQ(tiles)
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// patches holds what the two loops over the strips of patches have in common: a
// patch is rows strips, rowStride bytes apart in the image, and adjacent in the
// patch; step bytes of the image lie between the beginnings of two patches and gap
// bytes between the end of one patch and the next.
type patches struct{ patch, size, gap, image, step, rowStride, count, rows, strip, from, left, row reg.GPVirtual }

func loadPatches() patches {
	return patches{load("patch"), load("size"), load("gap"), load("image"), load("step"), load("rowStride"), load("count"), load("rows"), GP64(), GP64(), GP64(), GP64()}
}

// each emits the loops; body handles the strip at image address from, of which n
// vectors are to be counted down in left, and the patch's address to.
func (p patches) each(n reg.Register, body func(to reg.GPVirtual)) {
	to := GP64()
	Label("place")
	MOVQ(p.image, p.strip)
	MOVQ(p.rows, p.row)
	Label("strip")
	MOVQ(p.strip, p.from)
	MOVQ(p.patch, to)
	MOVQ(n, p.left)
	body(to)
	ADDQ(p.size, p.patch)
	ADDQ(p.rowStride, p.strip)
	DECQ(p.row)
	JNZ(LabelRef("strip"))
	ADDQ(p.step, p.image)
	ADDQ(p.gap, p.patch)
	DECQ(p.count)
	JNZ(LabelRef("place"))
	VZEROUPPER()
	RET()
}

func copyStrips() {
	TEXT("copyStripsAVX2", NOSPLIT, "func(patch *float32, size, gap int, image *float32, step, rowStride, count, rows, vectors int)")
	Pragma("noescape")
	Doc("copyStripsAVX2 copies count patches of rows strips of size bytes, vectors·32 at a time: what runs over the end of a strip is written again.")
	p := loadPatches()
	vectors := load("vectors")
	x := YMM()
	p.each(vectors, func(to reg.GPVirtual) {
		Label("vector")
		VMOVUPS(Mem{Base: p.from}, x)
		VMOVUPS(x, Mem{Base: to})
		ADDQ(Imm(32), p.from)
		ADDQ(Imm(32), to)
		DECQ(p.left)
		JNZ(LabelRef("vector"))
	})
}

func addStrips() {
	index := GLOBL("lane", 8|16) // RODATA|NOPTR
	for i := range 8 {
		DATA(4*i, U32(uint32(i)))
	}
	TEXT("addStripsAVX2", NOSPLIT, "func(patch *float32, size, gap int, image *float32, step, rowStride, count, rows, vectors int)")
	Pragma("noescape")
	Doc("addStripsAVX2 adds count patches of rows strips of size bytes to the image, in order, since they overlap.",
		"vectors is how many whole ones are in a strip; if there is a rest, zeros are added to what follows it in the image.")
	p := loadPatches()
	x, mask := YMM(), YMM()
	// Stores under a mask are slow on some processors; loads are not.
	MOVQ(p.size, p.left)
	SHRQ(Imm(2), p.left)
	ANDQ(Imm(7), p.left)
	VMOVD(p.left.As32(), mask.AsX())
	VPBROADCASTD(mask.AsX(), mask)
	VPCMPGTD(index, mask, mask)
	vectors := load("vectors")
	p.each(vectors, func(to reg.GPVirtual) {
		TESTQ(p.left, p.left)
		JZ(LabelRef("rest"))
		Label("vector")
		VMOVUPS(Mem{Base: to}, x)
		VADDPS(Mem{Base: p.from}, x, x)
		VMOVUPS(x, Mem{Base: p.from})
		ADDQ(Imm(32), p.from)
		ADDQ(Imm(32), to)
		DECQ(p.left)
		JNZ(LabelRef("vector"))
		Label("rest")
		TESTQ(U32(31), p.size)
		JZ(LabelRef("added"))
		VMASKMOVPS(Mem{Base: to}, mask, x)
		VADDPS(Mem{Base: p.from}, x, x)
		VMOVUPS(x, Mem{Base: p.from})
		Label("added")
	})
}
