// Package intake seals parsed rows together with the keyed hash of the unit to which each belongs.
// Rows enter core only through it, and what it returns is opaque.
package intake

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"pawl/core/identity"
	"pawl/core/internal/sealed"
	"pawl/data/packed"
	"pawl/data/schema"
)

// Rows is an opaque handle to sealed rows.
type Rows = sealed.Rows

// Key is the right to seal the rows of a data set, from its ledger (ledger.Ledger.Key).
type Key = sealed.Key

// SimulationKey returns a key for rows that are public or made up: they open without a permit, or
// under a permit of any ledger. Sensitive rows sealed with it never open.
func SimulationKey(dataset string, seed uint64) *Key { return sealed.NewSimulationKey(dataset, seed) }

// Builder collects the rows of one data set.
type Builder struct {
	key    *Key
	schema *schema.Schema
	levels []int // by column; 0 where it has none
	units  units
	cells  *packed.Table
	row    []float64 // the row under way
	wide   bool
	inputs sealed.Inputs
	texts  texts
	prints []*identity.Print
	// rehearsal hashes records and keeps no cell.
	rehearsal bool
}

// NewBuilder starts a table of the data set to which key belongs.
func NewBuilder(key *Key, s *schema.Schema) *Builder {
	b := &Builder{key: key, schema: s, units: newUnits(key, s), levels: make([]int, len(s.Columns)), wide: s.Wide()}
	for i := range s.Columns {
		b.levels[i] = len(s.Columns[i].Levels())
	}
	if b.cells = packed.NewWide(len(s.Columns)); !b.wide {
		b.cells = packed.New(len(s.Columns), packed.NewStore(packed.Limit()))
	}
	return b
}

// NewRehearsal starts a table of which Seal keeps no row, only the units of its rows: enough to ask
// the ledger for its decision. Nothing can open it.
func NewRehearsal(key *Key, s *schema.Schema) *Builder {
	b := NewBuilder(key, s)
	b.rehearsal, b.units.rehearsal = true, true
	return b
}

// expected is how many rows to make room for, by what the schema declares: growing step
// by step copies a large table several times. Room that is not used costs nothing, as long
// as it is not beyond measure.
func expected(s *schema.Schema) int {
	const most = 1 << 27 // cells, 1 GiB
	if s.Rows.N < 1 || s.Rows.N > int64(most/max(len(s.Columns), 1)) {
		return 0
	}
	return int(s.Rows.N + s.Rows.N/16)
}

// Add appends one row: its cells in schema order (schema.Parse), the data of texts and vectors
// behind them (schema.Column.Wide), and the record as found, which identifies its unit.
func (b *Builder) Add(cells []float64, found schema.Record) error {
	if b.wide {
		if err := b.schema.CheckWide(cells); err != nil {
			return fmt.Errorf("intake: %w", err)
		}
	} else if len(cells) != len(b.schema.Columns) {
		return fmt.Errorf("intake: %d cells for %d columns", len(cells), len(b.schema.Columns))
	}
	if found.Cells == nil && found.Raw == nil {
		found.Raw = bare(cells)
	}
	if b.rehearsal {
		b.units.add(&found)
		return nil
	}
	b.row = append(b.row[:0], cells...)
	if err := b.declared(b.row); err != nil {
		return err
	}
	if err := b.cells.Append(b.row); err != nil {
		return err
	}
	b.texts.add(found)
	b.units.add(&found)
	return nil
}

// Part returns an empty table of the same data set for consecutive rows; goroutines may fill parts
// concurrently.
func (b *Builder) Part() *Builder {
	p := &Builder{key: b.key, schema: b.schema, levels: b.levels, wide: b.wide, rehearsal: b.rehearsal, units: newUnits(b.key, b.schema), cells: b.cells.Part()}
	p.units.rehearsal = b.rehearsal
	p.KeepTexts(b.texts.columns)
	return p
}

// Join appends the rows of a part as if b had taken them, and ends the part. Parts have no dense inputs. An
// error is one of a temporary file (packed.Store).
func (b *Builder) Join(p *Builder) error {
	if p.inputs.Dim > 0 {
		panic("intake: a part has dense inputs")
	}
	b.texts.join(&p.texts)
	b.units.join(&p.units)
	return b.cells.Join(p.cells)
}

// Len returns the number of rows so far, which is private.
func (b *Builder) Len() int { return b.units.len() }

