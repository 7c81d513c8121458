//go:build !unix

package stattest

import "time"

var began = time.Now()

// CPU returns the time since the program began, which bounds the processor time of one
// processor from above.
func CPU() time.Duration { return time.Since(began) }
