package lab

import (
	"bytes"
	"context"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/store/memory"
	"pawl/workflow"
)

// Images are a public set of images in memory.
type Images struct {
	Name, Target string
	Train, Test  *images.Set
	// Reuse keeps the scattering features of the training images for the next training of one network and seed: they
	// depend on nothing else. Trainings then run one after another.
	Reuse bool
	kept  *intake.Rows
	of    string
	seed  uint64
}

// First is the set's first n images.
func First(s *images.Set, n int) *images.Set {
	if n >= s.Len() {
		return s
	}
	out := &images.Set{Shape: s.Shape, Labels: s.Labels[:n], Classes: s.Classes}
	if s.Bytes != nil {
		out.Bytes = s.Bytes[:n*s.Size()]
	} else {
		out.Floats = s.Floats[:n*s.Size()]
	}
	return out
}

// Fit trains a network by the plan that the command line would make and returns the exact
// accuracy on the test images. change sets what differs from the defaults: a budget or
// NonPrivate at least.
func (s *Images) Fit(ctx context.Context, spec zoo.Spec, seed uint64, change func(*workflow.TrainInput)) (float64, error) {
	out, err := s.Run(ctx, spec, seed, change)
	if err != nil {
		return 0, err
	}
	return *out.Score.Exact, nil
}

// Run is Fit that returns the model as well.
func (s *Images) Run(ctx context.Context, spec zoo.Spec, seed uint64, change func(*workflow.TrainInput)) (*workflow.Outcome, error) {
	plan, err := s.Plan(spec, seed, change)
	if err != nil {
		return nil, err
	}
	if err := plan.FitComponents(s.Train); err != nil {
		return nil, err
	}
	rows := s.kept
	if reuse := s.Reuse && spec.Network.Layers[0].Kind == "scatter"; !reuse || rows == nil || s.seed != seed || s.of != spec.Name {
		if rows, err = s.seal(plan, s.schema(), seed); err != nil {
			return nil, err
		}
		if reuse {
			s.kept, s.of, s.seed = rows, spec.Name, seed
		}
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	return plan.Run(ctx, workflow.Env{Ledger: l, Rows: rows, Images: s.Test, Digest: bytes.Repeat([]byte{1}, 32)})
}

// Plan is the plan that Run runs.
func (s *Images) Plan(spec zoo.Spec, seed uint64, change func(*workflow.TrainInput)) (*workflow.Plan, error) {
	shape := s.Train.Shape
	spec, err := spec.For(nn.Shape{Height: shape[0], Width: shape[1], Channels: shape[2]}, len(s.Train.Classes))
	if err != nil {
		return nil, err
	}
	in := workflow.TrainInput{
		Input: s.input(s.schema(), seed),
		Name:  spec.Name, Layers: spec.Network, Shape: spec.Input, Outputs: spec.Outputs, Kappa: spec.Defaults.Kappa, ClippingNorm: spec.Defaults.ClippingNorm,
	}
	if in.Radius, err = spec.Radius(); err != nil {
		return nil, err
	}
	change(&in)
	return workflow.NewTrainPlan(in)
}

func (s *Images) seal(plan *workflow.Plan, d *schema.Schema, seed uint64) (*intake.Rows, error) {
	b := intake.NewBuilder(intake.SimulationKey(s.Name, seed), d)
	add := b.AddFloats
	if plan.ShortInputs() {
		add = b.AddShorts
	}
	err := plan.Inputs(s.Train, func(i int, input []float32) error {
		return add([]float64{float64(s.Train.Labels[i])}, input, s.Train.Found(i))
	})
	if err != nil {
		return nil, err
	}
	return b.Seal(), nil
}
