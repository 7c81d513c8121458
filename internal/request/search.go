package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"pawl/compute/nn"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/usage"
	"pawl/search"
	"pawl/search/fleet"
	"pawl/search/space"
	"pawl/search/space/net"
	"pawl/workflow"
)

// StrategyWords say what each strategy does.
var StrategyWords = map[search.Kind]string{
	search.None:      "no search: train the one candidate that public facts recommend",
	search.Public:    "search on other, public data (--search-on), then train once",
	search.STW:       "search without noise or cost, then train once (public data only, no guarantee)",
	search.Split:     "select privately on a tenth of the units, train the winner on the rest",
	search.Subset:    "select privately on a tenth of the units, train the winner on all",
	search.PS:        "private selection: a random, secret number of training runs; only the winner is released",
	search.PSPoisson: "private selection with a Poisson number of runs",
	search.RS:        "random search (mean 400), run as private selection",
	search.MGRS:      "multi-generation random search: private selections around the last winner (40, 20, 10)",
	search.LT:        "random stopping with a hard limit",
	search.Grid:      "train every candidate, composed",
	search.PAAS:      "genetic search, every training run composed",
	search.TuneBound: "genetic search over learning rate and activation bound",
}

// Search asks for a search with its price inside the budget. Zero fields stand for the
// strategy's own settings.
type Search struct {
	Train
	// Table has what only a fit of a table has.
	Table           Fit
	Space, Strategy string
	// On names public images to search on, Study the study that keeps the search.
	On, Study               string
	Mean, Share, Validation float64
	Eta                     *float64
	Sizes                   []float64
	Generations, Population int
	// Metric is what candidates are chosen by, "" for accuracy or mean absolute error.
	Metric string
	// Replace says that a generation consists of children only.
	Replace bool
	// Workers is the number of trainings side by side, 0 for one a processor.
	Workers int
	// Broker is where trainings wait for workers; they run in this process where there is none.
	Broker fleet.Address `json:"-"`
	// ShipData hands the rows to workers that do not have them.
	ShipData bool   `json:"-"`
	kind     string // of the study, where it is not the strategy
}

// Search prices a search over images or a table. It changes f as the operator's answers say.
func (d *Desk) Search(ctx context.Context, data *source.Data, f *Search) (*Job, error) {
	if err := f.counts(); err != nil {
		return nil, err
	}
	f.complete()
	if f.Broker.Given() {
		if err := f.Broker.Check(); err != nil {
			return nil, err
		}
		if data.Piped && !f.ShipData {
			return nil, usage.New("--nats: workers cannot read standard input", "add --ship-data, which sends the rows to workers (docs/CLUSTER.md), or save the data to a file that all machines can open")
		}
	}
	if f.ShipData && !f.Broker.Given() {
		return nil, usage.New("--ship-data sends rows to workers, and --nats is missing", "add --nats URL, or leave out --ship-data")
	}
	if f.ShipData && data.Table == nil {
		return nil, usage.Newf("copy the images to the workers and leave out --ship-data", "%s: --ship-data sends tables, and this is a set of images", data.Argument)
	}
	strategy, err := f.strategy()
	if err != nil {
		return nil, err
	}
	return d.hunt(ctx, data, f, strategy)
}

// SearchBy is Search by a strategy that is complete.
func (d *Desk) SearchBy(ctx context.Context, data *source.Data, f *Search, strategy search.Strategy) (*Job, error) {
	f.complete()
	return d.hunt(ctx, data, f, strategy)
}

// strategy is the one that is asked for.
func (f *Search) strategy() (search.Strategy, error) {
	if f.Strategy == "" {
		return search.Strategy{}, usage.New("missing --strategy", "pawl plan search DATA --space S --strategy all --epsilon E lists all strategies with their costs")
	}
	s, err := search.New(search.Kind(f.Strategy))
	if err != nil {
		return s, usage.New(err.Error(), "pawl search --help describes them")
	}
	genetic := []search.Kind{search.PAAS, search.TuneBound}
	for _, c := range []struct {
		given bool
		flag  string
		of    []search.Kind
	}{
		{f.Mean != 0, "mean-trials", []search.Kind{search.PS, search.PSPoisson, search.RS, search.LT, search.Split, search.Subset, search.Public, search.STW}},
		{f.Eta != nil, "eta", []search.Kind{search.PS, search.RS, search.Split, search.Subset, search.MGRS}},
		{f.Sizes != nil, "sizes", []search.Kind{search.MGRS}},
		{f.Generations != 0, "generations", genetic}, {f.Population != 0, "population", genetic}, {f.Replace, "replace-parents", genetic},
		{f.Share != 0, "share", []search.Kind{search.Split, search.Subset}}, {f.On != "", "search-on", []search.Kind{search.Public}},
	} {
		if c.given && !slices.Contains(c.of, s.Kind) {
			return s, usage.Newf("it applies to "+strings.ReplaceAll(strings.Trim(fmt.Sprint(c.of), "[]"), " ", ", "), "--%s does not apply to strategy %s", c.flag, s.Kind)
		}
	}
	s.Mean, s.Share, s.Validation = cmp.Or(f.Mean, s.Mean), cmp.Or(f.Share, s.Share), cmp.Or(f.Validation, s.Validation)
	s.Generations, s.Population = cmp.Or(f.Generations, s.Generations), cmp.Or(f.Population, s.Population)
	if f.Eta != nil {
		s.Eta = *f.Eta
	}
	if f.Replace {
		s.Retain = 0
	}
	if f.Sizes != nil {
		s.Sizes = f.Sizes
	}
	if err := s.Check(); err != nil {
		return s, usage.New(err.Error(), "pawl plan search shows what a strategy costs")
	}
	return s, nil
}

