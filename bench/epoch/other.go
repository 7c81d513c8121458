//go:build !unix

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "epoch: processor time is read on Unix only")
	os.Exit(1)
}
