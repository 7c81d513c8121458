package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pawl/compute/onnx"
	"pawl/data/encode"
	"pawl/data/schema"
)

// table writes what comes before the scores of a table: cells and their levels.
type table struct {
	*graph
	schema *schema.Schema
	// cells are the values of columns that have become inputs, and levels those of
	// blocks: bins depend on the block, so that a column may have two.
	cells, levels map[string]string
}

// number is the cell of a numeric column, float [N, 1] within its bounds; NaN is unknown.
func (t *table) number(c *schema.Column) string {
	if v, ok := t.cells[c.Name]; ok {
		return v
	}
	t.Scope = ""
	meaning := fmt.Sprintf("%g to %g, clipped to that", c.Lower, c.Upper)
	if c.Missing == schema.MissingValue {
		meaning += fmt.Sprintf("; NaN becomes %g", c.MissingNumber)
	} else {
		meaning += "; NaN is unknown"
	}
	if d := c.Date; d != nil {
		meaning = d.Meaning() + ", " + meaning
	}
	v := t.Input(onnx.NewPort(c.Name, onnx.Floats, meaning, 0, 1))
	t.Scope = c.Name
	if c.Missing == schema.MissingValue {
		v = t.Op("Where", t.Op("IsNaN", v), t.Float(float32(c.MissingNumber)), v)
	}
	t.cells[c.Name] = v
	return v
}

// code is the level of a categorical or boolean column, int64 [N, 1]; the number of
// levels stands for unknown.
func (t *table) code(c *schema.Column) string {
	if v, ok := t.cells[c.Name]; ok {
		return v
	}
	t.Scope = ""
	meaning, others := "true or false, yes or no, 1 or 0", "unknown"
	if c.Values != nil {
		meaning = strings.Join(c.Values, " or ")
	}
	if c.Type == schema.Categorical {
		if meaning = "one of " + strings.Join(c.Categories, ", "); c.Other != "" {
			others = strconv.Quote(c.Other)
		}
	}
	meaning += "; anything else counts as " + others
	in := t.Input(onnx.NewPort(c.Name, onnx.Texts, meaning, 0, 1))
	t.Scope = c.Name
	keys, values, other := spellings(t.schema, c)
	v := t.Fresh("LabelEncoder")
	t.Node("LabelEncoder", onnx.MLDomain, []string{v}, []string{in}, onnx.Attributes{"keys_strings", keys, "values_int64s", values, "default_int64", other})
	t.cells[c.Name] = v
	return v
}

// spellings lists the cells that have a code, and the code of all others, as
// schema.Parse has it.
func spellings(s *schema.Schema, c *schema.Column) (keys []string, codes []int64, other int64) {
	levels := c.Levels()
	unknown := int64(len(levels))
	seen := map[string]bool{}
	add := func(key string, code int64) {
		if !seen[key] {
			seen[key] = true
			keys, codes = append(keys, key), append(codes, code)
		}
	}
	code := func(level string) int64 {
		for i, l := range levels {
			if l == level {
				return int64(i)
			}
		}
		return unknown
	}
	// A declared category or value may look like a missing cell, and then is none.
	for _, k := range slices.Concat(c.Categories, c.Values) {
		add(k, code(k))
	}
	for _, na := range s.NA {
		missing := unknown
		if c.Missing == schema.MissingValue {
			missing = code(c.MissingCategory)
		}
		add(na, missing)
	}
	if c.Type == schema.Boolean {
		if c.Values != nil {
			return keys, codes, unknown
		}
		for i, words := range [][]string{{"false", "no", "0", "f", "n"}, {"true", "yes", "1", "t", "y"}} {
			for _, w := range words {
				for _, spelling := range cases(w) {
					add(spelling, int64(i))
				}
			}
		}
		return keys, codes, unknown
	}
	other = unknown
	if c.Other != "" {
		other = code(c.Other)
	}
	return keys, codes, other
}

// cases are the spellings of a word in small and capital letters.
func cases(word string) []string {
	all := []string{""}
	for _, r := range word {
		var next []string
		for _, a := range all {
			lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r))
			if next = append(next, a+lower); upper != lower {
				next = append(next, a+upper)
			}
		}
		all = next
	}
	return all
}

// level is the level of a block of one column, int64 [N, 1]; block.Levels is unknown.
func (t *table) level(b *encode.Block) string {
	c := &t.schema.Columns[t.schema.Column(b.Name)]
	if len(c.Levels()) > 0 {
		return t.code(c)
	}
	key := fmt.Sprintf("%d %s", b.Levels, b.Name)
	if v, ok := t.levels[key]; ok {
		return v
	}
	cell := t.number(c)
	t.Scope = c.Name
	edges := edges(t.schema, b)
	above := t.Op("GreaterOrEqual", cell, t.Tensor("edges", edges, len(edges)))
	bin := t.Add("ReduceSum", onnx.Attributes{"keepdims", int64(1)}, t.To(onnx.Int64s, above), t.Ints(1))
	v := t.Op("Where", t.Op("IsNaN", cell), t.Whole(int64(b.Levels)), bin)
	t.levels[key] = v
	return v
}

// edges are the values at which the level of a thermometer goes up, found by bisection
// on the level itself so that bins of logarithms and of whole numbers are those of the
// encoding. They are floats: of the two around an edge the one that has the decimal cells
// which round to it on the side where the encoding, in doubles, has them.
func edges(s *schema.Schema, b *encode.Block) []float32 {
	column := s.Column(b.Name)
	c := &s.Columns[column]
	cells := make([]float64, len(s.Columns))
	level := func(v float64) int {
		cells[column] = v
		return b.Level(cells)
	}
	all := make([]float32, 0, b.Levels-1)
	for j := 1; j < b.Levels; j++ {
		below, above := c.Lower, c.Upper // level(below) < j <= level(above)
		if level(above) < j {
			all = append(all, float32(math.Inf(1)))
			continue
		}
		for {
			middle := below + (above-below)/2
			if middle <= below || middle >= above {
				break
			}
			if level(middle) >= j {
				above = middle
			} else {
				below = middle
			}
		}
		edge := float32(above)
		if decimal, err := strconv.ParseFloat(strconv.FormatFloat(float64(edge), 'g', -1, 32), 64); err == nil && level(decimal) < j {
			edge = math.Nextafter32(edge, float32(math.Inf(1)))
		}
		all = append(all, edge)
	}
	return all
}
