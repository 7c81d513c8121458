package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/evidence/cells"
	"pawl/evidence/crossover"
	"pawl/evidence/crossover/basis"
	"pawl/internal/build"
	"pawl/internal/request"
	"pawl/workflow"
)

type crossoverFlags struct {
	basis.Request

	a, b, at, epsilons, rates, rows, out, metric string
	more                                         []string
	tune                                         string
	reach, confidence                            float64
	seeds, plain                                 int
}

func crossoverCommand(a *app) *cobra.Command {
	var f crossoverFlags
	c := &cobra.Command{
		Use:   "crossover DATA --a SPEC --b SPEC --epsilons LIST",
		Short: "Find the epsilon below which a simple model beats a complex one",
		Long: `Measure the crossover epsilon of two or more configurations, from simple to complex: the
largest epsilon at which the simple one is better. Use the simple one below it and the
complex one above it. It is 0 if the simple one never wins.

Each configuration is tuned at each epsilon before it is compared. All see the same
splits and seeds; intervals are bootstrapped over runs.

DATA must be public: built-in (pawl data list), a table whose schema says public, or
images that the ledger declares public. All runs on public data are simulations, and the
results are not private. For sensitive DATA, the command shows what charging every run
would cost. --stand-in compares on public rows instead; --pay E charges every run in
the ledger, if all of them together cost at most E.

SPEC is a list of terms joined by +:
` + wordList() + `

--tune rule sets learning rates by a data-free rule that depends on epsilon; grid takes the best of
` + factorList() + ` times that rate, by one run on a sixth of the training rows;
common-rate also measures each of --rates for all configurations, to show the effect of
one common learning rate.
--metric compares by another metric of each run's score, at no further cost; with more than
two classes, log-loss and brier are of the predicted class. A charged run is stored with its
metric: another metric charges every run again.
--rows repeats the measurement with fewer training rows and fits
epsilon = ln(alpha + beta/rows).

Finished runs are stored in --out: run the command again to continue.`,
		Example: `  pawl crossover mnist --a logistic --b mnist-paw-cnn --epsilons 0.1,0.2,0.35,0.5,0.75,1,2
  pawl crossover adult --target income --a features:6 --b features:all --epsilons 1,5,10,20,50 --at 10
  pawl crossover mnist --a rwt-cnn --b rwt-cnn+rwt=4 --epsilons 0.2,0.5,1,2 --json
  pawl crossover patients.csv --schema patients.yaml --target ill --a linear --b ebm --epsilons 0.1,1 --stand-in adult`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.seeds == 0 && c.Flags().Changed("seeds") {
				return mistake("--seeds must be at least 2: an interval needs two runs", "example: --seeds 5")
			}
			return inItsOwnWords(againstCopies(a, &f.Table.Copies, func() error { once := f; return runCrossover(c.Context(), a, args[0], &once) }))
		},
	}
	s := c.Flags()
	s.StringVar(&f.a, "a", "", "simple configuration (required)")
	s.StringVar(&f.b, "b", "", "complex configuration (required)")
	s.StringArrayVar(&f.more, "c", nil, "a more complex configuration; may be repeated")
	s.StringVar(&f.epsilons, "epsilons", "", "epsilons to measure, in increasing order, such as 0.1,0.3,1,3 (required)")
	s.StringVar(&f.at, "at", "", "your epsilon: recommend a configuration for it, with confidence (also measured)")
	s.IntVar(&f.seeds, "seeds", 0, "runs per configuration and epsilon (default 5 on tables, 3 on images)")
	s.IntVar(&f.plain, "plain", -1, "runs without noise, to show the cost of privacy; 0 for none (default: --seeds on tables, 2 on images)")
	s.StringVar(&f.tune, "tune", "rule", "how learning rates are set: rule, grid or common-rate")
	s.StringVar(&f.metric, "metric", "", "compare by accuracy, balanced-accuracy, log-loss or brier, of a number by mae or rmse (default accuracy, mae)")
	s.StringVar(&f.rates, "rates", "", "learning rates of --tune common-rate, such as 0.1,1")
	s.StringVar(&f.rows, "rows", "", "also measure with these numbers of training rows, in increasing order, such as 5000,10000,20000")
	s.Float64Var(&f.reach, "reach", 0, "score, as a fraction, whose epsilon is fitted over --rows (default: one that all reach)")
	s.Float64Var(&f.confidence, "confidence", 0.95, "confidence level of all intervals")
	s.StringVar(&f.StandIn, "stand-in", "", "compare on this instead of DATA: a built-in data set, or a file of public or synthetic rows with DATA's schema")
	s.StringVar(&f.Pay, "pay", "", "on sensitive DATA: charge every run, if all together cost at most this epsilon")
	updatedFlag(s, &f.Updated, "with --pay: ")
	unitsFlags(c, &f.Table.Copies.SameAs, &f.Table.Copies.Different, &f.Table.Copies.Reason)
	imageFlags(s, &f.Labels, &f.Classes, &f.Images, "images")
	s.StringVar(&f.Table.Delta, "delta", "", "failure probability delta (default: largest power of ten up to 1/(10·rows))")
	schemaFlag(s, &f.Table.Schema)
	s.StringVar(&f.Table.Target, "target", "", "column to predict (built-in data sets have a default)")
	s.StringVar(&f.Table.Test, "test", "", "public test file to score on (default: a split per seed, or the official test set of a built-in)")
	badRowsFlag(s, &f.Table.BadRows)
	s.StringVar(&f.out, "out", "pawl-out/crossover", "directory for the page, the plot and finished runs")
	return c
}

