package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is a vector width. The same program text yields the AVX2 and the
// AVX-512 version of a function, so they differ in nothing but width: bitwise
// instructions need other names, since only AVX-512 has masks by element.
type lanes struct {
	suffix string
	bytes  int
}

var (
	avx2   = lanes{suffix: "AVX2", bytes: 32}
	avx512 = lanes{suffix: "AVX512", bytes: 64}
)

func (v lanes) wide() bool { return v.bytes == 64 }

func (v lanes) reg() reg.VecVirtual {
	if v.wide() {
		return ZMM()
	}
	return YMM()
}

func (v lanes) zero(r Op) {
	if v.wide() {
		VPXORQ(r, r, r)
		return
	}
	VXORPS(r, r, r)
}

func (v lanes) xor(a, b, to Op) {
	if v.wide() {
		VPXORD(a, b, to)
		return
	}
	VPXOR(a, b, to)
}

func (v lanes) and(a, b, to Op) {
	if v.wide() {
		VPANDD(a, b, to)
		return
	}
	VPAND(a, b, to)
}

func (v lanes) or(a, b, to Op) {
	if v.wide() {
		VPORD(a, b, to)
		return
	}
	VPOR(a, b, to)
}

// andNot leaves b &^ a.
func (v lanes) andNot(a, b, to Op) {
	if v.wide() {
		VPANDND(b, a, to)
		return
	}
	VPANDN(b, a, to)
}

// choose leaves yes where the sign of mask is set and no elsewhere.
func (v lanes) choose(mask, yes, no, to Op) {
	if !v.wide() {
		VBLENDVPS(mask, yes, no, to)
		return
	}
	k := K()
	VPMOVD2M(mask, k)
	VBLENDMPS(yes, no, k, to)
}

// constants collects the 32-bit and 64-bit words a part uses, each repeated over the
// widest vector, so that either width reads it as a memory operand.
type constants struct {
	base  Mem
	index map[uint64]int // by 64 bits of the vector
}

func newConstants(name string) *constants {
	return &constants{base: GLOBL(name, 8|16), index: map[uint64]int{}} // RODATA|NOPTR
}

func (c *constants) word(bits uint32) Mem { return c.quad(uint64(bits)<<32 | uint64(bits)) }

func (c *constants) quad(bits uint64) Mem {
	i, ok := c.index[bits]
	if !ok {
		i = len(c.index)
		c.index[bits] = i
		for lane := range 8 {
			DATA(64*i+8*lane, U64(bits))
		}
	}
	return c.base.Offset(64 * i)
}

func (c *constants) float(x float32) Mem { return c.word(math.Float32bits(x)) }

// steps is a program in pieces, so that two can be interleaved: a processor
// looks ahead a hundred instructions or so, less than one turn of some loops.
type steps []func()

func (s *steps) add(f ...func()) { *s = append(*s, f...) }

// interleave emits the programs in turn, one piece of each.
func interleave(programs ...steps) {
	for i := 0; ; i++ {
		left := false
		for _, p := range programs {
			if i < len(p) {
				p[i]()
				left = true
			}
		}
		if !left {
			return
		}
	}
}

// polynomial leaves Σ coefficients[i]·x^i by Estrin's scheme with fused sums:
// half the latency of Horner's rule. The portable version goes the same way and
// gives the same bits. square is x².
func (v lanes) polynomial(c *constants, coefficients []float32, x, square, to reg.VecVirtual) (s steps) {
	power := square
	var terms []reg.VecVirtual
	for i := 0; i < len(coefficients); i += 2 {
		t := v.reg()
		if i == 0 {
			t = to
		}
		terms = append(terms, t)
		if i+1 == len(coefficients) {
			s.add(func() { VMOVUPS(c.float(coefficients[i]), t) })
			continue
		}
		s.add(func() { VMOVUPS(c.float(coefficients[i+1]), t) }, func() { VFMADD213PS(c.float(coefficients[i]), x, t) })
	}
	for len(terms) > 1 {
		p := power
		var next []reg.VecVirtual
		for i := 0; i < len(terms); i += 2 {
			a := terms[i]
			next = append(next, a)
			if i+1 < len(terms) {
				b := terms[i+1]
				s.add(func() { VFMADD231PS(p, b, a) })
			}
		}
		terms = next
		if len(terms) > 1 {
			power = v.reg()
			q := power
			s.add(func() { VMULPS(p, p, q) })
		}
	}
	return s
}
