package selectionstudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/evidence/lab"
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
func (p *Study) choose(ctx context.Context, s *split, method string, multiplier float64, seed uint64) ([]string, error) {
	noise := entropy.Seeded(seed).Split("choose").Uint64() // another seed than the selector's
	var selector feature.Selector
	count := p.Count
	switch method {
	case distance, careful:
		d, err := s.NoisyDistances(ctx, s.rows, multiplier, noise)
		switch {
		case err != nil:
			return nil, err
		case method == careful:
			return d.Holding(), nil
		}
		return d.Beyond(), nil // nil where nothing stands out
	case information:
		selector = feature.Relevance{Options: feature.MatrixOptions{Seed: seed}}
	case correlation:
		selector, count = feature.Greedy{Options: feature.MatrixOptions{Seed: seed}}, feature.Auto
	}
	statistics, err := s.NoisyTables(ctx, s.rows, selector.Need(), p.Bins, multiplier, noise)
	if err != nil {
		return nil, err
	}
	chosen, err := selector.Select(ctx, statistics, count)
	if err != nil {
		return nil, nil // noise left one class of the label: nothing was learnt
	}
	var names []string
	for _, j := range chosen.Attributes() {
		names = append(names, statistics.Domain.Attributes[j].Name)
	}
	return names, nil
}

// measure returns the score of every learner after a way of choosing.
func (p *Study) measure(ctx context.Context, s *split, method string, b budget) (scores []float64, err error) {
	if method == searching {
		v, err := p.search8(ctx, s, b)
		return []float64{v}, err
	}
	var columns []string
	multiplier, pays := b.whole, false
	switch method {
	case everything:
	case documented, oracle:
		columns = p.Subset
	default:
		multiplier, pays = b.trains, true
		if columns, err = p.choose(ctx, s, method, b.chooses, s.seed); err != nil {
			return nil, err
		}
	}
	for _, learner := range p.Learners {
		var predict func(cells []float64) float64
		switch {
		case learner != plain:
			predict, err = s.train(ctx, learner, columns, b, multiplier, s.seed)
		case pays:
			predict, err = p.choosePlain(ctx, s, method, b)
		default:
			predict, err = s.plain(ctx, columns, b.epsilon, s.seed)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", method, learner, err)
		}
		scores = append(scores, score(s.Table, predict))
	}
	return scores, nil
}

// choosePlain chooses for objective perturbation: a release at its share of ε chooses, and what that leaves trains
// (adding up, because the two have no common curve).
func (p *Study) choosePlain(ctx context.Context, s *split, method string, b budget) (func(cells []float64) float64, error) {
	multiplier, err := accountant.GaussianNoiseMultiplier(share*b.epsilon, b.delta)
	if err != nil {
		return nil, err
	}
	columns, err := p.choose(ctx, s, method, multiplier, s.seed+1)
	if err != nil {
		return nil, err
	}
	return s.plain(ctx, columns, (1-share)*b.epsilon, s.seed)
}

// search8 is the score of the winner of a Papernot–Steinke selection: each of a secret
// number of runs, eight on average, trains the linear model on four fifths of the rows
// and columns drawn independently of the data, and is scored with noise on the rest.
func (p *Study) search8(ctx context.Context, s *split, b budget) (float64, error) {
	multiplier, err := b.searched()
	if err != nil {
		return 0, err
	}
	runs, err := drawRuns(s.seed)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, c := range s.Schema.Columns {
		if c.Type != "ignore" && c.Name != s.Target {
			names = append(names, c.Name)
		}
	}
	cut := len(s.Rows) * 4 / 5
	part := &split{Table: &lab.Table{Name: s.Name, Target: s.Target, Schema: s.Schema, Rows: s.Rows[:cut], Test: s.Rows[cut:]}, seed: s.seed}
	rng := rand.New(rand.NewPCG(s.seed, 15))
	best, out := math.Inf(-1), 0.0
	for run := range runs {
		var columns []string
		for _, j := range feature.DrawSubset(rng, len(names)).Indices() {
			columns = append(columns, names[j])
		}
		predict, err := part.train(ctx, linear, columns, b, multiplier, 1000*s.seed+uint64(run))
		if err != nil {
			return 0, err
		}
		if v := validation(part.Table, predict) + multiplier*rng.NormFloat64(); v > best {
			best, out = v, score(s.Table, predict)
		}
	}
	return out, nil
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
func drawRuns(seed uint64) (int, error) {
	gamma, err := accountant.TNBGamma(dp.TruncatedNegativeBinomial{Eta: 0, Mean: meanRuns})
	if err != nil {
		return 0, err
	}
	u := rand.New(rand.NewPCG(seed, 16)).Float64()
	for k, power := 1, 1-gamma; k < 1000; k, power = k+1, power*(1-gamma) {
		if u -= power / (float64(k) * math.Log(1/gamma)); u < 0 {
			return k, nil
		}
	}
	return 1000, nil
}

// Chosen is the score of a fit, by its rules, on so many columns that noisy tables rank highest: a fifth of the
// budget pays for the tables, the rest trains.
func Chosen(ctx context.Context, t *lab.Table, epsilon float64, count int, seed uint64) (float64, error) {
	b, err := newBudget(epsilon, len(t.Rows))
	if err != nil {
		return 0, err
	}
	p := &Study{Count: count, Bins: feature.DefaultBins, Learners: []string{linear}}
	s := &split{Table: t, seed: seed}
	if s.rows, err = t.Seal(seed); err != nil {
		return 0, err
	}
	scores, err := p.measure(ctx, s, information, b)
	if err != nil {
		return 0, err
	}
	return scores[0], nil
}
