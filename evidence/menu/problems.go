// Package menu measures what every entry of the menu of `pawl fit` scores on public data
// sets at several ε, for the table that package advise carries, and says which entry the
// rules advise there.
package menu

import (
	"fmt"
	"slices"
	"strconv"

	"pawl/compute/zoo"
	"pawl/data/dataset"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/workflow"
)

// Judged are the ε at which the advice is judged. Others are measured for thresholds on
// r, where a table is quick to fit.
var Judged = []float64{0.1, 0.5, 1, 3, 8}

// Problem is a public data set and how many of its rows train.
type Problem struct {
	Name  string
	Kind  advise.Kind
	Train int
	// runs are those of the scales quick and paper.
	quick, paper int
	more         []float64 // ε beside Judged
	nets         []string
}

var digits = []string{"features-linear", "scatter-linear", "mnist-fcn-150", "arous-cnn"}

// Problems are the data sets. Splits of those without an official test set are random,
// two thirds to train; sms-spam as published.
var Problems = []Problem{
	{Name: "breast-cancer", Kind: advise.TableKind, Train: 190, quick: 5, paper: 40, more: []float64{0.03, 0.05, 0.07, 0.12, 0.15, 0.2, 0.3}},
	{Name: "wdbc", Kind: advise.TableKind, Train: 379, quick: 5, paper: 40, more: []float64{0.01, 0.03, 0.05, 0.07, 0.09, 0.12}},
	{Name: "insurance", Kind: advise.TableKind, Train: 892, quick: 5, paper: 40, more: []float64{0.003, 0.005, 0.007, 0.01, 0.03, 0.05}},
	{Name: "adult", Kind: advise.TableKind, Train: 32561, quick: 3, paper: 5, more: []float64{0.001, 0.005, 0.02}},
	{Name: "sms-spam", Kind: advise.TextKind, Train: 4700, quick: 3, paper: 5},
	{Name: "location30", Kind: advise.TableKind, Train: 3340, quick: 3, paper: 3},
	{Name: "mnist", Kind: advise.ImageKind, Train: 60000, quick: 1, paper: 1, nets: digits},
	{Name: "fashion-mnist", Kind: advise.ImageKind, Train: 60000, quick: 1, paper: 1, nets: digits},
}

// Find returns the problem on a data set.
func Find(data string) (Problem, bool) {
	i := slices.IndexFunc(Problems, func(p Problem) bool { return p.Name == data })
	if i < 0 {
		return Problem{}, false
	}
	return Problems[i], true
}

// Delta is the one that a plan takes by default: the largest power of ten up to 1/(10n).
func (p Problem) Delta() float64 {
	delta, _ := workflow.DefaultDelta(int64(p.Train))
	return delta
}

// Ratio is r = n/σ₁.
func (p Problem) Ratio(epsilon float64) (float64, error) {
	r, _, err := workflow.SignalRatio(float64(p.Train), epsilon, "")
	return r, err
}

// Entries are the learners, or networks, that are offered for the problem at an ε.
func (p Problem) Entries(epsilon float64) ([]string, error) {
	if p.Kind == advise.ImageKind {
		return p.nets, nil
	}
	var out []string
	for _, l := range advise.Learners {
		// What a plan refuses is not on the menu there.
		if _, err := p.plan(epsilon, string(l)); err == nil {
			out = append(out, string(l))
		}
	}
	if len(out) == 0 {
		_, err := p.plan(epsilon, "")
		return nil, fmt.Errorf("%s at epsilon %g: nothing is offered: %w", p.Name, epsilon, err)
	}
	return out, nil
}

// Advised is the entry that `pawl fit` takes by itself. No row is read.
func (p Problem) Advised(epsilon float64) (_ string, err error) {
	if p.Kind == advise.ImageKind {
		b, ok := dataset.Images(p.Name)
		if !ok {
			return "", fmt.Errorf("no built-in images %q", p.Name)
		}
		f := imageFacts(b.Shape, p.Train, epsilon, "")
		if f.Ratio, err = p.Ratio(epsilon); err != nil {
			return "", err
		}
		r, err := advise.ChooseImages(f)
		return r.Model, err
	}
	plan, err := p.plan(epsilon, "")
	if err != nil {
		return "", err
	}
	return string(plan.Recipe.Learner), nil
}

func imageFacts(shape [3]int, rows int, epsilon float64, preset advise.Preset) advise.ImageFacts {
	if preset == "" {
		preset = advise.Balanced
	}
	return advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: float64(rows), Epsilon: epsilon, Preset: preset}
}

// plan is what fit would make of the declarations.
func (p Problem) plan(epsilon float64, learner string) (*workflow.Plan, error) {
	b, ok := dataset.Lookup(p.Name)
	if !ok {
		return nil, fmt.Errorf("no built-in table %q", p.Name)
	}
	s := b.Schema()
	s.SetBuckets(advise.TextBuckets)
	return workflow.NewPlan(workflow.Input{
		Dataset: p.Name, Schema: s, Public: true, Target: b.Target, Epsilon: number(epsilon), Delta: delta(learner),
		Rows: int64(p.Train), Test: workflow.Official, Model: learner,
	})
}

// delta as typed: 0 for a learner that is offered there alone, others take the default.
func delta(learner string) string {
	if k := learn.KindOf(learner); k.Name != "" && !k.Approximate {
		return "0"
	}
	return ""
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// command is what measures the cell again.
func command(p Problem, epsilon float64, entry string, j Job) string {
	s := fmt.Sprintf("pawl advise measure --data %s --epsilons %s --entries %s --scale %s", p.Name, number(epsilon), entry, j.Scale)
	if p.Kind == advise.ImageKind && j.Preset != "" && j.Preset != advise.Balanced {
		s += " --preset " + string(j.Preset)
	}
	return s
}

// spec is a network as `pawl train` takes it.
func spec(name string) (zoo.Spec, error) {
	s, ok := zoo.Lookup(name)
	if !ok {
		return s, fmt.Errorf("no network %q", name)
	}
	return s.Default(), nil
}
