package pawl_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/TRUSTED.md anew")

// A part of the trusted base is a table of docs/TRUSTED.md.
type part struct {
	title, about string
	// most, when not 0, bounds the lines of the whole part; total names them.
	most  int
	total string
	// capped says that every package has a cap.
	capped   bool
	packages []trusted
}

// trusted is a package on which the guarantee rests, with the most lines of code that it may
// have and what it is allowed to do. A cap is the size of the day rounded up: code that has
// become smaller takes its cap along, and one that must grow says why in the commit that
// raises it.
type trusted struct {
	name string
	most int
	// may is what it does with sealed rows: opens or draws, both, or nothing of it.
	may  leave
	does string
}

type leave int

const (
	opens leave = 1 << iota // calls what opens sealed rows
	draws                   // draws noise
	shows                   // opens rows of public data sets, and no others
	// holds is the leave of a package that passes sealed rows and permits on: of sealed it names
	// only what is in passedOn, and it imports no package that is handed opened rows.
	holds
	// asks is the leave of a package that asks what something costs: it imports neither sealed rows nor
	// noise, nor the ledger.
	asks
	// reads is the leave of a package that reads views of accounts: of core it imports the ledger, events and what
	// asks, and of the ledger it names nothing by which one could book, or open a ledger.
	reads
	// computes is the leave of a package that is handed the cells of opened rows: of core it imports
	// packages of this leave alone.
	computes
)

func (l leave) String() string {
	words := []string{}
	if l&opens != 0 {
		words = append(words, "opens rows")
	}
	if l&shows != 0 {
		words = append(words, "opens public rows")
	}
	if l&draws != 0 {
		words = append(words, "draws noise")
	}
	return strings.Join(words, ", ")
}

