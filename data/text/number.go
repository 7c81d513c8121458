package text

import "fmt"

// Numbers appends to dst the bucket of every token of s in order, in [0, Buckets): a
// text as a sequence of numbers, by the same fixed hash as Vector and without its signs.
// Different tokens may share a number; no list of words is needed, so none tells about
// the texts. After most tokens it stops.
func (h Hasher) Numbers(dst []int, s string, most int) []int {
	if h.Buckets < 1 {
		panic(fmt.Sprintf("text: %d buckets", h.Buckets))
	}
	n := 0
	Tokens(s, func(t []byte) {
		if n < most {
			bucket, _ := place(t, h.Buckets)
			dst = append(dst, bucket)
		}
		n++
	})
	return dst
}
