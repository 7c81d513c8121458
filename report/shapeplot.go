package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// shapeFigure is one attribute's picture. Coordinates are user units.
type shapeFigure struct {
	Rank             int
	Name, Importance string
	Label            string // read out in place of the picture
	Wide             bool
	Width, Height    float64
	Left, Right      float64
	Zero             float64
	YTicks           []yTick
	XTicks           []xTick
	Lines            []shapeLine
	Bars             []shapeBar
	Rows             string // path of the noisy numbers of rows
	Foot             float64
}

type yTick struct {
	Y     float64
	Label string
}

type xTick struct {
	X, Y   float64
	Label  string
	Anchor string
	Slant  bool
}

// shapeLine is a step line of a number's bins: All of them, faint, and above it those
// with enough rows.
type shapeLine struct {
	Line      int
	All, Firm string
}

// shapeBar stands on the zero line: a bar of one output, or a stem with a dot.
type shapeBar struct {
	Line          int
	X, Y, Width   float64
	Height, Point float64
	Dot, Faint    bool
}

const (
	figureWidth = 320.0
	wideFigure  = 660.0
	figureTop   = 6.0
	figureFloor = 104.0 // of the plot
	figureFoot  = 122.0 // of the rows' strip
	stripHeight = 14.0
	letter      = 5.1 // mean width of a letter of a tick
	longestName = 16  // letters of a slanted name
	crowded     = 12  // more categories than this want a wide figure
	widestBar   = 44.0
	// firmShare of the mean number of rows in a bin is where it is drawn firmly.
	firmShare = 0.1
)

// newFigure places one shape. cut is its number of categories where not all are drawn.
func newFigure(a Shape, lines []int, finest float64) (f shapeFigure, cut int) {
	if n := a.known(); len(a.Categories) > 0 && n > mostBars {
		a, cut = commonest(a), n
	}
	f = shapeFigure{Name: or(a.Attribute, "—"), Importance: quantity(float64(a.Importance)), Width: figureWidth,
		Wide: len(a.Categories) > crowded, Left: 44, Foot: figureFoot, Height: figureFoot + 16}
	if f.Wide {
		f.Width = wideFigure
	}
	f.Right = f.Width - 6
	low, high := span(a, lines)
	if high-low < finest { // what hardly matters must not fill its picture
		grow := (finest - (high - low)) / 2
		low, high = low-grow, high+grow
	}
	low, high, step := symmetricAxis(low, high)
	y := func(v Number) float64 {
		return tenth(figureFloor - (float64(v)-low)/(high-low)*(figureFloor-figureTop))
	}
	for v := low; v <= high+step/1e6; v += step {
		f.YTicks = append(f.YTicks, yTick{y(Number(v)), rounded(v, step)})
	}
	f.Zero = y(0)
	if len(a.Categories) > 0 {
		f.categories(a, lines, y)
	} else {
		f.number(a, lines, y)
	}
	return f, cut
}

// symmetricAxis widens [low, high], which holds 0, to multiples of a round step.
func symmetricAxis(low, high float64) (lo, hi, step float64) {
	spread := math.Max(high-low, 1e-6)
	_, _, step = axis(0, spread/1.2)
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, step
}

func tenth(x float64) float64 { return math.Round(x*10) / 10 }

// number draws the bins of a number side by side, equally wide, and the unknown one
// apart: bins of a heavy-tailed column are equal on the scale that the model sees.
func (f *shapeFigure) number(a Shape, lines []int, y func(Number) float64) {
	n, right := a.known(), f.Right
	unknown := right
	if a.Unknown {
		unknown = right - 40
		right = unknown - 8
	}
	at := func(j float64) float64 { return tenth(f.Left + j/float64(n)*(right-f.Left)) }
	bin := func(j int) (from, to float64) {
		if j == n {
			return unknown + 6, f.Right - 6
		}
		return at(float64(j)), at(float64(j + 1))
	}
	firm := firmBins(a)
	for i, k := range lines {
		draw := func(keep func(j int) bool) string {
			var path strings.Builder
			for j, v := range a.Values[k] {
				if !keep(j) {
					continue
				}
				from, to := bin(j)
				if j > 0 && j < n && keep(j-1) {
					fmt.Fprintf(&path, "V%gH%g", y(v), to)
				} else {
					fmt.Fprintf(&path, "M%g,%gH%g", from, y(v), to)
				}
			}
			return path.String()
		}
		f.Lines = append(f.Lines, shapeLine{i, draw(func(int) bool { return true }), draw(func(j int) bool { return firm[j] })})
	}
	f.rows(a, bin)
	last := math.Inf(-1)
	for _, e := range edgeTicks(a.Edges) {
		x := at(position(a.Edges, e))
		label := mark(e)
		half := float64(len([]rune(label))) * letter / 2
		if x-half < last+5 || x+half > right+18 && a.Unknown {
			continue
		}
		anchor := "middle"
		if x+half > f.Width {
			anchor = "end"
		}
		f.XTicks = append(f.XTicks, xTick{X: x, Y: f.Foot + 11, Label: label, Anchor: anchor})
		last = x + half
	}
	if a.Unknown {
		f.XTicks = append(f.XTicks, xTick{X: f.Right - 1, Y: f.Foot + 11, Label: "unknown", Anchor: "end"})
	}
}

