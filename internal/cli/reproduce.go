package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/compute/kernel"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/evidence/cells"
	"pawl/experiments"
	"pawl/experiments/book"
	"pawl/experiments/runners"
	"pawl/internal/build"
)

func reproduceCommand(a *app) *cobra.Command {
	var scale string
	var f replayFlags
	c := &cobra.Command{
		Use:   "reproduce list | NAME | all",
		Short: "Reproduce a table or figure of the papers beside our own figures",
		Long: `Reproduce a table or figure of the papers: the published value, ours with the published
procedure, ours with a sound procedure, and a baseline, each with its interval and a
verdict.

Columns "as published" run on public data and have no privacy guarantee. Finished cells
are stored under --out: run the command again to continue. --store writes the table with its
cells, data, machine and versions as one small file, for pawl reproduce show and check.
With --nats, workers (pawl worker) measure the cells.`,
		Example: `  pawl reproduce list
  pawl reproduce table-10 --scale quick
  pawl reproduce table-10 --scale quick --store experiments/book/results
  pawl reproduce show table-10
  pawl reproduce check table-10`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(experiments.Scales, experiments.Scale(scale)) {
				return mistakef("smoke only checks that it runs; paper uses as many repetitions as the paper", "scale %q: want smoke, quick or paper", scale)
			}
			f.scale = experiments.Scale(scale)
			return reproduceOne(c.Context(), a, args[0], f)
		},
	}
	c.Flags().StringVar(&scale, "scale", "quick", "number of repetitions: smoke, quick or paper")
	c.Flags().StringVar(&f.out, "out", "pawl-out/reproduce", "directory for tables and finished cells")
	c.Flags().StringVar(&f.store, "store", "", "directory for the stored result (NAME.json), which replaces an earlier one")
	brokerFlags(c, &f.Broker)
	c.AddCommand(reproduceShowCommand(a), reproduceCheckCommand(a))
	return c
}

// replayFlags are how a replay is run and where it is written.
type replayFlags struct {
	scale      experiments.Scale
	out, store string
	pawl.Broker
}

func reproduceOne(ctx context.Context, a *app, name string, f replayFlags) error {
	all := runners.All()
	switch name {
	case "list":
		return listExperiments(a, all.List())
	case "all":
		return reproduceAll(ctx, a, all.List(), f)
	}
	e, err := lookupReplay(name)
	if err != nil {
		return err
	}
	t, err := replayOne(ctx, a, e, f)
	if err != nil {
		return err
	}
	return a.print(t, func(w io.Writer) error { return experiments.Text(w, t) })
}

func lookupReplay(name string) (experiments.Experiment, error) {
	all := runners.All()
	e, ok := all.Lookup(name)
	if ok {
		return e, nil
	}
	var names []string
	for _, e := range all.List() {
		names = append(names, e.Name)
	}
	return e, mistakef(schema.Meant(name, names, "pawl reproduce list shows all"), "unknown table or figure %q", name)
}

// reproduceAll goes on when data of one replay are missing, and says so.
func reproduceAll(ctx context.Context, a *app, all []experiments.Experiment, f replayFlags) error {
	tables := []*experiments.Table{}
	for _, e := range all {
		t, err := replayOne(ctx, a, e, f)
		var missing *dataset.FileError
		if errors.As(err, &missing) {
			fmt.Fprintf(a.err, "note: skipping %s: %s\n", e.Name, message(err))
			continue
		}
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"tables": tables})
	}
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		if err := experiments.Text(a.out, t); err != nil {
			return err
		}
	}
	return nil
}

