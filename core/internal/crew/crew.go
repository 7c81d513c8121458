// Package crew runs the same jobs side by side at every step of a sum over opened rows.
package crew

import "sync"

// Crew runs the same jobs side by side at every step. Its goroutines live as long
// as the run, so that a step allocates nothing.
type Crew struct {
	start []chan struct{}
	done  chan bool // whether the job came to its end
	alive sync.WaitGroup
}

// New starts a goroutine for each job.
func New(jobs ...func()) *Crew {
	c := &Crew{done: make(chan bool, len(jobs))}
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
func (c *Crew) try(job func()) {
	ended := false
	defer func() { _ = recover(); c.done <- ended }()
	job()
	ended = true
}

// Run does all jobs once and waits for them. If one panicked it panics, in the
// goroutine of the mechanism, which contains it, and with no word of the job's.
func (c *Crew) Run() {
	for _, s := range c.start {
		s <- struct{}{}
	}
	well := true
	for range c.start {
		well = <-c.done && well
	}
	if !well {
		panic("crew: a job failed")
	}
}

// End stops the goroutines and waits for them.
func (c *Crew) End() {
	for _, s := range c.start {
		close(s)
	}
	c.alive.Wait()
}
