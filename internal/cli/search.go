package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/compute/nn"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/space/net"
	"pawl/workflow"
)

type searchFlags struct {
	trainFlags
	table                             fitFlags
	space, strategy, sizes, on, study string
	mean, eta, share, validation      float64
	generations, population, work     int
	replace                           bool
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search DATA --space S --strategy K --epsilon E",
		Short: "Search for the best model within the privacy budget",
		Long: `Search a space of candidate models. --epsilon pays for everything together: all training
runs, their validation scores and the released model. pawl plan search shows what each
strategy leaves for one training run.

Strategies:
` + strategyList() + `

To continue an interrupted search at no further cost, run the same command again.
--as-published runs paas, rs, mgrs or tunebound as in their papers, on public data only:
--epsilon is then that of each training run, and there is no privacy guarantee.`,
		Example: `  pawl search mnist --space fcn --strategy ps --mean-trials 20 --epsilon 2.11
  pawl search mnist --space fcn --strategy public --search-on fashion-mnist --epsilon 2.11
  pawl search adult --target income --space tabular --strategy mgrs --epsilon 3`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.again(&f.copies, func() error { once := f; return a.search(c.Context(), c, args[0], &once) })
		},
	}
	f.register(c)
	return c
}

// workers is the number of trainings side by side: the processors that this process
// may use, unless the user names another.
func (f *searchFlags) workers() int {
	if f.work > 0 {
		return f.work
	}
	return runtime.GOMAXPROCS(0)
}

// tuneCommand is search over the hyperparameters of one network.
func (a *app) tuneCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "tune DATA --model NAME --strategy K --epsilon E",
		Short: "Tune the hyperparameters of one network within the privacy budget",
		Long:  "Search over optimizers, step sizes and clipping norms for one network: pawl search with\n--space optimizers and --model. The data-free rule of pawl train needs no search; on\npublic data it is trained too, for comparison.",
		Example: `  pawl tune mnist --model mnist-paw-fcn --strategy ps --epsilon 2.11
  pawl tune mnist --model mnist-paw-fcn --strategy grid --epsilon 2.11 --space grid.yaml`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.trainFlags.model == "" {
				return &usageError{"pawl tune: missing --model", "--model takes a name from pawl models list, or a YAML file"}
			}
			return a.again(&f.copies, func() error { once := f; return a.search(c.Context(), c, args[0], &once) })
		},
	}
	f.register(c)
	c.Flags().Lookup("space").DefValue = "optimizers"
	f.space = "optimizers"
	return c
}

var strategyWords = map[search.Kind]string{
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
	search.TuneBound: "genetic search over step size and activation bound",
}

func strategyList() string {
	var lines []string
	for _, k := range search.Kinds() {
		lines = append(lines, fmt.Sprintf("  %-11s %s", k, strategyWords[k]))
	}
	return strings.Join(lines, "\n")
}

