package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings under which the flags of a job on data stand, in order, each
// with the kinds of data that it serves. A flag that is in no group stands under "Other".
var flagGroups = []struct {
	title string
	names string
}{
	{"Privacy", "epsilon delta noise-multiplier accountant relation budget allow-large-delta anyway pay release seed non-private as-published"},
	{"Job", "target columns class-weight threshold recall cost metric monotone target-scale model a b c method k level mode epsilons at strategy space preset workflow search features learner"},
	{"Tables and texts", "schema test bad-rows score-by encoding vocabulary unknown-token stand-in relation"},
	{"Embeddings (vectors of a public extractor, joined to a table)", "embeddings key"},
	{"Images", "labels classes images rows augment shift flip front-end extractor pixels extractor-output public public-labels"},
	{"Network training (images, texts and tables)", "activation batch sampling-rate epochs learning-rate clipping-norm clipping quantile optimizer tolerance keep-all average ema schedule warmup mechanism bands lots train-last as-drawn memory"},
	{"Search and selection", "mean-trials eta sizes generations population replace-parents rounds fits bins share validation search-on workers study"},
	{"Several machines", "nats nats-key nats-ca path parallel trial-limit"},
	{"Comparison", "seeds tune rates plain reach confidence"},
	{"Attack", "data attack shadows records index scores coins fpr priors"},
	{"Data known to the ledger (all kinds)", "updated same-as different reason"},
	{"Checkpoints", "checkpoint resume checkpoint-every"},
	{"Output", "out force show output json"},
}

// verbGroups are the headings under which the commands of pawl stand.
var verbGroups = []struct{ title, names string }{
	{"Train and use models", "fit train search tune select predict explain export"},
	{"Prepare data", "init data describe"},
	{"Plan", "advise plan check calibrate account"},
	{"Account for privacy", "ledger verify serve"},
	{"Look closer", "audit crossover reproduce study models version"},
	{"Several machines", "worker"},
}

// commands are those of pawl. A new one is listed here and above, and stands in a file of its own.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{fitCommand(a), planCommand(a), predictCommand(a), exportCommand(a), initCommand(a), checkCommand(a),
		dataCommand(a), accountCommand(a), calibrateCommand(a), ledgerCommand(a), trainCommand(a), modelsCommand(a), reproduceCommand(a), selectCommand(a),
		searchCommand(a), tuneCommand(a), studyCommand(a), auditCommand(a), adviseCommand(a), crossoverCommand(a), versionCommand(a), describeCommand(a), explainCommand(a), verifyCommand(a), serveCommand(a), workerCommand(a)}
}

// metavars stand for the value of a flag where its type says too little.
var metavars = map[string]string{
	"schema": "FILE", "test": "FILE", "labels": "FILE", "public-labels": "FILE", "extractor": "FILE", "public": "DATA", "vocabulary": "FILE", "embeddings": "FILE", "checkpoint": "FILE", "resume": "FILE", "output": "FILE",
	"event": "FILE", "diagram": "FILE", "scores": "FILE", "index": "FILE", "file": "FILE", "from-smartnoise": "FILE", "out": "PATH", "data-dir": "DIR", "show": "DIR",
	"key": "COLUMN", "public-key": "KEY", "target": "COLUMN", "score-by": "COLUMN", "unit": "COLUMN", "same-as": "NAME", "study": "NAME", "model": "NAME", "classes": "A,B,…", "class-weight": "CLASS=W,…", "threshold": "P", "recall": "SHARE", "cost": "MISTAKE=COST",
	"epsilon": "E", "delta": "D", "budget": "E", "pay": "E", "release": "E", "at": "E", "noise-multiplier": "S", "reason": "WHY", "ledger": "ADDRESS",
	"released": "FILE", "roles": "FILE", "tls-cert": "FILE", "tls-key": "FILE", "store": "DIR", "html": "DIR", "data": "DATA", "stand-in": "DATA", "table": "FILE=SCHEMA", "socket": "PATH", "listen": "ADDRESS", "host": "NAME", "user": "NAME", "by": "NAME", "analyst": "NAME",
	"accountant": "NAME", "preset": "NAME", "strategy": "NAME", "space": "NAME", "method": "NAME", "learner": "NAME", "optimizer": "NAME", "metric": "NAME", "extractor-output": "NAME", "numbers": "COLUMNS", "ignore": "COLUMNS", "monotone": "COLUMN=WAY,…",
	"keep": "COLUMNS", "nats": "URL", "nats-key": "FILE", "nats-ca": "FILE", "path": "PATH", "trial-limit": "TIME", "a": "SPEC", "b": "SPEC", "c": "SPEC", "seed": "N", "epsilons": "E,E,…", "columns": "A,B,…",
}

const helpWidth = 80

