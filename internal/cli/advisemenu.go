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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/evidence/advise"
	"pawl/experiments"
	"pawl/experiments/menu"
)

// measureFlags narrow what `pawl advise measure` measures.
type measureFlags struct {
	file, scale, data, epsilons, entries, preset string
}

func (a *app) adviseMeasureCommand() *cobra.Command {
	var f measureFlags
	c := &cobra.Command{
		Use:   "measure --file menu.csv",
		Short: "Measure every entry of the menu on public data sets",
		Long: `Measure what every entry of the menu of pawl fit scores on public data sets, at ε from
0.1 to 8 and, on small tables, below. The file is written after each cell, and cells that
have enough runs are kept, so that an interrupted measurement goes on where it stopped.`,
		Example: "  pawl advise measure --file menu.csv --data wdbc,insurance --scale quick",
		Args:    exactArgs(),
		RunE:    func(c *cobra.Command, _ []string) error { return a.adviseMeasure(c.Context(), &f) },
	}
	s := c.Flags()
	s.StringVar(&f.file, "file", "menu.csv", "table to fill")
	s.StringVar(&f.scale, "scale", "quick", "smoke, quick or paper: how many runs a cell has")
	s.StringVar(&f.data, "data", "", "data sets, with commas (default: all)")
	s.StringVar(&f.epsilons, "epsilons", "", "numbers, with commas (default: those of the table)")
	s.StringVar(&f.preset, "preset", "balanced", "of images: quick halves the epochs")
	s.StringVar(&f.entries, "entries", "", "learners or networks, with commas (default: all that are offered)")
	return c
}

func (a *app) adviseMeasure(ctx context.Context, f *measureFlags) error {
	j := menu.Job{Scale: experiments.Scale(f.scale), DataDir: a.dataDir, Data: list(f.data), Entries: list(f.entries), Preset: advise.Preset(f.preset)}
	if j.Preset != advise.Quick && j.Preset != advise.Balanced {
		return &usageError{fmt.Sprintf("preset %q: want quick or balanced", f.preset), "quick halves the epochs of images"}
	}
	if !slices.Contains(experiments.Scales, j.Scale) {
		return &usageError{fmt.Sprintf("scale %q: want smoke, quick or paper", f.scale), "quick takes minutes for small tables"}
	}
	for _, name := range j.Data {
		if _, ok := menu.Find(name); !ok {
			return &usageError{fmt.Sprintf("no data set %q in the table", name), "data sets: " + strings.Join(menuData(), ", ")}
		}
	}
	for _, s := range list(f.epsilons) {
		e, err := strconv.ParseFloat(s, 64)
		if err != nil || !(e > 0) || math.IsInf(e, 0) {
			return &usageError{"--epsilons takes numbers above 0 with commas", "example: --epsilons 0.1,1"}
		}
		j.Epsilons = append(j.Epsilons, e)
	}
	var table advise.Menu
	content, err := os.ReadFile(f.file)
	if err == nil {
		if table, err = advise.ReadMenu(bytes.NewReader(content)); err != nil {
			return &usageError{fmt.Sprintf("%s: is no table of this kind: %v", f.file, err), "name another with --file"}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	start := time.Now()
	j.Progress = func(cell string) { fmt.Fprintf(a.err, "%6s  %s\n", time.Since(start).Round(time.Second), cell) }
	j.Save = func(m advise.Menu) error { return writeFile(f.file, true, m.Write) }
	if err := menu.Measure(ctx, j, &table); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d cells are in %s\n", len(table), f.file)
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

func (a *app) adviseMenuCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "menu",
		Short:   "What every entry of the menu scored, and how the advice did",
		Long:    "Print the measured table: what every entry of the menu of pawl fit scored on public data\nsets, with 95 % intervals, and for each cell whether the advice was within a point of the best.",
		Example: "  pawl advise menu",
		Args:    exactArgs(),
		RunE:    func(*cobra.Command, []string) error { return a.adviseMenu() },
	}
	return c
}

func (a *app) adviseMenu() error {
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

func (a *app) adviseThresholdsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "thresholds",
		Short:   "Thresholds as the measured table gives them, beside those of the rules",
		Long:    "Derive from the measured table where each rule's threshold should lie: the range of\nthresholds whose mean loss is as small as any, beside the threshold that the rules have.",
		Example: "  pawl advise thresholds",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			all := advise.Derive(advise.Measured())
			if a.json {
				return writeJSON(a.out, map[string]any{"thresholds": all})
			}
			return printThresholds(a.out, all)
		},
	}
}

func printThresholds(out io.Writer, all []advise.Derived) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "threshold\tin the rules\tfrom the table\tagree\tcells\tremark")
	for _, d := range all {
		agree := "yes"
		if !d.Agrees {
			agree = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", d.What, d.RuleWords(), d.TableWords(), agree, d.Cells, d.Remark)
	}
	return w.Flush()
}
