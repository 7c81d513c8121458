package kernel

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func TestParallelDoesEachPartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers, parts := rapid.IntRange(1, 8).Draw(t, "workers"), rapid.IntRange(0, 20).Draw(t, "parts")
		calls := make([]atomic.Int32, parts)
		var running, most atomic.Int32
		Parallel(workers, parts, func(i int) {
			now := running.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			calls[i].Add(1)
			running.Add(-1)
		})
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Fatalf("part %d done %d times", i, n)
			}
		}
		if int(most.Load()) > workers {
			t.Fatalf("%d at once with %d workers", most.Load(), workers)
		}
	})
}

func TestPartsCoverAllOnceAndEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, parts := rapid.IntRange(0, 100).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "parts")
		at := 0
		for i := range parts {
			lo, hi := partOf(n, parts, i)
			if lo != at || hi-lo < n/parts || hi-lo > n/parts+1 {
				t.Fatalf("part %d is %d to %d, want from %d", i, lo, hi, at)
			}
			at = hi
		}
		if at != n {
			t.Fatalf("parts end at %d", at)
		}
	})
}

func TestParallelRaisesThePanicOfTheLowestPart(t *testing.T) {
	for _, workers := range []int{1, 4} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); r != "part 2" {
					t.Errorf("%d workers: panic %q", workers, r)
				}
			}()
			Parallel(workers, 6, func(i int) {
				if i >= 2 {
					panic(fmt.Sprintf("part %d", i))
				}
			})
		}()
	}
	defer func() {
		if recover() == nil {
			t.Error("no workers: no panic")
		}
	}()
	Parallel(0, 1, func(int) {})
}

// step is a training step of one layer: forward, weight gradient summed over
// four parts of the batch, and noise as a fifth part.
func step(workers int, a, w Matrix, batch int) []float32 {
	const parts = 4
	packed := Pack(w)
	out := Dense(make([]float32, batch*w.Cols), batch, w.Cols)
	noise := make([]float32, w.Rows*w.Cols)
	sums := make([][]float32, parts)
	Parallel(workers, parts+1, func(i int) {
		if i == parts {
			copy(noise, draw(testKey(9), 0, len(noise)))
			return
		}
		lo, hi := partOf(batch, parts, i)
		MatMulPacked(out.RowRange(lo, hi), a.RowRange(lo, hi), packed, false)
		sums[i] = make([]float32, w.Rows*w.Cols)
		MatMul(Dense(sums[i], w.Rows, w.Cols), a.RowRange(lo, hi).T(), out.RowRange(lo, hi), false)
	})
	for _, s := range sums {
		AddScaled(noise, s, 1)
	}
	return append(noise, out.Data...)
}

func TestBitsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	const batch, in, out = 250, 77, 33
	a := Dense(draw(testKey(1), 0, batch*in), batch, in)
	w := Dense(draw(testKey(2), 0, in*out), in, out)
	want := step(1, a, w, batch)
	for _, workers := range []int{2, 3, 8} {
		for range 5 {
			if !slices.Equal(step(workers, a, w, batch), want) {
				t.Fatalf("%d workers give other bits than one", workers)
			}
		}
	}
}
