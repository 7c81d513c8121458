package infer

import (
	"math"
	"slices"
	"strings"

	"pawl/data/schema"
)

// Asked is a column and what is asked of it.
type Asked struct {
	Name string `json:"name"`
	// Levels asks which texts it holds, Numbers for bounds of the numbers that it holds.
	Levels  bool `json:"levels"`
	Numbers bool `json:"numbers"`
}

// Level is a text that many units hold, and about how many.
type Level struct {
	Text  string  `json:"text"`
	Units float64 `json:"units"`
}

// Column is what was released of one column. Counts are of units, and noisy.
type Column struct {
	Name  string `json:"name"`
	Asked Asked  `json:"asked"`
	// Missing is about how many units have a cell that means "missing"; nil where it was not asked.
	Missing *float64 `json:"missing,omitempty"`
	Levels  []Level  `json:"levels,omitempty"`
	// Bins are those of Bins, nil where levels said that it holds no numbers.
	Bins []float64 `json:"bins,omitempty"`
}

// Released is what was released of a table.
type Released struct {
	// Schema says how numbers are written.
	Schema   *schema.Schema `json:"-"`
	Forecast Forecast       `json:"noise"`
	Columns  []Column       `json:"columns"`
}

// LevelOf is the level of a cell (sum.Levels): the public cell 0 for a missing one, its text for any other.
func LevelOf(s *schema.Schema, text string, null bool) (known []int, level string) {
	text = s.Cell(text)
	switch {
	case null || strings.TrimSpace(text) == "" || slices.Contains(s.NA, text):
		return []int{0}, ""
	case strings.ContainsRune(text, 0): // a malformed cell
		return nil, ""
	}
	return nil, text
}

// CellsOf are the bins of a cell (sum.Levels), none for one that is no number.
func CellsOf(s *schema.Schema, text string, null bool) []int {
	if null || slices.Contains(s.NA, s.Cell(text)) {
		return nil
	}
	if v, ok := s.Number(text); ok {
		return Bins(v)
	}
	if v, ok := dateNumber(s.Cell(text)); ok {
		return Bins(v)
	}
	return nil
}

// units is about how many units have a cell in a column, missing or not, and no fewer than what was counted.
func (r *Released) units() float64 {
	n := r.Forecast.Units()
	for i := range r.Columns {
		c := &r.Columns[i]
		total := 0.0
		add := func(x float64) {
			if total += x; r.Forecast.RowsPerUnit > 1 { // a unit may be in several levels
				total = math.Max(total-x, x)
			}
		}
		if c.Missing != nil {
			add(*c.Missing)
		}
		for _, l := range c.Levels {
			add(l.Units)
		}
		if total > n+3*r.Forecast.LevelDev*math.Sqrt(float64(1+len(c.Levels))) {
			n = total
		}
	}
	return n
}

// present is about how many units have a cell that is not missing.
func (r *Released) present(c *Column) float64 {
	n := r.units()
	if c.Missing != nil {
		n -= math.Max(*c.Missing, 0)
	}
	return math.Max(n, 1)
}

// masses are the units of a column's levels that are numbers, and of the others.
func (r *Released) masses(c *Column) (numbers, texts float64) {
	for _, l := range c.Levels {
		if _, ok := r.Schema.Number(l.Text); ok {
			numbers += l.Units
		} else {
			texts += l.Units
		}
	}
	return numbers, texts
}

// MayBeNumbers says whether column c may hold numbers that need bounds, by its levels alone.
func (r *Released) MayBeNumbers(c int) bool {
	column := &r.Columns[c]
	numbers, texts := r.masses(column)
	switch {
	case !column.Asked.Levels || len(column.Levels) == 0:
		return true
	case texts > numbers:
		// Texts may be dates, of which some days are common.
		return !slices.ContainsFunc(column.Levels, func(l Level) bool { _, ok := dateNumber(l.Text); return !ok })
	}
	// Two numbers that are nearly all there is are a choice of two.
	return !(len(column.Levels) == 2 && numbers >= .9*r.present(column)-2*r.Forecast.LevelDev)
}

