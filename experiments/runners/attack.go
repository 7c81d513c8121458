package runners

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"pawl/compute/kernel"
	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/lab"
	"pawl/experiments"
)

// pools says how the records of models are drawn.
type pools string

const (
	// overlapping models are trained on random halves of the same records, as we read the paper: "sampled from the same
	// target model dataset with the same size". A shadow model then knows half of the target's members by itself.
	overlapping pools = "overlapping pools"
	// disjoint models share no record.
	disjoint pools = "disjoint pools"
)

// attacking trains models on members, and attacks each by the next ones as its shadow models.
type attacking struct {
	training
	// Change is an activation, a normalization behind every convolution, or dropout before fully connected layers.
	Change string `json:"change"`
	Pools  pools  `json:"pools"`
	// Members are the records that a model is trained on; as many are left out.
	Members int   `json:"members"`
	Models  int   `json:"models"`
	Shadows []int `json:"shadows"`
	// Most records of each shadow model teach the attack model.
	Most int `json:"most"`
}

// Check says what is wrong before anything is trained.
func (t *attacking) Check() error {
	_, err := t.changed()
	return err
}

// changed is the net with its change. The net's stated counts, which were those of other layers, are dropped.
func (t *attacking) changed() (zoo.Spec, error) {
	s, err := lab.Net(t.Net)
	if err != nil {
		return s, err
	}
	s.Defaults.Bound = t.Bound
	if slices.Contains(nn.Activations(), t.Change) {
		return s.WithActivation(t.Change)
	}
	if s, err = s.WithActivation("relu"); err != nil {
		return s, err
	}
	put, at, behind := nn.Layer{Kind: t.Change}, "conv2d", 1
	if t.Change == "dropout" {
		put.Rate, at, behind = 0.5, "dense", 0
	}
	s.Network.Layers = slices.Clone(s.Network.Layers)
	for i := len(s.Network.Layers) - 1; i >= 0; i-- {
		if s.Network.Layers[i].Kind == at {
			s.Network.Layers = slices.Insert(s.Network.Layers, i+behind, put)
		}
	}
	s.Parameters, s.Trainable = 0, 0
	return s, nil
}

// attackNets returns for each number of shadow models and each target the success of the attack model and of a threshold
// on the loss, then each model's share of right answers for members and for others.
func attackNets(ctx context.Context, r *experiments.Run, t *attacking) ([]float64, error) {
	data, err := lab.OpenImages(t.Data, r.DataDir, math.MaxInt, 10)
	if err != nil {
		return nil, err
	}
	trained, err := t.models(ctx, data)
	if err != nil {
		return nil, err
	}
	by, err := rotate(trained, t.Shadows, t.Most)
	if err != nil {
		return nil, err
	}
	return flatten(by, trained), nil
}

func flatten(by [][]success, models []answered) (flat []float64) {
	for _, all := range by {
		for _, s := range all {
			flat = append(flat, s.svm, s.loss)
		}
	}
	for _, m := range models {
		flat = append(flat, m.right[0], m.right[1])
	}
	return flat
}

// ceiling is the largest success that ε allows at δ = 1e-5 and even odds.
func ceiling(epsilon string) (float64, error) {
	e, err := strconv.ParseFloat(epsilon, 64)
	return bound.MaxSuccess(e, 1e-5, 0.5), err
}

// answered is a trained model with what it says about its own records: members first, and
// as many others.
type answered struct {
	attack.Posteriors
	right [2]float64 // share of right answers: members, others
}

// deal returns the records of each model, members first.
func (t *attacking) deal(n, models int) [][]int {
	rng := rand.New(rand.NewPCG(uint64(models), 8))
	order := rng.Perm(n)
	all := make([][]int, models)
	for k := range all {
		if t.Pools == disjoint {
			all[k] = order[2*t.Members*k : 2*t.Members*(k+1)]
			continue
		}
		for _, i := range rng.Perm(2 * t.Members) {
			all[k] = append(all[k], order[i])
		}
	}
	return all
}

// models trains so many and asks them about their records.
func (t *attacking) models(ctx context.Context, data *lab.Images) ([]answered, error) {
	net, err := t.changed()
	if err != nil {
		return nil, err
	}
	out := make([]answered, t.Models)
	by := t.training
	by.By, by.Clip, by.Last = "adam", 1, true
	for k, records := range t.deal(data.Train.Len(), t.Models) {
		own := &lab.Images{Name: data.Name, Target: data.Target, Train: data.Train.Some(records[:t.Members]), Test: lab.First(data.Test, 10)}
		outcome, err := own.Run(ctx, net, uint64(k+1), by.set)
		if err != nil {
			return nil, err
		}
		set := data.Train.Some(records)
		p := attack.Posteriors{Classes: len(set.Classes), P: outcome.Model.Answers(set.Len(), set.At)}
		for _, y := range set.Labels {
			p.Label = append(p.Label, int(y))
		}
		out[k].Posteriors = p
		right, err := p.Scores(attack.Correct)
		if err != nil {
			return nil, fmt.Errorf("model %d: %w", k, err)
		}
		for i, v := range right {
			out[k].right[i/t.Members] += v / float64(t.Members)
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
	return out, cmp.Or(errs...)
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
