package campaign

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"pawl/internal/usage"
)

// The error of a whole command is shared by its tests, so that an honest mechanism passes all of
// them: a seeded run repeats itself, and says when its runs cannot show anything.
func TestAuditOfOneMechanism(t *testing.T) {
	ask := Mechanism{Name: "gaussian", Runs: "400", RunsGiven: true, Epsilon: "1", Seed: "7", Log: io.Discard}
	all, err := AuditMechanisms(context.Background(), Mechanism{Name: "no such", Runs: "100", RunsGiven: true, Log: io.Discard})
	if err == nil || !errors.Is(err, usage.Err) {
		t.Fatalf("%v, %v", all, err)
	}
	ask.Name = "bins"
	first, err := AuditMechanisms(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Convicted) > 0 || len(first.Worlds) != 1 || first.Tests < 1 || first.Confidence != 0.999 {
		t.Fatalf("%+v", first)
	}
	w := first.Worlds[0]
	if claim := w.Verdict.Claim.Epsilon; claim > 1 || w.MostShown <= claim {
		t.Errorf("a claim of %v, of which 400 runs can show %v", claim, w.MostShown)
	}
	again, err := AuditMechanisms(context.Background(), ask)
	if err != nil || again.Worlds[0].Verdict.Bound.Epsilon != w.Verdict.Bound.Epsilon {
		t.Errorf("the same seed finds %v and %v (%v)", w.Verdict.Bound.Epsilon, again.Worlds[0].Verdict.Bound.Epsilon, err)
	}
	ask.Epsilon, ask.Runs = "8", "100"
	weak, err := AuditMechanisms(context.Background(), ask)
	if err != nil || !strings.Contains(strings.Join(weak.Worlds[0].Notes, "\n"), "NO POWER") {
		t.Errorf("100 runs at epsilon 8 pass without a word: %+v, %v", weak, err)
	}
}

func TestRefusals(t *testing.T) {
	for want, ask := range map[string]Mechanism{
		"--runs":                      {Name: "bins", Runs: "99"},
		"--confidence: 1 is not":      {Name: "bins", Runs: "100", Confidence: "1"},
		"--epsilon needs a single":    {Name: "all", Runs: "100", RunsGiven: true, Epsilon: "1"},
		`unknown mechanism "bin"`:     {Name: "bin", Runs: "100", Epsilon: "1"},
		"is not a finite number":      {Name: "bins", Runs: "100", Epsilon: "inf"},
		"--epsilon: 0 is not greater": {Name: "bins", Runs: "100", Epsilon: "0"},
		"--seed must be a whole":      {Name: "bins", Runs: "100", Seed: "x"},
	} {
		ask.Log = io.Discard
		if _, err := AuditMechanisms(context.Background(), ask); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, usage.Err) {
			t.Errorf("%v, want a mistake with %q", err, want)
		}
	}
}
