package reader

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"pawl/data/schema"
)

// jsonLines is an open file of one JSON object a line. Its columns are named from outside:
// a name that a row lacks is a null, and one that was not asked for is refused by its line,
// since names are part of rows and may be telling (hiv_since_2011). A string is the text of
// its cell, a number the digits as they are written, true and false are these words, and
// null is a missing cell, so that a table gives the same numbers in every format.
type jsonLines struct {
	*CSV     // for faults, and what New does before the header
	in       *bufio.Reader
	at       map[string]int // of the header
	passOver bool           // other names
	used     []bool         // by column; nil for all
	seen     []atomic.Bool  // by column, of all stretches
	line     int            // that was read last
	size     int            // of a stretch, unless a line is longer
	flat     flat
	space    []byte // of the line that was read last
	broken   error  // what ended the reading behind the last stretch; io.EOF for the end
	part     bool   // of a file, and whether it is the last
	last     bool
	text     string // of a part, what was not read yet
}

// JSONNamed says that a file is read as JSON lines. It goes by the name, as tabSeparated
// does.
func JSONNamed(name string) bool {
	name = strings.ToLower(WithoutPacking(name))
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

func openJSONLines(name string, r io.Reader, keys Keys) (*jsonLines, error) {
	j := &jsonLines{CSV: &CSV{file: name, how: schema.File{Encoding: keys.File.Encoding}, header: keys.Names, first: 1}, at: map[string]int{}, passOver: keys.PassOver, seen: make([]atomic.Bool, len(keys.Names)), size: blockSize}
	if len(keys.Names) == 0 {
		return nil, j.fault(0, "", "JSON lines have no header, and the names in their rows are data, so the columns are unknown", "name the columns")
	}
	for i, n := range keys.Names {
		j.at[n] = i
	}
	var err error
	if j.in, _, err = j.open(r); err != nil {
		return nil, err
	}
	switch _, err := j.in.Peek(1); {
	case err == io.EOF:
		return nil, j.fault(0, "", "the file is empty; one JSON object per line is needed", "")
	case err != nil:
		return nil, j.readFault(err)
	}
	return j, nil
}

const exampleLine = `{"age": 31, "ward": "a", "ill": true}`

// read returns the next line that is not blank, "" for one that is too long.
func (j *jsonLines) read() (string, error) {
	for {
		line, long, err := j.take()
		if err != nil {
			return "", err
		}
		j.line++
		if long {
			return "", nil
		}
		if line = strings.TrimSpace(line); line != "" {
			return line, nil
		}
	}
}

// take returns the next line with its end, and whether it is longer than a record may be.
func (j *jsonLines) take() (line string, long bool, err error) {
	if j.part {
		if j.text == "" {
			return "", false, io.EOF
		}
		n := strings.IndexByte(j.text, '\n') + 1
		if n == 0 {
			n = len(j.text)
		}
		line, j.text = j.text[:n], j.text[n:]
		return line, n > maxRecord, nil
	}
	space := j.space[:0]
	defer func() { j.space = space }()
	for {
		part, err := j.in.ReadSlice('\n')
		if long = long || len(space)+len(part) > maxRecord; !long {
			space = append(space, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil && err != io.EOF:
			return "", false, j.readFault(err)
		case err == io.EOF && len(space) == 0 && !long:
			return "", false, io.EOF
		default:
			return string(space), long, nil
		}
	}
}

func (j *jsonLines) readable(int) bool { return true }

func (j *jsonLines) choose(fields []int) error {
	j.used = make([]bool, len(j.header))
	for _, f := range fields {
		j.used[f] = true
	}
	return nil
}

// next gives a record as many cells as there are columns. When not strict, a line that
// is no object has malformed cells only.
func (j *jsonLines) next(space []cell, strict bool) ([]cell, error) {
	line, err := j.read()
	if err == io.EOF && !j.part {
		return nil, j.lacking()
	}
	if err != nil {
		return nil, err
	}
	if len(space) != len(j.header) {
		space = make([]cell, len(j.header))
	}
	for i := range space {
		space[i] = cell{line: j.line, null: true}
	}
	bad, column := "the record is longer than 16 MiB", ""
	if line != "" {
		after := 0
		value := func(key string, c cell) string {
			// Mostly names come in the order of the columns.
			i, ok := after, after < len(j.header) && j.header[after] == key
			if !ok {
				i, ok = j.at[key]
			}
			after = i + 1
			switch {
			case !ok && strict && !j.passOver:
				return undeclared
			case !ok:
				return ""
			case j.used != nil && !j.used[i]:
				c.bad = "" // it may hold anything
			}
			if c.line = j.line; !j.seen[i].Load() {
				j.seen[i].Store(true)
			}
			if space[i] = c; c.bad != "" && strict {
				column = key
				return c.bad
			}
			return ""
		}
		if !j.flat.read(line) {
			bad = object(line, value)
		} else {
			bad = ""
			for i, key := range j.flat.keys {
				if bad = value(key, j.flat.cells[i]); bad != "" {
					break
				}
			}
		}
	}
	switch {
	case bad == "":
		return space, nil
	case strict && bad == undeclared:
		return nil, ofRecord(j.fault(j.line, "", bad, "declare every name of the file, in a schema with type: ignore if it is not to be used; it is not shown, since names in rows are data"))
	case strict && column != "":
		return nil, ofRecord(j.fault(j.line, column, bad, "write the value of a column as text, a number, true, false or null"))
	case strict:
		return nil, ofRecord(j.fault(j.line, "", bad, "one object per line: "+exampleLine))
	}
	for i := range space {
		space[i] = cell{line: j.line, bad: bad}
	}
	return space, nil
}

// stretch returns the next lines; at the end, behind a stretch without any, the error is io.EOF.
func (j *jsonLines) stretch() (records, error) {
	if j.last {
		return nil, io.EOF
	}
	part := *j
	part.flat, part.space = flat{}, nil
	text := make([]byte, 0, j.size+j.size/16)
	for len(text) < j.size && j.broken == nil {
		text = j.append(text)
	}
	switch {
	case len(text) > 0:
	case j.broken != io.EOF:
		return nil, j.readFault(j.broken)
	default:
		j.last = true
	}
	part.part, part.last, part.text = true, j.last, string(text)
	return &part, nil
}

// append appends the next line to text, of one that is too long as much as shows that it is.
func (j *jsonLines) append(text []byte) []byte {
	for begin := len(text); ; {
		more, err := j.in.ReadSlice('\n')
		if text = append(text, more[:min(len(more), begin+maxRecord+1-len(text))]...); err == bufio.ErrBufferFull {
			continue
		}
		if j.line++; err == nil && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		if j.broken = err; err != nil && err != io.EOF {
			text = text[:begin]
		}
		return text
	}
}

func (j *jsonLines) atEnd() error {
	if !j.last {
		return nil
	}
	if err := j.lacking(); err != io.EOF {
		return err
	}
	return nil
}

// undeclared is all that may be said of such a name.
const undeclared = "the row has an undeclared name"

// lacking ends the reading: where other names are passed over, a column that no row has is
// a slip.
func (j *jsonLines) lacking() error {
	for i, used := range j.used {
		if j.passOver && used && !j.seen[i].Load() {
			return j.fault(0, "", fmt.Sprintf("no row has the name %q", j.header[i]), exampleLine)
		}
	}
	return io.EOF
}

func (j *jsonLines) headFault(column, msg, hint string) error {
	return j.fault(1, column, msg, hint)
}

func (j *jsonLines) noRows() error { return j.fault(0, "", "the file has no rows", "") }

// object reads one object and calls value for every name; what that returns, or what is
// wrong with the line, ends it.
func object(line string, value func(key string, c cell) string) (bad string) {
	const malformed = "not one JSON object"
	if !utf8.ValidString(line) {
		return notText
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return malformed
	}
	var seen map[string]bool
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return malformed
		}
		if seen[key] {
			return "an object has a name twice"
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[key] = true
		c, ok := cellOf(d)
		if !ok {
			return malformed
		}
		if bad := value(key, c); bad != "" {
			return bad
		}
	}
	if _, err := d.Token(); err != nil {
		return malformed
	}
	if _, err := d.Token(); err != io.EOF {
		return malformed
	}
	return ""
}

// cellOf reads one value.
func cellOf(d *json.Decoder) (c cell, ok bool) {
	t, err := d.Token()
	if err != nil {
		return c, false
	}
	switch v := t.(type) {
	case nil:
		c.null = true
	case bool:
		c.text, c.typed = fmt.Sprint(v), true
	case json.Number:
		c.text, c.typed = v.String(), true
	case string:
		c.text = v
		c.bad = faultOf(v)
	case json.Delim:
		c.bad = "a list or an object instead of a cell"
		for depth := 1; depth > 0; {
			t, err := d.Token()
			if err != nil {
				return c, false
			}
			switch t {
			case json.Delim('['), json.Delim('{'):
				depth++
			case json.Delim(']'), json.Delim('}'):
				depth--
			}
		}
	}
	return c, true
}
