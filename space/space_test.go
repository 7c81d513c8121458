package space_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pawl/space"
)

func TestFCN(t *testing.T) {
	s, ok := space.Lookup("fcn")
	if !ok {
		t.Fatal("none")
	}
	fmt.Println(s.Size())
	rng := rand.New(rand.NewPCG(1, 2))
	var n [4]int
	for range 10000 {
		p, err := s.Draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := p.Int("layers")
		n[l]++
	}
	p, _ := s.Draw(rng)
	fmt.Println(n, p, p.Key(), s.Mutate(rng, p))
	all, _ := s.All()
	k := 0
	for range all {
		k++
	}
	fmt.Println(k)
	_, err := space.Decode("x.yaml", []byte("version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2, 2], when: {a: 1}}\n"))
	fmt.Println(err)
	_, err = space.Decode("x.yaml", []byte("version: 1\ndimensions:\n  a: {values: [1, 2], when: {b: 1}}\n  b: {values: [1, 2], when: {a: 1}}\n"))
	fmt.Println(err)
}

func BenchmarkDraw(b *testing.B) {
	s, _ := space.Lookup("fcn")
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		s.Draw(rng)
	}
}
