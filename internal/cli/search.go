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
		Short: "Search for a model, with the search inside the budget",
		Long: `Search among the candidates of a space. All trainings, their validation scores and
the model that leaves cost the epsilon that you give, together; pawl plan search shows
what each strategy leaves for one training.

Strategies:
` + strategyList() + `

A study that is interrupted goes on when the same command is run again, at no further
cost. --as-published runs paas, rs, mgrs or tunebound as their papers do, on public
data: epsilon is then that of each training, and nothing is claimed.`,
		Example: `  pawl search mnist --space fcn --strategy ps --mean-trials 20 --epsilon 2.11
  pawl search mnist --space fcn --strategy public --search-on fashion-mnist --epsilon 2.11
  pawl search adult --target income --space tabular --strategy mgrs --epsilon 3`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.copies.again(func() error { once := f; return a.search(c.Context(), c, args[0], &once) })
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
		Short: "Search for the hyperparameters of one network, with the search inside the budget",
		Long:  "Search among optimizers, step sizes and clipping norms for one network: pawl search with\n--space optimizers and a --model. The rule that pawl train follows needs no search, and is\ntrained beside on public data.",
		Example: `  pawl tune mnist --model mnist-paw-fcn --strategy ps --epsilon 2.11
  pawl tune mnist --model mnist-paw-fcn --strategy grid --epsilon 2.11 --space grid.yaml`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.trainFlags.model == "" {
				return &usageError{"tune: which network?", "--model NAME of pawl models list, or a YAML file"}
			}
			return f.copies.again(func() error { once := f; return a.search(c.Context(), c, args[0], &once) })
		},
	}
	f.register(c)
	c.Flags().Lookup("space").DefValue = "optimizers"
	f.space = "optimizers"
	return c
}

