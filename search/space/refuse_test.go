package space_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/search/space"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"not YAML", "dimensions: [", "bad.yaml:"},
		{"no version", "dimensions: {a: [1]}", "bad.yaml:1:1: version must be 1"},
		{"newer version", "version: 2\ndimensions: {a: [1]}", "bad.yaml:1:1: version must be 1"},
		{"empty", "version: 1", "1:1: the space has no dimensions"},
		{"no dimensions", "version: 1\ndimensions: {}", "2:1: the space has no dimensions"},
		{"unknown key", "version: 1\ndimension: {a: [1]}", `2:1: a space file: unknown key "dimension"; did you mean dimensions?`},
		{"unknown key of a dimension", "version: 1\ndimensions:\n  a: {values: [1], wen: {b: 1}}", `3:20: a: unknown key "wen"; did you mean when?`},
		{"unknown key of a constraint", "version: 1\ndimensions: {a: [1, 2]}\nconstraints:\n  - {chek: a <= 1}", `4:6: a constraint: unknown key "chek"; did you mean check?`},
		{"key twice", "version: 1\ndimensions: {a: [1]}\ndimensions: {b: [1]}", "3:1:"},
		{"dimension twice", "version: 1\ndimensions:\n  a: [1]\n  a: [2]", "4:3:"},
		{"bad name", "version: 1\ndimensions: {a-b: [1]}", `2:14: dimensions: "a-b" cannot name a dimension`},
		{"reserved name", "version: 1\ndimensions: {parameters: [1]}", `2:14: "parameters" cannot name a dimension`},
		{"no values", "version: 1\ndimensions:\n  a: []", "3:3: a has no values"},
		{"nothing at all", "version: 1\ndimensions:\n  a:", "3:3: a has no values"},
		{"only conditions", "version: 1\ndimensions:\n  b: [1, 2]\n  a: {when: {b: 1}}", "4:3: a has no values"},
		{"value twice", "version: 1\ndimensions:\n  a: [1, 2, 1.0]", "3:13: a lists 1 twice"},
		{"mixed kinds", "version: 1\ndimensions:\n  a: [1, x]", "3:10: a lists both a text and a number"},
		{"infinite", "version: 1\ndimensions:\n  a: [1, .inf]", "3:10: a must be a number, a word, true or false"},
		{"nested list", "version: 1\ndimensions:\n  a: [1, [2]]", "3:10: a must be a number, a word, true or false"},
		{"alias", "version: 1\ndimensions:\n  a: &x [1, 2]", "3:6:"},
		{"two ways", "version: 1\ndimensions:\n  a: {values: [1], integers: [1, 2]}", "3:3: a has its values in two ways"},
		{"backward range", "version: 1\ndimensions:\n  a: {integers: [5, 1]}", "3:7: a: the range from 5 to 1 is empty"},
		{"three ends", "version: 1\ndimensions:\n  a: {reals: [0, 1, 2]}", "3:"},
		{"log of zero", "version: 1\ndimensions:\n  a: {reals: [0, 1], scale: log}", "3:7: a: a log scale has no place for 0"},
		{"unknown scale", "version: 1\ndimensions:\n  a: {reals: [0, 1], scale: square}", `a: "square" is not a scale`},
		{"scale without range", "version: 1\ndimensions:\n  a: {values: [1, 2], scale: log}", "3:23: a: scale has no meaning here"},
		{"one step", "version: 1\ndimensions:\n  a: {reals: [0, 1], steps: 1}", "a cannot have 1 steps"},
		{"fractions as integers", "version: 1\ndimensions:\n  a: {integers: [0.5, 3]}", "a: integers are whole numbers"},
		{"steps that coincide", "version: 1\ndimensions:\n  a: {integers: [1, 3], steps: 4}", "a: two of the 4 steps are the same number"},
		{"log integers without steps", "version: 1\ndimensions:\n  a: {integers: [1, 64], scale: log}", "a: whole numbers on a log scale need a number of steps"},
		{"step of reals", "version: 1\ndimensions:\n  a: {reals: [0, 1], step: 1}", "a: step has no meaning here"},
		{"no names", "version: 1\ndimensions:\n  a: {subset: []}", "a has no names to choose from"},
		{"name twice", "version: 1\ndimensions:\n  a: {subset: [p, q, p]}", "3:22: a lists p twice"},
		{"size too large", "version: 1\ndimensions:\n  a: {subset: [p, q], size: [1, 3]}", "a: no set of 2 names has a size from 1 to 3"},
		{"condition on nothing", "version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2], when: {c: 1}}", `4:30: b: "c" is not a dimension`},
		{"condition on a typing slip", "version: 1\ndimensions:\n  layers: [1, 2]\n  b: {values: [1, 2], when: {layer: 1}}", "did you mean layers?"},
		{"condition on a value that is none", "version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2], when: {a: 3}}", "4:30: b: a never is 3"},
		{"condition that never holds", "version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2], when: {a: '> 2'}}", "4:30: b can never be active: no value of a passes"},
		{"condition on words by size", "version: 1\ndimensions:\n  a: [x, y]\n  b: {values: [1, 2], when: {a: '> 2'}}", "> compares a dimension of numbers with a number"},
		{"condition without sense", "version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2], when: {a: '>='}}", `b: ">=" is not a condition`},
		{"condition on a continuous range", "version: 1\ndimensions:\n  a: {reals: [0, 1]}\n  b: {values: [1, 2], when: {a: '> 0.5'}}", "b: a condition cannot test a, which is continuous"},
		{"conditions that contradict each other", "version: 1\ndimensions:\n  a: [1, 2]\n  b: {values: [1, 2], when: {a: 1}}\n  c: {values: [1, 2], when: {a: 2, b: 1}}", "5:23: c can never be active"},
		{"circle", "version: 1\ndimensions:\n  a: {values: [1, 2], when: {b: 1}}\n  b: {values: [1, 2], when: {a: 1}}", "3:23: conditions form a circle: a needs b needs a"},
		{"needs itself", "version: 1\ndimensions:\n  a: {values: [1, 2], when: {a: 1}}", "conditions form a circle: a needs a"},
		{"no point", "version: 1\ndimensions: {a: [1, 2]}\nconstraints:\n  - a > 2", `4:5: none of the 2 points satisfied: "a > 2"`},
		{"no point of very many", "version: 1\ndimensions: {a: {integers: [1, 1000000]}}\nconstraints:\n  - a < 1", `4:5: 0 of 10000 points drawn at random satisfied: "a < 1"`},
		{"constraint on nothing", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [b > 2]", "3:15: constraint \"b > 2\": b is not a dimension"},
		{"constraint of numbers alone", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [1 < 2]", "it names no dimension"},
		{"constraint that compares nothing", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [a + 1]", "it compares nothing"},
		{"open bracket", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [(a < 2]", "a bracket is not closed"},
		{"half a constraint", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [a <]", "it ends where a number or a dimension should follow"},
		{"word with a number", "version: 1\ndimensions: {a: [1, 2], b: [x]}\nconstraints: [a == b]", "a word cannot be compared with a number"},
		{"sum of words", "version: 1\ndimensions: {a: [1, 2], b: [x]}\nconstraints: ['b + b == \"x\"']", "+ has no meaning for words"},
		{"unknown function", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: [log(a) < 1]", "there is no function log"},
		{"set in arithmetic", "version: 1\ndimensions: {a: {subset: [p, q]}}\nconstraints: [a < 1]", "a is a set; size(a) is its number of names"},
		{"deep brackets", "version: 1\ndimensions: {a: [1, 2]}\nconstraints: ['" + strings.Repeat("(", 999) + "a < 1']", "nested more than"},
		{"too many structures", "version: 1\ndimensions:\n" + manySwitches(20), "outcomes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := space.Decode("bad.yaml", []byte(c.text))
			var e *space.Error
			if !errors.As(err, &e) || s != nil {
				t.Fatalf("got %v, %v; want a refusal", s, err)
			}
			if e.Line < 1 || e.Col < 1 || e.Hint() == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v (hint %q)\nwant %s", err, e.Hint(), c.want)
			}
		})
	}
}

// manySwitches is n switches whose values all matter to one last dimension.
func manySwitches(n int) string {
	var b strings.Builder
	var when []string
	for i := range n {
		fmt.Fprintf(&b, "  s%d: [1, 2]\n", i)
		when = append(when, fmt.Sprintf("s%d: 1", i))
	}
	return b.String() + "  last: {values: [1, 2], when: {" + strings.Join(when, ", ") + "}}\n"
}

func TestPointRefusals(t *testing.T) {
	s := decode(t, "dimensions: {layers: [1, 2], units_2: {integers: [8, 64], when: {layers: 2}}, f: {subset: [p, q], size: 1}, x: {reals: [0, 1]}}\nconstraints: [layers != 1]")
	for _, c := range []struct{ text, want string }{
		{"layers=2 f=[p] x=0", "units_2 is missing"},
		{"layers=1 units_2=8 f=[p] x=0", "units_2 has no meaning here"},
		{"layers=1 f=[p] x=0", "violates a constraint"},
		{"layers=2 units_2=7 f=[p] x=0", "units_2 cannot be 7; its choices are 8 to 64"},
		{"layers=2 units_2=8.5 f=[p] x=0", "units_2 cannot be 8.5"},
		{"layers=3 f=[p] x=0", "layers cannot be 3; its choices are 1, 2"},
		{"layers=2 units_2=8 f=[p,q] x=0", "f cannot be [p,q]; its choices are sets of 1 to 1 of p, q"},
		{"layers=2 units_2=8 f=[p,p] x=0", "f cannot be [p,p]"},
		{"layers=2 units_2=8 f=p x=0", "f cannot be p"},
		{"layers=2 units_2=8 f=[p x=0", "is neither a number nor a word"}, {"layers=2 units_2=8 f=[1] x=0", "a set is written [a,b]"},
		{"layers=2 units_2=8 f=[p] x=1.5", "x cannot be 1.5; its choices are 0 to 1"},
		{"layers=2 units_2=8 f=[p] x=NaN", "x"},
		{"layer=2", `"layer" is not a dimension; did you mean layers?`},
		{"layers=2 layers=2", "each name once"},
		{"layers", "expected name=value"},
		{`layers="2`, "a quotation mark is not closed"},
	} {
		if p, err := s.Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) || !p.IsZero() {
			t.Errorf("%s: got %v, %v, want %s", c.text, p, err, c.want)
		}
	}
	for _, object := range []string{"[]", `{"layers": null}`, `{"f": [1]}`, `{"layers": {"a": 1}}`} {
		if _, err := s.UnmarshalPoint([]byte(object)); err == nil {
			t.Errorf("%s is no point", object)
		}
	}
	if p := point(t, s, "layers=2 units_2=8 f=[q] x=0.25"); p.String() != "layers=2 units_2=8 f=[q] x=0.25" || p.Has("nothing") || p.Net() != "" {
		t.Errorf("got %v", p)
	}
	if v, ok := (space.Point{}).Value("layers"); ok || v.Kind() != 0 || (space.Point{}).String() != "" {
		t.Error("the zero Point has no values")
	}
}

func TestOtherSpacesPoints(t *testing.T) {
	s, _ := space.Lookup("fcn")
	other, _ := space.Lookup("cnn")
	p := draw(t, other, random(1))
	if s.Contains(p) {
		t.Error("a point of cnn is none of fcn")
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "a point of cnn given to fcn") {
			t.Errorf("got %s", r)
		}
	}()
	s.Mutate(random(1), p)
}

func TestOpen(t *testing.T) {
	s, err := space.Open("cnn, optimizers")
	if err != nil || s.Size().String() != "7776" || s.Net() != "cnn" { // 24·324
		t.Errorf("got %v, %v", s, err)
	}
	var e *space.Error
	if _, err := space.Open("fcm"); !errors.As(err, &e) || !strings.Contains(err.Error(), "did you mean fcn?") || !strings.Contains(e.Hint(), "tabular") {
		t.Errorf("got %v", err)
	}
	if _, err := space.Open("./none.yaml"); !errors.As(err, &e) || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("got %v", err)
	}
	if _, err := space.Open("fcn,cnn"); err == nil || !strings.Contains(err.Error(), "builds its net by cnn") {
		t.Errorf("got %v", err)
	}
	if _, err := space.Open("cnn,cnn-trainable"); err == nil || !strings.Contains(err.Error(), "both have a dimension blocks") {
		t.Errorf("got %v", err)
	}
}

func TestExclude(t *testing.T) {
	s := decode(t, "dimensions: {a: [1, -2, 3], b: [x, y], c: [true, false]}")
	for dimension, value := range map[string]space.Value{"a": space.NumberValue(-2), "b": space.TextValue("x"), "c": space.FlagValue(false)} {
		var err error
		if s, err = s.Exclude(dimension, value); err != nil {
			t.Fatal(err)
		}
	}
	if got := keys(t, s); len(got) != 2 || got[0] != "a=1 b=y c=true" || got[1] != "a=3 b=y c=true" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Exclude("b", space.NumberValue(1)); err == nil {
		t.Error("b has no numbers")
	}
	if _, err := s.Exclude("b", space.TextValue("y")); err == nil {
		t.Error("nothing is left")
	}
}
