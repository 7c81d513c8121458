package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Rows say how to ask a coordinator for its data.
type Rows struct {
	// Key is the coordinator's end of the handover, and Secret goes into all keys of it.
	Key    []byte `json:"key"`
	Secret []byte `json:"secret"`
	// Size is the number of bytes.
	Size int `json:"size"`
}

// part is how many bytes of the data travel in one message: fewer than any broker forwards.
const part = 512 << 10

// MostRows bounds, in bytes, what a worker takes into its memory.
const MostRows = 2 << 30

// ErrCut is returned where the data stopped on its way; nothing of it was kept.
var ErrCut = errors.New("the rows did not arrive whole")

// wanted asks for one part of the data.
type wanted struct {
	// Key is the worker's end of the handover.
	Key  []byte `json:"key"`
	Part int    `json:"part"`
}

// about binds a part to its place in the data and to the study.
func about(study string, i, size int) string {
	return fmt.Sprintf("rows %s %d of %d bytes", study, i, size)
}

// hand answers a worker that asks for a part of the data.
func (c *Coordinator) hand(message []byte, answer func([]byte)) {
	plain, err := c.courier.Open(message, "rows "+c.order.Study)
	var w wanted
	if err != nil || strictly(plain, &w) != nil || w.Part < 0 || w.Part > len(c.order.Cargo)/part {
		return // of nobody with this ledger
	}
	from := w.Part * part
	closed, err := c.handover.close(c.order.Cargo[from:min(from+part, len(c.order.Cargo))], w.Key, about(c.order.Study, w.Part, len(c.order.Cargo)))
	if err == nil {
		answer(closed)
	}
}

// Fetch brings the data of the coordinator into memory, for who prepares a study and does not
// have it; ErrCut where the coordinator stops answering.
func (o Order) Fetch(ctx context.Context) ([]byte, error) {
	if o.Rows == nil || o.fetch == nil {
		return nil, errors.New("the search does not ship its data")
	}
	return o.fetch(ctx)
}

func (w Worker) fetch(ctx context.Context, over wire, o Order) ([]byte, error) {
	if o.Rows.Size < 0 || o.Rows.Size > MostRows {
		return nil, errors.New("the rows are too many to ship")
	}
	own, err := newHandover(o.Rows.Secret)
	if err != nil {
		return nil, err
	}
	n := namesOf(w.Courier.Name(), o.Study)
	all := make([]byte, 0, o.Rows.Size)
	for i := 0; len(all) < o.Rows.Size; i++ {
		plain, err := json.Marshal(wanted{own.public(), i})
		if err != nil {
			return nil, err
		}
		message, err := w.Courier.Close(plain, "rows "+o.Study)
		if err != nil {
			return nil, err
		}
		closed, err := persist(ctx, over, n.rows, message, w.Pace)
		if err != nil {
			return nil, err
		}
		piece, err := own.open(closed, o.Rows.Key, about(o.Study, i, o.Rows.Size))
		if err != nil || len(piece) != min(part, o.Rows.Size-len(all)) {
			return nil, fmt.Errorf("part %d of the rows was altered on its way: %w", i, ErrCut)
		}
		all = append(all, piece...)
	}
	return all, nil
}

// persist asks until it has an answer: through interruptions of the broker, but not longer than a
// coordinator may be silent.
func persist(ctx context.Context, over wire, subject string, message []byte, pace Pace) ([]byte, error) {
	for range silence {
		ask, cancel := context.WithTimeout(ctx, max(pace.Beat, Timeout))
		answer, err := over.request(ask, subject, message)
		cancel()
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pause(ctx, pace.Beat)
	}
	return nil, ErrCut
}
