package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cipher writes the AES-256 counter stream, one block an instruction or two
// where the processor has 256-bit AES (VAES), and what its detection needs.
func cipher() {
	cpuid()
	subWord()
	keyStream(16)
	keyStream(32)
}

func cpuid() {
	TEXT("leaf7ECX", NOSPLIT, "func() uint32")
	Doc("leaf7ECX returns register ECX of CPUID leaf 7; the caller knows that the leaf exists.")
	MOVL(U32(7), reg.EAX)
	MOVL(U32(0), reg.ECX)
	CPUID()
	Store(reg.ECX, ReturnIndex(0))
	RET()
}

func subWord() {
	TEXT("subWord", NOSPLIT, "func(w uint32) uint32")
	Doc("subWord applies the AES S-box to each byte of w, without a table in memory.")
	x, y := XMM(), XMM()
	w := Load(Param("w"), GP32())
	VMOVD(w, x)
	VPSHUFD(Imm(0), x, x)
	VAESKEYGENASSIST(Imm(0), x, y)
	VMOVD(y, w)
	Store(w, ReturnIndex(0))
	RET()
}

// aes appends a 256-bit AES instruction, whose operands avo knows only at 128.
func aes(opcode string, key, state reg.VecVirtual) {
	Instruction(&ir.Instruction{
		Opcode:   opcode,
		Operands: []Op{key, state, state},
		Inputs:   []Op{key, state},
		Outputs:  []Op{state},
		ISA:      []string{"AVX", "VAES"},
	})
}

// keyStream writes the counter stream with vectors of 1 or 2 blocks.
func keyStream(bytes int) {
	const width = 8 // vectors in flight, which hides the latency
	name, blocks, vec := "keyStreamAES", 1, func() reg.VecVirtual { return XMM() }
	if bytes == 32 {
		name, blocks, vec = "keyStreamVAES", 2, func() reg.VecVirtual { return YMM() }
	}
	quads := func(label string, low, high [2]uint64) Mem {
		m := GLOBL(label+name, 8|16) // RODATA|NOPTR
		for i, q := range append(low[:], high[:]...)[:bytes/8] {
			DATA(8*i, U64(q))
		}
		return m
	}
	// The counter's 8 bytes are reversed into the last 8 of the block; the
	// other 8 are zero.
	bigEndian := [2]uint64{0x8080808080808080, 0x0001020304050607}
	swap := quads("bigEndian", bigEndian, bigEndian)
	offset := quads("offset", [2]uint64{0}, [2]uint64{1})
	step := quads("step", [2]uint64{uint64(blocks)}, [2]uint64{uint64(blocks)})

	TEXT(name, NOSPLIT, "func(dst *byte, schedule *uint32, counter uint64, count int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s writes count times %d AES-256 blocks of the big-endian counters from counter on.", name, width*blocks))
	dst := Load(Param("dst"), GP64())
	schedule := Load(Param("schedule"), GP64())
	counter := Load(Param("counter"), GP64())
	count := Load(Param("count"), GP64())
	x, next := XMM(), vec()
	VMOVQ(counter, x)
	VPBROADCASTQ(x, next)
	VPADDQ(offset, next, next)
	state := make([]reg.VecVirtual, width)
	for i := range state {
		state[i] = vec()
	}
	key := vec()
	round := func(i int) {
		m := Mem{Base: schedule, Disp: 16 * i}
		if blocks == 1 {
			VMOVDQU(m, key)
		} else {
			VBROADCASTI128(m, key)
		}
	}
	Label("next")
	for i := range state {
		VPSHUFB(swap, next, state[i])
		VPADDQ(step, next, next)
	}
	round(0)
	for i := range state {
		VPXOR(key, state[i], state[i])
	}
	for r := 1; r <= 14; r++ {
		round(r)
		for i := range state {
			if r < 14 {
				aes("VAESENC", key, state[i])
			} else {
				aes("VAESENCLAST", key, state[i])
			}
		}
	}
	for i := range state {
		VMOVDQU(state[i], Mem{Base: dst, Disp: bytes * i})
	}
	ADDQ(I32(int32(bytes*width)), dst)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}
