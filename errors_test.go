package pawl_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/usage"
)

// commandOnly are flags that texts of packages under the library name, of commands that it does
// not offer.
var commandOnly = []string{"format", "header", "ignore", "infer", "json", "no-header", "numbers", "pay", "per", "rows-per-unit", "trial-limit", "units"}

// Errors of the library name fields: every flag in a text of a package that the library is made
// of, outside of command lines, stands for a name of the root package.
func TestEveryFlagIsAField(t *testing.T) {
	known := names(t)
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`--[a-z][a-z-]*`)
	seen := map[string]bool{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.ImportPath, "pawl") {
			continue
		}
		for _, name := range p.GoFiles {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				for _, f := range flags.FindAllString(text, -1) {
					if !strings.Contains(usage.Fields(text), f) { // else it is in a command line
						seen[f[2:]] = true
					}
				}
				return true
			})
		}
	}
	if len(seen) < 50 {
		t.Fatalf("only %d flags were found", len(seen))
	}
	for f := range seen {
		missing := false
		for name := range strings.FieldsFuncSeq(usage.Field(f), func(r rune) bool { return r == '.' || r == ' ' }) {
			missing = missing || name != "or" && name != "of" && !known[name]
		}
		if missing == !slices.Contains(commandOnly, f) {
			t.Errorf("--%s becomes %s: not a name of package pawl, and not of a command alone (or no longer)", f, usage.Field(f))
		}
	}
}

// names are the exported functions and fields of the root package, and the parameters of functions.
func names(t *testing.T) map[string]bool {
	known := map[string]bool{}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Name.IsExported() {
						known[n.Name.Name] = true
						for _, p := range n.Type.Params.List {
							for _, name := range p.Names {
								known[name.Name] = true
							}
						}
					}
					return false
				case *ast.StructType:
					for _, f := range n.Fields.List {
						for _, name := range f.Names {
							known[name.Name] = known[name.Name] || name.IsExported()
						}
					}
				}
				return true
			})
		}
	}
	return known
}

func TestErrorsNameFields(t *testing.T) {
	ctx := context.Background()
	led, err := pawl.OpenLedger(ctx, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer led.Close()
	adult, err := pawl.Open("adult", "")
	if err != nil {
		t.Fatal(err)
	}
	one := pawl.Budget{Epsilon: "1"}
	for want, job := range map[string]pawl.Job{
		"missing Epsilon":              pawl.Fit{Target: "income"},
		"needs Reason":                 pawl.Fit{Target: "income", Budget: one, Identity: pawl.Identity{Different: true}},
		"SameAs":                       pawl.Fit{Target: "income", Budget: one, Identity: pawl.Identity{SameAs: "other"}},
		"Search and Model exclude":     pawl.Fit{Target: "income", Budget: one, Search: true, Model: "linear"},
		"missing Model":                pawl.Train{Budget: one},
		"Batch":                        pawl.Train{Budget: one, Model: "fcn-64", Batch: 10, SamplingRate: 0.1},
		"missing Strategy":             pawl.Search{Space: "tabular", Train: pawl.Train{Budget: one}},
		"Count":                        pawl.Select{Target: "income", Budget: one, Method: "cfs-greedy", Count: "none"},
		"Columns lists":                pawl.Describe{Budget: one, Columns: []string{"age", "age"}},
		"use Delta 0 for pure epsilon": pawl.Fit{Target: "income", Budget: pawl.Budget{Epsilon: "1", Delta: "1e-200"}},
		"NoiseMultiplier, not both":    pawl.Train{Budget: one, Model: "fcn-64", NoiseMultiplier: 1},
		"Checkpoint.Every must":        pawl.Train{Budget: one, Model: "fcn-64", Checkpoint: pawl.Checkpoint{File: "x", Every: -1}},
	} {
		_, err := led.Plan(ctx, adult, job)
		if err == nil {
			t.Errorf("%s: planned", want)
			continue
		}
		text := err.Error() + "\n" + pawl.AsError(err).Hint()
		if !strings.Contains(text, want) || usage.Fields(text) != text {
			t.Errorf("%T: %s\nwant %s", job, text, want)
		}
	}
}
