package pawl_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Releases are built for other platforms than the one at hand (tools/release.sh), and
// these two cover the files that differ. A build for each would take minutes; that the
// types agree takes seconds.
func TestTypesOnOtherPlatforms(t *testing.T) {
	c := &checker{fset: token.NewFileSet(), files: map[string]*ast.File{}}
	for _, p := range []string{"windows/amd64", "darwin/arm64"} {
		goos, arch, _ := strings.Cut(p, "/")
		if err := c.check(goos, arch); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// checker checks the types of the command and of what it is made of, from source.
type checker struct {
	fset   *token.FileSet
	files  map[string]*ast.File // parsed, whatever the platform
	listed map[string]*source
	done   map[string]*types.Package
	sizes  types.Sizes
}

type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	Standard        bool
}

func (c *checker) check(goos, arch string) error {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Standard", "./cmd/pawl")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %v", err)
	}
	c.listed, c.done, c.sizes = map[string]*source{}, map[string]*types.Package{}, types.SizesFor("gc", arch)
	var own []string
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var s source
		if err := in.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		c.listed[s.ImportPath] = &s
		if s.Module != nil && s.Module.Main {
			own = append(own, s.ImportPath)
		}
	}
	for _, path := range own {
		if _, err := c.load(path); err != nil {
			return err
		}
	}
	if len(own) < 30 {
		return fmt.Errorf("only %d packages were checked", len(own))
	}
	return nil
}

// load checks a package and what it imports by name: bodies of functions in the module
// alone, for what others contain is theirs.
func (c *checker) load(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := c.done[path]; p != nil {
		return p, nil
	}
	s := c.listed[path]
	if s == nil {
		return nil, fmt.Errorf("%s is not listed", path)
	}
	mine := s.Module != nil && s.Module.Main
	var files []*ast.File
	named := map[string]bool{"unsafe": true}
	for _, name := range s.GoFiles {
		name = filepath.Join(s.Dir, name)
		f := c.files[name]
		if f == nil {
			var err error
			if f, err = parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			if !mine {
				for _, d := range f.Decls { // bodies would be kept for nothing
					if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
						d.Body = &ast.BlockStmt{}
					}
				}
			}
			c.files[name] = f
		}
		files = append(files, f)
		for _, i := range f.Imports {
			if i.Name == nil || i.Name.Name != "_" {
				named[strings.Trim(i.Path.Value, `"`)] = true
			}
		}
	}
	conf := types.Config{Sizes: c.sizes, IgnoreFuncBodies: !mine, FakeImportC: true, Importer: through(func(imported string) (*types.Package, error) {
		if !named[imported] {
			p := types.NewPackage(imported, "nameless")
			p.MarkComplete()
			return p, nil
		}
		if to := s.ImportMap[imported]; to != "" {
			imported = to
		}
		return c.load(imported)
	})}
	p, err := conf.Check(path, c.fset, files, nil)
	if err != nil {
		return nil, err
	}
	c.done[path] = p
	return p, nil
}

type through func(string) (*types.Package, error)

func (f through) Import(path string) (*types.Package, error) { return f(path) }
