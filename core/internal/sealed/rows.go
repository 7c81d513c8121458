// Package sealed holds sensitive rows in a type that only packages under core/ can open. Code
// elsewhere may pass *Rows on, but cannot read, print, count or marshal them.
//
// Rows are opened by functions of this package and not by methods: anybody who holds a value can
// call its methods, but only packages that may import an internal package can call its functions.
package sealed

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/identity"
	"pawl/data/packed"
	"pawl/data/schema"
)

const redacted = "sealed.Rows(redacted)"

// ErrWrongDataset is returned for a permit of another data set.
var ErrWrongDataset = errors.New("permit belongs to another data set")

// Rows is a sealed table: one row of float64 cells per record, in the order of
// the schema's columns (the value, the index of the level, NaN for unknown), and
// the keyed hash of each row's unit.
//
// A function holds the table, not a pointer: if a verb does not fit, fmt follows pointers inside a
// struct without calling the methods below.
type Rows struct {
	dataset string
	schema  *schema.Schema
	// Copies, because whoever holds the rows can write to the schema.
	public     bool
	maxRows    int
	assignment Assignment
	simulation bool // sealed under a key that anybody can know
	rehearsal  bool // the rows were not kept
	writings   func() *identity.Writings
	prints     func() []*identity.Print
	table      func() table
}

type table struct {
	cells  *packed.Table
	hash   []uint64 // per row, the hash of its unit
	unit   []int32  // per row, the number of its unit; nil where every row is one, or where hashes tell them apart
	inputs Inputs
	texts  Texts
}

// Texts are cells as they were found, of some columns of the file, for mechanisms that release
// which texts there are. Dictionary[c] has the texts of column c, each once; Of is row-major: row i
// has len(Dictionary) indices into them, or NoText for a cell without a text.
type Texts struct {
	Dictionary [][]string
	Of         []int32
}

// NoText stands for a null cell.
const NoText = -1

// Table is the input of Seal, made by intake: rows that conform to a schema, with their units.
type Table struct {
	// Cells are closed, with a row for each hash.
	Cells *packed.Table
	// Hash decides the scope of each row's unit. Unit numbers the units if a unit may own several
	// rows, since two units may share a hash.
	Hash   []uint64
	Unit   []int32
	Inputs Inputs
	Texts  Texts
	// Rule defines the units; see Assignment.
	Rule string
	// Writings are those of the units' identifiers, nil if rows are units.
	Writings *identity.Writings
	// Prints recognise the data that the rows come from.
	Prints []*identity.Print
	// Rehearsal reports that the rows were not kept.
	Rehearsal bool
}

// Seal closes a table that was hashed under key. It takes ownership of its arguments.
func Seal(key *Key, s *schema.Schema, t Table) *Rows {
	r := seal(key.dataset, s, table{cells: t.Cells, hash: t.Hash, inputs: t.Inputs})
	if t.Unit != nil && len(t.Unit) != len(t.Hash) {
		panic("sealed: not every row has a unit")
	}
	if len(t.Texts.Of) != len(t.Texts.Dictionary)*len(t.Hash) {
		panic("sealed: not every row has its texts")
	}
	sealed := r.table()
	sealed.unit, sealed.texts = t.Unit, t.Texts
	r.table = func() table { return sealed }
	r.assignment, r.simulation, r.rehearsal = Assignment{Key: key.id, Rule: t.Rule}, key.simulation, t.Rehearsal
	r.writings = func() *identity.Writings { return t.Writings }
	r.prints = func() []*identity.Print { return t.Prints }
	return r
}

// WritingsOf returns, for the ledger, how the rows write the identifiers of their units; nil if
// rows are units.
func WritingsOf(r *Rows) *identity.Writings {
	if r.writings == nil {
		return nil
	}
	return r.writings()
}

// PrintsOf returns the prints by which the ledger recognises the data of the rows.
func PrintsOf(r *Rows) []*identity.Print {
	if r == nil || r.prints == nil {
		return nil
	}
	return r.prints()
}

// Assignment returns how the rows' units were assigned to scopes.
func (r *Rows) Assignment() Assignment { return r.assignment }

var errRehearsal = errors.New("the rows were read for a rehearsal and not kept")

// ErrForeign is returned if rows were sealed under another key, or hold another version of the
// data, than those of the permit.
var ErrForeign = errors.New("permit was given for another assignment of units to scopes")

// Inputs are dense inputs beside the cells, such as the pixels of an image: one
// vector of Dim numbers per row, either bytes (read as v/255), floats, or shorts
// (read as v/32767). Dim 0 means that there are none.
type Inputs struct {
	Dim    int
	Bytes  []uint8
	Floats []float32
	Shorts []int16
}

// of tells the unit of a row from others.
func (t *table) of(row int) uint64 {
	if t.unit != nil {
		return uint64(t.unit[row])
	}
	return t.hash[row]
}

