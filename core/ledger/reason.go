package ledger

import (
	"strings"
	"unicode"
)

// checkReason refuses what is no reason: blanks, and texts of several lines or with signs
// that do not show, which could pass for other lines where the reason is printed. what
// says what the reason is for.
func checkReason(what, reason string) error {
	switch {
	case strings.TrimSpace(reason) == "":
		return invalid("%s needs a reason", what)
	case strings.IndexFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0:
		return invalid("a reason is one line of printable characters")
	}
	return nil
}
