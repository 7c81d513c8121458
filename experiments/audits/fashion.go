// Package audits measures what our own audits find: models that memorize and models that
// are private, honest trainings and broken ones. There is nothing published to hold the
// numbers against; the targets are those of the theory and of what an audit is for.
package audits

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/gradient"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// Fashion attacks a net that memorizes 5,000 images, and the same net at ε = 2.
func Fashion() experiments.Experiment {
	return experiments.Experiment{
		Name: "audit-fashion", Title: "LiRA on a net that memorizes, and on the same net under DP",
		Source: "ours: a control of pawl audit mia", Data: []string{fashionData}, Quick: 100, Run: fashion,
	}
}

const (
	fashionData  = "fashion-mnist"
	fashionNet   = "fmnist-stw-fcn"
	fashionClaim = "2"
	fashionDelta = "0.00001"
	// surely is the confidence of intervals by which a claim is judged.
	surely = bound.Conviction
)

// fashionArm is a training that is attacked.
type fashionArm struct {
	name   string
	claim  *bound.Claim
	epochs float64
	change func(in *workflow.TrainInput)
}

// found is what a cell keeps of an attack.
type found struct{ auc, rare, success bound.Interval }

func (f found) flat() (v []float64) {
	for _, i := range []bound.Interval{f.auc, f.rare, f.success} {
		v = append(v, i.Estimate, i.Lower, i.Upper)
	}
	return v
}

func readFound(v []float64) found {
	at := func(i int) bound.Interval { return bound.Interval{Estimate: v[3*i], Lower: v[3*i+1], Upper: v[3*i+2]} }
	return found{at(0), at(1), at(2)}
}

func fashion(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	members, shadows := experiments.Pick(r.Scale, 100, 5000, 5000), experiments.Pick(r.Scale, 4, 32, 128)
	rare := experiments.Pick(r.Scale, .05, .01, .01)
	data, err := lab.OpenImages(fashionData, r.DataDir, math.MaxInt, 100)
	if err != nil {
		return nil, err
	}
	arms := []fashionArm{
		{"without privacy", nil, experiments.Pick(r.Scale, 2., 60, 60), func(in *workflow.TrainInput) {
			in.NonPrivate, in.Clipping, in.Optimizer, in.LearningRate = true, gradient.Unclipped, "adam", 1e-3
		}},
		{"ε = " + fashionClaim, &bound.Claim{Epsilon: 2, Delta: 1e-5}, experiments.Pick(r.Scale, 2., 20, 20), func(in *workflow.TrainInput) {
			in.Epsilon, in.Delta = fashionClaim, fashionDelta
		}},
	}
	t := &experiments.Table{Unit: "% of images"}
	var all []found
	for _, a := range arms {
		cell := fmt.Sprintf("%s, %s, %d members of %d, %g epochs, LiRA with %d shadow models, at %g", a.name, fashionNet, members, 2*members, a.epochs, shadows, rare)
		v, err := r.Cell(ctx, cell, func() ([]float64, error) { return a.attack(ctx, data, members, shadows, rare) })
		if err != nil {
			return nil, err
		}
		f := readFound(v)
		all = append(all, f)
		label := fmt.Sprintf("%s, %s, about %d members of %d", fashionData, fashionNet, members, 2*members)
		t.Rows = append(t.Rows,
			experiments.Row{Name: a.name + ", AUC", Data: label, Honest: shown(f.auc), Baseline: experiments.Exact(50), Verdict: experiments.Unpublished, Why: between(f.auc)},
			experiments.Row{Name: fmt.Sprintf("%s, true positives at %g %% false ones", a.name, 100*rare), Data: label, Honest: shown(f.rare), Baseline: experiments.Exact(100 * rare), Verdict: experiments.Unpublished, Why: between(f.rare)},
			experiments.Row{Name: a.name + ", success at even odds", Data: label, Honest: shown(f.success), Baseline: experiments.Exact(50), Verdict: experiments.Unpublished, Why: between(f.success)})
	}
	t.Claims = fashionClaims(all[0], all[1], rare, *arms[1].claim)
	t.Notes = []string{
		fmt.Sprintf("the audit's own target and %d shadow models, each trained on the images that a fair coin chose of %d; lots of %d, Adam at 0.001 without privacy, the library's rule under it; ReLU and no dropout in both", shadows, 2*members, fashionLot),
		"intervals hold at 99.9 %, two-sided: of success with a threshold that was chosen on other images, of true positives by Clopper and Pearson",
		"through the command: pawl train " + fashionData + " --model " + fashionNet + " --activation relu --non-private --clipping none --optimizer adam --learning-rate 0.001 --batch 100 --epochs 60 --out net, then pawl audit mia --model net --data " + fashionData + " --attack lira --shadows 32 --records 10000",
		"an attack that fails proves nothing: the second net may leak what LiRA does not see",
	}
	t.Guarantee = "audits of public data"
	return t, nil
}

