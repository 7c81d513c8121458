package workflow

import (
	"context"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/evidence/advise"
	"pawl/learn"
)

// movement is the part of its usual movement that a training makes from a model of public rows.
func (m *tableModels) movement(rows float64) float64 {
	return advise.TaughtMovement(m.facts(rows).SignalRatio(), float64(m.problem.Teacher.Rows))
}

// taught is a recipe whose training begins with a model of the public rows.
func (m *tableModels) taught(r advise.Recipe, rows float64) (advise.Recipe, error) {
	p := m.problem
	if _, ok := learn.KindOf(string(r.Learner)).New(learn.Settings{}).(learn.Taught); !ok || p.Workflow == STW {
		return r, usage("use --model linear or gam, at a delta above 0", "--public: model %q does not start from public rows", r.Learner)
	}
	if _, err := m.lesson(r); err != nil {
		return r, err
	}
	move, rules := m.movement(rows), r.Rules
	r = r.Scaled(1, move)
	r.Rules = append(rules, advise.TaughtRule(m.facts(rows).SignalRatio(), float64(p.Teacher.Rows), move))
	return r, nil
}

// lesson is what a training on the public rows alone is made of.
func (m *tableModels) lesson(r advise.Recipe) (learn.Settings, error) {
	p := m.problem
	facts := m.facts(1)
	facts.Rows, facts.Learner = float64(p.Teacher.Rows), r.Learner
	facts.NoiseMultiplier = 2 / float64(p.Schema.Unit.MaxRows) // as if half of the rows bounded what can be told
	if facts.Rows < 1 {
		return learn.Settings{}, usage("", "the public table has no rows")
	}
	alone, err := advise.Choose(facts)
	if err != nil {
		return learn.Settings{}, usage("leave out --public", "public rows: %v", err)
	}
	task := learn.Task{Schema: p.Schema, Target: p.Target, Kind: p.task, Scope: dp.WholeScope, ExpectedRows: facts.Rows}
	return learn.Settings{Task: task, ClippingNorm: alone.ClippingNorm, Steps: alone.Steps, LearningRate: alone.LearningRate, Momentum: alone.Momentum}, nil
}

// teach trains the model of the public rows from which the learner goes on. It is a function of public
// rows and of public facts, and costs nothing.
func (m *tableModels) teach(ctx context.Context, rows *intake.Rows, l learn.Learner, r advise.Recipe) error {
	s, err := m.lesson(r)
	if err != nil {
		return err
	}
	return l.(learn.Taught).Teach(ctx, rows, s)
}
