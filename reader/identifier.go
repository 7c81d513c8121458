package reader

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// identifiers looks at what a file writes into the column that says whose row it is. A
// text that may stand for many persons is refused, since after it their rows cannot be
// told apart; a number that is written in two ways is pointed out, since it then stands
// for two units.
type identifiers struct {
	// note takes remarks; nil for nobody, and then no writing is remembered.
	note func(string)

	// The numbers that were written, as hashes: in plain as long as each was written in
	// the plain way, so that a file of plain numbers costs eight bytes a row; then by
	// number with the hash of its writing, until one is written in two ways.
	seed    maphash.Seed
	plain   []uint64
	written map[uint64]uint64
	told    bool
	last    string

	// Long numbers that all end in zeros where a spreadsheet keeps no digits: how many
	// such zeros were read, the last of the numbers, and the remark on the first.
	zeros    int
	lastLong string
	long     string
	digits   bool // a long number had another digit there

	// held keeps, of some of the rows, what is to be looked at in the order of all.
	held *[]writing
}

// placeholders are what programs write where there is no identifier.
var placeholders = []string{"nan", "NaN", "NAN", "null", "NULL", "None", "<NA>", "#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!"}

// trimmed is an identifier without the blanks around it, those included that show
// nowhere.
func trimmed(text string) string {
	if n := len(text); n > 0 && ' ' < text[0] && text[0] < utf8.RuneSelf && ' ' < text[n-1] && text[n-1] < utf8.RuneSelf {
		return text
	}
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' })
}

// largestFloatID is the number from which a column of floats no longer tells whole
// numbers apart.
func largestFloatID(single bool) float64 {
	if single {
		return 1 << 24
	}
	return 1 << 53
}

// identifier is the text that names the unit of a record; known is false where there is
// none. A text that spoils the column as a whole is an error under either rule for bad
// rows.
func (t *table) identifier(cells []cell, strict bool) (id string, known bool, err error) {
	if t.unit >= len(cells) || cells[t.unit].bad != "" || cells[t.unit].null {
		return "", false, nil
	}
	text := cells[t.unit].text
	id = trimmed(text)
	if id == "" || slices.Contains(t.schema.NA, text) || id != text && slices.Contains(t.schema.NA, id) {
		return "", false, nil
	}
	// Most identifiers are plain numbers.
	plain := plainDigits(id)
	if !plain && slices.Contains(placeholders, id) {
		return "", false, nil
	}
	fault := func(msg, hint string) error { return t.in.rowFault(cells, t.unit, t.schema.Unit.Column, msg, hint) }
	if id != text && strict {
		return "", false, fault("the identifier begins or ends with a blank", "remove the blanks: with and without them, one person would be two units; --bad-rows default removes them")
	}
	if c, ok := t.in.(floating); ok {
		if single, floats := c.floats(t.unit); floats {
			v, err := strconv.ParseFloat(id, 64)
			switch {
			case err != nil || v != math.Trunc(v):
				return "", false, fault("the identifier is a fraction, which cannot identify anybody", "write the column as whole numbers or as text")
			case math.Abs(v) >= largestFloatID(single):
				return "", false, fault("the identifier is a floating-point number too large to keep all of its digits: several persons may have become one", "write the column as whole numbers or as text, from a source that has all digits")
			}
		}
	}
	n, ok := numeral{plain: id, digits: len(id)}, true
	if !plain {
		n, ok = numeralOf(id)
	}
	switch {
	case !ok:
	case n.shortened:
		return "", false, fault("the identifier is a number in scientific notation that lacks digits, as spreadsheets write it: several persons may have become one",
			"export the column again as text, with all of its digits; a code that only looks like such a number needs a letter before it")
	case t.ids.note == nil:
	case t.ids.held != nil:
		*t.ids.held = append(*t.ids.held, writing{id, n, cells[t.unit].line})
	default:
		t.ids.see(writing{text: id, numeral: n}, fault)
	}
	return id, true, nil
}

// writing is a number as a line writes it.
type writing struct {
	text string
	numeral
	line int
}

// see looks at an identifier that is a number, after those above it.
func (d *identifiers) see(w writing, fault func(msg, hint string) error) {
	if d.twice(w.text, w.numeral) {
		d.note(fault("an identifier writes a number differently from a line above, such as 7, 07 and 7.0: each spelling is a separate unit", "").Error())
	}
	d.rounded(w.text, w.numeral, fault)
}

