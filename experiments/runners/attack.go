package runners

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

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
func attackNets(ctx context.Context, r *experiments.Run, t *attacking) []float64 {
	trained := t.models(ctx, must(lab.OpenImages(t.Data, r.DataDir, math.MaxInt, 10)))
	return flatten(rotate(ctx, trained, t.Shadows, t.Most), trained)
}

func flatten(by []success, models []answered) (flat []float64) {
	for _, s := range by {
		flat = append(flat, s.svm, s.loss)
	}
	for _, m := range models {
		flat = append(flat, m.right[0], m.right[1])
	}
	return flat
}

// ceiling is the largest success that ε allows at δ = 1e-5 and even odds.
func ceiling(epsilon string) float64 {
	return bound.MaxSuccess(must(strconv.ParseFloat(epsilon, 64)), 1e-5, 0.5)
}

// answered is a trained model with what it says about its own records: members first, and
// as many others.
type answered struct {
	attack.Posteriors
	right [2]float64 // share of right answers: members, others
}

// answer is what a model says of a record.
func (a answered) answer(i int) []float64 { return a.P[i*a.Classes:][:a.Classes] }

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
func (t *attacking) models(ctx context.Context, data *lab.Images) []answered {
	net, out, by := must(t.changed()), make([]answered, t.Models), t.training
	by.By, by.Clip, by.Last = "adam", 1, true
	for k, records := range t.deal(data.Train.Len(), t.Models) {
		own := &lab.Images{Name: data.Name, Target: data.Target, Train: data.Train.Some(records[:t.Members]), Test: lab.First(data.Test, 10)}
		outcome := must(own.Run(ctx, net, uint64(k+1), by.set))
		set := data.Train.Some(records)
		p := attack.Posteriors{Classes: len(set.Classes), P: outcome.Model.Answers(set.Len(), set.At)}
		for _, y := range set.Labels {
			p.Label = append(p.Label, int(y))
		}
		out[k].Posteriors = p
		for i, v := range must(p.Scores(attack.Correct)) {
			out[k].right[i/t.Members] += v / float64(t.Members)
		}
	}
	return out
}

// success of an attack on one target, as shares of right answers over as many members as
// others.
type success struct{ svm, loss float64 }

// rotate attacks every model by an attack model that learns from the next ones of the
// circle, for each number of shadow models.
func rotate(ctx context.Context, models []answered, shadows []int, most int) []success {
	return experiments.Each(ctx, len(shadows)*len(models), func(i int) success {
		target, by := i%len(models), []answered(nil)
		for k := range shadows[i/len(models)] {
			by = append(by, models[(target+1+k)%len(models)])
		}
		return attacked(models[target], by, most)
	})
}

// attacked attacks one target. An attack model learns from at most so many records of each
// shadow model, as many members as others.
func attacked(target answered, shadows []answered, most int) (s success) {
	var rows, losses [][]float64
	var member []bool
	for _, s := range shadows {
		half := len(s.Label) / 2
		take, signal := min(half, most/2), must(s.Scores(attack.Loss))
		for j := range 2 * take {
			i := j
			if j >= take {
				i = half + j - take
			}
			rows, losses = append(rows, s.answer(i)), append(losses, []float64{signal[i]})
			member = append(member, j < take)
		}
	}
	svm, logistic := must(attack.TrainSVM(rows, member, attack.SVMOptions{})), must(attack.TrainLogistic(losses, member, 0))
	each := 1 / float64(len(target.Label))
	for i, signal := range must(target.Scores(attack.Loss)) {
		in := i < len(target.Label)/2
		if (svm.Score(target.answer(i)) > 0) == in {
			s.svm += each
		}
		if (logistic.Score([]float64{signal}) > 0) == in {
			s.loss += each
		}
	}
	return s
}