var base = []part{
	{title: "What can open sensitive rows, and what it depends on", most: 4850, capped: true,
		about: "A fault here can reveal a row. A package opens rows if it calls `sealed.Open`, `sealed.OpenUnless` or `sealed.OpenPublic`, and draws noise if it calls `core/noise`.",
		total: "Code that can open sensitive rows, and what it depends on",
		packages: []trusted{
			{"core/internal/sealed", 660, 0, "holds sealed rows and permits; opens rows against a charged event"},
			{"core/noise", 540, draws, "draws noise of every distribution and rounds sums to their grid"},
			{"core/sum", 1240, opens | draws, "opens, bounds, adds up, adds noise on a grid: integer cells, units by level, moments, gradients of linear models, tables of boosting, least squares"},
			{"core/localrows", 160, opens | draws, "releases rows themselves, each with separate noise"},
			{"core/gradient", 880, opens | draws, "DP-SGD on networks: clips, sums, adds noise, step by step"},
			{"core/convex", 400, opens | draws, "perturbed objectives and minimisers"},
			{"core/selection", 160, 0, "releases the best of a secret number of runs"},
			{"core/intake", 510, 0, "seals rows: units, bounds, scopes, texts; several parts of a table in parallel"},
			{"core/entropy", 400, 0, "keyed streams of random bits"},
		}},
	{title: "What computes on opened rows, and cannot open any", most: 950, capped: true,
		about: "A fault here can make a sum wrong, or a row's norm too small for its bound. Like `data/encode` and `compute/nn`, these packages get cells from a\n" +
			"mechanism that has opened them. Within core they import only each other: they hold no permit, open no rows, draw no noise, and return their results to that mechanism.",
		total: "Code that computes on opened rows",
		packages: []trusted{
			{"core/internal/design", 830, computes, "lays rows out for sums over linear models, and adds them up"},
			{"core/internal/logistic", 80, computes, "the loss of a logistic regression, and the norm of its gradient at the solver's weights"},
			{"core/internal/crew", 50, computes, "runs jobs in parallel; a panic shows no cell"},
		}},
	{title: "What cannot open rows: it defines what a row adds, and computes on released sums",
		about: "`release`, `linear` and `newton` can neither open a row nor draw noise: of `core/internal/sealed` they use only permits, sealed rows and `ErrNotReserved`,\n" +
			"and they import neither `core/noise` nor a package that gets opened rows. They define events and what a row adds; `core/sum` enforces\n" +
			"the bound for which its noise is scaled, and opens rows against that event only. A reviewer has to check that a function of a row\n" +
			"remembers no earlier rows. `newton` gets sums and second derivatives and finds weights; `core/convex` then\n" +
			"computes the norm of the gradient at these weights itself, and its noise covers any weights of that norm. `public` calls `sealed.OpenPublic`, which fails\n" +
			"on every sensitive data set, and never `sealed.Open`.",
		total: "Code that cannot open a sensitive row",
		packages: []trusted{
			{"core/release", 0, holds, "counts, tables, scores, histograms, moments: what a row adds, and scores, intervals and bounds from noisy sums"},
			{"core/linear", 0, holds, "descent, boosting and least squares on noisy sums"},
			{"core/internal/newton", 0, holds, "finds minimisers of a problem whose data its caller holds"},
			{"core/public", 0, shows | draws, "exact rows of public data sets, and replays of published methods on them"},
		}},
	{title: "Events, prices and the ledger", capped: true,
		about: "A fault here can let a job spend more than its budget.",
		total: "Events, prices and the ledger",
		packages: []trusted{
			{"core/dp", 690, 0, "defines events"},
			{"core/accountant", 3550, 0, "prices events"},
			{"core/ledger", 3330, 0, "charges events before rows open; makes permits; signs released files"},
			{"core/ledger/pricing", 40, 0, "adapts the accountant to the ledger"},
		}},
	{title: "What computes figures and decides nothing",
		about: "These packages use results of the accountant and the ledger. They can charge and reserve nothing: within core they import only the accountant\n" +
			"and events; `figures` reads copies of accounts (`ledger.View`), and uses nothing of the ledger by which it could charge.\n" +
			"A fault here can show a wrong figure to a person, but cannot lower a charge or admit a job.",
		total: "Code that computes figures",
		packages: []trusted{
			{"core/accountant/search", 0, asks, "proposes orders, tilts and lattices at which the accountant evaluates its bounds: any of them gives a bound"},
			{"core/accountant/lower", 0, asks, "bounds from below what a mechanism costs, by pairs of outputs that neighbours attain"},
			{"core/accountant/calibrate", 0, asks, "finds the parameter of an event that spends a target"},
			{"core/ledger/outlook", 0, asks, "searches for figures that the ledger shows beside its decisions: jobs that still fit, totals that would suffice"},
			{"core/ledger/figures", 0, reads, "statements and forecasts from a ledger's accounts, for people to read"},
			{"core/accountant/meaning", 0, asks, "explains what an epsilon means against an adversary; figures by the formulas of papers"},
		}},
	{title: "Copies of a data set, and public facts", capped: true,
		about: "What core imports from outside, and how copies are recognised before rows are sealed.",
		total: "Copies and public facts",
		packages: []trusted{
			{"core/identity", 1050, 0, "recognises copies of a data set by keyed prints, before rows are sealed"},
			{"data/schema", 2870, 0, "declares columns, bounds and units: public facts"},
			{"data/memo", 130, 0, "remembers what short texts of a column stand for, while a file is read"},
			{"data/packed", 540, 0, "stores rows of numbers in few bytes, beyond a share of memory in an encrypted file"},
			{"data/encode", 800, 0, "maps a row to a vector of bounded norm by public facts"},
			{"compute/kernel", 1650, 0, "arithmetic on vectors and matrices; a cipher's key stream, and the points and sums of noise"},
		}},
}

// open begins the names of the functions of internal/sealed by which a mechanism gets at rows; openPublic is one of them.
const open, openPublic = "pawl/core/internal/sealed.Open", "pawl/core/internal/sealed.OpenPublic"

// asked are the packages of core that one may import which asks about prices.
var asked = []string{"pawl/core/accountant", "pawl/core/dp"}

// read are the packages of core that one may import which reads accounts, and booking what it must not name of the ledger.
var read = []string{"pawl/core/ledger", "pawl/core/ledger/outlook", "pawl/core/dp"}
var booking = []string{"pawl/core/ledger.Ledger", "pawl/core/ledger.New", "pawl/core/ledger.Options", "pawl/core/ledger.Store", "pawl/core/ledger.Tx", "pawl/core/ledger.Heads", "pawl/core/ledger.Permit"}

// computing are the packages that compute on opened rows.
var computing = []string{"pawl/core/internal/design", "pawl/core/internal/logistic", "pawl/core/internal/crew"}

// passedOn is what a package that holds rows and cannot open them names of internal/sealed.
var passedOn = []string{"Permit", "Rows", "ErrNotReserved"}

