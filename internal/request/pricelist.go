package request

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/data/source"
	"pawl/report"
	"pawl/search"
)

// PriceList is what all strategies of a search cost.
type PriceList struct {
	Data     string        `json:"data"`
	Space    string        `json:"space"`
	Size     string        `json:"size"`
	Epsilon  report.Number `json:"epsilon"`
	Delta    report.Number `json:"delta"`
	Prices   []Price       `json:"strategies"`
	Crossing Crossing      `json:"crossing"`
	// Warnings say that the ledger would refuse a job of this price now.
	Warnings []string `json:"warnings"`
}

// Price is one strategy's, as we run it or as its paper accounts for it.
type Price struct {
	Name string `json:"name"`
	// AsPublished marks the papers' figure, which is no guarantee.
	AsPublished bool          `json:"as_published"`
	Total       report.Amount `json:"total"` // null where the strategy does not fit
	What        string        `json:"what"`
	// Trainings is the expected number, Most what is booked one by one (0: secret).
	Trainings float64 `json:"expected_trainings"`
	Most      int     `json:"most_trainings"`
	// BaseEpsilon is what the training of the model that leaves takes of the total.
	BaseEpsilon     report.Number `json:"base_epsilon"`
	NoiseMultiplier report.Number `json:"noise_multiplier"`
	// TotalAtBase is what the whole costs when each training takes the epsilon asked.
	TotalAtBase report.Number `json:"total_epsilon_when_each_training_takes_it"`
	Why         string        `json:"why_not,omitempty"`
	Seconds     float64       `json:"expected_seconds"`
	// Replayed is the published figure by our reading of its formula; 0 where none
	// explains it. Note says what was read.
	Replayed report.Number `json:"epsilon_by_our_reading,omitempty"`
	Note     string        `json:"note,omitempty"`
}

// Crossing is up to how many candidates training all of a grid is cheaper than random
// stopping.
type Crossing struct {
	// Here is for this training and total; 0 where stopping is cheaper at once, −1 where
	// the grid is cheaper for all of 200 candidates.
	Here int `json:"grid_cheaper_than_lt_up_to"`
	// Published replays two settings of the adaptive-optimizers paper.
	Published []PublishedCrossing `json:"published_not_a_guarantee"`
}

// PublishedCrossing is the same by the figures of a paper, which are no guarantee.
type PublishedCrossing struct {
	Rows       int     `json:"rows"`
	Delta      float64 `json:"delta"`
	Candidates int     `json:"grid_cheaper_up_to"`
	Grid       float64 `json:"grid_epsilon"`
	LiuTalwar  float64 `json:"lt_epsilon"`
}

// PriceList compares what all strategies cost under the settings of f: the plan of one training
// says what each of them asks for. words puts an error into words for a person.
func (d *Desk) PriceList(ctx context.Context, data *source.Data, f *Search, words func(error) string) (*PriceList, error) {
	none, err := search.New(search.None)
	if err != nil {
		return nil, err
	}
	h, err := d.SearchBy(ctx, data, f, none)
	if err != nil {
		return nil, err
	}
	quotes, job := h.Plan.PriceList()
	s := h.Plan.Space()
	list := &PriceList{Data: h.Dataset, Space: s.Name(), Size: s.Size().String(), Epsilon: report.Number(job.Epsilon), Delta: report.Number(job.Delta), Warnings: []string{}}
	for _, q := range quotes {
		kind := q.Strategy.Kind
		p := Price{Name: string(kind), What: StrategyWords[kind], Trainings: q.Expected, Most: q.Most, Seconds: q.Time.Round(time.Second).Seconds(),
			BaseEpsilon: report.Number(q.BaseEpsilon), NoiseMultiplier: report.Number(last(q.Quote)), TotalAtBase: report.Number(q.TotalAtBase),
			Total: report.Amount{Epsilon: report.Number(q.Epsilon), Delta: report.Number(job.Delta)}}
		if q.Err != nil {
			unknown := report.Number(math.NaN())
			p.Why, p.BaseEpsilon, p.NoiseMultiplier, p.Total.Epsilon = words(q.Err), unknown, unknown, unknown
		}
		list.Prices = append(list.Prices, p)
		if pub, ok := search.PublishedFor(kind, publishedTraining); ok {
			list.Prices = append(list.Prices, Price{Name: p.Name, AsPublished: true, What: p.What + "; " + pub.Source, Trainings: pub.Trainings,
				BaseEpsilon: 2.11, TotalAtBase: report.Number(pub.Epsilon), NoiseMultiplier: report.Number(math.NaN()),
				Total: report.Amount{Epsilon: report.Number(pub.Epsilon), Delta: 1e-5}, Replayed: report.Number(pub.Replayed), Note: pub.Note})
		}
	}
	if list.Crossing, err = crossings(job); err != nil {
		return nil, err
	}
	// All cost about as much together: what refuses one training refuses a search.
	refusal, err := h.Refusal(ctx)
	if err != nil {
		return nil, err
	}
	if refusal != "" {
		list.Warnings = append(list.Warnings, refusal)
	}
	return list, nil
}

