package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"pawl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/internal/build"
	"pawl/internal/request"
	"pawl/internal/usage"
)

// Exit statuses, part of the command line's contract.
const (
	exitOK      = 0
	exitOther   = 1
	exitUsage   = 2
	exitRefused = 3 // the budget refuses
	exitFailed  = 4 // a privacy check failed
)

type streams struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	person func() bool // whether a person can be asked; nil: where in is a terminal
}

// ledgerFlags say which ledger a verb charges, and what the first use of a data set grants.
type ledgerFlags struct{ address, total string }

// app is what every verb needs. What a verb does is a function of its own.
type app struct {
	streams
	ledger  ledgerFlags
	dataDir string
	json    bool
	opened  []io.Closer // ledgers
	saved   string      // the folder of what a job released
	// abandoned says that a step still runs, which may hold the ledgers.
	abandoned bool
	bound     atomic.Bool // whether it ends by itself after an interrupt, whatever it takes
}

// run is the whole program: it parses args, runs one verb and returns the exit
// status. On failure stdout stays empty and stderr has one line and maybe a hint.
func run(ctx context.Context, args []string, s streams) int {
	out := &faithful{Writer: s.out}
	s.out = out
	a := &app{streams: s}
	defer a.close()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := a.freely(ctx, func() error { return root.ExecuteContext(ctx) })
	// Whoever did not look whether it was written: what did not come out is no success.
	if out.failed != nil && (err == nil || errors.Is(err, out.failed)) {
		return a.unwritten(out.failed)
	}
	if err == nil {
		return exitOK
	}
	if all := (*usage.Faults)(nil); errors.As(err, &all) {
		_ = all.Write(s.err, message)
		return status(err)
	}
	fmt.Fprintf(s.err, "error: %s\n", message(err))
	if h := a.hint(err); h != "" {
		fmt.Fprintf(s.err, "hint: %s\n", h)
	}
	return status(err)
}

// unwritten says that standard output took no more, and where to find what a job released. A reader that has gone
// away, such as head, knows that it has.
func (a *app) unwritten(err error) int {
	if !errors.Is(err, syscall.EPIPE) || a.saved != "" {
		if path := (*os.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		fmt.Fprintf(a.err, "error: standard output: %s\n", oneLine(err.Error()))
	}
	if a.saved != "" {
		fmt.Fprintf(a.err, "hint: the job is charged and complete; do not run it again: its files are in %s\n", a.saved)
	}
	return exitOther
}

// faithful remembers the first error of writing.
type faithful struct {
	io.Writer
	failed error
}

func (w *faithful) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.failed = cmp.Or(w.failed, err)
	return n, err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "pawl",
		Short: "Train differentially private models within a privacy budget",
		Long: `pawl trains models on sensitive data under differential privacy.

Every step that uses rows is priced first, charged in a ledger, and only then run. The
result is a model, a score that may be published, a report that a privacy officer can
sign, and a machine-readable statement.

Start:     pawl fit adult --target income --epsilon 1
Own data:  pawl init patients.csv   (then fill in the schema and run pawl fit)`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build.Version(),
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			a.bound.Store(!slices.ContainsFunc(unbound, func(verb string) bool { return strings.HasPrefix(c.CommandPath()+" ", "pawl "+verb+" ") }))
			return flagValues(c, args)
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { showHelp(c, c.OutOrStdout()) })
	root.Flags().Bool("version", false, "print the version and exit")
	root.SetVersionTemplate("pawl {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVar(&a.ledger.address, "ledger", "", "ledger to charge: sqlite:PATH or postgres://USER@HOST:PORT/DATABASE (default: PAWL_LEDGER, else your own)")
	f.StringVar(&a.dataDir, "data-dir", "", "folder of downloaded data sets (default: PAWL_DATA)")
	f.BoolVar(&a.json, "json", false, "print one JSON object on standard output")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if names := commandNames(c); len(names) > 0 && !strings.Contains(c.Use, " ") { // it does nothing itself
			// The arguments are not parsed yet: a word before the flag may be no command.
			return mistake(flagWords(err.Error()), fmt.Sprintf("flags follow a command: %s %s", c.CommandPath(), strings.Join(names, " | ")))
		}
		hint := fmt.Sprintf("%s --help lists the flags", c.CommandPath())
		if f := c.Flag(strings.TrimPrefix(err.Error(), "flag needs an argument: --")); f != nil {
			hint = fmt.Sprintf("--%s %s: %s", f.Name, metavar(f), f.Usage)
		}
		return mistake(flagWords(err.Error()), hint)
	})
	root.AddCommand(commands(a)...)
	grouping(root)
	for _, c := range root.Commands() {
		switch c.Name() {
		case "fit", "train", "select", "search", "tune", "init", "describe":
			c.Flags().Var(amountFlag{&a.ledger.total, "epsilon"}, "budget", "total epsilon of all jobs on DATA, granted once at first use (default: the cost of the first job); its delta is that of the first job, or 1e-6 if that is 0")
		}
	}
	return root
}

