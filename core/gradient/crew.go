package gradient

import (
	"sync"

	"pawl/core/internal/sealed"
)

// crew runs the same jobs side by side at every step. Its goroutines live as long
// as the run, so that a step allocates nothing.
type crew struct {
	start []chan struct{}
	done  chan bool // whether the job came to its end
	alive sync.WaitGroup
}

func newCrew(jobs ...func()) *crew {
	c := &crew{done: make(chan bool, len(jobs))}
	for _, job := range jobs {
		start := make(chan struct{}, 1)
		c.start = append(c.start, start)
		c.alive.Go(func() {
			for range start {
				c.try(job)
			}
		})
	}
	return c
}

// try runs a job and says how it ended. The words of a panic may show cells and
// end here.
func (c *crew) try(job func()) {
	ended := false
	defer func() { _ = recover(); c.done <- ended }()
	job()
	ended = true
}

// run does all jobs once and waits for them. If one panicked it panics with
// ErrFault.
func (c *crew) run() {
	for _, s := range c.start {
		s <- struct{}{}
	}
	well := true
	for range c.start {
		well = <-c.done && well
	}
	if !well {
		panic(sealed.ErrFault)
	}
}

// end stops the goroutines and waits for them.
func (c *crew) end() {
	for _, s := range c.start {
		close(s)
	}
	c.alive.Wait()
}
