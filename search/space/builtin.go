package space

import (
	"embed"
	"strings"
)

//go:embed spaces/*.yaml
var files embed.FS

// List names the spaces that come with the program.
func List() []string {
	entries, err := files.ReadDir("spaces")
	if err != nil {
		panic(err) // embedded at build time
	}
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return all
}

// Lookup returns the space of a name that comes with the program.
func Lookup(name string) (*Space, bool) {
	data, ok := File(name)
	if !ok {
		return nil, false
	}
	s, err := Decode(name+".yaml", data)
	if err != nil {
		panic(err) // a test decodes every file
	}
	return s, true
}

// File returns the text of the file of a name: an example to write one's own from.
func File(name string) ([]byte, bool) {
	data, err := files.ReadFile("spaces/" + name + ".yaml")
	return data, err == nil
}
