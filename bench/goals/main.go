// Command goals measures what pawl fit reaches on public tables at goals that were set for it, and prints the
// table of both. It runs the plans that the command line runs, with their defaults: all of epsilon trains, and
// test rows, which are public, are scored exactly.
//
//	go run ./bench/goals -wild FOLDER -data-dir FOLDER [-only kc_house,bank] [-runs 5] [-warm 0.1]
//
// -wild names the folder of the tables kc_house and bankfull with schemas/NAME.yaml, -data-dir that of downloaded
// data sets. -warm takes that part of the training rows as a public table to train on first (--public), and prints
// each goal with and without it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"

	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/reader"
	"pawl/workflow"
)

// goal is a score at an epsilon that a table is to reach.
type goal struct {
	data, what string
	epsilon    string
	aim        float64
	// less says that smaller scores are better.
	less bool
	test float64 // the part of the rows that tests, 0 for the official test rows
	// splits says that every run has a split of its own; else noise alone differs.
	splits bool
	delta  string
	score  func(out *workflow.Outcome) float64
}

func explained(out *workflow.Outcome) float64 { return *out.Score.Numbers.R2.Value }
func area(out *workflow.Outcome) float64      { return *out.Score.AUROC.Value }
func right(out *workflow.Outcome) float64     { return 100 * *out.Score.Exact }
func remaining(out *workflow.Outcome) float64 { return *out.Score.Exact / *out.Score.ExactBaseline }

var goals = []goal{
	{data: "kc_house", what: "R²", epsilon: "1", aim: 0.82, test: 0.2, delta: "1e-6", score: explained},
	{data: "kc_house", what: "R²", epsilon: "3", aim: 0.87, test: 0.2, delta: "1e-6", score: explained},
	{data: "bankfull", what: "AUROC", epsilon: "1", aim: 0.901, test: 0.2, delta: "1e-6", score: area},
	{data: "bankfull", what: "AUROC", epsilon: "3", aim: 0.909, test: 0.2, delta: "1e-6", score: area},
	{data: "adult", what: "% right", epsilon: "1", aim: 86.4, delta: "1e-6", score: right},
	{data: "adult", what: "% right", epsilon: "3", aim: 86.8, delta: "1e-6", score: right},
	{data: "adult", what: "% right", epsilon: "8", aim: 87.0, delta: "1e-6", score: right},
	{data: "insurance", what: "error over the mean's", epsilon: "1", aim: 0.25, less: true, test: 1. / 3, splits: true, score: remaining},
	{data: "sms-spam", what: "% right", epsilon: "1", aim: 97.8, test: 874. / 5574, splits: true, score: right},
	{data: "sms-spam", what: "% right", epsilon: "7.2", aim: 98.9, test: 874. / 5574, splits: true, score: right},
}

// targets of the tables that are not built in.
var targets = map[string]string{"kc_house": "price", "bankfull": "y"}

func main() {
	wild := flag.String("wild", os.Getenv("PAWL_WILD"), "folder of kc_house and bankfull (default: PAWL_WILD)")
	dir := flag.String("data-dir", os.Getenv("PAWL_DATA"), "folder of downloaded data sets (default: PAWL_DATA)")
	only := flag.String("only", "", "data sets, with commas between (default: all)")
	runs := flag.Int("runs", 5, "runs of each")
	warm := flag.Float64("warm", 0, "part of the training rows that is taken as public")
	epsilons := flag.String("epsilons", "", "epsilons in place of those of the goals")
	models := flag.String("models", "auto", "learners, with commas between")
	flag.Parse()
	if err := measure(*wild, *dir, *only, *runs, *warm, *epsilons, *models); err != nil {
		fmt.Fprintln(os.Stderr, "goals:", err)
		os.Exit(1)
	}
}

func measure(wild, dir, only string, runs int, warm float64, epsilons, models string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "data\tscore\tε\tr\tmodel\tmean ± sd\taim\treached\t")
	var table *lab.Table
	seen := map[string]bool{}
	for _, g := range goals {
		if only != "" && !slices.Contains(strings.Split(only, ","), g.data) {
			continue
		}
		at := []string{g.epsilon}
		if epsilons != "" {
			if seen[g.data] {
				continue
			}
			at = strings.Split(epsilons, ",")
		}
		seen[g.data] = true
		if table == nil || table.Name != g.data {
			var err error
			if table, err = open(g.data, wild, dir); err != nil {
				return err
			}
		}
		for _, g.epsilon = range at {
			for _, model := range strings.Split(models, ",") {
				parts := []float64{0}
				if warm > 0 {
					parts = append(parts, warm)
				}
				for _, part := range parts {
					if err := g.print(w, table, model, runs, warm, part); err != nil {
						return fmt.Errorf("%s, epsilon %s: %w", g.data, g.epsilon, err)
					}
				}
			}
		}
	}
	return nil
}

// print measures one line. kept is the part of the training rows that the private training leaves out, and
// public the part that it is taught by.
func (g *goal) print(w *tabwriter.Writer, t *lab.Table, model string, runs int, kept, public float64) error {
	var scores []float64
	name, r := "", 0.0
	for seed := range uint64(runs) {
		s := t
		if g.test > 0 {
			split := uint64(777)
			if g.splits {
				split = seed
			}
			s = t.Split(int(math.Round(float64(len(t.Rows))*(1-g.test))), split)
		}
		private := *s
		n := int(kept * float64(len(s.Rows)))
		if private.Rows = s.Rows[n:]; public > 0 {
			private.Open = s.Rows[:n]
		}
		out, err := private.Fit(context.Background(), g.epsilon, g.delta, seed, func(in *workflow.Input) { in.Model = model })
		if err != nil {
			return err
		}
		scores = append(scores, g.score(out))
		name, r = string(out.Recipe.Learner), out.Plan.SignalRatio
	}
	mean, sd := stat.MeanStdDev(scores, nil)
	digits := 4
	if mean > 1 {
		digits = 2
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	reached := "no"
	if g.less != (mean >= g.aim) || mean == g.aim {
		reached = "yes"
	}
	if public > 0 {
		name += fmt.Sprintf(" after %.3g of the rows, public", public)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\t%s ± %s\t%s\t%s\t\n", g.data, g.what, g.epsilon, r, name, number(mean), number(sd), number(g.aim), reached)
	return w.Flush()
}

// open reads a built-in table, or one of the folder wild.
func open(name, wild, dir string) (*lab.Table, error) {
	target, found := targets[name]
	if !found {
		t, err := lab.Open(name, dir)
		if err == nil {
			t.Schema.SetBuckets(advise.TextBuckets)
		}
		return t, err
	}
	if wild == "" {
		return nil, errors.New("name the folder of the table with -wild or PAWL_WILD")
	}
	s, err := schema.Load(filepath.Join(wild, "schemas", name+".yaml"))
	if err != nil {
		return nil, err
	}
	s.Public = true
	file := filepath.Join(wild, name+".csv")
	if _, err := os.Stat(file); err != nil {
		file += ".gz"
	}
	if name == "bankfull" {
		s.File.Delimiter = ";"
	}
	s.IgnoreOthers = true
	t := &lab.Table{Name: name, Target: target, Schema: s}
	return t, reader.Read(file, s, reader.Options{}, func(cells []float64, _ schema.Record) error {
		t.Rows = append(t.Rows, slices.Clone(cells))
		return nil
	})
}
