package encode

import (
	"fmt"
	"math"
	"sort"

	"pawl/data/schema"
)

// Baggable reports whether a column may be a member of a bag: whether something is
// there or how often it occurs, where 0 is the usual value and says nothing. These
// are two-valued columns and heavy-tailed whole numbers from 0 on.
func Baggable(c *schema.Column) bool {
	return c.Type == schema.Boolean || c.Type == schema.Integer && c.HeavyTailed && c.Lower == 0
}

// bag adds the block of the columns that can be in it and returns the others.
func (e *Encoding) bag(s *schema.Schema, columns []choice) (others []choice) {
	b := Block{Name: "(bag)", Kind: Sparse, column: -1, second: -1}
	for _, choice := range columns {
		c := choice.column
		if choice.kept != nil || !Baggable(&s.Columns[c]) {
			others = append(others, choice)
			continue
		}
		b.members, b.names = append(b.members, c), append(b.names, s.Columns[c].Name)
	}
	if b.Dim = len(b.members); b.Dim > 0 {
		e.add(b)
	}
	return others
}

func wideBlock(c *schema.Column, index int) (Block, error) {
	b := Block{Name: c.Name, column: index, second: -1, Kind: Sparse, Dim: c.Buckets}
	if c.Type == schema.Vector {
		b.Kind, b.Dim = Vector, c.Dimension
	}
	if b.Dim < 1 {
		return b, fmt.Errorf("column %q: the number of buckets is not chosen", c.Name)
	}
	return b, nil
}

// Entries calls entry for the coordinates of a sparse block that are not 0, in
// ascending order. Their squares add up to 1, or to 0 where there are none: the norm
// is taken here, from the numbers themselves, so that no row can be longer.
func (b *Block) Entries(cells []float64, entry func(j int, x float64)) {
	if b.members != nil {
		n := 0
		for _, c := range b.members {
			if cells[c] > 0 {
				n++
			}
		}
		x := 1 / math.Sqrt(float64(n))
		for j, c := range b.members {
			if cells[c] > 0 {
				entry(j, x)
			}
		}
		return
	}
	pairs := b.pairs(cells)
	square := 0.0
	for k := 1; k < len(pairs); k += 2 {
		square += pairs[k] * pairs[k]
	}
	norm := math.Sqrt(square)
	for k := 1; k < len(pairs); k += 2 {
		entry(int(pairs[k-1]), pairs[k]/norm)
	}
}

// pairs are the buckets and sums of a text; schema.Column.Wide says where they stand.
func (b *Block) pairs(cells []float64) []float64 {
	p := cells[b.column]
	if p != p {
		return nil
	}
	at := int(p)
	return cells[at+1:][:2*int(cells[at])]
}

// Numbers fills dst (Dim) with a vector divided by its norm: direction is what
// extractors agree on, and a row of bounded norm is what the guarantee needs. An
// unknown vector and one of zeros give zeros.
func (b *Block) Numbers(dst, cells []float64) {
	p := cells[b.column]
	if p != p {
		clear(dst)
		return
	}
	copy(dst, cells[int(p):][:b.Dim])
	most := 0.0
	for _, v := range dst {
		most = max(most, math.Abs(v))
	}
	if !(most > 0) || math.IsInf(most, 0) {
		clear(dst)
		return
	}
	square := 0.0
	for j := range dst { // dividing first keeps squares from leaving the range
		dst[j] /= most
		square += dst[j] * dst[j]
	}
	norm := math.Sqrt(square)
	for j := range dst {
		dst[j] /= norm
	}
}

// BlockOf returns the block of a coordinate.
func (e *Encoding) BlockOf(coordinate int) *Block {
	i := sort.Search(len(e.Blocks), func(i int) bool { return e.Blocks[i].Offset > coordinate })
	return &e.Blocks[i-1]
}
