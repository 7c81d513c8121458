package crossover

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/report"
	"pawl/theory"
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
		for i, rows := range s.Rows {
			runs[i] = theory.SizeRuns{Rows: float64(rows), Tried: s.Seeds}
			for seed := range s.Seeds {
				if e, ok := s.reaches(all[i][c], seed, z.Reach); ok {
					runs[i].Epsilons = append(runs[i].Epsilons, e)
				}
			}
		}
		z.Curves = append(z.Curves, SizeCurve{names[c], s.fit(runs)})
	}
	for c := range s.Specs {
		for d := c + 1; d < len(s.Specs); d++ {
			p := SizePair{Simple: names[c], Complex: names[d]}
			runs := make([]theory.SizeRuns, len(s.Rows))
			for i, rows := range s.Rows {
				found, err := s.estimate(all[i][c], all[i][d])
				if err != nil {
					return nil, err
				}
				p.Crossovers = append(p.Crossovers, interval(found.Epsilon))
				runs[i] = theory.SizeRuns{Rows: float64(rows), Tried: s.Seeds}
				for seed := range s.Seeds {
					if e, ok := s.crosses(all[i][c], all[i][d], seed); ok {
						runs[i].Epsilons = append(runs[i].Epsilons, e)
					}
				}
			}
			p.SizeFit = s.fit(runs)
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

// reaches is the smallest ε at which a seed's scores, made to rise, reach a score, linear
// in ln ε between two points. One that is there already at the first ε is not counted:
// where it began is not known.
func (s *Study) reaches(scores [][]float64, seed int, reach float64) (float64, bool) {
	rising := make([]float64, len(scores))
	for k := range scores {
		rising[k] = scores[k][seed] - reach
	}
	monotone(rising)
	return s.zero(rising)
}

// crosses is the ε at which a seed's complex configuration, less its simple one, made to
// rise, reaches 0.
func (s *Study) crosses(simple, complex [][]float64, seed int) (float64, bool) {
	rising := make([]float64, len(simple))
	for k := range simple {
		rising[k] = complex[k][seed] - simple[k][seed]
	}
	monotone(rising)
	return s.zero(rising)
}

func (s *Study) zero(rising []float64) (float64, bool) {
	k := slices.IndexFunc(rising, func(v float64) bool { return v >= 0 })
	if k <= 0 {
		return 0, false
	}
	a, b := math.Log(s.Epsilons[k-1]), math.Log(s.Epsilons[k])
	return math.Exp(a + (b-a)*-rising[k-1]/(rising[k]-rising[k-1])), true
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

func (s *Study) fit(runs []theory.SizeRuns) (f SizeFit) {
	found, err := theory.FitSizes(runs, theory.Bootstrap{Replicates: replicates, Confidence: s.Confidence, Seed: 1})
	if err != nil {
		f.Why = strings.TrimPrefix(err.Error(), theory.ErrInput.Error()+": ")
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
