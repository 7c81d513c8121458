package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/evidence/crossover"
	"pawl/experiments"
	"pawl/internal/build"
	"pawl/workflow"
)

type crossoverFlags struct {
	table fitFlags // of the data

	a, b, at, epsilons, rates, rows, out string
	more                                 []string
	tune, standIn                        string
	reach, confidence                    float64
	seeds, plain                         int
	pay                                  string
	labels, classes, images              string // of images of one's own
	updated                              bool
}

func (a *app) crossoverCommand() *cobra.Command {
	var f crossoverFlags
	c := &cobra.Command{
		Use:   "crossover DATA --a SPEC --b SPEC --epsilons LIST",
		Short: "Find the epsilon below which a simple configuration beats a complex one",
		Long: `Measure the crossover epsilon of two whole configurations or more, from simple to
complex: the largest epsilon at which the simple one is better. Below it take the simple
one, above it the complex one. It is 0 where the simple one never wins.

Every configuration is tuned for every epsilon before it is compared; both meet the same
splits and seeds; the interval is a bootstrap over runs. DATA are public: built-in (pawl
data list), a table whose schema says public, or images that the ledger declares public.
All runs are simulations on them, and nothing that is printed is private. On sensitive
DATA every run has to be paid for: the command says what that costs; --stand-in compares
on public rows in its place, and --pay E books every run in the ledger, if all cost no
more than E together.

SPEC is words with + between them:
` + wordList() + `

--tune rule takes step sizes by a data-free rule that knows epsilon; grid the best of
` + factorList() + ` times that, by one run on a sixth of the training rows; common-rate
measures each of --rates for all configurations beside the rule, which shows what one
common step size hides.
--rows adds sizes: what more rows would change, by a fit of epsilon = ln(alpha + beta/rows).

Finished runs are kept in --out: an interrupted comparison goes on where it stopped.`,
		Example: `  pawl crossover mnist --a logistic --b mnist-paw-cnn --epsilons 0.1,0.2,0.35,0.5,0.75,1,2
  pawl crossover adult --target income --a features:6 --b features:all --epsilons 1,5,10,20,50 --at 10
  pawl crossover mnist --a rwt-cnn --b rwt-cnn+rwt=4 --epsilons 0.2,0.5,1,2 --json
  pawl crossover patients.csv --schema patients.yaml --target ill --a linear --b ebm --epsilons 0.1,1 --stand-in adult`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.seeds == 0 && c.Flags().Changed("seeds") {
				return &usageError{"an interval needs two seeds or more", "example: --seeds 5"}
			}
			return inItsOwnWords(a.again(&f.table.copies, func() error { once := f; return a.crossover(c.Context(), args[0], &once) }))
		},
	}
	s := c.Flags()
	s.StringVar(&f.a, "a", "", "simple configuration (required)")
	s.StringVar(&f.b, "b", "", "complex configuration (required)")
	s.StringArrayVar(&f.more, "c", nil, "another one, more complex still; may be repeated")
	s.StringVar(&f.epsilons, "epsilons", "", "epsilons to measure, rising: 0.1,0.3,1,3 (required)")
	s.StringVar(&f.at, "at", "", "your epsilon: say which to take there, and how sure that is (measured too)")
	s.IntVar(&f.seeds, "seeds", 0, "runs of each configuration at each epsilon (default 5 on tables, 3 on images)")
	s.IntVar(&f.plain, "plain", -1, "runs without noise, for the cost of privacy; 0 for none (default as many as seeds on tables, 2 on images)")
	s.StringVar(&f.tune, "tune", "rule", "how step sizes are found: rule, grid or common-rate")
	s.StringVar(&f.rates, "rates", "", "step sizes of --tune common-rate: 0.1,1")
	s.StringVar(&f.rows, "rows", "", "numbers of training rows to measure at too, rising: 5000,10000,20000")
	s.Float64Var(&f.reach, "reach", 0, "score whose price in epsilon is fitted over --rows, as a fraction (default: one that all reach)")
	s.Float64Var(&f.confidence, "confidence", 0.95, "of all intervals")
	s.StringVar(&f.standIn, "stand-in", "", "compare on this in place of DATA: a built-in data set, or a file of public or synthetic rows of DATA's schema")
	s.StringVar(&f.pay, "pay", "", "on sensitive DATA: pay for every run, if all together cost at most this epsilon")
	s.BoolVar(&f.updated, "updated", false, "with --pay: the file's bytes changed on purpose since it was last used")
	registerCopies(&f.table.copies, c)
	s.StringVar(&f.labels, "labels", "", "file of labels that goes with an IDX or npy file of your own images")
	s.StringVar(&f.classes, "classes", "", "class names in order, for files of labels (default for folders: their names)")
	s.StringVar(&f.images, "images", "", "what is public about the number of your own, sensitive images: public, N or about-N")
	s.StringVar(&f.table.delta, "delta", "", "failure probability delta (default: largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.table.schema, "schema", "", "schema file, YAML (built-in data sets have their own)")
	s.StringVar(&f.table.target, "target", "", "column to predict (built-in data sets have a default)")
	s.StringVar(&f.table.test, "test", "", "public test file to score (default: each seed splits the rows, or the built-in's official test set)")
	s.StringVar(&f.table.badRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	s.StringVar(&f.out, "out", "pawl-out/crossover", "directory for the page, the plot and finished runs")
	return c
}

// inItsOwnWords mends hints that name flags of fit: a configuration is words here.
func inItsOwnWords(err error) error {
	var mistake *workflow.UsageError
	if !errors.As(err, &mistake) {
		return err
	}
	hint, _, _ := strings.Cut(mistake.Advice, ", or --allow-large-delta")
	for _, flag := range []string{"--model", "--features", "--epsilon ", "--workflow"} {
		if strings.Contains(hint, flag) {
			hint = "another configuration or other --epsilons; pawl crossover --help has the words"
		}
	}
	if hint == mistake.Advice {
		return err
	}
	return &usageError{mistake.Msg, hint}
}

func wordList() string {
	lines := make([]string, len(crossover.Words))
	for i, w := range crossover.Words {
		lines[i] = fmt.Sprintf("  %-18s %s", w.Form, w.What)
	}
	return strings.Join(lines, "\n")
}

func factorList() string {
	words := make([]string, len(crossover.Factors))
	for i, f := range crossover.Factors {
		words[i] = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strings.Join(words, ", ")
}

func (a *app) crossover(ctx context.Context, data string, f *crossoverFlags) error {
	study, err := f.study()
	if err != nil {
		return err
	}
	on, err := a.openCompared(ctx, data, f, study)
	if err != nil {
		return err
	}
	defer on.close()
	study.Data = on.data
	f.counts(study)
	if err := study.Check(); err != nil {
		return err
	}
	if on.data.Paid() && f.pay == "" {
		return on.refuse(ctx, study)
	}
	kept, err := a.openKept(ctx, study, on, f)
	if err != nil {
		return err
	}
	start := time.Now()
	all := study.Trainings()
	known := study.Known()
	fmt.Fprintf(a.err, "%s\n%d trainings", on.words, all)
	if known > 0 {
		fmt.Fprintf(a.err, "; %d are kept from earlier runs in %s", known, f.out)
	}
	fmt.Fprintln(a.err)
	begun := known
	kept.Progress = func(cell string) {
		begun++
		if on.data.Paid() {
			// How long a run takes depends on the number of rows.
			fmt.Fprintf(a.err, "%d/%d  %s\n", begun, all, cell)
			return
		}
		fmt.Fprintf(a.err, "%6s  %d/%d  %s\n", time.Since(start).Round(time.Second), begun, all, cell)
	}
	r, err := study.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err := fmt.Errorf("%w: %d trainings are kept in %s, and the same command goes on from there", context.Canceled, kept.Kept(), f.out)
		if on.data.Paid() {
			err = fmt.Errorf("%w; they cost nothing again, one that was interrupted stays charged", err)
		}
		return err
	}
	if err != nil {
		return err
	}
	on.booked = kept.Measured()
	return a.showCrossover(study, on, r, f, time.Since(start))
}

// openKept opens the file of finished runs. Before a paid one is begun all of them must be
// admitted.
func (a *app) openKept(ctx context.Context, study *crossover.Study, on *compared, f *crossoverFlags) (*experiments.Run, error) {
	version, err := build.Digest()
	if err != nil {
		return nil, err
	}
	name := "crossover-" + on.data.Name
	if on.data.Paid() {
		// What was paid for holds whatever program reads it.
		name, version = name+"-paid", "paid"
		kept, err := experiments.ReadRun(name, "runs", version, f.out)
		if err != nil {
			return nil, err
		}
		if kept.Unread() {
			return nil, &usageError{fmt.Sprintf("%s: damaged; it holds runs that were paid for", kept.Path()), "restore it, or move it away to pay for all runs again"}
		}
		study.Cells = kept
		if err := a.admitComparison(ctx, study, on, f); err != nil {
			return nil, err
		}
	}
	kept, err := experiments.NewRun(name, "runs", version, f.out)
	if err == nil {
		if kept.Unread() {
			fmt.Fprintf(a.err, "%s: damaged, or of another version of the program: its runs are measured again\n", kept.Path())
		}
		err = kept.Save()
	}
	if err != nil {
		return nil, &usageError{fmt.Sprintf("%s: cannot be written: %v", f.out, err), "choose another directory with --out"}
	}
	study.Cells = kept
	return kept, nil
}

// study reads the flags but the data.
func (f *crossoverFlags) study() (*crossover.Study, error) {
	s := &crossover.Study{Seeds: f.seeds, Plain: f.plain, Tuning: crossover.Tuning(f.tune), Delta: f.table.delta, Reach: f.reach, Confidence: f.confidence}
	for _, one := range []struct{ flag, text string }{{"--a", f.a}, {"--b", f.b}} {
		if one.text == "" {
			return nil, &usageError{"pawl crossover: " + one.flag + " is missing", "example: --a logistic --b mnist-paw-cnn; pawl crossover --help has the words"}
		}
	}
	for _, text := range append([]string{f.a, f.b}, f.more...) {
		spec, err := crossover.ParseSpec(text)
		if err != nil {
			return nil, err
		}
		s.Specs = append(s.Specs, spec)
	}
	if f.out == "" {
		return nil, &usageError{"pawl crossover: --out names no directory", "example: --out comparison"}
	}
	if f.epsilons == "" {
		return nil, &usageError{"pawl crossover: --epsilons is missing", "example: --epsilons 0.1,0.3,1,3"}
	}
	var err error
	if s.Epsilons, err = parseList("--epsilons", f.epsilons); err != nil {
		return nil, err
	}
	if f.rates != "" {
		if s.Rates, err = parseList("--rates", f.rates); err != nil {
			return nil, err
		}
	}
	if f.rows != "" {
		sizes, err := parseList("--rows", f.rows)
		if err != nil {
			return nil, err
		}
		for _, n := range sizes {
			if n != math.Trunc(n) || n > 1e9 {
				return nil, &usageError{fmt.Sprintf("--rows: %g is no number of rows", n), "example: --rows 5000,10000"}
			}
			s.Rows = append(s.Rows, int(n))
		}
	}
	if f.at != "" {
		if s.At, err = strconv.ParseFloat(f.at, 64); err != nil || !(s.At > 0) || math.IsInf(s.At, 0) {
			return nil, &usageError{fmt.Sprintf("--at %q: want an epsilon above 0", f.at), "example: --at 0.5"}
		}
		if !slices.Contains(s.Epsilons, s.At) {
			// Measured and not read off: the answer is for this epsilon. A mistake in the order
			// of the list must still be seen.
			if slices.IsSorted(s.Epsilons) {
				s.Epsilons = append(s.Epsilons, s.At)
				slices.Sort(s.Epsilons)
			}
		}
	}
	switch {
	case !(f.confidence > 0.5 && f.confidence < 1):
		return nil, &usageError{"the confidence must lie between 0.5 and 1", "example: --confidence 0.95"}
	case f.reach < 0 || math.IsNaN(f.reach) || math.IsInf(f.reach, 0):
		return nil, &usageError{"--reach is a score as a fraction of 1", "example: --reach 0.85"}
	case f.reach != 0 && f.rows == "":
		return nil, &usageError{"--reach goes with --rows", "example: --rows 5000,10000,20000"}
	}
	return s, nil
}

// counts settles numbers of runs that were not given: networks take minutes.
func (f *crossoverFlags) counts(s *crossover.Study) {
	images := s.Data.Images != nil
	if s.Seeds == 0 {
		s.Seeds = 5
		if images {
			s.Seeds = 3
		}
	}
	if s.Plain == -1 {
		s.Plain = s.Seeds
		switch {
		case s.Data.Paid():
			s.Plain = 0 // nobody trains without noise on sensitive rows
		case images:
			s.Plain = 2
		}
	}
}

var listExample = map[string]string{"--epsilons": "0.1,0.3,1,3", "--rates": "0.5,2", "--rows": "5000,10000"}

// parseList reads numbers above 0 with commas between them.
func parseList(flag, text string) (all []float64, err error) {
	for _, one := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(one), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, &usageError{fmt.Sprintf("%s: %q is no number above 0", flag, strings.TrimSpace(one)), "example: " + flag + " " + listExample[flag]}
		}
		all = append(all, v)
	}
	return all, nil
}

// fileExists says whether a file stands where a built-in data set of that name could be
// meant.
func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
