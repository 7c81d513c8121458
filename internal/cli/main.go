// Package cli is the command line of pawl: one file a verb.
package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"pawl/data/packed"
)

// limits has garbage be half of what is in use, not as much, and less the nearer three quarters of the memory are
// used up: a table may take most of it. The environment may say otherwise.
//
// What it returns is to be kept while the program runs. It counts as used and takes no memory, since nothing is written
// to it. Without it a heap of a few MB, half of which may be garbage, would be collected dozens of times a second: a
// sixth of the time of pawl check.
func limits() (floor []byte) {
	memory := packed.Memory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
		if memory >= 32*floorSize {
			floor = make([]byte, floorSize)
		}
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory / 4 * 3)
	}
	return floor
}

const floorSize = 32 << 20

// Main runs the program on the arguments of the process and ends it with the status.
// An interrupt or a request to terminate cancels what is running; a second one ends the process at once.
func Main() {
	floor := limits()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// A reader of the output that goes away, such as head, must not end a run that is paid for: its write fails instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, stop)
	status := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	runtime.KeepAlive(floor)
	os.Exit(status)
}
