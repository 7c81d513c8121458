package space

import (
	"math/big"
	"slices"
	"sort"
)

// ListLimit is the largest number of points of a component with constraints that is
// listed; NetListLimit that where constraints ask the network, which takes
// microseconds a point.
const (
	ListLimit    = 1 << 16
	NetListLimit = 1 << 15
)

// maxStructures bounds the ways in which conditions of one component may turn out.
const maxStructures = 1 << 16

// component is a set of dimensions that conditions and constraints tie together.
type component struct {
	frame  *frame
	dims   []int // in the frame's order
	checks []*check
	valid  []func(Point) (float64, error)
	// structures in the order of enumeration; upTo[i] counts the points of those up
	// to i.
	structures [][]int16 // class of each dimension, −1 where inactive
	upTo       []*big.Int
	small      []uint64 // upTo where all fit a word, else nil
	continuous bool
	// accepted lists the ranks that satisfy the constraints, where they were listed.
	accepted []uint32
	listed   bool
}

// build counts the structures; false where they are too many.
func (c *component) build() bool {
	local := make([]int16, len(c.frame.dims))
	var walk func(k int) bool
	walk = func(k int) bool {
		if k == len(c.dims) {
			if len(c.structures) == maxStructures {
				return false
			}
			s := make([]int16, len(c.dims))
			for j, i := range c.dims {
				s[j] = local[i]
			}
			c.structures = append(c.structures, s)
			return true
		}
		d := c.frame.dims[c.dims[k]]
		for _, t := range d.when {
			if at := local[t.on]; at < 0 || !t.classes[at] {
				local[c.dims[k]] = -1
				return walk(k + 1)
			}
		}
		for class := range max(1, len(d.members)) {
			local[c.dims[k]] = int16(class)
			if !walk(k + 1) {
				return false
			}
		}
		return true
	}
	if !walk(0) {
		return false
	}
	sum := new(big.Int)
	for _, s := range c.structures {
		points := big.NewInt(1)
		for j, class := range s {
			if class < 0 {
				continue
			}
			d := c.frame.dims[c.dims[j]]
			c.continuous = c.continuous || d.continuous()
			points.Mul(points, new(big.Int).SetUint64(d.choices(class)))
		}
		sum.Add(sum, points)
		c.upTo = append(c.upTo, new(big.Int).Set(sum))
	}
	if sum.IsUint64() {
		for _, n := range c.upTo {
			c.small = append(c.small, n.Uint64())
		}
	}
	return true
}

// choices is the number of genes of a class; a continuous range counts as one.
func (d *dim) choices(class int16) uint64 {
	switch {
	case d.members != nil:
		return uint64(len(d.members[class]))
	case d.continuous():
		return 1
	}
	return d.count
}

// pick is the gene of rank r in a class.
func (d *dim) pick(class int16, r uint64) uint64 {
	if d.members != nil {
		return d.members[class][r]
	}
	return d.at(r)
}

// raw is the number of points before constraints.
func (c *component) raw() *big.Int { return c.upTo[len(c.upTo)-1] }

// free says whether every point satisfies the constraints.
func (c *component) free() bool { return len(c.checks) == 0 && len(c.valid) == 0 }

// points is the number of points, exact or before constraints.
func (c *component) points() (n *big.Int, exact bool) {
	if c.listed {
		return big.NewInt(int64(len(c.accepted))), true
	}
	return c.raw(), c.free()
}

// set writes the genes of rank r before constraints; continuous ones are drawn where
// src is given, and else left at the lower end.
func (c *component) set(r *big.Int, genes []uint64, src Source) {
	if c.small != nil {
		c.setSmall(r.Uint64(), genes, src)
		return
	}
	at := sort.Search(len(c.upTo), func(i int) bool { return r.Cmp(c.upTo[i]) < 0 })
	rest := new(big.Int).Set(r)
	if at > 0 {
		rest.Sub(rest, c.upTo[at-1])
	}
	digit := new(big.Int)
	for j, class := range slices.Backward(c.structures[at]) {
		c.gene(j, class, genes, src, func(n uint64) uint64 {
			rest.DivMod(rest, new(big.Int).SetUint64(n), digit)
			return digit.Uint64()
		})
	}
}

func (c *component) setSmall(r uint64, genes []uint64, src Source) {
	at := sort.Search(len(c.small), func(i int) bool { return r < c.small[i] })
	if at > 0 {
		r -= c.small[at-1]
	}
	for j, class := range slices.Backward(c.structures[at]) {
		c.gene(j, class, genes, src, func(n uint64) uint64 {
			digit := r % n
			r /= n
			return digit
		})
	}
}

// gene sets dimension j of the component from the next digit of a rank.
func (c *component) gene(j int, class int16, genes []uint64, src Source, digit func(n uint64) uint64) {
	i := c.dims[j]
	d := c.frame.dims[i]
	switch {
	case class < 0:
		genes[i] = inactive
	case !d.continuous():
		genes[i] = d.pick(class, digit(d.choices(class)))
	case src != nil:
		genes[i] = d.random(src)
	default:
		genes[i], _ = d.gene(NumberValue(d.low))
	}
}

// draw writes a uniform choice, before constraints unless they were listed.
func (c *component) draw(src Source, genes []uint64) {
	switch {
	case c.listed:
		c.setSmall(uint64(c.accepted[below(src, uint64(len(c.accepted)))]), genes, src)
	case c.small != nil:
		c.setSmall(below(src, c.small[len(c.small)-1]), genes, src)
	default:
		c.set(belowBig(src, c.raw()), genes, src)
	}
}

// limit is the largest component that list goes through.
func (c *component) limit() uint64 {
	if len(c.valid) > 0 {
		return NetListLimit
	}
	return ListLimit
}

// list goes through all points once and keeps those that satisfy the constraints.
func (c *component) list(s *Space) {
	if c.free() || c.continuous || c.small == nil || c.small[len(c.small)-1] > c.limit() {
		return
	}
	genes := s.blank()
	for r := range c.small[len(c.small)-1] {
		c.setSmall(r, genes, nil)
		if c.satisfied(s, genes) {
			c.accepted = append(c.accepted, uint32(r))
		}
	}
	c.listed = true
}