// TestTrustedBase holds every package of core to its cap and to what it may do, and
// docs/TRUSTED.md to this list; go test . -run TestTrustedBase -update writes that file.
func TestTrustedBase(t *testing.T) {
	listed := map[string]bool{"core/ledger/ledgertest": true} // for tests only
	var text strings.Builder
	text.WriteString(trustedHead)
	lines := map[string]int{}
	for _, part := range base {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n", part.title, part.about)
		text.WriteString("| package | lines | cap | may | what it does |\n|---|---|---|---|---|\n")
		all := 0
		for _, p := range part.packages {
			listed[p.name] = true
			n, uses := code(t, filepath.FromSlash(p.name))
			lines[p.name], all = n, all+n
			if part.capped && n > p.most {
				t.Errorf("%s has %d lines of code, more than its cap of %d", p.name, n, p.most)
			}
			if part.capped && p.most > n+n/4+50 {
				t.Errorf("%s has %d lines of code: lower its cap of %d", p.name, n, p.most)
			}
			keepsTo(t, p, uses)
			fmt.Fprintf(&text, "| `%s` | %d | %s | %s | %s |\n", p.name, roundUp(n), limit(p.most), p.may, p.does)
		}
		if part.most > 0 && all > part.most {
			t.Errorf("%s: %d lines, more than %d", part.title, all, part.most)
		}
		fmt.Fprintf(&text, "\n%s: %d lines", part.total, roundUp(all))
		if part.most > 0 {
			fmt.Fprintf(&text, ", of %d at most", part.most)
		}
		text.WriteString(".\n")
	}
	for _, p := range packages(t) {
		if name, ok := strings.CutPrefix(p.ImportPath, "pawl/"); ok && strings.HasPrefix(name, "core/") && !listed[name] {
			t.Errorf("%s has no place in the trusted base: give it one here", name)
		}
	}
	path := filepath.Join("docs", "TRUSTED.md")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Counts may lag a little behind, so that not every change of a line has to write the file.
	row := regexp.MustCompile("(?m)^\\| `(.*?)` \\| (\\d+) \\| (\\d*) *\\|")
	rows := row.FindAllStringSubmatch(string(written), -1)
	if len(rows) != len(lines) {
		t.Fatalf("%s has %d packages, not %d: run this test with -update", path, len(rows), len(lines))
	}
	for _, part := range base {
		for _, p := range part.packages {
			r := rows[0]
			rows = rows[1:]
			n, _ := strconv.Atoi(r[2])
			if r[1] != p.name || r[3] != limit(p.most) || 20*max(n-lines[p.name], lines[p.name]-n) > lines[p.name]+1200 {
				t.Errorf("%s is out of date about %s: run this test with -update", path, p.name)
			}
		}
	}
}

// keepsTo fails where a package names what it has no leave for.
func keepsTo(t *testing.T, p trusted, uses map[string]bool) {
	t.Helper()
	for use := range uses {
		from, name, _ := strings.Cut(use, ".")
		switch {
		case use == openPublic && p.may&shows != 0:
		case strings.HasPrefix(use, open) && p.may&opens == 0:
			t.Errorf("%s must not open rows (%s)", p.name, use)
		case from == "pawl/core/noise" && p.may&draws == 0:
			t.Errorf("%s must not draw noise (%s)", p.name, use)
		case p.may&computes != 0 && strings.HasPrefix(from, "pawl/core/") && !slices.Contains(computing, from):
			t.Errorf("%s must compute and nothing else (%s)", p.name, use)
		case p.may&asks != 0 && (strings.HasPrefix(from, "pawl/core/internal/") || strings.HasPrefix(from, "pawl/core/") && !slices.Contains(asked, from)):
			t.Errorf("%s must ask and nothing else (%s)", p.name, use)
		case p.may&reads != 0 && (strings.HasPrefix(from, "pawl/core/") && !slices.Contains(read, from) || slices.Contains(booking, use)):
			t.Errorf("%s must read and nothing else (%s)", p.name, use)
		case p.may&holds != 0 && strings.HasPrefix(from, "pawl/core/internal/") && !(from == "pawl/core/internal/sealed" && (name == "" || slices.Contains(passedOn, name))):
			t.Errorf("%s must pass rows on and nothing else (%s)", p.name, use)
		}
	}
}

// limit is a cap in words.
func limit(most int) string {
	if most == 0 {
		return ""
	}
	return strconv.Itoa(most)
}

