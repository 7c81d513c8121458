package dp

// Event is a sealed sum type: only this package adds kinds. Every kind has a Validate method that
// refuses NaN, infinities and meaningless signs; an accountant gives an unknown Event infinite
// cost.
//
// Noise is always stated relative to the sensitivity of the protected value under the relation in
// force: a noise multiplier is a standard deviation (or scale) divided by that sensitivity. An
// event alone does not name the relation; Stated does.
type Event interface {
	// Validate returns an error that names the field, or nil.
	Validate() error
	kind() string // see KindOf
}

// KindOf returns the stable name under which an event is stored.
func KindOf(e Event) string { return e.kind() }

type (
	// NoOp touches no data. It costs nothing.
	NoOp struct{}

	// NonPrivate releases something without protection. It costs +Inf.
	NonPrivate struct{}

	// Gaussian adds N(0, (NoiseMultiplier·Δ)²) per coordinate to a value of L2
	// sensitivity Δ. NoiseMultiplier 0 costs +Inf.
	Gaussian struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
	}

	// Laplace adds Laplace noise of scale NoiseMultiplier·Δ to a value of L1
	// sensitivity Δ: pure epsilon 1/NoiseMultiplier.
	Laplace struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
	}

	// DiscreteGaussian adds integer noise with P(x) ∝ exp(−x²/2s²),
	// s = NoiseMultiplier·Δ, to every coordinate of an integer vector of L2
	// sensitivity Δ (Canonne, Kamath and Steinke, arXiv:2004.00010): zCDP with
	// rho = 1/(2·NoiseMultiplier²). It has no analytic-Gaussian curve.
	DiscreteGaussian struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
	}

	// DiscreteLaplace adds integer noise with P(x) ∝ exp(−|x|/(NoiseMultiplier·Δ))
	// to an integer vector of L1 sensitivity Δ: pure epsilon 1/NoiseMultiplier.
	DiscreteLaplace struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
	}

	// RandomizedResponse gives the true answer with probability 1−NoiseProbability and a uniform one
	// of Categories otherwise (ReplaceOne).
	RandomizedResponse struct {
		NoiseProbability float64 `json:"noise_probability"`
		Categories       int     `json:"categories"`
	}

	// ExponentialMechanism samples with weights exp(Epsilon·u/(2Δ)); it is
	// Epsilon-DP and Epsilon-bounded-range.
	ExponentialMechanism struct {
		Epsilon float64 `json:"epsilon"`
	}

	// Pure is any Epsilon-DP mechanism.
	Pure struct {
		Epsilon float64 `json:"epsilon"`
	}

	// Approximate is any (Epsilon, Delta)-DP mechanism about which nothing else
	// is known.
	Approximate struct {
		Epsilon float64 `json:"epsilon"`
		Delta   float64 `json:"delta"`
	}

	// ZCDP is any Rho-zero-concentrated-DP mechanism (Bun and Steinke,
	// arXiv:1605.02065).
	ZCDP struct {
		Rho float64 `json:"rho"`
	}

	// PoissonSampled runs Event on a sample that every unit joins independently with probability Rate;
	// a unit of several rows joins as a whole.
	//
	// OneSided is the same mechanism as seen when a unit is added or removed, whereas Event is for a
	// replaced unit: noise relative to the smaller sensitivity. Under ReplaceOne sampling amplifies
	// only if OneSided is known; nil (unknown) means no amplification. The other relations ignore it.
	PoissonSampled struct {
		Rate     float64 `json:"rate"`
		Event    Event   `json:"event"`
		OneSided Event   `json:"one_sided,omitempty"`
	}

	// FixedSizeSampled runs Event on SampleSize of SourceSize units drawn without
	// replacement (ReplaceOne; Wang, Balle and Kasiviswanathan, arXiv:1808.00087).
	FixedSizeSampled struct {
		SampleSize int   `json:"sample_size"`
		SourceSize int   `json:"source_size"`
		Event      Event `json:"event"`
	}

	// Shuffled is Epochs passes over a shuffled data set in fixed batches, each batch through Event
	// once. Its bound includes no amplification: every unit takes part in Event once per epoch.
	Shuffled struct {
		Epochs int   `json:"epochs"`
		Event  Event `json:"event"`
	}

	// Banded is a sum of contributions released Steps times with noise that is correlated over the
	// steps: banded matrix factorisation (Choquette-Choo et al., arXiv:2306.08153). Every unit belongs
	// to one of Groups groups, by a rule that depends on that unit alone, and joins step t only if t
	// mod Groups is its group, and then with probability Rate (1: always). With Coefficients c_0, …,
	// c_(b−1), b <= Groups, and fresh z_t ~ N(0, 1) per coordinate, step t adds
	// NoiseMultiplier·Δ·‖c‖·y_t to its sum, where
	//
	//	c_0·y_t + c_1·y_(t−1) + … + c_(b−1)·y_(t−b+1) = z_t,
	//
	// and Δ bounds the L2 norm of what a unit adds to a sum. Banded.Rounds states the cost.
	Banded struct {
		Steps           int64     `json:"steps"`
		Groups          int       `json:"groups"`
		Rate            float64   `json:"rate"`
		NoiseMultiplier float64   `json:"noise_multiplier"`
		Coefficients    []float64 `json:"coefficients"`
	}

	// Repeat composes Count adaptive uses of Event with fresh randomness.
	Repeat struct {
		Count int64 `json:"count"`
		Event Event `json:"event"`
	}

	// Compose composes Events adaptively, each chosen before data is read.
	Compose struct {
		Events []Event `json:"events"`
	}

	// Scoped restricts Event to the units of Scope. Units outside it have no influence on the output.
	Scoped struct {
		Scope Scope `json:"scope"`
		Event Event `json:"event"`
	}

	// Select runs Event a secret random number of times and releases only the
	// best run (Liu and Talwar, arXiv:1811.07971; Papernot and Steinke,
	// arXiv:2110.03620).
	Select struct {
		Runs  Runs  `json:"runs"`
		Event Event `json:"event"`
	}
)

