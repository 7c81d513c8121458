package columnar

import "github.com/apache/arrow-go/v18/arrow/memory"

// maxBlock bounds one piece of memory, since its size is what a file claims: beyond
// it a damaged file would end the program instead of being refused.
const maxBlock = 1 << 30

// bounded allocates as the library does, and panics, to be caught by guard, where a
// file claims too much.
type bounded struct{ memory.GoAllocator }

func (b *bounded) Allocate(size int) []byte {
	check(size)
	return b.GoAllocator.Allocate(size)
}

func (b *bounded) Reallocate(size int, old []byte) []byte {
	check(size)
	return b.GoAllocator.Reallocate(size, old)
}

func check(size int) {
	if size < 0 || size > maxBlock {
		panic("columnar: a block of more than 1 GiB")
	}
}
