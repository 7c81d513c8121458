package table

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"pawl/internal/usage"
)

// A file of text beyond the limit is not held: it is read where it lies, as the same bytes each time, or refused.
func TestStoredFile(t *testing.T) {
	text := strings.Repeat(visits, 100)
	in(t, map[string][]byte{"a.csv": []byte(text), "a.csv.gz": gz(text)})
	open := func(name string, most int64) (stored interface{ Reader() io.Reader }, content []byte) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, content, err := readStored(name, f, most)
		if err != nil {
			t.Fatal(err)
		}
		if p.Stored == nil {
			return nil, content
		}
		return p.Stored, content
	}
	if stored, content := open("a.csv", int64(len(text))); stored != nil || string(content) != text {
		t.Error("a file of the limit's size is not held")
	}
	if stored, content := open("a.csv.gz", 20); stored != nil || !bytes.Equal(content, gz(text)) {
		t.Error("a packed file is not held")
	}
	stored, _ := open("a.csv", int64(len(text))-1)
	for range 2 {
		if got, err := io.ReadAll(stored.Reader()); err != nil || string(got) != text {
			t.Errorf("other bytes (%v)", err)
		}
	}
	info, err := os.Stat("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"shorter": func() error { return os.Truncate("a.csv", int64(len(text))-18) },
		// As large and as old as before: its bytes tell.
		"another": func() error {
			return os.WriteFile("a.csv", []byte(strings.Repeat(strings.Replace(visits, "31", "13", 1), 100)), 0o600)
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes("a.csv", info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(stored.Reader()); !usage.Mistake(err) || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Text from a pipe beyond the limit comes back as often as it is needed.
func TestStoredPipe(t *testing.T) {
	text := strings.Repeat(visits, 10000)
	for most, held := range map[int64]bool{100: false, 1 << 20: true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() { io.WriteString(w, text); w.Close() }()
		p, content, err := readStored("pipe", r, most)
		if err != nil || held != (p.Stored == nil) || held && string(content) != text {
			t.Fatalf("limit %d: %v, %v", most, p.Stored, err)
		}
		for range 2 {
			if held {
				break
			}
			if got, err := io.ReadAll(p.Stored.Reader()); err != nil || string(got) != text {
				t.Errorf("other bytes (%v)", err)
			}
		}
	}
}