func (f *searchFlags) register(c *cobra.Command) {
	trainDefaults(&f.trainFlags)
	s := c.Flags()
	s.StringVar(&f.space, "space", "", "candidates: "+strings.Join(space.List(), ", ")+", or a YAML file (docs/SPACES.md)")
	s.StringVar(&f.strategy, "strategy", "", "search strategy (required)")
	s.Float64Var(&f.mean, "mean-trials", 0, "expected number of training runs of a selection, or of trials on public data")
	s.Float64Var(&f.eta, "eta", 0, "shape of the random number of runs: 0 logarithmic, 1 geometric")
	s.StringVar(&f.sizes, "sizes", "", "mgrs: expected runs per generation (default 40,20,10)")
	s.IntVar(&f.generations, "generations", 0, "paas, tunebound: number of generations")
	s.IntVar(&f.population, "population", 0, "paas, tunebound: candidates per generation")
	s.BoolVar(&f.replace, "replace-parents", false, "paas, tunebound: keep only children in each generation, as in the paper (default: parents stay)")
	s.Float64Var(&f.share, "share", 0, "split, subset: share of the units used for the search (default 0.1)")
	s.Float64Var(&f.validation, "validation", 0, "share of the search units that score candidates (default 0.1; split and subset 0.3)")
	s.StringVar(&f.on, "search-on", "", "public: built-in public images to search on")
	s.IntVar(&f.work, "workers", 0, "parallel training runs (default: number of processors); does not change the result")
	s.StringVar(&f.study, "study", "", "name of the study (default: data, space and strategy)")
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon of the whole search; with --as-published, of each training run")
	s.StringVar(&f.delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.accountant, "accountant", "min", "min, pld or rdp")
	s.StringVar(&f.preset, "preset", "balanced", "quick, balanced or thorough; changes the running time, not epsilon")
	s.StringVar(&f.target, "target", "", "column to predict (tables)")
	s.StringVar(&f.trainFlags.model, "model", "", "network, for a space that has only hyperparameters")
	s.IntVar(&f.batch, "batch", 0, "expected batch size (images)")
	s.Float64Var(&f.epochs, "epochs", 0, "expected number of passes over the data (images)")
	s.Float64Var(&f.clippingNorm, "clipping-norm", 0, "L2 bound on each example's gradient (images; default 0.5)")
	s.StringVar(&f.optimizer, "optimizer", f.optimizer, "sgd, momentum, adam or adam-wosm (images)")
	s.StringVar(&f.frontEnd, "front-end", "", "transform of images before the network: "+frontEnds()+" (default dct:150 for fully connected networks)")
	s.IntVar(&f.augment, "augment", 0, "augmented variants per image whose gradients are averaged (images; default 2 for fully connected networks, else 1)")
	s.IntVar(&f.shift, "shift", f.shift, "largest shift of an augmented variant, in pixels")
	s.BoolVar(&f.trainFlags.published, "as-drawn", false, "keep dropout in networks (default: removed under noise)")
	s.BoolVar(&f.asPublished, "as-published", false, "run as in the papers: public data only, no guarantee")
	s.StringVar(&f.seed, "seed", "", "simulate with predictable noise; every output is marked NOT PRIVATE")
	s.BoolVar(&f.updated, "updated", false, "accept that the data have changed since they were last used")
	registerCopies(&f.copies, c)
	s.BoolVar(&f.allowLargeDelta, "allow-large-delta", false, "allow a delta of 1/rows or more")
	s.StringVar(&f.labels, "labels", "", "file of labels for an IDX or npy file of images")
	s.StringVar(&f.classes, "classes", "", "class names in order, for files of labels")
	s.StringVar(&f.rows, "rows", "", "how the number of your own images is declared: public, N or about-N")
	s.StringVar(&f.memory, "memory", f.memory, "working memory per step; does not change the result")
	s.StringVar(&f.table.schema, "schema", "", "schema file, YAML (your own tables)")
	f.out.register(c)
}

// theStrategy is the strategy of the flags.
func (f *searchFlags) theStrategy(c *cobra.Command) (search.Strategy, error) {
	if f.strategy == "" {
		return search.Strategy{}, &usageError{"missing --strategy", "pawl plan search DATA --space S --strategy all --epsilon E lists all strategies with their costs"}
	}
	s, err := search.New(search.Kind(f.strategy))
	if err != nil {
		return s, &usageError{err.Error(), "pawl search --help describes them"}
	}
	for flag, of := range map[string][]search.Kind{
		"mean-trials": {search.PS, search.PSPoisson, search.RS, search.LT, search.Split, search.Subset, search.Public, search.STW},
		"eta":         {search.PS, search.RS, search.Split, search.Subset, search.MGRS}, "sizes": {search.MGRS},
		"generations": {search.PAAS, search.TuneBound}, "population": {search.PAAS, search.TuneBound}, "replace-parents": {search.PAAS, search.TuneBound},
		"share": {search.Split, search.Subset}, "search-on": {search.Public},
	} {
		if c.Flags().Changed(flag) && !slices.Contains(of, s.Kind) {
			return s, &usageError{fmt.Sprintf("--%s does not apply to strategy %s", flag, s.Kind), fmt.Sprintf("it applies to %v", of)}
		}
	}
	set := func(flag string, to *float64, v float64) {
		if c.Flags().Changed(flag) {
			*to = v
		}
	}
	set("mean-trials", &s.Mean, f.mean)
	set("eta", &s.Eta, f.eta)
	set("share", &s.Share, f.share)
	set("validation", &s.Validation, f.validation)
	if c.Flags().Changed("generations") {
		s.Generations = f.generations
	}
	if c.Flags().Changed("population") {
		s.Population = f.population
	}
	if f.replace {
		s.Retain = 0
	}
	if f.sizes != "" {
		s.Sizes = nil
		for _, text := range strings.Split(f.sizes, ",") {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return s, &usageError{fmt.Sprintf("--sizes %q: want numbers separated by commas", f.sizes), "example: --sizes 40,20,10"}
			}
			s.Sizes = append(s.Sizes, n)
		}
	}
	if err := s.Check(); err != nil {
		return s, &usageError{err.Error(), "pawl plan search shows what a strategy costs"}
	}
	return s, nil
}

