package crossover

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/learn"
	"pawl/store/memory"
	"pawl/workflow"
)

func (d *Data) fitTable(ctx context.Context, s Spec, delta string, c cell) (*workflow.Outcome, error) {
	if math.IsInf(c.epsilon, 1) {
		c.epsilon = noNoise
		s.LearningRate, s.ClippingNorm, c.rate, c.factor = 0, 0, 0, 0
		if s.Count > 0 {
			s.Unpaid = true
		}
	}
	f := newTableFit(d, s)
	f.delta = delta
	return f.run(ctx, d.table(c.seed, c.rows), c)
}

// tableFit fits one configuration to tables.
type tableFit struct {
	Spec
	name, delta string
	schema      *schema.Schema
	target      string
	purse       *Purse // nil on public rows
}

func newTableFit(d *Data, s Spec) *tableFit {
	f := &tableFit{Spec: s, name: d.Name, schema: d.Table.Schema, target: d.Table.Target, purse: d.Purse}
	if s.Encoding == "integer" {
		own := *d.Table.Schema
		own.Columns = slices.Clone(own.Columns)
		for i := range own.Columns {
			if c := &own.Columns[i]; c.Type == schema.Categorical && c.Name != f.target {
				c.Ordered = true
			}
		}
		f.schema = &own
	}
	return f
}

// encoding is that of a network.
func (f *tableFit) encoding() *encode.Options {
	return &encode.Options{Linear: f.Encoding == "linear"}
}

// usable are the columns that can be features.
func (f *tableFit) usable() (names []string) {
	for i := range f.schema.Columns {
		if c := &f.schema.Columns[i]; c.Type != schema.Ignore && c.Name != f.target && c.Name != f.schema.Unit.Column {
			names = append(names, c.Name)
		}
	}
	return names
}

func (f *tableFit) columns() int { return len(f.usable()) }

// numbers are the columns of encoding:numeric: all but categories of three levels or more.
func (f *tableFit) numbers() (names []string) {
	for _, name := range f.usable() {
		c := &f.schema.Columns[f.schema.Column(name)]
		if c.Type != schema.Categorical || c.Ordered || len(c.Levels()) <= 2 {
			names = append(names, name)
		}
	}
	return names
}

func (f *tableFit) input(t *lab.Table, epsilon string, seed uint64) workflow.Input {
	if f.purse != nil {
		in := f.purse.Input
		in.Epsilon, in.Delta, in.Several = epsilon, f.delta, true
		return in
	}
	return workflow.Input{
		Dataset: f.name, Schema: f.schema, Public: true, Target: f.target, Epsilon: epsilon, Delta: f.delta,
		Rows: int64(len(t.Rows)), Test: workflow.Official, Seed: &seed,
	}
}

// plan prices a fit to these features, nil for all.
func (f *tableFit) plan(t *lab.Table, features []string, epsilon string, seed uint64) (*workflow.Plan, error) {
	in := f.input(t, epsilon, seed)
	in.Model, in.Features = string(f.learner()), features
	if k := learn.KindOf(string(f.learner())); k.Name != "" && !k.Approximate {
		in.Delta = "0" // it is offered for pure ε, which is more than is asked
	}
	if f.Standard {
		in.Workflow = workflow.STW
	}
	if f.Encoding == "numeric" {
		if in.Features == nil {
			in.Features = f.numbers()
		}
		if len(in.Features) == 0 {
			return nil, usage("another encoding", "%s: %s has categories only", f.Text, f.name)
		}
	}
	plan, err := workflow.NewPlan(in)
	if err != nil {
		return nil, err
	}
	r := &plan.Recipe
	switch f.Encoding {
	case "linear":
		r.Encoding.Linear = true
	case "thermometer":
		r.Encoding.Linear = false
	}
	// The price of a training does not depend on step size and clipping norm.
	if f.LearningRate > 0 {
		r.LearningRate = f.LearningRate
	}
	if f.ClippingNorm > 0 {
		r.ClippingNorm = f.ClippingNorm
	}
	return plan, nil
}

// network is the input of a network's training.
func (f *tableFit) network(t *lab.Table, c cell) (workflow.TrainInput, error) {
	in := workflow.TrainInput{Input: f.input(t, number(c.epsilon), c.seed), Encoding: f.encoding()}
	in.Features = f.Features
	spec, err := f.find()
	if err != nil {
		return in, err
	}
	return in, in.Table(spec)
}

// env is what a run needs: on public rows with a ledger of its own, where nothing is
// paid for, on sensitive ones with the ledger that pays.
func (f *tableFit) env(t *lab.Table, seed uint64) (workflow.Env, error) {
	if f.purse != nil {
		return f.purse.Env, nil
	}
	own := *t
	own.Schema = f.schema
	rows, err := own.Seal(seed)
	return workflow.Env{Ledger: inMemory(), Rows: rows, Test: t.Test, Digest: bytes.Repeat([]byte{1}, 32)}, err
}