const trustedHead = "# The trusted base\n\n" +
	"This page is made by `go test . -run TestTrustedBase -update`. The test fails if a package is larger than its cap, does something\n" +
	"that it may not, or is not listed. Lines are lines of Go code without tests, blank lines and comments,\n" +
	"rounded up to the next 50.\n"

// roundUp leaves the table alone where a few lines come or go.
func roundUp(lines int) int { return (lines + 49) / 50 * 50 }

// counted remembers what code found.
var counted = map[string]struct {
	lines int
	uses  map[string]bool
}{}

// code counts the lines of a package that are neither blank nor a comment, tests left out,
// and lists what it names of other packages, by import path and name.
func code(t *testing.T, folder string) (lines int, uses map[string]bool) {
	t.Helper()
	folder = filepath.Clean(folder)
	if c, ok := counted[folder]; ok {
		return c.lines, c.uses
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no code in %s (%v)", folder, err)
	}
	uses = map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		imported := map[string]string{}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			name := filepath.Base(path)
			if i.Name != nil {
				name = i.Name.Name
			}
			if name == "." && strings.HasPrefix(path, "pawl/") {
				t.Errorf("%s imports %s without its name", file.Name, path)
			}
			imported[name] = path
			uses[path+"."] = true
		}
		used := map[int]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil, *ast.CommentGroup, *ast.Comment:
				return false
			case *ast.BasicLit: // may span lines
				for l := set.Position(n.Pos()).Line; l <= set.Position(n.End()).Line; l++ {
					used[l] = true
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if path, ok := imported[x.Name]; ok {
						uses[path+"."+n.Sel.Name] = true
					}
				}
			}
			used[set.Position(n.Pos()).Line], used[set.Position(n.End()-1).Line] = true, true
			return true
		})
		lines += len(used)
	}
	counted[folder] = struct {
		lines int
		uses  map[string]bool
	}{lines, uses}
	return lines, uses
}

// A stream that comes back from another process is opened by a permit, and by nothing else: whoever
// could make a stream of bytes of his own could choose a mechanism's noise.
func TestStreamsComeBackInPermitsAlone(t *testing.T) {
	found := false
	for _, p := range packages(t) {
		folder := "." + strings.TrimPrefix(p.ImportPath, "pawl")
		if _, uses := code(t, folder); uses["pawl/core/entropy.Unseal"] {
			if folder != "./core/internal/sealed" {
				t.Errorf("%s opens sealed streams", folder)
			}
			found = true
		}
	}
	if !found {
		t.Error("nobody opens sealed streams: the function can go")
	}
}

// sizes are the most lines of code, tests left out, that parts of the module may have; caps go down with the
// code. go test . -run TestSizes -v prints what they have.
var sizes = []struct {
	name string
	most int
	in   func(pkg string) bool
}{
	{"the library at the root", 800, func(pkg string) bool { return pkg == "pawl" }},
	{"the command line (internal/cli)", 6766, func(pkg string) bool { return pkg == "pawl/internal/cli" }},
	{"replays (experiments)", 5903, func(pkg string) bool { return strings.HasPrefix(pkg, "pawl/experiments") }},
	{"the product, without replays, tools, examples, benchmarks and helpers of tests", 105650, func(pkg string) bool {
		for _, not := range []string{"pawl/experiments", "pawl/tools/", "pawl/examples/", "pawl/bench/", "pawl/compute/nn/bench", "pawl/compute/kernel/bench"} {
			if strings.HasPrefix(pkg, not) {
				return false
			}
		}
		return !slices.Contains(helpers, strings.TrimPrefix(pkg, "pawl/"))
	}},
}

// TestSizes holds parts of the module to their caps, and its root to twenty folders.
func TestSizes(t *testing.T) {
	all := packages(t)
	for _, part := range sizes {
		lines := 0
		for _, p := range all {
			if part.in(p.ImportPath) {
				n, _ := code(t, "."+strings.TrimPrefix(p.ImportPath, "pawl"))
				lines += n
			}
		}
		t.Logf("%s: %d lines", part.name, lines)
		if lines > part.most {
			t.Errorf("%s has %d lines of code, more than %d", part.name, lines, part.most)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	outputs := strings.Fields(string(ignore)) // of runs, which are no part of the project
	folders := 0
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(outputs, e.Name()+"/") && !slices.Contains(outputs, "/"+e.Name()+"/") {
			folders++
		}
	}
	t.Logf("folders at the root: %d", folders)
	if folders > 20 {
		t.Errorf("%d folders at the root, more than 20", folders)
	}
}
