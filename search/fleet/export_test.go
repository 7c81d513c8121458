package fleet

import "context"

// Local is a pool within the process.
type Local struct{ Try Try }

// Do implements Pool.
func (l Local) Do(ctx context.Context, t Task) (Result, error) { return attempt(ctx, l.Try, t) }
