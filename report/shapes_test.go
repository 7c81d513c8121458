package report

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestShapesAreDrawn(t *testing.T) {
	page := mustHTML(t, shapesDemo())
	for _, want := range []string{
		"Effect of each attribute", "the score of a class",
		"6 of 8 classes", "the 40 categories with the most rows", "of 44", "The statement lists all of them",
		">unknown</text>", ">10,000</text>", "importance 0.61", ">class H<",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, ">class A<") {
		t.Error("a class that hardly moves has a line")
	}
	if strings.Contains(mustHTML(t, hospital()), "Effect of each attribute") {
		t.Error("a model without shapes shows some")
	}
	section := page[strings.Index(page, "Effect of each attribute"):]
	section = section[:strings.Index(section, "<h2>Appendix</h2>")]
	for _, bad := range []string{"NaN", "Inf", "−0<", "e-", "e+"} {
		if strings.Contains(section, bad) {
			t.Errorf("the figures hold %q", bad)
		}
	}
	// Nothing lies outside of its picture: every x that a path visits is within it.
	for _, m := range regexp.MustCompile(`[MH](-?[0-9.]+)`).FindAllStringSubmatch(section, -1) {
		if x, err := strconv.ParseFloat(m[1], 64); err != nil || x < 0 || x > wideFigure {
			t.Fatalf("a path goes to x = %s", m[1])
		}
	}
}

// The page draws what it is given in that order; a figure's points lie where its values
// are, the zero line where nothing is added.
func TestFigureFollowsItsNumbers(t *testing.T) {
	a := Shape{Attribute: "x", Edges: []Number{0, 1, 2, 4}, Values: [][]Number{{-1, 0, 2}}, Rows: []Number{1000, 2, 1000}}
	f, _ := newFigure(a, []int{0}, 0)
	ys := regexp.MustCompile(`[,V](-?[0-9.]+)`).FindAllStringSubmatch(f.Lines[0].All, -1)
	var y []float64
	for _, m := range ys {
		v, _ := strconv.ParseFloat(m[1], 64)
		y = append(y, v)
	}
	if len(y) != 3 || y[1] != f.Zero || !(y[0] > f.Zero && y[2] < f.Zero) || math.Abs((f.Zero-y[2])-2*(y[0]-f.Zero)) > 0.3 {
		t.Errorf("steps at %v, zero at %g", y, f.Zero)
	}
	if n := strings.Count(f.Lines[0].Firm, "H"); n != 2 {
		t.Errorf("%d bins are drawn firmly, want the 2 with rows", n)
	}
	small, _ := newFigure(a, []int{0}, 100)
	if d := small.Zero - small.YTicks[len(small.YTicks)-1].Y; d < 40 || strings.Contains(small.Lines[0].All, "V6H") {
		t.Error("a shape that hardly matters fills its picture")
	}
	c := Shape{Attribute: "c", Categories: []string{"a", "b"}, Values: [][]Number{{-1, 2}, {0, 1}}, Rows: []Number{5, 5}}
	if f, _ = newFigure(c, []int{0, 1}, 0); len(f.Bars) != 4 || !f.Bars[0].Dot || f.Bars[0].Point <= f.Zero || f.Bars[2].Point >= f.Zero {
		t.Errorf("bars %+v, zero at %g", f.Bars, f.Zero)
	}
}

func TestEdgeTicks(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges []Number
		want  []float64
	}{
		{"few bins show their edges", []Number{17, 35.25, 53.5, 71.75, 90}, []float64{17, 35.25, 53.5, 71.75, 90}},
		{"whole numbers stand in their bins", []Number{-0.5, 0.5, 1.5, 2.5}, []float64{0, 1, 2}},
		{"many bins show round numbers", even(-10, 10, 100), []float64{-10, -5, 0, 5, 10}},
		{"growing bins show powers of ten", grown(9999, 64), []float64{0, 1, 10, 100, 1000}},
	} {
		if got := edgeTicks(c.edges); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if p := position([]Number{0, 1, 3}, 2); p != 1.5 {
		t.Errorf("2 lies at %g of the bins of 0, 1, 3", p)
	}
}

func even(low, high float64, bins int) (e []Number) {
	for j := range bins + 1 {
		e = append(e, Number(low+(high-low)*float64(j)/float64(bins)))
	}
	return e
}

func grown(high float64, bins int) (e []Number) {
	for j := range bins + 1 {
		e = append(e, Number(math.Expm1(math.Log1p(high)*float64(j)/float64(bins))))
	}
	return e
}