// bare stands for a row that was not found in a file.
func bare(cells []float64) []byte {
	raw := make([]byte, 0, 8*len(cells))
	for _, c := range cells {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(c))
	}
	return raw
}

// AddBytes appends one row with a dense input of bytes, read as v/255. Rows are units. found.Raw is
// the input as found; nil stands for the input itself.
func (b *Builder) AddBytes(cells []float64, input []uint8, found schema.Record) error {
	if found.Cells == nil && found.Raw == nil {
		found.Raw = append(bare(cells), input...)
	}
	if err := b.addInput(cells, len(input), found); err != nil {
		return err
	}
	b.inputs.Bytes = append(b.inputs.Bytes, input...)
	return nil
}

// AddFloats is AddBytes for a dense input of finite floats.
func (b *Builder) AddFloats(cells []float64, input []float32, found schema.Record) error {
	if slices.ContainsFunc(input, func(v float32) bool { return v-v != 0 }) {
		return fmt.Errorf("intake: an input is not a finite number")
	}
	if found.Cells == nil && found.Raw == nil {
		found.Raw = bare(cells)
		for _, v := range input {
			found.Raw = binary.LittleEndian.AppendUint32(found.Raw, math.Float32bits(v))
		}
	}
	if err := b.addInput(cells, len(input), found); err != nil {
		return err
	}
	b.inputs.Floats = append(room(b, b.inputs.Floats), input...)
	return nil
}

// AddShorts is AddFloats for numbers from −1 to 1, which are stored in two bytes each, as the
// nearest multiple of 1/32767; numbers outside the range are clamped.
func (b *Builder) AddShorts(cells []float64, input []float32, found schema.Record) error {
	if found.Cells == nil && found.Raw == nil {
		return fmt.Errorf("intake: a rounded input without the record it comes from")
	}
	if slices.ContainsFunc(input, func(v float32) bool { return v-v != 0 }) {
		return fmt.Errorf("intake: an input is not a finite number")
	}
	if err := b.addInput(cells, len(input), found); err != nil {
		return err
	}
	b.inputs.Shorts = room(b, b.inputs.Shorts)
	for _, v := range input {
		b.inputs.Shorts = append(b.inputs.Shorts, int16(math.RoundToEven(float64(min(max(v, -1), 1))*math.MaxInt16)))
	}
	return nil
}

// room makes room for the inputs of as many rows as the schema declares, so that they are
// not copied while they grow.
func room[T float32 | int16](b *Builder, inputs []T) []T {
	const most = 1 << 29
	if rows := expected(b.schema); inputs == nil && rows < most/b.inputs.Dim {
		inputs = make([]T, 0, rows*b.inputs.Dim)
	}
	return inputs
}

func (b *Builder) addInput(cells []float64, dim int, found schema.Record) error {
	switch {
	case b.wide:
		return fmt.Errorf("intake: dense inputs beside texts or vectors")
	case b.schema.Unit.Column != "":
		return fmt.Errorf("intake: dense inputs have no unit column: every row is a unit")
	case dim == 0 || b.inputs.Dim != 0 && b.inputs.Dim != dim:
		return fmt.Errorf("intake: an input of %d numbers among inputs of %d", dim, b.inputs.Dim)
	case b.inputs.Dim == 0 && b.units.len() > 0:
		return fmt.Errorf("intake: rows with and without a dense input")
	}
	b.inputs.Dim = dim
	return b.Add(cells, found)
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

// Print attaches prints of the data to the rows, made under the ledger's PrintKey while they were
// read: of the table, and of vectors behind its keys. With them the ledger recognises a copy before
// the rows are opened; without any it compares only the file's bytes.
func (b *Builder) Print(prints ...*identity.Print) { b.prints = append(b.prints, prints...) }

// Seal enforces the contribution bound and closes the table. Of a unit with more than the declared
// number of rows, those with the lowest keyed hash remain: a rule that depends on that unit only,
// so one unit's rows never decide about another's.
func (b *Builder) Seal() *Rows {
	t := sealed.Table{Inputs: b.inputs, Rule: b.units.rule(), Writings: b.units.writings, Prints: b.prints, Rehearsal: b.rehearsal}
	if b.rehearsal {
		return sealed.Seal(b.key, b.schema, t)
	}
	var keep []bool
	t.Hash, t.Unit, keep = b.units.assign()
	t.Texts = b.texts.kept(keep)
	b.cells.Close()
	b.cells.Only(keep)
	t.Cells = b.cells
	rows := sealed.Seal(b.key, b.schema, t)
	*b = Builder{}
	return rows
}
