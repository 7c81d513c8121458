package evolve

import "math/rand/v2"

// breed returns the next population; ranked holds the last one, best first.
func breed[G any](rng *rand.Rand, p Problem[G], o Options, ranked []Individual[G]) []Individual[G] {
	if o.Scheme == Tournament {
		return tournament(rng, p, o, ranked)
	}
	parents := survivors(rng, o, ranked)
	next := make([]Individual[G], 0, len(ranked)+1)
	if o.KeepParents {
		next = append(next, parents...)
	}
	for len(next) < len(ranked) {
		a, b := pair(rng, parents)
		if o.Scheme == CopyOrVary {
			next = append(next, copyOrVary(rng, p, o, a, b))
			continue
		}
		first, second := p.Crossover(rng, a.Genome, b.Genome)
		for _, child := range []G{first, second} {
			if rng.Float64() < o.Mutation {
				child = p.Mutate(rng, child)
			}
			next = append(next, Individual[G]{Genome: child})
		}
	}
	return next[:len(ranked)] // the last pair may have made one child too many
}

// survivors are the top share and the lucky ones of the others.
func survivors[G any](rng *rand.Rand, o Options, ranked []Individual[G]) []Individual[G] {
	n := o.retained()
	parents := append([]Individual[G](nil), ranked[:n]...)
	for _, x := range ranked[n:] {
		if rng.Float64() < o.RandomSurvivors {
			parents = append(parents, x)
		}
	}
	return parents
}

// pair draws two members at different positions, in random order.
func pair[G any](rng *rand.Rand, from []Individual[G]) (a, b Individual[G]) {
	i, j := rng.IntN(len(from)), rng.IntN(len(from)-1)
	if j >= i {
		j++
	}
	return from[i], from[j]
}

func copyOrVary[G any](rng *rand.Rand, p Problem[G], o Options, a, b Individual[G]) Individual[G] {
	switch u := rng.Float64(); {
	case u < o.Crossover:
		child, _ := p.Crossover(rng, a.Genome, b.Genome)
		return Individual[G]{Genome: child}
	case u < o.Crossover+o.Mutation:
		return Individual[G]{Genome: p.Mutate(rng, a.Genome)}
	}
	return a
}

func tournament[G any](rng *rand.Rand, p Problem[G], o Options, ranked []Individual[G]) []Individual[G] {
	next := make([]Individual[G], len(ranked))
	for i := range next {
		best := rng.IntN(len(ranked))
		for range o.TournamentSize - 1 {
			best = min(best, rng.IntN(len(ranked))) // ranked: the lower position is the better one
		}
		next[i] = ranked[best]
	}
	for i := 1; i < len(next); i += 2 {
		if rng.Float64() < o.Crossover {
			first, second := p.Crossover(rng, next[i-1].Genome, next[i].Genome)
			next[i-1], next[i] = Individual[G]{Genome: first}, Individual[G]{Genome: second}
		}
	}
	for i := range next {
		if rng.Float64() < o.Mutation {
			next[i] = Individual[G]{Genome: p.Mutate(rng, next[i].Genome)}
		}
	}
	return next
}