// shown is an interval at 99.9 % as a row's number.
func shown(i bound.Interval) *experiments.Estimate {
	return &experiments.Estimate{Mean: 100 * i.Estimate, Low: 100 * i.Lower, High: 100 * i.Upper, Runs: 1}
}

func between(i bound.Interval) string {
	return fmt.Sprintf("%.2f to %.2f at %g %%", 100*i.Lower, 100*i.Upper, 100*surely)
}

const fashionLot = 100

// attack trains a target and its shadow models and runs LiRA.
func (a fashionArm) attack(ctx context.Context, data *lab.Images, members, shadows int, rare float64) ([]float64, error) {
	order := rand.New(rand.NewPCG(5, 0)).Perm(data.Train.Len())[:2*members]
	set := data.Train.Some(order)
	net, err := lab.Net(fashionNet)
	if err != nil {
		return nil, err
	}
	if net, err = net.WithActivation("relu"); err != nil {
		return nil, err
	}
	net = net.WithoutDropout()
	audit := inference.Audit{Classes: len(set.Classes), Attack: inference.LiRA, Shadows: shadows, Seed: [2]uint64{5, 1}}
	for i, y := range set.Labels {
		audit.Label, audit.Identity = append(audit.Label, int(y)), append(audit.Identity, fmt.Append(nil, order[i]))
	}
	audit.Train = func(ctx context.Context, number int, in []int) ([]float64, error) {
		own := &lab.Images{Name: data.Name, Target: data.Target, Train: set.Some(in), Test: data.Test}
		out, err := own.Run(ctx, net, uint64(number+1), func(t *workflow.TrainInput) {
			// Who was chosen is secret, and so is how many: the plan knows the expected number.
			t.Rows, t.Batch, t.Epochs = int64(members), fashionLot, a.epochs
			a.change(t)
		})
		if err != nil {
			return nil, err
		}
		return out.Model.Answers(set.Len(), set.At), nil
	}
	result, err := audit.Run(ctx)
	if err != nil {
		return nil, err
	}
	report, err := attack.Evaluate(result.Scored, attack.Options{Rates: []float64{rare}, Confidence: surely})
	if err != nil {
		return nil, err
	}
	at := report.AtRate[0]
	if at.Refusal != "" {
		return nil, fmt.Errorf("%s", at.Refusal)
	}
	return found{report.AUC, *at.TruePositives, report.Success[0].Rate}.flat(), nil
}

func fashionClaims(memorizes, private found, rare float64, claim bound.Claim) []experiments.Claim {
	judged := func(statement string, holds, nearly bool, evidence string, values ...any) experiments.Claim {
		c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: fmt.Sprintf(evidence, values...)}
		switch {
		case holds:
			c.Verdict = experiments.Reproduced
		case nearly:
			c.Verdict = experiments.SameSign
		}
		return c
	}
	ceiling := bound.MaxSuccess(claim.Epsilon, claim.Delta, 0.5)
	m, p := memorizes, private
	return []experiments.Claim{
		judged(fmt.Sprintf("a net that memorizes gives away three times as many members as chance, at %g %% false positives", 100*rare), m.rare.Estimate >= 3*rare, m.rare.Lower > rare,
			"%.2f %% (%.2f to %.2f), %.1f times chance", 100*m.rare.Estimate, 100*m.rare.Lower, 100*m.rare.Upper, m.rare.Estimate/rare),
		judged("under DP it is within its interval of chance", p.rare.Lower <= rare, p.rare.Lower <= 3*rare, "%.2f %% (%.2f to %.2f)", 100*p.rare.Estimate, 100*p.rare.Lower, 100*p.rare.Upper),
		judged(fmt.Sprintf("and no attack succeeds more often than (e^ε+δ)/(1+e^ε) = %.1f %%", 100*ceiling), p.success.Lower <= ceiling, false,
			"%.1f %% (%.1f to %.1f)", 100*p.success.Estimate, 100*p.success.Lower, 100*p.success.Upper),
	}
}
