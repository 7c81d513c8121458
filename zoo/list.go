package zoo

import (
	"embed"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed nets/*.yaml
var files embed.FS

// embedded reads the nets that come with the program, once.
var embedded = sync.OnceValue(func() []Spec {
	entries, err := files.ReadDir("nets")
	if err != nil {
		panic(err) // embedded at build time
	}
	var all []Spec
	for _, e := range entries {
		data, err := files.ReadFile(path.Join("nets", e.Name()))
		if err != nil {
			panic(err)
		}
		s, err := Decode(e.Name(), data)
		if err != nil {
			panic(err) // a test decodes every file
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// List returns the nets that come with the program, by name.
func List() []Spec { return slices.Clone(embedded()) }

// Lookup returns the net of a name.
func Lookup(name string) (Spec, bool) {
	for _, s := range embedded() {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// File returns the text of the file of a name: an example to write one's own from.
func File(name string) ([]byte, bool) {
	data, err := files.ReadFile(path.Join("nets", name+".yaml"))
	return data, err == nil
}
