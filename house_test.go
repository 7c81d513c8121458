package pawl_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages of the module from the bottom up: a package may
// import those of lower layers, and of its own where listed in peers.
var layers = [][]string{
	{"compute/kernel", "data/memo", "internal/usage", "internal/whole", "internal/build"},
	{"data/schema", "core/dp", "core/accountant/search", "core/entropy", "core/identity", "data/packed", "data/columnar", "data/text", "search/evolve"},
	{"data/images", "data/infer"},
	{"data/encode", "core/accountant/lower", "search/space", "reader", "compute/scatter", "compute/onnx", "core/internal/sealed"},
	{"core/noise", "core/accountant", "core/ledger/outlook", "core/internal/design", "core/internal/crew", "core/internal/newton", "data/dataset", "search/feature"},
	{"core/ledger", "core/accountant/calibrate", "core/accountant/meaning", "core/intake", "core/sum", "core/internal/logistic"},
	{"core/ledger/pricing", "core/ledger/figures", "core/release", "core/localrows", "core/public", "core/linear", "core/gradient", "core/convex", "core/selection", "store/records", "store/memory", "store/heads"},
	{"compute/nn", "compute/optim", "evidence/audit/bound", "evidence/cells", "evidence/quality", "store/sqlite", "store/postgres"},
	{"compute/zoo", "evidence/audit", "evidence/audit/attack", "data/table", "store"},
	{"model", "search/space/net", "evidence/audit/inference", "data/source"},
	{"learn"},
	{"evidence/advise", "report", "evidence/theory", "search", "search/feature/aware", "model/export"},
	{"search/study", "search/space/table", "workflow/checkpoint", "learn/describe"},
	{"search/fleet"},
	{"workflow", "internal/cost", "report/trials"},
	{"internal/request"},
	{"evidence/audit/membership", "evidence/advise/query", "evidence/verify"},
	{"experiments", "experiments/formulas", "evidence/audit/campaign"},
	{"evidence/lab"},
	{"evidence/crossover"},
	{"evidence/crossover/basis", "experiments/dfs", "experiments/published"},
	{"experiments/replay", "experiments/selectionstudy"},
	{"experiments/runners", "evidence/menu"},
	{"experiments/book"},
	{"serve"},
	{"internal/cli", "tools/sabotage", "tools/sabotage/quick"},
	{"search/fleet/broker"},
	{"cmd/pawl", "cmd/pawl-broker", "bench/table", "bench/epoch", "bench/rows", "bench/regret"},
}

// beneath is what core may import from outside: public declarations, public maps
// and arithmetic. None of it knows a permit or a row.
var beneath = []string{"data/schema", "data/encode", "data/memo", "data/packed", "compute/kernel"}

// testing helpers may be imported by tests only.
var helpers = []string{"internal/recorded", "internal/stattest", "core/ledger/ledgertest"}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func layer(pkg string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, pkg) })
}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, "pawl/")
		if p.ImportPath == "pawl" || slices.Contains(helpers, from) {
			continue
		}
		at := layer(from)
		if at < 0 {
			t.Errorf("package %s has no layer: give it one in house_test.go", from)
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, "pawl/")
			switch {
			case !ours:
			case slices.Contains(helpers, to):
				t.Errorf("%s imports %s outside of its tests", from, to)
			case layer(to) >= at:
				t.Errorf("%s (layer %d) must not import %s (layer %d)", from, at, to, layer(to))
			case strings.HasPrefix(from, "core/") && !strings.HasPrefix(to, "core/") && !slices.Contains(beneath, to):
				t.Errorf("core must stand on core and %v alone: %s imports %s", beneath, from, to)
			}
		}
	}
}

// thin lists the files of the command line that do their work through the library: of the
// packages of pawl they import the root alone.
var thin = []string{"fit.go", "train.go", "search.go", "select.go", "describe.go", "plan.go", "predict.go", "account.go", "calibrate.go", "calibratefile.go", "job.go", "checkpoint.go", "embeddings.go"}

