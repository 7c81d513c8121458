package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxBatch bounds the rows of a record batch of an Arrow file: a column of nulls
// holds no byte by which its length could be checked.
const maxBatch = 1 << 26

// Types of the Arrow format 1.5, by the numbers that its files give them.
const (
	arrowNull      = 1
	arrowInt       = 2
	arrowFloat     = 3
	arrowBinary    = 4
	arrowText      = 5
	arrowBool      = 6
	arrowDecimal   = 7
	arrowList      = 12
	arrowStruct    = 13
	arrowUnion     = 14
	arrowFixedList = 16
	arrowMap       = 17
	arrowBigBinary = 19
	arrowBigText   = 20
	arrowBigList   = 21
	arrowRuns      = 22
	arrowBinView   = 23
	arrowTextView  = 24
	arrowListView  = 25
	arrowBigView   = 26
)

var arrowNames = []string{"none", "null", "int", "float", "binary", "utf8", "bool", "decimal", "date", "time", "timestamp", "interval", "list",
	"struct", "union", "fixed_size_binary", "fixed_size_list", "map", "duration", "large_binary", "large_utf8", "large_list",
	"run_end_encoded", "binary_view", "string_view", "list_view", "large_list_view"}

// arrowField is a column, or what one is made of.
type arrowField struct {
	name     string
	kind     int
	bits     int // of whole numbers, floats and decimals
	signed   bool
	scale    int
	size     int // of lists of a fixed size
	children []*arrowField
	// dictionary is set where the column holds positions in the list of that number.
	dictionary *int64
	index      *arrowField // the kind of positions
}

// arrowFile reads footers, schemas and messages, which are FlatBuffers; their fields
// have the numbers of the published format.
type arrowFile struct {
	src          Source
	size         int64
	fields       []*arrowField
	dictionaries []block
	batches      []block
	lists        map[int64]*Chunk // dictionaries that have been read
	unpacker
}

// block is where a message stands: its description, then its body.
type block struct{ offset, meta, body int64 }

// openArrow reads an Arrow IPC file, which Feather version 2 is too. Positions outside
// of the file panic here, for guard, and memory is taken for what is in the file.
func openArrow(src Source) (*File, error) {
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if size < 22 {
		return nil, damaged("")
	}
	end, err := readFlat(src, size, size-10, 10)
	if err != nil {
		return nil, err
	}
	length := int64(end.u32(0))
	if string(end.b[4:]) != string(arrowMagic) || length > maxFooter {
		return nil, damaged("")
	}
	footer, err := readFlat(src, size, size-10-length, length)
	if err != nil {
		return nil, err
	}
	a := &arrowFile{src: src, size: size, lists: map[int64]*Chunk{}}
	root := footer.indirect(0)
	at, ok := footer.field(root, 1)
	if !ok {
		return nil, damaged("")
	}
	schema := footer.indirect(at)
	if at, ok := footer.field(schema, 0); ok && footer.u16(at) != 0 {
		return nil, &Fault{Msg: "the numbers are big-endian", Hint: "write it in little-endian order"}
	}
	w := &fieldWalk{f: footer}
	if a.fields, err = w.fields(schema, 1, 0); err != nil {
		return nil, err
	}
	a.dictionaries, a.batches = footer.blocks(root, 2), footer.blocks(root, 3)
	left := size // messages do not overlap
	for _, b := range append(slices.Clone(a.dictionaries), a.batches...) {
		if b.offset < 0 || b.meta < 16 || b.body < 0 || b.meta > left || b.body > left-b.meta || b.offset > size-b.meta-b.body {
			return nil, damaged("")
		}
		left -= b.meta + b.body
	}
	// So that a file whose end was written again is refused before its rows are.
	for _, b := range a.batches {
		if _, err := a.record(b); err != nil {
			return nil, err
		}
	}
	out := &File{format: "Arrow"}
	for _, f := range a.fields {
		out.columns = append(out.columns, Column{Name: f.name, Kind: f.columnKind(), Type: f.typeName()})
	}
	out.scan = func(columns []int) nexter { return &arrowScan{in: a, columns: columns, row: 1} }
	return out, nil
}

// fieldWalk reads the columns of a schema, of which many may share one child: their
// depth and number are bounded apart.
type fieldWalk struct {
	f    buffer
	seen int
}

