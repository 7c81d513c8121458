package table

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"sync"

	"pawl/data/columnar"
	"pawl/data/packed"
	"pawl/internal/usage"
	"pawl/reader"
)

// mostHeld is the size of text that is held in memory as it was read. A larger file is read where it lies, every
// time that its rows are needed; from a pipe it is kept by packed.Text.
const mostHeld = 64 << 20

// plain says that a table that begins like this is text, which is read from its beginning to its end.
func plain(start []byte) bool {
	return packing(start) == "" && !bytes.HasPrefix(start, oleMagic) && foreign(start) == nil && !columnar.Is(start[:min(len(start), columnar.MagicLen)])
}

// readStored is the part of a file, or of a pipe, that is not held in memory; with more than most bytes of text
// that is so, else the content is handed back.
func readStored(name string, f *os.File, most int64) (p reader.Part, content []byte, err error) {
	before, err := f.Stat()
	if err != nil {
		return p, nil, err
	}
	regular := before.Mode().IsRegular()
	head := most + 1
	if regular && before.Size() > most {
		head = 16 // enough to tell what it is
	}
	content, err = io.ReadAll(io.LimitReader(f, head))
	switch {
	case err != nil:
		return p, nil, err
	case int64(len(content)) == head && plain(content) && regular && before.Size() > most:
		return reader.Part{Name: name, Stored: &onDisk{path: f.Name(), before: before}}, nil, nil
	case int64(len(content)) == head && plain(content) && !regular:
		// What is sealed of it needs memory too.
		text, err := packed.ReadText(io.MultiReader(bytes.NewReader(content), f), packed.NewStore(packed.Limit()/4))
		return reader.Part{Name: name, Stored: text}, nil, err
	}
	all := bytes.NewBuffer(content)
	if regular {
		all.Grow(max(int(before.Size())-len(content), 0) + bytes.MinRead)
	}
	_, err = all.ReadFrom(f)
	if err == nil && regular {
		err = Unchanged(f.Name(), before)
	}
	return p, all.Bytes(), err
}

// onDisk is a file of text that is read where it lies. Whoever reads it to its end reads what the first one read, or is told
// that the file changed: the bytes that are digested are those that are parsed.
type onDisk struct {
	path   string
	before os.FileInfo
	mu     sync.Mutex
	sum    []byte // of all of it, nil until somebody has read to the end
}

func (d *onDisk) Size() int64 { return d.before.Size() }

func (d *onDisk) Reader() io.Reader { return &diskReader{of: d} }

// same compares what was read with what was read before.
func (d *onDisk) same(sum []byte) error {
	if err := Unchanged(d.path, d.before); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sum == nil {
		d.sum = sum
	}
	if !bytes.Equal(d.sum, sum) {
		return usage.New(d.path+": the file changed while it was being read", "run the command again when no program is writing to the file")
	}
	return nil
}

// diskReader reads an onDisk from its beginning.
type diskReader struct {
	of  *onDisk
	f   *os.File // closed at the end, or when nobody holds the reader
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
	err error
}

func (r *diskReader) Read(b []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.f == nil {
		r.sum = sha256.New()
		if r.f, r.err = os.Open(r.of.path); r.err != nil {
			return 0, r.err
		}
	}
	n, err = r.f.Read(b)
	r.sum.Write(b[:n])
	if err == io.EOF {
		if fault := r.of.same(r.sum.Sum(nil)); fault != nil {
			err = fault
		}
	}
	if r.err = err; err != nil {
		r.f.Close()
	}
	return n, err
}
