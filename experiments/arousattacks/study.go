package arousattacks

import (
	"context"
	"fmt"
	"math"
	"strings"

	"pawl/evidence/audit/bound"
	"pawl/evidence/lab"
	"pawl/experiments"
)

const (
	small = "fashion-mnist"
	large = "cifar10"
)

// target is one of the paper's two nets on its data.
type target struct {
	data, net string
	bound     float64 // of bounded ReLU, on these data
	epsilon   string  // of the private rows: the paper's Table 6
	of        float64
}

var targets = []target{{small, "arous-cnn", 3, "2.7", 2.7}, {large, "arous-cifar-cnn", 4, "2.2", 2.2}}

// settings of a scale.
type settings struct {
	members map[string]int
	epochs  map[string]float64
	batch   int
	shadows []int
	// most records of each shadow model teach the attack model.
	most int
}

func at(s experiments.Scale) settings {
	return settings{
		members: map[string]int{small: experiments.Pick(s, 40, 500, 2750), large: experiments.Pick(s, 20, 250, 2750)},
		epochs:  map[string]float64{small: experiments.Pick(s, 2., 50, 50), large: experiments.Pick(s, 1., 20, 50)},
		batch:   experiments.Pick(s, 10, 25, 50), shadows: experiments.Pick(s, []int{2, 4}, []int{2, 4, 6, 8}, []int{2, 4, 6, 8}),
		most: experiments.Pick(s, 40, 300, 1000),
	}
}

// outcome of one training: by number of shadow models and target.
type outcome struct {
	success [][]success
	right   [][2]float64
}

// measured holds outcomes by data, variant and how.
type measured struct {
	settings
	baseline string // the variant that others are held against
	all      map[string]outcome
}

func key(data, variant, how string) string { return strings.Join([]string{data, variant, how}, "\x00") }

const private = "under DP"

func (m *measured) of(data, variant, how string) (outcome, bool) {
	o, ok := m.all[key(data, variant, how)]
	return o, ok
}

func (f figure) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	m := &measured{settings: at(r.Scale), baseline: f.baseline.name, all: map[string]outcome{}}
	t := &experiments.Table{Unit: "% of records, half of them members, of which the attack is right"}
	bars := append([]variant{f.baseline}, f.variants...)
	for _, g := range targets {
		data, err := lab.OpenImages(g.data, r.DataDir, math.MaxInt, 10)
		if err != nil {
			return nil, err
		}
		for _, v := range bars {
			if err := m.measure(ctx, r, g, data, v); err != nil {
				return nil, err
			}
		}
		for _, v := range bars {
			t.Rows = append(t.Rows, m.rows(g, v)...)
		}
		for _, d := range f.printed {
			if d.data == g.data {
				t.Rows = append(t.Rows, m.difference(d))
			}
		}
		for _, v := range bars {
			t.Rows = append(t.Rows, m.private(g, v)...)
		}
	}
	remarks := m.within(bars)
	t.Claims = append(f.claims(m), remarks...)
	t.Notes = append(m.notes(), f.note)
	return t, nil
}

