// Package cli is the command line of pawl: one file a verb.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the program on the arguments of the process and ends it with the status.
// An interrupt or a request to terminate cancels what is running.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(status)
}
