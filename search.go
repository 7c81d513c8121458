package pawl

import (
	"context"
	"slices"

	"pawl/data/source"
	"pawl/internal/request"
	"pawl/search/fleet"
)

// Search asks for a model chosen among the candidates of a space, with the price of the choice
// inside the budget. A search that is interrupted goes on when it is planned and run again, at
// no further cost.
type Search struct {
	// Space is the name of a space or a YAML file, Strategy how to search: "ps", "mgrs", "lt",
	// "grid", "paas", "rs", "split", "subset", "public", "none", … Both are required.
	Space, Strategy string
	// Train has target, budget, preset, seed and identity, and of networks what the space
	// leaves open.
	Train Train
	// MeanTrials is the expected number of trainings, above 1 and at most 1000 (0 for that of the
	// preset or strategy), Eta the shape of its law (0 logarithmic, 1 geometric, nil for the
	// strategy's), Sizes those of the generations of mgrs (nil for 40, 20, 10).
	MeanTrials float64
	Eta        *float64
	Sizes      []float64
	// Generations, Population (0 for the strategy's) and ReplaceParents are of genetic searches.
	Generations, Population int
	ReplaceParents          bool
	// Share is the part of the units that chooses, Validation the part of those that scores
	// candidates; both in (0, 1), 0 for the strategy's.
	Share, Validation float64
	// SearchOn names public images on which strategy public searches.
	SearchOn string
	// Study names what keeps the search; "" is made of data, space and strategy. Workers is the
	// number of trainings side by side, 0 or less for one a processor, without effect on the result.
	Study   string
	Workers int
	// Broker is where trainings wait for workers (pawl worker) that use the same ledger; the zero
	// value runs them in this process. It has no effect on the result.
	Broker Broker
}

// Broker is the address of a NATS server with JetStream.
type Broker struct {
	// URL is nats://HOST:PORT on this machine and tls://HOST:PORT elsewhere.
	URL string
	// KeyFile holds the NKEY seed that is shown to the broker, required elsewhere; CAFile the
	// certificates that the broker's is checked against, "" for those of the system.
	KeyFile, CAFile string
}

func (s Search) request() request.Search {
	return request.Search{Train: s.Train.request(), Space: s.Space, Strategy: s.Strategy, Mean: s.MeanTrials, Eta: s.Eta, Sizes: slices.Clone(s.Sizes),
		Generations: s.Generations, Population: s.Population, Replace: s.ReplaceParents, Share: s.Share, Validation: s.Validation, On: s.SearchOn,
		Study: s.Study, Workers: s.Workers, Broker: fleet.Address{URL: s.Broker.URL, Key: s.Broker.KeyFile, CA: s.Broker.CAFile}}
}

func (s Search) plan(ctx context.Context, d *request.Desk, data *source.Data) (*request.Job, error) {
	if err := s.Train.sound(); err != nil {
		return nil, err
	}
	r := s.request()
	return d.Search(ctx, data, &r)
}

func (s Search) as(sameAs string) Job { s.Train.Identity.SameAs = sameAs; return s }
