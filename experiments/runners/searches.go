package runners

import (
	"bytes"
	"context"
	"encoding/json"

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

// strategy is one in the words of its kind, with what a table changes. A bare one begins with nothing.
type strategy struct{ search.Strategy }

// UnmarshalJSON reads a map.
func (s *strategy) UnmarshalJSON(text []byte) error {
	var own struct {
		search.Strategy
		Bare bool
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&own); err != nil || own.Bare {
		s.Strategy = own.Strategy
		return err
	}
	var err error
	if s.Strategy, err = search.New(own.Kind); err == nil {
		err = json.Unmarshal(text, &s.Strategy)
	}
	return err
}

// strategyOf is what a table says.
func strategyOf(words map[string]any) search.Strategy {
	var s strategy
	experiments.Check(json.Unmarshal(must(json.Marshal(words)), &s))
	return s.Strategy
}

func searchNets(ctx context.Context, r *experiments.Run, a *searching) (out []float64) {
	data := a.Training.sample.open(r)
	h := lab.Search{Strategy: a.Strategy.Strategy, AsPublished: a.AsPublished, Dropout: a.Dropout}
	if a.Define != "" {
		h.Space = must(space.Decode("defined.yaml", []byte(a.Define)))
	} else {
		h.Space = must(space.Open(a.Space))
	}
	if a.Frequencies > 0 {
		h.Front = []nn.Layer{{Kind: "dct", Coefficients: a.Frequencies}}
	}
	for seed := range a.Training.Seeds {
		o := must(data.Search(ctx, h, uint64(seed+1), a.Training.set))
		out = append(out, percent(o))
		if a.Both {
			out = append(out, 100**o.Found.Unsearched)
		}
	}
	return out
}

// totals is what a published search costs around trainings of 2.11: by the paper's formula, 0 where we cannot replay it,
// and by ours. No image is needed.
func totals(words map[string]any) map[string]float64 {
	h, out := strategyOf(words), map[string]float64{}
	train := func(x float64) dp.Event {
		return dp.Repeat{Count: 300_000, Event: dp.PoissonSampled{Rate: 1. / 600, Event: dp.Gaussian{NoiseMultiplier: x}}}
	}
	job := search.Job{
		Trial: search.Trial{Train: train, Score: func(x float64) []dp.Event {
			return []dp.Event{release.Accuracy{NoiseMultiplier: x}.Event()}
		}},
		Relation: dp.AddOrRemoveOne, Delta: 1e-5, Accountant: accountant.MethodRDP, Scopes: h.Divide(dp.WholeScope),
	}
	if theirs, ok := search.PublishedFor(h.Kind, train(2)); ok {
		out["published"] = theirs.Replayed
	}
	out["honest"] = must(h.At(job, 2.106)).Epsilon
	return out
}
