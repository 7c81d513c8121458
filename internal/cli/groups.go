package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl"
)

// The groups of flags that several commands share, each declared once, with the kinds of data
// that it serves. flagGroups has the headings under which help lists them.

// budgetFlags are those of a job that is paid for, on all kinds of data. epsilon says what it pays for,
// more what else is known of delta.
func budgetFlags(c *cobra.Command, b *pawl.Budget, epsilon, more string) {
	s := c.Flags()
	s.StringVar(&b.Epsilon, "epsilon", "", epsilon)
	s.StringVar(&b.Delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows)"+more+")")
	s.BoolVar(&b.AllowLargeDelta, "allow-large-delta", false, "allow a delta of 1/rows or more")
	accountantFlag(s, &b.Accountant)
	s.BoolVar(&b.Anyway, "anyway", false, "run a job that public rules call hopeless (pawl advise rules: stop-...); the statement records it")
}

func accountantFlag(s *pflag.FlagSet, method *string) {
	s.StringVar(method, "accountant", "min", "privacy accountant: min (smallest valid bound), pld or rdp")
}

// identityFlags are those of data known to the ledger, on all kinds of data.
func identityFlags(c *cobra.Command, f *pawl.Identity) {
	updatedFlag(c.Flags(), &f.Updated, "")
	unitsFlags(c, &f.SameAs, &f.Different, &f.Reason)
}

func updatedFlag(s *pflag.FlagSet, updated *bool, when string) {
	s.BoolVar(updated, "updated", false, when+"accept that the data have changed since they were last used")
}

// unitsFlags say whose rows a file holds that resembles a sensitive data set.
func unitsFlags(c *cobra.Command, sameAs *string, different *bool, reason *string) {
	s := c.Flags()
	s.StringVar(sameAs, "same-as", "", "DATA is another form of this data set of the ledger, whose budget is charged (implies --updated)")
	s.BoolVar(different, "different", false, "DATA or the test file resembles a sensitive data set but holds other units: proceed (needs --reason)")
	s.StringVar(reason, "reason", "", "reason why they are different; recorded in the ledger and every statement")
}

// registerTable adds the flags of every job on a table: tables alone, but for those of the budget.
func registerTable(c *cobra.Command, f *jobFlags, target *string, b *pawl.Budget, i *pawl.Identity, epsilon, more string) {
	s := c.Flags()
	s.StringVar(target, "target", "", "column to predict (built-in data sets have a default)")
	schemaFlag(s, &f.Schema)
	badRowsFlag(s, &f.BadRows)
	f.seedFlag(s)
	budgetFlags(c, b, epsilon, more)
	identityFlags(c, i)
}

func schemaFlag(s *pflag.FlagSet, file *string) {
	s.StringVar(file, "schema", "", "schema file, YAML (built-in data sets have their own)")
}

func badRowsFlag(s *pflag.FlagSet, how *string) {
	s.StringVar(how, "bad-rows", "refuse", "refuse, or default: replace malformed cells by the default that their column declares")
}

// testFlags are those of what a model is scored on: tables and texts; groups are of tables.
func testFlags(s *pflag.FlagSet, test, scoreBy *string) {
	s.StringVar(test, "test", "", "public test file to score on (default: held-out rows, or the official test set of a built-in)")
	s.StringVar(scoreBy, "score-by", "", "categorical column of a table: also score each of its groups, with part of the score's budget (free on public test rows)")
}

// imageFlags are those of images in files of your own; rows is the name of the flag that declares
// their number.
func imageFlags(s *pflag.FlagSet, labels, classes, number *string, rows string) {
	s.StringVar(labels, "labels", "", "file of labels for an IDX or npy file of your own images")
	s.StringVar(classes, "classes", "", "class names in order, for files of labels (default for folders: their names)")
	s.StringVar(number, rows, "", "how the number of your own images is declared: public, N or about-N")
}

// memoryFlag is that of networks: images, texts and tables.
func memoryFlag(s *pflag.FlagSet, memory *string) {
	s.StringVar(memory, "memory", "256MB", "working memory per step; does not change the result")
}

// presetFlag is that of all kinds of data; changes says what else a preset changes.
func presetFlag(s *pflag.FlagSet, preset *string, changes string) {
	s.StringVar(preset, "preset", "balanced", "quick, balanced or thorough; "+changes+", not epsilon")
}

// seedFlag is that of all kinds of data.
func (f *jobFlags) seedFlag(s *pflag.FlagSet) {
	s.StringVar(&f.seed, "seed", "", "simulate with predictable noise; every output is marked NOT PRIVATE")
}

// targetAliases are the names that other libraries have for epsilon and delta.
func targetAliases(c *cobra.Command) {
	aliases(c, "epsilon", "target-epsilon")
	aliases(c, "delta", "target-delta")
}

// aliases gives a flag further names, which help does not list.
func aliases(c *cobra.Command, of string, names ...string) {
	for _, name := range names {
		same := *c.Flags().Lookup(of)
		same.Name, same.Usage, same.Hidden = name, "same as --"+of, true
		c.Flags().AddFlag(&same)
	}
}
