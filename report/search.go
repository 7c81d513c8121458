package report

// Search says how a model was searched for, what the search left for a training, and
// whether it paid.
type Search struct {
	Strategy string `json:"strategy"`
	Space    string `json:"space"`
	Size     string `json:"size"` // number of candidates, or "continuous"
	// Metric is what chose, where it is not that of the score. Losses and errors are negative then: more
	// is better.
	Metric string `json:"metric,omitempty"`
	// Trainings is the expected number; how many there were is secret where a selection
	// released the winner alone.
	Trainings float64 `json:"expected_trainings"`
	// BaseEpsilon is what the training of the model that leaves would cost alone, of the
	// total in privacy.epsilon.
	BaseEpsilon Number         `json:"base_epsilon"`
	Winner      map[string]any `json:"winner,omitempty"`
	// Unsearched is the score on the same public test set of one training without a
	// search, with the whole budget. Public data only.
	Unsearched *Number `json:"unsearched,omitempty"`
	// Paid says in one line whether the search was worth it.
	Paid string `json:"paid"`
	// Trials are scores that were read: of a strategy that pays for all of them, or on
	// public data.
	Trials []SearchTrial `json:"trials,omitempty"`
	// Published is the papers' figure for the strategy, which is no guarantee.
	Published *PublishedSearch `json:"published_not_a_guarantee,omitempty"`
}

// SearchTrial is a training whose score was read.
type SearchTrial struct {
	Number     int            `json:"number"`
	Generation int            `json:"generation,omitempty"`
	Candidate  map[string]any `json:"candidate"`
	Score      Number         `json:"score"` // noisy; "-inf" for a failed training
}

// PublishedSearch stands beside ours.
type PublishedSearch struct {
	Epsilon  Number `json:"epsilon"`
	Replayed Number `json:"epsilon_by_our_reading"`
	Accuracy Number `json:"accuracy_percent"`
	Source   string `json:"source"`
	Note     string `json:"note"`
}
