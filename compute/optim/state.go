package optim

import (
	"encoding/binary"
	"errors"
	"math"
)

// Stateful is what goes on from bytes as if it had never stopped: after RestoreState
// of what AppendState wrote, every later step has the same bits. The bytes hold what
// changes from step to step and none of the fields that a caller sets.
type Stateful interface {
	// AppendState appends the state to b.
	AppendState(b []byte) []byte
	// RestoreState takes the state from the front of b and returns what follows it.
	// On an error, which bytes that are cut short give, the state is unchanged.
	RestoreState(b []byte) (rest []byte, err error)
}

var errShort = errors.New("optim: a state that is cut short")

// AppendVector appends v: its length, then its bits, little-endian.
func AppendVector(b []byte, v []float32) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// CutVector takes a vector from the front of b; one of length 0 is nil.
func CutVector(b []byte) (v []float32, rest []byte, err error) {
	if len(b) < 8 {
		return nil, nil, errShort
	}
	n, b := binary.LittleEndian.Uint64(b), b[8:]
	if n > uint64(len(b)/4) {
		return nil, nil, errShort
	}
	if n > 0 {
		v = make([]float32, n)
	}
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, b[4*n:], nil
}

func appendState(b []byte, steps int, vectors ...[]float32) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(steps))
	for _, v := range vectors {
		b = AppendVector(b, v)
	}
	return b
}

func restoreState(b []byte, steps *int, vectors ...*[]float32) ([]byte, error) {
	if len(b) < 8 {
		return nil, errShort
	}
	n, b := binary.LittleEndian.Uint64(b), b[8:]
	if n > math.MaxInt {
		return nil, errShort
	}
	read := make([][]float32, len(vectors))
	for i := range vectors {
		var err error
		if read[i], b, err = CutVector(b); err != nil {
			return nil, err
		}
	}
	*steps = int(n)
	for i, v := range read {
		*vectors[i] = v
	}
	return b, nil
}

// AppendState implements Stateful: there is none.
func (o *SGD) AppendState(b []byte) []byte { return b }

// RestoreState implements Stateful.
func (o *SGD) RestoreState(b []byte) ([]byte, error) { return b, nil }

// AppendState implements Stateful.
func (o *Momentum) AppendState(b []byte) []byte { return AppendVector(b, o.velocity) }

// RestoreState implements Stateful.
func (o *Momentum) RestoreState(b []byte) ([]byte, error) {
	v, rest, err := CutVector(b)
	if err == nil {
		o.velocity = v
	}
	return rest, err
}

// AppendState implements Stateful.
func (o *Adam) AppendState(b []byte) []byte { return appendState(b, o.steps, o.m, o.v) }

// RestoreState implements Stateful.
func (o *Adam) RestoreState(b []byte) ([]byte, error) { return restoreState(b, &o.steps, &o.m, &o.v) }

// AppendState implements Stateful.
func (o *AdamWOSM) AppendState(b []byte) []byte { return appendState(b, o.steps, o.m) }

// RestoreState implements Stateful.
func (o *AdamWOSM) RestoreState(b []byte) ([]byte, error) { return restoreState(b, &o.steps, &o.m) }

// AppendState implements Stateful: the optimizer's behind the number of steps made.
func (w *Scheduled) AppendState(b []byte) []byte {
	return w.inner.AppendState(appendState(b, w.t))
}

// RestoreState implements Stateful.
func (w *Scheduled) RestoreState(b []byte) ([]byte, error) {
	t := 0
	b, err := restoreState(b, &t)
	if err == nil {
		b, err = w.inner.RestoreState(b)
	}
	if err == nil {
		w.t = t
	}
	return b, err
}
