package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/internal/build"
	"pawl/report"
	"pawl/report/trials"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/study"
	"pawl/store"
	"pawl/workflow"
)

// studies is the folder of the user's studies, beside his ledger.
func studies() (string, error) {
	own, err := store.Own()
	return filepath.Join(filepath.Dir(own), "studies"), err
}

// planTableHunt prices a search of models of a table.
func (a *app) planTableHunt(ctx context.Context, l *ledger.Ledger, data string, f *searchFlags, s *space.Space, strategy search.Strategy) (*hunted, error) {
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.batch != 0, "--batch"}, {f.epochs != 0, "--epochs"}, {f.clippingNorm != 0, "--clipping-norm"}, {f.frontEnd != "", "--front-end"}, {f.augment != 0, "--augment"},
		{f.trainFlags.model != "", "--model"}} {
		if c.given {
			return nil, &usageError{c.flag + " is for images, and this is a table", "leave it out"}
		}
	}
	t := f.table
	t.epsilon, t.delta, t.accountant, t.preset, t.seed, t.target = f.epsilon, f.delta, f.accountant, f.preset, f.seed, f.target
	t.updated, t.allowLargeDelta, t.copies = f.updated, f.allowLargeDelta, f.copies
	t.workflow, t.model = "paw", "auto"
	if t.badRows == "" {
		t.badRows = "refuse"
	}
	j, in, err := a.openTable(ctx, l, data, &t)
	if err != nil {
		return nil, err
	}
	if in.Test, j.test, err = a.openTest(ctx, l, j.source, t.test, j.bad); err != nil {
		return nil, err
	}
	in.AsPublished = f.asPublished
	settings := workflow.SearchSettings{Space: s, Strategy: strategy}
	if t.kinds != nil {
		settings.Rules = []advise.Rule{*t.kinds}
	}
	plan, err := workflow.NewTableSearchPlan(in, settings)
	if err != nil {
		return nil, err
	}
	return &hunted{plan: plan, seed: in.Seed, name: j.source.Name, digested: j.digested, seal: func(ctx context.Context, l *ledger.Ledger) (workflow.Env, error) {
		j.plan = plan
		return a.environment(ctx, l, j, &t)
	}}, nil
}

// findStudy is the folder of the study that the command is, or would be, and its record,
// nil where there is none yet. A study that is finished, or another search, is refused.
func (h *hunted) findStudy(env workflow.Env, f *searchFlags, kind string) (folder, name string, r *study.Record, err error) {
	root, err := studies()
	if err != nil {
		return "", "", nil, err
	}
	name = f.study
	spec := h.plan.Spec(env)
	if name == "" {
		if name, err = freeName(root, fmt.Sprintf("%s-%s-%s", h.name, h.plan.Space().Name(), kind), spec); err != nil {
			return "", "", nil, err
		}
	}
	if err := study.CheckName(name); err != nil {
		return "", "", nil, &usageError{err.Error(), "--study NAME"}
	}
	folder = filepath.Join(root, name)
	r, err = study.LoadRecord(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return folder, name, nil, nil
	case err != nil:
		return "", "", nil, &usageError{err.Error(), "name another study with --study NAME"}
	case r.Running() && study.Earlier(folder):
		return "", "", nil, &usageError{fmt.Sprintf("study %q was started by an earlier version of pawl and cannot be continued by this one", name), "start a new study with another --study NAME, which is charged again; earlier charges remain"}
	case r.Spec != spec:
		return "", "", nil, &usageError{fmt.Sprintf("study %q is a different search", name), "give this search another --study NAME, or repeat the command of that study"}
	case !r.Running():
		if err := study.Clean(folder); err != nil { // a crash may have left its secrets
			return "", "", nil, err
		}
		return "", "", nil, &usageError{fmt.Sprintf("study %q is finished", name), fmt.Sprintf("pawl study show %s; for a new search, use another --study NAME, which is charged again", name)}
	}
	return folder, name, r, nil
}