// measure trains a variant in three ways.
func (m *measured) measure(ctx context.Context, r *experiments.Run, g target, data *lab.Images, v variant) error {
	spec, err := lab.Net(g.net)
	if err != nil {
		return err
	}
	spec.Defaults.Bound = g.bound
	if spec, err = v.net(spec); err != nil {
		return err
	}
	t := training{data: data, net: spec, rate: v.rate, members: m.members[g.data], batch: m.batch, epochs: m.epochs[g.data]}
	for _, how := range []string{string(overlapping), string(disjoint), private} {
		t.pools, t.epsilon = pools(how), ""
		if how == private {
			if t.pools, t.epsilon = disjoint, g.epsilon; v.mixes {
				continue
			}
		}
		models := m.shadows[len(m.shadows)-1] + 1
		name := fmt.Sprintf("%s, %s, %s, ε = %q, %s %g, %d members, lots of %d, %g epochs, %d models, shadows %v, %d records each",
			g.data, v.name, t.pools, t.epsilon, optimizer, t.rate, t.members, t.batch, t.epochs, models, m.shadows, m.most)
		flat, err := r.Cell(ctx, name, func() ([]float64, error) {
			trained, err := t.models(ctx, models)
			if err != nil {
				return nil, err
			}
			by, err := rotate(trained, m.shadows, m.most)
			if err != nil {
				return nil, err
			}
			return flatten(by, trained), nil
		})
		if err != nil {
			return err
		}
		m.all[key(g.data, v.name, how)] = unflatten(flat, len(m.shadows), models)
	}
	return nil
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

func unflatten(flat []float64, shadows, models int) outcome {
	var o outcome
	next := func() (a, b float64) {
		a, b = flat[0], flat[1]
		flat = flat[2:]
		return a, b
	}
	for range shadows {
		all := make([]success, models)
		for i := range all {
			all[i].svm, all[i].loss = next()
		}
		o.success = append(o.success, all)
	}
	for range models {
		in, out := next()
		o.right = append(o.right, [2]float64{in, out})
	}
	return o
}

// percents are successes of the attack model, or of the threshold on the loss, at the i-th
// number of shadow models.
func (o outcome) percents(i int, loss bool) (p []float64) {
	for _, s := range o.success[i] {
		if loss {
			p = append(p, 100*s.loss)
		} else {
			p = append(p, 100*s.svm)
		}
	}
	return p
}

// gap is how much better members are answered, in points.
func (o outcome) gap() (p []float64) {
	for _, r := range o.right {
		p = append(p, 100*(r[0]-r[1]))
	}
	return p
}

func (o outcome) others() (p []float64) {
	for _, r := range o.right {
		p = append(p, 100*r[1])
	}
	return p
}

// rows of a variant without privacy.
func (m *measured) rows(g target, v variant) (rows []experiments.Row) {
	published, _ := m.of(g.data, v.name, string(overlapping))
	honest, _ := m.of(g.data, v.name, string(disjoint))
	for i, n := range m.shadows {
		rows = append(rows, experiments.Row{
			Name: fmt.Sprintf("%s, %d shadow models", v.name, n), Data: m.data(g),
			AsPublished: experiments.Of(published.percents(i, false)), Honest: experiments.Of(honest.percents(i, false)), Baseline: experiments.Of(honest.percents(i, true)),
		})
	}
	return append(rows, experiments.Row{Name: v.name + ", accuracy on others", Data: m.data(g), AsPublished: experiments.Of(published.others()), Honest: experiments.Of(honest.others())},
		experiments.Row{Name: v.name + ", accuracy on members above it", Data: m.data(g), AsPublished: experiments.Of(published.gap()), Honest: experiments.Of(honest.gap())})
}

func (m *measured) data(g target) string {
	return fmt.Sprintf("%s, %s, %d members", g.data, g.net, m.members[g.data])
}

// private is the row under DP, at the largest number of shadow models.
func (m *measured) private(g target, v variant) []experiments.Row {
	o, ok := m.of(g.data, v.name, private)
	if !ok {
		return nil
	}
	last := len(m.shadows) - 1
	return []experiments.Row{{
		Name: fmt.Sprintf("%s, ε = %s, %d shadow models", v.name, g.epsilon, m.shadows[last]), Data: m.data(g),
		Honest: experiments.Of(o.percents(last, false)), Baseline: experiments.Of(o.percents(last, true)), Verdict: experiments.Unpublished,
		Why: fmt.Sprintf("the claim allows %.1f; accuracy on others %.1f", 100*g.ceiling(), experiments.Of(o.others()).Mean),
	}}
}

// ceiling is the largest success that the claim allows.
func (g target) ceiling() float64 { return bound.MaxSuccess(g.of, 1e-5, 0.5) }

func (m *measured) notes() []string {
	n := m.shadows[len(m.shadows)-1] + 1
	return []string{
		fmt.Sprintf("stated reduced scale: %d members and as many others for each model of the simple net, %d of the large one; Adam at 0.001 where nothing else is said, lots of %d, %g and %g epochs; our copy gives the figures without their bars, so that only what the text says of them is judged",
			m.members[small], m.members[large], m.batch, m.epochs[small], m.epochs[large]),
		fmt.Sprintf("%d models are trained for each bar, and each is the target once with the next ones as its shadow models: intervals are over targets, which share shadow models", n),
		fmt.Sprintf("the attack model is an SVM (Gaussian kernel, C = 1, standardized) on the vector of probabilities, taught by up to %d records of each shadow model, as many members as others; baseline: a threshold on the loss, learnt from the same shadow models and the label", m.most),
		"as published: shadow models are trained on halves of the target's own records, as we read the paper, so that they know some of its members (docs/READING.md, H14); honest: no two models share a record",
		"under DP: the same training with clipping norm 1 and noise for the paper's ε of Table 6 at δ = 1e-5, disjoint pools",
	}
}
