package inference

import (
	"context"
	"fmt"

	"pawl/evidence/audit/attack"
)

// scores trains what the attack needs and scores the records under attack.
func (a Audit) scores(ctx context.Context, d *design) (attack.Scored, error) {
	s := attack.Scored{Member: d.in}
	for _, r := range d.attacked {
		s.Class = append(s.Class, a.Label[r])
	}
	target, err := a.train(ctx, 0, chosen(d.attacked, d.in))
	if err != nil {
		return s, err
	}
	var shadows [][]float64
	for m := range d.pool {
		p, err := a.train(ctx, m+1, chosen(d.pool[m], d.shadows[m]))
		if err != nil {
			return s, err
		}
		shadows = append(shadows, p)
	}
	switch a.Attack {
	case LiRA:
		s.Score, err = a.lira(d, target, shadows)
	case RMIA:
		s.Score, err = a.rmia(d, target, shadows)
	case SVM, Logistic:
		s.Score, err = a.attackModel(d, target, shadows)
	default:
		s.Score, err = Threshold(a.Attack, a.of(target, d.attacked))
	}
	return s, err
}

// Threshold scores records by an attack that needs nothing but a model's posteriors.
func Threshold(kind Kind, p attack.Posteriors) ([]float64, error) {
	signal, ok := map[Kind]attack.Signal{Loss: attack.Loss, Confidence: attack.Confidence, Entropy: attack.Entropy, ModifiedEntropy: attack.ModifiedEntropy}[kind]
	if !ok {
		return nil, fmt.Errorf("%w: no attack %q that works without shadow models", ErrInput, kind)
	}
	return p.Scores(signal)
}

func (a Audit) train(ctx context.Context, number int, members []int) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Progress != nil {
		a.Progress(number, a.Shadows+1)
	}
	p, err := a.Train(ctx, number, members)
	if err == nil && len(p) != len(a.Label)*a.Classes {
		err = fmt.Errorf("%w: %d probabilities of %d records and %d classes", ErrInput, len(p), len(a.Label), a.Classes)
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // the ledger of these trainings is the audit's own: nothing stays charged
	}
	if err != nil {
		return nil, fmt.Errorf("training model %d: %w", number, err)
	}
	return p, nil
}

// of are a model's posteriors on some of the records.
func (a Audit) of(p []float64, records []int) attack.Posteriors {
	out := attack.Posteriors{Classes: a.Classes}
	for _, r := range records {
		out.P = append(out.P, p[r*a.Classes:(r+1)*a.Classes]...)
		out.Label = append(out.Label, a.Label[r])
	}
	return out
}

func (a Audit) signals(models [][]float64, records []int, signal attack.Signal) (scores [][]float64, err error) {
	scores = make([][]float64, len(models))
	for m, p := range models {
		if scores[m], err = a.of(p, records).Scores(signal); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

func (a Audit) lira(d *design, target []float64, shadows [][]float64) ([]float64, error) {
	own, err := a.of(target, d.attacked).Scores(attack.Logit)
	if err != nil {
		return nil, err
	}
	theirs, err := a.signals(shadows, d.attacked, attack.Logit)
	if err != nil {
		return nil, err
	}
	s, err := attack.LiRA{}.Scores(own, attack.Shadows{Score: theirs, In: d.shadows})
	return s.Score, err
}

func (a Audit) rmia(d *design, target []float64, shadows [][]float64) ([]float64, error) {
	all, err := a.signals(append([][]float64{target}, shadows...), d.attacked, attack.TrueConfidence)
	if err != nil {
		return nil, err
	}
	others, err := a.signals(append([][]float64{target}, shadows...), d.population, attack.TrueConfidence)
	if err != nil {
		return nil, err
	}
	return attack.RMIA{}.Scores(all[0], attack.Shadows{Score: all[1:], In: d.shadows}, others[0], attack.Shadows{Score: others[1:]})
}

// attackModel learns from shadow models what a member's posterior looks like. The SVM
// sees the whole posterior beside the class, the logistic model the logit of the class.
func (a Audit) attackModel(d *design, target []float64, shadows [][]float64) ([]float64, error) {
	feature := attack.TrueClass
	if a.Attack == SVM {
		feature = attack.Vector
	}
	var rows [][]float64
	var member []bool
	for m, p := range shadows {
		x, err := a.of(p, d.pool[m]).Features(feature)
		if err != nil {
			return nil, err
		}
		rows, member = append(rows, x...), append(member, d.shadows[m]...)
	}
	x, err := a.of(target, d.attacked).Features(feature)
	if err != nil {
		return nil, err
	}
	var model attack.Model
	if a.Attack == SVM {
		model, err = attack.TrainSVM(rows, member, attack.SVMOptions{})
	} else {
		model, err = attack.TrainLogistic(rows, member, 0)
	}
	if err != nil {
		return nil, err
	}
	return attack.ScoreAll(model, x), nil
}
