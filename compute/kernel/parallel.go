package kernel

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Parallel calls do(0) … do(parts−1), up to workers at a time, and returns when
// all have ended. Parts are taken in order; which worker takes one is not
// fixed, so do(i) may write only what belongs to part i.
//
// Cut a step into parts once, by public numbers (two halves of the batch for two
// cores, or more), and let the noise of the step be a part as well: it depends
// on nothing and fills the time in which a core would wait. Sums over the batch
// go to a buffer for each part and are then added in order of the parts, so the
// number of workers changes no bit; the number of parts may.
//
// Idle workers block, they never spin. A panic in do is raised again here, the
// one of the lowest part, after the others have ended. It panics when workers
// or parts make no sense.
func Parallel(workers, parts int, do func(part int)) {
	if workers < 1 || parts < 0 {
		panic(fmt.Sprintf("kernel: %d parts for %d workers", parts, workers))
	}
	workers = min(workers, parts)
	if workers <= 1 {
		for i := range parts {
			do(i)
		}
		return
	}
	raised := make([]any, parts)
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= parts {
				return
			}
			func() {
				defer func() { raised[i] = recover() }()
				do(i)
			}()
		}
	}
	var wait sync.WaitGroup
	for range workers - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	for _, r := range raised {
		if r != nil {
			panic(r)
		}
	}
}
