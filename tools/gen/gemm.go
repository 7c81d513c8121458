package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowsPerBase is how many rows of A one base register reaches: the offsets 0,
// 1, 2, 3, 4, 5 and 6 row strides are {0, s, s·2, 3s, s·4, 5s, 3s·2} with the
// registers s, 3s, 5s and the scales that an address may have.
const rowsPerBase = 7

type rowAddresses struct {
	bases     []reg.GPVirtual
	s, s3, s5 reg.Register
}

func (r rowAddresses) row(i int) Mem {
	m := Mem{Base: r.bases[i/rowsPerBase]}
	switch i % rowsPerBase {
	case 1:
		m.Index, m.Scale = r.s, 1
	case 2:
		m.Index, m.Scale = r.s, 2
	case 3:
		m.Index, m.Scale = r.s3, 1
	case 4:
		m.Index, m.Scale = r.s, 4
	case 5:
		m.Index, m.Scale = r.s5, 1
	case 6:
		m.Index, m.Scale = r.s3, 2
	}
	return m
}

// tile is one micro-kernel: rows × (vectors·lanes) of C stay in registers
// while k advances. With loop it walks down count tiles of rows, so that Go is
// entered once for each panel of B. With direct B is not packed: its rows lie at a
// stride, and whole vectors are read of them.
type tile struct {
	lanes
	rows, vectors int
	loop, direct  bool
}

func (t tile) name() string {
	n := fmt.Sprintf("tile%dx%d%s", t.rows, t.vectors*t.bytes/4, t.suffix)
	if t.loop {
		n += "Loop"
	}
	if t.direct {
		n += "Direct"
	}
	return n
}

// gemm writes every micro-kernel: the full height with a loop, and each
// smaller height for the last rows.
func gemm() {
	index := GLOBL("lane", 8|16)
	for i := range 16 {
		DATA(4*i, U32(uint32(i)))
	}
	for _, shape := range []tile{
		{lanes: avx512, rows: 14, vectors: 2},
		{lanes: avx512, rows: 14, vectors: 1},
		{lanes: avx2, rows: 6, vectors: 2},
	} {
		full := shape
		full.loop = true
		full.write(index)
		for rows := 1; rows < shape.rows; rows++ {
			edge := shape
			edge.rows = rows
			edge.write(index)
		}
	}
	for _, shape := range []tile{
		{lanes: avx512, rows: 14, vectors: 2, direct: true},
		{lanes: avx2, rows: 6, vectors: 2, direct: true},
	} {
		for rows := 1; rows <= shape.rows; rows++ {
			edge := shape
			edge.rows = rows
			edge.write(index)
		}
	}
}

func (t tile) write(index Mem) {
	signature := "func(k int, a *float32, rowStride, colStride int, b, c *float32, ldc, n int, from *float32, ldf int)"
	what := fmt.Sprintf("sets C to %d rows of A·B and, unless it is nil, from", t.rows)
	if t.loop {
		signature = "func(count, k int, a *float32, tileStride, rowStride, colStride int, b, c *float32, ldc, n int, from *float32, ldf int)"
		what = fmt.Sprintf("sets C to count times %d rows of A·B and, unless it is nil, from", t.rows)
	}
	packed := "B is a packed panel"
	if t.direct {
		signature = "func(k int, a *float32, rowStride, colStride int, b *float32, ldb int, c *float32, ldc, n int, from *float32, ldf int)"
		packed = "B has rows at a stride, of which whole vectors are read"
	}
	TEXT(t.name(), NOSPLIT, signature)
	Pragma("noescape")
	Doc(t.name()+" "+what+".", packed+"; strides are in bytes; n columns of C are valid.")

	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	s := Load(Param("rowStride"), GP64())
	step := Load(Param("colStride"), GP64())
	c := Load(Param("c"), GP64())
	rows := rowAddresses{bases: []reg.GPVirtual{a}, s: s, s3: GP64(), s5: GP64()}
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, rows.s3)
	LEAQ(Mem{Base: s, Index: s, Scale: 4}, rows.s5)
	for range (t.rows - 1) / rowsPerBase {
		rows.bases = append(rows.bases, GP64())
	}
	var count, top reg.Register
	if t.loop {
		count = Load(Param("count"), GP64())
		top = GP64()
		MOVQ(a, top)
		Label("tile")
		MOVQ(top, a)
	}
	for i := 1; i < len(rows.bases); i++ {
		LEAQ(Mem{Base: rows.bases[i-1], Index: rows.s3, Scale: 2}, rows.bases[i])
		ADDQ(s, rows.bases[i])
	}
	b := Load(Param("b"), GP64())
	k := Load(Param("k"), GP64())

	// C is needed only at the end of the tile: time enough to fetch it.
	ahead := GP64()
	MOVQ(c, ahead)
	ldc := Load(Param("ldc"), GP64())
	acc := make([][]reg.VecVirtual, t.rows)
	for i := range acc {
		for j := range t.vectors {
			r := t.reg()
			t.zero(r)
			acc[i] = append(acc[i], r)
			if t.bytes == 64 || j == 0 {
				PREFETCHT0(Mem{Base: ahead, Disp: t.bytes * j})
			}
		}
		PREFETCHT0(Mem{Base: ahead, Disp: t.vectors*t.bytes - 4})
		ADDQ(ldc, ahead)
	}
	var next reg.Register // to the next row of B, or from a row of this panel to the same row of the next
	if t.direct {
		next = Load(Param("ldb"), GP64())
	} else {
		next = GP64()
		IMUL3Q(I32(int32(t.vectors*t.bytes)), k, next)
	}
	t.products(k, step, b, next, rows, acc)

	n := Load(Param("n"), GP64())
	from, ldf := Load(Param("from"), GP64()), Load(Param("ldf"), GP64())
	width := t.vectors * t.bytes / 4
	CMPQ(n, U32(uint32(width)))
	JL(LabelRef("edge"))
	place, err := Param("from").Resolve()
	if err != nil {
		panic(err)
	}
	store := func(label string, one func(r reg.VecVirtual, to Mem, from *Mem, j int)) {
		TESTQ(from, from)
		JZ(LabelRef(label + "store"))
		for i := range acc {
			for j, r := range acc[i] {
				one(r, Mem{Base: c, Disp: t.bytes * j}, &Mem{Base: from, Disp: t.bytes * j}, j)
			}
			ADDQ(ldc, c)
			ADDQ(ldf, from)
		}
		if t.loop {
			MOVQ(from, place.Addr) // where the next tile begins
		}
		JMP(LabelRef("stored"))
		Label(label + "store")
		for i := range acc {
			for j, r := range acc[i] {
				one(r, Mem{Base: c, Disp: t.bytes * j}, nil, j)
			}
			ADDQ(ldc, c)
		}
	}
	store("full", func(r reg.VecVirtual, to Mem, from *Mem, _ int) {
		if from != nil {
			VADDPS(*from, r, r)
		}
		VMOVUPS(r, to)
	})
	JMP(LabelRef("stored"))
	Label("edge")
	store("edge", t.masked(n, index))
	Label("stored")
	if t.loop {
		skip, err := Param("tileStride").Resolve()
		if err != nil {
			panic(err)
		}
		ADDQ(skip.Addr, top)
		DECQ(count)
		JNZ(LabelRef("tile"))
	}
	VZEROUPPER()
	RET()
}

