package dataset

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text is a list of texts with their labels.
type Text struct {
	Classes []string
	Labels  []int32 // indices into Classes
	Texts   []string
}

// LoadText reads a built-in data set of texts: sms-spam. The content is checked
// against its SHA-256.
func LoadText(name, dataDir string) (*Text, error) {
	b, ok := Lookup(name)
	if !ok || b.Name != "sms-spam" {
		return nil, fmt.Errorf("data set %q: not a built-in data set of texts", name)
	}
	content, err := b.content(b.Files[b.train], dataDir)
	if err != nil {
		return nil, err
	}
	s := b.Schema()
	t, err := ReadTSV(b.Name, bytes.NewReader(content), s.Columns[s.Column(b.Target)].Categories)
	if err == nil && len(t.Texts) != b.Rows {
		err = fmt.Errorf("data set %q: the file does not hold %d texts", b.Name, b.Rows)
	}
	return t, err
}

// maxText bounds a text.
const maxText = 1 << 20

// ReadTSV reads one text a line: its class, a tab, the text up to the end of the
// line. There is no header and no quoting; a text may hold tabs. Errors name the line
// and repeat nothing of it.
func ReadTSV(name string, r io.Reader, classes []string) (*Text, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &Text{Classes: append([]string(nil), classes...)}
	index := map[string]int32{}
	for i, c := range classes {
		index[c] = int32(i)
	}
	rest := strings.TrimSuffix(string(content), "\n")
	for line := 1; rest != "" || line == 1; line++ {
		var one string
		one, rest, _ = strings.Cut(rest, "\n")
		one = strings.TrimSuffix(one, "\r")
		class, text, ok := strings.Cut(one, "\t")
		label, known := index[class]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s:%d: no tab between a class and a text", name, line)
		case !known:
			return nil, fmt.Errorf("%s:%d: not one of the %d declared classes", name, line, len(classes))
		case !utf8.ValidString(text):
			return nil, fmt.Errorf("%s:%d: not UTF-8 text", name, line)
		case len(text) > maxText:
			return nil, fmt.Errorf("%s:%d: longer than 1 MiB", name, line)
		}
		t.Labels, t.Texts = append(t.Labels, label), append(t.Texts, text)
	}
	return t, nil
}