// theSpace reads the space of the flags.
func (f *searchFlags) theSpace() (*space.Space, error) {
	if f.space == "" {
		return nil, &usageError{"missing --space", "use --space with one of " + strings.Join(space.List(), ", ") + ", or a YAML file"}
	}
	return space.Open(f.space)
}

// hunted is a search with everything that it needs, and nothing charged.
type hunted struct {
	plan *workflow.Plan
	seal func(ctx context.Context, l *ledger.Ledger) (workflow.Env, error)
	seed *uint64
	name string // of the data set
	// digested is what names the bytes of the data set.
	digested func() io.Reader
}

// planHunt prices a search of images or of a table.
func (a *app) planHunt(ctx context.Context, l *ledger.Ledger, data string, f *searchFlags, strategy search.Strategy) (*hunted, error) {
	s, err := f.theSpace()
	if err != nil {
		return nil, err
	}
	if strategy.Kind == search.Grid {
		size := s.Size()
		if size.Continuous || !size.Points.IsInt64() || size.Points.Int64() > 10_000 {
			return nil, &usageError{fmt.Sprintf("strategy grid trains every candidate, but space %s has %s", s.Name(), s.Size()), "choose a smaller space, or strategy ps"}
		}
		strategy.Candidates = int(size.Points.Int64())
	}
	if source.IsImages(data) || f.rows != "" || f.labels != "" {
		return a.planNetHunt(ctx, l, data, f, s, strategy)
	}
	return a.planTableHunt(ctx, l, data, f, s, strategy)
}

// candidates makes networks of points.
func (f *searchFlags) candidates(shape nn.Shape, outputs int, s *space.Space) (workflow.NetCandidates, error) {
	n := workflow.NetCandidates{Shape: shape, Outputs: outputs, Dropout: f.trainFlags.published}
	if s.Net() == "" {
		if f.trainFlags.model == "" {
			return n, &usageError{fmt.Sprintf("space %s does not define networks, and --model is missing", s.Name()), "add --model NAME, or use a space of networks: fcn, cnn"}
		}
		spec, err := findModel(f.trainFlags.model)
		if err != nil {
			return n, err
		}
		if spec, err = spec.For(shape, outputs); err != nil {
			return n, &usageError{err.Error(), "pawl models list shows input shapes"}
		}
		if !f.trainFlags.published {
			spec = spec.Default()
		}
		if f.clippingNorm > 0 {
			spec.Defaults.ClippingNorm = f.clippingNorm
		}
		n.Fixed = &spec
	} else if f.trainFlags.model != "" {
		return n, &usageError{fmt.Sprintf("space %s defines its own networks", s.Name()), "leave out --model, or use --space optimizers"}
	}
	var err error
	n.Front, err = f.front(s)
	return n, err
}

// frequencies says that candidates stand behind the low frequencies of a cosine transform:
// fully connected nets whose space says nothing else.
func (f *searchFlags) frequencies(s *space.Space) bool {
	return f.frontEnd == "" && s.Net() == "fcn" && len(s.Values("features")) == 0
}

// front is the front end of all candidates.
func (f *searchFlags) front(s *space.Space) ([]nn.Layer, error) {
	switch {
	case f.frontEnd == "none":
		return nil, nil
	case f.frontEnd != "":
		return frontEnd(f.frontEnd)
	case !f.frequencies(s):
		return nil, nil
	case f.asPublished:
		return frontEnd("dct:64") // the papers' nets have 64 inputs
	}
	return frontEnd("dct:150")
}

