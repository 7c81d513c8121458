package space_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/search/space"
)

// anySpace generates small spaces with conditions on earlier and later dimensions and
// constraints of the form a >= b, and skips those that New refuses.
func anySpace(t *rapid.T) *space.Space {
	d := space.Definition{Name: "any"}
	n := rapid.IntRange(1, 5).Draw(t, "dimensions")
	for i := range n {
		x := space.Dimension{Name: string(rune('a' + i))}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"relu", "tanh", "on", "a b", "1e5", "é\"\n"}), 1, 3, rapid.ID).Draw(t, "words") {
				x.Values = append(x.Values, space.TextValue(v))
			}
		case 1:
			x.Values = []space.Value{space.FlagValue(true), space.FlagValue(false)}
		case 2:
			x.Subset = &space.Subset{Of: []string{"p", "no", "r s"}, Max: 2}
		default:
			for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom([]float64{-1e-9, 0, 1, 2, 3, 1e30}), 1, 4, rapid.ID).Draw(t, "numbers") {
				x.Values = append(x.Values, space.NumberValue(v))
			}
		}
		d.Dimensions = append(d.Dimensions, x)
	}
	for i := range d.Dimensions {
		on := &d.Dimensions[rapid.IntRange(0, n-1).Draw(t, "on")]
		if rapid.Bool().Draw(t, "conditional") && on.Values != nil {
			d.Dimensions[i].When = []space.Condition{{Dimension: on.Name, Operator: rapid.SampledFrom([]string{"in", "!="}).Draw(t, "operator"), Values: []space.Value{rapid.SampledFrom(on.Values).Draw(t, "value")}}}
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "constraints") {
		a, b := d.Dimensions[rapid.IntRange(0, n-1).Draw(t, "left")], d.Dimensions[min(i, n-1)]
		if number(a) && number(b) {
			d.Constraints = append(d.Constraints, space.Constraint{Check: a.Name + " >= " + b.Name})
		}
	}
	s, err := space.New(d)
	if err != nil {
		t.Skip("refused: ", err)
	}
	return s
}

func number(d space.Dimension) bool { return d.Values != nil && d.Values[0].Kind() == space.Number }

// slow lists the points of a space by going through all raw genes and striking out
// what is not active, and what violates a constraint a >= b.
func slow(s *space.Space) map[string]bool {
	d := s.Definition()
	byName := map[string]space.Dimension{}
	choices := make([][]space.Value, len(d.Dimensions))
	for i, x := range d.Dimensions {
		byName[x.Name] = x
		choices[i] = x.Values
		if x.Subset != nil {
			for bits := range 1 << len(x.Subset.Of) {
				var names []string
				for k, name := range x.Subset.Of {
					if bits>>k&1 == 1 {
						names = append(names, name)
					}
				}
				if len(names) <= x.Subset.Max {
					choices[i] = append(choices[i], space.SetValue(names...))
				}
			}
		}
	}
	out := map[string]bool{}
	raw := map[string]space.Value{}
	var active func(name string) bool
	active = func(name string) bool {
		for _, c := range byName[name].When {
			if !active(c.Dimension) || raw[c.Dimension].Equal(c.Values[0]) != (c.Operator == "in") {
				return false
			}
		}
		return true
	}
	var walk func(i int)
	walk = func(i int) {
		if i < len(choices) {
			for _, v := range choices[i] {
				raw[d.Dimensions[i].Name] = v
				walk(i + 1)
			}
			return
		}
		for _, c := range d.Constraints {
			a, b, _ := strings.Cut(c.Check, " >= ")
			if active(a) && active(b) && raw[a].Float() < raw[b].Float() {
				return
			}
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(raw)) {
			if active(name) {
				parts = append(parts, name+"="+raw[name].String())
			}
		}
		out[strings.Join(parts, " ")] = true
	}
	walk(0)
	return out
}