// inItsOwnWords mends hints that name flags of fit: a configuration is words here.
func inItsOwnWords(err error) error {
	var wrong *workflow.UsageError
	if !errors.As(err, &wrong) {
		return err
	}
	hint, _, _ := strings.Cut(wrong.Advice, ", or --allow-large-delta")
	for _, flag := range []string{"--model", "--features", "--epsilon ", "--workflow"} {
		if strings.Contains(hint, flag) {
			hint = "change the configurations or --epsilons; pawl crossover --help lists the terms"
		}
	}
	if hint == wrong.Advice {
		return err
	}
	return mistake(wrong.Msg, hint)
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

func basisDesk(a *app) *basis.Desk {
	return &basis.Desk{OpenLedger: a.openLedger, DataDir: a.dataDir, Note: a.note, Progress: a.err}
}

func runCrossover(ctx context.Context, a *app, data string, f *crossoverFlags) error {
	study, err := f.study()
	if err != nil {
		return err
	}
	on, err := basisDesk(a).Open(ctx, data, &f.Request, study)
	if err != nil {
		return err
	}
	study.Data = on.Data
	study.Data.By = workflow.Metric(f.metric)
	f.counts(study)
	if err := study.Check(); err != nil {
		return err
	}
	if on.Data.Paid() && f.Pay == "" {
		return on.Refuse(ctx, study)
	}
	kept, err := openKept(ctx, a, study, on, f)
	if err != nil {
		return err
	}
	start := time.Now()
	all := study.Trainings()
	known := study.Known()
	fmt.Fprintf(a.err, "%s\n%d training runs", on.Words, all)
	if known > 0 {
		fmt.Fprintf(a.err, "; %d are stored from earlier calls in %s", known, f.out)
	}
	fmt.Fprintln(a.err)
	begun := known
	kept.Progress = func(cell string) {
		begun++
		if on.Data.Paid() {
			// How long a run takes depends on the number of rows.
			fmt.Fprintf(a.err, "%d/%d  %s\n", begun, all, cell)
			return
		}
		fmt.Fprintf(a.err, "%6s  %d/%d  %s\n", time.Since(start).Round(time.Second), begun, all, cell)
	}
	r, err := study.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err := fmt.Errorf("%w: %d training runs are stored in %s; run the same command to continue", context.Canceled, kept.Kept(), f.out)
		if on.Data.Paid() {
			err = fmt.Errorf("%w; they are not charged again, but an interrupted run stays charged", err)
		}
		return err
	}
	if err != nil {
		return err
	}
	on.Booked = kept.Measured()
	v := crossover.NewView(study, r, crossover.Shown{Setting: on.Words, StandsFor: on.StandsFor, Charges: &on.Charges, Took: time.Since(start), Dir: f.out})
	if err := v.Write(); err != nil {
		return request.CannotWrite(f.out, err)
	}
	return a.print(v, v.Text)
}

