package whole

import (
	"net/url"
	"testing"
)

func TestURI(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a b/l?#.db":      "file:///home/a%20b/l%3F%23.db?mode=ro",
		"C:/Users/a/ledger.db":  "file:///C:/Users/a/ledger.db?mode=ro",
		"//server/share/l.db":   "file:////server/share/l.db?mode=ro",
		"/a/100%25/é/ledger.db": "file:///a/100%2525/%C3%A9/ledger.db?mode=ro",
	} {
		if got := fileURI(path, url.Values{"mode": {"ro"}}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
