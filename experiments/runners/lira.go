package runners

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// inferring attacks a net by LiRA: trained by Adam without an ε, else as the library trains it.
type inferring struct {
	training
	Members int     `json:"members"` // of twice as many images
	Shadows int     `json:"shadows"`
	Rate    float64 `json:"rate"` // of false positives
}

// Check has nothing against a net without seeds of its own.
func (a *inferring) Check() error { _, err := a.make(); return err }

// inferMembers trains a target and its shadow models and returns area under the curve, true positives at the rate, and
// success at even odds, each with its interval.
func inferMembers(ctx context.Context, r *experiments.Run, a *inferring) (v []float64) {
	data := must(lab.OpenImages(a.Data, r.DataDir, math.MaxInt, 100))
	order := rand.New(rand.NewPCG(5, 0)).Perm(data.Train.Len())[:2*a.Members]
	set := data.Train.Some(order)
	a.Activation, a.OwnAccountant = "relu", true
	net := must(a.make()).WithoutDropout()
	audit := inference.Audit{Classes: len(set.Classes), Attack: inference.LiRA, Shadows: a.Shadows, Seed: [2]uint64{5, 1}}
	for i, y := range set.Labels {
		audit.Label, audit.Identity = append(audit.Label, int(y)), append(audit.Identity, fmt.Append(nil, order[i]))
	}
	audit.Train = func(ctx context.Context, number int, in []int) ([]float64, error) {
		own := &lab.Images{Name: data.Name, Target: data.Target, Train: set.Some(in), Test: data.Test}
		out, err := own.Run(ctx, net, uint64(number+1), func(t *workflow.TrainInput) {
			// Who was chosen is secret, and so is how many: the plan knows the expected number.
			t.Rows = int64(a.Members)
			a.set(t)
		})
		if err != nil {
			return nil, err
		}
		return out.Model.Answers(set.Len(), set.At), nil
	}
	report := must(attack.Evaluate(must(audit.Run(ctx)).Scored, attack.Options{Rates: []float64{a.Rate}, Confidence: bound.Conviction}))
	at := report.AtRate[0]
	if at.Refusal != "" {
		experiments.Check(errors.New(at.Refusal))
	}
	for _, i := range []bound.Interval{report.AUC, *at.TruePositives, report.Success[0].Rate} {
		v = append(v, i.Estimate, i.Lower, i.Upper)
	}
	return v
}
