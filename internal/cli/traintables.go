package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/data/dataset"
	"pawl/data/encode"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/build"
	"pawl/reader"
	"pawl/workflow"
)

// tableFlags are those of train for rows of a table or for texts of one's own.
type tableFlags struct {
	schema, test, badRows, features, encoding, scoreBy string
	tokens                                             source.Tokens
}

func (f *tableFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.schema, "schema", "", "schema file, YAML, of a table or a file of texts")
	s.StringVar(&f.test, "test", "", "public test file to score on (default: held-out rows, or the official test set of a built-in)")
	s.StringVar(&f.badRows, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
	s.StringVar(&f.features, "features", "all", "columns of a table: all, a list of columns and levels, or FILE.json from pawl select --json")
	s.StringVar(&f.encoding, "encoding", "thermometer", "encoding of numeric columns: thermometer (16 public bins) or linear (one number)")
	s.StringVar(&f.tokens.Vocabulary, "vocabulary", "", "public list of tokens, one per line, that numbers them (default: tokens are hashed)")
	s.StringVar(&f.tokens.Unknown, "unknown-token", "", "with --vocabulary: skip tokens that are not listed, or give them one shared number")
	s.StringVar(&f.scoreBy, "score-by", "", "categorical column of a table: also score each of its groups, with part of the score's budget")
}

// trainsTable says whether DATA is a table: a built-in one, or a file with a schema. A
// network that begins with an embedding takes texts, which are a table's own column.
func (f *trainFlags) trainsTable(data string) (bool, error) {
	_, builtin := dataset.Lookup(data)
	info, err := os.Stat(data)
	file := err == nil && !info.IsDir()
	if !(f.table.schema != "" || file && source.IsTable(data) || !file && builtin) || source.IsTexts(data) {
		return false, nil
	}
	spec, err := findModel(f.model)
	if err != nil {
		return false, err
	}
	_, texts := source.VocabularyOf(spec.Network.Layers)
	return !texts, nil
}

// refused refuses flags that only tables have.
func (f *tableFlags) refused(data string) error {
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.schema != "", "--schema"}, {f.test != "", "--test"}, {f.badRows != "" && f.badRows != string(reader.Refuse), "--bad-rows"},
		{f.features != "" && f.features != "all", "--features"}, {f.encoding != "" && f.encoding != "thermometer", "--encoding"}, {f.scoreBy != "", "--score-by"}, {f.tokens != source.Tokens{}, "--vocabulary"}} {
		if c.given {
			return &usageError{fmt.Sprintf("%s is for tables, and %s is not a table", c.flag, data), "leave it out"}
		}
	}
	return nil
}

// imagesOnly refuses flags that mean nothing for a table.
func (f *trainFlags) imagesOnly(of string) error {
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.augment > 1, "--augment"}, {f.flip, "--flip"}, {f.frontEnd != "", "--front-end"}, {f.labels != "", "--labels"}, {f.classes != "", "--classes"}, {f.rows != "", "--rows"}} {
		if c.given {
			return &usageError{fmt.Sprintf("%s is for images, and DATA is %s", c.flag, of), "leave it out; the schema declares what is public about a table"}
		}
	}
	return nil
}

// trainTable trains a network on the rows of a table.
func (a *app) trainTable(ctx context.Context, l *ledger.Ledger, data string, f *trainFlags) error {
	kept, err := f.checkpoint.open(f.out.root())
	if err != nil {
		return err
	}
	j, in, err := a.openForNetwork(ctx, l, data, f)
	if err != nil {
		return err
	}
	if j.plan, err = workflow.NewTrainPlan(in); err != nil {
		return err
	}
	if err := j.plan.Preflight(ctx); err != nil {
		return err
	}
	env, err := a.environment(ctx, l, j, &fitFlags{updated: f.updated, copies: f.copies})
	if err != nil {
		return err
	}
	env.Checkpoint = kept
	if env.Software, err = build.Software(); err != nil {
		return err
	}
	return a.finishKept(ctx, j.plan, env, f.out)
}

// openForNetwork is openTable for a network.
func (a *app) openForNetwork(ctx context.Context, l *ledger.Ledger, data string, f *trainFlags) (*job, workflow.TrainInput, error) {
	var in workflow.TrainInput
	if err := f.imagesOnly("rows of a table"); err != nil {
		return nil, in, err
	}
	if f.table.tokens != (source.Tokens{}) {
		return nil, in, &usageError{"--vocabulary is for text networks, which start with an embedding", "use --model sms-rnn-simple, or leave it out"}
	}
	spec, err := findModel(f.model)
	if err != nil {
		return nil, in, err
	}
	j := &job{bad: reader.BadRows(cmp.Or(f.table.badRows, string(reader.Refuse)))}
	switch j.bad {
	case reader.Refuse, reader.Default:
	default:
		return nil, in, &usageError{fmt.Sprintf("unknown --bad-rows %q", f.table.badRows), "use --bad-rows refuse or --bad-rows default"}
	}
	if j.source, err = source.OpenTable(data, f.table.schema, a.dataDir); err != nil {
		return nil, in, err
	}
	s := j.source
	if err := s.Owned(ctx, l, data, &f.copies, &f.updated); err != nil {
		return nil, in, err
	}
	if err := source.EffectivePublic(ctx, l, s.Name, s.Schema); err != nil {
		return nil, in, err
	}
	rows, err := s.Rows()
	if err != nil {
		return nil, in, err
	}
	s.Schema.SetBuckets(advise.TextBuckets)
	p := &source.Images{Name: s.Name, Target: cmp.Or(f.target, s.Target), Licence: s.Licence, Train: &images.Set{}, Rows: schema.RowCount{N: rows}}
	if in, err = f.shared(p, s.Schema); err != nil {
		return nil, in, err
	}
	j.seed, in.ScoreBy = in.Seed, f.table.scoreBy
	if in.Features, in.Chosen, err = namedFeatures(f.table.features); err != nil {
		return nil, in, err
	}
	if in.Test, j.test, err = a.openTest(ctx, l, s, f.table.test, j.bad); err != nil {
		return nil, in, err
	}
	switch f.table.encoding {
	case "", "thermometer":
		in.Encoding = &encode.Options{}
	case "linear":
		in.Encoding = &encode.Options{Linear: true}
	default:
		return nil, in, &usageError{fmt.Sprintf("unknown encoding %q", f.table.encoding), "use --encoding thermometer or --encoding linear"}
	}
	if spec, err = f.form(spec, &in); err != nil {
		return nil, in, err
	}
	return j, in, in.Table(spec)
}

// namedFeatures reads --features: nil for all.
func namedFeatures(text string) ([]string, *workflow.ChosenBy, error) {
	switch {
	case text == "" || text == "all" || text == "auto":
		return nil, nil, nil
	case strings.HasSuffix(text, ".json"):
		return readSelection(text)
	}
	var names []string
	for _, name := range strings.Split(text, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names, nil, nil
}
