package usage

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseYAML parses a file that a person wrote. The byte order mark of some editors is passed over. Text that is not
// UTF-8 is refused, and so is a control character: the parser ends at a NUL byte as if the rest were not there.
// YAML takes its errors apart.
func ParseYAML(data []byte) (file *ast.File, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, &yamlFault{1, 1, "not UTF-8 text", "save the file as UTF-8"}
	}
	line, col := 1, 0
	for _, r := range string(data) {
		col++
		switch {
		case r == '\n':
			line, col = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f:
			return nil, &yamlFault{line, col, fmt.Sprintf("a control character (%U)", r), "remove it"}
		}
	}
	// The parser is another project's; a fault in it must not stop the program.
	defer func() {
		if recover() != nil {
			file, err = nil, &yamlFault{1, 1, "not readable as YAML", ""}
		}
	}()
	return parser.ParseBytes(data, 0)
}

// yamlFault is one that ParseYAML finds before the parser does.
type yamlFault struct {
	line, col int
	msg, hint string
}

func (f *yamlFault) Error() string { return f.msg }

// positioned is the first line of an error of the YAML parser.
var positioned = regexp.MustCompile(`^\[(\d+):(\d+)\] (.*)`)

// YAML takes an error of ParseYAML or of the YAML decoder apart: where it is in the file, from 1, what is wrong in one
// line, and a hint or "".
func YAML(err error) (line, col int, msg, hint string) {
	if f, ok := err.(*yamlFault); ok {
		return f.line, f.col, f.msg, f.hint
	}
	line, col = 1, 1
	first, _, _ := strings.Cut(err.Error(), "\n")
	if m := positioned.FindStringSubmatch(first); m != nil {
		line, _ = strconv.Atoi(m[1])
		col, _ = strconv.Atoi(m[2])
		first = m[3]
	}
	if strings.Contains(first, "'\t'") {
		return line, col, "YAML: a tab, where only spaces may indent a line", "replace tabs by spaces"
	}
	return line, col, "YAML: " + first, ""
}
