package runners

import (
	"context"

	"pawl/compute/nn"
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/release"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/search"
	"pawl/search/space"
)

// searching is a search among networks, run after run: the accuracy of the winner in percent, and where Both, that of
// the net that needs no search behind each.
type searching struct {
	// Training has the data, the price of each training as published, else that of everything, and the steps.
	Training training `json:"training"`
	// Space is one by name, or Define, in the form of its files.
	Space  string `json:"space"`
	Define string `json:"define"`
	// Frequencies of a cosine transform stand before all networks; Dropout keeps theirs.
	Frequencies int  `json:"frequencies"`
	Dropout     bool `json:"dropout"`
	// AsPublished reads all scores without paying.
	AsPublished bool     `json:"as_published"`
	Both        bool     `json:"both"`
	Strategy    strategy `json:"strategy"`
}

// strategy changes what a kind has by default; a zero changes nothing.
type strategy struct {
	Kind        string    `json:"kind"`
	Generations int       `json:"generations"`
	Population  int       `json:"population"`
	Sizes       []float64 `json:"sizes"`
	Mean        float64   `json:"mean"`
	Retain      float64   `json:"retain"`
	Validation  float64   `json:"validation"`
	// Bare begins with nothing, not with the defaults of the kind.
	Bare bool `json:"bare"`
}

func (s strategy) make() (h search.Strategy, err error) {
	h = search.Strategy{Kind: search.Kind(s.Kind)}
	if !s.Bare {
		if h, err = search.New(h.Kind); err != nil {
			return h, err
		}
	}
	for _, f := range []struct {
		to *float64
		v  float64
	}{{&h.Mean, s.Mean}, {&h.Retain, s.Retain}, {&h.Validation, s.Validation}} {
		if f.v > 0 {
			*f.to = f.v
		}
	}
	if s.Generations > 0 {
		h.Generations, h.Population = s.Generations, s.Population
	}
	if s.Sizes != nil {
		h.Sizes = s.Sizes
	}
	return h, nil
}

func searchNets(ctx context.Context, r *experiments.Run, a *searching) ([]float64, error) {
	data, err := a.Training.sample.open(r)
	if err != nil {
		return nil, err
	}
	h := lab.Search{AsPublished: a.AsPublished, Dropout: a.Dropout}
	if a.Define != "" {
		h.Space, err = space.Decode("defined.yaml", []byte(a.Define))
	} else {
		h.Space, err = space.Open(a.Space)
	}
	if err != nil {
		return nil, err
	}
	if h.Strategy, err = a.Strategy.make(); err != nil {
		return nil, err
	}
	if a.Frequencies > 0 {
		h.Front = []nn.Layer{{Kind: "dct", Coefficients: a.Frequencies}}
	}
	var out []float64
	for seed := range a.Training.Seeds {
		o, err := data.Search(ctx, h, uint64(seed+1), a.Training.set)
		if err != nil {
			return nil, err
		}
		out = append(out, 100**o.Score.Exact)
		if a.Both {
			out = append(out, 100**o.Found.Unsearched)
		}
	}
	return out, nil
}

// totals is what a published search costs around trainings of 2.11: by the paper's formula, 0 where we cannot replay it,
// and by ours. No image is needed.
func totals(kind string, generations, population int, sizes any, mean float64) (map[string]float64, error) {
	s := strategy{Kind: kind, Generations: generations, Population: population, Mean: mean}
	if list, ok := sizes.([]any); ok {
		for _, v := range list {
			n, _ := v.(int)
			s.Sizes = append(s.Sizes, float64(n))
		}
	}
	h, err := s.make()
	if err != nil {
		return nil, err
	}
	train := func(x float64) dp.Event {
		return dp.Repeat{Count: 300_000, Event: dp.PoissonSampled{Rate: 1. / 600, Event: dp.Gaussian{NoiseMultiplier: x}}}
	}
	job := search.Job{
		Trial: search.Trial{Train: train, Score: func(x float64) []dp.Event {
			return []dp.Event{release.Accuracy{NoiseMultiplier: x}.Event()}
		}},
		Relation: dp.AddOrRemoveOne, Delta: 1e-5, Accountant: accountant.MethodRDP, Scopes: h.Divide(dp.WholeScope),
	}
	out := map[string]float64{}
	if theirs, ok := search.PublishedFor(h.Kind, train(2)); ok {
		out["published"] = theirs.Replayed
	}
	q, err := h.At(job, 2.106)
	out["honest"] = q.Epsilon
	return out, err
}
