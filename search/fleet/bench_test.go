package fleet_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pawl/core/dp"
	"pawl/search/fleet"
)

// BenchmarkTrial is what a trial costs beside its training: a permit that travels, a candidate of
// a kilobyte, the queue, the lease, the result. All of it runs in one process; b.N trials are
// in the queue of one study, on one worker and on eight.
func BenchmarkTrial(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("slots=%d", workers), func(b *testing.B) {
			h := newHouse(b)
			hub := start(b, 0)
			defer hub.Stop()
			for range workers / 2 {
				hire(b, h, hub.Port(), work(0, nil), 0)
			}
			if workers == 1 {
				hire(b, h, hub.Port(), work(0, nil), 0)
			}
			c, far := remote(b, h, hub.Port(), "bench")
			event := dp.Gaussian{NoiseMultiplier: 2}
			p := permit(b, dp.Repeat{Count: 1, Event: event}, newSecret(b))
			candidate := []byte(`"` + strings.Repeat("x", 1000) + `"`)
			b.ResetTimer()
			var side sync.WaitGroup
			next := make(chan int)
			for range 64 {
				side.Go(func() {
					for i := range next {
						own, err := p.Child("trial", uint64(i))
						if err != nil {
							b.Error(err)
							return
						}
						token, err := h.courier.Send(own, dp.NoOp{}, far.Study, fmt.Sprint(i))
						if err != nil {
							b.Error(err)
							return
						}
						if _, err := c.Do(b.Context(), fleet.Task{Trial: fmt.Sprint(i), Candidate: candidate, Permit: token}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for i := range b.N {
				next <- i
			}
			close(next)
			side.Wait()
			b.StopTimer()
			if err := c.Close(true); err != nil {
				b.Error(err)
			}
		})
	}
}
