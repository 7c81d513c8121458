package attack

import (
	"math/rand/v2"
	"testing"
)

// An attack model on 4,000 posteriors of ten classes.
func BenchmarkTrainSVM(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p, member := together(overfit(rng, 2000, 10, true), overfit(rng, 2000, 10, false))
	rows, err := p.Features(Vector)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := TrainSVM(rows, member, SVMOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
