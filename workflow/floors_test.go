package workflow

import (
	"fmt"
	"slices"
	"testing"
)

// The floors are what a user may count on with default settings, at a total ε
// that includes everything. Seeds are fixed, so the test is deterministic; the
// margins to the floors say how often another seed would miss them.
// docs/DESIGN.md lists the measured values.

type repeats struct{ value, baseline, auroc []float64 }

func (tab table) repeat(t testing.TB, epsilon, delta string, runs int, change func(*Input)) repeats {
	t.Helper()
	var f repeats
	for seed := range runs {
		in := tab.input(epsilon, delta, uint64(seed))
		if change != nil {
			change(&in)
		}
		out := tab.run(t, in)
		f.value = append(f.value, *out.Score.Exact)
		f.baseline = append(f.baseline, *out.Score.ExactBaseline)
		if out.Score.AUROC != nil {
			f.auroc = append(f.auroc, *out.Score.AUROC.Value)
		}
	}
	return f
}

func mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func atLeast(t *testing.T, what string, got, floor float64) {
	t.Helper()
	t.Logf("%s: %.4f (floor %.4f)", what, got, floor)
	if !(got >= floor) {
		t.Errorf("%s is %.4f, below its floor %.4f", what, got, floor)
	}
}

func TestFloorsAdult(t *testing.T) {
	tab := builtin(t, "adult")
	for _, c := range []struct {
		epsilon string
		floor   float64
	}{{"1", 0.853}, {"0.1", 0.843}, {"0.02", 0.820}} {
		f := tab.repeat(t, c.epsilon, "1e-6", 3, nil)
		atLeast(t, "adult accuracy at ε "+c.epsilon+", median of 3", median(f.value), c.floor)
		if c.epsilon == "1" {
			atLeast(t, "adult AUROC at ε 1, median of 3", median(f.auroc), 0.907)
		}
	}
	for _, epsilon := range []string{"0.001", "0.005", "0.05"} {
		f := tab.repeat(t, epsilon, "1e-6", 20, nil)
		atLeast(t, "adult accuracy at ε "+epsilon+", mean of 20", mean(f.value), f.baseline[0]-0.005)
		atLeast(t, "adult accuracy at ε "+epsilon+", worst of 20", slices.Min(f.value), f.baseline[0]-0.03)
	}
}

func TestFloorsSmallTables(t *testing.T) {
	cancer := builtin(t, "breast-cancer")
	for _, c := range []struct {
		epsilon string
		above   float64
	}{{"0.1", -0.005}, {"1", 0.01}, {"5", 0.01}} {
		f := cancer.repeat(t, c.epsilon, "5e-4", 20, nil)
		atLeast(t, "breast-cancer accuracy at ε "+c.epsilon+", mean of 20 splits", mean(f.value), mean(f.baseline)+c.above)
	}
	wdbc := builtin(t, "wdbc").repeat(t, "1", "2e-4", 20, nil)
	atLeast(t, "wdbc accuracy at ε 1, mean of 20 splits", mean(wdbc.value), 0.935)
}

func TestFloorsInsurance(t *testing.T) {
	f := builtin(t, "insurance").repeat(t, "1", "1e-4", 20, nil)
	atLeast(t, "insurance, mean predictor's error over the model's share of it at ε 1", 0.45/(mean(f.value)/mean(f.baseline)), 1)
}

// The privacy-aware workflow beats the drop-in one at small ε on the same seeds.
func TestAwareBeatsDropIn(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve trainings without noise for each seed")
	}
	tab := builtin(t, "adult")
	for _, epsilon := range []string{"0.02", "0.1"} {
		aware := tab.repeat(t, epsilon, "1e-6", 10, func(in *Input) { in.Preset = "quick" })
		dropIn := tab.repeat(t, epsilon, "1e-6", 10, func(in *Input) { in.Preset, in.Workflow = "quick", STW })
		diff := mean(aware.value) - mean(dropIn.value)
		atLeast(t, fmt.Sprintf("adult at ε %s, privacy-aware minus drop-in accuracy, 10 paired seeds", epsilon), diff, 0)
	}
}
