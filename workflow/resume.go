package workflow

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"pawl/compute/kernel"
	"pawl/compute/optim"
	"pawl/core/gradient"
	"pawl/core/ledger"
	"pawl/workflow/checkpoint"
)

// Granted is the epsilon of the data set's budget that the plan was made for, "" for none. A
// computation that goes on is planned with that of its beginning: the noise of a score follows from it.
func (plan *Plan) Granted() string { return plan.problem.Schema.GrantedEpsilon }

// GoesOn refuses a checkpoint of another computation than the plan on the data of env.
func (plan *Plan) GoesOn(env Env) error { return plan.begin(env) }

// begin writes the checkpoint of the run, or sees that it is of this run, while nothing
// is charged.
func (plan *Plan) begin(env Env) error {
	if env.Checkpoint == nil {
		return nil
	}
	j, ok := plan.job.(*train)
	if !ok {
		return usage("run it without a checkpoint", "only the training of one network has checkpoints")
	}
	settings, err := json.Marshal(j.of.TrainInput)
	if err != nil {
		return err
	}
	return env.Checkpoint.Begin(checkpoint.Identity{Software: env.Software, Kernel: kernel.Name(), Dataset: plan.problem.Dataset,
		Data: env.Digest, Plan: plan.digest(env.Digest), Granted: plan.Granted(), Settings: settings})
}

// replay names the computation to the ledger where it may be run again at no cost: by the
// secret of its checkpoint or study, and by what the output depends on beside the event
// and the data. Another plan, another program (whose rules may differ) or another kernel
// (whose sums round otherwise) is another computation, and is charged anew.
func (plan *Plan) replay(env Env) (*ledger.Replay, error) {
	switch {
	case env.Checkpoint != nil:
		return &ledger.Replay{Secret: env.Checkpoint.Secret(), Of: env.Checkpoint.Of()}, nil
	case env.Study != nil:
		secret, err := env.Study.Secret()
		if err != nil {
			return nil, err
		}
		whole := plan.wholeDigest(env.Digest)
		of, err := json.Marshal([]string{"study", hex.EncodeToString(whole[:]), kernel.Name(), env.Software})
		return &ledger.Replay{Secret: secret, Of: of}, err
	}
	return nil, nil
}

// kept is a training as its checkpoint has it. What it saves is a function of released
// sums and public numbers; the position of the streams of lots, masks and noise follows
// from the number of steps (gradient.Training.First).
type kept struct {
	file      *checkpoint.File
	steps     int
	norm      float64 // of the next step under quantile clipping, else 0
	params    []float32
	optimizer optim.Optimizer
	average   optim.Average
}

// restore sets the training to where the checkpoint left it.
func (k *kept) restore() error {
	if k.file == nil {
		return nil
	}
	steps, b := k.file.State()
	if steps == 0 {
		return nil
	}
	if len(b) < 8 {
		b = make([]byte, 8) // too short for the rest as well
	}
	norm := math.Float64frombits(binary.LittleEndian.Uint64(b))
	params, b, err := optim.CutVector(b[8:])
	if err == nil {
		b, err = k.optimizer.RestoreState(b)
	}
	if err == nil {
		b, err = k.average.RestoreState(b)
	}
	if err != nil || len(b) > 0 || len(params) != len(k.params) {
		return fmt.Errorf("%s: the state of another training", k.file.Path())
	}
	k.steps, k.norm = steps, norm
	copy(k.params, params)
	return nil
}

func (k *kept) save() {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 16*len(k.params)+64), math.Float64bits(k.norm))
	b = optim.AppendVector(b, k.params)
	k.file.Save(k.steps, k.average.AppendState(k.optimizer.AppendState(b)))
}

// attach lets t begin where the training is, and has its steps counted and, when it is
// time, saved.
func (k *kept) attach(t *gradient.Training) {
	if k.file == nil {
		return
	}
	t.First, t.FirstNorm = k.steps, k.norm
	if follow := t.Follow; t.Clipping == gradient.Quantile {
		t.Follow = func(norm, share float64) {
			k.norm = t.NextNorm(norm, share)
			follow(norm, share)
		}
	}
	update := t.Update
	t.Update = func(step int, params, g []float32) {
		update(step, params, g)
		if k.steps++; k.file.Due() {
			k.save()
		}
	}
}

// stopped saves what an interrupted run has.
func (k *kept) stopped() {
	if k.file != nil && k.steps > 0 {
		k.save()
	}
}
