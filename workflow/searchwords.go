package workflow

import (
	"fmt"
	"math"

	"pawl/model"
	"pawl/report"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/study"
)

func (h *searching) describe() description {
	d := description{
		choice: report.Choice{Workflow: string(PAW), Model: "the winner of space " + h.Space.Name(), Features: []string{}, Encoding: h.noun() + " of space " + h.Space.Name(),
			UsefulModel: true, Hyperparameters: map[string]any{}, Search: h.choiceInWords()},
		search: h.statement(), features: h.features(), lots: h.lots(), unprotected: h.Strategy.Kind == search.STW, asPublished: h.asPublished,
	}
	if h.asPublished {
		epsilon := h.publishedEpsilon()
		d.claimed = &epsilon
	}
	return d
}

func (h *searching) choiceInWords() string { return string(h.Strategy.Kind) + ": " + h.inWords() }

func (h *searching) complete(s *report.Statement, out *Outcome) {
	h.trials.complete(s, out)
	s.Command, s.Choice.Search = "search", h.choiceInWords()
	h.fillSearch(s, out)
	if h.Strategy.Kind == search.STW {
		s.Warnings = append([]string{chosenUnpaid}, s.Warnings...)
	}
}

func (h *searching) statement() *report.Search {
	r := &report.Search{Strategy: string(h.Strategy.Kind), Space: h.Space.Name(), Size: h.Space.Size().String(),
		Metric: string(h.Metric), Trainings: h.quote.Expected, BaseEpsilon: report.Number(upward(h.quote.BaseEpsilon))}
	r.Paid = fmt.Sprintf("%s: the training run of the released model takes epsilon %s of %s", r.Strategy, short(h.quote.BaseEpsilon), short(h.quote.Epsilon))
	if h.asPublished {
		r.Paid = fmt.Sprintf("%s: each of about %.4g training runs takes epsilon %s", r.Strategy, h.quote.Expected, short(h.quote.BaseEpsilon))
		if p, ok := search.PublishedFor(h.Strategy.Kind, h.family().Train(h.quote.Noise)); ok {
			r.Published = &report.PublishedSearch{Epsilon: report.Number(p.Epsilon), Replayed: report.Number(p.Replayed), Accuracy: report.Number(p.Accuracy),
				Source: p.Source, Note: p.Note}
		}
	}
	return r
}

// CandidateParameters is the number of trained parameters of a candidate, given as its
// JSON; 0 where candidates are no networks.
func (plan *Plan) CandidateParameters(candidate string) (int, error) {
	h := plan.job.(*searching)
	p, err := h.Space.UnmarshalPoint([]byte(candidate))
	if err != nil {
		return 0, err
	}
	return h.parameters(p)
}

func short(x float64) string { return fmt.Sprintf("%.3g", x) }

// fillSearch completes the statement by what the search found.
func (h *searching) fillSearch(s *report.Statement, out *Outcome) {
	f, kind := out.Found, h.Strategy.Kind
	s.Search.Winner = values(f.Winner)
	add := func(trials []study.Trial[space.Point]) {
		for _, t := range trials {
			s.Search.Trials = append(s.Search.Trials, report.SearchTrial{Number: t.Number, Generation: t.Generation,
				Candidate: values(t.Candidate), Score: report.Number(t.Score)})
		}
	}
	if add(f.Generations); len(f.Trials) > 0 {
		s.Search.Trials = nil
		add(f.Trials)
	}
	if h.asPublished {
		// What was done adds up to more than what is published: all of it, composed.
		s.Search.Paid += fmt.Sprintf("; together, scores included, epsilon %s", short(h.quote.Epsilon))
	}
	if f.Unsearched == nil || out.Score.Exact == nil {
		if kind != search.None && !h.plan.problem.Public {
			s.Search.Paid += "; on sensitive rows, a second model would have to be charged to know whether that was worth its cost"
		}
		return
	}
	u := report.Number(*f.Unsearched)
	s.Search.Unsearched = &u
	gain, half := f.gain(out.Score.losses)
	verdict := "cannot be distinguished from no gain"
	switch {
	case gain > half:
		verdict = "paid"
	case gain < -half:
		verdict = "did not pay"
	}
	unit, scale := " %", 100.0
	if h.plan.problem.task == model.Regression {
		unit, scale = "", 1
	}
	s.Search.Paid += fmt.Sprintf("; searching %s: %.4g%s against %.4g%s for one training run by rule with the whole budget", verdict,
		scale**out.Score.Exact, unit, scale**f.Unsearched, unit)
	if !math.IsNaN(half) {
		s.Search.Paid += fmt.Sprintf(" (these two models on the same test rows: %+.2g ± %.2g)", scale*gain, scale*half)
	}
}

// gain is the mean over the same rows of the loss without a search less that with it,
// and half its 95 % interval.
func (f *Found) gain(losses byUnit) (mean, half float64) {
	if len(losses.values) != len(f.alone.losses.values) || len(losses.values) < 2 {
		return math.NaN(), math.NaN()
	}
	e := losses.of(func(i int) float64 { return f.alone.losses.values[i] - losses.values[i] }).estimate()
	return e.mean, e.quantile() * math.Sqrt(e.variance)
}

// values is a point as it is written in JSON.
func values(p space.Point) map[string]any {
	m := map[string]any{}
	for name, v := range p.All() {
		m[name] = v.Any()
	}
	return m
}

func (h *searching) key() any {
	return struct {
		Trials      any
		Space, Rule string
		Strategy    search.Strategy
		AsPublished bool
		On          string
		OnRows      int64
		Metric      Metric `json:",omitempty"`
	}{h.ownKey(), h.Space.Digest(), h.Rule.Key(), h.Strategy, h.asPublished, h.On, h.OnRows, h.Metric}
}
