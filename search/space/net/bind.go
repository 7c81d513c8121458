package net

import (
	"slices"

	"pawl/compute/nn"
	"pawl/search/space"
)

// Bind checks a space (Check) and puts its constraints on parameters and
// trainable_parameters in force for inputs of a shape and a number of outputs. Points
// whose network cannot be built for them, such as three blocks on tiny images, are no
// longer points.
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
	if s.Net() == "fcn" && len(s.Unbound()) == 0 && !slices.Contains(of, "features") {
		// Dense layers take any shape, and building each net of a large space to see that
		// is slow.
		return s, nil
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
