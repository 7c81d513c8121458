//go:build unix

package stattest

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this process has used: a limit on it holds on a
// machine that is busy with other work too.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF is always there
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
