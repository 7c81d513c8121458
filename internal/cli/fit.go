package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/reader"
	"pawl/workflow"
)

// fitFlags are shared by fit, plan fit and check.
type fitFlags struct {
	schema, target, epsilon, delta     string
	accountant, preset, seed           string
	out                                outDir
	badRows, workflow, model, features string
	test, scoreBy                      string
	classWeights                       []string
	search, allowLargeDelta, updated   bool
	embeddings                         source.Vectors
	checkpoint                         checkpointFlags
	copies                             source.Copies
	// kinds is the rule that wants a search between kinds of model, if one does.
	kinds *advise.Rule
}

func (f *fitFlags) register(c *cobra.Command) {
	f.registerTable(c)
	s := c.Flags()
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon of the whole job, everything included (required)")
	s.StringVar(&f.delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows); 0 asks for pure DP)")
	s.StringVar(&f.preset, "preset", "balanced", "quick, balanced or thorough; changes the running time, not epsilon")
	s.StringVar(&f.workflow, "workflow", "paw", "paw (privacy-aware), or stw: make choices as if there were no noise (public data only, for comparison)")
	s.StringVar(&f.model, "model", "auto", "tables: auto, "+strings.Join(learn.Names(), ", ")+"; images: auto, linear, or a network")
	s.StringVar(&f.features, "features", "auto", "tables: auto, all, a list of columns and levels (age,sex,ward=a), or FILE.json from pawl select --json; images: auto, scatter, or all (pixels, each image scaled to the same norm)")
	s.StringVar(&f.test, "test", "", "public test file to score on (default: held-out rows, or the official test set of a built-in)")
	s.StringVar(&f.scoreBy, "score-by", "", "categorical column: also score each of its groups, with part of the score's budget (free on public test rows)")
	s.BoolVar(&f.search, "search", false, "search privately around the recommended settings: 5, 10 or 20 training runs on average, depending on --preset")
	registerClassWeights(&f.classWeights, c)
	f.out.register(c)
	registerVectors(&f.embeddings, c, "")
	s.StringVar(&f.epsilon, "target-epsilon", "", "same as --epsilon")
	s.StringVar(&f.delta, "target-delta", "", "same as --delta")
	_ = s.MarkHidden("target-epsilon")
	_ = s.MarkHidden("target-delta")
}

// registerTable adds the flags that every command on a table has.
func (f *fitFlags) registerTable(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.schema, "schema", "", "schema file, YAML (built-in data sets have their own)")
	s.StringVar(&f.target, "target", "", "column to predict (built-in data sets have a default)")
	s.StringVar(&f.accountant, "accountant", "min", "privacy accountant: min (smallest valid bound), pld or rdp")
	s.StringVar(&f.seed, "seed", "", "simulate with predictable noise; every output is marked NOT PRIVATE")
	s.StringVar(&f.badRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	s.BoolVar(&f.allowLargeDelta, "allow-large-delta", false, "allow a delta of 1/rows or more")
	s.BoolVar(&f.updated, "updated", false, "accept that the file has changed since it was last used")
	registerCopies(&f.copies, c)
}

// job is everything that fit needs, parsed and checked, with nothing charged.
type job struct {
	source *source.Table
	plan   *workflow.Plan
	test   [][]float64
	seed   *uint64
	bad    reader.BadRows
}

func (a *app) prepare(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) (*job, error) {
	j, in, err := a.openTable(ctx, l, data, f)
	if err != nil {
		return nil, err
	}
	if in.Test, j.test, err = a.openTest(ctx, l, j.source, f.test, j.bad); err != nil {
		return nil, err
	}
	if j.plan, err = workflow.NewPlan(in); err != nil {
		return nil, err
	}
	return j, j.plan.Preflight(ctx)
}

// openTable reads the flags and the declarations of a table: a job without test rows
// and plan, and the input for one.
func (a *app) openTable(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) (*job, workflow.Input, error) {
	j := &job{}
	in, err := f.input()
	if err != nil {
		return nil, in, err
	}
	j.seed = in.Seed
	switch j.bad = reader.BadRows(f.badRows); j.bad {
	case reader.Refuse, reader.Default:
	default:
		return nil, in, &usageError{fmt.Sprintf("unknown --bad-rows %q", f.badRows), "use --bad-rows refuse or --bad-rows default"}
	}
	if j.source, err = source.OpenTable(data, f.schema, a.dataDir); err != nil {
		return nil, in, err
	}
	s := j.source
	if err := s.Owned(ctx, l, data, &f.copies, &f.updated); err != nil {
		return nil, in, err
	}
	if err := s.Embed(ctx, l, f.embeddings); err != nil {
		return nil, in, err
	}
	// Vectors of test rows may stand in the same file.
	s.Whole = f.test == ""
	if err := source.EffectivePublic(ctx, l, s.Name, s.Schema); err != nil {
		return nil, in, err
	}
	if in.Rows, err = s.Rows(); err != nil {
		return nil, in, err
	}
	s.Schema.SetBuckets(advise.TextBuckets)
	in.Dataset, in.Schema, in.Public, in.Licence = s.Name, s.Schema, s.Schema.Public, s.Licence
	if in.Target == "" {
		in.Target = s.Target
	}
	return j, in, nil
}