// flagWords says what a flag wants, in place of the name of the function that read it.
func flagWords(text string) string {
	text, parsing, ok := strings.Cut(text, ": strconv.Parse")
	if !ok {
		return text
	}
	kind, _, _ := strings.Cut(parsing, ":")
	return text + ": want " + map[string]string{"Int": "a whole number", "Uint": "a whole number from 0", "Float": "a number", "Bool": "true or false"}[kind]
}

// grouping has every command that does nothing itself show its help, and refuse what is none of its commands.
func grouping(c *cobra.Command) {
	if c.HasSubCommands() && c.RunE == nil {
		c.Args, c.RunE = noCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	for _, sub := range c.Commands() {
		grouping(sub)
	}
}

// noCommand refuses the arguments of a command that only has others: the first is none of them.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names, hint := commandNames(c), "pawl --help lists the commands"
	if c.HasParent() {
		hint = "commands: " + strings.Join(names, ", ")
	}
	return mistakef(schema.Meant(args[0], names, hint), "%s: unknown command %q", c.CommandPath(), args[0])
}

// commandNames are those of the commands of c, none for a command that does something itself.
func commandNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// zeroMeans are the numbers without a default of their own that may be 0.
var zeroMeans = []string{"attributes", "ema", "eta", "numeric", "skip", "warmup", "workers"}

// flagValues refuses values, of arguments too, that were not meant: an empty text, as of a shell variable that is not set, and a 0
// for a number that follows from other facts, which must not count as left out; and the next flag, which --html --json
// would take for the name of a folder.
func flagValues(c *cobra.Command, args []string) error {
	var faults []error
	if i := slices.IndexFunc(args, func(a string) bool { return strings.TrimSpace(a) == "" }); i >= 0 {
		faults = append(faults, mistakef("usage: "+c.UseLine(), "%s: argument %d is empty", c.CommandPath(), i+1))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		values, kind := []string{f.Value.String()}, f.Value.Type()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		next := slices.IndexFunc(values, func(v string) bool { return strings.HasPrefix(v, "--") && c.Flag(strings.Split(v[2:], "=")[0]) != nil })
		n, err := strconv.ParseFloat(f.Value.String(), 64)
		switch {
		case len(values) == 0 || slices.Contains(values, ""):
			faults = append(faults, mistakef("leave the flag out, or give it a value: "+c.CommandPath()+" --help lists the flags", "--%s is empty", f.Name))
		case next >= 0:
			faults = append(faults, mistakef(fmt.Sprintf("give --%s its value first; a file of that name is ./%s", f.Name, values[next]), "--%s has no value: %s behind it is a flag", f.Name, values[next]))
		case err == nil && n == 0 && f.DefValue == "0" && !slices.Contains(zeroMeans, f.Name) && (kind == "int" || kind == "int64" || kind == "float64"):
			faults = append(faults, mistakef("leave it out for its default, or give a number above 0", "--%s must not be 0", f.Name))
		}
	})
	return usage.All(append(faults, replaced(c, args), standard(c, args))...)
}

// amountFlag is a decimal as the ledger writes it: an epsilon above 0, or a delta from 0 to below 1. Given, it is not empty.
type amountFlag struct {
	to   *string
	kind string
}

func (f amountFlag) String() string { return *f.to }
func (f amountFlag) Type() string   { return f.kind }

func (f amountFlag) Set(text string) error {
	amount, err := ledger.ParseAmount(text)
	switch one, _ := ledger.ParseAmount("1"); {
	case err != nil:
		return errors.New(message(err))
	case f.kind == "epsilon" && amount.IsZero():
		return errors.New("must be greater than 0")
	case f.kind == "delta" && amount.Cmp(one) >= 0:
		return errors.New("must be less than 1")
	}
	*f.to = text
	return nil
}

// mistake is one on the command line, with an advice or "".
func mistake(msg, advice string) error { return usage.New(msg, advice) }

// mistakef is mistake for a message that is formatted.
func mistakef(advice, format string, args ...any) error { return usage.Newf(advice, format, args...) }

// note is a remark for the operator.
func (a *app) note(text string) { fmt.Fprintf(a.err, "note: %s\n", text) }

// exactArgs is cobra.ExactArgs with a message that says what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return mistakef("usage: "+c.UseLine(), "%s: missing %s", c.CommandPath(), names[len(args)])
		}
		if len(args) > len(names) {
			extra, advice := args[len(names)], "usage: "+c.UseLine()
			if _, err := os.Stat(extra); err == nil {
				advice = "several files are one table by a pattern in quotes, which the shell leaves alone: 'visits-*.csv'"
			}
			return mistakef(advice, "%s: unexpected argument %q", c.CommandPath(), extra)
		}
		return nil
	}
}

// status is the exit status of an error.
func status(err error) int {
	if strings.HasPrefix(err.Error(), "required flag") {
		return exitUsage
	}
	return request.Status(cause(err))
}

// cause is what an error of the library stands for: its own words are for programs.
func cause(err error) error {
	if own, ok := err.(*pawl.Error); ok {
		return own.Unwrap()
	}
	return err
}

func hint(err error) string { return request.Hint(cause(err)) }

// message is an error in one line and in the words of a person at a terminal.
func message(err error) string { return request.Text(cause(err)) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
