package packed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"pawl/internal/usage"
)

// Store is where blocks lie: in memory up to a limit, beyond it in a file of the folder for temporary files, under
// a key that was drawn for it and that is written nowhere. Only its user can open the file, and it has no name any
// longer once it is open, so that it is gone when the process is, however that ends.
//
// What is written is read only by who has the Store; the file's size is about that of the rows. It may be shared.
type Store struct {
	limit int64
	mu    sync.Mutex
	used  int64 // in memory
	size  int64 // of the file
	file  *os.File
	key   cipher.Block
}

// NewStore is a Store with this many bytes of memory.
func NewStore(limit int64) *Store { return &Store{limit: limit} }

// piece is where some bytes lie: in memory, or in the file.
type piece struct {
	data []byte
	at   int64
	size int
}

// aesBlock is what the key stream is counted in.
const aesBlock = aes.BlockSize

// put takes data, which it may overwrite.
func (s *Store) put(data []byte) (piece, error) {
	s.mu.Lock()
	if s.used+int64(len(data)) <= s.limit {
		s.used += int64(len(data))
		s.mu.Unlock()
		return piece{data: data, size: len(data)}, nil
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			s.mu.Unlock()
			return piece{}, err
		}
	}
	// A place of its own, so that no part of the key stream is used twice.
	p := piece{at: s.size, size: len(data)}
	s.size += (int64(len(data)) + aesBlock - 1) / aesBlock * aesBlock
	s.mu.Unlock()
	s.crypt(data, p.at)
	if _, err := s.file.WriteAt(data, p.at); err != nil {
		return piece{}, unwritten(err)
	}
	return p, nil
}

// get returns the bytes of a piece, which nobody may change; those of a file in space, where there is room.
func (s *Store) get(p piece, space []byte) (data, used []byte) {
	if p.data != nil || p.size == 0 {
		return p.data, space
	}
	if cap(space) < p.size {
		space = make([]byte, p.size)
	}
	space = space[:p.size]
	if err := s.read(p, space); err != nil {
		panic("packed: the temporary file of rows cannot be read")
	}
	return space, space
}

func (s *Store) read(p piece, data []byte) error {
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return err
	}
	s.crypt(data, p.at)
	return nil
}

// crypt adds the key stream from a place of the file on, a multiple of aesBlock.
func (s *Store) crypt(data []byte, at int64) {
	var counter [aesBlock]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(at/aesBlock))
	cipher.NewCTR(s.key, counter[:]).XORKeyStream(data, data)
}

func (s *Store) open() error {
	var key [32]byte
	rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	f, err := nameless(os.TempDir())
	if err != nil {
		return unwritten(err)
	}
	s.key, s.file = block, f
	return nil
}

// unwritten says that rows found no room; how many there were is not said.
func unwritten(err error) error {
	why := errors.Unwrap(err)
	var path *os.PathError
	if errors.As(err, &path) {
		why = path.Err
	}
	if why == nil {
		why = err
	}
	return usage.New(fmt.Sprintf("a temporary file for rows that do not fit into memory cannot be written in %s: %v", os.TempDir(), why),
		"set TMPDIR (on Windows TMP) to a folder on a disk with more space; GOMEMLIMIT limits the memory")
}

// Text is bytes as they were read from a stream, once and whole.
type Text struct {
	store  *Store
	pieces []piece
	size   int64
}

// ReadText reads r to its end.
func ReadText(r io.Reader, store *Store) (*Text, error) {
	t := &Text{store: store}
	for {
		data := make([]byte, 1<<20)
		n, err := io.ReadFull(r, data)
		if n > 0 {
			p, fault := store.put(data[:n])
			if fault != nil {
				return nil, fault
			}
			t.pieces, t.size = append(t.pieces, p), t.size+int64(n)
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return t, nil
		default:
			return nil, err
		}
	}
}

// Size is the number of bytes.
func (t *Text) Size() int64 { return t.size }

// Reader reads the bytes from the beginning.
func (t *Text) Reader() io.Reader { return &textReader{of: t} }

type textReader struct {
	of          *Text
	next        int
	left, space []byte
}

func (r *textReader) Read(b []byte) (int, error) {
	for len(r.left) == 0 {
		if r.next == len(r.of.pieces) {
			return 0, io.EOF
		}
		p := r.of.pieces[r.next]
		if r.left = p.data; p.data == nil {
			if cap(r.space) < p.size {
				r.space = make([]byte, p.size)
			}
			if r.left = r.space[:p.size]; r.of.store.read(p, r.left) != nil {
				return 0, errors.New("the temporary file of the table cannot be read")
			}
		}
		r.next++
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}
