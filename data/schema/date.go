package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// DateType declares a column of dates or times. It is no type of a Column: each part that is
// asked for is a column of numbers, so that everything made of numbers works on dates.
const DateType Type = "date"

// Date says how a column of numbers follows from a text that is a date.
type Date struct {
	// Column is that of the file.
	Column string
	// Formats are tried in their order: YYYY, YY, MMMM (January), MMM (Jan), MM or M, DD or D,
	// hh, mm, ss, with signs between them.
	Formats []string
	// Part is what becomes a number: one of Parts.
	Part string
	// Lower and Upper bound the date; Origin is the day from which days are counted.
	Lower, Upper, Origin time.Time
	// Missing is the date that stands for a missing cell, zero for none.
	Missing time.Time

	layouts []string
}

// Parts are the numbers of a date: days since the origin, with their fraction; the others are
// whole, Monday is weekday 1. Times of day are as they are written, without time zones.
var Parts = []string{"days", "year", "month", "day", "weekday", "hour"}

// ISO is the format of dates where a schema says nothing, and of all dates in it.
const ISO = "YYYY-MM-DD"

var isoFormats = []string{ISO, "YYYY-MM-DD hh:mm:ss", "YYYY-MM-DDThh:mm:ss", "YYYY-MM-DD hh:mm"}

var dateWords = []struct{ word, layout string }{
	{"YYYY", "2006"}, {"YY", "06"}, {"MMMM", "January"}, {"MMM", "Jan"}, {"MM", "01"}, {"M", "1"}, {"DD", "02"}, {"D", "2"},
	{"hh", "15"}, {"mm", "04"}, {"ss", "05"},
}

// layout turns a format into one of package time.
func layout(format string) (string, error) {
	var out strings.Builder
	seen := map[byte]bool{}
next:
	for rest := format; rest != ""; {
		for _, w := range dateWords {
			if strings.HasPrefix(rest, w.word) {
				if seen[w.word[0]] {
					return "", fmt.Errorf("%s occurs twice", w.word[:1])
				}
				seen[w.word[0]] = true
				out.WriteString(w.layout)
				rest = rest[len(w.word):]
				continue next
			}
		}
		if !strings.ContainsAny(rest[:1], "-/. :,TZ") {
			return "", fmt.Errorf("%q is neither a part of a date nor a separator", rest[:1])
		}
		out.WriteByte(rest[0])
		rest = rest[1:]
	}
	if !seen['Y'] {
		return "", fmt.Errorf("it has no year")
	}
	return out.String(), nil
}

// number is the part of a date.
func (d *Date) number(t time.Time) float64 {
	switch d.Part {
	case "year":
		return float64(t.Year())
	case "month":
		return float64(t.Month())
	case "day":
		return float64(t.Day())
	case "weekday":
		return float64((t.Weekday()+6)%7 + 1)
	case "hour":
		return float64(t.Hour())
	}
	return t.Sub(d.Origin).Hours() / 24
}

