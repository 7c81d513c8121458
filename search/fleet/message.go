package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"pawl/core/ledger"
)

// Task is one trial: what a worker needs beside the data.
type Task struct {
	// Trial names the trial within its study.
	Trial string `json:"trial"`
	// Candidate is what is trained, as the study writes it.
	Candidate json.RawMessage `json:"candidate"`
	// Permit is what pays for it, see ledger.Courier.
	Permit []byte `json:"permit"`
}

// errTask is wrapped where a task cannot be read.
var errTask = errors.New("the trial cannot be read")

// binding is what the permit of a trial is bound to: the trial and its candidate.
func binding(trial string, candidate []byte) string {
	sum := sha256.Sum256(candidate)
	return trial + " " + hex.EncodeToString(sum[:])
}

// Result is the outcome of a trial.
type Result struct {
	Trial string `json:"trial"`
	// Bits are those of the score: exact, also where it is no number.
	Bits uint64 `json:"bits"`
	// Failed says that the training failed, which counts as a score of −Inf.
	Failed bool `json:"failed,omitempty"`
	// Answer is what an errand is for, see Outcome.
	Answer []byte `json:"answer,omitempty"`
	// GaveUp says that no worker could finish the trial; it has no outcome then.
	GaveUp bool `json:"gave_up,omitempty"`
}

// Score is the trial's: −Inf for a failed training.
func (r Result) Score() float64 {
	if r.Failed {
		return math.Inf(-1)
	}
	return math.Float64frombits(r.Bits)
}

// Pool runs trials, several at once. Do returns when the trial is done. An error is no failed
// training: the study must stop, and can go on later.
type Pool interface {
	Do(ctx context.Context, t Task) (Result, error)
}

// Outcome is what a trial makes: a score, or the answer of an errand, which is a task that trains
// no candidate of a study, such as a cell of a table that is measured.
type Outcome struct {
	Score  float64
	Answer []byte
}

// Try trains the candidate of a task, or does an errand. An error is a failed training, unless
// ctx has ended.
type Try func(ctx context.Context, t Task) (Outcome, error)

func attempt(ctx context.Context, try Try, t Task) (Result, error) {
	out, err := try(ctx, t)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if ledger.Misplaced(err) || errors.Is(err, errTask) {
		return Result{}, err
	}
	if err != nil || math.IsNaN(out.Score) {
		return Result{Trial: t.Trial, Failed: true}, nil
	}
	return Result{Trial: t.Trial, Bits: math.Float64bits(out.Score), Answer: out.Answer}, nil
}

// print tells results of one trial apart.
func (r Result) print() [sha256.Size]byte {
	head := binary.LittleEndian.AppendUint64(nil, r.Bits)
	if r.Failed {
		head = append(head, 1)
	}
	return sha256.Sum256(append(head, r.Answer...))
}

// Order is what a worker must know of a study to open its data and to make its trainings. It
// holds no row and no key.
type Order struct {
	// Study names the study on the wire: no other study, earlier or later, has the same name.
	Study string `json:"study"`
	// Name is what its owner calls it.
	Name string `json:"name"`
	// Software and Kernel are those of the coordinator. Scores of another program, or of another
	// processor's kernel, are not the same to the bit.
	Software string `json:"software"`
	Kernel   string `json:"kernel"`
	// Kind is "" for a study, and else says what the tasks are errands of.
	Kind string `json:"kind,omitempty"`
	// Spec is the digest of everything that the trials depend on, data included.
	Spec string `json:"spec"`
	// Job is what the command asked for.
	Job json.RawMessage `json:"job"`
	// Done says that the study has ended.
	Done bool `json:"done,omitempty"`
	// Rows say how to ask the coordinator for its data; nil where workers have them.
	Rows *Rows `json:"rows,omitempty"`
	// Cargo is the data that a coordinator hands to workers, nil for none. It does not travel with
	// the order.
	Cargo []byte `json:"-"`
	// Say is given a line for the operator of the coordinator when nobody takes trials; may be nil.
	Say   func(line string) `json:"-"`
	fetch func(ctx context.Context) ([]byte, error)
}

// MismatchError is returned by a worker that would not compute what the coordinator would.
type MismatchError struct{ What, Study, There, Here string }

func (e *MismatchError) Error() string {
	if e.There == "" {
		return fmt.Sprintf("study %s: this worker has %s", e.Study, e.What)
	}
	return fmt.Sprintf("study %s runs with %s %s, and this worker has %s", e.Study, e.What, e.There, e.Here)
}

// Hint says what to do.
func (e *MismatchError) Hint() string {
	switch e.What {
	case "pawl":
		return "install the same version of pawl on all machines"
	case "kernel":
		return "use machines whose processors have the same vector instructions"
	}
	return "the file, the schema and the ledger must be those of the coordinator"
}

// readOrder reads an order. Of one that another version wrote in its own way it reads what says so,
// for Prepare to refuse it by name.
func readOrder(b []byte, o *Order) error {
	if strictly(b, o) == nil {
		return nil
	}
	var known struct {
		Study    string `json:"study"`
		Name     string `json:"name"`
		Software string `json:"software"`
		Done     bool   `json:"done"`
	}
	if err := json.Unmarshal(b, &known); err != nil {
		return err
	}
	*o = Order{Study: known.Study, Name: known.Name, Software: known.Software + " (other messages)", Done: known.Done}
	return nil
}

// strictly reads a message of the same program; a field that it does not know is refused, because
// ignoring it could change what is computed.
func strictly(b []byte, v any) error {
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return err
	}
	if _, err := in.Token(); err != io.EOF {
		return errors.New("more than one message")
	}
	return nil
}