func (in Inputs) rows() int {
	return (len(in.Bytes) + len(in.Floats) + len(in.Shorts)) / max(in.Dim, 1)
}

// New seals a table. It takes ownership of its arguments.
func New(dataset string, s *schema.Schema, cells []float64, hash []uint64) *Rows {
	return NewWithInputs(dataset, s, cells, hash, Inputs{})
}

// NewWithInputs seals a table with dense inputs beside its cells.
func NewWithInputs(dataset string, s *schema.Schema, cells []float64, hash []uint64, in Inputs) *Rows {
	if len(cells) != len(hash)*len(s.Columns) {
		panic(fmt.Sprintf("sealed: cells do not fill rows of %d columns", len(s.Columns)))
	}
	return seal(dataset, s, table{cells: packed.Of(cells, len(s.Columns)), hash: hash, inputs: in})
}

func seal(dataset string, s *schema.Schema, t table) *Rows {
	in, hash := t.inputs, t.hash
	if t.cells != nil && t.cells.Len() != len(hash) {
		panic("sealed: not every row has a unit")
	}
	if in.Dim > 0 && (in.rows() != len(hash) || in.Bytes != nil && in.Floats != nil || in.Shorts != nil && (in.Bytes != nil || in.Floats != nil)) {
		panic(fmt.Sprintf("sealed: inputs of %d numbers do not fill the rows", in.Dim))
	}
	return &Rows{dataset: dataset, schema: s, public: s.Public, maxRows: s.Unit.MaxRows, table: func() table { return t }}
}

// Dataset returns the name whose budget pays for the rows.
func (r *Rows) Dataset() string { return r.dataset }

// Schema returns the public declaration of the rows.
func (r *Rows) Schema() *schema.Schema { return r.schema }

// InputDim returns the length of a row's dense input, 0 for none. It is public, like the schema.
func (r *Rows) InputDim() int { return r.table().inputs.Dim }

// ErrNullCounts is returned if a null row, which replaces the rows of a unit under dp.ZeroOut, may add to a release. One
// row would then be replaced by another, for which the noise for a removed row is too little.
var ErrNullCounts = errors.New("under zero_out a row whose cells are all unknown must add nothing, and this release may count it: use add_or_remove_one or replace_one")

// Open opens the rows of scope for a mechanism that runs event, and marks the event as used. The
// view holds the stream of that event. Under dp.ZeroOut it returns ErrNullCounts.
func Open(r *Rows, p *Permit, scope dp.Scope, event dp.Event) (*View, error) {
	return OpenUnless(r, p, scope, event, func([]float64) bool { return true })
}

// HasTarget returns the nullCounts of a release to which rows without a target add nothing.
func HasTarget(target func(cells []float64) float64) func(cells []float64) bool {
	return func(cells []float64) bool { y := target(cells); return y == y }
}

// OpenUnless is Open, also under dp.ZeroOut if a null row does not count: nullCounts gets the cells of a null row, all
// unknown, and the dense input of a null row is zeros.
func OpenUnless(r *Rows, p *Permit, scope dp.Scope, event dp.Event, nullCounts func(null []float64) bool) (*View, error) {
	if p == nil {
		return nil, ErrNotReserved
	}
	if p.dataset != r.dataset {
		return nil, ErrWrongDataset
	}
	if r.rehearsal {
		return nil, errRehearsal
	}
	if r.maxRows > p.maxRows {
		return nil, fmt.Errorf("permit is priced for %d rows per unit, the rows hold up to %d", p.maxRows, r.maxRows)
	}
	// On public data a simulation has a key of its own, so that it is the same anywhere.
	if r.assignment != p.assignment && !(r.public && r.simulation) {
		return nil, ErrForeign
	}
	if r.simulation && !r.public {
		return nil, fmt.Errorf("rows of a simulation, and the data set is not public: %w", ErrForeign)
	}
	if p.relation == dp.ZeroOut && nullCounts(slices.Repeat([]float64{math.NaN()}, len(r.schema.Columns))) {
		return nil, ErrNullCounts
	}
	noise, err := p.take(scope, event)
	if err != nil {
		return nil, err
	}
	v := r.view(scope)
	v.noise = noise
	return v, nil
}

// OpenPublic opens the rows of scope without a permit, but only if the schema under which they were
// sealed declares the data set public.
func OpenPublic(r *Rows, scope dp.Scope) (*View, error) {
	if r.rehearsal {
		return nil, errRehearsal
	}
	if !r.public {
		return nil, fmt.Errorf("data set is not public: %w", ErrNotReserved)
	}
	return r.view(scope), nil
}

