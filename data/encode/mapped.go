package encode

import (
	"fmt"
	"math"
)

// Map is a block whose levels have vectors that the caller chose, from public facts and
// from what was released.
type Map struct {
	Name string
	// Level is a row's level, from the values of the sources; a row whose level has no vector is all zeros there.
	Level func(sources []int) int
	// Vectors has one vector for each level, all of one length.
	Vectors [][]float64
}

// OfMaps builds the encoding of maps behind an intercept of a weight. Each source is a function of a row that maps
// share: it is computed once for a row. Scale is one over the
// root of weight² and, of each map, the largest squared norm of a vector: so ‖x‖₂ <= 1 for
// every row that can exist, whatever the vectors are. Its Options say nothing.
//
// Errors: a map without vectors, vectors of different lengths, a number that is not finite.
func OfMaps(weight float64, sources []func(cells []float64) int, maps []Map) (*Encoding, error) {
	e := &Encoding{sources: sources}
	e.add(Block{Name: "(intercept)", Kind: Intercept, Dim: 1, Levels: 1, column: -1, second: -1, weight: weight})
	square := weight * weight
	for _, m := range maps {
		b := Block{Name: m.Name, Kind: Mapped, Levels: len(m.Vectors), column: -1, second: -1, level: m.Level, of: e}
		if b.Levels > 0 {
			b.Dim = len(m.Vectors[0])
		}
		most := 0.0
		for _, v := range m.Vectors {
			norm := 0.0
			for _, x := range v {
				norm += x * x
			}
			if len(v) != b.Dim {
				return nil, fmt.Errorf("encoding %q: vectors of %d and of %d numbers", m.Name, b.Dim, len(v))
			}
			b.vectors, b.norms = append(b.vectors, v...), append(b.norms, norm)
			most = max(most, norm) // NaN stays
		}
		if b.Dim == 0 || m.Level == nil {
			return nil, fmt.Errorf("encoding %q: a map needs levels and vectors", m.Name)
		}
		e.add(b)
		square += most
	}
	if e.Scale = 1 / math.Sqrt(square); !(e.Scale > 0) || math.IsInf(e.Scale, 0) {
		return nil, fmt.Errorf("an encoding of maps needs finite numbers that are not all 0")
	}
	return e, nil
}

// Sources appends the values of the sources for a row: what LevelOf takes.
func (e *Encoding) Sources(to []int, cells []float64) []int {
	for _, source := range e.sources {
		to = append(to, source(cells))
	}
	return to
}

// LevelOf is Level, for a row whose Sources are known.
func (b *Block) LevelOf(cells []float64, sources []int) int {
	if b.Kind == Mapped {
		return b.level(sources)
	}
	return b.Level(cells)
}

func (b *Block) mappedForward(table, w []float64, outputs int) {
	for l := range b.Levels {
		v := b.vectors[l*b.Dim:][:b.Dim]
		for k := range outputs {
			sum := 0.0
			for j, x := range v {
				sum += x * w[j*outputs+k]
			}
			table[l*outputs+k] = sum
		}
	}
}

func (b *Block) mappedBackward(g, hist []float64, outputs int) {
	for l := range b.Levels {
		v := b.vectors[l*b.Dim:][:b.Dim]
		for k, h := range hist[l*outputs:][:outputs] {
			if h == 0 {
				continue
			}
			for j, x := range v {
				g[j*outputs+k] += h * x
			}
		}
	}
}
