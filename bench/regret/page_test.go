package main

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/data/schema"
)

var update = flag.Bool("update", false, "write the tables into docs/ADVICE.md")

// The tables in docs/ADVICE.md are the stored scores, and every case of every rule is among them.
func TestAdvicePage(t *testing.T) {
	cells, err := read("regret.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		for _, p := range r.cases {
			for _, epsilon := range p.epsilons {
				found := false
				for _, c := range cells {
					found = found || c.same(cell{rule: r.name, data: p.data, target: p.target, rows: p.rows, epsilon: epsilon})
				}
				if !found {
					t.Errorf("%s: %s of %s at ε %s is not measured: go run ./bench/regret", r.name, p.target, p.data, epsilon)
				}
			}
		}
	}
	path := filepath.Join("..", "..", "docs", "ADVICE.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!--regret-->\n", "<!--/regret-->"
	before, rest, ok := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %s … %s", path, begin, end)
	}
	want := before + begin + page(cells) + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(content) {
		t.Errorf("%s differs from regret.csv: go test ./bench/regret -update", path)
	}
}

// The interval of paired differences 1, 2, 3 is 2 ± t(0.975, 2)·1/√3.
func TestDifference(t *testing.T) {
	mean, half := difference([]float64{2, 4, 6}, []float64{1, 2, 3})
	if mean != 2 || math.Abs(half-4.302653/math.Sqrt(3)) > 1e-5 {
		t.Errorf("%v ± %v", mean, half)
	}
}

// A target of two classes that are made of a column is the rows that have it, and what is no such column or level is refused.
func TestClasses(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "hours", Type: schema.Integer, Upper: 99}, {Name: "work", Type: schema.Categorical, Categories: []string{"Private", "none"}}}}
	for target, value := range map[string]float64{"hours > 40": 41, "work = none": 1} {
		column, has, err := problem{target: target}.classes(s)
		if err != nil || !has(value) || has(value-1) || s.Column(column) < 0 {
			t.Errorf("%s: column %s, %v", target, column, err)
		}
	}
	if _, has, err := (problem{target: "hours"}).classes(s); err != nil || has != nil {
		t.Error(err)
	}
	for _, target := range []string{"age > 40", "hours > x", "work = public"} {
		if _, _, err := (problem{target: target}).classes(s); err == nil {
			t.Errorf("%s is a target", target)
		}
	}
}

// What is written is read back, and a file that is none is refused with its line.
func TestStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	p := rules[0].cases[0]
	c := cell{rule: rules[0].name, data: p.data, target: p.target, rows: p.rows, epsilon: p.epsilons[0], ratio: 108.5, mine: []float64{1, 2.125}, theirs: []float64{0, -1}}
	if err := write(path, []cell{c}); err != nil {
		t.Fatal(err)
	}
	got, err := read(path)
	if err != nil || len(got) != 1 || !got[0].same(c) || got[0].ratio != 108.5 || got[0].mine[1] != 2.125 || got[0].theirs[1] != -1 {
		t.Fatalf("%+v, %v", got, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), "2.125", "2,5", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path); err == nil {
		t.Error("a damaged file is read")
	}
}
