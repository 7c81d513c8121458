package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cipher writes the AES-256 counter stream for processors with 256-bit AES
// (VAES), two blocks an instruction, and what its detection needs.
func cipher() {
	cpuid()
	subWord()
	keyStream()
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

func keyStream() {
	const width = 8 // vectors in flight, 16 blocks, which hides the latency
	swap := GLOBL("bigEndian", 8|16)
	for half := range 2 {
		// The counter's 8 bytes are reversed into the last 8 of the block; the
		// other 8 are zero.
		DATA(16*half, U64(0x8080808080808080))
		DATA(16*half+8, U64(0x0001020304050607))
	}
	step := GLOBL("blockPair", 8|16)
	DATA(0, U64(0))
	DATA(8, U64(0))
	DATA(16, U64(1))
	DATA(24, U64(0))
	two := GLOBL("two", 8|16)
	DATA(0, U64(2))
	DATA(8, U64(0))
	DATA(16, U64(2))
	DATA(24, U64(0))

	TEXT("keyStreamVAES", NOSPLIT, "func(dst *byte, schedule *uint32, counter uint64, count int)")
	Pragma("noescape")
	Doc("keyStreamVAES writes 16·count AES-256 blocks of the big-endian counters from counter on.")
	dst := Load(Param("dst"), GP64())
	schedule := Load(Param("schedule"), GP64())
	counter := Load(Param("counter"), GP64())
	count := Load(Param("count"), GP64())
	x, next := XMM(), YMM()
	VMOVQ(counter, x)
	VPBROADCASTQ(x, next)
	VPADDQ(step, next, next)
	state := make([]reg.VecVirtual, width)
	for i := range state {
		state[i] = YMM()
	}
	key := YMM()
	Label("next")
	for i := range state {
		VPSHUFB(swap, next, state[i])
		VPADDQ(two, next, next)
	}
	VBROADCASTI128(Mem{Base: schedule}, key)
	for i := range state {
		VPXOR(key, state[i], state[i])
	}
	for round := 1; round <= 14; round++ {
		VBROADCASTI128(Mem{Base: schedule, Disp: 16 * round}, key)
		for i := range state {
			if round < 14 {
				aes("VAESENC", key, state[i])
			} else {
				aes("VAESENCLAST", key, state[i])
			}
		}
	}
	for i := range state {
		VMOVDQU(state[i], Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(I32(32*width), dst)
	DECQ(count)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}