// Proposal is what a schema may say of a column.
type Proposal struct {
	Name string
	// Type is "" where nothing came out.
	Type         schema.Type
	Lower, Upper float64
	HeavyTailed  bool
	// FromYear and ToYear are those of dates, of Type "date".
	FromYear, ToYear int
	Categories       []string
	// Answer says that the only category is known for one of two answers, such as "no".
	Answer bool
	// Remarks say how sure that is, for a person.
	Remarks []string
}

// Propose reads what was released.
func (r *Released) Propose() []Proposal {
	out := make([]Proposal, len(r.Columns))
	for i := range r.Columns {
		out[i] = r.propose(&r.Columns[i])
	}
	return out
}

func (r *Released) propose(c *Column) Proposal {
	p := Proposal{Name: c.Name}
	levels := slices.Clone(c.Levels)
	slices.SortStableFunc(levels, func(a, b Level) int { return strings.Compare(a.Text, b.Text) })
	var texts []string
	total, largest := 0.0, 0.0
	for _, l := range levels {
		if printable(l.Text) {
			texts = append(texts, l.Text)
			total += l.Units
			largest = math.Max(largest, l.Units)
		}
	}
	numbers, _ := r.masses(c)
	var b Range
	if c.Bins != nil {
		b = Read(c.Bins, r.Forecast.BinDev)
	}
	isNumbers := b.Found && b.Total+2*b.TotalDev >= .5*r.present(c)
	switch {
	case len(texts) == 2 && booleans(texts) && (numbers == 0 || !b.Found || b.ZeroOne) && total >= .97*r.present(c)-2*r.Forecast.LevelDev:
		p.Type = schema.Boolean
	case b.Dates && b.FromYear >= firstYear+years-3: // numbers that are larger than all bins
	case isNumbers && b.Dates:
		p.Type, p.FromYear, p.ToYear = schema.DateType, b.FromYear, b.ToYear
	case isNumbers && !(len(texts) > 0 && numbers == 0) && !(len(texts) > 0 && (b.Point || b.OnlyZero || b.ZeroOne || !b.Beyond && total >= .8*r.present(c))):
		p.Type = schema.Numeric
		p.Lower, p.Upper = roundOut(b)
		p.HeavyTailed = b.HeavyTailed
		if b.OnlyZero {
			p.Remarks = append(p.Remarks, "only 0 was released: set upper")
		}
	case len(texts) > 0:
		if p.Type, p.Categories = schema.Categorical, texts; len(texts) == 1 {
			p.Answer = long(texts[0]) && booleans(texts)
			p.Remarks = append(p.Remarks, "only "+quoted(texts[0])+" were released, of about "+shareOf(largest, r.present(c))+" of them")
		}
	}
	return p
}

func booleans(texts []string) bool {
	seen := map[bool]bool{}
	for _, t := range texts {
		v, ok := schema.Truth(t)
		if !ok || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// long says that a text is known for one of two answers even where the other was not seen: a letter is not.
func long(text string) bool { return len(text) > 1 || text == "0" || text == "1" }

func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == 0xfffd || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return false
		}
	}
	return true
}

// roundOut rounds bounds outward to a tenth or a hundredth of their width.
func roundOut(b Range) (lower, upper float64) {
	step := math.Pow(10, math.Floor(math.Log10(b.Upper-b.Lower))-1)
	round := func(v float64, up bool) float64 {
		k := math.Floor(v / step)
		if up {
			k = math.Ceil(v / step)
		}
		if step < 1 {
			return k / math.Round(1/step)
		}
		return k * step
	}
	return round(b.Lower, false), round(b.Upper, true)
}

// Seen is about how many units were counted: the largest total of a column, whose noise grows least with
// its levels; 0 where no levels were asked for.
func (r *Released) Seen() (n float64) {
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Missing == nil || len(c.Levels) == 0 || len(c.Levels) > 9 {
			continue
		}
		total := *c.Missing
		for _, l := range c.Levels {
			total += l.Units
		}
		n = math.Max(n, total)
	}
	return n
}
