package workflow

import (
	"math/rand/v2"
	"strings"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/search/space"
	"pawl/search/space/net"
)

// NetCandidates makes networks of the points of a space.
type NetCandidates struct {
	Shape   nn.Shape
	Outputs int
	// Fixed is the network where points hold hyperparameters only.
	Fixed *zoo.Spec
	// Front is put before all networks; empty leaves what they have.
	Front []nn.Layer
	// Dropout keeps dropout in networks.
	Dropout bool
}

// Build is the candidate of a point. Errors are *UsageError, or the space's.
func (n NetCandidates) Build(p space.Point) (Candidate, error) {
	var spec zoo.Spec
	var err error
	if n.Fixed != nil {
		spec = *n.Fixed
	} else if spec, err = net.Net(p, n.Shape, n.Outputs); err != nil {
		return Candidate{}, err
	}
	if !n.Dropout {
		spec = spec.WithoutDropout()
	}
	if len(n.Front) > 0 {
		spec = spec.WithFrontEnd(n.Front...)
	}
	t, err := net.Hyper(p)
	if err != nil {
		return Candidate{}, err
	}
	if t.Batch != 0 || t.Epochs != 0 {
		return Candidate{}, usage("take them out of the space and give --batch and --epochs",
			"batch and epochs cannot be searched over: a selection pays for the most expensive candidate")
	}
	c := Candidate{Layers: spec.Network, Kappa: spec.Defaults.Kappa, ClippingNorm: t.ClippingNorm, LearningRate: t.LearningRate,
		Optimizer: t.Optimizer, Momentum: t.Momentum, Average: t.Average, Radius: t.Radius}
	if t.Kappa > 0 {
		c.Kappa = t.Kappa
	}
	if c.ClippingNorm == 0 {
		c.ClippingNorm = spec.Defaults.ClippingNorm
	}
	c.StepFactor, c.ClippingFactor = t.StepFactor, t.ClippingFactor
	if c.Radius == 0 {
		c.Radius, err = spec.Radius()
	}
	return c, err
}

// Rule is the candidate of a space that needs no search. Where points hold
// hyperparameters only it is the zero Point, which leaves all of them to the rules. Else
// it is the one with the fewest parameters among many draws, since noise grows with
// their number; of equal ones the first that prefers bounded activations.
func (n NetCandidates) Rule(s *space.Space) (space.Point, error) {
	if n.Fixed != nil {
		return space.Point{}, nil
	}
	rng := rand.New(rand.NewPCG(2, 11))
	var best space.Point
	least, bounded := -1, false
	for range 256 {
		p, err := s.Draw(rng)
		if err != nil {
			return best, err
		}
		c, err := n.Build(p)
		if err != nil {
			return best, err
		}
		compiled, err := nn.Compile(c.Layers, n.Shape, n.Outputs)
		if err != nil {
			return best, err
		}
		k, b := compiled.Parameters(), strings.Contains(strings.ToLower(p.String()), "tanh")
		if least < 0 || k < least || k == least && b && !bounded {
			best, least, bounded = p, k, b
		}
	}
	return best, nil
}
