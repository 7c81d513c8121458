package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"pawl/core/entropy"
	"pawl/internal/usage"
)

// Error is a checkpoint that cannot be used. Nothing was charged for it.
type Error struct{ Msg, Advice string }

func (e *Error) Error() string { return e.Msg }

// Hint says how to mend it.
func (e *Error) Hint() string { return e.Advice }

// ExitStatus is that of wrong usage or data.
func (e *Error) ExitStatus() int { return 2 }

func (f *File) refuse(advice, format string, args ...any) error {
	return &Error{f.path + ": " + fmt.Sprintf(format, args...), advice}
}

const anew = "or start a new run with --checkpoint FILE, which is charged"

// File is the checkpoint of one training. A nil *File keeps nothing.
type File struct {
	path  string
	every time.Duration
	fresh bool // made by this run

	secret  entropy.Secret
	earlier *[32]byte // the key of a file that an earlier version wrote
	of      Identity
	step    int
	state   []byte
	written bool
	saved   time.Time
	failed  error
}

// Create begins a checkpoint at path, which must not exist. The file appears with Begin;
// later it is written again when every has passed.
func Create(path string, every time.Duration) (*File, error) {
	f := &File{path: path, every: every, fresh: true}
	switch info, err := os.Stat(filepath.Dir(path)); {
	case err != nil || !info.IsDir():
		return nil, f.refuse("name a file in a directory that exists", "cannot be written: %s is not a directory", filepath.Dir(path))
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, f.exists()
	}
	var err error
	f.secret, err = entropy.NewSecret()
	return f, err
}

func (f *File) exists() error {
	return f.refuse("--resume continues its run; a new run needs another file", "exists already")
}

// Open reads the checkpoint of a run that was interrupted.
func Open(path string, every time.Duration) (*File, error) {
	f := &File{path: path, every: every}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f.refuse("a new run begins with --checkpoint FILE", "no such checkpoint; that of a finished run is erased")
	case err != nil:
		return nil, f.refuse("", "cannot be read: %v", usage.WithoutPath(err))
	case !info.Mode().IsRegular():
		return nil, f.refuse("name the file that --checkpoint wrote", "is not a regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, f.refuse("chmod 600, if nobody has read it", "holds a key, and others may read it")
	case info.Size() > 1<<40:
		return nil, f.refuse("name the file that --checkpoint wrote", "is too large for a checkpoint")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, f.refuse("", "cannot be read: %v", usage.WithoutPath(err))
	}
	if err := f.decode(b); err != nil {
		return nil, err
	}
	f.written = true
	f.sweep()
	return f, nil
}

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Begin says what is computed, before anything is charged. A fresh file is on the disk
// when it returns, so that no run is charged whose key could be lost; one that was opened
// must be of the same computation. Errors: *Error.
func (f *File) Begin(of Identity) error {
	if f.earlier != nil {
		return f.refuse("start a new run with --checkpoint and another file, which is charged", "was started by an earlier version of pawl, and this version cannot continue it")
	}
	if !f.fresh || f.written {
		return f.same(of)
	}
	f.of = of
	if err := f.write(); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return f.exists()
		}
		return f.refuse("free some space, or name another file", "cannot be written: %v", usage.WithoutPath(err))
	}
	return nil
}

// Fresh says that the file was made by this run.
func (f *File) Fresh() bool { return f.fresh }

// Written says that the file is on the disk.
func (f *File) Written() bool { return f != nil && f.written }

// Secret is that of the run. Of names what it computes: the ledger binds the noise to both,
// so another computation has other noise, even under one file.
func (f *File) Secret() entropy.Secret {
	if !f.written {
		panic("checkpoint: a secret before Begin")
	}
	return f.secret
}

// Of names the computation that Begin was given.
func (f *File) Of() []byte { return f.of.bytes() }

