package identity

import (
	"errors"
	"fmt"
	"testing"
)

func writings(key byte, n int, write func(i int) string) *Writings {
	w := NewWritings([32]byte{key})
	for i := range n {
		w.Add(write(i))
	}
	return w
}

// Tables agree as long as nobody whom both hold is written in another way, and one
// identifier in a hundred that is shows.
func TestWritings(t *testing.T) {
	plain := func(i int) string { return fmt.Sprint(i) }
	for _, n := range []int{5, 900, 20_000} {
		known := writings(1, n, plain)
		stored, err := UnmarshalWritings(known.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			found *Writings
			agree bool
		}{
			"the same":           {writings(1, n, plain), true},
			"in another order":   {writings(1, n, func(i int) string { return fmt.Sprint(n - 1 - i) }), true},
			"several rows":       {writings(1, 3*n, func(i int) string { return fmt.Sprint(i % n) }), true},
			"half of them":       {writings(1, (n+1)/2, plain), true},
			"others besides":     {writings(1, 2*n, plain), true},
			"others":             {writings(1, n, func(i int) string { return fmt.Sprint(i + n) }), true},
			"with a point":       {writings(1, n, func(i int) string { return fmt.Sprintf("%d.0", i) }), false},
			"with leading zeros": {writings(1, n, func(i int) string { return fmt.Sprintf("%07d", i) }), false},
			"both ways":          {writings(1, 2*n, func(i int) string { return fmt.Sprintf([]string{"%d", "%d.0"}[i%2], i/2) }), false},
			"one in a hundred": {writings(1, n, func(i int) string {
				if i%100 == 3 {
					return fmt.Sprintf("%d.0", i)
				}
				return fmt.Sprint(i)
			}), false},
		} {
			if got := stored.Agree(tt.found); got != tt.agree || tt.found.Agree(stored) != got {
				t.Errorf("%d identifiers, %s: agree %v, want %v", n, name, got, tt.agree)
			}
		}
		if known.Identity() != writings(1, 3*n, func(i int) string { return fmt.Sprint(i % n) }).Identity() {
			t.Errorf("%d identifiers: more rows make another name", n)
		}
		for _, b := range [][]byte{nil, known.Marshal()[:9], known.Marshal()[:15], append([]byte{version, byte(Table)}, known.Marshal()[2:]...)} {
			if _, err := UnmarshalWritings(b); !errors.Is(err, ErrFormat) {
				t.Errorf("%d damaged bytes are read: %v", len(b), err)
			}
		}
	}
}
