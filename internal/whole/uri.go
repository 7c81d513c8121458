package whole

import (
	"net/url"
	"path/filepath"
	"strings"
)

// URI is path, made absolute, as SQLite takes it: '?' and '#' in it stay part of it, and query are SQLite's parameters.
func URI(path string, query url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	return fileURI(filepath.ToSlash(abs), query), err
}

// fileURI begins the path with a slash: Windows' begin with the letter of a drive, which SQLite would take for a host.
func fileURI(abs string, query url.Values) string {
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: query.Encode()}).String()
}