// runStudy opens or makes the folder of a study and runs the plan in it.
func (a *app) runStudy(ctx context.Context, h *hunted, env workflow.Env, f *searchFlags, kind string, now time.Time) (err error) {
	if env.Software, err = build.Software(); err != nil {
		return err
	}
	folder, name, r, err := h.findStudy(env, f, kind)
	if err != nil {
		return err
	}
	if r == nil {
		r = &study.Record{Name: name, Dataset: h.name, Public: h.plan.Public(), Space: h.plan.Space().Name(), Strategy: kind, Spec: h.plan.Spec(env), Started: now.UTC()}
		if err := r.Save(folder); err != nil {
			return fmt.Errorf("the study could not be recorded, and nothing was charged: %w", err)
		}
	}
	if env.Study, err = openStudy(folder); err != nil {
		return err
	}
	defer env.Study.Close()
	if n := len(env.Study.Lines()); n > 0 {
		// That there are trials is said by the time that has passed; how many is not.
		fmt.Fprintf(a.err, "continuing study %s: finished work is kept, and nothing is charged again\n", name)
	} else {
		fmt.Fprintf(a.err, "study %s\n", name)
	}
	var recording error
	err = a.finishWith(ctx, h.plan, env, f.out, func(s *report.Statement) { recording = finishStudy(r, h.plan, folder, env.Study, s) })
	if (ctx.Err() != nil || errors.Is(err, study.ErrUnrecorded)) && err != nil {
		return fmt.Errorf("%w; run the same command to continue study %s", err, name)
	}
	if errors.Is(err, study.ErrNothing) {
		// Charged, and nothing came of it: the same trials would fail again.
		r.Finish(time.Now())
		recording = errors.Join(r.Save(folder), env.Study.Erase())
	}
	return errors.Join(err, recording)
}

// finishStudy records what a study released, as soon as its files are written, and
// erases what it does not.
func finishStudy(r *study.Record, plan *workflow.Plan, folder string, kept *study.Folder, s *report.Statement) (err error) {
	r.Finish(time.Now())
	if r.Outcome, err = json.Marshal(s); err != nil {
		return err
	}
	if r.Public && plan.Public() {
		r.Trials = kept.Lines()
		for i := range r.Trials {
			t := &r.Trials[i]
			// A size that cannot be told leaves a gap in a plot.
			t.Parameters, _ = plan.CandidateParameters(t.Candidate)
		}
	}
	return errors.Join(r.Save(folder), kept.Erase())
}

// freeName is base, or base with a number, so that it names no finished or other study.
func freeName(root, base, spec string) (string, error) {
	for i := 1; i < 10_000; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		r, err := study.LoadRecord(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && r.Running() && r.Spec == spec && !study.Earlier(filepath.Join(root, name)) {
			return name, nil
		}
		if err != nil && !errors.Is(err, study.ErrEdited) {
			return "", err
		}
	}
	return "", &usageError{"there are too many studies with this name", "--study NAME"}
}

func (a *app) studyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "study",
		Short: "List, show and export searches",
		Long: `List, show and export the studies of pawl search and pawl tune. They are kept beside the
ledger, readable only by you. A study on sensitive data keeps only the plan and the
winner; a study on public data keeps every trial.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Sprintf("pawl study: unknown command %q", args[0]), "commands: list, show, export"}
			}
			return c.Help()
		},
		Args: cobra.ArbitraryArgs,
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
				return &usageError{"pawl study export: missing --output", "example: --output study.html"}
			}
			if _, err := os.Lstat(output); err == nil {
				return &usageError{fmt.Sprintf("%s exists already", output), "choose a new file or folder"}
			}
			return trials.Export(r, format, output)
		},
	}
	export.Flags().StringVar(&format, "format", "csv", "csv, html (parallel coordinates) or mlflow")
	export.Flags().StringVar(&output, "output", "", "output file, or folder for mlflow (required)")
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List studies", Args: exactArgs(), RunE: func(*cobra.Command, []string) error { return a.listStudies() }},
		&cobra.Command{Use: "show STUDY", Short: "Show a study", Args: exactArgs("STUDY"), RunE: func(_ *cobra.Command, args []string) error { return a.showStudy(args[0]) }},
		export)
	return c
}

func loadStudy(name string) (*study.Record, error) {
	root, err := studies()
	if err != nil {
		return nil, err
	}
	if err := study.CheckName(name); err != nil {
		return nil, &usageError{err.Error(), "pawl study list shows the names"}
	}
	r, err := study.LoadRecord(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{fmt.Sprintf("unknown study %q", name), "pawl study list shows the names"}
	}
	return r, err
}

func (a *app) listStudies() error {
	root, err := studies()
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

func (a *app) showStudy(name string) error {
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
	fmt.Fprintln(a.out, "\ntrials (public data; on sensitive data, only the winner is kept)")
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
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%s\t%s\n", t.Number, score, t.Seconds, parameters, candidateText(t.Candidate))
	}
	return w.Flush()
}

// candidateText writes a candidate's JSON as a person reads it.
func candidateText(text string) string {
	var values map[string]any
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return text
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, values[name]))
	}
	return strings.Join(parts, " ")
}
