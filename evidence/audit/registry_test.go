package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
)

// power is, by mechanism, the factor by which noise would have to fall short for the
// audit to be sure of it, with some room: 2 but where the score shows a part of what is
// released, or where the proof has slack.
var power = map[string]float64{
	"accuracy": 6, "accuracy, pure": 5, "absolute error": 4, // one number of several
	"group scores": 2.5, "tables": 2.5, "histograms": 2.5, "histograms, pure": 2.5, // zCDP, and few values
	"objective perturbation": 2.5, // the residual is below 1
	"minima perturbation":    12,  // the bound on Gaussian tails
	"selection":              4,   // the theorem holds for outputs ranked against the data
	"selection, Poisson":     4,
	// A curve of a sampled mechanism takes seconds; TestMutation shows what this one sees.
	"descent, sampled": 0,
}

// Null hypothesis: each mechanism of core is as private as it is priced. An honest one is
// convicted with probability 1e-6. Power: against a claim of power times the noise that it
// has, the same runs convict it.
func TestEveryMechanism(t *testing.T) {
	all, err := Mechanisms()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			v := acquitted(t, m)
			if v.Bound.Epsilon > v.Claim.Epsilon {
				t.Errorf("%v", v)
			}
			factor, ok := power[m.Name]
			switch {
			case !ok:
				factor = 2
			case factor == 0:
				return
			}
			lie := m
			lie.Event = louder(m.Event, factor)
			if v := judge(t, lie, scoresOf(t, m)); !v.Convicted {
				t.Errorf("a claim of %g times the noise: %v", factor, v)
			}
		})
	}
}

// louder is the event of the same mechanism with factor times the noise.
func louder(e dp.Event, factor float64) dp.Event {
	switch e := e.(type) {
	case dp.Gaussian:
		return dp.Gaussian{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.DiscreteGaussian:
		return dp.DiscreteGaussian{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.DiscreteLaplace:
		return dp.DiscreteLaplace{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.ZCDP:
		return dp.ZCDP{Rho: e.Rho / factor / factor}
	case dp.Pure:
		return dp.Pure{Epsilon: e.Epsilon / factor}
	case dp.Approximate:
		return dp.Approximate{Epsilon: e.Epsilon / factor, Delta: e.Delta / factor}
	case dp.PoissonSampled:
		return dp.PoissonSampled{Rate: e.Rate, Event: louder(e.Event, factor)}
	case dp.Repeat:
		return dp.Repeat{Count: e.Count, Event: louder(e.Event, factor)}
	case dp.Select:
		return dp.Select{Runs: e.Runs, Event: louder(e.Event, factor)}
	case dp.Compose:
		parts := make([]dp.Event, len(e.Events))
		for i, part := range e.Events {
			parts[i] = louder(part, factor)
		}
		return dp.Compose{Events: parts}
	}
	panic("no louder " + dp.KindOf(e))
}

// notAlone are functions that take a permit and are audited through another: the plural
// runs under the singular, and sums are
// under counts, tables, scores, means, descent, boosting and
// least squares. StdDev reads no row.
var notAlone = []string{"convex.PerturbObjectives", "sum.Cells.Release", "sum.Moments.Release", "sum.Linear.Open", "sum.Terms.Open", "sum.Privacy.StdDev", "sum.Regression.Release"}

// Every exported function of core that takes a permit has an audit, and no audit names a
// function that is gone.
func TestRegistryCoversCore(t *testing.T) {
	var want []string
	root := filepath.Join("..", "..", "core")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "internal" || d.Name() == "ledger"):
			return filepath.SkipDir // the one opens rows and releases nothing, the other sells permits
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Name.IsExported() && takesPermit(f) {
				want = append(want, file.Name.Name+"."+receiver(f)+f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 15 {
		t.Fatalf("found %q only: this test reads the sources wrongly", want)
	}
	all, err := Mechanisms()
	if err != nil {
		t.Fatal(err)
	}
	have := slices.Clone(notAlone)
	names := map[string]bool{}
	for _, m := range all {
		if names[m.Name] {
			t.Errorf("two mechanisms named %q", m.Name)
		}
		names[m.Name] = true
		have = append(have, m.Entry)
		if !slices.Contains(want, m.Entry) {
			t.Errorf("%q audits %s, which core does not have", m.Name, m.Entry)
		}
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			t.Errorf("no two-world audit of %s: add one to Mechanisms", w)
		}
	}
}

func takesPermit(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Permit" {
				return true
			}
		}
	}
	return false
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}

func TestFind(t *testing.T) {
	if m, err := Find("count"); err != nil || m.Entry != "release.Count.Release" {
		t.Errorf("%+v, %v", m.Name, err)
	}
	if _, err := Find("no such thing"); err == nil || !strings.Contains(err.Error(), `"count"`) {
		t.Errorf("%v does not list what there is", err)
	}
}