var strategyWords = map[search.Kind]string{
	search.None:      "one training of the candidate that public facts choose",
	search.Public:    "search on other data, which are public (--search-on), then train once",
	search.STW:       "search without noise and without paying, then train once (public data, no guarantee)",
	search.Split:     "choose privately on a tenth of the units, train the winner on the others",
	search.Subset:    "choose privately on a tenth of the units, train the winner on all",
	search.PS:        "private selection: a secret number of trainings, the winner leaves",
	search.PSPoisson: "the same with a Poisson number",
	search.RS:        "random search of the papers (mean 400), run as private selection",
	search.MGRS:      "private selections in generations around the last winner (40, 20, 10)",
	search.LT:        "random stopping with a hard limit",
	search.Grid:      "every candidate, composed",
	search.PAAS:      "genetic search, every training composed",
	search.TuneBound: "genetic search over step size and bound of an activation",
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
	s.StringVar(&f.strategy, "strategy", "", "how to search (required)")
	s.Float64Var(&f.mean, "mean-trials", 0, "expected number of trainings of a selection, or trials on public data")
	s.Float64Var(&f.eta, "eta", 0, "shape of the number of runs of a selection: 0 logarithmic, 1 geometric")
	s.StringVar(&f.sizes, "sizes", "", "mgrs: expected runs of each generation (default 40,20,10)")
	s.IntVar(&f.generations, "generations", 0, "paas, tunebound: number of generations")
	s.IntVar(&f.population, "population", 0, "paas, tunebound: members of a generation")
	s.BoolVar(&f.replace, "replace-parents", false, "paas, tunebound: a generation consists of children only, as printed; by default parents stay")
	s.Float64Var(&f.share, "share", 0, "split, subset: share of the units that choose (default 0.1)")
	s.Float64Var(&f.validation, "validation", 0, "share of the choosing units that scores candidates (default 0.1; split, subset 0.3)")
	s.StringVar(&f.on, "search-on", "", "public: built-in public images to search on")
	s.IntVar(&f.work, "workers", 0, "trainings side by side (default: processors); does not change the result")
	s.StringVar(&f.study, "study", "", "name of the study (default: data, space and strategy)")
	s.StringVar(&f.epsilon, "epsilon", "", "budget of the whole search; with --as-published that of each training")
	s.StringVar(&f.delta, "delta", "", "failure chance (default: largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.accountant, "accountant", "min", "min, pld or rdp")
	s.StringVar(&f.preset, "preset", "balanced", "quick, balanced or thorough: time, never epsilon")
	s.StringVar(&f.target, "target", "", "column to predict (tables)")
	s.StringVar(&f.trainFlags.model, "model", "", "network, for a space of hyperparameters only")
	s.IntVar(&f.batch, "batch", 0, "expected number of examples in a step (images)")
	s.Float64Var(&f.epochs, "epochs", 0, "expected passes over the data (images)")
	s.Float64Var(&f.clippingNorm, "clipping-norm", 0, "bound on one example's gradient (images; default 0.5)")
	s.StringVar(&f.optimizer, "optimizer", f.optimizer, "sgd, momentum, adam or adam-wosm (images)")
	s.StringVar(&f.frontEnd, "front-end", "", "what networks take of images: "+frontEnds+" (default dct:150 for fully connected nets)")
	s.IntVar(&f.augment, "augment", 0, "variants of each image whose gradients are averaged (images; default 2 for fully connected nets, else 1)")
	s.IntVar(&f.shift, "shift", f.shift, "largest shift of a variant in pixels")
	s.BoolVar(&f.trainFlags.published, "as-drawn", false, "keep dropout in networks; by default it is left out under noise")
	s.BoolVar(&f.asPublished, "as-published", false, "as the papers do: public data only, no guarantee")
	s.StringVar(&f.seed, "seed", "", "simulation: predictable noise, every output marked NOT PRIVATE")
	s.BoolVar(&f.updated, "updated", false, "the data changed on purpose since they were last used")
	f.copies.register(c)
	s.BoolVar(&f.allowLargeDelta, "allow-large-delta", false, "accept a delta of 1/rows or more")
	s.StringVar(&f.labels, "labels", "", "file of labels that goes with an IDX or npy file of images")
	s.StringVar(&f.classes, "classes", "", "list of classes in order, for files of labels")
	s.StringVar(&f.rows, "rows", "", "what is public about the number of images: public, N or about-N (own data)")
	s.StringVar(&f.memory, "memory", f.memory, "working memory of a step, without effect on the result")
	s.StringVar(&f.table.schema, "schema", "", "schema file (own tables)")
	f.out.register(c)
}

// theStrategy is the strategy of the flags.
func (f *searchFlags) theStrategy(c *cobra.Command) (search.Strategy, error) {
	if f.strategy == "" {
		return search.Strategy{}, &usageError{"no strategy: how shall the search choose?", "pawl plan search DATA --space S --strategy all --epsilon E lists them with their prices"}
	}
	s, err := search.New(search.Kind(f.strategy))
	if err != nil {
		return s, &usageError{err.Error(), "pawl search --help says what they do"}
	}
	for flag, of := range map[string][]search.Kind{
		"mean-trials": {search.PS, search.PSPoisson, search.RS, search.LT, search.Split, search.Subset, search.Public, search.STW},
		"eta":         {search.PS, search.RS, search.Split, search.Subset, search.MGRS}, "sizes": {search.MGRS},
		"generations": {search.PAAS, search.TuneBound}, "population": {search.PAAS, search.TuneBound}, "replace-parents": {search.PAAS, search.TuneBound},
		"share": {search.Split, search.Subset}, "search-on": {search.Public},
	} {
		if c.Flags().Changed(flag) && !slices.Contains(of, s.Kind) {
			return s, &usageError{fmt.Sprintf("--%s does not go with strategy %s", flag, s.Kind), fmt.Sprintf("it belongs to %v", of)}
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
				return s, &usageError{fmt.Sprintf("--sizes %q: want numbers with commas between them", f.sizes), "example: --sizes 40,20,10"}
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
		return nil, &usageError{"no space: among which candidates?", "--space with one of " + strings.Join(space.List(), ", ") + ", or a YAML file"}
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
			return nil, &usageError{fmt.Sprintf("strategy grid trains every candidate, and space %s has %s", s.Name(), s.Size()), "choose a smaller space, or strategy ps"}
		}
		strategy.Candidates = int(size.Points.Int64())
	}
	if isImages(data) || f.rows != "" || f.labels != "" {
		return a.planNetHunt(ctx, l, data, f, s, strategy)
	}
	return a.planTableHunt(ctx, l, data, f, s, strategy)
}

// candidates makes networks of points.
func (f *searchFlags) candidates(shape nn.Shape, outputs int, s *space.Space) (workflow.NetCandidates, error) {
	n := workflow.NetCandidates{Shape: shape, Outputs: outputs, Dropout: f.trainFlags.published}
	if s.Net() == "" {
		if f.trainFlags.model == "" {
			return n, &usageError{fmt.Sprintf("space %s says nothing about networks", s.Name()), "--model NAME, or a space of networks: fcn, cnn"}
		}
		spec, err := findModel(f.trainFlags.model)
		if err != nil {
			return n, err
		}
		if spec, err = spec.For(shape, outputs); err != nil {
			return n, &usageError{err.Error(), "pawl models list shows the shapes"}
		}
		if !f.trainFlags.published {
			spec = spec.Default()
		}
		if f.clippingNorm > 0 {
			spec.Defaults.ClippingNorm = f.clippingNorm
		}
		n.Fixed = &spec
	} else if f.trainFlags.model != "" {
		return n, &usageError{fmt.Sprintf("space %s makes networks of its own", s.Name()), "leave out --model, or search over --space optimizers"}
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
	if err := f.copies.rename(ctx, l, data, !p.mine, &p.name, &f.updated); err != nil {
		return nil, err
	}
	declared := p.schema()
	if err := effectivePublic(ctx, l, p.name, declared); err != nil {
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
	in.Shape, in.Outputs = nn.Shape{Height: p.train.Shape[0], Width: p.train.Shape[1], Channels: p.train.Shape[2]}, len(p.train.Classes)
	in.FrontEnd = f.frontEnd
	if s.Net() != "" {
		if s, err = net.Bind(s, in.Shape, in.Outputs); err != nil {
			return nil, &usageError{err.Error(), "docs/SPACES.md says what a space of networks may hold"}
		}
	}
	candidates, err := f.candidates(in.Shape, in.Outputs, s)
	if err != nil {
		return nil, err
	}
	settings := workflow.SearchSettings{Space: s, Strategy: strategy, AsPublished: f.asPublished}
	if settings.Rule, err = candidates.Rule(s); err != nil {
		return nil, err
	}
	var other *pictures
	if f.on != "" {
		if other, err = a.searchOn(ctx, l, f.on, p); err != nil {
			return nil, err
		}
		settings.On, settings.OnRows = other.name, int64(other.train.Len())
	}
	plan, err := workflow.NewNetSearchPlan(workflow.NetSearchInput{TrainInput: in, SearchSettings: settings, Build: candidates.Build})
	if err != nil {
		return nil, err
	}
	if err := plan.Preflight(ctx); err != nil {
		return nil, err
	}
	return &hunted{plan: plan, seed: in.Seed, name: p.name, digested: p.digested, seal: func(ctx context.Context, l *ledger.Ledger) (env workflow.Env, err error) {
		env = workflow.Env{Ledger: l, Images: p.test, Updated: f.updated}
		key, err := scopeKey(ctx, l, p.name, declared, in.Seed)
		if err != nil {
			return env, err
		}
		if env.Rows, err = p.seal(plan, declared, key); err != nil {
			return env, err
		}
		if other != nil {
			// The scopes of public rows need no secret.
			if env.Other, err = other.seal(plan, other.schema(), intake.SimulationKey(other.name, 1)); err != nil {
				return env, err
			}
		}
		if env.Different, err = a.recognisePictures(ctx, l, data, p, declared.Public, &f.copies); err != nil {
			return env, err
		}
		env.Prints = p.prints
		env.Digest, err = l.Digest(ctx, p.digested())
		return env, err
	}}, nil
}

// searchOn opens the public images that a search may look at.
func (a *app) searchOn(ctx context.Context, l *ledger.Ledger, name string, p *pictures) (*pictures, error) {
	if name == p.name {
		return nil, &usageError{fmt.Sprintf("--search-on %s: these are the data that are protected", name), "name other images, which are public"}
	}
	if !isImages(name) {
		return nil, &usageError{fmt.Sprintf("--search-on %q: not a built-in set of images", name), "pawl data list shows them"}
	}
	o, err := a.openPictures(name, &trainFlags{})
	if err != nil {
		return nil, err
	}
	declared := o.schema()
	if err := effectivePublic(ctx, l, o.name, declared); err != nil {
		return nil, err
	}
	switch {
	case !declared.Public:
		return nil, &usageError{fmt.Sprintf("--search-on %s: not public, or held as sensitive in the ledger", name), "name public images"}
	case o.train.Shape != p.train.Shape || len(o.train.Classes) != len(p.train.Classes):
		return nil, &usageError{fmt.Sprintf("--search-on %s: its images have another size or number of classes than those of %s", name, p.name), "name images that the same networks take"}
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
