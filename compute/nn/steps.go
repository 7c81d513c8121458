package nn

import "slices"

// maxLength bounds sequences.
const maxLength = 1 << 20

// Tokens is the shape of a sequence of at most length tokens: its length, then the
// numbers of its tokens. PutTokens writes such an input.
func Tokens(length int) Shape { return Vector(1 + length) }

// PutTokens writes the input of a sequence to dst, as long as Tokens(length).Size().
// Tokens beyond length are left out, places beyond the end are 0. Numbers of tokens
// are exact below 2²⁴.
func PutTokens(dst []float32, tokens []int) {
	clear(dst)
	tokens = tokens[:min(len(tokens), len(dst)-1)]
	dst[0] = float32(len(tokens))
	for i, t := range tokens {
		dst[1+i] = float32(t)
	}
}

// steps says which time steps the sequences of a microbatch have. A sequence between
// layers is the rows of its steps, one sequence after another, without the steps
// beyond an end: what comes after the end of a text cannot change anything.
type steps struct {
	// starts has n+1 numbers: sequence e has the rows starts[e] to starts[e+1]−1.
	starts []int32
	// order lists the sequences from the longest to the shortest; active[t] of them
	// have a step t.
	order, active []int32
	count         []int32
}

// set takes the lengths of n sequences, in lengths[e] for e < n, none above most.
func (p *steps) set(lengths []int32, most int) {
	n := len(lengths)
	starts, order := grow(&p.starts, n+1), grow(&p.order, n)
	active, count := grow(&p.active, most), grow(&p.count, most+1)
	clear(count)
	starts[0] = 0
	for e, l := range lengths {
		starts[e+1] = starts[e] + l
		count[l]++
	}
	// The sequences of length l come behind those that are longer: count[l] becomes
	// the number of the latter, which is also how many have a step l.
	longer := int32(0)
	for l := most; l >= 0; l-- {
		longer, count[l] = longer+count[l], longer
		if l < most {
			active[l] = count[l]
		}
	}
	for e, l := range lengths {
		order[count[l]] = int32(e)
		count[l]++
	}
}

// rows is the number of all steps.
func (p *steps) rows() int { return int(p.starts[len(p.starts)-1]) }

// last is the number of steps of the longest sequence.
func (p *steps) last() int {
	if i := slices.Index(p.active, 0); i >= 0 {
		return i
	}
	return len(p.active)
}

// span is the range of numbers that example e has in x, with d numbers in each step.
func (p *steps) span(e, d int) (lo, hi int) {
	return int(p.starts[e]) * d, int(p.starts[e+1]) * d
}
