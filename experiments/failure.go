package experiments

import (
	"context"
	"runtime"

	"pawl/compute/kernel"
)

// failure is what a measurement that fails panics with: most of what one does can fail, and what fails ends its cell. The
// steps of a measurement so hand no errors on; Attempt, where a cell or a table begins, makes an error of it again.
// (text/template and encoding/json do the same.)
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Check fails for an error.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must is v; it fails for an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Attempt is what f makes, or the error of its failure.
func Attempt[T any](f func() T) (v T, err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed.error
		default:
			panic(failed)
		}
	}()
	return f(), nil
}

// Each is what one makes of the numbers from 0 to n−1, side by side on all processors. It fails as the lowest that does.
func Each[T any](ctx context.Context, n int, one func(i int) T) []T {
	out := make([]T, n)
	kernel.Parallel(runtime.GOMAXPROCS(0), n, func(i int) {
		Check(ctx.Err())
		out[i] = one(i)
	})
	return out
}

// Across are the values of several series run by run.
func Across(lists [][]float64) (out [][]float64) {
	for _, x := range lists {
		for i, v := range x {
			if i == len(out) {
				out = append(out, nil)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}
