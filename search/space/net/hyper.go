package net

import (
	"fmt"
	"slices"
	"strings"

	"pawl/search/space"
)

// Training holds the hyperparameters of a point; a zero field is not in the space and
// left to the rules.
type Training struct {
	// Optimizer is one of Optimizers.
	Optimizer string
	// LearningRate is the step size; Kappa asks for optim.StepRule's instead.
	LearningRate, Kappa float64
	// StepFactor and ClippingFactor multiply the step size and the clipping norm that the
	// rules choose; 0 stands for 1.
	StepFactor, ClippingFactor float64
	// Momentum is in [0, 1), ClippingNorm and Radius are above 0.
	Momentum, ClippingNorm, Radius float64
	// Batch is the expected lot, Epochs the expected passes over the rows.
	Batch  int
	Epochs float64
	// Average is the share of the last steps whose parameters are averaged.
	Average float64
}

// Optimizers are the values that a dimension optimizer may have.
var Optimizers = []string{"sgd", "momentum", "adam", "adam-wosm", "adadp"}

// Hyper reads the hyperparameters of a point: dimensions optimizer, learning_rate,
// kappa, step_factor, momentum, clipping_norm, clipping_factor, radius, batch, epochs and
// average. Errors wrap ErrPoint.
func Hyper(p space.Point) (Training, error) {
	b := &builder{point: p}
	var t Training
	if s, ok := p.Text("optimizer"); ok {
		if t.Optimizer = strings.ToLower(s); !slices.Contains(Optimizers, t.Optimizer) {
			b.fail("no optimizer is called %q; there are %s", s, strings.Join(Optimizers, ", "))
		}
	}
	for _, f := range []struct {
		name  string
		to    *float64
		below float64 // 0: no upper limit
	}{
		{"learning_rate", &t.LearningRate, 0}, {"kappa", &t.Kappa, 0}, {"clipping_norm", &t.ClippingNorm, 0},
		{"step_factor", &t.StepFactor, 0}, {"clipping_factor", &t.ClippingFactor, 0}, {"radius", &t.Radius, 0}, {"epochs", &t.Epochs, 0}, {"momentum", &t.Momentum, 1}, {"average", &t.Average, 1},
	} {
		x, ok := p.Float(f.name)
		if !ok && p.Has(f.name) {
			b.fail("%s must be a number", f.name)
		}
		switch {
		case !ok:
		case f.below > 0 && !(x >= 0 && x < f.below):
			b.fail("%s is %v, it must lie in [0, %v)", f.name, x, f.below)
		case f.below == 0 && !(x > 0):
			b.fail("%s is %v, it must be above 0", f.name, x)
		}
		*f.to = x
	}
	for _, c := range [][2]string{{"step_factor", "learning_rate"}, {"clipping_factor", "clipping_norm"}} {
		if p.Has(c[0]) && p.Has(c[1]) {
			b.fail("%s multiplies what the rules choose, and %s leaves them nothing to choose", c[0], c[1])
		}
	}
	if p.Has("batch") {
		t.Batch = b.count("batch")
	}
	return t, b.err
}

// hyperparameters are the dimensions that Hyper reads.
var hyperparameters = []string{"optimizer", "learning_rate", "kappa", "step_factor", "momentum", "clipping_norm", "clipping_factor", "radius", "batch", "epochs", "average"}

// architecture lists the dimensions that Net reads. A name that ends in _ stands for
// all that follow it with a number.
func architecture(family string) []string {
	switch family {
	case "fcn":
		return []string{"layers", "num_layers", "units", "num_units_per_layer", "units_", "activation", "activation_fn", "activation_", "bound", "dropout", "trainable_", "trainable_out", "features", "coefficients"}
	case "cnn":
		return []string{"blocks", "filters", "units", "activation", "activation_conv", "activation_dense", "bound", "dropout", "trainable_conv_", "trainable_dense", "trainable_out"}
	}
	return []string{"activation", "bound", "dropout", "train_last"}
}

func reads(known []string, name string) bool {
	return slices.Contains(known, name) || slices.Contains(known, strings.TrimRight(name, "0123456789")) && strings.HasSuffix(strings.TrimRight(name, "0123456789"), "_")
}

// Check refuses a space with a dimension that neither Net nor Hyper reads: a search
// over it would try the same network many times.
func Check(s *space.Space) error {
	known := architecture(s.Net())
	for _, name := range s.Dimensions() {
		if !reads(known, name) && !slices.Contains(hyperparameters, name) {
			return fmt.Errorf("search space %s: nothing reads dimension %s; net: %s reads %s, and training reads %s", s.Name(), name, s.Net(), strings.Join(known, ", "), strings.Join(hyperparameters, ", "))
		}
	}
	return nil
}
