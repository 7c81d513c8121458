package reader

import (
	"errors"

	"pawl/internal/usage"
)

// Faults collects the faults of a table: of one kind in one column the first place. That is what
// repeated readings would find by somebody who mends what was found and tries again. Its length
// is bounded by columns and kinds, not by rows; it counts no cells, and does not say whether
// there are more. What it holds is for the operator alone. A nil Faults takes nothing.
type Faults struct {
	list []error
	seen map[[2]string]bool // by column and kind
}

// NewFaults is an empty collection.
func NewFaults() *Faults { return &Faults{seen: map[[2]string]bool{}} }

// Err is what was found: nil, one error, or *usage.Faults.
func (f *Faults) Err() error { return usage.All(f.list...) }

func (f *Faults) any() bool { return f != nil && len(f.list) > 0 }

func (f *Faults) add(err error) { f.list = append(f.list, err) }

// take keeps err if it is a fault of a record and returns nil, so that the reading goes on;
// else it returns err.
func (f *Faults) take(err error) error {
	var fault *PositionError
	if f == nil || !errors.As(err, &fault) || !fault.record {
		return err
	}
	kind := [2]string{fault.Column, fault.Msg}
	if fault.Column == "" {
		kind[1] = fault.hint // the message may count the cells of a record
	}
	if !f.seen[kind] {
		f.seen[kind] = true
		f.add(err)
	}
	return nil
}

// ofRecord marks a fault of one record.
func ofRecord(err error) error {
	var fault *PositionError
	if errors.As(err, &fault) {
		fault.record = true
	}
	return err
}