// products runs the loop over k, unrolled twice.
func (t tile) products(k, step, b, next reg.Register, rows rowAddresses, acc [][]reg.VecVirtual) {
	bv := make([]reg.VecVirtual, t.vectors)
	for j := range bv {
		bv[j] = t.reg()
	}
	spread := []reg.VecVirtual{t.reg(), t.reg()}
	one := func(offset int) {
		if t.direct {
			PREFETCHT0(Mem{Base: b, Index: next, Scale: 8})
		} else {
			// The panels stream by from the third-level cache or memory.
			for line := 0; line < t.vectors*t.bytes; line += 64 {
				PREFETCHT1(Mem{Base: b, Index: next, Scale: 1, Disp: offset + line})
			}
		}
		for j := range bv {
			VMOVUPS(Mem{Base: b, Disp: offset + t.bytes*j}, bv[j])
		}
		// Where A is transposed, each step of k reads another line, at a stride
		// that the processor's own prefetching follows badly.
		for _, p := range rows.bases {
			PREFETCHT0(Mem{Base: p, Index: step, Scale: 8})
		}
		for i := range acc {
			if t.vectors == 1 && t.wide() {
				VFMADD231PS_BCST(rows.row(i), bv[0], acc[i][0])
				continue
			}
			av := spread[i%2]
			VBROADCASTSS(rows.row(i), av)
			for j := range bv {
				VFMADD231PS(bv[j], av, acc[i][j])
			}
		}
		for _, p := range rows.bases {
			ADDQ(step, p)
		}
		if t.direct {
			ADDQ(next, b)
		}
	}
	const unroll = 4
	size := t.vectors * t.bytes
	if t.direct {
		size = 0
	}
	SUBQ(Imm(unroll), k)
	JL(LabelRef("rest"))
	Label("k")
	for u := range unroll {
		one(u * size)
	}
	if !t.direct {
		ADDQ(I32(int32(unroll*size)), b)
	}
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("k"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("done"))
	Label("k1")
	one(0)
	if !t.direct {
		ADDQ(I32(int32(size)), b)
	}
	DECQ(k)
	JNZ(LabelRef("k1"))
	Label("done")
}

// masked returns how to update the first n columns of a row only.
func (t tile) masked(n reg.Register, index Mem) func(r reg.VecVirtual, to Mem, from *Mem, j int) {
	if t.wide() {
		bits := GP64()
		MOVQ(I32(1), bits)
		SHLXQ(n, bits, bits)
		DECQ(bits)
		masks := make([]reg.OpmaskVirtual, t.vectors)
		for j := range masks {
			masks[j] = K()
			KMOVW(bits.As32(), masks[j])
			SHRQ(Imm(16), bits)
		}
		return func(r reg.VecVirtual, to Mem, from *Mem, j int) {
			if from != nil {
				VADDPS(*from, r, masks[j], r)
			}
			VMOVUPS(r, masks[j], to)
		}
	}
	masks := make([]reg.VecVirtual, t.vectors)
	left, x := GP64(), XMM()
	MOVQ(n, left)
	for j := range masks {
		masks[j] = YMM()
		VMOVD(left.As32(), x)
		VPBROADCASTD(x, masks[j])
		VPCMPGTD(index, masks[j], masks[j])
		SUBQ(Imm(8), left)
	}
	old := YMM()
	return func(r reg.VecVirtual, to Mem, from *Mem, j int) {
		if from != nil {
			VMASKMOVPS(*from, masks[j], old)
			VADDPS(old, r, r)
		}
		VMASKMOVPS(r, masks[j], to)
	}
}