// read reads a cell. A typed file writes dates as ISO does.
func (d *Date) read(cell string, typed bool) (time.Time, bool) {
	layouts := d.layouts
	if layouts == nil { // built by a program, and not validated
		built := *d
		if built.compile() != nil {
			return time.Time{}, false
		}
		layouts = built.layouts
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, cell); err == nil { // the error repeats the cell
			return t, true
		}
	}
	if typed {
		for _, f := range isoFormats {
			l, _ := layout(f)
			if t, err := time.Parse(l, cell); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

func (c *Column) parseDate(cell string, typed bool) (float64, error) {
	t, ok := c.Date.read(cell, typed)
	if !ok {
		return 0, fmt.Errorf("not a date of the form %s", strings.Join(c.Date.Formats, " or "))
	}
	return c.Date.number(t), nil
}

// Source is the name of the file's column behind a column.
func (c *Column) Source() string {
	if c.Date != nil {
		return c.Date.Column
	}
	return c.Name
}

// Declared has the columns of the file that are declared, each with the first column that is made of it, counted from 1.
func (s *Schema) Declared() map[string]int {
	out := make(map[string]int, len(s.Columns))
	for i := len(s.Columns); i > 0; i-- {
		out[s.Columns[i-1].Source()] = i
	}
	return out
}

// Sources are the columns of the file that are declared, each once.
func (s *Schema) Sources() []string {
	var out []string
	for i := range s.Columns {
		if name := s.Columns[i].Source(); i == 0 || name != s.Columns[i-1].Source() {
			out = append(out, name)
		}
	}
	return out
}

// columns are the columns of the parts. With plain the only part has the name of the date.
func (d Date) columns(parts []string, plain bool, missing MissingRule, why string) []Column {
	out := make([]Column, 0, len(parts))
	for _, p := range parts {
		of := d
		of.Part = p
		c := Column{Name: d.Column + "." + p, Type: Integer, Date: &of, Missing: missing, Why: why}
		if plain {
			c.Name = d.Column
		}
		switch p {
		case "days":
			c.Type, c.Lower, c.Upper = Numeric, of.number(d.Lower), of.number(d.Upper)
		case "year":
			c.Lower, c.Upper = of.number(d.Lower), of.number(d.Upper)
		case "month":
			c.Lower, c.Upper = 1, 12
		case "day":
			c.Lower, c.Upper = 1, 31
		case "weekday":
			c.Lower, c.Upper = 1, 7
		case "hour":
			c.Lower, c.Upper = 0, 23
		}
		if missing == MissingValue {
			c.MissingNumber = math.Min(math.Max(of.number(d.Missing), c.Lower), c.Upper)
		}
		out = append(out, c)
	}
	return out
}

const dateHint = "a date is written YYYY-MM-DD in a schema, whatever its form in the file"

// date reads a column of type date.
func (d *decoder) date(name, why string, by map[string]field) ([]Column, error) {
	date := Date{Column: name, Formats: isoFormats}
	for _, key := range colKeys {
		f, ok := by[key]
		if ok && !slices.Contains([]string{"name", "match", "type", "why", "format", "parts", "origin", "lower", "upper", "missing"}, key) {
			return nil, d.fault(f.where, name, key+" cannot be used with type date", "remove the key or change the type")
		}
	}
	day := func(key string, into *time.Time) error {
		f, ok := by[key]
		if !ok {
			return nil
		}
		text, err := d.text(f)
		if err != nil {
			return err
		}
		if *into, err = time.Parse(time.DateOnly, text); err != nil {
			return d.fault(position(f.value), name, key+" is not a date", dateHint)
		}
		return nil
	}
	for key, into := range map[string]*time.Time{"lower": &date.Lower, "upper": &date.Upper} {
		if _, ok := by[key]; !ok {
			return nil, d.fault(by["type"].where, name, key+" bound is missing", "state a date from the meaning of the column, never the first or last date of the rows; "+dateHint)
		}
		if err := day(key, into); err != nil {
			return nil, err
		}
	}
	if !date.Upper.After(date.Lower) {
		return nil, d.fault(by["lower"].where, name, "the lower date is not before the upper one", "exchange them")
	}
	if date.Origin = date.Lower; by["origin"].value != nil {
		if err := day("origin", &date.Origin); err != nil {
			return nil, err
		}
	}
	if f, ok := by["format"]; ok {
		var err error
		if _, one := scalar(f.value); one {
			date.Formats = make([]string, 1)
			date.Formats[0], err = d.text(f)
		} else {
			date.Formats, err = d.list(f)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := date.compile(); err != nil {
		return nil, d.fault(by["format"].where, name, fmt.Sprintf("format: %v", err), "such as DD.MM.YYYY or YYYY-MM-DD hh:mm:ss; MM is the month and mm the minute")
	}
	parts, plain := []string{"days"}, true
	if f, ok := by["parts"]; ok {
		var err error
		if parts, err = d.list(f); err != nil {
			return nil, err
		}
		plain = false
		for i, p := range parts {
			if !slices.Contains(Parts, p) || slices.Contains(parts[:i], p) {
				return nil, d.fault(position(f.value), name, "parts must be different ones of "+strings.Join(Parts, ", "), "")
			}
			if p == "hour" && !slices.ContainsFunc(date.Formats, func(f string) bool { return strings.Contains(f, "hh") }) {
				return nil, d.fault(position(f.value), name, "parts: no format has an hour (hh)", "")
			}
		}
		if len(parts) == 0 {
			return nil, d.fault(position(f.value), name, "parts are blank", "type: ignore leaves the column out")
		}
	}
	missing := MissingRefuse
	if f, ok := by["missing"]; ok {
		text, err := d.text(f)
		if err != nil {
			return nil, err
		}
		if missing = MissingRule(text); missing != MissingRefuse && missing != MissingUnknown {
			missing = MissingValue
			if date.Missing, err = time.Parse(time.DateOnly, text); err != nil {
				return nil, d.fault(position(f.value), name, "missing must be refuse, unknown or a date", dateHint)
			}
		}
	}
	return date.columns(parts, plain, missing, why), nil
}

// compile reads the formats.
func (d *Date) compile() error {
	d.layouts = nil
	for _, f := range d.Formats {
		l, err := layout(f)
		if err != nil {
			return err
		}
		d.layouts = append(d.layouts, l)
	}
	if d.layouts == nil {
		return fmt.Errorf("there is none")
	}
	return nil
}

// encodeDate writes the entry of all parts of one date, which stand side by side.
func encodeDate(cs []Column) string {
	c, d := &cs[0], cs[0].Date
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    type: date\n    format: %s\n    lower: %s\n    upper: %s\n", quote(d.Column), quoteList(d.Formats), d.Lower.Format(time.DateOnly), d.Upper.Format(time.DateOnly))
	if !d.Origin.Equal(d.Lower) {
		fmt.Fprintf(&b, "    origin: %s\n", d.Origin.Format(time.DateOnly))
	}
	if c.Name != d.Column {
		parts := make([]string, len(cs))
		for i := range cs {
			parts[i] = cs[i].Date.Part
		}
		fmt.Fprintf(&b, "    parts: [%s]\n", strings.Join(parts, ", "))
	}
	switch c.Missing {
	case MissingUnknown:
		b.WriteString("    missing: unknown\n")
	case MissingValue:
		fmt.Fprintf(&b, "    missing: %s\n", d.Missing.Format(time.DateOnly))
	}
	if c.Why != "" {
		fmt.Fprintf(&b, "    why: %s\n", quote(c.Why))
	}
	return b.String()
}

// sameDate counts the columns from i on that are parts of one date.
func sameDate(columns []Column) int {
	n := 1
	for n < len(columns) && columns[0].Date != nil && columns[n].Date != nil && columns[n].Date.Column == columns[0].Date.Column {
		n++
	}
	return n
}

// Meaning describes the number in words.
func (d *Date) Meaning() string {
	if d.Part == "days" {
		return fmt.Sprintf("days from %s to %s", d.Origin.Format(time.DateOnly), d.Column)
	}
	if d.Part == "weekday" {
		return "weekday of " + d.Column + ", Monday is 1"
	}
	return d.Part + " of " + d.Column
}
