package optim_test

import (
	"fmt"

	"pawl/compute/optim"
)

// A linear model on rows of norm 1: 20 epochs of MNIST in lots of 4,096.
func ExampleStepRule() {
	rule := optim.StepRule{
		Noise: optim.Noise{ClippingNorm: 0.1, NoiseMultiplier: 4.6, ExpectedBatchSize: 4096},
		Kappa: 2, Radius: 1, Steps: 293,
	}
	rate, err := rule.LearningRate()
	fmt.Printf("%.0f %v\n", rate*rule.ClippingNorm, err)

	descent := optim.Momentum{LearningRate: rate, Momentum: 0.9, Dampened: true}
	average := optim.NewTail(rule.Steps, 0.25)
	weights := make([]float32, 2)
	for range rule.Steps {
		descent.Step(weights, []float32{0.001, -0.002})
		average.Add(weights)
	}
	fmt.Printf("%.1f %.1f\n", weights, average.Value())
	// Output:
	// 104 <nil>
	// [-295.5 590.9] [-257.5 515.0]
}
