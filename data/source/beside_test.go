package source_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/images"
	"pawl/data/source"
	"pawl/store/memory"
)

// Images on which a network is trained without noise may not hold the public test images that then score it, whatever
// their type of number. A few that occur in both by nature do not matter.
func TestPublicImagesBesideTestImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	set := func(n int) *images.Set {
		s := &images.Set{Shape: [3]int{4, 4, 1}, Bytes: make([]byte, 16*n), Labels: make([]int32, n), Classes: []string{"a", "b"}}
		for i := range s.Bytes {
			s.Bytes[i] = byte(rng.Uint32())
		}
		return s
	}
	with := func(s, more *images.Set, n int) *images.Set {
		s.Bytes, s.Labels = append(s.Bytes, more.Bytes[:16*n]...), append(s.Labels, more.Labels[:n]...)
		return s
	}
	test := set(300)
	floats := func(s *images.Set) *images.Set {
		f := &images.Set{Shape: s.Shape, Labels: s.Labels, Classes: s.Classes}
		for _, b := range s.Bytes {
			f.Floats = append(f.Floats, float32(b)/255)
		}
		return f
	}
	for _, c := range []struct {
		name   string
		public *images.Set
		want   string
	}{
		{"others", set(200), ""},
		{"two of 300", with(set(200), test, 2), ""},
		{"three of 300", with(set(200), test, 3), "holds public test images of digits"},
		{"three of 300 in other numbers", floats(with(set(200), test, 3)), "holds public test images of digits"},
	} {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
		p := &source.Images{Name: "digits", Public: true, Train: set(100), Test: test}
		err := p.PublicBeside(context.Background(), l, "--public FILE", &source.Images{Name: "o", Public: true, Train: c.public}, true)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
