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

// Interval is an estimate with a confidence interval; ends may be 0 or infinite.
type Interval struct {
	Estimate report.Number    `json:"estimate"`
	Interval [2]report.Number `json:"interval"`
}

func interval(i theory.Interval) Interval {
	return Interval{report.Number(i.Estimate), [2]report.Number{report.Number(i.Lower), report.Number(i.Upper)}}
}

// Result is what a study found.
type Result struct {
	Curves []Curve `json:"configurations"`
	Pairs  []Pair  `json:"pairs"`
	// Common are the pairs at step sizes that all configurations share.
	Common []Common `json:"common_rates,omitempty"`
	Sizes  *Sizes   `json:"sizes,omitempty"`
	Words  []string `json:"sentences"`
}

// Curve is one configuration over ε.
type Curve struct {
	Name   string  `json:"name"`
	Spec   string  `json:"spec"`
	Points []Point `json:"points"`
	// Plain is without noise, nil where it was not measured.
	Plain *Interval `json:"without_privacy"`
}

// Point is one configuration at one ε.
type Point struct {
	Epsilon float64   `json:"epsilon"`
	Score   Interval  `json:"score"`
	Runs    []float64 `json:"runs"`
	// Cost is what privacy costs here: the score without noise less this one.
	Cost *Interval `json:"cost_of_privacy"`
	// Factor of the rule's step size, where it was tuned.
	Factor float64 `json:"step_size_factor,omitempty"`
}

// Pair is the crossover of two configurations.
type Pair struct {
	Simple    string       `json:"simple"`
	Complex   string       `json:"complex"`
	Crossover Interval     `json:"crossover"`
	Verdict   string       `json:"verdict"`
	Points    []Difference `json:"points"`
	// Crossings are all sign changes of the means, before smoothing; Proven counts those
	// between points whose intervals exclude 0.
	Crossings []Crossing `json:"crossings"`
	Proven    int        `json:"proven_crossings"`
	At        *Answer    `json:"at"`
}

// Difference is simple less complex at one ε.
type Difference struct {
	Epsilon    float64  `json:"epsilon"`
	Difference Interval `json:"difference"`
	// SimpleBetter is the share of bootstrap draws in which the simple one is better.
	SimpleBetter float64 `json:"simple_better"`
}

// Crossing is a change of the better one.
type Crossing struct {
	Epsilon   float64 `json:"epsilon"`
	ToComplex bool    `json:"to_complex"`
}

// Answer is which one to take at an ε.
type Answer struct {
	Epsilon float64 `json:"epsilon"`
	// Take is the name of the better one, or "either".
	Take string `json:"take"`
	// Sure is the share of bootstrap draws in which it is better.
	Sure     float64 `json:"sure"`
	Sentence string  `json:"sentence"`
}

// Common is a comparison at one step size for all.
type Common struct {
	Rate  float64 `json:"step_size"`
	Pairs []Pair  `json:"pairs"`
	// Lost is, by configuration, the largest loss against its own step size.
	Lost []Loss `json:"lost"`
}

// Loss is what a configuration loses by a step size that is not its own.
type Loss struct {
	Name    string  `json:"name"`
	Epsilon float64 `json:"epsilon"`
	Points  float64 `json:"loss"`
}

// replicates is the number of bootstrap draws.
const replicates = 2000