// publishedTraining is the papers' training of an MNIST net at 2.11.
var publishedTraining = dp.Repeat{Count: 300_000, Event: dp.PoissonSampled{Rate: 1. / 600, Event: dp.Gaussian{NoiseMultiplier: 2}}}

func last(q search.Quote) float64 {
	if q.FinalNoise > 0 {
		return q.FinalNoise
	}
	return q.Noise
}

// crossings finds up to how many candidates a composed grid is cheaper than random
// stopping over as many.
func crossings(j search.Job) (c Crossing, err error) {
	c.Here = -1
	lt, err := search.New(search.LT)
	if err != nil {
		return c, err
	}
	grid, err := search.New(search.Grid)
	if err != nil {
		return c, err
	}
	base := j.Epsilon
	for k := 2; k <= 200; k++ {
		lt.Mean, grid.Candidates = float64(k), k
		j.Scopes = grid.Divide(dp.WholeScope)
		g, err := grid.At(j, base)
		if err != nil {
			return c, err
		}
		s, err := lt.At(j, base)
		if err != nil {
			return c, err
		}
		if s.Epsilon < g.Epsilon {
			c.Here = k - 1
			break
		}
	}
	for _, rows := range []int{5000, 60_000} {
		p := PublishedCrossing{Rows: rows, Delta: 1e-4}
		if rows > 10_000 {
			p.Delta = 1e-5
		}
		r := meaning.Replay{Relation: dp.AddOrRemoveOne, Event: dp.Repeat{Count: 10_000,
			Event: dp.PoissonSampled{Rate: 250 / float64(rows), Event: dp.Gaussian{NoiseMultiplier: 4}}}}
		for k := 1; k <= 200; k++ {
			g, err := r.ComposedCandidates(k, p.Delta)
			if err != nil {
				return c, err
			}
			s, err := r.LiuTalwar(k, p.Delta)
			if err != nil {
				return c, err
			}
			if g > s {
				break
			}
			p.Candidates, p.Grid, p.LiuTalwar = k, g, s
		}
		c.Published = append(c.Published, p)
	}
	return c, nil
}

// Text writes the list as a table, with what follows from it below.
func (list *PriceList) Text(to io.Writer) error {
	fmt.Fprintf(to, "Searches over space %s (%s) on %s, epsilon %.4g at delta %.3g\n\n", list.Space, list.Size, list.Data, float64(list.Epsilon), float64(list.Delta))
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "strategy\ttraining runs\tleft for the released model\ttotal if each run took it all\tabout")
	for _, p := range list.Prices {
		if p.AsPublished {
			fmt.Fprintf(w, "  as published\t%.4g\t2.11\t%.4g, no guarantee\t\n", p.Trainings, float64(p.Total.Epsilon))
			continue
		}
		base := fmt.Sprintf("%.3f", float64(p.BaseEpsilon))
		if p.Why != "" {
			base = "too expensive"
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%.4g\t%s\n", p.Name, p.Trainings, base, float64(p.TotalAtBase), time.Duration(p.Seconds*float64(time.Second)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	here := fmt.Sprintf("Here a grid costs less than random stopping (lt) for up to %d candidates", list.Crossing.Here)
	if list.Crossing.Here < 0 {
		here = "Here a grid costs less than random stopping (lt) for all numbers of candidates up to 200"
	}
	fmt.Fprintf(to, "\n%s.", here)
	for _, p := range list.Crossing.Published {
		fmt.Fprintf(to, "\nAs published, with %d rows: up to %d (grid %.4g, lt %.4g; no guarantee).", p.Rows, p.Candidates, p.Grid, p.LiuTalwar)
	}
	fmt.Fprintln(to)
	for _, w := range list.Warnings {
		fmt.Fprintf(to, "note: %s\n", w)
	}
	return nil
}