func (r *Rows) view(scope dp.Scope) *View {
	t := r.table()
	// About as many as there will be: an append that grows holds the index twice.
	index := make([]int32, 0, 64+int(1.001*scope.Fraction()*float64(len(t.hash))))
	for i, h := range t.hash {
		if scope.Contains(h) {
			index = append(index, int32(i))
		}
	}
	v := &View{n: len(index), dim: t.inputs.Dim, rows: func() func(i int) []float64 {
		row := t.cells.Reader()
		return func(i int) []float64 { return row(int(index[i])) }
	}}
	v.input = func(i int, dst []float32) {
		at, dim := int(index[i]), t.inputs.Dim
		switch {
		case t.inputs.Floats != nil:
			copy(dst, t.inputs.Floats[at*dim:(at+1)*dim])
			return
		case t.inputs.Shorts != nil:
			for j, v := range t.inputs.Shorts[at*dim : (at+1)*dim] {
				dst[j] = float32(v) * (1.0 / math.MaxInt16)
			}
			return
		}
		for j, b := range t.inputs.Bytes[at*dim : (at+1)*dim] {
			dst[j] = float32(b) * (1.0 / 255)
		}
	}
	v.texts = func() ([][]string, func(i int) []int32) {
		width := len(t.texts.Dictionary)
		return t.texts.Dictionary, func(i int) []int32 { return t.texts.Of[int(index[i])*width:][:width] }
	}
	v.units = func() ([]int32, int) {
		if r.maxRows <= 1 {
			return nil, v.n
		}
		of, number := make([]int32, v.n), map[uint64]int32{}
		for i := range of {
			h := t.of(int(index[i]))
			if _, ok := number[h]; !ok {
				number[h] = int32(len(number))
			}
			of[i] = number[h]
		}
		return of, len(number)
	}
	v.seeds = func() []uint64 {
		seeds := make([]uint64, v.n)
		before := map[uint64]uint64{}
		for i := range seeds {
			seeds[i] = t.hash[index[i]]
			if r.maxRows > 1 {
				u := t.of(int(index[i]))
				// An odd factor, so that the rows of a unit stay apart.
				seeds[i] += before[u] * 0x9e3779b97f4a7c15
				before[u]++
			}
		}
		return seeds
	}
	return v
}

// View is an opened scope. It must stay inside the function of core that opened it.
type View struct {
	n   int
	dim int
	// Functions for the reason given at Rows.
	rows  func() func(i int) []float64
	input func(i int, dst []float32)
	texts func() ([][]string, func(i int) []int32)
	units func() ([]int32, int)
	seeds func() []uint64
	noise func() *entropy.Source // nil without a permit
}

// Noise returns the stream of the event for which the rows were opened. All noise of its release
// comes from this stream. It is nil for OpenPublic.
func (v *View) Noise() *entropy.Source {
	if v.noise == nil {
		return nil
	}
	return v.noise()
}

// Len returns the number of rows in the scope, which is private.
func (v *View) Len() int { return v.n }

// InputDim returns the length of a row's dense input, 0 for none.
func (v *View) InputDim() int { return v.dim }

// Input fills dst (InputDim) with the dense input of row i of the scope.
func (v *View) Input(i int, dst []float32) { v.input(i, dst) }

// Rows returns a function that returns the cells of row i of the scope, valid until its next call; each
// goroutine needs its own function. The caller must not change them.
func (v *View) Rows() func(i int) []float64 { return v.rows() }

// Row returns the cells of row i of the scope, for as long as they are needed.
func (v *View) Row(i int) []float64 { return v.rows()(i) }

// Texts returns the dictionaries of the columns whose texts were sealed, and the indices of row i
// of the scope into them. A dictionary may hold texts of rows that are in no scope.
func (v *View) Texts() (dictionary [][]string, of func(i int) []int32) { return v.texts() }

// Units numbers the units of the scope from 0 to n−1 and returns the number of each row's unit. If
// a unit owns one row, every row is a unit, even among equal rows: of is then nil and n the number
// of rows.
func (v *View) Units() (of []int32, n int) { return v.units() }

// Seeds returns a number for each row, for randomness that belongs to that row only, such as its
// dropout masks. The number depends on the row's unit and on how many rows of the same unit come
// before it. Unlike the row's position, it does not change if another unit is added or removed.
func (v *View) Seeds() []uint64 { return v.seeds() }

// The methods below keep rows out of logs, dumps and files: %v would otherwise
// print unexported fields.

func (r *Rows) String() string               { return redacted }
func (r *Rows) Format(f fmt.State, _ rune)   { fmt.Fprint(f, redacted) }
func (r *Rows) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
func (r *Rows) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (r *Rows) LogValue() slog.Value         { return slog.StringValue(redacted) }

func (v *View) String() string               { return redacted }
func (v *View) Format(f fmt.State, _ rune)   { fmt.Fprint(f, redacted) }
func (v *View) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
func (v *View) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (v *View) LogValue() slog.Value         { return slog.StringValue(redacted) }
