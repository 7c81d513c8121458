package accountant

import (
	"testing"

	"pawl/core/dp"
)

func benchmarkEpsilon(b *testing.B, e dp.Event, m Method) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Epsilon(e, addRemove, 1e-5, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRDPSmallSigma(b *testing.B) { benchmarkEpsilon(b, dpsgd(0.01, 0.3, 1000), MethodRDP) }
func BenchmarkRDP(b *testing.B)           { benchmarkEpsilon(b, dpsgd(1.0/600, 2, 300000), MethodRDP) }
func BenchmarkRDPLargeSigma(b *testing.B) { benchmarkEpsilon(b, dpsgd(0.2, 200, 1), MethodRDP) }
func BenchmarkRDPSelect(b *testing.B) {
	benchmarkEpsilon(b, dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 30}, Event: dpsgd(1.0/600, 2, 300000)}, MethodRDP)
}
func BenchmarkAnalyticGaussian(b *testing.B) {
	benchmarkEpsilon(b, dp.Gaussian{NoiseMultiplier: 1}, MethodMin)
}
func BenchmarkKOV(b *testing.B) {
	benchmarkEpsilon(b, dp.Repeat{Count: 1000, Event: dp.Pure{Epsilon: 0.1}}, MethodMin)
}

func BenchmarkPLD(b *testing.B)        { benchmarkEpsilon(b, dpsgd(0.01, 1, 1000), MethodPLD) }
func BenchmarkPLD300000(b *testing.B)  { benchmarkEpsilon(b, dpsgd(1.0/600, 2, 300000), MethodPLD) }
func BenchmarkPLD1000000(b *testing.B) { benchmarkEpsilon(b, dpsgd(0.001, 0.8, 1000000), MethodPLD) }
