package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
)

// design makes a mechanism at a multiple of the noise that it is tested at by default: 2
// is about half the ε. An error is a mistake in its parameters.
type design func(noise float64) (Mechanism, error)

func designs() []design {
	return slices.Concat(releases(), gradients(), convexFits(), selections())
}

// Mechanisms returns every mechanism of core, each with neighbours at which it is tested
// hardest. TestRegistryCoversCore fails while one is missing.
func Mechanisms() ([]Mechanism, error) {
	var all []Mechanism
	for _, d := range designs() {
		m, err := d(1)
		if err != nil {
			return nil, fmt.Errorf("audit: preparing %s: %w", m.Name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// ErrUnknown is returned for a name that no mechanism has.
var ErrUnknown = errors.New("audit: no such mechanism")

// find takes a name as it stands in Mechanism.Name, or as Slug writes it.
func find(name string) (design, Mechanism, error) {
	var names []string
	for _, d := range designs() {
		m, err := d(1)
		if err != nil {
			return nil, m, fmt.Errorf("audit: preparing %s: %w", m.Name, err)
		}
		if m.Name == name || m.Slug() == name {
			return d, m, nil
		}
		names = append(names, m.Name)
	}
	return nil, Mechanism{}, fmt.Errorf("%w: %q; there are %q", ErrUnknown, name, names)
}

// Slug is the name as one word: "descent, 4 steps" is descent-4-steps.
func (m Mechanism) Slug() string {
	return slug(m.Name)
}

// Find returns the mechanism of a name, at the noise that it is tested at by default.
func Find(name string) (Mechanism, error) {
	_, m, err := find(name)
	return m, err
}

// Calibrated returns the mechanism of a name with the noise at which it claims epsilon at
// its own δ, or a little less. It stands between the same neighbours.
//
// Errors: ErrUnknown, an ε that is not a number above 0, calibrate.ErrUnreachable where
// no noise from a hundredth to a thousand times the default meets it.
func Calibrated(name string, epsilon float64) (Mechanism, error) {
	d, m, err := find(name)
	if err != nil {
		return m, err
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return m, fmt.Errorf("audit: epsilon must be a finite number above 0, got %g", epsilon)
	}
	// Parameters are valid at all multiples, or the search below would not see why.
	event := func(noise float64) dp.Event {
		m, _ := d(noise)
		return m.Event
	}
	noise, _, err := calibrate.To(calibrate.Target{Epsilon: epsilon, Delta: m.Delta}, m.Relation, accountant.MethodMin,
		calibrate.Search{Event: event, Decreasing: true, Lower: 1e-2, Upper: 1e3})
	if err != nil {
		return m, fmt.Errorf("audit: %s at epsilon %g: %w", m.Name, epsilon, err)
	}
	return d(noise)
}
