package usage

import (
	"regexp"
	"strconv"
	"strings"
)

// positioned is the first line of an error of the YAML parser.
var positioned = regexp.MustCompile(`^\[(\d+):(\d+)\] (.*)`)

// YAML takes an error of the YAML parser apart: where it is in the file, from 1, what is wrong in one line, and a hint
// or "".
func YAML(err error) (line, col int, msg, hint string) {
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