// Initial seeds what is drawn before any row is looked at, such as first weights. It may
// become known.
func (f *File) Initial() uint64 {
	if f.earlier != nil {
		return 0 // Begin refuses the run
	}
	k := f.secret.Key("initial weights")
	return binary.LittleEndian.Uint64(k[:])
}

// State is the number of steps made and what was saved after them, nil at the start.
func (f *File) State() (steps int, state []byte) { return f.step, f.state }

// Due says that it is time to save.
func (f *File) Due() bool { return f != nil && time.Since(f.saved) >= f.every }

// Save replaces what is kept: whole or not at all. When it fails, the training may go
// on, what was saved before is still there, and Failed has the reason.
func (f *File) Save(steps int, state []byte) {
	f.step, f.state = steps, state
	f.failed = f.write()
	f.saved = time.Now()
}

// Failed is why the last Save did not succeed.
func (f *File) Failed() error {
	if f == nil || f.failed == nil {
		return nil
	}
	return fmt.Errorf("%s: cannot be written: %w", f.path, usage.WithoutPath(f.failed))
}

// Erase removes the file, and with it the key.
func (f *File) Erase() error {
	if f == nil {
		return nil
	}
	f.sweep()
	f.written = false
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.refuse("remove it by hand: it holds the key of the run's noise", "cannot be erased: %v", usage.WithoutPath(err))
	}
	return nil
}

// Forget erases a file that this run made, of which nothing was charged and no step made.
func (f *File) Forget() error {
	if f == nil || !f.fresh || f.step > 0 {
		return nil
	}
	return f.Erase()
}

// unfinished is how a file is called while it is written.
func (f *File) unfinished() string { return filepath.Base(f.path) + ".*.new" }

// sweep removes what killed processes left.
func (f *File) sweep() {
	left, _ := filepath.Glob(filepath.Join(literal(filepath.Dir(f.path)), literal(filepath.Base(f.path))+".*.new"))
	for _, name := range left {
		os.Remove(name)
	}
}

// literal escapes what Glob reads as a pattern.
func literal(path string) string {
	var b []rune
	for _, r := range path {
		switch r {
		case '*', '?', '[':
			b = append(b, '[', r, ']')
			continue
		case '\\':
			if runtime.GOOS != "windows" {
				b = append(b, '\\')
			}
		}
		b = append(b, r)
	}
	return string(b)
}

// write makes the file whole or not at all; the first time, only where none is.
func (f *File) write() (err error) {
	t, err := os.CreateTemp(filepath.Dir(f.path), f.unfinished()) // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(f.encode())
	if err := errors.Join(err, t.Sync(), t.Close()); err != nil {
		return err
	}
	if !f.written {
		err := os.Link(t.Name(), f.path)
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			f.written = true
			return syncDir(filepath.Dir(f.path))
		} // else the file system knows no links
	}
	if err := os.Rename(t.Name(), f.path); err != nil {
		return err
	}
	f.written = true
	return syncDir(filepath.Dir(f.path))
}

// syncDir makes a rename last. Not every system can.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// Identity is what a run computes: public facts, but for the data's keyed digest. Two
// runs that differ in one of them differ in their output by more than noise.
type Identity struct {
	Software, Kernel string
	Dataset          string
	Data             []byte // the ledger's keyed digest
	Plan             string // digest
	// Granted is the epsilon of the data set's budget when the run began, by which the law of its
	// score's noise was chosen: a budget that is raised later changes nothing.
	Granted string `json:",omitempty"`
	// Settings is a JSON object of what was asked for, by which a difference is named.
	Settings json.RawMessage
}

// Granted is that of the run that the file is of; ok is false for a file of no run yet, and of none.
func (f *File) Granted() (epsilon string, ok bool) {
	if f == nil || f.fresh {
		return "", false
	}
	return f.of.Granted, true
}

func (of Identity) bytes() []byte {
	b, err := json.Marshal(of)
	if err != nil {
		panic(fmt.Sprintf("checkpoint: settings are not JSON: %v", err))
	}
	return b
}