// replayOne runs one experiment and leaves its table in a file beside the cells.
func replayOne(ctx context.Context, a *app, e experiments.Experiment, f replayFlags) (*experiments.Table, error) {
	scale, out := f.scale, f.out
	if f.store != "" {
		if brokerAddress(f.Broker).Given() {
			return nil, mistake("--store and --nats: a stored result names the one machine that measured it", "leave one of them out")
		}
		if err := os.MkdirAll(f.store, 0o755); err != nil {
			return nil, mistakef("choose another directory", "--store: %v", err)
		}
	}
	build, err := build.Digest()
	if err != nil {
		return nil, err
	}
	// Cells of another kernel differ in their last bits.
	r, err := experiments.NewRun(e.Name, scale, build+" "+kernel.Name(), out)
	if err != nil {
		return nil, mistakef("choose another directory with --out", "%s cannot be written: %v", out, err)
	}
	if r.Aside() != "" {
		a.note(damaged(r.File))
	}
	if f.store != "" {
		if err := book.OneMachine(e.Name, r); err != nil {
			return nil, err
		}
	}
	r.DataDir = a.dataDir
	if err := e.Find(scale, a.dataDir); err != nil {
		return nil, err
	}
	start := time.Now()
	fmt.Fprintf(a.err, "%s, scale %s", e.Name, scale)
	if scale == experiments.Quick {
		length, err := lengthOf(e)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(a.err, ", about %s on %s", length.time(), cmp.Or(length.Measured, "two cores"))
	}
	if n := r.Kept(); n > 0 {
		fmt.Fprintf(a.err, "; %d cells are stored from an earlier run", n)
	}
	fmt.Fprintln(a.err)
	r.Progress = func(cell string) {
		fmt.Fprintf(a.err, "%6s  %s\n", time.Since(start).Round(time.Second), cell)
	}
	if brokerAddress(f.Broker).Given() {
		if err := measureElsewhere(ctx, a, f.Broker, e, r); err != nil {
			return nil, err
		}
	}
	t, err := experiments.Replay(ctx, e, r)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(out, fmt.Sprintf("%s-%s.json", e.Name, scale))
	err = writeFile(path, true, func(w io.Writer) error {
		return writeJSON(w, t)
	})
	if err != nil || f.store == "" {
		return t, err
	}
	result, err := book.New(e, r, t, book.StandIn(e.Name), time.Now())
	if err != nil {
		return nil, err
	}
	return t, writeFile(filepath.Join(f.store, result.File()), true, result.Encode)
}

// damaged says what becomes of a file of cells that cannot be read.
func damaged(r *cells.File) string {
	return fmt.Sprintf("%s is damaged: its cells are measured again; the damaged file is kept as %s", r.Path(), filepath.Base(r.Aside()))
}

// length is how long the quick scale takes: as a stored result has it, or else as the replay says of itself.
type length struct {
	Seconds  int    `json:"quick_seconds"`
	Measured string `json:"measured_on,omitempty"`
}

func (l length) time() string { return (time.Duration(l.Seconds) * time.Second).String() }

func lengthOf(e experiments.Experiment) (length, error) {
	b, err := book.Open("")
	if err != nil {
		return length{}, err
	}
	if !b.Has(e.Name) {
		return length{Seconds: e.Quick}, nil
	}
	r, err := b.Result(e.Name, experiments.Quick)
	if err != nil {
		return length{}, err
	}
	m := r.Machine
	return length{int(math.Ceil(60 * r.Minutes)), fmt.Sprintf("%d cores of %s with kernel %s", m.Cores, m.System, m.Kernel)}, nil
}

func listExperiments(a *app, all []experiments.Experiment) error {
	papers := book.Catalogue()
	type view struct {
		Name   string   `json:"name"`
		Title  string   `json:"title"`
		Source string   `json:"source"`
		Data   []string `json:"data"`
		length
	}
	views, lengths := []view{}, map[string]length{}
	for _, e := range all {
		l, err := lengthOf(e)
		if err != nil {
			return err
		}
		lengths[e.Name] = l
		views = append(views, view{e.Name, e.Title, e.Source, e.Data, l})
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"experiments": views, "papers": papers})
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	var machines []string
	for _, p := range papers {
		fmt.Fprintf(w, "%s\n", p.Title)
		for _, e := range p.Entries {
			about := ""
			if l, ok := lengths[e.Replay]; ok {
				about = ", quick: about " + l.time()
				if l.Measured == "" {
					about += " by estimate"
				} else if !slices.Contains(machines, l.Measured) {
					machines = append(machines, l.Measured)
				}
			}
			fmt.Fprintf(w, "  %s\t%s\t%s%s\n", e.Name, e.Shows, e.Where(), about)
		}
	}
	fmt.Fprintf(w, "Times are those of stored results (%s); estimates are for two cores.\n", strings.Join(machines, "; "))
	return w.Flush()
}