func (a *app) planNetHunt(ctx context.Context, l *ledger.Ledger, data string, f *searchFlags, s *space.Space, strategy search.Strategy) (*hunted, error) {
	printKey, err := l.PrintKey(ctx)
	if err != nil {
		return nil, err
	}
	f.printKey = &printKey
	p, err := a.openPictures(data, &f.trainFlags)
	if err != nil {
		return nil, err
	}
	if err := f.copies.Rename(ctx, l, data, !p.Mine, &p.Name, &f.updated); err != nil {
		return nil, err
	}
	declared := p.Schema()
	if err := source.EffectivePublic(ctx, l, p.Name, declared); err != nil {
		return nil, err
	}
	t := f.trainFlags
	t.asPublished = false
	if t.augment == 0 && f.frequencies(s) && !f.asPublished {
		if t.augment = 2; t.shift < 0 { // as mnist-fcn-150 has them
			t.shift = 1
		}
	}
	in, err := t.shared(p, declared)
	if err != nil {
		return nil, err
	}
	in.Shape, in.Outputs = nn.Shape{Height: p.Train.Shape[0], Width: p.Train.Shape[1], Channels: p.Train.Shape[2]}, len(p.Train.Classes)
	in.FrontEnd = f.frontEnd
	if s.Net() != "" {
		if s, err = net.Bind(s, in.Shape, in.Outputs); err != nil {
			return nil, &usageError{err.Error(), "docs/SPACES.md describes spaces of networks"}
		}
	}
	candidates, err := f.candidates(in.Shape, in.Outputs, s)
	if err != nil {
		return nil, err
	}
	in.AsPublished = f.asPublished
	settings := workflow.SearchSettings{Space: s, Strategy: strategy}
	if settings.Rule, err = candidates.Rule(s); err != nil {
		return nil, err
	}
	var other *source.Images
	if f.on != "" {
		if other, err = a.searchOn(ctx, l, f.on, p); err != nil {
			return nil, err
		}
		settings.On, settings.OnRows = other.Name, int64(other.Train.Len())
	}
	plan, err := workflow.NewNetSearchPlan(workflow.NetSearchInput{TrainInput: in, SearchSettings: settings, Build: candidates.Build})
	if err != nil {
		return nil, err
	}
	if err := plan.Preflight(ctx); err != nil {
		return nil, err
	}
	return &hunted{plan: plan, seed: in.Seed, name: p.Name, digested: p.Digested, seal: func(ctx context.Context, l *ledger.Ledger) (env workflow.Env, err error) {
		env = workflow.Env{Ledger: l, Images: p.Test, Updated: f.updated}
		key, err := source.ScopeKey(ctx, l, p.Name, declared, in.Seed)
		if err != nil {
			return env, err
		}
		if env.Different, err = f.copies.RecogniseImages(ctx, l, data, p, declared.Public); err != nil {
			return env, err
		}
		if env.Rows, err = p.Seal(plan, declared, key); err != nil {
			return env, err
		}
		if other != nil {
			// The scopes of public rows need no secret.
			if env.Other, err = other.Seal(plan, other.Schema(), intake.SimulationKey(other.Name, 1)); err != nil {
				return env, err
			}
		}
		env.Digest, err = l.Digest(ctx, p.Digested())
		return env, err
	}}, nil
}

// searchOn opens the public images that a search may look at.
func (a *app) searchOn(ctx context.Context, l *ledger.Ledger, name string, p *source.Images) (*source.Images, error) {
	if name == p.Name {
		return nil, &usageError{fmt.Sprintf("--search-on %s: these are the protected data themselves", name), "name other, public images"}
	}
	if !source.IsImages(name) {
		return nil, &usageError{fmt.Sprintf("--search-on %q is not a built-in set of images", name), "pawl data list shows them"}
	}
	o, err := a.openPictures(name, &trainFlags{})
	if err != nil {
		return nil, err
	}
	declared := o.Schema()
	if err := source.EffectivePublic(ctx, l, o.Name, declared); err != nil {
		return nil, err
	}
	switch {
	case !declared.Public:
		return nil, &usageError{fmt.Sprintf("--search-on %s: the data are not public, or the ledger lists them as sensitive", name), "name public images"}
	case o.Train.Shape != p.Train.Shape || len(o.Train.Classes) != len(p.Train.Classes):
		return nil, &usageError{fmt.Sprintf("--search-on %s: its images differ in size or number of classes from those of %s", name, p.Name), "name images of the same size with the same number of classes"}
	}
	return o, nil
}

func (a *app) search(ctx context.Context, c *cobra.Command, data string, f *searchFlags) error {
	strategy, err := f.theStrategy(c)
	if err != nil {
		return err
	}
	if err := f.out.check(); err != nil {
		return err
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	h, err := a.planHunt(ctx, l, data, f, strategy)
	if err != nil {
		return err
	}
	return a.runHunt(ctx, l, h, f, string(strategy.Kind))
}

// runHunt seals the rows and runs the study.
func (a *app) runHunt(ctx context.Context, l *ledger.Ledger, h *hunted, f *searchFlags, kind string) error {
	env, err := h.seal(ctx, l)
	if err != nil {
		return err
	}
	env.Workers = f.workers()
	return a.runStudy(ctx, h, env, f, kind, time.Now())
}