// edgeTicks are values to mark: all edges of a few bins, round numbers of many, powers
// of ten where bins grow.
func edgeTicks(edges []Number) (out []float64) {
	n := len(edges) - 1
	low, high := float64(edges[0]), float64(edges[n])
	first, final := float64(edges[1])-low, high-float64(edges[n-1])
	if n <= 8 && !(first == 1 && low+0.5 == math.Round(low+0.5)) { // else a bin is a whole number, in its middle
		for _, e := range edges {
			out = append(out, float64(e))
		}
		return out
	}
	if final > first*1.01 {
		for p := math.Pow(10, math.Ceil(math.Log10(math.Max(first, 1e-9)))); p <= high; p *= 10 {
			if p >= low {
				out = append(out, p)
			}
		}
		return append([]float64{low}, out...)
	}
	_, _, step := axis(0, (high-low)/1.2)
	if first == 1 {
		step = math.Max(step, 1)
	}
	for v := math.Ceil(low/step-1e-9) * step; v <= high+step/1e6; v += step {
		out = append(out, math.Round(v/step)*step+0) // and no −0
	}
	return out
}

// position is where a value lies among the edges, in bins.
func position(edges []Number, v float64) float64 {
	n := len(edges) - 1
	j := sort.Search(n, func(j int) bool { return float64(edges[j+1]) >= v })
	if j == n {
		return float64(n)
	}
	low, high := float64(edges[j]), float64(edges[j+1])
	return float64(j) + math.Min(math.Max((v-low)/(high-low), 0), 1)
}

// mark writes a value of an attribute with about four digits.
func mark(x float64) string {
	if math.Abs(x) >= 1000 {
		return group(strconv.FormatFloat(x, 'f', 0, 64))
	}
	return strings.Replace(strconv.FormatFloat(math.Round(x*1e6)/1e6, 'g', 4, 64), "-", "−", 1)
}

// categories draws a bar for each category, or for each a stem and a dot of every
// output.
func (f *shapeFigure) categories(a Shape, lines []int, y func(Number) float64) {
	n := len(a.Rows)
	names := make([]string, n)
	longest := 0
	for j := range names {
		names[j] = short(binName(a, j), longestName)
		longest = max(longest, len([]rune(names[j])))
	}
	slant := float64(longest)*letter > (f.Right-f.Left)/float64(n)-4
	if slant {
		f.Left = 56
		f.Height = f.Foot + 10 + float64(longest)*letter*0.82
	}
	slot := (f.Right - f.Left) / float64(n)
	width := math.Min(0.6*slot, widestBar)
	if len(lines) > 1 {
		width = math.Min(0.7*slot, 2*widestBar)
	}
	firm := firmBins(a)
	for j, name := range names {
		from := f.Left + float64(j)*slot
		for i, k := range lines {
			b := shapeBar{Line: i, Dot: len(lines) > 1, Point: y(a.Values[k][j]), Faint: !firm[j]}
			b.X, b.Width = tenth(from+(slot-width)/2), tenth(width)
			if b.Dot {
				b.X = tenth(b.X + width*(float64(i)+0.5)/float64(len(lines)))
			}
			b.Y, b.Height = math.Min(b.Point, f.Zero), tenth(math.Abs(b.Point-f.Zero))
			f.Bars = append(f.Bars, b)
		}
		t := xTick{X: tenth(from + slot/2), Y: f.Foot + 11, Label: name, Anchor: "middle", Slant: slant}
		if slant {
			t.X, t.Y, t.Anchor = tenth(t.X+3), f.Foot+8, "end"
		}
		f.XTicks = append(f.XTicks, t)
	}
	f.rows(a, func(j int) (float64, float64) {
		middle := f.Left + (float64(j)+0.5)*slot
		return tenth(middle - width/2), tenth(middle + width/2)
	})
}

// firmBins tells the bins with a tenth or more of the mean number of rows, by noisy
// numbers. In others a shape is mostly noise.
func firmBins(a Shape) []bool {
	total := 0.0
	for _, c := range a.Rows {
		total += math.Max(float64(c), 0)
	}
	out := make([]bool, len(a.Rows))
	for j, c := range a.Rows {
		out[j] = float64(c) >= firmShare*total/float64(len(a.Rows)) && c > 0
	}
	return out
}

// rows draws the noisy numbers of training rows at the foot, negative ones as none.
func (f *shapeFigure) rows(a Shape, bin func(j int) (from, to float64)) {
	top := 0.0
	for _, c := range a.Rows {
		top = math.Max(top, float64(c))
	}
	if top == 0 {
		return
	}
	var path strings.Builder
	for j, c := range a.Rows {
		h := tenth(math.Max(float64(c), 0) / top * stripHeight)
		if h == 0 {
			continue
		}
		from, to := bin(j)
		fmt.Fprintf(&path, "M%g,%gV%gH%gV%gz", from, f.Foot, tenth(f.Foot-h), to, f.Foot)
	}
	f.Rows = path.String()
}

// commonest keeps the categories with most rows, by noisy numbers, in their order, and
// the unknown bin.
func commonest(a Shape) Shape {
	n := a.known()
	order := make([]int, n)
	for j := range order {
		order[j] = j
	}
	sort.SliceStable(order, func(i, j int) bool { return a.Rows[order[i]] > a.Rows[order[j]] })
	order = order[:mostBars]
	sort.Ints(order)
	if a.Unknown {
		order = append(order, n)
	}
	out := a
	out.Categories, out.Rows, out.Values = nil, nil, make([][]Number, len(a.Values))
	for _, j := range order {
		if j < n {
			out.Categories = append(out.Categories, a.Categories[j])
		}
		out.Rows = append(out.Rows, a.Rows[j])
		for k := range out.Values {
			out.Values[k] = append(out.Values[k], a.Values[k][j])
		}
	}
	return out
}
