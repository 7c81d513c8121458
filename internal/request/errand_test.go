package request

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/search/fleet"
	"pawl/search/fleet/broker"
	"pawl/store/memory"
)

// A worker answers questions of an errand with its job in hand, exactly; what it cannot answer is told apart from an
// answer, and another machine takes none.
func TestErrands(t *testing.T) {
	b, err := broker.Start(broker.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	at := fleet.Address{URL: fmt.Sprintf("nats://127.0.0.1:%d", b.Port())}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	courier, err := l.Courier(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := fleet.Dial(t.Context(), at, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ctx, stop := context.WithCancel(t.Context())
	left := make(chan error, 1)
	pace := fleet.Pace{Lease: time.Second, Beat: 100 * time.Millisecond}
	go func() {
		left <- fleet.Worker{Courier: courier, Pace: pace, Say: func(string) {}, Prepare: func(_ context.Context, o fleet.Order) (fleet.Try, error) {
			return DoErrands(o, func(_ context.Context, job float64, question string) ([]float64, error) {
				if question == "none" {
					return nil, errors.New("cannot")
				}
				return []float64{job / 3, float64(len(question))}, nil
			})
		}}.Run(ctx, nc)
	}()
	e, err := SendErrands(t.Context(), l, at, "thirds", 2.0, nil)
	if err != nil {
		t.Fatal(err)
	}
	third := 2.0
	third /= 3
	for question, want := range map[string]error{"four": nil, "none": ErrErrand, "sixteen letters!": nil} {
		var got []float64
		if err := e.Do(t.Context(), question, &got); !errors.Is(err, want) || want == nil && (len(got) != 2 || got[0] != third || got[1] != float64(len(question))) {
			t.Errorf("%s: %v, %v", question, got, err)
		}
	}
	e.Close()
	stop()
	if err := <-left; err != nil {
		t.Error(err)
	}
	var mismatch *fleet.MismatchError
	if _, err := DoErrands(fleet.Order{Software: "other"}, func(context.Context, int, int) (int, error) { return 0, nil }); !errors.As(err, &mismatch) {
		t.Errorf("another version: %v", err)
	}
}
