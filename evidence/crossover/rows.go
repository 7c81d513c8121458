package crossover

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/evidence/theory"
	"pawl/report"
)

// Sizes says what more rows would change.
type Sizes struct {
	Rows []int `json:"rows"`
	// Reach is the score whose price in ε the curves are fitted to.
	Reach float64 `json:"reach"`
	// Curves fit ε = ln(α + β/n) to the ε at which a configuration reaches it.
	Curves []SizeCurve `json:"configurations"`
	// Pairs fit the same form to the crossover.
	Pairs []SizePair `json:"pairs"`
	at    float64
}

// SizeCurve is the fit of one configuration.
type SizeCurve struct {
	Name string `json:"name"`
	SizeFit
}

// SizePair is the fit of a crossover.
type SizePair struct {
	Simple  string `json:"simple"`
	Complex string `json:"complex"`
	// Crossovers are those at each size.
	Crossovers []Interval `json:"crossovers"`
	SizeFit
}

// SizeFit is ε = ln(α + β/n), or why there is none.
type SizeFit struct {
	Alpha *Interval `json:"alpha"`
	Beta  *Interval `json:"beta"`
	// Needed is the number of rows at the ε of the answer.
	Needed *Interval `json:"rows_needed"`
	// Used are the sizes that entered.
	Used []float64 `json:"sizes_used"`
	Why  string    `json:"no_fit,omitempty"`
}

// sizes measures all configurations at every size.
func (s *Study) sizes(ctx context.Context, own grid, factors [][]float64) (*Sizes, error) {
	all := make([]grid, len(s.Rows))
	for i, rows := range s.Rows {
		if rows == s.Data.Rows() {
			all[i] = own
			continue
		}
		var err error
		if all[i], err = s.measure(ctx, rows, factors, 0); err != nil {
			return nil, err
		}
	}
	z := &Sizes{Rows: s.Rows, Reach: s.Reach, at: s.At}
	if z.Reach == 0 {
		z.Reach = s.reachable(all)
	}
	names := s.names()
	for c := range s.Specs {
		runs := make([]theory.SizeRuns, len(s.Rows))
		var o outside
		for i, rows := range s.Rows {
			runs[i] = theory.SizeRuns{Rows: float64(rows), Tried: s.Seeds}
			for seed := range s.Seeds {
				o.count(&runs[i], s.reaches(all[i][c], seed, z.Reach))
			}
		}
		why := fmt.Sprintf("of %d runs %d score more at ε = %s already and %d score less up to ε = %s: other --epsilons, or --reach", len(s.Rows)*s.Seeds, o.below, number(s.Epsilons[0]), o.above, number(s.Epsilons[len(s.Epsilons)-1]))
		z.Curves = append(z.Curves, SizeCurve{names[c], s.fit(runs, why)})
	}
	for c := range s.Specs {
		for d := c + 1; d < len(s.Specs); d++ {
			p := SizePair{Simple: names[c], Complex: names[d]}
			runs := make([]theory.SizeRuns, len(s.Rows))
			var o outside
			for i, rows := range s.Rows {
				found, err := s.estimate(all[i][c], all[i][d])
				if err != nil {
					return nil, err
				}
				p.Crossovers = append(p.Crossovers, interval(found.Epsilon))
				runs[i] = theory.SizeRuns{Rows: float64(rows), Tried: s.Seeds}
				for seed := range s.Seeds {
					o.count(&runs[i], s.crosses(all[i][c], all[i][d], seed))
				}
			}
			p.SizeFit = s.fit(runs, fmt.Sprintf("of %d pairs of runs %d have %s ahead at every ε tested and %d have %s: there is no crossing to follow", len(s.Rows)*s.Seeds, o.below, names[d], o.above, names[c]))
			z.Pairs = append(z.Pairs, p)
		}
	}
	return z, nil
}

// reachable is a score that every configuration reaches at every size but the smallest:
// a little below the lowest of their best.
func (s *Study) reachable(all []grid) float64 {
	low, bottom := math.Inf(1), math.Inf(1)
	for i, g := range all {
		for c := range g {
			for k := range g[c] {
				bottom = min(bottom, mean(g[c][k]))
			}
			if i > 0 {
				low = min(low, mean(g[c][len(g[c])-1]))
			}
		}
	}
	return round4(low - .1*(low-bottom))
}

func round4(v float64) float64 { return math.Round(1e4*v) / 1e4 }

// outside counts runs whose ε lies below or above all that were tested.
type outside struct{ below, above int }

func (o *outside) count(to *theory.SizeRuns, epsilon float64) {
	switch {
	case epsilon == 0:
		o.below++
	case math.IsInf(epsilon, 1):
		o.above++
	default:
		to.Epsilons = append(to.Epsilons, epsilon)
	}
}

