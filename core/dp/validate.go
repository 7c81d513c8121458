package dp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrInvalidEvent is wrapped by every error of Validate and of the JSON reader.
var ErrInvalidEvent = errors.New("invalid event")

func invalid(kind, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrInvalidEvent, kind, fmt.Sprintf(format, args...))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// rule is one demand on a field; the first that does not hold is the error.
type rule struct {
	holds       bool
	field, want string
}

func nonNegative(field string, x float64) rule {
	return rule{finite(x) && x >= 0, field, "must be a finite number >= 0"}
}

func fraction(field string, x float64) rule {
	return rule{x >= 0 && x <= 1, field, "must lie in [0, 1]"}
}

func check(kind string, rules ...rule) error {
	for _, r := range rules {
		if !r.holds {
			return invalid(kind, "%s %s", r.field, r.want)
		}
	}
	return nil
}

// around checks an event that is made of another one.
func around(kind string, e Event, rules ...rule) error {
	if err := check(kind, rules...); err != nil {
		return err
	}
	if e == nil {
		return invalid(kind, "event is missing")
	}
	return e.Validate()
}

func noise(e Event, multiplier float64) error {
	return check(e.kind(), nonNegative("noise_multiplier", multiplier))
}

func (NoOp) Validate() error               { return nil }
func (NonPrivate) Validate() error         { return nil }
func (e Gaussian) Validate() error         { return noise(e, e.NoiseMultiplier) }
func (e Laplace) Validate() error          { return noise(e, e.NoiseMultiplier) }
func (e DiscreteGaussian) Validate() error { return noise(e, e.NoiseMultiplier) }
func (e DiscreteLaplace) Validate() error  { return noise(e, e.NoiseMultiplier) }

func (e RandomizedResponse) Validate() error {
	return check(e.kind(), fraction("noise_probability", e.NoiseProbability), rule{e.Categories >= 2, "categories", "must be at least 2"})
}

func (e ExponentialMechanism) Validate() error {
	return check(e.kind(), nonNegative("epsilon", e.Epsilon))
}

func (e Pure) Validate() error { return check(e.kind(), nonNegative("epsilon", e.Epsilon)) }

func (e Approximate) Validate() error {
	return check(e.kind(), nonNegative("epsilon", e.Epsilon), fraction("delta", e.Delta))
}

func (e ZCDP) Validate() error { return check(e.kind(), nonNegative("rho", e.Rho)) }

func (e PoissonSampled) Validate() error {
	if err := around(e.kind(), e.Event, fraction("rate", e.Rate)); err != nil || e.OneSided == nil {
		return err
	}
	return e.OneSided.Validate()
}

func (e FixedSizeSampled) Validate() error {
	return around(e.kind(), e.Event, rule{e.SourceSize >= 1 && e.SampleSize >= 0 && e.SampleSize <= e.SourceSize,
		"want", "0 <= sample_size <= source_size and source_size >= 1"})
}

func (e Shuffled) Validate() error {
	return around(e.kind(), e.Event, rule{e.Epochs >= 0, "epochs", "must be >= 0"})
}

func (e Banded) Validate() error {
	return check(e.kind(),
		rule{e.Steps >= 0, "steps", "must be >= 0"},
		rule{e.Groups >= 1, "groups", "must be at least 1"},
		fraction("rate", e.Rate),
		// More bands than steps between two uses of a unit would add its uses up.
		rule{len(e.Coefficients) >= 1 && len(e.Coefficients) <= min(e.Groups, MaxBands),
			"want", "at least 1 of coefficients, at most as many as groups and at most 256"},
		rule{!slices.ContainsFunc(e.Coefficients, func(c float64) bool { return !finite(c) }), "coefficients", "must be finite numbers"},
		rule{len(e.Coefficients) > 0 && e.Coefficients[0] > 0, "the first of coefficients", "must be > 0"},
		nonNegative("noise_multiplier", e.NoiseMultiplier))
}

func (e Repeat) Validate() error {
	return around(e.kind(), e.Event, rule{e.Count >= 0, "count", "must be >= 0"})
}

func (e Compose) Validate() error {
	for _, c := range e.Events {
		if err := around(e.kind(), c); err != nil {
			return err
		}
	}
	return nil
}

func (e Scoped) Validate() error {
	return around(e.kind(), e.Event, rule{e.Scope.Valid(), "scope", "must satisfy 0 <= lower < upper <= 1"})
}

func (e Select) Validate() error {
	if e.Runs == nil {
		return invalid(e.kind(), "runs is missing")
	}
	if err := e.Runs.Validate(); err != nil {
		return err
	}
	return around(e.kind(), e.Event)
}

func (r TruncatedNegativeBinomial) Validate() error {
	return check("tnb", rule{finite(r.Eta) && r.Eta > -1, "eta", "must be a finite number > -1"}, rule{finite(r.Mean) && r.Mean > 1, "mean", "must be a finite number > 1"})
}

func (r PoissonRuns) Validate() error {
	return check("poisson", rule{finite(r.Mean) && r.Mean > 0, "mean", "must be a finite number > 0"})
}

func (r RandomStopping) Validate() error {
	return check("random_stopping", rule{r.Gamma > 0 && r.Gamma <= 1, "gamma", "must lie in (0, 1]"}, rule{r.Delta2 > 0 && r.Delta2 < 1, "delta2", "must lie in (0, 1)"})
}
