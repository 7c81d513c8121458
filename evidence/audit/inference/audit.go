package inference

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
)

// ErrInput is wrapped by every refusal of an argument.
var ErrInput = errors.New("audit: invalid input")

// fewest is the number of records under attack below which no number has a meaning.
const fewest = 40

// Recipe trains one model on the records of the given indices and returns what it answers
// to all records: records×classes probabilities, row-major. Trainings are numbered, the
// target being 0, and differ in nothing else than members and randomness.
type Recipe func(ctx context.Context, number int, members []int) ([]float64, error)

// Audit is a membership inference audit of a recipe.
type Audit struct {
	// Label is the class of each record, of Classes.
	Label   []int
	Classes int
	// Identity names each record in the manifest: its index, or its bytes.
	Identity [][]byte
	Train    Recipe
	Attack   Kind
	// Shadows is the number of shadow models, 0 for the attack's default.
	Shadows int
	// Seed of the coins. Who knows it knows who was a member: it is harmless on public
	// records alone.
	Seed [2]uint64
	// Claim, where not nil, is what a training promises; At is the same at a δ that an
	// audit in one run can work with (see Delta).
	Claim, At *bound.Claim
	// Priors and Rates are those of attack.Options.
	Priors, Rates []float64
	Progress      func(done, of int)
}

// Result is what an audit found.
type Result struct {
	Attack  Kind                 `json:"attack"`
	Shadows int                  `json:"shadow_models"`
	Trained int                  `json:"records_per_model"`
	Report  *attack.Report       `json:"report"`
	Classes []attack.ClassReport `json:"by_class"`
	// OneRun is the audit in one run: the target's members were chosen by fair coins.
	OneRun   *OneRun             `json:"one_run,omitempty"`
	Manifest *attack.Manifest    `json:"manifest"`
	Sizes    map[attack.Pool]int `json:"pools"`
	Notes    []string            `json:"notes"`
	// Scored are the scores of the records under attack, for numbers that no report has.
	Scored attack.Scored `json:"-"`
}

// OneRun is a lower bound on ε from the coins, against the claim at the same δ.
type OneRun struct {
	Claim bound.Claim `json:"claim"`
	// Shown is the bound at 95 %, Sure that at which a claim is convicted.
	Shown     bound.OneRun `json:"bound"`
	Sure      bound.OneRun `json:"bound_of_the_verdict"`
	Convicted bool         `json:"convicted"`
}

// Delta is a δ at which an audit in one run over so many records can work: the theorem
// gives up 2·m·δ of the error, here a tenth of it at bound.Conviction.
func Delta(records int) float64 { return (1 - bound.Conviction) / (20 * float64(records)) }

// Run trains the target and its shadow models, attacks and reports.
//
// Errors: ErrInput for what can be known before a model is trained; those of package
// attack; those of the recipe.
func (a Audit) Run(ctx context.Context) (*Result, error) {
	n := len(a.Label)
	if len(a.Identity) != n {
		return nil, fmt.Errorf("%w: %d records and %d names", ErrInput, n, len(a.Identity))
	}
	if a.Shadows == 0 {
		a.Shadows = a.Attack.Shadows()
	}
	if a.Attack.least() == 0 {
		a.Shadows = 0
	}
	rng := rand.New(rand.NewPCG(a.Seed[0], a.Seed[1]))
	d, err := newDesign(a.Attack, n, a.Shadows, rng)
	if err != nil {
		return nil, err
	}
	out := &Result{Attack: a.Attack, Shadows: a.Shadows, Notes: []string{}}
	if out.Manifest, err = a.manifest(d, rng); err != nil {
		return nil, err
	}
	out.Sizes, out.Trained = out.Manifest.Sizes(), len(chosen(d.attacked, d.in))
	scored, err := a.scores(ctx, d)
	if err != nil {
		return nil, err
	}
	out.Scored = scored
	o := attack.Options{Claim: a.Claim, Priors: a.Priors, Rates: a.Rates}
	if out.Report, err = attack.Evaluate(scored, o); err != nil {
		return nil, err
	}
	if out.Classes, err = attack.ByClass(scored, o); err != nil {
		return nil, err
	}
	if a.At != nil {
		if out.OneRun, err = Judge(scored, *a.At); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Judge reads an attack as an audit in one run: the members were chosen by fair coins that
// were independent of each other.
func Judge(s attack.Scored, claim bound.Claim) (*OneRun, error) {
	r := &OneRun{Claim: claim}
	c := bound.Canaries{Score: s.Score, In: s.Member}
	var err error
	if r.Shown, err = c.Epsilon(claim.Delta, bound.Printed); err != nil {
		return nil, err
	}
	r.Sure, err = c.Epsilon(claim.Delta, bound.Conviction)
	r.Convicted = r.Sure.Epsilon > claim.Epsilon
	return r, err
}

// manifest puts every record into its pool, which refuses a record, or equal ones, in two.
func (a Audit) manifest(d *design, rng *rand.Rand) (*attack.Manifest, error) {
	var key [32]byte
	for i := range key {
		key[i] = byte(rng.Uint32())
	}
	m := attack.NewManifest(key)
	add := func(pool attack.Pool, records []int) error {
		names := make([][]byte, len(records))
		for i, r := range records {
			names[i] = a.Identity[r]
		}
		return m.Add(pool, names...)
	}
	out := make([]bool, len(d.in))
	for i, in := range d.in {
		out[i] = !in
	}
	if err := errors.Join(add(attack.TargetIn, chosen(d.attacked, d.in)), add(attack.TargetOut, chosen(d.attacked, out)), add(attack.Population, d.population)); err != nil {
		return nil, err
	}
	if d.common {
		return m, nil
	}
	for s, p := range d.pool {
		rest := make([]bool, len(p))
		for i, in := range d.shadows[s] {
			rest[i] = !in
		}
		if err := errors.Join(add(attack.ShadowIn, chosen(p, d.shadows[s])), add(attack.ShadowOut, chosen(p, rest))); err != nil {
			return nil, err
		}
	}
	return m, nil
}
