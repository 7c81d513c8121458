package whole

import (
	"errors"
	"os"
)

// ErrLocked is returned by TryLock where another process, or another opening of the file in this
// one, has the lock.
var ErrLocked = errors.New("in use by another process")

// Lock waits for a lock on the file at path, which it makes where there is none.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f, true); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// TryLock locks an open file until it is closed, or returns ErrLocked at once. The kernel lets go
// of the lock when the process is killed.
func TryLock(f *os.File) error { return lock(f, false) }
