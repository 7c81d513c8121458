package cli

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/data/source"
	"pawl/internal/request"
	"pawl/report"
	"pawl/search"
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
	// Warnings say that the ledger would refuse a job of this price now.
	Warnings []string `json:"warnings"`
}

// price is one strategy's, as we run it or as its paper accounts for it.
type price struct {
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
		Short: "Show what searches would cost, and leave for one training run",
		Long: `Show the plan of one strategy, or with --strategy all compare all strategies: the epsilon
that each leaves for training the released model when the total is --epsilon, and the
total when each training run takes --epsilon. Nothing is charged, and no row is used
except to count a public number of rows.`,
		Example: "  pawl plan search mnist --space fcn --strategy all --epsilon 2.11",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.Strategy == "all" {
				return a.priceList(c.Context(), args[0], &f)
			}
			job, err := f.job(a, c)
			if err != nil {
				return err
			}
			return a.show(c.Context(), args[0], f.Source, job)
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
	t := f.Train
	asked := request.Search{Space: f.Space, Train: request.Train{Model: t.Model, Epsilon: t.Budget.Epsilon, Delta: t.Budget.Delta, Accountant: t.Budget.Accountant,
		AllowLargeDelta: t.Budget.AllowLargeDelta, Preset: t.Preset, Target: t.Target, Seed: f.seed, Batch: t.Batch, Epochs: t.Epochs, ClippingNorm: t.ClippingNorm,
		Optimizer: t.Optimizer, FrontEnd: t.FrontEnd, Augment: t.Augment, Shift: f.shift, AsDrawn: t.AsDrawn, Memory: t.Memory, Average: request.DefaultAverage,
		Updated: t.Identity.Updated, Copies: source.Copies{SameAs: t.Identity.SameAs, Different: t.Identity.Different, Reason: t.Identity.Reason}}}
	opened, err := source.Open(data, source.Options{DataDir: a.dataDir, Schema: f.Schema, Labels: f.Labels, Classes: f.Classes, Rows: f.Rows})
	if err != nil {
		return err
	}
	h, err := a.desk(l).SearchBy(ctx, opened, &asked, none)
	if err != nil {
		return err
	}
	quotes, job := h.Plan.PriceList()
	s := h.Plan.Space()
	list := priceList{Data: h.Dataset, Space: s.Name(), Size: s.Size().String(), Epsilon: report.Number(job.Epsilon), Delta: report.Number(job.Delta), Warnings: []string{}}
	for _, q := range quotes {
		kind := q.Strategy.Kind
		p := price{Name: string(kind), What: request.StrategyWords[kind], Trainings: q.Expected, Most: q.Most, Seconds: q.Time.Round(time.Second).Seconds(),
			BaseEpsilon: report.Number(q.BaseEpsilon), NoiseMultiplier: report.Number(last(q.Quote)), TotalAtBase: report.Number(q.TotalAtBase),
			Total: report.Amount{Epsilon: report.Number(q.Epsilon), Delta: report.Number(job.Delta)}}
		if q.Err != nil {
			unknown := report.Number(math.NaN())
			p.Why, p.BaseEpsilon, p.NoiseMultiplier, p.Total.Epsilon = message(q.Err), unknown, unknown, unknown
		}
		list.Prices = append(list.Prices, p)
		if pub, ok := search.PublishedFor(kind, publishedTraining); ok {
			list.Prices = append(list.Prices, price{Name: p.Name, AsPublished: true, What: p.What + "; " + pub.Source, Trainings: pub.Trainings,
				BaseEpsilon: 2.11, TotalAtBase: report.Number(pub.Epsilon), NoiseMultiplier: report.Number(math.NaN()),
				Total: report.Amount{Epsilon: report.Number(pub.Epsilon), Delta: 1e-5}, Replayed: report.Number(pub.Replayed), Note: pub.Note})
		}
	}
	if list.Crossing, err = crossings(job); err != nil {
		return err
	}
	// All cost about as much together: what refuses one training refuses a search.
	refusal, err := h.Refusal(ctx)
	if err != nil {
		return err
	}
	if refusal != "" {
		list.Warnings = append(list.Warnings, refusal)
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
	here := fmt.Sprintf("Here a grid is cheaper than random stopping (lt) for up to %d candidates", list.Crossing.Here)
	if list.Crossing.Here < 0 {
		here = "Here a grid is cheaper than random stopping (lt) for all of 200 candidates"
	}
	fmt.Fprintf(a.out, "\n%s.", here)
	for _, p := range list.Crossing.Published {
		fmt.Fprintf(a.out, "\nAs published, with %d rows: up to %d (grid %.4g, lt %.4g; no guarantee).", p.Rows, p.Candidates, p.Grid, p.LiuTalwar)
	}
	fmt.Fprintln(a.out)
	for _, w := range list.Warnings {
		fmt.Fprintf(a.out, "note: %s\n", w)
	}
	return nil
}
