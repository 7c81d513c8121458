//go:build unix

package gradient_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"
)

// stepRatios are private ÷ plain steps of about 250 examples of the nets above, in
// processor time on one processor, measured beside much other work (AVX-512): medians of
// five pairs, rounded up to a twentieth. The dense net is so small that noise weighs most.
var stepRatios = map[string]float64{"dense": 1.7, "wide": 1.45, "conv": 1.25, "lstm": 1.2, "gru": 1.05, "norm": 1.15}

// A private step may cost a quarter more, beside a plain step of the same moment, than it
// did when the ratios above were measured. Processor time of pairs in turn hardly depends
// on what else the machine does.
func TestPrivateStepsStayNearPlainOnes(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		// It slows memory accesses of the private step more than arithmetic, so that the ratio says nothing.
		t.Skip("the race detector changes the ratio")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	steps := map[string]int{"dense": 100, "wide": 40, "conv": 4, "lstm": 3, "gru": 3, "norm": 3}
	for _, net := range benchNets {
		measure := func(private bool) float64 {
			const warm = 3
			var from, to time.Duration
			trainSteps(t, net.input, net.layers, 500, warm+steps[net.name], private, func(step int) {
				switch step {
				case warm - 1:
					from = processorTime(t)
				case warm + steps[net.name] - 1:
					to = processorTime(t)
				}
			})
			return float64(to - from)
		}
		var ratios []float64
		for range 5 {
			ratios = append(ratios, measure(true)/measure(false))
		}
		slices.Sort(ratios)
		t.Logf("%s: %.3f", net.name, ratios)
		if most := 1.25 * stepRatios[net.name]; ratios[2] > most {
			t.Errorf("%s: a private step costs %.2f plain ones (median of %.2f), at most %.2f", net.name, ratios[2], ratios, most)
		}
	}
}

func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
