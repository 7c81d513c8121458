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

// trusted lists the packages on which the guarantee rests, with the most lines of code that
// each may have and what it is allowed to do. A cap is the size of the day rounded up: code that has
// become smaller takes its cap along, and one that must grow says why in the commit that
// raises it.
var trusted = []struct {
	name string
	most int
	// opens and draws: it calls what opens sealed rows; it draws noise.
	opens, draws bool
	does         string
}{
	{"core/internal/sealed", 550, false, false, "holds sealed rows and permits; opens rows against a booked event"},
	{"core/internal/design", 750, false, false, "lays opened rows out for sums over linear models"},
	{"core/noise", 500, false, true, "draws noise of every law and rounds sums to their grid"},
	{"core/internal/crew", 50, false, false, "runs jobs over opened rows side by side; a panic shows no cell"},
	{"core/sum", 950, true, true, "opens, bounds, adds up, adds noise on a grid: integer cells, moments, gradients of linear models, tables of boosting, least squares"},
	{"core/release", 1000, true, true, "says what a row adds to counts, tables, scores, histograms, moments; noisy rows"},
	{"core/gradient", 1150, true, true, "DP-SGD on networks: clips, sums, adds noise, step by step; what descent and boosting make of sums"},
	{"core/convex", 950, true, true, "perturbed objectives and minimisers; what least squares makes of sums"},
	{"core/selection", 200, false, false, "releases the best of a secret number of runs"},
	{"core/intake", 400, false, false, "seals rows: units, bounds, scopes"},
	{"core/entropy", 350, false, false, "keyed streams of random bits"},
	{"core/identity", 1000, false, false, "tells copies of a data set by keyed prints, before rows are sealed"},
	{"core/dp", 900, false, false, "says what an event is"},
	{"core/accountant", 4600, false, false, "prices events"},
	{"core/ledger", 4400, false, false, "books events before rows open; makes permits"},
	{"core/ledger/pricing", 60, false, false, "joins the ledger to the accountant"},
	{"data/schema", 2000, false, false, "declares columns, bounds and units: public facts"},
	{"data/encode", 750, false, false, "maps a row to a vector of bounded norm by public facts"},
	{"compute/kernel", 1700, false, false, "arithmetic on vectors and matrices; a cipher's key stream"},
}

// openers are the functions of internal/sealed by which a mechanism gets at rows.
var openers = []string{"sealed.Open", "sealed.OpenPublic"}

// TestTrustedBase holds every package of core to its cap and to what it may do, and
// docs/TRUSTED.md to this list; go test . -run TestTrustedBase -update writes that file.
func TestTrustedBase(t *testing.T) {
	listed := map[string]bool{"core/ledger/ledgertest": true} // for tests only
	var table strings.Builder
	opening, money := 0, 0
	lines := make([]int, len(trusted))
	for i, p := range trusted {
		listed[p.name] = true
		n, calls := code(t, filepath.FromSlash(p.name))
		lines[i] = n
		if n > p.most {
			t.Errorf("%s has %d lines of code, more than its cap of %d", p.name, n, p.most)
		}
		if p.most > n+n/4+50 {
			t.Errorf("%s has %d lines of code: lower its cap of %d", p.name, n, p.most)
		}
		for call := range calls {
			if slices.Contains(openers, call) && !p.opens {
				t.Errorf("%s must not open rows (%s)", p.name, call)
			}
			if strings.HasPrefix(call, "noise.") && !p.draws {
				t.Errorf("%s must not draw noise (%s)", p.name, call)
			}
		}
		may := []string{}
		if p.opens {
			may = append(may, "opens rows")
		}
		if p.draws {
			may = append(may, "draws noise")
		}
		fmt.Fprintf(&table, "| `%s` | %d | %d | %s | %s |\n", p.name, roundUp(n), p.most, strings.Join(may, ", "), p.does)
		switch {
		case p.name == "core/dp" || p.name == "core/accountant" || strings.HasPrefix(p.name, "core/ledger"):
			money += n
		case strings.HasPrefix(p.name, "core/") && p.name != "core/identity":
			opening += n
		}
	}
	for _, p := range packages(t) {
		if name, ok := strings.CutPrefix(p.ImportPath, "pawl/"); ok && strings.HasPrefix(name, "core/") && !listed[name] {
			t.Errorf("%s has no place in the trusted base: give it one here", name)
		}
	}
	path := filepath.Join("docs", "TRUSTED.md")
	if *update {
		text := fmt.Sprintf(trustedHead, table.String(), roundUp(opening), roundUp(money))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Counts may lag a little behind, so that not every change of a line has to write the file.
	row := regexp.MustCompile("(?m)^\\| `(.*?)` \\| (\\d+) \\| (\\d+) \\|")
	rows := row.FindAllStringSubmatch(string(text), -1)
	if len(rows) != len(trusted) {
		t.Fatalf("%s has %d packages, not %d: run this test with -update", path, len(rows), len(trusted))
	}
	for i, r := range rows {
		n, _ := strconv.Atoi(r[2])
		if r[1] != trusted[i].name || r[3] != strconv.Itoa(trusted[i].most) || 20*max(n-lines[i], lines[i]-n) > lines[i]+1200 {
			t.Errorf("%s is out of date about %s: run this test with -update", path, trusted[i].name)
		}
	}
}

const trustedHead = "# The trusted base\n\n" +
	"Made by `go test . -run TestTrustedBase -update`, which fails where a package is larger than its cap, opens rows or draws noise\n" +
	"without leave, or is not listed. Lines are those of Go code, without tests, blank lines and comments,\n" +
	"rounded up to the next 50. Opening rows is calling\n" +
	"`sealed.Open` or `sealed.OpenPublic`; drawing noise is calling `core/noise`.\n\n" +
	"| package | lines | cap | may | what it does |\n|---|---|---|---|---|\n%s\n" +
	"Code of `core` that handles rows, permits, random bits and noise (all of it but `identity`, `dp`, `accountant` and `ledger`): %d lines.\n" +
	"Events, prices and the ledger: %d.\n"

// roundUp leaves the table alone where a few lines come or go.
func roundUp(lines int) int { return (lines + 49) / 50 * 50 }

// code counts the lines of a package that are neither blank nor a comment, tests left out,
// and lists the functions of other packages that it calls, by package and name.
func code(t *testing.T, folder string) (lines int, calls map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no code in %s (%v)", folder, err)
	}
	calls = map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
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
					calls[x.Name+"."+n.Sel.Name] = true
				}
			}
			used[set.Position(n.Pos()).Line], used[set.Position(n.End()-1).Line] = true, true
			return true
		})
		lines += len(used)
	}
	return lines, calls
}
