package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/core/dp"
)

// Kind names a strategy.
type Kind string

// The strategies, in the order in which a price list shows them.
const (
	// None trains one candidate that public facts chose.
	None Kind = "none"
	// Public searches on other data, which are public, and trains its winner.
	Public Kind = "public"
	// STW searches without noise and without paying, and trains the winner once: the
	// drop-in workflow, for comparison on public data. What it claims is no guarantee.
	STW Kind = "stw"
	// Split chooses by a selection on some units and trains the winner on the others.
	Split Kind = "split"
	// Subset chooses by a selection on some units and trains the winner on all.
	Subset Kind = "subset"
	// PS is a selection with a truncated negative binomial number of runs.
	PS Kind = "ps"
	// PSPoisson is a selection with a Poisson number of runs.
	PSPoisson Kind = "ps-poisson"
	// RS is the papers' random search of a stated mean number of runs, run as PS.
	RS Kind = "rs"
	// MGRS is random search in generations around the winner of the one before.
	MGRS Kind = "mgrs"
	// LT is random stopping with a hard limit.
	LT Kind = "lt"
	// Grid trains every candidate.
	Grid Kind = "grid"
	// PAAS is the papers' genetic search with private trainings inside.
	PAAS Kind = "paas"
	// TuneBound is a genetic search over a learning rate and the bound of an activation.
	TuneBound Kind = "tunebound"
)

// Kinds returns every strategy.
func Kinds() []Kind {
	return []Kind{None, Public, STW, Split, Subset, PS, PSPoisson, RS, MGRS, LT, Grid, PAAS, TuneBound}
}

// Strategy is a kind with its numbers. New fills in those of the papers.
type Strategy struct {
	Kind Kind
	// Mean is the expected number of runs of a selection (ps, ps-poisson, rs, lt, split,
	// subset) or the number of public trials.
	Mean float64
	// Eta shapes the number of runs: 0 logarithmic, 1 geometric.
	Eta float64
	// Sizes are the expected runs of each generation of mgrs.
	Sizes []float64
	// Generations and Population of paas and tunebound.
	Generations, Population int
	// Retain is the share of a population that stays without another training; 0 trains
	// every member of every generation.
	Retain float64
	// Candidates is the number of points of a grid.
	Candidates int
	// Share of the units on which split and subset choose.
	Share float64
	// Validation is the share of the choosing units that scores candidates.
	Validation float64
}

// FreshShare is the chance of mgrs to draw a candidate anew rather than to change one
// gene of the last winner.
const FreshShare = 0.3

// mostMean bounds the mean of a secret number of runs: up to it the sampler follows its
// law within 1e-12 in total variation, far below any delta that makes sense.
const mostMean = 1000

// New returns a strategy with the numbers of the papers where they state them.
func New(kind Kind) (Strategy, error) {
	s := Strategy{Kind: kind, Validation: 0.1}
	switch kind {
	case None:
	case PS, PSPoisson:
		s.Mean = 20
	case Public, STW:
		s.Mean = 30
	case Split, Subset:
		s.Mean, s.Share, s.Validation = 20, 0.1, 0.3
	case RS:
		s.Mean = 400
	case LT:
		s.Mean = 20
	case MGRS:
		s.Sizes = []float64{40, 20, 10}
	case Grid:
		s.Candidates = 20
	case PAAS:
		s.Generations, s.Population, s.Retain = 6, 10, 0.4
	case TuneBound:
		s.Generations, s.Population, s.Retain = 10, 10, 0.4
	default:
		var names []string
		for _, k := range Kinds() {
			names = append(names, string(k))
		}
		return Strategy{}, fmt.Errorf("unknown strategy %q: choose one of %s", kind, strings.Join(names, ", "))
	}
	return s, nil
}

