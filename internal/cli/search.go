package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
)

// searchFlags are those of search and tune.
type searchFlags struct {
	jobFlags
	pawl.Search
	eta   float64
	sizes string
	shift int
	out   outDir
}

func searchCommand(a *app) *cobra.Command {
	return searchPreset{
		use:   "search DATA --space S --strategy K --epsilon E",
		short: "Search for the best model within the privacy budget",
		long: `Search a space of candidate models. --epsilon pays for everything together: all training
runs, their validation scores and the released model. pawl plan search shows what each
strategy leaves for one training run.

Strategies:
` + strategyList() + `

To continue an interrupted search at no further cost, run the same command again. --nats runs
the training runs on other machines: see pawl worker.
--as-published runs paas, rs, mgrs or tunebound as in their papers, on public data only:
--epsilon is then that of each training run, and there is no privacy guarantee.`,
		example: `  pawl search mnist --space fcn --strategy ps --mean-trials 20 --epsilon 2.11
  pawl search mnist --space fcn --strategy public --search-on fashion-mnist --epsilon 2.11
  pawl search adult --target income --space tabular --strategy mgrs --epsilon 3`,
	}.command(a)
}

// tuneCommand is search over the hyperparameters of one network.
func tuneCommand(a *app) *cobra.Command {
	return searchPreset{
		use:   "tune DATA --model NAME --strategy K --epsilon E",
		short: "Tune the hyperparameters of one network within the privacy budget",
		long:  "Search over optimizers, learning rates and clipping norms for one network: pawl search with\n--space optimizers and --model. The data-free rule of pawl train needs no search; on\npublic data it is trained too, for comparison.",
		example: `  pawl tune mnist --model mnist-paw-fcn --strategy ps --epsilon 2.11
  pawl tune mnist --model mnist-paw-fcn --strategy grid --epsilon 2.11 --space grid.yaml`,
		space: "optimizers", network: true,
	}.command(a)
}

// searchPreset is a spelling of search: what its help says, and what it presets.
type searchPreset struct {
	use, short, long, example string
	space                     string // "": to be given
	network                   bool   // --model is required
}

func (p searchPreset) command(a *app) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{Use: p.use, Short: p.short, Long: p.long, Example: p.example, Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if p.network && f.Train.Model == "" {
				return mistake(c.CommandPath()+": missing --model", "--model takes a name from pawl models list, or a YAML file")
			}
			return searchModels(a, c, args[0], f)
		}}
	f.register(c)
	f.Space, c.Flags().Lookup("space").DefValue = p.space, p.space
	return c
}

func strategyList() string {
	var lines []string
	for _, s := range pawl.Strategies() {
		lines = append(lines, fmt.Sprintf("  %-11s %s", s.Name, s.What))
	}
	return strings.Join(lines, "\n")
}

func (f *searchFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.Space, "space", "", "candidates: "+strings.Join(pawl.Spaces(), ", ")+", or a YAML file (docs/SPACES.md)")
	s.StringVar(&f.Strategy, "strategy", "", "search strategy (required)")
	s.Float64Var(&f.MeanTrials, "mean-trials", 0, "expected number of training runs of a selection, or of trials on public data")
	s.Float64Var(&f.eta, "eta", 0, "shape of the random number of runs: 0 logarithmic, 1 geometric")
	s.StringVar(&f.sizes, "sizes", "", "mgrs: expected runs per generation (default 40,20,10)")
	s.IntVar(&f.Generations, "generations", 0, "paas, tunebound: number of generations")
	s.IntVar(&f.Population, "population", 0, "paas, tunebound: candidates per generation")
	s.BoolVar(&f.ReplaceParents, "replace-parents", false, "paas, tunebound: keep only children in each generation, as in the paper (default: parents stay)")
	s.Float64Var(&f.Share, "share", 0, "split, subset: share of the units used for the search (default 0.1)")
	s.Float64Var(&f.Validation, "validation", 0, "share of the search units that score candidates (default 0.1; split and subset 0.3)")
	s.StringVar(&f.Metric, "metric", "", "choose by accuracy, balanced-accuracy, log-loss or brier, of a number by mae or rmse (default accuracy, mae); for these, what one row changes is bounded")
	s.StringVar(&f.SearchOn, "search-on", "", "public: built-in public images to search on")
	s.IntVar(&f.Workers, "workers", 0, "parallel training runs (default: number of processors); does not change the result")
	brokerFlags(c, &f.Broker)
	s.BoolVar(&f.Broker.ShipData, "ship-data", false, "send the rows, encrypted, to workers that do not have the file (tables; docs/CLUSTER.md)")
	s.StringVar(&f.Study, "study", "", "name of the study (default: data, space and strategy)")
	budgetFlags(c, &f.Train.Budget, "epsilon of the whole search; with --as-published, of each training run", "")
	presetFlag(s, &f.Train.Preset, "changes the running time")
	s.StringVar(&f.Train.Target, "target", "", "column to predict (tables)")
	s.StringVar(&f.Train.Model, "model", "", "network, for a space that has only hyperparameters")
	s.IntVar(&f.Train.Batch, "batch", 0, "expected batch size (images)")
	s.Float64Var(&f.Train.Epochs, "epochs", 0, "expected number of passes over the data (images)")
	s.Float64Var(&f.Train.ClippingNorm, "clipping-norm", 0, "L2 bound on each example's gradient (images; default 0.5)")
	s.StringVar(&f.Train.Optimizer, "optimizer", "momentum", "sgd, momentum, adam or adam-wosm (images)")
	s.StringVar(&f.Train.FrontEnd, "front-end", "", "transform of images before the network: "+frontEnds()+" (default dct:150 for fully connected networks)")
	s.IntVar(&f.Train.Augment, "augment", 0, "augmented variants per image whose gradients are averaged (images; default 2 for fully connected networks, else 1)")
	s.IntVar(&f.shift, "shift", -1, "largest shift of an augmented variant, in pixels")
	s.BoolVar(&f.Train.AsDrawn, "as-drawn", false, "keep dropout in networks (default: removed under noise)")
	s.BoolVar(&f.Train.AsPublished, "as-published", false, "run as in the papers: public data only, no guarantee")
	f.seedFlag(s)
	identityFlags(c, &f.Train.Identity)
	imageFlags(s, &f.Labels, &f.Classes, &f.Rows, "rows")
	memoryFlag(s, &f.Train.Memory)
	schemaFlag(s, &f.Schema)
	f.out.register(c)
}

// job is the search that the flags ask for.
func (f *searchFlags) job(a *app, c *cobra.Command) (job pawl.Search, err error) {
	job = f.Search
	if c.Flags().Changed("eta") {
		job.Eta = &f.eta
	}
	for _, text := range list(f.sizes) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return job, mistakef("example: --sizes 40,20,10", "--sizes %q: want numbers separated by commas", f.sizes)
		}
		job.Sizes = append(job.Sizes, n)
	}
	job.Train.Shift = shiftOf(f.shift)
	a.identity(&job.Train.Identity)
	job.Train.Seed, err = f.seedOf()
	return job, err
}

func searchModels(a *app, c *cobra.Command, data string, f searchFlags) error {
	job, err := f.job(a, c)
	if err != nil {
		return err
	}
	if err := writable(f.out.path, f.out.force); err != nil {
		return err
	}
	return runJob(c.Context(), a, data, f.Source, job, pawl.Into(f.out.path, f.out.force))
}
