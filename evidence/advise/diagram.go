package advise

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// option is one way out of a decision.
type option struct {
	label, when string
	taken       func(a *Answer) bool
}

// decision is one question of the diagram.
type decision struct {
	question string
	options  []option
}

func fired(names ...string) func(*Answer) bool {
	return func(a *Answer) bool {
		for _, n := range names {
			if a.Has(n) {
				return true
			}
		}
		return false
	}
}

func kindIs(kinds ...Kind) func(*Answer) bool {
	return func(a *Answer) bool {
		for _, k := range kinds {
			if a.Facts.Kind == k {
				return true
			}
		}
		return false
	}
}

// decisions are those of the rules, in their order. Which options are taken is read off
// the rules that fired: the diagram decides nothing.
func decisions() []decision {
	model := func(a *Answer) bool { return !a.Has(ruleConstant) }
	return []decision{
		{"Can the budget buy a model?", []option{
			{"a constant", fmt.Sprintf("r < %d; number: %d", hopeless, hopelessNumber), fired(ruleConstant)},
			{"little more", fmt.Sprintf("r < %d", low), fired(ruleNearConstant)},
			{"a guess", fmt.Sprintf("images, r < %d", hopelessImages), fired(ruleGuess)},
			{"a model", fmt.Sprintf("r ≥ %d", low), func(a *Answer) bool { return model(a) && !a.Has(ruleNearConstant) && !a.Has(ruleGuess) }},
		}},
		{"What are the data?", []option{
			{"table", "columns", kindIs(TableKind)},
			{"texts", "a text column", kindIs(TextKind)},
			{"vectors", "public extractor", kindIs(VectorKind)},
			{"images", "no extractor", kindIs(ImageKind)},
		}},
		{"Features and encoding", []option{
			{"none", "a constant", fired(ruleConstant)},
			{"affine", fmt.Sprintf("r < %d; number: %d", low, productsFrom), fired(ruleAffine, ruleNoProducts)},
			{"thermometer", fmt.Sprintf("r ≥ %d", low), fired(ruleThermometer)},
			{"products", fmt.Sprintf("number, r ≥ %d", productsFrom), fired(ruleProducts)},
			{"bag", fmt.Sprintf("≥ %d columns", bagFrom), fired(ruleBag)},
			{"hashed words", "texts", fired(ruleText)},
			{"unit vectors", "extractor", fired(ruleVectors, ruleFeatures)},
			{"scattering", fmt.Sprintf("sides 4k, r ≥ %d", scatterFrom), fired(ruleScatter)},
			{"pixels", fmt.Sprintf("r < %d, other sizes", scatterFrom), fired(rulePixels)},
		}},
		{"Model", []option{
			{"majority, mean", "a constant", fired(ruleConstant)},
			{"logistic", "two classes", fired(ruleBinary)},
			{"softmax", "many classes", fired(ruleClasses, ruleScatter, rulePixels, ruleFeatures)},
			{"median fit", "a number", fired(ruleRegression)},
			{"objective pert.", "δ = 0", fired(rulePure)},
			{"asked for", "--model", fired(askedRules()...)},
		}},
		{"Training", []option{
			{"one release", "constant, sums", func(a *Answer) bool { return a.Advice.Entry != string(Descent) && !a.Has(ruleLots) }},
			{"noisy descent", "all rows, steps by r", fired(ruleBinary, ruleClasses, ruleRegression)},
			{"DP-SGD lots", "epochs by ε", fired(ruleLots)},
		}},
		{"Does a search pay?", []option{
			{"no", fmt.Sprintf("r < %d, or images", searchFrom), func(a *Answer) bool { return !a.Advice.SearchPays }},
			{"perhaps", fmt.Sprintf("r ≥ %d", searchFrom), func(a *Answer) bool { return a.Advice.SearchPays }},
		}},
	}
}

const (
	boxWidth, boxHeight   = 116, 46
	boxGap                = 14
	pillWidth, pillHeight = 250, 26
	rowHeight             = 128
	diagramWidth          = 9*boxWidth + 10*boxGap
	diagramTop            = 76
	taken                 = "#1f5fbf" // colour of the path
)