// Check returns what is wrong with the numbers.
func (s Strategy) Check() error {
	share := func(x float64) bool { return x > 0 && x < 1 }
	switch s.Kind {
	case None:
		return nil
	case PS, RS, Split, Subset, LT:
		if !(s.Mean > 1) || s.Mean > mostMean {
			return fmt.Errorf("strategy %s: the mean number of training runs must be above 1 and at most %d", s.Kind, mostMean)
		}
	case PSPoisson:
		if !(s.Mean > 0) || s.Mean > 500 {
			return fmt.Errorf("strategy %s: the mean number of training runs must be above 0 and at most 500", s.Kind)
		}
	case Public, STW:
		if !(s.Mean >= 1) || s.Mean > 1e5 {
			return fmt.Errorf("strategy %s: the number of trials must be at least 1 and at most 100,000", s.Kind)
		}
	case MGRS:
		if len(s.Sizes) == 0 || len(s.Sizes) > 100 {
			return fmt.Errorf("strategy mgrs: 1 to 100 generations")
		}
		if slices.ContainsFunc(s.Sizes, func(x float64) bool { return !(x > 1) || x > mostMean }) {
			return fmt.Errorf("strategy mgrs: the mean size of every generation must be above 1 and at most %d", mostMean)
		}
	case Grid:
		if s.Candidates < 1 || s.Candidates > 10_000 {
			return fmt.Errorf("strategy grid: 1 to 10,000 candidates")
		}
	case PAAS, TuneBound:
		if s.Generations < 1 || s.Population < 2 || s.Generations*s.Population > 10_000 {
			return fmt.Errorf("strategy %s: at least 1 generation of at least 2, together at most 10,000 training runs", s.Kind)
		}
		if !(s.Retain >= 0 && s.Retain < 1) {
			return fmt.Errorf("strategy %s: the retained share must be in [0, 1)", s.Kind)
		}
		if least := int(math.Ceil(2 / s.Parents())); s.Population < least {
			return fmt.Errorf("strategy %s: a population of %d leaves no pair of parents; at least %d", s.Kind, s.Population, least)
		}
	default:
		_, err := New(s.Kind)
		return err
	}
	if (s.Kind == PS || s.Kind == Split || s.Kind == Subset || s.Kind == RS) && !(s.Eta > -1 && s.Eta <= 10) {
		return fmt.Errorf("strategy %s: eta must be in (-1, 10]", s.Kind)
	}
	if (s.Kind == Split || s.Kind == Subset) && !share(s.Share) {
		return fmt.Errorf("strategy %s: the share of the units that choose must be in (0, 1)", s.Kind)
	}
	if !share(s.Validation) {
		return fmt.Errorf("strategy %s: the validation share must be in (0, 1)", s.Kind)
	}
	return nil
}

// Parents is the share of a population that breeds.
func (s Strategy) Parents() float64 {
	if s.Retain > 0 {
		return s.Retain
	}
	return 0.4 // they breed, and do not stay
}

// Once says that the strategy pays for one training only.
func (s Strategy) Once() bool { return s.Kind == None || s.Kind == Public || s.Kind == STW }

// Trainings is the expected number of trainings, and the most that are booked where
// each is booked by itself (0: the number is secret).
func (s Strategy) Trainings() (expected float64, most int) {
	switch s.Kind {
	case None:
		return 1, 1
	case Public, STW, Split, Subset:
		return s.Mean + 1, 0
	case PS, PSPoisson, RS:
		return s.Mean, 0
	case LT:
		// The stop comes after a geometric number of runs; the hard limit hardly matters.
		return s.Mean, 0
	case MGRS:
		for _, x := range s.Sizes {
			expected += x
		}
		return expected, 0
	case Grid:
		return float64(s.Candidates), s.Candidates
	}
	bred := s.Population - int(s.Retain*float64(s.Population))
	n := s.Population + (s.Generations-1)*bred
	return float64(n), n
}

// Scopes divides the units that a job may use for training.
type Scopes struct {
	// Train and Validate are what a candidate is trained and scored on. Final is what
	// the winner of split and subset is trained on.
	Train, Validate, Final dp.Scope
}

// Divide cuts within, the units that score nothing afterwards.
func (s Strategy) Divide(within dp.Scope) Scopes {
	at := func(share float64) float64 { return within.Lower + share*(within.Upper-within.Lower) }
	switch s.Kind {
	case None, Public, STW:
		return Scopes{Train: within, Final: within}
	case Split, Subset:
		cut, end := at(s.Share*(1-s.Validation)), at(s.Share)
		c := Scopes{Train: dp.Scope{Lower: within.Lower, Upper: cut}, Validate: dp.Scope{Lower: cut, Upper: end}, Final: within}
		if s.Kind == Split {
			c.Final.Lower = end
		}
		return c
	}
	cut := at(1 - s.Validation)
	return Scopes{Train: dp.Scope{Lower: within.Lower, Upper: cut}, Validate: dp.Scope{Lower: cut, Upper: within.Upper}}
}
