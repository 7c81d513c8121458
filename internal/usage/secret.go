package usage

import (
	"regexp"
	"strings"
)

// Address reports whether a text looks like an address or the settings of a connection, which
// may hold a password: SCHEME:/…, …:…@… or password=…. Where it is not what was expected,
// an error does not quote it.
func Address(text string) bool {
	return schemed.MatchString(text) || named.MatchString(text) || setting.MatchString(text)
}

var (
	schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)
	named   = regexp.MustCompile(`:.*@`)
	setting = regexp.MustCompile(`(?i)(password|passwd|pwd)=`)
)

// Redact removes passwords from a line that may quote what somebody typed.
func Redact(line string) string {
	line = userinfo.ReplaceAllString(line, "$1@")
	line = pair.ReplaceAllStringFunc(line, func(text string) string {
		name, _, _ := strings.Cut(text, ":")
		if strings.EqualFold(strings.TrimLeft(name, "("), "sqlite") { // a path, in which @ may stand
			return text
		}
		return name + "@"
	})
	return secret.ReplaceAllString(line, "$1=…")
}

var (
	// A password may hold anything, also what would have to be percent-encoded: it ends at the
	// last @ of the line.
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:/+[^\s/:@?"']*):.*@`)
	pair     = regexp.MustCompile(`[^\s:"']*[^\s:"'/]:[^\s"'/][^\s"']*@`)
	secret   = regexp.MustCompile(`(?i)(password|passwd|pwd)=[^\s&"']*`)
)
