package selectionstudy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/data/schema"
	"pawl/evidence/lab"
)

const class = "class"

func flag(name string) schema.Column { return schema.Column{Name: name, Type: schema.Boolean} }

func unit(name string) schema.Column {
	return schema.Column{Name: name, Type: schema.Numeric, Lower: 0, Upper: 1}
}

// generated is a table of so many rows, whose cells and target draw makes one after the other.
func generated(name string, columns []schema.Column, target schema.Column, rows int, draw func(cells []float64) []float64) *lab.Table {
	t := &lab.Table{Name: fmt.Sprintf("%s-%d", name, len(columns)), Target: target.Name}
	for range rows {
		t.Rows = append(t.Rows, draw(make([]float64, 0, len(columns)+1)))
	}
	t.Schema = &schema.Schema{Version: schema.Version, Dataset: t.Name, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: append(columns, target)}
	return t
}

// named are columns called by a letter and their number.
func named(of func(name string) schema.Column, letter string, n int) (list []schema.Column) {
	for j := range n {
		list = append(list, of(fmt.Sprint(letter, j)))
	}
	return list
}

// sparse are flags of which few matter: each is on with chance ½ ± effect/2 by class, the
// others with chance ½. Classes are equally likely.
func sparse(columns, relevant int, effect float64, rows int, seed uint64) *lab.Table {
	rng := rand.New(rand.NewPCG(seed, 11))
	return generated("sparse", named(flag, "x", columns), flag(class), rows, func(cells []float64) []float64 {
		y := float64(rng.IntN(2))
		for j := range columns {
			p := .5
			if j < relevant {
				p += effect * (y - .5)
			}
			cells = append(cells, indicator(rng.Float64() < p))
		}
		return append(cells, y)
	})
}

// dense is made after Gisette: half of the columns are noisy copies of a few hidden
// factors that all speak of the class, half are probes without meaning.
func dense(columns, rows int, seed uint64) *lab.Table {
	const factors = 20
	rng := rand.New(rand.NewPCG(seed, 12))
	return generated("dense", named(unit, "x", columns), flag(class), rows, func(cells []float64) []float64 {
		y := float64(rng.IntN(2))
		var hidden [factors]float64
		for k := range hidden {
			hidden[k] = rng.NormFloat64() + .5*(2*y-1)
		}
		for j := range columns {
			v := rng.NormFloat64()
			if j < columns/2 {
				v = (v + hidden[j%factors]) / math.Sqrt2
			}
			cells = append(cells, min(max(.5+v/8, 0), 1))
		}
		return append(cells, y)
	})
}

// products is a regression on a few products of a number and a flag, among many
// columns without meaning.
func products(numbers, flags, rows int, seed uint64) *lab.Table {
	rng := rand.New(rand.NewPCG(seed, 13))
	columns, y := append(named(unit, "x", numbers), named(flag, "b", flags)...), schema.Column{Name: "y", Type: schema.Numeric, Lower: -1, Upper: 1}
	return generated("products", columns, y, rows, func(cells []float64) []float64 {
		for range numbers {
			cells = append(cells, rng.Float64())
		}
		for range flags {
			cells = append(cells, float64(rng.IntN(2)))
		}
		x, b := cells[:numbers], cells[numbers:]
		// Each flag turns the slope of its number round.
		y := .6*(2*x[0]-1)*(2*b[0]-1) + .3*(2*x[1]-1)*(2*b[1]-1) + .05*rng.NormFloat64()
		return append(cells, min(max(y, -1), 1))
	})
}

// padded adds columns of noise to a table.
func padded(t *lab.Table, noise int, seed uint64) *lab.Table {
	out := &lab.Table{Name: t.Name + "-padded", Target: t.Target}
	s := *t.Schema
	s.Dataset = out.Name
	s.Columns = append([]schema.Column(nil), s.Columns...)
	for j := range noise {
		s.Columns = append(s.Columns, unit(fmt.Sprintf("noise_%d", j)))
	}
	out.Schema = &s
	rng := rand.New(rand.NewPCG(seed, 14))
	for _, row := range t.Rows {
		cells := append([]float64(nil), row...)
		for range noise {
			cells = append(cells, rng.Float64())
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