// reaches is the smallest ε at which a seed's scores, made to rise, reach a score, linear
// in ln ε between two points: 0 where they are there already at the first ε, for where it
// began is not known, and +Inf where they never are.
func (s *Study) reaches(scores [][]float64, seed int, reach float64) float64 {
	rising := make([]float64, len(scores))
	for k := range scores {
		rising[k] = scores[k][seed] - reach
	}
	monotone(rising)
	return s.zero(rising)
}

// crosses is the ε at which a seed's complex configuration, less its simple one, made to
// rise, reaches 0, as reaches.
func (s *Study) crosses(simple, complex [][]float64, seed int) float64 {
	rising := make([]float64, len(simple))
	for k := range simple {
		rising[k] = complex[k][seed] - simple[k][seed]
	}
	monotone(rising)
	return s.zero(rising)
}

func (s *Study) zero(rising []float64) float64 {
	switch k := slices.IndexFunc(rising, func(v float64) bool { return v >= 0 }); k {
	case -1:
		return math.Inf(1)
	case 0:
		return 0
	default:
		a, b := math.Log(s.Epsilons[k-1]), math.Log(s.Epsilons[k])
		return math.Exp(a + (b-a)*-rising[k-1]/(rising[k]-rising[k-1]))
	}
}

// monotone is isotonic regression, rising, in place (pool adjacent violators).
func monotone(v []float64) {
	type block struct {
		sum float64
		n   int
	}
	var blocks []block
	for _, x := range v {
		blocks = append(blocks, block{x, 1})
		for n := len(blocks); n > 1 && blocks[n-2].sum*float64(blocks[n-1].n) >= blocks[n-1].sum*float64(blocks[n-2].n); n = len(blocks) {
			blocks[n-2].sum += blocks[n-1].sum
			blocks[n-2].n += blocks[n-1].n
			blocks = blocks[:n-1]
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.n {
			v[i] = b.sum / float64(b.n)
			i++
		}
	}
}

// fit fits ε over rows; why says what stands in the way where there are too few.
func (s *Study) fit(runs []theory.SizeRuns, why string) (f SizeFit) {
	found, err := theory.FitSizes(runs, theory.Bootstrap{Replicates: replicates, Confidence: s.Confidence, Seed: 1})
	if err != nil {
		found, tried := 0, 0
		for _, r := range runs {
			found, tried = found+len(r.Epsilons), tried+r.Tried
		}
		if f.Why = why; found == tried {
			f.Why = strings.TrimPrefix(err.Error(), theory.ErrInput.Error()+": ")
		}
		return f
	}
	alpha, beta := interval(found.AlphaInterval), interval(found.BetaInterval)
	f.Alpha, f.Beta, f.Used = &alpha, &beta, found.Used
	if s.At > 0 {
		needed := interval(found.RowsInterval(s.At))
		f.Needed = &needed
	}
	return f
}

func (z *Sizes) words() (out []string) {
	for _, c := range z.Curves {
		if c.Alpha == nil {
			out = append(out, fmt.Sprintf("%s, score %s over rows: no fit (%s)", c.Name, number(z.Reach), c.Why))
			continue
		}
		text := fmt.Sprintf("%s reaches %s at ε = ln(%s + %s/rows)", c.Name, number(z.Reach), short(float64(c.Alpha.Estimate)), short(float64(c.Beta.Estimate)))
		if c.Needed != nil {
			text += fmt.Sprintf(": %s rows at ε = %s (%s)", whole(c.Needed.Estimate), number(z.at), c.Needed.wholeEnds())
		}
		out = append(out, text)
	}
	for _, p := range z.Pairs {
		switch {
		case p.Alpha == nil:
			out = append(out, fmt.Sprintf("the crossover of %s and %s over rows: no fit (%s)", p.Simple, p.Complex, p.Why))
		case p.Needed != nil:
			text := fmt.Sprintf("%s becomes worth it at ε = %s from %s rows on (%s)", p.Complex, number(z.at), whole(p.Needed.Estimate), p.Needed.wholeEnds())
			if more := float64(p.Needed.Estimate) - float64(z.Rows[len(z.Rows)-1]); more > 0 && !math.IsInf(more, 1) {
				text += fmt.Sprintf(", %.0f more than there are", more)
			}
			out = append(out, text)
		default:
			out = append(out, fmt.Sprintf("the crossover of %s and %s falls with rows as ε = ln(%s + %s/rows)", p.Simple, p.Complex, short(float64(p.Alpha.Estimate)), short(float64(p.Beta.Estimate))))
		}
	}
	return out
}

func whole(v report.Number) string {
	if math.IsInf(float64(v), 1) {
		return "∞"
	}
	return fmt.Sprintf("%.0f", float64(v))
}

func (i Interval) wholeEnds() string {
	return fmt.Sprintf("%s to %s", whole(i.Interval[0]), whole(i.Interval[1]))
}
