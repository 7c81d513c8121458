package book

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed notes.yaml
var noteFile []byte

// note is what a reader should know of a result that we do not reproduce. Its numbers are quotations.
type note struct {
	Results []string `yaml:"results"`
	Title   string   `yaml:"title"`
	Text    string   `yaml:"text"`
}

func noted() []note { return read[note]("notes", noteFile) }

// differences are the notes whose results are stored, with their quotations, and the results with
// verdicts “not” on which there is no note.
func differences(all []*Result) (notes []note, rest []string, err error) {
	stored, explained := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		stored[r.ID()] = true
	}
	for _, n := range noted() {
		if slices.ContainsFunc(n.Results, func(name string) bool { return !stored[name] }) {
			continue
		}
		text, err := Quote(n.Text, all)
		if err != nil {
			return nil, nil, err
		}
		n.Text = strings.TrimSpace(plain(text))
		for _, name := range n.Results {
			explained[name] = true
		}
		notes = append(notes, n)
	}
	for _, r := range all {
		rows, claims := r.verdicts()
		if rows.Not+claims.Not > 0 && !explained[r.ID()] && !explained[r.Table.Name] {
			rest = append(rest, r.ID())
		}
	}
	return notes, rest, nil
}

func links(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("[%s](#%s)", n, n))
	}
	return strings.Join(out, ", ")
}
