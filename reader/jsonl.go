package reader

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// jsonLines is an open file of one JSON object a line. The first object names the
// columns; in others a name may be absent, which is a null, and no further one may come.
// A string is the text of its cell, a number the digits as they are written, true and
// false are these words, and null is a missing cell, so that a table gives the same
// numbers in every format.
type jsonLines struct {
	*CSV    // for faults, and what New does before the header
	in      *bufio.Reader
	at      map[string]int // of the header
	used    []bool         // by column; nil for all
	line    int            // that was read last
	whole   bool           // cells are handed on that are not used
	pending []byte         // the first object, until next gives it
}

// jsonNamed goes by the name, as tabSeparated does.
func jsonNamed(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, ".gz"))
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

func openJSONLines(name string, r io.Reader) (*jsonLines, error) {
	j := &jsonLines{CSV: &CSV{file: name}, at: map[string]int{}}
	var err error
	if j.in, _, err = j.open(r); err != nil {
		return nil, err
	}
	line, err := j.read()
	switch {
	case err == io.EOF:
		return nil, j.fault(0, "", "the file is empty; one JSON object a line is needed", "")
	case err != nil:
		return nil, err
	case line == nil:
		return nil, j.fault(j.line, "", "the record is longer than 16 MiB", "")
	}
	bad := object(line, func(key string, _ cell) string {
		switch {
		case key == "":
			return "a name is empty"
		case len(j.header) == maxCells:
			return "the record has more than 65,536 cells"
		}
		j.at[key] = len(j.header)
		j.header = append(j.header, key)
		return ""
	})
	switch {
	case bad != "":
		return nil, j.fault(j.line, "", bad, "the first object names the columns: "+exampleLine)
	case len(j.header) == 0:
		return nil, j.fault(j.line, "", "the first object is empty, and it names the columns", exampleLine)
	}
	j.pending = line
	return j, nil
}

const exampleLine = `{"age": 31, "ward": "a", "ill": true}`

// read returns the next line that is not blank, nil for one that is too long.
func (j *jsonLines) read() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := j.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRecord; !long {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return nil, j.readFault(err)
		}
		if err == io.EOF && len(line) == 0 && !long {
			return nil, io.EOF
		}
		j.line++
		if long {
			return nil, nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		line = line[:0]
		if err == io.EOF {
			return nil, io.EOF
		}
	}
}

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
	line := j.pending
	if j.pending = nil; line == nil {
		var err error
		if line, err = j.read(); err != nil {
			return nil, err
		}
	}
	if len(space) != len(j.header) {
		space = make([]cell, len(j.header))
	}
	for i := range space {
		space[i] = cell{line: j.line, null: true}
	}
	bad, column := "the record is longer than 16 MiB", ""
	if line != nil {
		bad = object(line, func(key string, c cell) string {
			i, ok := j.at[key]
			switch {
			case !ok && strict:
				column = key
				return "not a name of the first object, which names the columns"
			case !ok:
				return ""
			case j.used != nil && !j.used[i] && (!j.whole || c.bad != ""):
				c = cell{null: true} // it may hold anything
			}
			c.line = j.line
			if space[i] = c; c.bad != "" && strict {
				column = key
				return c.bad
			}
			return ""
		})
	}
	switch {
	case bad == "":
		return space, nil
	case strict && column != "":
		return nil, j.fault(j.line, column, bad, nearestHint(column, j.header, "write the value of a column as text, a number, true, false or null; the first object has every name, with null where a value is missing"))
	case strict:
		return nil, j.fault(j.line, "", bad, "one object a line: "+exampleLine)
	}
	for i := range space {
		space[i] = cell{line: j.line, bad: bad}
	}
	return space, nil
}

func (j *jsonLines) headFault(column, msg, hint string) error {
	return j.fault(1, column, msg, hint)
}

func (j *jsonLines) absent(column, why string) error {
	return j.fault(1, "", fmt.Sprintf("the first object has no %q, %s", column, why),
		nearestHint(column, j.header, "the first object names the columns, with null where a value is missing; a column that the file need not have is declared type: ignore"))
}

func (j *jsonLines) noRows() error { return j.fault(0, "", "the file has no rows", "") }

// object reads one object and calls value for every name; what that returns, or what is
// wrong with the line, ends it.
func object(line []byte, value func(key string, c cell) string) (bad string) {
	const malformed = "not one JSON object"
	if !utf8.Valid(line) {
		return "not UTF-8 text"
	}
	d := json.NewDecoder(bytes.NewReader(line))
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
		c.text = fmt.Sprint(v)
	case json.Number:
		c.text = v.String()
	case string:
		c.text = v
		c.bad = faultOf(v)
	case json.Delim:
		c.bad = "a list or an object, which is no cell"
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
