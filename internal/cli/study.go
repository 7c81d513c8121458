package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/internal/request"
	"pawl/report"
	"pawl/report/trials"
	"pawl/search/study"
)

func studyCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "study",
		Short: "List, show, watch and export searches",
		Long: `List, show, watch and export the studies of pawl search and pawl tune. They are stored beside the
ledger, readable only by you. For a study on sensitive data, only the plan and the winner
are stored; for a study on public data, every trial.`,
	}
	var format, output string
	export := &cobra.Command{
		Use: "export STUDY --format F --output PATH", Short: "Export a study as CSV, HTML or MLflow files",
		Example: "  pawl study export mnist-fcn-paas --format html --output study.html",
		Args:    exactArgs("STUDY"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := loadStudy(args[0])
			if err != nil {
				return err
			}
			if output == "" {
				return mistake("pawl study export: missing --output", "example: --output study.html")
			}
			if _, err := os.Lstat(output); err == nil {
				return mistakef("choose a new file or folder", "%s exists already", output)
			}
			return trials.Export(r, format, output)
		},
	}
	export.Flags().StringVar(&format, "format", "csv", "csv, html (parallel coordinates) or mlflow")
	export.Flags().StringVar(&output, "output", "", "output file, or folder for mlflow (required)")
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List studies", Args: exactArgs(), RunE: func(*cobra.Command, []string) error { return listStudies(a) }},
		&cobra.Command{Use: "show STUDY", Short: "Show a study", Args: exactArgs("STUDY"), RunE: func(_ *cobra.Command, args []string) error { return showStudy(a, args[0]) }},
		&cobra.Command{Use: "watch STUDY", Short: "Watch a running study", Long: `Follow a study until it has finished. On public data, each training run is shown when it is
done. On sensitive data, only the stage and the time expected at the start are shown: the
number of training runs is secret, and so is progress.`, Args: exactArgs("STUDY"),
			RunE: func(c *cobra.Command, args []string) error { return watchStudy(c.Context(), a, args[0]) }},
		export)
	return c
}

func loadStudy(name string) (*study.Record, error) {
	root, err := request.Studies()
	if err != nil {
		return nil, err
	}
	if err := study.CheckName(name); err != nil {
		return nil, mistake(err.Error(), "pawl study list shows the names")
	}
	r, err := study.LoadRecord(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mistakef("pawl study list shows the names", "unknown study %q", name)
	}
	return r, err
}

func listStudies(a *app) error {
	root, err := request.Studies()
	if err != nil {
		return err
	}
	all, err := study.Records(root)
	if err != nil {
		return err
	}
	if a.json {
		if all == nil {
			all = []*study.Record{}
		}
		for _, r := range all {
			r.Trials, r.Outcome = nil, nil
		}
		return writeJSON(a.out, all)
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "study\tdata\tspace\tstrategy\tstarted\tstate")
	for _, r := range all {
		state := "finished"
		if r.Running() {
			state = "not finished: run the same command to continue"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Dataset, r.Space, r.Strategy, r.Started.Format("2006-01-02 15:04"), state)
	}
	return w.Flush()
}

// watchStudy follows a study. What it shows of one on sensitive data was fixed before it began.
func watchStudy(ctx context.Context, a *app, name string) error {
	r, err := loadStudy(name)
	if err != nil {
		return err
	}
	root, err := request.Studies()
	if err != nil {
		return err
	}
	if r.Running() {
		fmt.Fprintf(a.err, "study %s on %s, started %s", r.Name, r.Dataset, r.Started.Format(time.RFC3339))
		if r.Expected > 0 {
			fmt.Fprintf(a.err, ", expected to take about %s", time.Duration(r.Expected*float64(time.Second)).Round(time.Second))
		}
		fmt.Fprintln(a.err, "; press Ctrl-C to stop watching")
	}
	shown := 0
	for r.Running() {
		done, err := r.Done(filepath.Join(root, name))
		if err != nil {
			return err
		}
		for ; shown < len(done); shown++ {
			if err := showTrial(a, done[shown]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500 * time.Millisecond):
		}
		if r, err = loadStudy(name); err != nil {
			return err
		}
	}
	for ; shown < len(r.Trials); shown++ {
		if err := showTrial(a, r.Trials[shown]); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "finished; pawl study show %s\n", name)
	return nil
}

func showTrial(a *app, l study.Line) error {
	if a.json {
		return json.NewEncoder(a.out).Encode(l)
	}
	score := fmt.Sprintf("%.4f", l.Score)
	if l.Failed {
		score = "failed"
	}
	_, err := fmt.Fprintf(a.out, "%d\t%s\t%.1fs\t%s\n", l.Number, score, l.Seconds, l.Candidate)
	return err
}

func showStudy(a *app, name string) error {
	r, err := loadStudy(name)
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, r)
	}
	fmt.Fprintf(a.out, "study     %s\ndata      %s\nspace     %s\nstrategy  %s\nstarted   %s\n", r.Name, r.Dataset, r.Space, r.Strategy, r.Started.Format(time.RFC3339))
	if r.Running() {
		fmt.Fprintln(a.out, "state     not finished: run the same command to continue at no further cost")
		return nil
	}
	shown := time.RFC3339
	if !r.Public {
		shown = time.DateOnly
	}
	fmt.Fprintf(a.out, "finished  %s\n\n", r.Finished.Format(shown))
	if len(r.Outcome) == 0 {
		fmt.Fprintln(a.out, "outcome   no candidate could be trained; charges remain")
		return nil
	}
	var s report.Statement
	if err := json.Unmarshal(r.Outcome, &s); err != nil {
		return fmt.Errorf("study %s: %w", name, err)
	}
	if err := report.Text(a.out, &s); err != nil {
		return err
	}
	if len(r.Trials) == 0 {
		return nil
	}
	fmt.Fprintln(a.out, "\ntrials (public data; on sensitive data, only the winner is stored)")
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "trial\tscore\tseconds\tparameters\tcandidate")
	for _, t := range r.Trials {
		score := fmt.Sprintf("%.4f", t.Score)
		if t.Failed {
			score = "failed"
		}
		parameters := "-"
		if t.Parameters > 0 {
			parameters = strconv.Itoa(t.Parameters)
		}
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%s\t%s\n", t.Number, score, t.Seconds, parameters, t.Words())
	}
	return w.Flush()
}
