package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/evidence/advise"
	"pawl/evidence/menu"
	"pawl/experiments"
	"pawl/internal/request"
)

// measureFlags narrow what `pawl advise measure` measures.
type measureFlags struct {
	file, scale, data, epsilons, entries, preset string
	pawl.Broker
}

func adviseMeasureCommand(a *app) *cobra.Command {
	var f measureFlags
	c := &cobra.Command{
		Use:   "measure --file menu.csv",
		Short: "Measure every learner on public data sets",
		Long: `Measure the score of every learner and network that pawl fit can choose, on public data
sets, at epsilon from 0.1 to 8 (lower on small tables). The file is written after each
cell, and cells with enough runs are not measured again: run the command again to continue. With --nats,
workers (pawl worker) measure the cells.`,
		Example: "  pawl advise measure --file menu.csv --data wdbc,insurance --scale quick",
		Args:    exactArgs(),
		RunE:    func(c *cobra.Command, _ []string) error { return adviseMeasure(c.Context(), a, &f) },
	}
	s := c.Flags()
	s.StringVar(&f.file, "file", "menu.csv", "file of measurements to fill")
	s.StringVar(&f.scale, "scale", "quick", "smoke, quick or paper: number of runs per cell")
	s.StringVar(&f.data, "data", "", "data sets, separated by commas (default: all)")
	s.StringVar(&f.epsilons, "epsilons", "", "epsilons, separated by commas (default: those of the table)")
	s.StringVar(&f.preset, "preset", "balanced", "images: quick (half the epochs) or balanced")
	s.StringVar(&f.entries, "entries", "", "learners or networks, separated by commas (default: all)")
	brokerFlags(c, &f.Broker)
	return c
}

func adviseMeasure(ctx context.Context, a *app, f *measureFlags) error {
	j := menu.Job{Scale: experiments.Scale(f.scale), DataDir: a.dataDir, Data: list(f.data), Entries: list(f.entries), Preset: advise.Preset(f.preset)}
	if j.Preset != advise.Quick && j.Preset != advise.Balanced {
		return mistakef("quick halves the epochs of images", "preset %q: want quick or balanced", f.preset)
	}
	if !slices.Contains(experiments.Scales, j.Scale) {
		return mistakef("quick takes minutes on small tables", "scale %q: want smoke, quick or paper", f.scale)
	}
	for _, name := range j.Data {
		if _, ok := menu.Find(name); !ok {
			return mistakef("data sets: "+strings.Join(menuData(), ", "), "the table has no data set %q", name)
		}
	}
	for _, s := range list(f.epsilons) {
		e, err := strconv.ParseFloat(s, 64)
		if err != nil || !(e > 0) || math.IsInf(e, 0) {
			return mistake("--epsilons takes numbers above 0, separated by commas", "example: --epsilons 0.1,1")
		}
		j.Epsilons = append(j.Epsilons, e)
	}
	var table advise.Menu
	content, err := os.ReadFile(f.file)
	if err == nil {
		if table, err = advise.ReadMenu(bytes.NewReader(content)); err != nil {
			return mistakef("choose another file with --file", "%s is not a file of measurements: %v", f.file, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if brokerAddress(f.Broker).Given() {
		errands, err := openErrands(ctx, a, f.Broker, menuErrands, menuJob{j.Scale, j.Preset})
		if err != nil {
			return err
		}
		defer errands.Close()
		var here sync.Mutex
		j.Elsewhere = func(ctx context.Context, c menu.Cell) (m advise.MenuCell, err error) {
			if err = errands.Do(ctx, c, &m); errors.Is(err, request.ErrErrand) {
				here.Lock()
				defer here.Unlock()
				m, err = j.One(ctx, c) // and say why, if it is not for the worker's want of the data
			}
			return m, err
		}
	}
	start := time.Now()
	j.Progress = func(cell string) { fmt.Fprintf(a.err, "%6s  %s\n", time.Since(start).Round(time.Second), cell) }
	j.Save = func(m advise.Menu) error { return writeFile(f.file, true, m.Write) }
	if err := menu.Measure(ctx, j, &table); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d cells in %s\n", len(table), f.file)
	return nil
}

func menuData() []string {
	var names []string
	for _, p := range menu.Problems {
		names = append(names, p.Name)
	}
	return names
}

// list cuts a list with commas; "" is none.
func list(s string) []string {
	if s == "" {
		return nil
	}
	var out []string
	for _, name := range strings.Split(s, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

func adviseMenuCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "menu",
		Short:   "Show the measured score of every learner, and how the advice did",
		Long:    "Show the measured scores of every learner of pawl fit on public data sets, with 95 %\nintervals, and for each cell whether the advice was within one point of the best.",
		Example: "  pawl advise menu",
		Args:    exactArgs(),
		RunE:    func(*cobra.Command, []string) error { return adviseMenu(a) },
	}
}

func adviseMenu(a *app) error {
	check, err := menu.Check(advise.Measured())
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, check)
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, j := range check.Cells {
		fmt.Fprintf(w, "%s\tε %g\tr %.3g\tadvised: %s\t%s\t\n", j.Data, j.Epsilon, j.Ratio, j.Advised, j.Words())
		for _, c := range advise.Measured().At(j.Data, j.Epsilon) {
			low, high := c.Interval()
			fmt.Fprintf(w, "\t\t\t  %s\t%.1f [%.1f, %.1f], %d runs\t\n", c.Entry, c.Mean(), low, high, len(c.Scores))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, check.Summary())
	return err
}

func adviseThresholdsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "thresholds",
		Short:   "Compare the rules' thresholds with the measured scores",
		Long:    "Derive each rule's threshold from the measured scores: the range of thresholds with the\nsmallest mean loss, beside the threshold that the rule uses.",
		Example: "  pawl advise thresholds",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			all := advise.Derive(advise.Measured())
			return a.print(map[string]any{"thresholds": all}, func(w io.Writer) error { return printThresholds(w, all) })
		},
	}
}

func printThresholds(out io.Writer, all []advise.Derived) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "threshold\tin the rules\tmeasured\tagree\tcells\tremark")
	for _, d := range all {
		agree := "yes"
		if !d.Agrees {
			agree = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", d.What, d.RuleWords(), d.TableWords(), agree, d.Cells, d.Remark)
	}
	return w.Flush()
}