// Runs is the distribution of the secret number of runs of a Select.
type Runs interface {
	Validate() error
	runsKind() string // see RunsKindOf
}

// RunsKindOf returns the stable name under which a distribution of runs is stored.
func RunsKindOf(r Runs) string { return r.runsKind() }

type (
	// TruncatedNegativeBinomial has parameters Eta > −1 and the mean number of
	// runs (> 1). Eta 1 is geometric, 0 logarithmic.
	TruncatedNegativeBinomial struct {
		Eta  float64 `json:"eta"`
		Mean float64 `json:"mean"`
	}

	// PoissonRuns has the given mean; zero runs are possible.
	PoissonRuns struct {
		Mean float64 `json:"mean"`
	}

	// RandomStopping is Liu and Talwar's hard stop: it stops after every run with probability Gamma,
	// and at the latest after ceil((1/Gamma)·ln(1/Delta2)) runs.
	RandomStopping struct {
		Gamma  float64 `json:"gamma"`
		Delta2 float64 `json:"delta2"`
	}
)

func (NoOp) kind() string                 { return "no_op" }
func (NonPrivate) kind() string           { return "non_private" }
func (Gaussian) kind() string             { return "gaussian" }
func (Laplace) kind() string              { return "laplace" }
func (DiscreteGaussian) kind() string     { return "discrete_gaussian" }
func (DiscreteLaplace) kind() string      { return "discrete_laplace" }
func (RandomizedResponse) kind() string   { return "randomized_response" }
func (ExponentialMechanism) kind() string { return "exponential_mechanism" }
func (Pure) kind() string                 { return "pure" }
func (Approximate) kind() string          { return "approximate" }
func (ZCDP) kind() string                 { return "zcdp" }
func (PoissonSampled) kind() string       { return "poisson_sampled" }
func (FixedSizeSampled) kind() string     { return "fixed_size_sampled" }
func (Shuffled) kind() string             { return "shuffled" }
func (Banded) kind() string               { return "banded" }
func (Repeat) kind() string               { return "repeat" }
func (Compose) kind() string              { return "compose" }
func (Scoped) kind() string               { return "scoped" }
func (Select) kind() string               { return "select" }

func (TruncatedNegativeBinomial) runsKind() string { return "tnb" }
func (PoissonRuns) runsKind() string               { return "poisson" }
func (RandomStopping) runsKind() string            { return "random_stopping" }
