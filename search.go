package pawl

import (
	"slices"

	"pawl/internal/request"
	"pawl/search/fleet"
)

// Search chooses a model among the candidates of a space; the budget covers the cost of the
// choice. To continue an interrupted search at no further cost, plan and run it again.
type Search struct {
	// Space is one of [Spaces] or a YAML file, Strategy one of [Strategies]. Both are required.
	Space, Strategy string
	// Train holds target, budget, preset, seed and identity, and the settings of networks that the
	// space leaves open.
	Train Train
	// MeanTrials is the expected number of training runs, above 1 and at most 1000; 0 means the
	// default of the preset or strategy. Eta is the shape of its distribution: 0 logarithmic, 1
	// geometric, nil the strategy's default. Sizes are the sizes of the generations of mgrs; nil means
	// 40, 20, 10.
	MeanTrials float64
	Eta        *float64
	Sizes      []float64
	// Generations, Population (0 for the strategy's defaults) and ReplaceParents are for genetic
	// searches.
	Generations, Population int
	ReplaceParents          bool
	// Share is the share of the units used for the search, Validation the share of those that score
	// candidates. Both lie in (0, 1); 0 means the strategy's default.
	Share, Validation float64
	// Metric decides between candidates: accuracy, balanced-accuracy, log-loss or brier; for a numeric target
	// mae or rmse. "" means accuracy or mae. All cost the same: one row changes each by a public bound.
	Metric string
	// SearchOn names the public images that strategy public uses.
	SearchOn string
	// Study is the name of the stored search; "" composes it from data, space and strategy. Workers is
	// the number of parallel training runs, 0 or less for one per processor. It does not change the
	// result.
	Study   string
	Workers int
	// Broker is where training runs wait for workers (pawl worker) that use the same ledger; the zero
	// value runs them in this process. It has no effect on the result.
	Broker Broker
}

// Broker is the address of a NATS server with JetStream.
type Broker struct {
	// URL is nats://HOST:PORT on this machine and tls://HOST:PORT elsewhere.
	URL string
	// KeyFile holds the NKEY seed with which this client signs in, required for a broker elsewhere.
	// CAFile holds the certificates against which the broker's certificate is checked; "" means those
	// of the system.
	KeyFile, CAFile string
	// ShipData sends the rows, encrypted, to workers that do not have them: tables only.
	ShipData bool
}

func (s Search) request() request.Asked {
	return &request.Search{Train: s.Train.train(), Space: s.Space, Strategy: s.Strategy, Mean: s.MeanTrials, Eta: s.Eta, Sizes: slices.Clone(s.Sizes),
		Generations: s.Generations, Population: s.Population, Replace: s.ReplaceParents, Share: s.Share, Validation: s.Validation, Metric: s.Metric, On: s.SearchOn,
		Study: s.Study, Workers: s.Workers, Broker: fleet.Address{URL: s.Broker.URL, Key: s.Broker.KeyFile, CA: s.Broker.CAFile}, ShipData: s.Broker.ShipData}
}
