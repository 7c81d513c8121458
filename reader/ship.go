package reader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"pawl/data/columnar"
)

// ErrShipped is returned for bytes that no Ship of this version made.
var ErrShipped = errors.New("the table was altered in transit")

// shipped is a part on its way to another process.
type shipped struct {
	Name    string            `json:"name"`
	Note    string            `json:"note,omitempty"`
	Size    int               `json:"size"`
	Held    bool              `json:"held,omitempty"` // rows that were no file
	Columns []columnar.Column `json:"columns,omitempty"`
	Numbers []int64           `json:"numbers,omitempty"`
	Starts  []uint64          `json:"starts,omitempty"`
	Sorted  bool              `json:"sorted,omitempty"`
}

// Ship appends the whole table to dst: all that Received needs to make the same one in another
// process, which need not have the files.
func (c *Content) Ship(dst []byte) ([]byte, error) {
	parts, all, size := slices.Clone(c.parts), make([]shipped, len(c.parts)), 0
	for i := range parts {
		p := &parts[i]
		if p.Stored != nil {
			text, err := io.ReadAll(p.text())
			if err != nil {
				return nil, err
			}
			p.Bytes = text
		}
		all[i] = shipped{Name: p.Name, Note: p.Note, Size: len(p.Bytes)}
		if r := p.Rows; r != nil {
			all[i] = shipped{Name: p.Name, Note: p.Note, Size: len(r.data), Held: true, Columns: r.columns, Numbers: r.numbers, Starts: r.starts, Sorted: r.sorted}
		}
		size += all[i].Size
	}
	head, err := json.Marshal(struct {
		Name  string    `json:"name"`
		Parts []shipped `json:"parts"`
	}{c.name, all})
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(dst), len(dst)+8+len(head)+size)
	copy(out, dst)
	out = append(binary.LittleEndian.AppendUint64(out, uint64(len(head))), head...)
	for _, p := range parts {
		if p.Rows != nil {
			out = append(out, p.Rows.data...)
		} else {
			out = append(out, p.Bytes...)
		}
	}
	return out, nil
}

// Received makes the table that Ship wrote; ErrShipped for anything else. It keeps b.
func Received(b []byte) (*Content, error) {
	var head struct {
		Name  string    `json:"name"`
		Parts []shipped `json:"parts"`
	}
	b, err := Header(b, &head)
	if err != nil {
		return nil, err
	}
	c := &Content{name: head.Name}
	for _, s := range head.Parts {
		if s.Size < 0 || s.Size > len(b) {
			return nil, ErrShipped
		}
		p := Part{Name: s.Name, Note: s.Note}
		if p.Bytes = b[:s.Size:s.Size]; s.Held {
			p.Rows = &Rows{columns: s.Columns, data: string(p.Bytes), starts: s.Starts, numbers: s.Numbers, sorted: s.Sorted}
			p.Bytes = nil
			if err := p.Rows.sound(); err != nil {
				return nil, err
			}
		}
		c.parts, b = append(c.parts, p), b[s.Size:]
	}
	if len(b) != 0 || len(c.parts) == 0 {
		return nil, ErrShipped
	}
	return c, nil
}

// sound holds rows of another process to what a RowsBuilder makes, so far as they are visited by it.
func (r *Rows) sound() error {
	if len(r.starts) == 0 || r.starts[0] != 0 || r.starts[len(r.starts)-1] != uint64(len(r.data)) || r.numbers != nil && len(r.numbers) != len(r.starts)-1 {
		return ErrShipped
	}
	for i := 1; i < len(r.starts); i++ {
		if r.starts[i] < r.starts[i-1] {
			return ErrShipped
		}
	}
	for _, n := range r.numbers {
		if r.sorted && (n < 1 || n > int64(len(r.numbers))) {
			return ErrShipped
		}
	}
	return nil
}

// Header reads JSON after its length into v, where unknown fields are refused, and returns what
// follows.
func Header(b []byte, v any) (rest []byte, err error) {
	if len(b) < 8 {
		return nil, ErrShipped
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[8:]; n > uint64(len(b)) {
		return nil, ErrShipped
	}
	in := json.NewDecoder(bytes.NewReader(b[:n]))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShipped, err)
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, ErrShipped
	}
	return b[n:], nil
}
