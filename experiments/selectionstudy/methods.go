package selectionstudy

import (
	"context"
	"math"
	"math/rand/v2"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/search/feature"
)

// Ways of choosing, as rows name them.
const (
	everything  = "all columns"
	documented  = "columns named by documentation"
	oracle      = "the columns that matter (known here)"
	information = "information in noisy tables"
	correlation = "CFS on noisy tables"
	distance    = "DFS, what exceeds the noise"
	careful     = "DFS if it holds the distance"
	searching   = "PAFS, private search"
)

// choose returns columns, or nil for all, from a release of the given multiplier.
func (p *Study) choose(ctx context.Context, s *split, method string, multiplier float64, seed uint64) (names []string) {
	noise := entropy.Seeded(seed).Split("choose").Uint64() // another seed than the selector's
	var selector feature.Selector
	count := p.Count
	switch method {
	case distance:
		return must(s.NoisyDistances(ctx, s.rows, multiplier, noise)).Beyond() // nil where nothing stands out
	case careful:
		return must(s.NoisyDistances(ctx, s.rows, multiplier, noise)).Holding()
	case information:
		selector = feature.Relevance{Options: feature.MatrixOptions{Seed: seed}}
	case correlation:
		selector, count = feature.Greedy{Options: feature.MatrixOptions{Seed: seed}}, feature.Auto
	}
	statistics := must(s.NoisyTables(ctx, s.rows, selector.Need(), p.Bins, multiplier, noise))
	chosen, err := selector.Select(ctx, statistics, count)
	if err != nil {
		return nil // noise left one class of the label: nothing was learnt
	}
	for _, j := range chosen.Attributes() {
		names = append(names, statistics.Domain.Attributes[j].Name)
	}
	return names
}

// measure returns the score of every learner after a way of choosing.
func (p *Study) measure(ctx context.Context, s *split, method string, b budget) (scores []float64) {
	var columns []string
	multiplier, pays := b.whole, false
	switch method {
	case searching:
		return []float64{p.search8(ctx, s, b)}
	case everything:
	case documented, oracle:
		columns = p.Subset
	default:
		multiplier, pays = b.trains, true
		columns = p.choose(ctx, s, method, b.chooses, s.seed)
	}
	for _, learner := range p.Learners {
		var predict func(cells []float64) float64
		switch {
		case learner != plain:
			predict = s.train(ctx, learner, columns, b, multiplier, s.seed)
		case pays: // a release at its share of ε chooses, and what that leaves trains: the two have no common curve
			of := p.choose(ctx, s, method, must(accountant.GaussianNoiseMultiplier(share*b.epsilon, b.delta)), s.seed+1)
			predict = s.plain(ctx, of, (1-share)*b.epsilon)
		default:
			predict = s.plain(ctx, columns, b.epsilon)
		}
		scores = append(scores, score(s.Table, predict))
	}
	return scores
}

// search8 is the score of the winner of a Papernot–Steinke selection: each of a secret
// number of runs, eight on average, trains the linear model on four fifths of the rows
// and columns drawn independently of the data, and is scored with noise on the rest.
func (p *Study) search8(ctx context.Context, s *split, b budget) (out float64) {
	multiplier := must(b.searched())
	var names []string
	for _, c := range s.Schema.Columns {
		if c.Type != "ignore" && c.Name != s.Target {
			names = append(names, c.Name)
		}
	}
	cut := len(s.Rows) * 4 / 5
	part := &split{Table: &lab.Table{Name: s.Name, Target: s.Target, Schema: s.Schema, Rows: s.Rows[:cut], Test: s.Rows[cut:]}, seed: s.seed}
	rng := rand.New(rand.NewPCG(s.seed, 15))
	best := math.Inf(-1)
	for run := range drawRuns(s.seed) {
		var columns []string
		for _, j := range feature.DrawSubset(rng, len(names)).Indices() {
			columns = append(columns, names[j])
		}
		predict := part.train(ctx, linear, columns, b, multiplier, 1000*s.seed+uint64(run))
		if v := validation(part.Table, predict) + multiplier*rng.NormFloat64(); v > best {
			best, out = v, score(s.Table, predict)
		}
	}
	return out
}

// validation is a sum over rows to which each adds 1 at most: the number that are right,
// or for a number the errors taken off, over the width of its range.
func validation(t *lab.Table, predict func(cells []float64) float64) float64 {
	at := t.Schema.Column(t.Target)
	c := &t.Schema.Columns[at]
	sum := 0.0
	for _, row := range t.Test {
		v := predict(row)
		if regression(t) {
			sum -= min(math.Abs(v-row[at])/(c.Upper-c.Lower), 1)
		} else {
			sum += indicator(v == row[at])
		}
	}
	return sum
}

// drawRuns draws the number of runs: P(k) = (1−γ)^k/(k·ln(1/γ)).
func drawRuns(seed uint64) int {
	gamma := must(accountant.TNBGamma(dp.TruncatedNegativeBinomial{Eta: 0, Mean: meanRuns}))
	u := rand.New(rand.NewPCG(seed, 16)).Float64()
	for k, power := 1, 1-gamma; k < 1000; k, power = k+1, power*(1-gamma) {
		if u -= power / (float64(k) * math.Log(1/gamma)); u < 0 {
			return k
		}
	}
	return 1000
}

// Chosen is the score of a fit, by its rules, on so many columns that noisy tables rank highest: a fifth of the
// budget pays for the tables, the rest trains.
func Chosen(ctx context.Context, t *lab.Table, epsilon float64, count int, seed uint64) (float64, error) {
	return experiments.Attempt(func() float64 {
		p := &Study{Count: count, Bins: feature.DefaultBins, Learners: []string{linear}}
		return p.measure(ctx, newSplit(t, seed), information, newBudget(epsilon, len(t.Rows)))[0]
	})
}

// must is v; for an error the cell fails.
func must[T any](v T, err error) T { return experiments.Must(v, err) }