// Long lists stand in one line and read back as they are.
func TestShapesInTheStatement(t *testing.T) {
	s := shapesDemo()
	out := write(t, WriteJSON, s)
	var back Statement
	if err := json.Unmarshal([]byte(out), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Shapes, s.Shapes) {
		t.Error("shapes do not read back")
	}
	if n := strings.Count(out, "\n"); n > 545 {
		t.Errorf("the statement has %d lines", n)
	}
	s.Warnings = []string{"[\n 1,\n 2,\n 3\n ]", "[1,   2]"}
	if err := json.Unmarshal([]byte(write(t, WriteJSON, s)), &back); err != nil || !reflect.DeepEqual(back.Warnings, s.Warnings) {
		t.Errorf("a text that looks like a list: %q (%v)", back.Warnings, err)
	}
}

func TestShapesThatDoNotFit(t *testing.T) {
	for name, change := range map[string]func(*Shape){
		"edges":      func(a *Shape) { a.Edges = a.Edges[1:] },
		"values":     func(a *Shape) { a.Values[0] = a.Values[0][1:] },
		"outputs":    func(a *Shape) { a.Values = a.Values[1:] },
		"rows":       func(a *Shape) { a.Rows = nil },
		"not finite": func(a *Shape) { a.Values[2][1] = Number(math.NaN()) },
		"both":       func(a *Shape) { a.Categories = []string{"a"} },
	} {
		s := shapesDemo()
		change(&s.Shapes.Attributes[0])
		if err := Validate(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Validate = %v, want ErrInvalid", name, err)
		}
	}
}

func TestGroupsAreShown(t *testing.T) {
	page := mustHTML(t, shapesDemo())
	for _, want := range []string{"Quality by group of sex", "86.1%", "84.2% to 87.9%", "about 9,120", "too few rows to say",
		"Cost: ε 0.61 alone", "Groups of sex: section 1", "the scores by group, as printed here", "score of sex = male"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	text := write(t, Text, shapesDemo())
	for _, want := range []string{"by group    of sex, released on held-out rows", "other   too few rows to say", "female  86.1%, 95% interval 84.2% to 87.9%, about 9,120 rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
	card := write(t, Card, shapesDemo())
	if !strings.Contains(card, "| male | 82.3% | 80.2% to 84.4% | about 8,874 |") || strings.Contains(card, "was not measured") {
		t.Error("the card lacks the groups")
	}
	if !strings.Contains(write(t, Card, hospital()), "was not measured") {
		t.Error("a card without groups does not say so")
	}
}

// Scores by group that nobody paid for, or that are exact, are for public rows.
func TestGroupsMustBePaidFor(t *testing.T) {
	one := Number(0.8)
	for name, change := range map[string]func(*ByGroup){
		"free":          func(b *ByGroup) { b.Epsilon = 0 },
		"not a number":  func(b *ByGroup) { b.Epsilon = Number(math.NaN()) },
		"exact":         func(b *ByGroup) { b.Groups[0].Test = &one },
		"too few, told": func(b *ByGroup) { b.Groups[2].Value = one },
	} {
		s := shapesDemo()
		change(s.Score.ByGroup)
		if err := Validate(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Validate = %v, want ErrInvalid", name, err)
		}
	}
	s := shapesDemo()
	s.Score.PublicTest, s.Score.ByGroup.Epsilon = true, 0
	s.Score.ByGroup.Groups[0].Test = &s.Score.ByGroup.Groups[0].Value
	if !strings.Contains(mustHTML(t, s), "Cost: none, the scored rows are public") {
		t.Error("free groups do not say so")
	}
}

func TestKeptAttributesAreShown(t *testing.T) {
	page := mustHTML(t, shapesDemo())
	for _, want := range []string{"mutual-information from noisy tables with the label; cost ε 0.32, 32% of the whole", "payer, weekday", "features selected"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if text := write(t, Text, shapesDemo()); !strings.Contains(text, "features    6 of 8, mutual-information") {
		t.Errorf("text lacks the choice:\n%s", text)
	}
	for want, k := range map[string]*Selection{
		"cost ε 0":                 {},
		"used rows without charge": {Unpaid: true, Epsilon: Number(math.Inf(1))},
		"cost ε 2.00, 100% of the whole, training included": {Epsilon: 2, Share: 1, Together: true},
	} {
		if got := selectionCost(k); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
