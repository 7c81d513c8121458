package workflow

import "testing"

// Texts and tables of very many columns, by default settings.
func TestFloorsWide(t *testing.T) {
	if testing.Short() {
		t.Skip("about twenty trainings")
	}
	for _, c := range []struct {
		name, epsilon, delta string
		splits               int
		floor                float64
	}{
		{"sms-spam", "1", "1e-5", 5, 0.970},
		{"sms-spam", "7.2", "1e-5", 5, 0.982},
		{"enron-spam-counts", "1", "1e-5", 3, 0.925},
		{"location30", "3", "1e-5", 5, 0.52},
	} {
		t.Run(c.name+" at "+c.epsilon, func(t *testing.T) {
			f := builtin(t, c.name).repeat(t, c.epsilon, c.delta, c.splits, nil)
			atLeast(t, c.name+" accuracy at ε "+c.epsilon, mean(f.value), c.floor)
		})
	}
}
