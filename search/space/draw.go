package space

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// pcg is a fixed stream for checks at load time.
func pcg(seed uint64) Source { return rand.NewPCG(seed, 0x9E3779B97F4A7C15) }

// Draw returns a point uniform over the canonical points. Errors wrap ErrUnbound or,
// where DrawTries draws in a row violated constraints that were too many to list,
// ErrTries.
func (s *Space) Draw(src Source) (Point, error) {
	if err := s.ready(); err != nil {
		return Point{}, err
	}
	genes := s.blank()
	for _, c := range s.components {
		if err := s.drawComponent(c, src, genes); err != nil {
			return Point{}, err
		}
	}
	return Point{s.frame, genes}, nil
}

func (s *Space) drawComponent(c *component, src Source, genes []uint64) error {
	for range DrawTries {
		c.draw(src, genes)
		if c.listed || c.free() || c.satisfied(s, genes) {
			return nil
		}
	}
	return fmt.Errorf("search space %s: %w: %d draws", s.Name(), ErrTries, DrawTries)
}

// changeTries is how often a change is tried anew when it violates a constraint.
const changeTries = 100

// Mutate draws the value of one active dimension that has a choice anew, each
// dimension with the same chance, over all its values (so that it may stay what it was), as the program behind Alg. 2
// does. Of a subset it draws the membership of one name. Dimensions that become active
// are drawn, those that no longer are vanish. A result that violates a constraint is
// discarded and all is drawn again, 100 times at most; then p comes back.
func (s *Space) Mutate(src Source, p Point) Point {
	s.own(p)
	var active []int
	for _, i := range s.frame.order {
		if p.genes[i] != inactive && s.frame.dims[i].count != 1 {
			active = append(active, i)
		}
	}
	if len(active) == 0 {
		return p // nothing but constants
	}
	for range changeTries {
		genes := slices.Clone(p.genes)
		i := active[below(src, uint64(len(active)))]
		d := s.frame.dims[i]
		if d.kind == Set {
			bit := uint64(1) << below(src, uint64(len(d.names)))
			if genes[i] &^= bit; src.Uint64()>>63 == 1 {
				genes[i] |= bit
			}
		} else {
			genes[i] = d.random(src)
		}
		if s.repair(src, genes) {
			return Point{s.frame, genes}
		}
	}
	return p
}

// repair makes genes canonical: it drops what is no longer active, draws what has
// become active, and says whether sizes and constraints are kept.
func (s *Space) repair(src Source, genes []uint64) bool {
	for _, i := range s.frame.order {
		d := s.frame.dims[i]
		switch active := d.active(genes); {
		case !active:
			genes[i] = inactive
		case genes[i] == inactive:
			genes[i] = d.random(src)
		}
		if d.kind == Set && genes[i] != inactive {
			if n := subsetSize(genes[i]); n < d.least || n > d.most {
				return false
			}
		}
	}
	for _, c := range s.components {
		if !c.free() && !c.satisfied(s, genes) {
			return false
		}
	}
	return true
}

// Crossover returns two children. For each dimension the first takes the value of
// either parent with chance ½ and the second that of the other, for a subset name by
// name. Where a child lacks a value that its conditions ask for, it takes that of the
// other parent, or draws one if neither has it; what is not active is dropped.
// Children that violate a constraint are discarded and crossed again, 100 times at
// most; then the parent itself takes the child's place.
func (s *Space) Crossover(src Source, a, b Point) (Point, Point) {
	s.own(a)
	s.own(b)
	first, second := a, b
	haveFirst, haveSecond := false, false
	for tries := 0; tries < changeTries && !(haveFirst && haveSecond); tries++ {
		x, y := slices.Clone(a.genes), slices.Clone(b.genes)
		for i, d := range s.frame.dims {
			switch {
			case d.kind == Set && x[i] != inactive && y[i] != inactive:
				swap := (x[i] ^ y[i]) & src.Uint64()
				x[i], y[i] = x[i]^swap, y[i]^swap
			case src.Uint64()>>63 == 1:
				x[i], y[i] = y[i], x[i]
			}
			// The other parent's value waits where one has none; repair drops it again
			// if it is not active.
			if x[i] == inactive {
				x[i] = y[i]
			} else if y[i] == inactive {
				y[i] = x[i]
			}
		}
		if s.repair(src, x) && !haveFirst {
			first, haveFirst = Point{s.frame, x}, true
		}
		if s.repair(src, y) && !haveSecond {
			second, haveSecond = Point{s.frame, y}, true
		}
	}
	return first, second
}

// MutationShare is the share of mutations in a generation of multi-generation random
// search; the others are fresh (Bao, Bauer and Bindschaedler, Sec. IX-A).
const MutationShare = 0.7

// MutateOrDraw returns, with chance share, a mutation of p, and else a fresh draw:
// how multi-generation random search makes each candidate of a generation,
// independently of the others, from the winner of the last.
func (s *Space) MutateOrDraw(src Source, p Point, share float64) (Point, error) {
	if unit(src) < share {
		return s.Mutate(src, p), nil
	}
	return s.Draw(src)
}

// own panics for a point of another space: genes are positions in this one's lists.
func (s *Space) own(p Point) {
	if p.frame != s.frame {
		name := "none"
		if p.frame != nil {
			name = p.frame.name
		}
		panic(fmt.Sprintf("space: a point of %s given to %s", name, s.Name()))
	}
}
