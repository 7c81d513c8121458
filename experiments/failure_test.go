package experiments

import (
	"context"
	"errors"
	"testing"
)

// What fails on a processor of its own ends as the error of the attempt; a fault of the program does not.
func TestEachFails(t *testing.T) {
	stop := errors.New("stop")
	run := func(ctx context.Context, at int, how func()) ([]int, error) {
		return Attempt(func() []int {
			return Each(ctx, 5, func(i int) int {
				if i == at {
					how()
				}
				return i * i
			})
		})
	}
	if _, err := run(t.Context(), 3, func() { Check(stop) }); !errors.Is(err, stop) {
		t.Errorf("error of one: %v", err)
	}
	if got, err := run(t.Context(), 5, nil); err != nil || len(got) != 5 || got[4] != 16 {
		t.Errorf("got %v (%v)", got, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := run(ended, 5, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	defer func() {
		if r := recover(); r != "a fault" {
			t.Errorf("a fault of the program became %v", r)
		}
	}()
	_, err := run(t.Context(), 2, func() { panic("a fault") })
	t.Errorf("a fault of the program is an error: %v", err)
}
