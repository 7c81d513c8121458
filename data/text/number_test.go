package text

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The numbers are part of every model that was trained on them: do NOT edit these.
func TestNumbersNeverChange(t *testing.T) {
	h := Hasher{Buckets: 4096}
	if got := h.Numbers(nil, "Free £123 don't FREE", 10); !slices.Equal(got, []int{367, 1429, 3670, 2495, 367}) {
		t.Errorf("got %v", got)
	}
}

func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 5).Draw(t, "most")
		h := Hasher{Buckets: rapid.SampledFrom([]int{1, 7, 1000}).Draw(t, "buckets")}
		got := h.Numbers([]int{-1}, s, most)
		if got[0] != -1 || len(got)-1 != min(most, len(tokens(s))) {
			t.Fatalf("%d numbers of %d tokens, at most %d", len(got)-1, len(tokens(s)), most)
		}
		if !slices.Equal(h.Numbers(nil, s, 1<<20)[:len(got)-1], got[1:]) {
			t.Fatal("numbers depend on the limit")
		}
		for _, n := range got[1:] {
			if n < 0 || n >= h.Buckets {
				t.Fatalf("number %d of %d", n, h.Buckets)
			}
		}
	})
}
