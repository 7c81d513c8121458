package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peak writes loops of fused multiply-adds that wait for nothing: more chains than a
// processor has in flight, all operands in registers.
func peak() {
	for _, v := range []lanes{avx2, avx512} {
		chains := 12
		if v.wide() {
			chains = 24
		}
		TEXT("fma"+v.suffix, NOSPLIT, "func(count int)")
		Doc("fma" + v.suffix + " makes count rounds of chained multiply-adds, one vector in each chain.")
		count := Load(Param("count"), GP64())
		x, y := v.reg(), v.reg()
		v.zero(x)
		v.zero(y)
		acc := make([]reg.VecVirtual, chains)
		for i := range acc {
			acc[i] = v.reg()
			v.zero(acc[i])
		}
		Label("next")
		for i := range acc {
			VFMADD231PS(x, y, acc[i])
		}
		DECQ(count)
		JNZ(LabelRef("next"))
		VZEROUPPER()
		RET()
	}
}