func (w *fieldWalk) fields(table, id, depth int) ([]*arrowField, error) {
	start, n := w.f.list(table, id, 4)
	if w.seen += n; w.seen > maxElements || depth > 64 {
		return nil, &Fault{Msg: "the columns are structures of more than a million parts, or of 64 levels"}
	}
	var out []*arrowField
	for i := range n {
		at := w.f.indirect(start + 4*i)
		f, err := w.field(at)
		if err != nil {
			return nil, err
		}
		if f.children, err = w.fields(at, 5, depth+1); err != nil {
			return nil, err
		}
		switch f.kind {
		case arrowFixedList, arrowList, arrowBigList:
			if len(f.children) != 1 {
				return nil, damaged("")
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func (w *fieldWalk) field(at int) (*arrowField, error) {
	f := &arrowField{name: w.f.text(at, 0)}
	if p, ok := w.f.field(at, 2); ok {
		f.kind = int(w.f.b[p])
	}
	p, ok := w.f.field(at, 3)
	if !ok || f.kind == 0 {
		return nil, damaged("")
	}
	if f.kind == arrowUnion || f.kind == arrowRuns || f.kind >= len(arrowNames) {
		name := "unknown kind"
		if f.kind < len(arrowNames) {
			name = arrowNames[f.kind]
		}
		return nil, &Fault{Msg: "a column is a " + name + ", which cannot be read", Hint: "leave the column out"}
	}
	typ := w.f.indirect(p)
	number := func(table, id, width, missing int) int {
		q, ok := w.f.field(table, id)
		switch {
		case !ok:
			return missing
		case width == 1:
			return int(w.f.b[q])
		case width == 2:
			return int(w.f.u16(q))
		}
		return int(int32(w.f.u32(q)))
	}
	switch f.kind {
	case arrowInt:
		f.bits, f.signed = number(typ, 0, 4, 0), number(typ, 1, 1, 0) != 0
	case arrowFloat:
		f.bits = 16 << number(typ, 0, 2, 0)
	case arrowDecimal:
		f.scale, f.bits = number(typ, 1, 4, 0), number(typ, 2, 4, 128)
	case arrowFixedList:
		f.size = number(typ, 0, 4, 0)
	}
	if p, ok := w.f.field(at, 4); ok {
		d := w.f.indirect(p)
		id := int64(0)
		if q, ok := w.f.field(d, 0); ok {
			id = int64(w.f.u64(q))
		}
		f.dictionary = &id
		f.index = &arrowField{kind: arrowInt, bits: 32, signed: true}
		if q, ok := w.f.field(d, 1); ok {
			t := w.f.indirect(q)
			f.index.bits, f.index.signed = number(t, 0, 4, 0), number(t, 1, 1, 0) != 0
		}
	}
	return f, nil
}

func (f *arrowField) typeName() string {
	if f.dictionary != nil {
		return "dictionary<values=" + f.values().typeName() + ", indices=" + f.index.typeName() + ">"
	}
	name := arrowNames[f.kind]
	switch f.kind {
	case arrowInt, arrowFloat:
		if f.kind == arrowInt && !f.signed {
			name = "u" + name
		}
		return fmt.Sprint(name, f.bits)
	case arrowDecimal:
		return fmt.Sprint(name, f.bits)
	case arrowList, arrowBigList, arrowFixedList:
		return name + "<" + f.children[0].typeName() + ">"
	}
	return name
}

// values is the field without its dictionary.
func (f *arrowField) values() *arrowField {
	v := *f
	v.dictionary = nil
	return &v
}

// columnKind is what the cells of the field are handed out as.
func (f *arrowField) columnKind() Kind {
	if f.dictionary != nil {
		// A dictionary is a way to store texts; the schema's categories are declared.
		if k := f.values().columnKind(); k != Unsupported && k != Vector && f.kind != arrowNull {
			return Text
		}
		return Unsupported
	}
	switch f.kind {
	case arrowNull, arrowText, arrowBigText, arrowTextView:
		return Text
	case arrowBool:
		return Boolean
	case arrowInt:
		if f.bits == 8 || f.bits == 16 || f.bits == 32 || f.bits == 64 {
			return Integer
		}
	case arrowFloat:
		if f.bits == 32 || f.bits == 64 {
			return Float
		}
	case arrowDecimal:
		if f.scale >= 0 && f.scale <= maxScale && (f.bits == 32 || f.bits == 64 || f.bits == 128 || f.bits == 256) {
			return Text
		}
	case arrowFixedList, arrowList, arrowBigList:
		if f.children[0].columnKind() == Float {
			return Vector
		}
	}
	return Unsupported
}

// skip moves past the field, which record batches describe parents first.
func (f *arrowField) skip(at *place, views []int) {
	at.node++
	if f.dictionary != nil {
		at.buffer += 2
		return
	}
	switch f.kind {
	case arrowNull:
	case arrowBinary, arrowText, arrowBigBinary, arrowBigText, arrowListView, arrowBigView:
		at.buffer += 3
	case arrowStruct, arrowFixedList:
		at.buffer++
	case arrowBinView, arrowTextView: // validity, views, and as many that they point into as the batch says
		at.buffer += 2 + views[at.view]
		at.view++
	default:
		at.buffer += 2
	}
	for _, c := range f.children {
		c.skip(at, views)
	}
}

// arrowScan walks through the record batches, one of which is in memory at a time.
type arrowScan struct {
	in      *arrowFile
	columns []int
	group   int // the next
	row     int64
}

func (s *arrowScan) next() (*Batch, error) {
	for {
		if s.group == len(s.in.batches) {
			return nil, io.EOF
		}
		r, err := s.in.record(s.in.batches[s.group])
		s.group++
		if err != nil {
			return nil, err
		}
		if r.rows == 0 {
			continue
		}
		b := &Batch{Group: s.group, First: s.row, Rows: r.rows, Chunks: make([]Chunk, len(s.columns))}
		for i, c := range s.columns {
			column, err := s.in.column(r, c)
			if err != nil {
				f := damaged(s.in.fields[c].name)
				f.Group = s.group
				return nil, f
			}
			b.Chunks[i] = column
		}
		s.row += int64(b.Rows)
		return b, nil
	}
}

// column reads a column of a record. What panics on the way is an error here.
func (a *arrowFile) column(r *record, i int) (c Chunk, err error) {
	defer func() {
		if recover() != nil {
			err = errCut
		}
	}()
	at := r.places[i]
	return a.chunk(r, a.fields[i], &at, r.rows)
}

// chunk reads n values of a field, and moves past it.
func (a *arrowFile) chunk(r *record, f *arrowField, at *place, n int) (c Chunk, err error) {
	here := *at
	// What the file says of the number of values holds for all of a column.
	length, nulls := r.node(here.node)
	if length != int64(n) {
		return c, errCut
	}
	if f.kind == arrowNull && f.dictionary == nil {
		f.skip(at, r.views)
		c.null, c.texts = make([]bool, n), make([]string, n)
		for i := range c.null {
			c.null[i] = true
		}
		return c, nil
	}
	if nulls != 0 {
		bits, err := a.buffer(r, here.buffer)
		if err != nil {
			return c, err
		}
		if len(bits) > 0 {
			bits = bits[:(n+7)/8]
			c.null = make([]bool, n)
			for i := range n {
				c.null[i] = bits[i/8]>>(i%8)&1 == 0
			}
		}
	}
	if f.dictionary != nil {
		f.skip(at, r.views)
		return c, a.looked(r, f, here, n, &c)
	}
	switch f.kind {
	case arrowFixedList, arrowList, arrowBigList:
		return c, a.vectors(r, f, at, n, &c)
	}
	f.skip(at, r.views)
	b, err := a.buffer(r, here.buffer+1)
	if err != nil {
		return c, err
	}
	switch f.kind {
	case arrowBool:
		c.bools = make([]bool, n)
		for i := range n {
			c.bools[i] = b[i/8]>>(i%8)&1 == 1
		}
	case arrowInt:
		c.ints, c.unsigned = wholeNumbers(b, n, f), f.bits == 64 && !f.signed
	case arrowFloat:
		b = b[:n*f.bits/8]
		c.floats, c.single = make([]float64, n), f.bits == 32
		for i := range c.floats {
			if c.single {
				c.floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
			} else {
				c.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
	case arrowDecimal:
		width := f.bits / 8
		b = b[:n*width]
		c.texts = make([]string, n)
		for i := range c.texts {
			if !c.Null(i) {
				v := slices.Clone(b[i*width : (i+1)*width])
				slices.Reverse(v)
				c.texts[i] = decimal(bigEndian(v), f.scale)
			}
		}
	case arrowText, arrowBigText:
		c.texts, err = a.textsOf(r, here.buffer+2, offsets(b, n, f.kind == arrowBigText), c.null)
	case arrowTextView:
		c.texts, err = a.viewsOf(r, here, slices.Clone(b[:16*n]), c.null) // the next buffer may take their place
	default:
		err = errCut
	}
	return c, err
}

// wholeNumbers reads n numbers of the width of f.
func wholeNumbers(b []byte, n int, f *arrowField) []int64 {
	width := f.bits / 8
	b = b[:n*width]
	out := make([]int64, n)
	for i := range out {
		switch v := b[i*width:]; {
		case width == 1 && f.signed:
			out[i] = int64(int8(v[0]))
		case width == 1:
			out[i] = int64(v[0])
		case width == 2 && f.signed:
			out[i] = int64(int16(binary.LittleEndian.Uint16(v)))
		case width == 2:
			out[i] = int64(binary.LittleEndian.Uint16(v))
		case width == 4 && f.signed:
			out[i] = int64(int32(binary.LittleEndian.Uint32(v)))
		case width == 4:
			out[i] = int64(binary.LittleEndian.Uint32(v))
		case width == 8:
			out[i] = int64(binary.LittleEndian.Uint64(v))
		default:
			panic("columnar: whole numbers of an unknown width")
		}
	}
	return out
}

// offsets reads where n things begin and the last ends, which never moves back. A
// buffer of no bytes stands for one without things.
func offsets(b []byte, n int, long bool) []int64 {
	if n == 0 && len(b) == 0 {
		return []int64{0}
	}
	out := wholeNumbers(b, n+1, &arrowField{bits: map[bool]int{false: 32, true: 64}[long], signed: true})
	for i, v := range out {
		if v < 0 || i > 0 && v < out[i-1] {
			panic("columnar: offsets move back")
		}
	}
	return out
}

// textsOf cuts the bytes of all texts, copied once, into those of each row.
func (a *arrowFile) textsOf(r *record, buffer int, at []int64, null []bool) ([]string, error) {
	b, err := a.buffer(r, buffer)
	if err != nil {
		return nil, err
	}
	all := string(b[at[0]:at[len(at)-1]])
	out := make([]string, len(at)-1)
	for i := range out {
		if null == nil || !null[i] {
			out[i] = all[at[i]-at[0] : at[i+1]-at[0]]
		}
	}
	return out, nil
}

// viewsOf reads texts of which those up to 12 bytes stand in their view, and others in
// one of the buffers that follow.
func (a *arrowFile) viewsOf(r *record, here place, views []byte, null []bool) ([]string, error) {
	var in []string
	for k := range r.views[here.view] {
		b, err := a.buffer(r, here.buffer+2+k)
		if err != nil {
			return nil, err
		}
		in = append(in, string(b))
	}
	out := make([]string, len(views)/16)
	for i := range out {
		if null != nil && null[i] {
			continue
		}
		v := views[16*i : 16*i+16]
		n := binary.LittleEndian.Uint32(v)
		if n <= 12 {
			out[i] = string(v[4 : 4+n])
			continue
		}
		from := uint64(binary.LittleEndian.Uint32(v[12:]))
		out[i] = in[binary.LittleEndian.Uint32(v[8:])][from : from+uint64(n)]
	}
	return out, nil
}

// vectors cuts the values of all lists into those of each row.
func (a *arrowFile) vectors(r *record, f *arrowField, at *place, n int, c *Chunk) error {
	here := *at
	var cuts []int64
	at.node, at.buffer = at.node+1, at.buffer+1
	if f.kind != arrowFixedList {
		at.buffer++
		b, err := a.buffer(r, here.buffer+1)
		if err != nil {
			return err
		}
		cuts = offsets(b, n, f.kind == arrowBigList)
	} else {
		if f.size < 0 || f.size > maxWidth {
			return errCut
		}
		cuts = make([]int64, n+1)
		for i := range cuts {
			cuts[i] = int64(i * f.size)
		}
	}
	length, _ := r.node(at.node)
	if cuts[n] > length || length > maxWidth*maxBatch {
		return errCut
	}
	all, err := a.chunk(r, f.children[0], at, int(length))
	if err != nil {
		return err
	}
	c.vectors = make([][]float32, n)
	for i := range c.vectors {
		if c.Null(i) {
			continue
		}
		c.vectors[i] = make([]float32, 0, cuts[i+1]-cuts[i])
		for k := cuts[i]; k < cuts[i+1]; k++ {
			c.vectors[i] = append(c.vectors[i], float32(all.Float(int(k))))
		}
	}
	return nil
}

// looked reads positions in a dictionary, as texts.
func (a *arrowFile) looked(r *record, f *arrowField, here place, n int, c *Chunk) error {
	b, err := a.buffer(r, here.buffer+1)
	if err != nil {
		return err
	}
	at := wholeNumbers(b, n, f.index)
	values, err := a.dictionary(f)
	if err != nil {
		return err
	}
	if c.null == nil {
		c.null = make([]bool, n)
	}
	c.texts = make([]string, n)
	for i, k := range at {
		if c.null[i] {
			continue
		}
		// The dictionary itself may hold a null.
		if c.null[i] = values.null[k]; !c.null[i] {
			c.texts[i] = values.texts[k]
		}
	}
	return nil
}

// dictionary reads the values of a field's dictionary, as texts, all of them.
func (a *arrowFile) dictionary(f *arrowField) (*Chunk, error) {
	if d := a.lists[*f.dictionary]; d != nil {
		return d, nil
	}
	d := &Chunk{null: []bool{}, texts: []string{}}
	for _, b := range a.dictionaries {
		r, err := a.record(b)
		if err != nil {
			return nil, err
		}
		if r.dictionary != *f.dictionary {
			continue
		}
		if !r.more { // what follows takes the place of what was there
			d.null, d.texts = d.null[:0], d.texts[:0]
		}
		c, err := a.chunk(r, f.values(), &place{}, r.rows)
		if err != nil {
			return nil, err
		}
		for i := range r.rows {
			d.null, d.texts = append(d.null, c.Null(i)), append(d.texts, c.Text(i))
		}
	}
	a.lists[*f.dictionary] = d
	return d, nil
}

// record is the description of a batch of rows, or of a dictionary.
type record struct {
	f              buffer
	rows           int
	nodes, buffers int // where they are listed
	nodeN, bufferN int
	views          []int // buffers of each column of views
	body           block
	codec          codec
	places         []place // of the columns
	dictionary     int64
	more           bool // of the dictionary so far
}

// place is the next node, buffer and number of views of a record.
type place struct{ node, buffer, view int }

func (a *arrowFile) record(b block) (*record, error) {
	f, err := readFlat(a.src, a.size, b.offset, b.meta)
	if err != nil {
		return nil, err
	}
	// Older files lack the mark before the length.
	skip := 4
	if f.u32(0) == 0xffffffff {
		skip = 8
	}
	f.b = f.b[skip:]
	root := f.indirect(0)
	header, ok := f.field(root, 2)
	kind, known := f.field(root, 1)
	if !ok || !known {
		return nil, damaged("")
	}
	r := &record{body: block{offset: b.offset + b.meta, body: b.body}, dictionary: -1}
	batch := f.indirect(header)
	const dictionary, rows = 2, 3
	switch f.b[kind] {
	case rows:
	case dictionary:
		r.dictionary = 0
		if at, ok := f.field(batch, 0); ok {
			r.dictionary = int64(f.u64(at))
		}
		if at, ok := f.field(batch, 2); ok {
			r.more = f.b[at] != 0
		}
		data, ok := f.field(batch, 1)
		if !ok {
			return nil, damaged("")
		}
		batch = f.indirect(data)
	default:
		return nil, damaged("")
	}
	if at, ok := f.field(batch, 0); ok {
		n := f.u64(at)
		if n > maxBatch {
			return nil, &Fault{Msg: "a record batch of more than 67 million rows", Hint: "write smaller batches"}
		}
		r.rows = int(n)
	}
	r.f = f
	r.nodes, r.nodeN = f.list(batch, 1, 16)
	r.buffers, r.bufferN = f.list(batch, 2, 16)
	if at, ok := f.field(batch, 3); ok {
		compression := f.indirect(at)
		r.codec = lz4Frame
		if at, ok := f.field(compression, 0); ok && f.b[at] == 1 {
			r.codec = zstdCodec
		} else if ok && f.b[at] > 1 {
			return nil, &Fault{Msg: "the record batches are compressed in an unknown way", Hint: "write them with lz4 or zstd"}
		}
	}
	start, n := f.list(batch, 4, 8)
	for i := range n {
		k := f.u64(start + 8*i)
		if k > uint64(r.bufferN) {
			return nil, damaged("")
		}
		r.views = append(r.views, int(k))
	}
	if r.dictionary >= 0 {
		return r, nil
	}
	at := place{}
	r.places = make([]place, len(a.fields))
	for i, g := range a.fields {
		r.places[i] = at
		g.skip(&at, r.views)
	}
	if at.node > r.nodeN || at.buffer > r.bufferN {
		return nil, damaged("")
	}
	return r, nil
}

// node returns the values and the nulls of a column, or of a part of one.
func (r *record) node(i int) (length, nulls int64) {
	if i >= r.nodeN {
		panic("columnar: a column is missing")
	}
	return int64(r.f.u64(r.nodes + 16*i)), int64(r.f.u64(r.nodes + 16*i + 8))
}

// buffer reads bytes of the body, valid until the next call.
func (a *arrowFile) buffer(r *record, i int) ([]byte, error) {
	if i >= r.bufferN {
		return nil, errCut
	}
	at, n := int64(r.f.u64(r.buffers+16*i)), int64(r.f.u64(r.buffers+16*i+8))
	if at < 0 || n < 0 || at > r.body.body || n > r.body.body-at || n > maxBlock {
		return nil, errCut
	}
	b := make([]byte, n)
	if _, err := a.src.ReadAt(b, r.body.offset+at); err != nil {
		return nil, err
	}
	if r.codec == uncompressed || n == 0 {
		return b, nil
	}
	size := int64(binary.LittleEndian.Uint64(b))
	if size == -1 { // compression would have gained nothing
		return b[8:], nil
	}
	if size < 0 || size > maxBlock {
		return nil, errCut
	}
	return a.unpack(r.codec, b[8:], int(size))
}

// buffer reads FlatBuffers: a table begins with the distance back to the list of where
// its fields stand; a list is found by a distance ahead and begins with its length.
type buffer struct{ b []byte }

func readFlat(src Source, size, offset, length int64) (buffer, error) {
	if offset < 0 || length < 0 || offset > size || length > size-offset || length > maxBlock {
		return buffer{}, damaged("")
	}
	b := make([]byte, length)
	if _, err := src.ReadAt(b, offset); err != nil && err != io.EOF {
		return buffer{}, err
	}
	return buffer{b: b}, nil
}

func (f buffer) u16(at int) uint16   { return binary.LittleEndian.Uint16(f.b[at:]) }
func (f buffer) u32(at int) uint32   { return binary.LittleEndian.Uint32(f.b[at:]) }
func (f buffer) u64(at int) uint64   { return binary.LittleEndian.Uint64(f.b[at:]) }
func (f buffer) indirect(at int) int { return at + int(f.u32(at)) }

// field returns where a field of a table stands, if the table has it.
func (f buffer) field(table, id int) (int, bool) {
	fields := table - int(int32(f.u32(table)))
	if 4+2*id >= int(f.u16(fields)) {
		return 0, false
	}
	at := int(f.u16(fields + 4 + 2*id))
	return table + at, at != 0
}

// list returns where the elements of a field that is a list begin, and their number,
// which the bytes that follow must hold.
func (f buffer) list(table, id, width int) (start, n int) {
	at, ok := f.field(table, id)
	if !ok {
		return 0, 0
	}
	start = f.indirect(at) + 4
	n = int(f.u32(start - 4))
	if n > (len(f.b)-start)/width {
		panic("columnar: a list is longer than the file")
	}
	return start, n
}

func (f buffer) text(table, id int) string {
	start, n := f.list(table, id, 1)
	return string(f.b[start : start+n])
}

// blocks reads where messages stand.
func (f buffer) blocks(table, id int) []block {
	start, n := f.list(table, id, 24)
	out := make([]block, n)
	for i := range out {
		at := start + 24*i
		out[i] = block{int64(f.u64(at)), int64(int32(f.u32(at + 8))), int64(f.u64(at + 16))}
	}
	return out
}
