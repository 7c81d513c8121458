//go:build unix

package fleet

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/memory"
)

// meddled is a link on which somebody meddles with the answers to requests for rows.
type meddled struct {
	*link
	asked  atomic.Int64
	meddle func(n int64, answer []byte) ([]byte, error)
}

func (m *meddled) request(ctx context.Context, subject string, message []byte) ([]byte, error) {
	answer, err := m.link.request(ctx, subject, message)
	if err != nil || !strings.Contains(subject, ".rows.") {
		return answer, err
	}
	return m.meddle(m.asked.Add(1), answer)
}

// Rows arrive at a worker as they are, in one part or several, and closed on the way. Where they are cut off or altered
// the worker has none of them, says so, and asks again at a later beat.
func TestRowsTravel(t *testing.T) {
	cargo := bytes.Repeat([]byte("41,yes\n"), (2*part+part/2)/7)
	honest := func(_ int64, answer []byte) ([]byte, error) { return answer, nil }
	for name, c := range map[string]struct {
		cargo  []byte
		meddle func(n int64, answer []byte) ([]byte, error)
		says   string // before they arrive
		parts  int64  // that are asked for in the end
	}{
		"no rows":         {cargo: []byte{}, meddle: honest},
		"one part":        {cargo: cargo[:100], meddle: honest, parts: 1},
		"two whole parts": {cargo: cargo[:2*part], meddle: honest, parts: 2},
		"three parts":     {cargo: cargo, meddle: honest, parts: 3},
		"a broker that was away": {cargo: cargo, meddle: func(n int64, answer []byte) ([]byte, error) {
			if n == 2 {
				return nil, errors.New("away")
			}
			return answer, nil
		}, parts: 4},
		"cut off": {cargo: cargo, meddle: func(n int64, answer []byte) ([]byte, error) {
			if n > 1 && n < 1+silence+1 {
				return nil, errors.New("cut")
			}
			return answer, nil
		}, says: "did not arrive whole", parts: 1 + silence + 3},
		"altered": {cargo: cargo, meddle: func(n int64, answer []byte) ([]byte, error) {
			if n == 2 {
				answer[len(answer)/2]++
			}
			return answer, nil
		}, says: "part 1 of the rows was altered", parts: 2 + 3},
		"parts in another order": {cargo: cargo, meddle: func() func(int64, []byte) ([]byte, error) {
			var first []byte
			return func(n int64, answer []byte) ([]byte, error) {
				if n == 1 {
					first = answer
				}
				if n == 2 {
					return first, nil
				}
				return answer, nil
			}
		}(), says: "part 1 of the rows was altered", parts: 2 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
				courier, err := l.Courier(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				w := &world{hop: time.Millisecond, subscribers: map[string][]*subscriber{}}
				coordinator, err := coordinate(t.Context(), &link{world: w, room: 64}, courier, Order{Study: "s", Name: "s", Cargo: c.cargo}, Pace{})
				if err != nil {
					t.Fatal(err)
				}
				over := &meddled{link: &link{world: w, room: 64}, meddle: func(n int64, answer []byte) ([]byte, error) {
					if len(c.cargo) > 0 && bytes.Contains(answer, c.cargo[:21]) {
						t.Error("rows can be read on the way")
					}
					return c.meddle(n, answer)
				}}
				ctx, stop := context.WithCancel(t.Context())
				var said strings.Builder
				arrived := make(chan []byte, 1)
				done := make(chan error)
				go func() {
					done <- (Worker{Courier: courier, Say: func(line string) { said.WriteString(line + "\n") }, Prepare: func(ctx context.Context, o Order) (Try, error) {
						rows, err := o.Fetch(ctx)
						if err != nil {
							if rows != nil {
								t.Error("rows came with an error")
							}
							return nil, err
						}
						arrived <- rows
						return func(context.Context, Task) (Outcome, error) { return Outcome{}, nil }, nil
					}}).run(ctx, over)
				}()
				if rows := <-arrived; !bytes.Equal(rows, c.cargo) {
					t.Errorf("%d bytes arrived, want %d, or others", len(rows), len(c.cargo))
				}
				if n := over.asked.Load(); n != c.parts {
					t.Errorf("asked %d times, want %d", n, c.parts)
				}
				if err := coordinator.Close(true); err != nil {
					t.Error(err)
				}
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if text := said.String(); strings.Contains(text, "not joined") != (c.says != "") || !strings.Contains(text, c.says) {
					t.Errorf("the worker said %q, want %q", text, c.says)
				}
			})
		})
	}
}

// A worker of another ledger is told nothing, and asks in vain.
func TestRowsForStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var couriers []*ledger.Courier
		for range 2 {
			c, err := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"}).Courier(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			couriers = append(couriers, c)
		}
		w := &world{hop: time.Millisecond, subscribers: map[string][]*subscriber{}}
		c, err := coordinate(t.Context(), &link{world: w, room: 64}, couriers[0], Order{Study: "s", Name: "s", Cargo: []byte("41,yes\n")}, Pace{})
		if err != nil {
			t.Fatal(err)
		}
		over := &link{world: w, room: 64}
		n := namesOf(couriers[0].Name(), "s")
		for _, message := range [][]byte{nil, []byte("x"), []byte(`{"part":0}`)} {
			closed, err := couriers[1].Close(message, "rows s")
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range [][]byte{message, closed} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				if answer, err := over.request(ctx, n.rows, m); err == nil {
					t.Errorf("a stranger was answered: %d bytes", len(answer))
				}
				cancel()
			}
		}
		if err := c.Close(true); err != nil {
			t.Error(err)
		}
	})
}