func TestThinCommands(t *testing.T) {
	for _, name := range thin {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("internal/cli", name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(path, "pawl/") {
				t.Errorf("internal/cli/%s imports %s: what it needs is offered by the root package", name, path)
			}
		}
	}
}

// published lists where an honest job names what the files published*.go of workflow declare: where a job is
// made, where its input is checked, and where a search does what it is told (fields of other packages have some of the names).
var published = map[string][]string{
	"fit.go":         {"standard"},
	"search.go":      {"pricePublished", "Published"},
	"searchnets.go":  {"publishedScore"},
	"searchwords.go": {"publishedEpsilon", "Published", "PublishedSearch"},
	"select.go":      {"published", "publishedLocal", "publishedPAFS", "Published", "PublishedSearch"},
	"selectcheck.go": {"Published", "checkPublishedPAFS", "everyLevelAColumn", "publishedTraining"},
}

// Procedures as published read rows without paying, on public data. What they do stands in files of its own, and no
// other file of workflow can come to do it by calling it.
func TestPublishedProceduresStandApart(t *testing.T) {
	files, err := filepath.Glob("workflow/*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, methods, others := map[string]bool{}, map[string]bool{}, map[string]*ast.File{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		switch {
		case strings.HasSuffix(base, "_test.go"):
			continue
		case !strings.HasPrefix(base, "published"):
			others[base] = file
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					methods[f.Name.Name] = true
				}
			}
			continue
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						declared[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							declared[n.Name] = true
						}
					}
				}
			}
		}
	}
	named := map[string]bool{}
	for base, file := range others {
		ast.Inspect(file, func(n ast.Node) bool {
			// The methods of a job, which all kinds have, name nothing in particular.
			if id, ok := n.(*ast.Ident); ok && declared[id.Name] && !methods[id.Name] {
				if named[base+" "+id.Name] = true; !slices.Contains(published[base], id.Name) {
					t.Errorf("workflow/%s names %s, which is for procedures as published", base, id.Name)
				}
			}
			return true
		})
	}
	for base, names := range published {
		for _, name := range names {
			if !named[base+" "+name] {
				t.Errorf("workflow/%s names %s no more: take it off the list", base, name)
			}
		}
	}
}

// No function of core that takes a permit takes a source of randomness beside it: the
// noise of a mechanism is the permit's, never the caller's.
func TestNoMechanismTakesASource(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("core", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.FuncType)
			if !ok {
				return true
			}
			permit, source := false, false
			for _, field := range f.Params.List {
				of := types.ExprString(field.Type)
				permit = permit || strings.HasSuffix(of, "Permit")
				source = source || strings.HasSuffix(of, "Source")
			}
			if permit {
				seen++
			}
			if permit && source {
				t.Errorf("%s: a function takes a permit and a source", files.Position(f.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatalf("%d functions of core take a permit (%v)", seen, err)
	}
}

// Code outside core that wants to open rows must not compile. Each file of
// internal/peek/testdata says in its first line what the compiler has to answer.
func TestRowsCannotBeOpenedOutsideCore(t *testing.T) {
	files, err := filepath.Glob("internal/peek/testdata/*.go.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("want at least 6 attempts in internal/peek/testdata, got %d (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(code), "\n")
			want, ok := strings.CutPrefix(first, "// want: ")
			if !ok {
				t.Fatalf("first line must be // want: …, got %q", first)
			}
			// An overlay puts the file into a package outside core without writing it
			// there.
			source, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			place, err := filepath.Abs("internal/peek/peek.go")
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{place: source}})
			if err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(t.TempDir(), "overlay.json")
			if err := os.WriteFile(list, overlay, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "build", "-overlay", list, "./internal/peek").CombinedOutput()
			if err == nil {
				t.Fatalf("it compiles: rows can be opened outside core")
			}
			if !strings.Contains(string(out), want) {
				t.Fatalf("compiler said\n%s\nwant %q", out, want)
			}
		})
	}
}
