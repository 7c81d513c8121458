package book

import (
	_ "embed"
	"fmt"
	"maps"

	"github.com/goccy/go-yaml"
)

//go:embed catalogue.yaml
var catalogue []byte

// Paper is one of the papers, or our own questions, with all its tables and figures.
type Paper struct {
	Title   string  `yaml:"title" json:"title"`
	Entries []Entry `yaml:"entries" json:"entries"`
}

// Entry is a table, figure or theorem. One of Replay, Shown and None says where pawl has it.
type Entry struct {
	Name   string `yaml:"name" json:"name"`
	Shows  string `yaml:"shows" json:"shows"`
	Replay string `yaml:"replay" json:"replay,omitempty"`
	// Shown is a command or a page that shows it without a replay.
	Shown string `yaml:"shown" json:"shown,omitempty"`
	// None says why there is nothing.
	None string `yaml:"none" json:"none,omitempty"`
	// StandIn says, by the name of data that are not the paper's, what they stand for.
	StandIn map[string]string `yaml:"stand_in" json:"stand_in,omitempty"`
}

// Where is what a reader types or opens.
func (e Entry) Where() string {
	switch {
	case e.Replay != "":
		return "pawl reproduce " + e.Replay
	case e.Shown != "":
		return e.Shown
	}
	return "not shown: " + e.None
}

// Catalogue lists the papers.
func Catalogue() []Paper { return read[Paper]("papers", catalogue) }

// read reads the list of a file of the program's own: a fault in it is a broken build, which every test sees.
func read[T any](name string, content []byte) []T {
	var file map[string][]T
	if err := yaml.UnmarshalWithOptions(content, &file, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("book: %s: %v", name, err))
	}
	return file[name]
}

// StandIn returns the data of a replay that stand for others.
func StandIn(replay string) map[string]string {
	out := map[string]string{}
	for _, p := range Catalogue() {
		for _, e := range p.Entries {
			if e.Replay == replay {
				maps.Copy(out, e.StandIn)
			}
		}
	}
	return out
}
