package kernel

import (
	"math/bits"
	"sync"
)

// A shelf keeps working memory between calls, by size. Unlike a sync.Pool it loses
// nothing to the collector or to another processor, so that a training step
// allocates nothing. Of each size it holds as many slices as were ever in use at
// once: a few for each worker.
type shelf[T any] struct {
	mu   sync.Mutex
	free [bits.UintSize][][]T // of 2ⁱ values
}

// borrow returns a slice of at least n values.
func (s *shelf[T]) borrow(n int) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	class := max(10, bits.Len(uint(max(n, 1)-1)))
	free := &s.free[class]
	if *free == nil {
		// Work comes in halves: another worker is about to ask for the same.
		*free = append(*free, make([]T, 1<<class), make([]T, 1<<class))
	}
	if len(*free) == 0 {
		return make([]T, 1<<class)
	}
	last := len(*free) - 1
	b := (*free)[last]
	*free = (*free)[:last]
	return b
}

func (s *shelf[T]) giveBack(b []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := &s.free[bits.Len(uint(len(b)-1))]
	*free = append(*free, b)
}

// buffers are those of products.
var buffers shelf[float32]

// Room is working memory of products for one goroutine. Products of a few thousand numbers, of which two goroutines make
// many, would otherwise pass the same memory from one processor's cache to the other's.
type Room struct{ x machine }

// NewRoom returns an empty one, which grows with the products.
func NewRoom() *Room {
	r := &Room{*active}
	r.x.buffers = new(shelf[float32])
	return r
}

// MatMul is the function MatMul.
func (r *Room) MatMul(c, a, b Matrix, accumulate bool) { r.x.matMul(c, a, b, accumulate) }
