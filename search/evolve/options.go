package evolve

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrOptions is wrapped by every complaint about options.
var ErrOptions = errors.New("evolve: bad option")

// OptionError names the option and what is wrong with it.
type OptionError struct{ Field, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("%v: %s: %s", ErrOptions, e.Field, e.Reason) }

func (e *OptionError) Unwrap() error { return ErrOptions }

// Scheme is a way of breeding the next population.
type Scheme string

const (
	// RetainTop keeps the top Retain share and each other member with chance
	// RandomSurvivors as parents. A random pair of parents makes two children by
	// crossover until the population is full; each child is mutated with chance Mutation.
	RetainTop Scheme = "retain"
	// CopyOrVary takes the same parents. Until the population is full it draws a random
	// pair of them and adds one genome: with chance Crossover their child, with chance
	// Mutation a mutation of the first, else the first itself.
	CopyOrVary Scheme = "copy-or-vary"
	// Tournament draws a full population of winners, each the best of TournamentSize
	// random members. Consecutive winners mate with chance Crossover and each result
	// mutates with chance Mutation. Nothing else survives.
	Tournament Scheme = "tournament"
)

// Options are the constants of a search.
type Options struct {
	Scheme     Scheme
	Population int // k
	// Generations counts scored populations, the first included. Alg. 1 with l
	// generations scores l. Alg. 4 and library loops breed l times; its last population
	// is unscored as printed, and it has to be scored to take its best, which makes l+1.
	Generations int
	// Retain is the share alpha of the population, rounded down, that becomes parents.
	Retain float64
	// RandomSurvivors is the chance of each other member to become a parent: the
	// expected share beta. (A fixed share of the rest, rounded, would be none at all in
	// the published setting of 10% of 6.)
	RandomSurvivors float64
	// Crossover and Mutation are chances; RetainTop always crosses. For CopyOrVary their
	// sum is at most 1.
	Crossover, Mutation float64
	// KeepParents lets parents stay in the next population. As printed Alg. 2 and Alg. 4
	// replace them; the program that Alg. 2 was inspired by keeps them.
	KeepParents bool
	// TournamentSize is 3 in the usual library loop.
	TournamentSize int
	// Rescore scores members that were carried over unchanged once more in every
	// generation, as Alg. 1 has it ("train each"). Otherwise they keep their score.
	Rescore bool
	// Workers bounds concurrent calls of Fitness; 0 means the number of processors.
	// It does not change the result.
	Workers int
	Seed    uint64
}

// Retaining returns the settings of Alg. 1 and 2 for l populations of k, with the
// constants of the program that they were inspired by: 40% retained, 10% of the others
// at random, 20% mutations, parents stay.
func Retaining(k, l int) Options {
	return Options{Scheme: RetainTop, Population: k, Generations: l, Retain: 0.4, RandomSurvivors: 0.1, Mutation: 0.2, KeepParents: true}
}

// CopyingOrVarying returns the settings of Alg. 4 for l rounds of breeding of k
// subsets. The constants are not stated; ours are alpha 0.5, crossover 0.5, mutation 0.2.
func CopyingOrVarying(k, l int) Options {
	return Options{Scheme: CopyOrVary, Population: k, Generations: l + 1, Retain: 0.5, Crossover: 0.5, Mutation: 0.2}
}

// Tournaments returns the settings of the usual library loop for l rounds of breeding
// of k members: tournaments of 3, crossover 0.5, mutation 0.2.
func Tournaments(k, l int) Options {
	return Options{Scheme: Tournament, Population: k, Generations: l + 1, Crossover: 0.5, Mutation: 0.2, TournamentSize: 3}
}

// Check returns an *OptionError for options that describe no search.
func (o Options) Check() error {
	for _, c := range []struct {
		field string
		value float64
	}{{"Retain", o.Retain}, {"RandomSurvivors", o.RandomSurvivors}, {"Crossover", o.Crossover}, {"Mutation", o.Mutation}} {
		if !(c.value >= 0 && c.value <= 1) {
			return &OptionError{c.field, fmt.Sprintf("%v is not within [0, 1]", c.value)}
		}
	}
	switch {
	case o.Population < 2:
		return &OptionError{"Population", fmt.Sprintf("%d; crossover needs at least 2 members", o.Population)}
	case o.Generations < 1:
		return &OptionError{"Generations", fmt.Sprintf("%d; at least the first population is scored", o.Generations)}
	case o.Workers < 0:
		return &OptionError{"Workers", fmt.Sprintf("%d is negative", o.Workers)}
	}
	switch o.Scheme {
	case RetainTop, CopyOrVary:
		if o.retained() < 2 {
			return &OptionError{"Retain", fmt.Sprintf("%v of %d members leaves %d parents; a pair is needed", o.Retain, o.Population, o.retained())}
		}
		if o.Scheme == CopyOrVary && o.Crossover+o.Mutation > 1 {
			return &OptionError{"Crossover", fmt.Sprintf("Crossover + Mutation = %v exceeds 1", o.Crossover+o.Mutation)}
		}
	case Tournament:
		if o.TournamentSize < 1 {
			return &OptionError{"TournamentSize", fmt.Sprintf("%d; 3 is usual", o.TournamentSize)}
		}
		if o.KeepParents {
			return &OptionError{"KeepParents", "tournaments replace the whole population"}
		}
	default:
		return &OptionError{"Scheme", fmt.Sprintf("%q is none of %q, %q, %q", o.Scheme, RetainTop, CopyOrVary, Tournament)}
	}
	return nil
}

// retained is ⌊alpha·k⌋. The margin keeps 0.29·100 = 28.999… at 29.
func (o Options) retained() int { return int(o.Retain*float64(o.Population) + 1e-9) }

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
