package arousattacks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"pawl/compute/kernel"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/audit/attack"
	"pawl/evidence/lab"
	"pawl/workflow"
)

// pools says how the records of models are drawn.
type pools string

const (
	// overlapping models are trained on random halves of the same records, as we read the
	// paper: "sampled from the same target model dataset with the same size". A shadow
	// model then knows half of the target's members by itself.
	overlapping pools = "overlapping pools"
	// disjoint models share no record.
	disjoint pools = "disjoint pools"
)

// training is one setting of a network's training.
type training struct {
	data    *lab.Images
	net     zoo.Spec
	rate    float64
	epsilon string // empty trains without noise
	pools   pools
	// members are the records that a model is trained on; as many are left out.
	members, batch int
	epochs         float64
}

// answered is a trained model with what it says about its own records: members first, and
// as many others.
type answered struct {
	attack.Posteriors
	right [2]float64 // share of right answers: members, others
}

// deal returns the records of each model, members first.
func (t training) deal(models int) [][]int {
	rng := rand.New(rand.NewPCG(uint64(models), 8))
	order := rng.Perm(t.data.Train.Len())
	all := make([][]int, models)
	for k := range all {
		if t.pools == disjoint {
			all[k] = order[2*t.members*k : 2*t.members*(k+1)]
			continue
		}
		for _, i := range rng.Perm(2 * t.members) {
			all[k] = append(all[k], order[i])
		}
	}
	return all
}

// models trains so many and asks them about their records.
func (t training) models(ctx context.Context, models int) ([]answered, error) {
	out := make([]answered, models)
	for k, records := range t.deal(models) {
		own := &lab.Images{Name: t.data.Name, Target: t.data.Target, Train: t.data.Train.Some(records[:t.members]), Test: lab.First(t.data.Test, 10)}
		outcome, err := own.Run(ctx, t.net, uint64(k+1), func(in *workflow.TrainInput) {
			in.Optimizer, in.LearningRate, in.Batch, in.Epochs, in.Average = optimizer, t.rate, t.batch, t.epochs, 1e-12
			if t.epsilon == "" {
				in.NonPrivate, in.Clipping = true, gradient.Unclipped
				return
			}
			in.Epsilon, in.Delta, in.Accountant, in.ClippingNorm = t.epsilon, delta, accountant.MethodRDP, 1
		})
		if err != nil {
			return nil, err
		}
		set := t.data.Train.Some(records)
		p := attack.Posteriors{Classes: len(set.Classes), P: make([]float64, set.Len()*len(set.Classes))}
		input := make([]float32, set.Size())
		for i, y := range set.Labels {
			set.At(i, input)
			outcome.Model.InputProbabilities(p.P[i*p.Classes:(i+1)*p.Classes], input)
			p.Label = append(p.Label, int(y))
		}
		out[k].Posteriors = p
		right, err := p.Scores(attack.Correct)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
		for i, v := range right {
			out[k].right[i/t.members] += v / float64(t.members)
		}
	}
	return out, nil
}

// success of an attack on one target, as shares of right answers over as many members as
// others.
type success struct{ svm, loss float64 }

// rotate attacks every model by an attack model that learns from the next ones of the
// circle, for each number of shadow models.
func rotate(models []answered, shadows []int, most int) ([][]success, error) {
	out := make([][]success, len(shadows))
	errs := make([]error, len(shadows)*len(models))
	for i := range out {
		out[i] = make([]success, len(models))
	}
	kernel.Parallel(runtime.GOMAXPROCS(0), len(errs), func(part int) {
		i, target := part/len(models), part%len(models)
		var by []answered
		for k := range shadows[i] {
			by = append(by, models[(target+1+k)%len(models)])
		}
		out[i][target], errs[part] = attacked(models[target], by, most)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// attacked attacks one target. An attack model learns from at most so many records of each
// shadow model, as many members as others.
func attacked(target answered, shadows []answered, most int) (success, error) {
	var rows, losses [][]float64
	var member []bool
	for _, s := range shadows {
		half := len(s.Label) / 2
		take := min(half, most/2)
		signal, err := s.Scores(attack.Loss)
		if err != nil {
			return success{}, err
		}
		for j := range 2 * take {
			i := j
			if j >= take {
				i = half + j - take
			}
			rows, losses = append(rows, s.P[i*s.Classes:(i+1)*s.Classes]), append(losses, []float64{signal[i]})
			member = append(member, j < take)
		}
	}
	svm, err := attack.TrainSVM(rows, member, attack.SVMOptions{})
	if err != nil {
		return success{}, err
	}
	logistic, err := attack.TrainLogistic(losses, member, 0)
	if err != nil {
		return success{}, err
	}
	signal, err := target.Scores(attack.Loss)
	if err != nil {
		return success{}, err
	}
	var s success
	each := 1 / float64(len(target.Label))
	for i := range target.Label {
		in := i < len(target.Label)/2
		if (svm.Score(target.P[i*target.Classes:(i+1)*target.Classes]) > 0) == in {
			s.svm += each
		}
		if (logistic.Score([]float64{signal[i]}) > 0) == in {
			s.loss += each
		}
	}
	return s, nil
}
