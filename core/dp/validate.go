package dp

import (
	"errors"
	"fmt"
	"math"
)

// ErrInvalidEvent is wrapped by every error of Validate and of the JSON reader.
var ErrInvalidEvent = errors.New("invalid event")

func invalid(kind, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrInvalidEvent, kind, fmt.Sprintf(format, args...))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func nonNegative(kind, field string, x float64) error {
	if !finite(x) || x < 0 {
		return invalid(kind, "%s must be a finite number >= 0", field)
	}
	return nil
}

func positive(kind, field string, x float64) error {
	if !finite(x) || x <= 0 {
		return invalid(kind, "%s must be a finite number > 0", field)
	}
	return nil
}

func inner(kind string, e Event) error {
	if e == nil {
		return invalid(kind, "event is missing")
	}
	return e.Validate()
}

func (NoOp) Validate() error       { return nil }
func (NonPrivate) Validate() error { return nil }

func (e Gaussian) Validate() error {
	return nonNegative(e.Kind(), "noise_multiplier", e.NoiseMultiplier)
}

func (e Laplace) Validate() error {
	return nonNegative(e.Kind(), "noise_multiplier", e.NoiseMultiplier)
}

func (e DiscreteGaussian) Validate() error {
	return nonNegative(e.Kind(), "noise_multiplier", e.NoiseMultiplier)
}

func (e DiscreteLaplace) Validate() error {
	return nonNegative(e.Kind(), "noise_multiplier", e.NoiseMultiplier)
}

func (e RandomizedResponse) Validate() error {
	if !(e.NoiseProbability >= 0 && e.NoiseProbability <= 1) {
		return invalid(e.Kind(), "noise_probability must lie in [0, 1]")
	}
	if e.Categories < 2 {
		return invalid(e.Kind(), "categories must be at least 2")
	}
	return nil
}

func (e ExponentialMechanism) Validate() error { return nonNegative(e.Kind(), "epsilon", e.Epsilon) }
func (e Pure) Validate() error                 { return nonNegative(e.Kind(), "epsilon", e.Epsilon) }

func (e Approximate) Validate() error {
	if err := nonNegative(e.Kind(), "epsilon", e.Epsilon); err != nil {
		return err
	}
	if !(e.Delta >= 0 && e.Delta <= 1) {
		return invalid(e.Kind(), "delta must lie in [0, 1]")
	}
	return nil
}

func (e ZCDP) Validate() error { return nonNegative(e.Kind(), "rho", e.Rho) }

func (e PoissonSampled) Validate() error {
	if !(e.Rate >= 0 && e.Rate <= 1) {
		return invalid(e.Kind(), "rate must lie in [0, 1]")
	}
	if e.OneSided != nil {
		if err := e.OneSided.Validate(); err != nil {
			return err
		}
	}
	return inner(e.Kind(), e.Event)
}

func (e FixedSizeSampled) Validate() error {
	if e.SourceSize < 1 || e.SampleSize < 0 || e.SampleSize > e.SourceSize {
		return invalid(e.Kind(), "want 0 <= sample_size <= source_size and source_size >= 1")
	}
	return inner(e.Kind(), e.Event)
}

func (e Shuffled) Validate() error {
	if e.Epochs < 0 {
		return invalid(e.Kind(), "epochs must be >= 0")
	}
	return inner(e.Kind(), e.Event)
}

func (e Banded) Validate() error {
	switch {
	case e.Steps < 0:
		return invalid(e.Kind(), "steps must be >= 0")
	case e.Groups < 1:
		return invalid(e.Kind(), "groups must be at least 1")
	case !(e.Rate >= 0 && e.Rate <= 1):
		return invalid(e.Kind(), "rate must lie in [0, 1]")
	case len(e.Coefficients) < 1 || len(e.Coefficients) > min(e.Groups, MaxBands):
		// More bands than steps between two uses of a unit would add its uses up.
		return invalid(e.Kind(), "want at least 1 of coefficients, at most as many as groups and at most %d", MaxBands)
	}
	for _, c := range e.Coefficients {
		if !finite(c) {
			return invalid(e.Kind(), "coefficients must be finite numbers")
		}
	}
	if !(e.Coefficients[0] > 0) {
		return invalid(e.Kind(), "the first of coefficients must be > 0")
	}
	return nonNegative(e.Kind(), "noise_multiplier", e.NoiseMultiplier)
}

func (e Repeat) Validate() error {
	if e.Count < 0 {
		return invalid(e.Kind(), "count must be >= 0")
	}
	return inner(e.Kind(), e.Event)
}

func (e Compose) Validate() error {
	for _, c := range e.Events {
		if err := inner(e.Kind(), c); err != nil {
			return err
		}
	}
	return nil
}

func (e Scoped) Validate() error {
	if !e.Scope.Valid() {
		return invalid(e.Kind(), "scope must satisfy 0 <= lower < upper <= 1")
	}
	return inner(e.Kind(), e.Event)
}

func (e Select) Validate() error {
	if e.Runs == nil {
		return invalid(e.Kind(), "runs is missing")
	}
	if err := e.Runs.Validate(); err != nil {
		return err
	}
	return inner(e.Kind(), e.Event)
}

func (r TruncatedNegativeBinomial) Validate() error {
	if !finite(r.Eta) || r.Eta <= -1 {
		return invalid("tnb", "eta must be a finite number > -1")
	}
	if !finite(r.Mean) || r.Mean <= 1 {
		return invalid("tnb", "mean must be a finite number > 1")
	}
	return nil
}

func (r PoissonRuns) Validate() error { return positive("poisson", "mean", r.Mean) }

func (r RandomStopping) Validate() error {
	if !(r.Gamma > 0 && r.Gamma <= 1) {
		return invalid("random_stopping", "gamma must lie in (0, 1]")
	}
	if !(r.Delta2 > 0 && r.Delta2 < 1) {
		return invalid("random_stopping", "delta2 must lie in (0, 1)")
	}
	return nil
}
