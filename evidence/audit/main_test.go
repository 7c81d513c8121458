package audit

import (
	"context"
	"os"
	"sync"
	"testing"

	"pawl/core/entropy"
	"pawl/evidence/audit/bound"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

const (
	// certain is the confidence of convictions here. What is shown to people convicts at
	// 99.9 %; a suite of fifty audits that runs on every change needs a smaller false
	// alarm: stattest.FalseAlarm each.
	certain = 1 - stattest.FalseAlarm
	// runs in each world from which the mechanisms of core are judged, manyRuns where their
	// power is below.
	runs, manyRuns = 3000, 6000
)

// hard are the mechanisms whose scores say less, or whose curves are known less well
// (discrete Gaussians have a price by their Rényi curve only).
var hard = map[string]bool{
	"accuracy": true, "accuracy, pure": true, "absolute error": true, "group scores": true, "tables": true, "histograms": true,
	"histograms, pure": true, "objective perturbation": true, "minima perturbation": true, "adaptive sufficient statistics": true, "selection": true, "selection, Poisson": true,
}

// trial is what is made once of a mechanism of core, for all tests.
type trial struct {
	once    sync.Once
	scores  bound.Scores
	verdict bound.Verdict
}

var trials sync.Map

func trialOf(t *testing.T, m Mechanism) *trial {
	t.Helper()
	kept, _ := trials.LoadOrStore(m.Name, &trial{})
	c := kept.(*trial)
	c.once.Do(func() {
		n, err := runs, error(nil)
		if hard[m.Name] {
			n = manyRuns
		}
		if c.scores, err = Scores(context.Background(), m, Options{Runs: n, Source: entropy.Seeded(1)}); err != nil {
			t.Fatal(err)
		}
		c.verdict = judge(t, m, c.scores)
		accept(t, m.Name, c.verdict)
	})
	return c
}

func scoresOf(t *testing.T, m Mechanism) bound.Scores {
	t.Helper()
	return trialOf(t, m).scores
}

// acquitted fails unless an honest mechanism goes free.
func acquitted(t *testing.T, m Mechanism) bound.Verdict {
	t.Helper()
	c := trialOf(t, m)
	if c.verdict.Convicted || c.scores.In == nil {
		t.Errorf("honest %s: %v", m.Name, c.verdict)
	}
	return c.verdict
}

// judge judges scores against what a mechanism claims.
func judge(t *testing.T, m Mechanism, s bound.Scores) bound.Verdict {
	t.Helper()
	claim, err := m.Claim()
	if err != nil {
		t.Fatal(err)
	}
	v, err := bound.Judge(s, claim, certain)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// accept fails when an honest mechanism is convicted, and books the false alarm.
func accept(t *testing.T, name string, v bound.Verdict) {
	t.Helper()
	convicts := 0.0
	if v.Convicted {
		convicts = 1
	}
	stattest.Accept(t, stattest.Verdict{Name: name, Statistic: convicts, Limit: 0.5, Detail: v.String()})
}

func mustFind(t *testing.T, name string) Mechanism {
	t.Helper()
	m, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
