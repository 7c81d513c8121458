package zoo

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed nets/*.yaml
var files embed.FS

// List returns the nets that come with the program, by name.
func List() []Spec {
	entries, err := files.ReadDir("nets")
	if err != nil {
		panic(err) // embedded at build time
	}
	var all []Spec
	for _, e := range entries {
		s, _ := Lookup(strings.TrimSuffix(e.Name(), ".yaml"))
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Lookup returns the net of a name. The caller may change what it gets.
func Lookup(name string) (Spec, bool) {
	known, ok := decoded.Load(name)
	if !ok {
		data, ok := File(name)
		if !ok {
			return Spec{}, false
		}
		s, err := Decode(name+".yaml", data)
		if err != nil {
			panic(err) // a test decodes every file
		}
		known, _ = decoded.LoadOrStore(name, s)
	}
	s := known.(Spec)
	s.Network.Layers = slices.Clone(s.Network.Layers)
	return s, true
}

// decoded holds the files that were read: searches look a net up thousands of times.
var decoded sync.Map // of Spec by name

// File returns the text of the file of a name: an example to write one's own from.
func File(name string) ([]byte, bool) {
	data, err := files.ReadFile("nets/" + name + ".yaml")
	return data, err == nil
}