// theSpace reads the space of the flags.
func (f *Search) theSpace() (*space.Space, error) {
	if f.Space == "" {
		return nil, usage.New("missing --space", "use --space with one of "+strings.Join(space.List(), ", ")+", or a YAML file")
	}
	return space.Open(f.Space)
}

// hunt prices a search of images or of a table.
func (d *Desk) hunt(ctx context.Context, data *source.Data, f *Search, strategy search.Strategy) (*Job, error) {
	s, err := f.theSpace()
	if err != nil {
		return nil, err
	}
	if strategy.Kind == search.Grid {
		size := s.Size()
		if size.Continuous || !size.Points.IsInt64() || size.Points.Int64() > 10_000 {
			return nil, usage.New(fmt.Sprintf("strategy grid trains every candidate, but space %s has %s", s.Name(), s.Size()), "choose a smaller space, or strategy ps")
		}
		strategy.Candidates = int(size.Points.Int64())
	}
	prepare := d.huntTable
	if data.Images != nil {
		prepare = d.huntNets
	}
	j, err := prepare(ctx, data, f, s, strategy)
	if err != nil {
		return nil, err
	}
	j.study = &ofStudy{name: f.Study, kind: cmp.Or(f.kind, string(strategy.Kind)), workers: f.Workers, search: f, data: data}
	return j, nil
}

// candidates makes networks of points.
func (f *Search) candidates(shape nn.Shape, outputs int, s *space.Space) (workflow.NetCandidates, error) {
	n := workflow.NetCandidates{Shape: shape, Outputs: outputs, Dropout: f.AsDrawn}
	if s.Net() == "" {
		if f.Model == "" {
			return n, usage.New(fmt.Sprintf("space %s does not define networks, and --model is missing", s.Name()), "add --model NAME, or use a space of networks: fcn, cnn")
		}
		spec, err := FindModel(f.Model)
		if err != nil {
			return n, err
		}
		if spec, err = spec.For(shape, outputs); err != nil {
			return n, usage.New(err.Error(), "pawl models list shows input shapes")
		}
		if !f.AsDrawn {
			spec = spec.Default()
		}
		if f.ClippingNorm > 0 {
			spec.Defaults.ClippingNorm = f.ClippingNorm
		}
		n.Fixed = &spec
	} else if f.Model != "" {
		return n, usage.New(fmt.Sprintf("space %s defines its own networks", s.Name()), "leave out --model, or use --space optimizers")
	}
	var err error
	n.Front, err = f.front(s)
	return n, err
}

// frequencies says that candidates stand behind the low frequencies of a cosine transform:
// fully connected nets whose space says nothing else.
func (f *Search) frequencies(s *space.Space) bool {
	return f.FrontEnd == "" && s.Net() == "fcn" && len(s.Values("features")) == 0
}

// front is the front end of all candidates.
func (f *Search) front(s *space.Space) ([]nn.Layer, error) {
	switch {
	case f.FrontEnd == "none":
		return nil, nil
	case f.FrontEnd != "":
		return FrontEnd(f.FrontEnd)
	case !f.frequencies(s):
		return nil, nil
	case f.AsPublished:
		return FrontEnd("dct:64") // the papers' nets have 64 inputs
	}
	return FrontEnd("dct:150")
}