func (f *fitFlags) input() (workflow.Input, error) {
	in := workflow.Input{
		Target: f.target, Epsilon: f.epsilon, Delta: f.delta, AllowLargeDelta: f.allowLargeDelta,
		Workflow: workflow.Workflow(f.workflow), Preset: advise.Preset(f.preset), Model: f.model, ScoreBy: f.scoreBy,
	}
	if f.epsilon == "" {
		return in, &usageError{"missing --epsilon", "example: --epsilon 1"}
	}
	var err error
	if in.Accountant, err = accountant.ParseMethod(f.accountant); err != nil {
		return in, &usageError{err.Error(), ""}
	}
	if in.Seed, err = parseSeed(f.seed); err != nil {
		return in, err
	}
	if in.ClassWeights, err = classWeights(f.classWeights); err != nil {
		return in, err
	}
	switch {
	case f.features == "auto" || f.features == "all" || f.features == "":
	case f.features == "scatter" || strings.HasPrefix(f.features, "pca:"):
		return in, &usageError{fmt.Sprintf("features %q are not available for tables", f.features), "use --features auto, all, or a list of columns"}
	case strings.HasSuffix(f.features, ".json"):
		in.Features, in.Chosen, err = readSelection(f.features)
	default:
		for _, name := range strings.Split(f.features, ",") {
			in.Features = append(in.Features, strings.TrimSpace(name))
		}
	}
	return in, err
}

func (a *app) fitCommand() *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "fit DATA --target Y --epsilon E",
		Short: "Train a private model, score it and write a report",
		Long: `Plan, train and score one model under (epsilon, delta)-differential privacy.

DATA is a table with a schema (--schema) in CSV, TSV (.tsv), JSON lines (.jsonl),
Parquet or Arrow, or a built-in data set of a table, texts or images (pawl data list).

Columns of type text are hashed by a fixed rule. --embeddings joins vectors from a
public extractor by the column --key: npy with a file of keys, one per line (x.npy and
x.keys), Parquet or Arrow. You are responsible for ensuring that the extractor is
public.

For images, fit trains a linear model on data-free features (scatter) or on pixels, or
a network by name.

The plan and its epsilon are shown first. The ledger is charged before any row is used.
fit writes model/, report.html, statement.json and README.md (the model card) into
--out.`,
		Example: `  pawl fit adult --target income --epsilon 1
  pawl fit patients.csv --schema patients.yaml --target readmitted --epsilon 0.5 --out out
  pawl fit sms-spam --epsilon 1
  pawl fit scans.csv --schema scans.yaml --target ill --epsilon 1 --embeddings scans.npy --key scan`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.again(&f.copies, func() error { once := f; return a.fit(c.Context(), args[0], &once) })
		},
	}
	f.register(c)
	f.checkpoint.register(c)
	return c
}

func (a *app) fit(ctx context.Context, data string, f *fitFlags) (err error) {
	f.out.again = f.checkpoint.resume != ""
	if err := f.out.check(); err != nil {
		return err
	}
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if kept := f.checkpoint.create != "" || f.checkpoint.resume != ""; kept && (f.search || !source.IsImages(data)) {
		return &usageError{"--checkpoint and --resume are for training one network on images", "an interrupted search continues by itself when you run it again; other models train in seconds"}
	}
	if f.search {
		return a.fitSearch(ctx, l, data, f)
	}
	if source.IsImages(data) {
		t, err := f.training(data)
		if err != nil {
			return err
		}
		return a.trainOn(ctx, l, data, t)
	}
	j, err := a.prepare(ctx, l, data, f)
	if err != nil {
		return err
	}
	if f.advised(j.plan) {
		return a.fitSearch(ctx, l, data, f)
	}
	env, err := a.environment(ctx, l, j, f)
	if err != nil {
		return err
	}
	return a.finish(ctx, j.plan, env, f.out)
}

// environment seals the rows and digests the file.
func (a *app) environment(ctx context.Context, l *ledger.Ledger, j *job, f *fitFlags) (workflow.Env, error) {
	env := workflow.Env{Ledger: l, Test: j.test, Updated: f.updated}
	key, err := source.ScopeKey(ctx, l, j.source.Name, j.source.Schema, j.seed)
	if err != nil {
		return env, err
	}
	j.source.Note = a.note
	if env.Rows, err = j.source.Seal(j.bad, key); err != nil {
		return env, err
	}
	if env.Different, err = f.copies.Recognise(ctx, l, j.source.Found()); err != nil {
		return env, err
	}
	env.Digest, err = l.Digest(ctx, j.digested())
	return env, err
}

func (a *app) openTest(ctx context.Context, l *ledger.Ledger, s *source.Table, path string, bad reader.BadRows) (workflow.TestKind, [][]float64, error) {
	test, err := s.OpenTest(ctx, l, path, a.dataDir, bad)
	switch {
	case err != nil:
		return "", nil, err
	case test == nil:
		return workflow.HeldOut, nil, nil
	case test.Official:
		return workflow.Official, test.Rows, nil
	}
	return workflow.TestFile, test.Rows, nil
}
