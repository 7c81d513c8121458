// Package intake is the only way in: it seals parsed rows together with the
// keyed hash of the unit each belongs to. What it hands out is opaque.
package intake

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"pawl/core/internal/sealed"
	"pawl/schema"
)

// Rows is an opaque handle on sealed rows.
type Rows = sealed.Rows

// Builder collects the rows of one data set.
type Builder struct {
	dataset string
	schema  *schema.Schema
	levels  []int // by column; 0 where it has none
	key     [32]byte
	cells   []float64
	ends    []int // of each row in cells, where rows are wide
	wide    bool
	units   []uint64
	ranks   []uint64 // order of a unit's rows under the contribution bound
	inputs  sealed.Inputs
}

// NewBuilder starts a table. key is the data set's own hash key, kept in its
// ledger and never changed, so that a unit stays in its scope for good.
func NewBuilder(dataset string, s *schema.Schema, key [32]byte) *Builder {
	b := &Builder{dataset: dataset, schema: s, key: key, levels: make([]int, len(s.Columns)), wide: s.Wide()}
	for i := range s.Columns {
		b.levels[i] = len(s.Columns[i].Levels())
	}
	return b
}

// Add appends one row: its cells in schema order (schema.Parse), what texts and
// vectors have behind them (schema.Column.Wide), and the identifier of its unit,
// which for row units is the row itself.
func (b *Builder) Add(cells []float64, unit string) error {
	if b.wide {
		if err := b.schema.CheckWide(cells); err != nil {
			return fmt.Errorf("intake: %w", err)
		}
	} else if len(cells) != len(b.schema.Columns) {
		return fmt.Errorf("intake: %d cells for %d columns", len(cells), len(b.schema.Columns))
	}
	cells = slices.Clone(cells)
	if err := b.declared(cells); err != nil {
		return err
	}
	b.cells = append(b.cells, cells...)
	if b.wide {
		b.ends = append(b.ends, len(b.cells))
	}
	b.units = append(b.units, b.hash("unit", []byte(unit)))
	if b.schema.Unit.MaxRows > 1 || b.schema.Unit.Column != "" {
		var row bytes.Buffer
		for _, c := range cells {
			_ = binary.Write(&row, binary.LittleEndian, math.Float64bits(c))
		}
		b.ranks = append(b.ranks, b.hash("row", row.Bytes()))
	}
	return nil
}

// AddBytes appends one row with a dense input of bytes, read as v/255. Rows are
// units: the identifier is the row itself.
func (b *Builder) AddBytes(cells []float64, input []uint8) error {
	if err := b.addInput(cells, len(input), input); err != nil {
		return err
	}
	b.inputs.Bytes = append(b.inputs.Bytes, input...)
	return nil
}

// AddFloats is AddBytes for a dense input of finite floats.
func (b *Builder) AddFloats(cells []float64, input []float32) error {
	raw := make([]byte, 4*len(input))
	for i, v := range input {
		if v-v != 0 {
			return fmt.Errorf("intake: an input is not a finite number")
		}
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v))
	}
	if err := b.addInput(cells, len(input), raw); err != nil {
		return err
	}
	b.inputs.Floats = append(b.inputs.Floats, input...)
	return nil
}

func (b *Builder) addInput(cells []float64, dim int, raw []byte) error {
	switch {
	case b.wide:
		return fmt.Errorf("intake: dense inputs beside texts or vectors")
	case b.schema.Unit.Column != "":
		return fmt.Errorf("intake: dense inputs have no unit column: every row is a unit")
	case dim == 0 || b.inputs.Dim != 0 && b.inputs.Dim != dim:
		return fmt.Errorf("intake: an input of %d numbers among inputs of %d", dim, b.inputs.Dim)
	case b.inputs.Dim == 0 && len(b.units) > 0:
		return fmt.Errorf("intake: rows with and without a dense input")
	}
	id := make([]byte, 0, len(raw)+8*len(cells))
	for _, c := range cells {
		id = binary.LittleEndian.AppendUint64(id, math.Float64bits(c))
	}
	b.inputs.Dim = dim
	return b.Add(cells, string(append(id, raw...)))
}

// declared holds cells to the schema: sensitivities rest on bounds and levels, so
// they must not depend on who parsed the row. Numbers are clipped, as
// schema.Parse does; a level that does not exist is a fault of the caller's.
func (b *Builder) declared(cells []float64) error {
	for i, v := range cells[:len(b.levels)] {
		switch c := &b.schema.Columns[i]; c.Type {
		case schema.Numeric, schema.Integer:
			cells[i] = min(max(v, c.Lower), c.Upper)
		case schema.Boolean, schema.Categorical:
			if v == v && !(v >= 0 && v < float64(b.levels[i]) && v == math.Trunc(v)) {
				return fmt.Errorf("intake: column %q: not the index of a level", c.Name)
			}
		}
	}
	return nil
}

func (b *Builder) hash(label string, data []byte) uint64 {
	h := hmac.New(sha256.New, b.key[:])
	h.Write([]byte(label))
	h.Write([]byte{0})
	h.Write(data)
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// PublicRows returns the number of rows when the schema makes it public.
func (b *Builder) PublicRows() (int64, bool) {
	switch b.schema.Rows.Kind {
	case schema.RowsPublic:
		return int64(len(b.units)), true
	}
	return 0, false
}

// Empty reports whether no row was added. An empty file is a fault of the
// operator's, found before anything is reserved.
func (b *Builder) Empty() bool { return len(b.units) == 0 }

// Seal enforces the contribution bound and closes the table. Units with more than
// the declared number of rows keep those of lowest keyed hash: a rule that looks
// at that unit only, so one unit's rows never decide about another's.
func (b *Builder) Seal() *Rows {
	if b.schema.Unit.Column != "" {
		b.bound(b.schema.Unit.MaxRows)
	}
	var rows *Rows
	if b.wide {
		rows = sealed.NewWide(b.dataset, b.schema, b.cells, b.ends, b.units)
	} else {
		rows = sealed.NewWithInputs(b.dataset, b.schema, b.cells, b.units, b.inputs)
	}
	*b = Builder{}
	return rows
}

func (b *Builder) bound(limit int) {
	order := make([]int, len(b.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(b.units[i], b.units[j]), cmp.Compare(b.ranks[i], b.ranks[j]))
	})
	keep := make([]bool, len(b.units))
	run := 0
	for k, i := range order {
		if k > 0 && b.units[i] == b.units[order[k-1]] {
			run++
		} else {
			run = 0
		}
		keep[i] = run < limit
	}
	width, n, size := len(b.schema.Columns), 0, 0
	from, to := 0, 0
	for i, ok := range keep {
		from, to = to, (i+1)*width
		if b.wide {
			to = b.ends[i]
		}
		if !ok {
			continue
		}
		size += copy(b.cells[size:], b.cells[from:to])
		if b.wide {
			b.ends[n] = size
		}
		b.units[n] = b.units[i]
		n++
	}
	b.cells, b.units = b.cells[:size], b.units[:n]
	if b.wide {
		b.ends = b.ends[:n]
	}
}
