package space_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pawl/internal/stattest"
	"pawl/search/space"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func decode(t testing.TB, text string) *space.Space {
	t.Helper()
	s, err := space.Decode("test.yaml", []byte("version: 1\nname: test\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tester is testing.TB or *rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
}

func draw(t tester, s *space.Space, src space.Source) space.Point {
	t.Helper()
	p, err := s.Draw(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func keys(t testing.TB, s *space.Space) []string {
	t.Helper()
	all, err := s.All()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for p := range all {
		out = append(out, p.Key())
	}
	return out
}

// The counts of the papers: 15 + 15·9 + 15·9·12 fully connected nets, of which
// 45 + 135·7 + 1,620·15 choose trainable layers; 24 convolutional nets and
// 12·15 + 12·31 with trainable layers; 5·3·3 in the example; 40 + 280 + 4
// hyperparameters.
func TestBuiltInSizes(t *testing.T) {
	want := map[string]string{
		"fcn": "1770", "fcn-trainable": "25290", "cnn": "24", "cnn-trainable": "552", "example": "45",
		"optimizers": "324", "settings": "25", "learners": "2", "arous": "continuous (3 finite choices)", "tabular": "110",
	}
	if got := space.List(); len(got) != len(want) {
		t.Errorf("got %v, want %d spaces", got, len(want))
	}
	manual, err := os.ReadFile("../../docs/SPACES.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range want {
		if line := "| `" + name + "` | " + strings.Fields(size)[0] + " |"; !strings.Contains(strings.ReplaceAll(string(manual), ",", ""), line) {
			t.Errorf("docs/SPACES.md lacks %s", line)
		}
		s, ok := space.Lookup(name)
		if !ok {
			t.Fatalf("%s is missing", name)
		}
		if got := s.Size().String(); got != size {
			t.Errorf("%s: got %s points, want %s", name, got, size)
		}
		if s.Name() != name {
			t.Errorf("%s: its name is %s", name, s.Name())
		}
		if s.Size().Continuous {
			continue
		}
		all := keys(t, s)
		if got := fmt.Sprint(len(all)); got != size {
			t.Errorf("%s: got %s points listed, want %s", name, got, size)
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != len(keys(t, s)) {
			t.Errorf("%s lists a point twice", name)
		}
	}
}

func TestOptimizerGrids(t *testing.T) {
	s, _ := space.Lookup("optimizers")
	all, err := s.All()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for p := range all {
		o, _ := p.Text("optimizer")
		got[o]++
	}
	if got["sgd"] != 40 || got["momentum"] != 280 || got["adam"] != 4 {
		t.Errorf("got %v", got)
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a constant", "dimensions: {a: 3}", "1"},
		{"lists", "dimensions: {a: [1, 2], b: [x, y, z], c: [true, false]}", "12"},
		{"integers", "dimensions: {a: {integers: [1, 64]}}", "64"},
		{"integers with a step", "dimensions: {a: {integers: [1, 10], step: 4}}", "3"},
		{"integers on a log scale", "dimensions: {a: {integers: [16, 1024], scale: log, steps: 7}}", "7"},
		{"steps", "dimensions: {a: {reals: [0, 1], steps: 11}}", "11"},
		{"continuous", "dimensions: {a: {reals: [0, 1]}, b: [1, 2]}", "continuous (2 finite choices)"},
		{"subsets", "dimensions: {a: {subset: [p, q, r, s], size: [1, 2]}}", "10"},
		{"subsets with none", "dimensions: {a: {subset: [p, q, r], size: [0, 3]}}", "8"},
		{"subsets of one size", "dimensions: {a: {subset: [p, q, r, s, u], size: 3}}", "10"},
		{"chain of conditions", "dimensions: {a: [1, 2], b: {values: [1, 2, 3], when: {a: 2}}, c: {values: [1, 2], when: {b: '>= 2'}}}", "6"},
		{"declared before what it tests", "dimensions: {b: {values: [1, 2, 3], when: {a: 2}}, a: [1, 2]}", "4"},
		{"two conditions", "dimensions: {a: [1, 2], b: [x, y], c: {values: [1, 2, 3], when: {a: 1, b: '!= x'}}}", "6"},
		{"continuous only sometimes", "dimensions: {a: [1, 2], b: {reals: [0, 1], when: {a: 2}}}", "continuous (2 finite choices)"},
		{"larger than a word", "dimensions: {" + wide(22) + "}", "10000000000000000000000"},
		{"larger than a word, tied", "dimensions: {z: [1, 2], " + strings.ReplaceAll(wide(22), "}", ", when: {z: 1}}") + "}", "10000000000000000000001"},
		{"constraint", "dimensions: {a: [1, 2, 3], b: [1, 2, 3]}\nconstraints: [a >= b]", "6"},
		{"constraint and an unrelated dimension", "dimensions: {a: [1, 2, 3], b: [1, 2, 3], c: [x, y]}\nconstraints: [a >= b]", "12"},
		{"absent sides hold", "dimensions: {n: [1, 2], a: [1, 2], b: {values: [1, 2], when: {n: 2}}}\nconstraints: [a >= b]", "5"},
		{"too many to list", "dimensions: {a: {integers: [1, 100000]}, b: {integers: [1, 100000]}}\nconstraints: [a >= b]", "at most 10000000000"},
		{"constraint with a condition", "dimensions: {a: [1, 2], b: [1, 2]}\nconstraints: [{check: b == 1, when: {a: 2}}]", "3"},
		{"words are compared", "dimensions: {a: [x, y], b: [x, y]}\nconstraints: ['a != b', 'a == \"x\"']", "1"},
		{"sum over active ones", "dimensions: {n: [1, 2], a: [true, false], b: {values: [true, false], when: {n: 2}}}\nconstraints: ['sum(a, b) >= 1']", "4"},
		{"sizes of subsets", "dimensions: {a: {subset: [p, q, r]}, k: [1, 2]}\nconstraints: [size(a) <= k]", "9"},
		{"arithmetic", "dimensions: {a: [1, 2, 3, 4], b: [1, 2, 3, 4]}\nconstraints: ['2 * (a - 1) / b + max(a, b, 3) * -1 < -2']", "8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := decode(t, c.text)
			if got := s.Size().String(); got != c.want {
				t.Errorf("got %s points, want %s", got, c.want)
			}
			if n := s.Size(); n.Exact && !n.Continuous && n.Points.IsInt64() {
				if got := len(keys(t, s)); int64(got) != n.Points.Int64() {
					t.Errorf("listed %d points, counted %v", got, n.Points)
				}
			}
		})
	}
}

// wide is n dimensions of ten values.
func wide(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("w%d: {integers: [1, 10]}", i))
	}
	return strings.Join(parts, ", ")
}

// even judges equal chances by Pearson's statistic; its false-alarm rate is
// stattest.FalseAlarm, 1e-6.
func even(name string, count []int) stattest.Verdict {
	n := 0
	for _, c := range count {
		n += c
	}
	return stattest.ChiSquare(name, count, slices.Repeat([]float64{float64(n) / float64(len(count))}, len(count)))
}

// Null: draws are uniform over the listed points of each of six spaces; 100 draws a
// point.
func TestDrawsAreUniform(t *testing.T) {
	spaces := map[string]*space.Space{
		"conditions on conditions": decode(t, "dimensions: {a: [1, 2, 3], b: {values: [1, 2, 3, 4, 5], when: {a: '>= 2'}}, c: {values: [1, 2, 3], when: {b: [2, 4]}}, d: [x, y]}"),
		"a subset":                 decode(t, "dimensions: {f: {subset: [p, q, r, s, u, v], size: [1, 3]}}"),
		"constraints":              decode(t, "dimensions: {n: [1, 2], a: {integers: [1, 8]}, b: {integers: [1, 8], when: {n: 2}}, c: [x, y, z]}\nconstraints: [a >= b]"),
	}
	for _, name := range []string{"fcn", "cnn-trainable", "tabular"} {
		spaces[name], _ = space.Lookup(name)
	}
	for name, s := range spaces {
		count := map[string]int{}
		for _, k := range keys(t, s) {
			count[k] = 0
		}
		points := len(count)
		rng := random(7)
		for range 100 * points {
			count[draw(t, s, rng).Key()]++
		}
		if len(count) != points {
			t.Fatalf("%s: %d points drawn that are not listed", name, len(count)-points)
		}
		stattest.Accept(t, even(name, slices.Collect(maps.Values(count))))
	}
}

// Where constraints have too many points to list, draws are uniform all the same:
// χ² over ten equal parts of {(a, b): a ≥ b}, by the rank of a point.
func TestRejectionIsUniform(t *testing.T) {
	s := decode(t, "dimensions: {a: {integers: [1, 1000]}, b: {integers: [1, 1000]}}\nconstraints: [a >= b]")
	if s.Size().Exact {
		t.Fatal("this space was to be too large to list")
	}
	const n, parts, total = 50000, 10, 1000 * 1001 / 2
	count := make([]int, parts)
	rng := random(3)
	for range n {
		p := draw(t, s, rng)
		a, _ := p.Int("a")
		b, _ := p.Int("b")
		if a < b {
			t.Fatalf("%v violates the constraint", p)
		}
		count[(a*(a-1)/2+b-1)*parts/total]++
	}
	// The parts hold equally many points up to one in 50,000, which 50,000 draws cannot
	// tell.
	stattest.Accept(t, even("parts", count))
}

// Null: continuous ranges are uniform on their scale; a linear range, and a log range
// that is active in half of 20,000 draws.
func TestContinuousRanges(t *testing.T) {
	s := decode(t, "dimensions: {a: [1, 2], b: {reals: [-1, 3]}, c: {reals: [0.001, 10], scale: log, when: {a: 2}}}")
	var linear, log []float64
	rng := random(5)
	for range 20000 {
		p := draw(t, s, rng)
		b, _ := p.Float("b")
		linear = append(linear, (b+1)/4)
		if c, ok := p.Float("c"); ok {
			log = append(log, math.Log(c/0.001)/math.Log(10/0.001))
		}
	}
	uniform := func(x float64) float64 { return x }
	stattest.Accept(t, stattest.Proportion("c active", len(log), 20000, 0.5))
	for name, x := range map[string][]float64{"linear": linear, "log": log} {
		slices.Sort(x)
		stattest.Accept(t, stattest.KS(name, x, uniform))
	}
}

// The tests above convict what they are there to convict: every raw gene drawn
// uniformly and then stripped of inactive ones.
func TestRawGenesAreConvicted(t *testing.T) {
	s, _ := space.Lookup("fcn")
	count := map[string]int{}
	for _, k := range keys(t, s) {
		count[k] = 0
	}
	rng := random(9)
	for range 20 * len(count) {
		values := map[string]space.Value{}
		for _, name := range s.Dimensions() {
			all := s.Values(name)
			values[name] = all[rng.IntN(len(all))]
		}
		for i := int(values["layers"].Float()) + 1; i <= 3; i++ {
			delete(values, fmt.Sprintf("units_%d", i))
			delete(values, fmt.Sprintf("activation_%d", i))
		}
		p, err := s.Point(values)
		if err != nil {
			t.Fatal(err)
		}
		count[p.Key()]++
	}
	stattest.Convict(t, even("raw genes", slices.Collect(maps.Values(count))))
}

func TestSteps(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"linear", "{reals: [0, 1], steps: 11}", "[0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1]"},
		{"log", "{reals: [0.001, 1], scale: log, steps: 4}", "[0.001 0.01 0.1 1]"},
		{"integers", "{integers: [16, 1024], scale: log, steps: 7}", "[16 32 64 128 256 512 1024]"},
		{"a step", "{integers: [-3, 4], step: 3}", "[-3 0 3]"},
		{"numbers that YAML reads as words", "[1e-3, 2E4, 1_000, 0x10, .5]", "[0.001 20000 1000 16 0.5]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fmt.Sprint(decode(t, "dimensions: {a: "+c.text+"}").Values("a")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestNestedLoops(t *testing.T) {
	got := keys(t, decode(t, "dimensions: {b: [1, 2], a: [x, y], c: [true, false]}"))
	want := []string{"a=x b=1 c=true", "a=x b=1 c=false", "a=y b=1 c=true", "a=y b=1 c=false", "a=x b=2 c=true", "a=x b=2 c=false", "a=y b=2 c=true", "a=y b=2 c=false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestDiscretize(t *testing.T) {
	s, _ := space.Lookup("arous")
	if _, err := s.All(); err == nil || !strings.Contains(err.Error(), "learning_rate is continuous") {
		t.Errorf("got %v", err)
	}
	grid, err := s.Discretize(5)
	if err != nil {
		t.Fatal(err)
	}
	if got := grid.Size().String(); got != "35" { // 5·(2 + 5)
		t.Errorf("got %s points", got)
	}
}
