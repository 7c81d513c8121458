package schema

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

const templateHead = `# Schema of %s. Everything here is public: fill it in from documentation and from
# what the quantities mean, never from the rows.
version: 1
dataset: %s
# unit: whose data must be protected? Nothing runs before this is answered.
#   Is every row about a different person?  unit: row
#   Can one person have several rows?      unit: the column that identifies the person, and
#   rows_per_unit: N, the most rows of one person that count; more are dropped.
unit:%s
# rows: private | about N | N | public (the file's own row count is public).
rows: private
# file: how a file of text is written where it is not UTF-8 with commas, points and a header:
#   {delimiter: ";", decimal: ",", thousands: ".", quote: none, encoding: windows-1252,
#    skip: 2 (lines before the header), header: false, names: [...], trim: true (blanks around cells)}
# na: cells that mean "missing".
na: %s
`

const templateKeys = `# type: numeric | integer | boolean | categorical | text | ignore
#   numeric, integer: lower and upper, round numbers; values outside are clipped.
#     heavy_tailed: true for amounts of at least 0 with a wide range.
#     monotone: increasing or decreasing, where predictions may only rise or fall with the value.
#   categorical: categories: [every value that can occur]; ordered: true for grades;
#     other: true gives undeclared values a level of their own.
#   text: words are hashed by a fixed rule; buckets: N (default: chosen by the rule).
#   missing: refuse (default) | unknown | a constant.   why: the reason, for reports.
`

// Template returns a schema for the columns of a header: names, and blanks that
// a person fills, the unit first. It knows nothing of the rows. Load refuses it until the blanks
// are filled.
func Template(name string, header []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, templateHead, oneLine(name), quote(name), "", quoteList(DefaultNA))
	b.WriteString(templateKeys + "columns:\n")
	for _, h := range header {
		fmt.Fprintf(&b, "  - name: %s\n    type:\n", quote(h))
	}
	return b.Bytes()
}

// WithFile puts into a template how the file is written. It leaves a template alone of a
// file with nothing to declare.
func WithFile(template []byte, f File) []byte {
	const before = "# na: cells that mean"
	return bytes.Replace(template, []byte(before), []byte(f.encode()+before), 1)
}

// oneLine keeps a name inside the comment it stands in.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// Guesser proposes types after looking at rows. What it writes depends on the
// data, so it is marked reviewed: false and Load refuses it until a person has
// taken responsibility for it.
type Guesser struct {
	header []string
	kinds  []guess
}

type guess struct {
	seen, notBoolean, notInteger, notNumeric bool
	levels                                   map[string]bool
}

// maxListed ends the collecting of levels: a column with more is no category list.
const maxListed = 1000

// NewGuesser returns a Guesser for rows of this header.
func NewGuesser(header []string) *Guesser {
	g := &Guesser{header: append([]string(nil), header...), kinds: make([]guess, len(header))}
	for i := range g.kinds {
		g.kinds[i].levels = map[string]bool{}
	}
	return g
}

// Observe looks at one row; cells beyond the header are passed over.
func (g *Guesser) Observe(row []string) {
	for i := range g.kinds {
		if i >= len(row) || isNA(row[i]) {
			continue
		}
		k := &g.kinds[i]
		k.seen = true
		if _, err := parseBoolean(row[i]); err != nil {
			k.notBoolean = true
		}
		if _, err := number(row[i]); err != nil {
			k.notNumeric = true
		}
		if _, err := strconv.ParseInt(row[i], 10, 64); err != nil {
			k.notInteger = true
		}
		if len(k.levels) <= maxListed {
			k.levels[row[i]] = true
		}
	}
}

func isNA(cell string) bool {
	for _, na := range DefaultNA {
		if cell == na {
			return true
		}
	}
	return false
}

// Schema returns the proposal as YAML: types filled in, bounds left blank, and
// categories copied from the rows only when listCategories is set.
func (g *Guesser) Schema(name string, listCategories bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, templateHead, oneLine(name), quote(name), "", quoteList(DefaultNA))
	b.WriteString(templateKeys)
	b.WriteString("# The types below were guessed from rows: this file is not public until reviewed.\n" +
		"# Set true once nothing in it depends on the rows any more.\nreviewed: false\ncolumns:\n")
	for i, h := range g.header {
		k := &g.kinds[i]
		fmt.Fprintf(&b, "  - name: %s\n", quote(h))
		switch {
		case !k.seen:
			b.WriteString("    type:\n")
		case !k.notBoolean:
			b.WriteString("    type: boolean\n")
		case !k.notInteger:
			b.WriteString("    type: integer\n    lower:\n    upper:\n")
		case !k.notNumeric:
			b.WriteString("    type: numeric\n    lower:\n    upper:\n")
		case listCategories && len(k.levels) <= maxListed:
			levels := make([]string, 0, len(k.levels))
			for l := range k.levels {
				levels = append(levels, l)
			}
			sort.Strings(levels)
			fmt.Fprintf(&b, "    type: categorical\n    categories: %s # from the rows: replace\n", quoteList(levels))
		default:
			b.WriteString("    type: categorical\n    categories:\n")
		}
	}
	return b.Bytes()
}
