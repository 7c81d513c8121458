package bound

import (
	"os"
	"testing"

	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

// exceeds fails when more of n repeats than the error rate explains went wrong: under
// the null hypothesis that each goes wrong with probability alpha at most, with
// probability stattest.FalseAlarm at most (normal approximation with the half repeat of
// continuity; n·alpha is at least 10 wherever it is used).
func exceeds(t *testing.T, name string, wrong, n int, alpha float64) {
	t.Helper()
	if expected := float64(n) * alpha; float64(wrong) > expected {
		stattest.Accept(t, stattest.Proportion(name, wrong, n, alpha))
	}
}