func (f *tableFit) run(ctx context.Context, t *lab.Table, c cell) (*workflow.Outcome, error) {
	env, err := f.env(t, c.seed)
	if err != nil {
		return nil, err
	}
	features, epsilon, chosen := f.Features, number(c.epsilon), dp.Event(nil)
	if f.Count > 0 {
		if features, epsilon, chosen, err = f.choose(ctx, t, env, c); err != nil {
			return nil, err
		}
	}
	plan, err := f.planBeside(t, features, epsilon, chosen, c)
	if err != nil {
		return nil, err
	}
	if plan.Recipe.Learner == advise.Descent {
		if c.rate > 0 {
			plan.Recipe.LearningRate = c.rate
		}
		if c.factor > 0 {
			plan.Recipe.LearningRate *= c.factor
		}
	}
	return plan.Run(ctx, env)
}

// planBeside plans a training that together with a choice costs no more than the cell's ε.
// Which columns were chosen may change the event of the training.
func (f *tableFit) planBeside(t *lab.Table, features []string, epsilon string, chosen dp.Event, c cell) (*workflow.Plan, error) {
	for {
		plan, err := f.plan(t, features, epsilon, c.seed)
		if err != nil || chosen == nil {
			return plan, err
		}
		price, err := accountant.Epsilon(dp.Compose{Events: []dp.Event{chosen, plan.Event}}, dp.AddOrRemoveOne, deltaOf(f.delta), accountant.MethodMin)
		if err != nil {
			return nil, err
		}
		if price.Epsilon <= c.epsilon {
			return plan, nil
		}
		left, err := strconv.ParseFloat(epsilon, 64)
		if err != nil || !(left > c.epsilon/2) {
			return nil, fmt.Errorf("%s: no training run fits beside the choice at epsilon %s", f.Text, number(c.epsilon))
		}
		epsilon = number(round(.99 * left))
	}
}

func inMemory() *ledger.Ledger {
	return ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "crossover"})
}

// choosingShare is the share of ρ, which is what Gaussian releases add up in, that a
// choice of features takes.
const choosingShare = 0.2

// choose returns the chosen features, the ε that is left for the training, and what the
// choice books: nothing where it is unpaid.
func (f *tableFit) choose(ctx context.Context, t *lab.Table, env workflow.Env, c cell) (features []string, left string, booked dp.Event, err error) {
	in := f.choice(t, c.epsilon, c.seed)
	left = number(c.epsilon)
	if f.Unpaid {
		in.Method, in.AsPublished, in.Epsilon, in.Delta = "cfs-greedy", true, "", ""
	} else if in.Epsilon, left, err = f.share(t, in, c); err != nil {
		return nil, "", nil, err
	}
	plan, err := workflow.NewSelectPlan(in)
	if err != nil {
		return nil, "", nil, err
	}
	out, err := plan.Choose(ctx, env)
	if err != nil {
		return nil, "", nil, err
	}
	for _, chosen := range out.Selection.Chosen {
		features = append(features, chosen.Column.Name)
	}
	if len(features) == 0 {
		return nil, "", nil, usage("more rows or a larger epsilon", "%s: the choice found no feature", f.Text)
	}
	if !f.Unpaid {
		booked = plan.Event
	}
	return features, left, booked, nil
}

// choice asks for the columns that know most about the target.
func (f *tableFit) choice(t *lab.Table, epsilon float64, seed uint64) workflow.SelectInput {
	return workflow.SelectInput{Input: f.input(t, number(epsilon), seed), Method: "mutual-information", Count: f.Count, Level: f.Level}
}

// share splits the cell's ε between a choice and a training such that both together cost
// no more than it at its δ. ε of a Gaussian release grows about with the root of ρ.
func (f *tableFit) share(t *lab.Table, in workflow.SelectInput, c cell) (choice, training string, err error) {
	for scale := 1.0; scale > .5; scale -= .005 {
		choice = number(round(c.epsilon * math.Sqrt(choosingShare) * scale))
		training = number(round(c.epsilon * math.Sqrt(1-choosingShare) * scale))
		events, err := f.both(t, in, choice, training, c.seed)
		if err != nil {
			return "", "", err
		}
		price, err := accountant.Epsilon(dp.Compose{Events: events}, dp.AddOrRemoveOne, deltaOf(f.delta), accountant.MethodMin)
		if err != nil {
			return "", "", err
		}
		if price.Epsilon <= c.epsilon {
			return choice, training, nil
		}
	}
	return "", "", fmt.Errorf("%s: no split of epsilon %s pays for a choice and a training run", f.Text, number(c.epsilon))
}

// both are the events of a choice and of a training.
func (f *tableFit) both(t *lab.Table, in workflow.SelectInput, choice, training string, seed uint64) ([]dp.Event, error) {
	in.Epsilon = choice
	first, err := workflow.NewSelectPlan(in)
	if err != nil {
		return nil, err
	}
	second, err := f.plan(t, nil, training, seed)
	if err != nil {
		return nil, err
	}
	return []dp.Event{first.Event, second.Event}, nil
}

// round keeps six digits, rounded down.
func round(v float64) float64 {
	scale := math.Pow(10, 5-math.Floor(math.Log10(v)))
	return math.Floor(v*scale) / scale
}

func deltaOf(text string) float64 {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN() // no accountant takes it
	}
	return d
}