// twice says, once, that a number was written in another way before.
func (d *identifiers) twice(text string, n numeral) bool {
	if d.note == nil || d.told || text == d.last {
		return false
	}
	if d.last == "" {
		d.seed = maphash.MakeSeed()
	}
	d.last = text
	number := maphash.String(d.seed, n.plain)
	if d.written == nil && n.plain == text {
		d.plain = append(d.plain, number)
		return false
	}
	if d.written == nil {
		d.written = make(map[uint64]uint64, len(d.plain))
		for _, p := range d.plain {
			d.written[p] = p // a plain number is its own writing
		}
		d.plain = nil
	}
	writing := maphash.String(d.seed, text)
	before, known := d.written[number]
	if known && before != writing {
		d.told, d.written = true, nil
		return true
	}
	d.written[number] = writing
	return false
}

// keptDigits is how many digits of a number a spreadsheet keeps; it puts zeros in place
// of the others.
const keptDigits = 15

// rounded follows numbers of more digits than a spreadsheet keeps.
func (d *identifiers) rounded(text string, n numeral, fault func(msg, hint string) error) {
	lost := len(n.plain) - keptDigits
	if d.note == nil || d.digits || lost < 1 || n.digits != len(n.plain) {
		return
	}
	if strings.Trim(n.plain[keptDigits:], "0") != "" {
		d.digits = true
		return
	}
	if d.long == "" {
		d.long = fault("the identifiers of more than 15 digits all end in zeros, as spreadsheets leave them: several persons may have become one; export the column as text", "").Error()
	}
	if text != d.lastLong {
		d.zeros, d.lastLong = d.zeros+lost, text
	}
}

// end remarks on the column as a whole. Six zeros are there by chance in one of a million
// files.
func (d *identifiers) end() {
	if d.note != nil && !d.digits && d.zeros >= 6 {
		d.note(d.long)
	}
}

// numeral is a number as an identifier writes it.
type numeral struct {
	// plain is the same number without a sign that is none, leading zeros, and zeros or
	// nothing after the point.
	plain string
	// digits is the length of plain if it is digits alone.
	digits int
	// shortened says that the number has more digits than are written.
	shortened bool
}

// numeralOf reads a number. Scientific notation is taken for one where it is as programs
// write it (1.5E+10, 1,5E10, 1E18); 7213e486 is a code.
func numeralOf(s string) (n numeral, ok bool) {
	if plainDigits(s) {
		return numeral{plain: s, digits: len(s)}, true
	}
	rest, sign := s, ""
	switch {
	case strings.HasPrefix(s, "-"):
		rest, sign = s[1:], "-"
	case strings.HasPrefix(s, "+"):
		rest = s[1:]
	}
	mantissa, exponent, scientific := rest, "", false
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent, scientific = rest[:i], rest[i+1:], true
	}
	i := strings.IndexByte(mantissa, '.')
	if i < 0 && scientific {
		i = strings.IndexByte(mantissa, ',') // where a comma is the point
	}
	whole, fraction := mantissa, ""
	if i >= 0 {
		whole, fraction = mantissa[:i], mantissa[i+1:]
	}
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return n, false
	}
	if scientific {
		power := strings.TrimLeft(exponent, "+-")
		signed := len(power) < len(exponent)
		if power == "" || len(exponent)-len(power) > 1 || !allDigits(power) || i < 0 && !signed && len(whole) > 1 || i < 0 && exponent[0] == '-' {
			return n, false
		}
		e, err := strconv.Atoi(power)
		switch {
		case strings.Trim(whole+fraction, "0") == "":
			whole, fraction = "0", ""
		case err != nil || exponent[0] == '-' || e > len(fraction):
			return numeral{shortened: true}, true
		default:
			whole, fraction = whole+fraction[:e], fraction[e:]
		}
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	switch {
	case whole == "" && fraction == "":
		return numeral{plain: "0", digits: 1}, true
	case whole == "":
		whole = "0"
	}
	n.plain = sign + whole
	if fraction != "" {
		n.plain += "." + fraction
	} else if sign == "" {
		n.digits = len(n.plain)
	}
	return n, true
}

// plainDigits says that s is a whole number as it is mostly written.
func plainDigits(s string) bool { return s != "" && (s[0] != '0' || len(s) == 1) && allDigits(s) }

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
