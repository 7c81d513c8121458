package net

import (
	"pawl/nn"
	"pawl/space"
)

// Bind checks a space (Check) and puts its constraints on parameters and
// trainable_parameters in force for inputs of a shape and a number of outputs. Points
// whose network cannot be built for them are no longer points.
func Bind(s *space.Space, input nn.Shape, outputs int) (*space.Space, error) {
	if err := Check(s); err != nil {
		return nil, err
	}
	var of []string
	known := architecture(s.Net())
	for _, name := range s.Dimensions() {
		if reads(known, name) {
			of = append(of, name)
		}
	}
	size := func(count func(*nn.Net) int) func(space.Point) (float64, error) {
		return func(p space.Point) (float64, error) {
			spec, err := Net(p, input, outputs)
			if err != nil {
				return 0, err
			}
			net, err := spec.Compile()
			if err != nil {
				return 0, err
			}
			return float64(count(net)), nil
		}
	}
	return s.Bind(
		space.Quantity{Name: "parameters", Of: of, Value: size((*nn.Net).AllParameters)},
		space.Quantity{Name: "trainable_parameters", Of: of, Value: size((*nn.Net).Parameters)},
	)
}
