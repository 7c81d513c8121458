package main

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/report"
	"pawl/search"
	"pawl/workflow"
)

// priceList is `pawl plan search --strategy all`.
type priceList struct {
	Data     string        `json:"data"`
	Space    string        `json:"space"`
	Size     string        `json:"size"`
	Epsilon  report.Number `json:"epsilon"`
	Delta    report.Number `json:"delta"`
	Prices   []price       `json:"strategies"`
	Crossing crossing      `json:"crossing"`
}

// price is one strategy's.
type price struct {
	Strategy string `json:"strategy"`
	What     string `json:"what"`
	// Trainings is the expected number, Most what is booked one by one (0: secret).
	Trainings float64 `json:"expected_trainings"`
	Most      int     `json:"most_trainings"`
	// BaseEpsilon is what the model's own training takes when the whole costs Epsilon;
	// null where the strategy does not fit.
	BaseEpsilon     report.Number `json:"base_epsilon"`
	NoiseMultiplier report.Number `json:"noise_multiplier"`
	Total           report.Number `json:"total_epsilon"`
	// TotalAtBase is what the whole costs when each training takes Epsilon.
	TotalAtBase report.Number           `json:"total_epsilon_when_each_training_takes_it"`
	Published   *report.PublishedSearch `json:"published_not_a_guarantee,omitempty"`
	Why         string                  `json:"why_not,omitempty"`
	Seconds     float64                 `json:"expected_seconds"`
}

// crossing is up to how many candidates training all of a grid is cheaper than random
// stopping.
type crossing struct {
	// Here is for this training and total; 0 where stopping is cheaper at once, −1 where
	// the grid is cheaper for all of 200 candidates.
	Here int `json:"grid_cheaper_than_lt_up_to"`
	// Published replays two settings of the adaptive-optimizers paper.
	Published []publishedCrossing `json:"published_not_a_guarantee"`
}

type publishedCrossing struct {
	Rows       int     `json:"rows"`
	Delta      float64 `json:"delta"`
	Candidates int     `json:"grid_cheaper_up_to"`
	Grid       float64 `json:"grid_epsilon"`
	LiuTalwar  float64 `json:"lt_epsilon"`
}

func (a *app) planSearchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search DATA --space S --strategy K|all --epsilon E",
		Short: "Show what searches would leave for a training, and cost",
		Long: `Show the plan of one strategy, or with --strategy all the price list of all: what each
leaves for the training of the model that leaves when the whole costs epsilon, and what
the whole costs when each training takes epsilon. Nothing is charged, and no row is used
beyond counting a public number of rows.`,
		Example: "  pawl plan search mnist --space fcn --strategy all --epsilon 2.11",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.strategy == "all" {
				return a.priceList(c.Context(), args[0], &f)
			}
			strategy, err := f.theStrategy(c)
			if err != nil {
				return err
			}
			return a.showPlan(c.Context(), func(ctx context.Context, l *ledger.Ledger) (*workflow.Plan, error) {
				h, err := a.planHunt(ctx, l, args[0], &f, strategy)
				if err != nil {
					return nil, err
				}
				return h.plan, nil
			})
		},
	}
	f.register(c)
	return c
}

func (a *app) priceList(ctx context.Context, data string, f *searchFlags) error {
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	none, err := search.New(search.None)
	if err != nil {
		return err
	}
	f.asPublished, f.on = false, ""
	h, err := a.planHunt(ctx, l, data, f, none)
	if err != nil {
		return err
	}
	quotes, job := h.plan.PriceList()
	s := h.plan.Space()
	list := priceList{Data: h.name, Space: s.Name(), Size: s.Size().String(), Epsilon: report.Number(job.Epsilon), Delta: report.Number(job.Delta)}
	for _, q := range quotes {
		p := price{Strategy: string(q.Strategy.Kind), What: strategyWords[q.Strategy.Kind], Trainings: q.Expected, Most: q.Most, Seconds: q.Time.Round(time.Second).Seconds(),
			BaseEpsilon: report.Number(q.BaseEpsilon), NoiseMultiplier: report.Number(last(q.Quote)), Total: report.Number(q.Epsilon), TotalAtBase: report.Number(q.TotalAtBase)}
		if q.Err != nil {
			p.Why = message(q.Err)
			p.BaseEpsilon, p.NoiseMultiplier, p.Total = report.Number(math.NaN()), report.Number(math.NaN()), report.Number(math.NaN())
		}
		if pub, ok := search.PublishedFor(q.Strategy.Kind, publishedTraining); ok && q.Strategy.Kind != search.TuneBound {
			p.Published = &report.PublishedSearch{Epsilon: report.Number(pub.Epsilon), Replayed: report.Number(pub.Replayed), Accuracy: report.Number(pub.Accuracy), Source: pub.Source, Note: pub.Note}
		}
		list.Prices = append(list.Prices, p)
	}
	if list.Crossing, err = crossings(job); err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, list)
	}
	return a.writePrices(&list)
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
func crossings(j search.Job) (c crossing, err error) {
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
		p := publishedCrossing{Rows: rows, Delta: 1e-4}
		if rows > 10_000 {
			p.Delta = 1e-5
		}
		r := accountant.Replay{Relation: dp.AddOrRemoveOne, Event: dp.Repeat{Count: 10_000,
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

func (a *app) writePrices(list *priceList) error {
	fmt.Fprintf(a.out, "Searches over space %s (%s) on %s, epsilon %.4g at delta %.3g\n\n", list.Space, list.Size, list.Data, float64(list.Epsilon), float64(list.Delta))
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "strategy\ttrainings\tleft for the model's own training\ttotal if each training took it all\tpublished\tabout")
	for _, p := range list.Prices {
		base := fmt.Sprintf("%.3f", float64(p.BaseEpsilon))
		if p.Why != "" {
			base = "does not fit"
		}
		published := ""
		if p.Published != nil {
			published = fmt.Sprintf("%.4g (no guarantee)", float64(p.Published.Epsilon))
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%.4g\t%s\t%s\n", p.Strategy, p.Trainings, base, float64(p.TotalAtBase), published, time.Duration(p.Seconds*float64(time.Second)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	here := fmt.Sprintf("Here a grid is cheaper than random stopping (lt) up to %d candidates", list.Crossing.Here)
	if list.Crossing.Here < 0 {
		here = "Here a grid is cheaper than random stopping (lt) for all of 200 candidates"
	}
	fmt.Fprintf(a.out, "\n%s.", here)
	for _, p := range list.Crossing.Published {
		fmt.Fprintf(a.out, "\nAs published, with %d rows: up to %d (grid %.4g, lt %.4g; no guarantee).", p.Rows, p.Candidates, p.Grid, p.LiuTalwar)
	}
	fmt.Fprintln(a.out)
	return nil
}