// Run measures what is not kept and says what it means.
func (s *Study) Run(ctx context.Context) (*Result, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	factors, err := s.tune(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.measure(ctx, s.Data.Rows(), factors, 0)
	if err != nil {
		return nil, err
	}
	plain, err := s.plain(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Curves, err = s.curves(own, plain, factors); err != nil {
		return nil, err
	}
	if r.Pairs, err = s.pairs(own); err != nil {
		return nil, err
	}
	for _, rate := range s.Rates {
		c, err := s.common(ctx, rate, own)
		if err != nil {
			return nil, err
		}
		r.Common = append(r.Common, c)
	}
	if len(s.Rows) > 0 {
		if r.Sizes, err = s.sizes(ctx, own, factors); err != nil {
			return nil, err
		}
	}
	r.Words = s.words(r)
	return r, nil
}

// names are A, B, C and so on.
func (s *Study) names() []string {
	names := make([]string, len(s.Specs))
	for i := range names {
		names[i] = string(rune('A' + i))
	}
	return names
}

func (s *Study) curves(own grid, plain [][]float64, factors [][]float64) ([]Curve, error) {
	var out []Curve
	for i, name := range s.names() {
		c := Curve{Name: name, Spec: s.Specs[i].Text}
		if s.Plain > 0 {
			mean, err := theory.MeanInterval(plain[i], s.Confidence)
			if err != nil {
				return nil, err
			}
			v := interval(mean)
			c.Plain = &v
		}
		for k, epsilon := range s.Epsilons {
			p := Point{Epsilon: epsilon, Runs: own[i][k]}
			mean, err := theory.MeanInterval(own[i][k], s.Confidence)
			if err != nil {
				return nil, err
			}
			p.Score = interval(mean)
			if s.Plain > 0 {
				cost, err := s.cost(plain[i], own[i][k])
				if err != nil {
					return nil, err
				}
				v := interval(cost)
				p.Cost = &v
			}
			if factors != nil {
				p.Factor = factors[i][k]
			}
			c.Points = append(c.Points, p)
		}
		out = append(out, c)
	}
	return out, nil
}

// cost is that of privacy. Runs of one seed share a split of the rows, where there is
// one, and are then compared in pairs.
func (s *Study) cost(plain, private []float64) (theory.Interval, error) {
	if n := min(len(plain), len(private)); !s.Data.Official() && n > 1 {
		return theory.PairedInterval(plain[:n], private[:n], s.Confidence)
	}
	// Errors are scores with the other sign.
	return theory.CostOfPrivacy(plain, private, s.Confidence)
}

// pairs compares every configuration with every one after it.
func (s *Study) pairs(scores grid) ([]Pair, error) {
	var out []Pair
	names := s.names()
	for i := range s.Specs {
		for j := i + 1; j < len(s.Specs); j++ {
			found, err := s.estimate(scores[i], scores[j])
			if err != nil {
				return nil, err
			}
			p := Pair{Simple: names[i], Complex: names[j], Crossover: interval(found.Epsilon), Verdict: string(found.Verdict), Crossings: []Crossing{}, Proven: found.Proven}
			for _, x := range found.Points {
				p.Points = append(p.Points, Difference{x.Epsilon, interval(x.Difference), x.SimpleBetter})
				if x.Epsilon == s.At {
					p.At = s.answer(&p, x)
				}
			}
			for _, x := range found.Crossings {
				p.Crossings = append(p.Crossings, Crossing(x))
			}
			out = append(out, p)
		}
	}
	return out, nil
}

func (s *Study) estimate(simple, complex [][]float64) (*theory.Crossover, error) {
	var runs []theory.AccuracyRuns
	for k, epsilon := range s.Epsilons {
		runs = append(runs, theory.AccuracyRuns{Epsilon: epsilon, Simple: simple[k], Complex: complex[k]})
	}
	return theory.EstimateCrossover(runs, theory.CrossoverConfig{
		Bootstrap: theory.Bootstrap{Replicates: replicates, Confidence: s.Confidence, Seed: 1}, Paired: !s.Data.Paid(),
	})
}

func (s *Study) answer(p *Pair, at theory.CrossoverPoint) *Answer {
	a := &Answer{Epsilon: at.Epsilon, Take: p.Simple, Sure: at.SimpleBetter}
	if at.SimpleBetter < .5 {
		a.Take, a.Sure = p.Complex, 1-at.SimpleBetter
	}
	a.Sentence = fmt.Sprintf("at ε = %s use %s: it is better in %s of bootstrap draws", number(at.Epsilon), a.Take, percent(a.Sure))
	// Two-sided: at 95 % one of them has to be better in 97.5 % of the draws.
	if tail := (1 - s.Confidence) / 2; a.Sure < 1-tail {
		a.Sentence = fmt.Sprintf("at ε = %s %s and %s cannot be distinguished (%s is better in %s of bootstrap draws; %s would decide): use the simple one", number(at.Epsilon), p.Simple, p.Complex, a.Take, percent(a.Sure), percent(1-tail))
		a.Take = "either"
	}
	return a
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func (s *Study) common(ctx context.Context, rate float64, own grid) (Common, error) {
	c := Common{Rate: rate}
	scores, err := s.measure(ctx, s.Data.Rows(), nil, rate)
	if err != nil {
		return c, err
	}
	for i, name := range s.names() {
		l := Loss{Name: name, Points: math.Inf(-1)}
		for k, epsilon := range s.Epsilons {
			if lost := mean(own[i][k]) - mean(scores[i][k]); lost > l.Points {
				l.Epsilon, l.Points = epsilon, lost
			}
		}
		c.Lost = append(c.Lost, l)
	}
	c.Pairs, err = s.pairs(scores)
	return c, err
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// words are the sentences that a person reads first.
func (s *Study) words(r *Result) (out []string) {
	specs := map[string]string{}
	for _, c := range r.Curves {
		specs[c.Name] = c.Spec
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		out = append(out, s.sentence(p, fmt.Sprintf("%s (%s)", p.Simple, specs[p.Simple]), fmt.Sprintf("%s (%s)", p.Complex, specs[p.Complex])))
		if p.At != nil {
			out = append(out, p.At.Sentence)
		}
	}
	for _, c := range r.Common {
		for i := range c.Pairs {
			p := &c.Pairs[i]
			var lost []string
			for _, l := range c.Lost {
				lost = append(lost, fmt.Sprintf("%s up to %.1f points (ε = %s)", l.Name, 100*l.Points, number(l.Epsilon)))
			}
			out = append(out, fmt.Sprintf("with one learning rate of %s for all: %s; compared with its own learning rate it loses %s", number(c.Rate), s.sentence(p, p.Simple, p.Complex), strings.Join(lost, ", ")))
		}
	}
	if r.Sizes != nil {
		out = append(out, r.Sizes.words()...)
	}
	return out
}

func (s *Study) sentence(p *Pair, simple, complex string) string {
	low, high := s.Epsilons[0], s.Epsilons[len(s.Epsilons)-1]
	ends := fmt.Sprintf("%s interval %s", percentWhole(s.Confidence), p.Crossover.ends())
	same := !slices.ContainsFunc(p.Points, func(d Difference) bool { return d.Difference.Interval != [2]report.Number{} })
	var crossings []string
	for _, c := range p.Crossings {
		crossings = append(crossings, number(rounded(c.Epsilon)))
	}
	near := strings.Join(crossings, ", ")
	switch v := theory.CrossoverVerdict(p.Verdict); {
	case same:
		return fmt.Sprintf("%s and %s score the same in every run: the terms that differ change nothing here", simple, complex)
	case v == theory.Reversed:
		return fmt.Sprintf("the other way round: below the crossing (near ε = %s) %s is better, above it %s: there is no ε up to which the simple one should be used", near, complex, simple)
	case v == theory.SeveralCrossings:
		return fmt.Sprintf("%s and %s cross more than once (near ε = %s): one crossover does not describe them; see the curves", simple, complex, near)
	case v == theory.SimpleEverywhere:
		return fmt.Sprintf("no crossing in the range: %s is better at every ε tested, so the crossover lies above %s", simple, number(high))
	case v == theory.ComplexEverywhere:
		return fmt.Sprintf("no crossing in the range: %s is never better at an ε tested, so the crossover is 0 (nothing below ε = %s was tested)", simple, number(low))
	case !p.described() && len(crossings) == 1:
		return fmt.Sprintf("undecided: on average %s is better up to about ε = %s and %s above it, which is the other way round, but the runs do not prove it; more --seeds would decide", complex, near, simple)
	case !p.described():
		return fmt.Sprintf("undecided: on average %s and %s cross more than once (near ε = %s), but the runs do not prove it; more --seeds would decide", simple, complex, near)
	case math.IsInf(float64(p.Crossover.Estimate), 1):
		return fmt.Sprintf("undecided: %s is better at every ε tested, on average, up to the largest, %s; %s", simple, number(high), ends)
	case p.Crossover.Estimate == 0:
		return fmt.Sprintf("undecided: %s is better at no ε tested, on average; %s", simple, ends)
	case v == theory.CrossingWithin:
		return fmt.Sprintf("up to ε = %s %s is better, above it %s (%s)", number(rounded(float64(p.Crossover.Estimate))), simple, complex, ends)
	}
	return fmt.Sprintf("undecided: up to about ε = %s %s is better, above it %s, but the interval extends beyond the tested range (%s)", number(rounded(float64(p.Crossover.Estimate))), simple, complex, ends)
}

// described says that one crossover can describe the pair: on average the complex one is
// not better below an ε at which the simple one is.
func (p *Pair) described() bool {
	return !slices.ContainsFunc(p.Crossings, func(c Crossing) bool { return !c.ToComplex })
}

// Words are an ε with its interval; ∞ lies above all that was tested.
func (i Interval) Words() string { return short(float64(i.Estimate)) + " " + i.ends() }

// ends writes an interval whose ends may lie outside of what was tested.
func (i Interval) ends() string {
	return fmt.Sprintf("[%s, %s]", short(float64(i.Interval[0])), short(float64(i.Interval[1])))
}

func short(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return number(rounded(v))
}

func percentWhole(v float64) string { return fmt.Sprintf("%g %%", math.Round(1000*v)/10) }

// rounded keeps three digits.
func rounded(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
