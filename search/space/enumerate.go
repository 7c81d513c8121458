package space

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
)

// All goes through every point of a finite space, in an order that depends on the
// definition only: that of nested loops over the dimensions as they are declared,
// the last one fastest, where no conditions or constraints tie them. It fails for
// continuous ranges (see Discretize) and unbound quantities.
func (s *Space) All() (iter.Seq[Point], error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	for _, c := range s.components {
		if c.continuous {
			i := c.dims[slices.IndexFunc(c.dims, func(i int) bool { return s.frame.dims[i].continuous() })]
			return nil, fmt.Errorf("search space %s cannot be listed: %s is continuous; give it a number of steps", s.Name(), s.frame.dims[i].name)
		}
	}
	return func(yield func(Point) bool) { s.walk(0, s.blank(), yield) }, nil
}

// walk goes through the components from k on.
func (s *Space) walk(k int, genes []uint64, yield func(Point) bool) bool {
	if k == len(s.components) {
		return yield(Point{s.frame, slices.Clone(genes)})
	}
	c := s.components[k]
	if c.listed {
		for _, r := range c.accepted {
			c.setSmall(uint64(r), genes, nil)
			if !s.walk(k+1, genes, yield) {
				return false
			}
		}
		return true
	}
	one := big.NewInt(1)
	for r := new(big.Int); r.Cmp(c.raw()) < 0; r.Add(r, one) {
		c.set(r, genes, nil)
		if !c.free() && !c.satisfied(s, genes) {
			continue
		}
		if !s.walk(k+1, genes, yield) {
			return false
		}
	}
	return true
}

// Discretize returns the space with every continuous range replaced by a number of
// evenly spaced values on its scale, both ends included: a grid.
func (s *Space) Discretize(steps int) (*Space, error) {
	d := s.Definition()
	for i := range d.Dimensions {
		if r := d.Dimensions[i].Range; r != nil && !r.Integer && r.Steps == 0 {
			grid := *r
			grid.Steps = steps
			d.Dimensions[i].Range = &grid
		}
	}
	return New(d)
}