func (d *Desk) huntNets(ctx context.Context, data *source.Data, f *Search, s *space.Space, strategy search.Strategy) (*Job, error) {
	if f.Extractor != "" || f.Public != "" {
		return nil, usage.New("a search of networks excludes --extractor and --public", "train one network on them: pawl fit without --search, or pawl train")
	}
	p, declared, err := d.images(ctx, data, &f.Train, func(p *source.Images, s *schema.Schema) error {
		in, err := f.Train.shared(p, s)
		if err != nil {
			return err
		}
		in.Dense = true
		return in.Input.Sound()
	})
	if err != nil {
		return nil, err
	}
	t := f.Train
	t.AsPublished = false
	if t.Augment == 0 && f.frequencies(s) && !f.AsPublished {
		if t.Augment = 2; t.Shift == 0 { // as mnist-fcn-150 has them
			t.Shift = 1
		}
	}
	in, err := t.shared(p, declared)
	if err != nil {
		return nil, err
	}
	in.Shape, in.Outputs = shapeOf(p.Train.Shape), len(p.Train.Classes)
	in.FrontEnd = f.FrontEnd
	if s.Net() != "" {
		if s, err = net.Bind(s, in.Shape, in.Outputs); err != nil {
			return nil, usage.New(err.Error(), "docs/SPACES.md describes spaces of networks")
		}
	}
	candidates, err := f.candidates(in.Shape, in.Outputs, s)
	if err != nil {
		return nil, err
	}
	in.AsPublished = f.AsPublished
	settings := workflow.SearchSettings{Space: s, Strategy: strategy, Metric: workflow.Metric(f.Metric)}
	if settings.Rule, err = candidates.Rule(s); err != nil {
		return nil, err
	}
	var other *publicImages
	if f.On != "" {
		if other, err = d.searchOn(ctx, f.On, data.Options.DataDir, p); err != nil {
			return nil, err
		}
		settings.On, settings.OnRows = other.Name, int64(other.Train.Len())
	}
	plan, err := workflow.NewNetSearchPlan(workflow.NetSearchInput{TrainInput: in, SearchSettings: settings, Build: candidates.Build})
	if err = tried(ctx, plan, err, f.Train.Anyway); err != nil {
		return nil, err
	}
	j := d.ofImages(plan, data.Argument, p, declared, &f.Train, in.Seed, other)
	j.replan = func(granted string) (*workflow.Plan, error) {
		declared.GrantedEpsilon = granted
		return workflow.NewNetSearchPlan(workflow.NetSearchInput{TrainInput: in, SearchSettings: settings, Build: candidates.Build})
	}
	return j, nil
}

// searchOn opens the public images that a search may look at.
func (d *Desk) searchOn(ctx context.Context, name, dataDir string, p *source.Images) (*publicImages, error) {
	if name == p.Name {
		return nil, usage.New(fmt.Sprintf("--search-on %s: these are the protected data themselves", name), "name other, public images")
	}
	if !source.IsImages(name) {
		return nil, usage.New(fmt.Sprintf("--search-on %q is not a built-in set of images", name), "pawl data list shows them")
	}
	o, err := source.OpenImages(name, dataDir, "", "", "")
	if err != nil {
		return nil, err
	}
	declared := o.Schema()
	if err := source.EffectivePublic(ctx, d.Ledger, o.Name, declared); err != nil {
		return nil, err
	}
	switch {
	case !declared.Public:
		return nil, usage.New(fmt.Sprintf("--search-on %s: the data are not public, or the ledger lists them as sensitive", name), "name public images")
	case o.Train.Shape != p.Train.Shape || len(o.Train.Classes) != len(p.Train.Classes):
		return nil, usage.New(fmt.Sprintf("--search-on %s: its images differ in size or number of classes from those of %s", name, p.Name), "name images of the same size with the same number of classes")
	}
	return &publicImages{o, "--search-on " + name}, nil
}

// huntTable prices a search of models of a table.
func (d *Desk) huntTable(ctx context.Context, data *source.Data, f *Search, s *space.Space, strategy search.Strategy) (*Job, error) {
	if flag := cmp.Or(usage.Given(f.Batch != 0, "--batch"), usage.Given(f.Epochs != 0, "--epochs"),
		usage.Given(f.ClippingNorm != 0, "--clipping-norm"), usage.Given(f.FrontEnd != "", "--front-end"),
		usage.Given(f.Augment != 0, "--augment"), usage.Given(f.Model != "", "--model")); flag != "" {
		return nil, usage.New(flag+" is for images, and this is a table", "leave it out")
	}
	t := f.Table
	t.Epsilon, t.Delta, t.Accountant, t.Preset, t.Seed, t.Target = f.Epsilon, f.Delta, f.Accountant, f.Preset, f.Seed, f.Target
	t.Updated, t.AllowLargeDelta, t.Copies = f.Updated, f.AllowLargeDelta, f.Copies
	t.Workflow, t.Model = "paw", "auto"
	j, in, err := d.OpenTable(ctx, data, &t, workflow.Input.Sound)
	if err != nil {
		return nil, err
	}
	if in.Test, err = d.OpenTest(ctx, j, data.Options); err != nil {
		return nil, err
	}
	in.AsPublished = f.AsPublished
	settings := workflow.SearchSettings{Space: s, Strategy: strategy, Metric: workflow.Metric(f.Metric)}
	if t.kinds != nil {
		settings.Rules = []advise.Rule{*t.kinds}
	}
	plan, err := workflow.NewTableSearchPlan(in, settings)
	if err != nil {
		return nil, err
	}
	if err := plan.Worth(f.Train.Anyway); err != nil {
		return nil, err
	}
	job := d.ofTable(plan, j)
	job.replan = func(granted string) (*workflow.Plan, error) {
		in.Schema.GrantedEpsilon = granted
		return workflow.NewTableSearchPlan(in, settings)
	}
	return job, nil
}