func TestCountsAgainstRawGenes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySpace(t)
		want := slow(s)
		all, err := s.All()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		listed := 0
		for p := range all {
			got[p.Key()] = true
			listed++
		}
		if !maps.Equal(got, want) || listed != len(want) {
			t.Fatalf("%s\nlisted %d points, %d different, want %d", s.Encode(), listed, len(got), len(want))
		}
		if n := s.Size(); !n.Exact || n.Continuous || n.Points.String() != fmt.Sprint(len(want)) {
			t.Fatalf("%s\ncounted %v, want %d", s.Encode(), n, len(want))
		}
		rng := random(rapid.Uint64().Draw(t, "seed"))
		a, b := draw(t, s, rng), draw(t, s, rng)
		x, y := s.Crossover(rng, a, b)
		m, err := s.MutateOrDraw(rng, a, space.MutationShare)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []space.Point{a, b, x, y, m, s.Mutate(rng, b)} {
			if !want[p.Key()] || !s.Contains(p) {
				t.Fatalf("%s\n%v is no point of it", s.Encode(), p)
			}
		}
	})
}

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySpace(t)
		text := s.Encode()
		back, err := space.Decode("back.yaml", text)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if string(back.Encode()) != string(text) || back.Digest() != s.Digest() || back.Size().String() != s.Size().String() {
			t.Fatalf("%s\nreads back as\n%s", text, back.Encode())
		}
		p := draw(t, s, random(rapid.Uint64().Draw(t, "seed")))
		for _, text := range []string{p.String(), p.Key()} {
			if q, err := s.Parse(text); err != nil || !q.Equal(p) {
				t.Fatalf("%s reads back as %v: %v", text, q, err)
			}
		}
		object, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := s.UnmarshalPoint(object); err != nil || !q.Equal(p) || q.Digest() != p.Digest() {
			t.Fatalf("%s reads back as %v: %v", object, q, err)
		}
	})
}

// Points of continuous ranges stay inside under every change, and read back exactly.
func TestContinuousPoints(t *testing.T) {
	s := decode(t, "dimensions: {a: [1, 2], b: {reals: [-1, 3]}, c: {reals: [0.001, 10], scale: log, when: {a: 2}}, d: {reals: [0, 3]}}\nconstraints: [b <= d]")
	rapid.Check(t, func(t *rapid.T) {
		rng := random(rapid.Uint64().Draw(t, "seed"))
		p := draw(t, s, rng)
		for range 20 {
			x, _ := s.Crossover(rng, p, draw(t, s, rng))
			p = s.Mutate(rng, x)
			if q, err := s.Parse(p.String()); err != nil || !q.Equal(p) {
				t.Fatalf("%v reads back as %v: %v", p, q, err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, name := range space.List() {
		data, _ := space.File(name)
		f.Add(data)
	}
	f.Add([]byte("version: 1\ndimensions:\n  a: {subset: [p, q], size: 1}\n  b: {integers: [1, 9], step: 2, when: {a: '>= 2'}}\nconstraints:\n  - {check: \"max(b, 1e3) != -b / (2 - b)\", when: {b: [1, 3]}}\n"))
	f.Add([]byte("version: 1\ndimensions: {a: {reals: [1e-3, 2], scale: log}, b: [\"\\u00e9\", 'x y']}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := space.Decode("f.yaml", data)
		if err != nil {
			var e *space.Error
			if !asError(err, &e) || e.Line < 1 || e.Col < 1 || s != nil {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		back, err := space.Decode("back.yaml", s.Encode())
		if err != nil || back.Digest() != s.Digest() {
			t.Fatalf("%s\n%v", s.Encode(), err)
		}
		if s.Unbound() != nil {
			return
		}
		rng := random(1)
		p, err := s.Draw(rng)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := back.Parse(s.Mutate(rng, p).String()); err != nil || q.IsZero() {
			t.Fatalf("%v: %v", p, err)
		}
	})
}
