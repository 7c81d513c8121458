package design

import "pawl/data/encode"

// slot is a run of table blocks of which a row has at most one: one look-up serves
// them all. Their levels lie side by side in the table of all levels.
type slot struct{ first, levels int }

// merge joins neighbouring blocks of a single level that no row has two of, such as
// the indicators of one attribute's categories. Other blocks are slots of their own.
// What it joins depends on the rows, and only speed and rounding depend on that; a
// declared schema has no blocks of a single level.
func (m *Matrix) merge() {
	single := make([]int, len(m.tables)) // position among single-level blocks, −1 for others
	singles := 0
	for t, bi := range m.tables {
		single[t] = -1
		if b := &m.enc.Blocks[bi]; b.Kind == encode.OneHot && b.Levels == 1 {
			single[t] = singles
			singles++
		}
	}
	together := m.together(single, singles)
	at := make([]int, len(m.tables)) // slot of every block
	first := 0                       // position among singles of the run's first member
	for t, bi := range m.tables {
		joins := t > 0 && single[t] >= 0 && single[t-1] >= 0
		for other := first; joins && other < single[t]; other++ {
			joins = !together[other*singles+single[t]]
		}
		if joins {
			m.slots[len(m.slots)-1].levels++
		} else {
			m.slots = append(m.slots, slot{m.offset[t], m.enc.Blocks[bi].Levels})
			first = max(single[t], 0)
		}
		at[t] = len(m.slots) - 1
	}
	if len(m.slots) == len(m.tables) {
		return
	}
	level := make([]uint16, m.n*len(m.slots))
	for i := range level {
		level[i] = none
	}
	for i := range m.n {
		for t, l := range m.level[i*len(m.tables):][:len(m.tables)] {
			if l != none {
				level[i*len(m.slots)+at[t]] = l
			}
		}
	}
	m.level = level
}

// together marks the pairs of single-level blocks, in order, that some row has both of.
func (m *Matrix) together(single []int, singles int) []bool {
	pairs := make([]bool, singles*singles)
	if singles < 2 {
		return pairs
	}
	known := make([]int, 0, singles)
	for i := range m.n {
		known = known[:0]
		for t, l := range m.level[i*len(m.tables):][:len(m.tables)] {
			if l != none && single[t] >= 0 {
				known = append(known, single[t])
			}
		}
		for k, b := range known {
			for _, a := range known[:k] {
				pairs[a*singles+b] = true
			}
		}
	}
	return pairs
}