// showHelp writes the help of a command for lines of 80 columns: what it does, its usage
// and examples, its commands or its flags in groups.
func showHelp(c *cobra.Command, w io.Writer) {
	fmt.Fprintln(w, reflow(strings.TrimSpace(cmp.Or(c.Long, c.Short+"."))))
	fmt.Fprintln(w, "\nUsage:")
	if c.Runnable() && !c.HasAvailableSubCommands() || c.HasParent() && c.HasAvailableSubCommands() && strings.Contains(c.Use, " ") {
		fmt.Fprintln(w, hang("  ", 4, c.UseLine()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", c.CommandPath())
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.Trim(c.Example, "\n"))
	}
	showCommands(c, w)
	local := c.LocalFlags()
	inherited := map[string]bool{}
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { inherited[f.Name] = true })
	var own, global []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden || f.Name == "help":
		case inherited[f.Name] || local.Lookup(f.Name) == nil || !c.HasParent():
			global = append(global, f)
		default:
			own = append(own, f)
		}
	})
	if c.Flags().Lookup("schema") == nil {
		showFlags(w, "Flags", own)
	} else {
		for _, g := range flagGroups {
			names := strings.Fields(g.names)
			var of []*pflag.Flag
			own = slices.DeleteFunc(own, func(f *pflag.Flag) bool {
				if !slices.Contains(names, f.Name) {
					return false
				}
				of = append(of, f)
				return true
			})
			slices.SortStableFunc(of, func(a, b *pflag.Flag) int {
				return cmp.Compare(slices.Index(names, a.Name), slices.Index(names, b.Name))
			})
			showFlags(w, g.title, of)
		}
		showFlags(w, "Other", own)
	}
	showFlags(w, "All commands", global)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help describes a command.\n", c.CommandPath())
	}
}

func showCommands(c *cobra.Command, w io.Writer) {
	list := func(title string, commands []*cobra.Command) {
		if len(commands) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n", title)
		for _, sub := range commands {
			fmt.Fprintln(w, hang(fmt.Sprintf("  %-14s ", sub.Name()), 17, sub.Short))
		}
	}
	var all []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			all = append(all, sub)
		}
	}
	if c.HasParent() {
		list("Commands", all)
		return
	}
	for _, g := range verbGroups {
		var of []*cobra.Command
		for _, name := range strings.Fields(g.names) {
			if at := slices.IndexFunc(all, func(sub *cobra.Command) bool { return sub.Name() == name }); at >= 0 {
				of = append(of, all[at])
			}
		}
		list(g.title, of)
	}
}

func showFlags(w io.Writer, title string, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	const column = 26
	for _, f := range flags {
		left := "  --" + f.Name
		if f.Value.Type() != "bool" {
			left += " " + metavar(f)
		}
		usage := f.Usage
		if !strings.Contains(usage, "(default") && !zero(f) {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		if len(left) > column-2 {
			fmt.Fprintln(w, left)
			left = ""
		}
		fmt.Fprintln(w, hang(fmt.Sprintf("%-*s", column, left), column, usage))
	}
}

func metavar(f *pflag.Flag) string {
	kind := f.Value.Type()
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "N" // --classes is a number to advise, a list elsewhere
	case metavars[f.Name] != "":
		return metavars[f.Name]
	case strings.HasPrefix(kind, "float"):
		return "X"
	case kind == "duration":
		return "TIME"
	}
	return "VALUE"
}

// zero says that the default of a flag is nothing worth a word.
func zero(f *pflag.Flag) bool {
	switch f.DefValue {
	case "", "0", "false", "[]", "-1", "0s":
		return true
	}
	return false
}

// item is a line of a list: a name, two spaces or more, and what it means.
var item = regexp.MustCompile(`^( *\S+(?: \S+)* {2,})(\S.*)$`)

// reflow breaks paragraphs and the items of lists anew.
func reflow(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "  ") {
			paragraphs[i] = hang("", 0, p)
			continue
		}
		var out []string
		first, words := "", ""
		flush := func() {
			if first+words != "" {
				out = append(out, hang(first, len([]rune(first)), words))
			}
			first, words = "", ""
		}
		for line := range strings.Lines(p) {
			line = strings.TrimRight(line, "\n")
			switch m := item.FindStringSubmatch(line); {
			case m != nil:
				flush()
				first, words = m[1], m[2]
			case strings.HasPrefix(line, " ") && first != "":
				words += " " + line
			default:
				flush()
				out = append(out, line)
			}
		}
		flush()
		paragraphs[i] = strings.Join(out, "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}

// hang puts words after first, and further lines indent columns in.
func hang(first string, indent int, text string) string {
	var b strings.Builder
	line := first
	width := len([]rune(line))
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i > 0 && width+1+n > helpWidth:
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, width = strings.Repeat(" ", indent)+word, indent+n
			continue
		case i > 0:
			line, width = line+" ", width+1
		}
		line, width = line+word, width+n
	}
	b.WriteString(line)
	return b.String()
}
