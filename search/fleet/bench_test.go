package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/search"
	"pawl/search/fleet"
	"pawl/search/study"
)

// BenchmarkTrial is what a trial costs beside its training: a permit that travels, a candidate of
// a kilobyte or a megabyte, the queue, the lease, the result. Broker, coordinator and workers run
// in one process; b.N trials are those of one study: one after the other on one worker, or 16 at
// a time on eight workers.
func BenchmarkTrial(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, workers := range []int{1, 8} {
			b.Run(fmt.Sprintf("bytes=%d/workers=%d", size, workers), func(b *testing.B) {
				h := newHouse(b)
				hub := start(b, 0)
				defer hub.Stop()
				padding := strings.Repeat(" ", size)
				wide := numbers
				wide.Key = func(c int) string { return fmt.Sprintf(`"%d%s"`, c, padding) }
				number := func(b json.RawMessage) (int, error) {
					text, err := strconv.Unquote(string(b))
					if err != nil {
						return 0, err
					}
					return strconv.Atoi(strings.TrimSpace(text))
				}
				ctx, stop := context.WithCancel(b.Context())
				left := make(chan error, workers)
				for range workers {
					nc := dial(b, hub.Port())
					go func() {
						left <- fleet.Worker{Courier: h.courier, Parallel: 2, Say: func(string) {}, Prepare: func(_ context.Context, o fleet.Order) (fleet.Try, error) {
							return fleet.Trying(h.courier, o.Study, work(0, nil), number), nil
						}}.Run(ctx, nc)
					}()
				}
				c, err := fleet.Coordinate(ctx, dial(b, hub.Port()), h.courier, fleet.Order{Study: "bench", Name: "bench"}, fleet.Pace{})
				if err != nil {
					b.Fatal(err)
				}
				time.Sleep(time.Second) // until the workers have joined
				side := 2 * workers
				if workers == 1 {
					side = 1
				}
				event := dp.Gaussian{NoiseMultiplier: 2}
				b.ResetTimer()
				_, err = fleet.Run(ctx, permit(b, event, newSecret(b)), search.Quote{Strategy: search.Strategy{Kind: search.RS, Mean: float64(b.N)}, Event: event},
					wide, work(0, nil), study.Options{Workers: side, Published: true}, fleet.Remote{Courier: h.courier, Pool: c, Study: "bench"})
				b.StopTimer()
				if err != nil && !errors.Is(err, study.ErrNothing) {
					b.Error(err)
				}
				if err := c.Close(true); err != nil {
					b.Error(err)
				}
				stop()
				for range workers {
					if err := <-left; err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
}