// openKept opens the file of finished runs. Before a paid one is begun all of them must be
// admitted.
func openKept(ctx context.Context, a *app, study *crossover.Study, on *basis.Compared, f *crossoverFlags) (*cells.File, error) {
	version, err := build.Digest()
	if err != nil {
		return nil, err
	}
	name := "crossover-" + on.Data.Name
	if on.Data.Paid() {
		// What was paid for holds whatever program reads it.
		name, version = name+"-paid", "paid"
		kept, err := cells.Read(name, "runs", version, f.out)
		if err != nil {
			return nil, err
		}
		if kept.Unread() {
			return nil, mistakef("restore it, or move it away to be charged for all runs again", "%s is damaged, and it holds charged runs", kept.Path())
		}
		study.Cells = kept
		if err := basisDesk(a).Admit(ctx, study, on, f.Pay); err != nil {
			return nil, err
		}
	}
	kept, err := cells.Open(name, "runs", version, f.out)
	if err == nil {
		if kept.Aside() != "" {
			a.note(damaged(kept))
		} else if kept.Unread() {
			fmt.Fprintf(a.err, "%s is from another version of pawl: its runs are measured again\n", kept.Path())
		}
		err = kept.Save()
	}
	if err != nil {
		return nil, mistakef("choose another directory with --out", "%s cannot be written: %v", f.out, err)
	}
	study.Cells = kept
	return kept, nil
}

// study reads the flags but the data.
func (f *crossoverFlags) study() (*crossover.Study, error) {
	s := &crossover.Study{Seeds: f.seeds, Plain: f.plain, Tuning: crossover.Tuning(f.tune), Delta: f.Table.Delta, Reach: f.reach, Confidence: f.confidence}
	for _, one := range []struct{ flag, text string }{{"--a", f.a}, {"--b", f.b}} {
		if one.text == "" {
			return nil, mistake("pawl crossover: missing "+one.flag, "example: --a logistic --b mnist-paw-cnn; pawl crossover --help lists the terms")
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
		return nil, mistake("pawl crossover: --out is empty", "example: --out comparison")
	}
	if f.epsilons == "" {
		return nil, mistake("pawl crossover: missing --epsilons", "example: --epsilons 0.1,0.3,1,3")
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
				return nil, mistakef("example: --rows 5000,10000", "--rows: %g is not a number of rows", n)
			}
			s.Rows = append(s.Rows, int(n))
		}
	}
	if f.at != "" {
		if s.At, err = strconv.ParseFloat(f.at, 64); err != nil || !(s.At > 0) || math.IsInf(s.At, 0) {
			return nil, mistakef("example: --at 0.5", "--at %q: want an epsilon above 0", f.at)
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
		return nil, mistake("--confidence must be between 0.5 and 1", "example: --confidence 0.95")
	case f.reach < 0 || math.IsNaN(f.reach) || math.IsInf(f.reach, 0):
		return nil, mistake("--reach must be a score between 0 and 1", "example: --reach 0.85")
	case f.reach != 0 && f.rows == "":
		return nil, mistake("--reach needs --rows", "example: --rows 5000,10000,20000")
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
			return nil, mistakef("example: "+flag+" "+listExample[flag], "%s: %q is not a number above 0", flag, strings.TrimSpace(one))
		}
		all = append(all, v)
	}
	return all, nil
}
