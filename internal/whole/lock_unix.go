//go:build unix

package whole

import (
	"os"

	"golang.org/x/sys/unix"
)

func lock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrLocked
		default:
			return err
		}
	}
}
