package source

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
)

// manifest says what a shipped table is; the table follows.
type manifest struct {
	Version int    `json:"version"`
	Dataset string `json:"dataset"`
	Builtin string `json:"builtin,omitempty"`
	Path    string `json:"path"`
	File    string `json:"file,omitempty"` // of the schema
	Schema  []byte `json:"schema,omitempty"`
}

const shipping = 1

// Ship writes the table of d, which must have one, whole, with its schema, for a machine that has neither.
func (d *Data) Ship() ([]byte, error) {
	m := manifest{Version: shipping, Dataset: d.Table.Name, Path: d.Table.Path, File: d.Options.Schema}
	if b := d.Table.Builtin; b != nil {
		m.Builtin = b.Name
	} else {
		var err error
		if m.Schema, err = os.ReadFile(d.Options.Schema); err != nil {
			return nil, err
		}
	}
	head, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return d.Table.Content.Ship(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...))
}

// Received opens the table that Ship wrote. Nothing of it touches a disk.
func Received(b []byte, o Options) (*Data, error) {
	var m manifest
	b, err := reader.Header(b, &m)
	if err != nil {
		return nil, err
	}
	if m.Version != shipping {
		return nil, reader.ErrShipped
	}
	t := &Table{Name: m.Dataset, Path: m.Path}
	if t.Content, err = reader.Received(b); err != nil {
		return nil, err
	}
	if m.Builtin != "" {
		known, ok := dataset.Lookup(m.Builtin)
		if !ok || m.Dataset != known.Name {
			return nil, reader.ErrShipped
		}
		t.Builtin, t.Schema, t.Target, t.Licence = known, known.Schema(), known.Target, known.Licence
	} else {
		if t.Schema, err = schema.Decode(m.File, m.Schema); err != nil {
			var partly *schema.PartlyError
			if errors.As(err, &partly) {
				err = partly.Err()
			}
			return nil, err
		}
		if t.Schema.Patterns() {
			if err := expand(t.Schema, t.Content); err != nil {
				return nil, err
			}
		}
	}
	return &Data{Table: t, Argument: t.Path, Options: o}, nil
}
