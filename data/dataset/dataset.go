// Package dataset holds the built-in data sets: public benchmarks with their
// schemas, licences and checksums. Some are part of the program; others, which are
// large or whose licence is not clear, are read from a folder that the user has.
package dataset

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"pawl/data/schema"
	"pawl/reader"
)

//go:embed schemas/*.yaml
var schemas embed.FS

//go:embed files/*.gz
var files embed.FS

// Task is what a data set's target asks for.
type Task string

const (
	Classification Task = "classification"
	Regression     Task = "regression"
)

// ErrNoTest is returned where a data set has no official test set.
var ErrNoTest = errors.New("the data set has no official test set")

// Info describes a built-in data set.
type Info struct {
	Name, Title string
	Task        Task
	Target      string // name of the target column
	Licence     string
	Source      string // address or DOI of the publisher
	Citation    string // what the publisher asks to be cited
	// KnownProblems are faults and traps that are documented or public facts.
	KnownProblems  []string
	Rows, TestRows int // TestRows is 0 where there is no official test set
	// Embedded data sets are part of the program; others need a data folder.
	Embedded bool
	Files    []File

	fetched bool // Fetcher.Get knows where the publisher has it
}

// File is one file of a data set as its publisher has it.
type File struct {
	Path   string // inside a data folder
	SHA256 string // of the content, after decompression; hexadecimal
}

// Builtin is a built-in data set.
type Builtin struct {
	Info
	aliases []string
	// train and test index Files; test is -1 where there is no test set.
	train, test int
	// convert turns a publisher's file into CSV with a header.
	convert func([]byte) ([]byte, error)
	// declare makes the schema where it is regular and long; nil: a file of schemas.
	declare func() *schema.Schema
}

// List describes the built-in tables; ListImages those of images.
func List() []Info {
	all := builtins()
	out := make([]Info, len(all))
	for i := range all {
		out[i] = all[i].Info
	}
	return out
}

// Lookup finds a built-in table by its name, or another name in common use.
func Lookup(name string) (*Builtin, bool) {
	for _, b := range builtins() {
		for _, n := range append([]string{b.Name}, b.aliases...) {
			if strings.EqualFold(n, name) {
				return &b, true
			}
		}
	}
	return nil, false
}

// Describe finds a built-in data set of any kind: table, images or sparse rows.
func Describe(name string) (Info, bool) {
	if b, ok := Lookup(name); ok {
		return b.Info, true
	}
	if b, ok := Images(name); ok {
		return b.Info, true
	}
	for _, i := range sparses() {
		if strings.EqualFold(i.Name, name) {
			return i, true
		}
	}
	return Info{}, false
}

// Schema returns the data set's declaration, a fresh copy.
func (b *Builtin) Schema() *schema.Schema {
	if b.declare != nil {
		s := b.declare()
		if err := s.Validate(); err != nil {
			panic(fmt.Sprintf("dataset: %v", err))
		}
		return s
	}
	file := "schemas/" + b.Name + ".yaml"
	data, err := schemas.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("dataset: %v", err))
	}
	s, err := schema.Decode(file, data)
	if err != nil {
		panic(fmt.Sprintf("dataset: %v", err))
	}
	return s
}

// HasTest says whether the publisher fixed a test set.
func (b *Builtin) HasTest() bool { return b.test >= 0 }

// TrainCSV returns the training rows as CSV with a header. Files that are not
// embedded are looked for in dataDir, in the folder that the environment variable
// PAWL_DATA names, and in UserDataDir. The content is checked against its SHA-256.
func (b *Builtin) TrainCSV(dataDir string) (io.Reader, error) { return b.csv(b.train, dataDir) }

// TestCSV is TrainCSV for the official test set, or ErrNoTest.
func (b *Builtin) TestCSV(dataDir string) (io.Reader, error) {
	if !b.HasTest() {
		return nil, fmt.Errorf("%s: %w", b.Name, ErrNoTest)
	}
	return b.csv(b.test, dataDir)
}

// Train reads the training rows through package reader.
func (b *Builtin) Train(dataDir string, o reader.Options, row reader.Row) error {
	r, err := b.TrainCSV(dataDir)
	if err != nil {
		return err
	}
	return reader.ReadFrom(b.Name, r, b.Schema(), o, row)
}

// Test reads the rows of the official test set, or returns ErrNoTest.
func (b *Builtin) Test(dataDir string, o reader.Options, row reader.Row) error {
	r, err := b.TestCSV(dataDir)
	if err != nil {
		return err
	}
	return reader.ReadFrom(b.Name+" (test)", r, b.Schema(), o, row)
}

func (b *Builtin) csv(file int, dataDir string) (io.Reader, error) {
	content, err := b.content(b.Files[file], dataDir)
	if err != nil {
		return nil, err
	}
	text, err := b.convert(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	return bytes.NewReader(text), nil
}
