package audit

import (
	"fmt"
	"slices"
)

// design makes a mechanism; an error is a mistake in its parameters.
type design func() (Mechanism, error)

// Mechanisms returns every mechanism of core, each with neighbours at which it is tested
// hardest. TestRegistryCoversCore fails while one is missing.
func Mechanisms() ([]Mechanism, error) {
	var all []Mechanism
	for _, d := range slices.Concat(releases(), gradients(), convexFits(), selections()) {
		m, err := d()
		if err != nil {
			return nil, fmt.Errorf("audit: preparing %s: %w", m.Name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// Find returns the mechanism of a name.
func Find(name string) (Mechanism, error) {
	all, err := Mechanisms()
	if err != nil {
		return Mechanism{}, err
	}
	names := make([]string, 0, len(all))
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mechanism{}, fmt.Errorf("audit: no mechanism %q; there are %q", name, names)
}