// Diagram draws the decisions of the rules as SVG, the path of the answer marked.
func Diagram(w io.Writer, a *Answer) error {
	all := decisions()
	height := diagramTop + len(all)*rowHeight + 76
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" role="img">`+"\n", diagramWidth, height, diagramWidth, height)
	fmt.Fprintf(&b, "<title>Advice, with the path taken</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", diagramWidth, height)
	text(&b, diagramWidth/2, 28, 18, "#111111", true, factLine(a))
	text(&b, diagramWidth/2, 50, 13, "#444444", false, ratioLine(a))
	var lines, boxes strings.Builder
	curve(&lines, diagramWidth/2, 58, diagramWidth/2, diagramTop, taken, 3.5)
	for i, d := range all {
		y := diagramTop + i*rowHeight
		fmt.Fprintf(&boxes, `<rect x="%d" y="%d" width="%d" height="%d" rx="13" fill="#ffffff" stroke="#111111"/>`+"\n", (diagramWidth-pillWidth)/2, y, pillWidth, pillHeight)
		text(&boxes, diagramWidth/2, y+18, 14, "#111111", true, d.question)
		from, top, next := y+pillHeight, y+pillHeight+26, y+rowHeight
		left := (diagramWidth - len(d.options)*boxWidth - (len(d.options)-1)*boxGap) / 2
		var thick strings.Builder
		for k, o := range d.options {
			x := left + k*(boxWidth+boxGap)
			to, colour, width := &lines, "#d0d4da", 1.0
			fill, edge, ink := "#f5f6f8", "#b8bec8", "#56606e"
			if o.taken(a) {
				to, colour, width = &thick, taken, 3.5
				fill, edge, ink = taken, taken, "#ffffff"
			}
			curve(to, diagramWidth/2, from, x+boxWidth/2, top, colour, width)
			curve(to, x+boxWidth/2, top+boxHeight, diagramWidth/2, next, colour, width)
			fmt.Fprintf(&boxes, `<rect x="%d" y="%d" width="%d" height="%d" rx="7" fill="%s" stroke="%s"/>`+"\n", x, top, boxWidth, boxHeight, fill, edge)
			text(&boxes, x+boxWidth/2, top+19, 13, ink, true, o.label)
			text(&boxes, x+boxWidth/2, top+36, 11, ink, false, o.when)
		}
		lines.WriteString(thick.String())
	}
	b.WriteString(lines.String())
	b.WriteString(boxes.String())
	y := diagramTop + len(all)*rowHeight
	text(&b, diagramWidth/2, y+24, 14, taken, true, cut("Next: "+a.Next, 140))
	text(&b, diagramWidth/2, y+46, 11, "#444444", false, "How sure: "+a.Confidence.Level+": "+cut(a.Confidence.Why, 170))
	text(&b, diagramWidth/2, y+64, 11, "#444444", false, "The rules are a reconstruction (pawl advise rules).")
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func factLine(a *Answer) string {
	q := a.Facts
	s := fmt.Sprintf("%.0f rows, %s, ε = %g, δ = %.2g", q.Rows, q.Task, q.Epsilon, q.Delta)
	if q.Data != "" {
		s = q.Data + ": " + s
	}
	return cut(s, 100)
}

func ratioLine(a *Answer) string {
	q := a.Facts
	if q.Delta == 0 {
		return fmt.Sprintf("rows·ε = %.4g decides", q.Training*q.Epsilon)
	}
	return fmt.Sprintf("r = n/σ₁ = %.4g/%.4g = %.4g decides", q.Training, q.NoiseMultiplier, q.Ratio)
}

// cut keeps the first characters of a line.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func text(b *strings.Builder, x, y, size int, colour string, bold bool, s string) {
	weight := "normal"
	if bold {
		weight = "bold"
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="%d" font-weight="%s" fill="%s" text-anchor="middle">%s</text>`+"\n", x, y, size, weight, colour, html.EscapeString(s))
}

func curve(b *strings.Builder, x1, y1, x2, y2 int, colour string, width float64) {
	mid := (y1 + y2) / 2
	fmt.Fprintf(b, `<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="%s" stroke-width="%g"/>`+"\n", x1, y1, x1, mid, x2, mid, x2, y2, colour, width)
}
