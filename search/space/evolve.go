package space

import (
	"context"
	"math/rand/v2"

	"pawl/search/evolve"
)

// Evolve runs the genetic engine over this space. The caller fills in Fitness or
// FitnessBatch and, where equal points may share one score, Key with Point.Key;
// Random, Crossover and Mutate are set here. A next generation that depends on the
// scores of losers composes: no selection theorem covers it.
func (s *Space) Evolve(ctx context.Context, p evolve.Problem[Point], o evolve.Options) (result *evolve.Result[Point], err error) {
	type failure struct{ error }
	// The engine's Random cannot fail, and runs in this goroutine.
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			result, err = nil, r.error
		default:
			panic(r)
		}
	}()
	p.Random = func(rng *rand.Rand) Point {
		x, err := s.Draw(rng)
		if err != nil {
			panic(failure{err})
		}
		return x
	}
	p.Crossover = func(rng *rand.Rand, a, b Point) (Point, Point) { return s.Crossover(rng, a, b) }
	p.Mutate = func(rng *rand.Rand, x Point) Point { return s.Mutate(rng, x) }
	return evolve.Run(ctx, p, o)
}
