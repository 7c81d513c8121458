package source

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/internal/usage"
)

// Builtin is a built-in data set of either kind; one of Table and Images is nil.
type Builtin struct {
	*dataset.Info
	Table  *dataset.Builtin
	Images *dataset.ImageSet
}

// Names lists the tables first, then the images.
func Names() (names []string) {
	for _, i := range append(dataset.List(), dataset.ListImages()...) {
		names = append(names, i.Name)
	}
	return names
}

// Lookup finds a built-in data set or says which was meant.
func Lookup(name string) (Builtin, error) {
	if t, ok := dataset.Lookup(name); ok {
		return Builtin{Info: &t.Info, Table: t}, nil
	}
	if s, ok := dataset.Images(name); ok {
		return Builtin{Info: &s.Info, Images: s}, nil
	}
	return Builtin{}, usage.New(fmt.Sprintf("%s is not a built-in data set", name), NamesAdvice(name, Names()))
}

// TableNames lists the built-in tables.
func TableNames() (names []string) {
	for _, i := range dataset.List() {
		names = append(names, i.Name)
	}
	return names
}

// NamesAdvice lists names of data sets, and first the one that may have been meant.
func NamesAdvice(name string, names []string) string {
	return schema.Meant(name, names, "built-in data sets: "+strings.Join(names, ", "))
}

// IsImages says whether DATA is a built-in set of images. A table of that name in
// the working directory comes first, as it does for every built-in name.
func IsImages(data string) bool {
	_, ok := dataset.Images(data)
	info, err := os.Stat(data)
	return ok && (err != nil || info.IsDir())
}

// IsTexts says whether DATA is a built-in set of texts. A file of that name in the
// working directory comes first, as it does for every built-in name.
func IsTexts(data string) bool {
	b, ok := dataset.Lookup(data)
	if !ok {
		return false
	}
	_, err := os.Stat(data)
	return err != nil && slices.ContainsFunc(b.Schema().Columns, func(c schema.Column) bool { return c.Type == schema.Text })
}

// OwnName refuses a built-in's name for sensitive data: under it the ledger may
// hold the data set as public already.
func OwnName(data, name, advice string) error {
	b, err := Lookup(name)
	if err != nil {
		return nil
	}
	return usage.New(fmt.Sprintf("%s: %q is the name of the built-in public data set %q", data, name, b.Name), advice)
}
