package report

import "fmt"

// Counterfactual is what the same epsilon would buy without a choice that the budget pays for, by prices alone: no row
// is read for it.
type Counterfactual struct {
	Without string `json:"without"` // "the search"
	// Epsilon is what the model's own training costs alone, and EpsilonWithout what it could cost.
	Epsilon        Number `json:"epsilon"`
	EpsilonWithout Number `json:"epsilon_without"`
	// NoiseMultiplier is that of one Gaussian release of as much budget.
	NoiseMultiplier        Number `json:"noise_multiplier"`
	NoiseMultiplierWithout Number `json:"noise_multiplier_without"`
	// SignalRatio is the number of training rows over noise multiplier and rows per unit, where that number is
	// public: the figure by which pawl advise expects a score.
	SignalRatio        *Number `json:"signal_ratio,omitempty"`
	SignalRatioWithout *Number `json:"signal_ratio_without,omitempty"`
}

// words compares both.
func (c *Counterfactual) words() string {
	s := fmt.Sprintf("the model would train with ε %.3g in place of %.3g, and noise multiplier %.3g in place of %.3g", float64(c.EpsilonWithout), float64(c.Epsilon),
		float64(c.NoiseMultiplierWithout), float64(c.NoiseMultiplier))
	if c.SignalRatio != nil && c.SignalRatioWithout != nil {
		s += fmt.Sprintf(" (signal ratio r %.0f in place of %.0f)", float64(*c.SignalRatioWithout), float64(*c.SignalRatio))
	}
	return s + fmt.Sprintf("; pawl advise --epsilon %.3g estimates its score", float64(c.EpsilonWithout))
}
