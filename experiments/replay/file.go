// Package replay makes replays of files: a table or figure is one YAML file, which says what is measured (cells),
// what is printed (rows), what the paper says of it (claims) and how it was done (notes). What several files have in
// common stands in a runner, a file of the same form; what trains, searches or attacks is a Procedure in Go.
//
// Strings in braces are expressions (github.com/expr-lang/expr): "{rows} images, ε = {epsilon:%.2f}".
package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"pawl/data/dataset"
	"pawl/experiments"
	"pawl/internal/usage"
)

// Kind is a procedure that measures cells: a pointer to empty arguments of one, with json tags, and what measures it with
// them.
type Kind func() (args any, measure func(ctx context.Context, r *experiments.Run) []float64)

// Set is what files can name.
type Set struct {
	Kinds map[string]Kind
	// Functions may be called in expressions, beside those of this package and of expr.
	Functions func(ctx context.Context, r *experiments.Run) map[string]any
	// Tables describes data sets beside the built-in ones.
	Tables func(name string) (dataset.Info, bool)
	// Files has replays in the folder tables, and runners in shared.
	Files fs.FS
}

// file is a replay, or the part of several.
type file struct {
	Name         string `yaml:"name"`
	Title        string `yaml:"title"`
	Source       string `yaml:"source"`
	Unit         string `yaml:"unit"`
	Guarantee    string `yaml:"guarantee"`
	QuickSeconds int    `yaml:"quick_seconds"`
	// Clocked says that cells are times of this machine.
	Clocked bool     `yaml:"clocked"`
	Data    []string `yaml:"data"`
	// SmokeData are those of scale smoke, where it takes fewer.
	SmokeData []string `yaml:"smoke_data"`
	// Runner names the files with what tables share, one or several: their cells, rows and notes come first, their claims last.
	Runner value `yaml:"runner"`
	// With are names and their values, in any order. A map of smoke, quick and paper is the value of the scale.
	With  settings `yaml:"with"`
	Cells []cell   `yaml:"cells"`
	// Then are names for what follows from the cells.
	Then   []then  `yaml:"then"`
	Rows   []row   `yaml:"rows"`
	Claims []claim `yaml:"claims"`
	// Forms are claims that a table uses under its own words.
	Forms            map[string]claim `yaml:"forms"`
	Notes            []note           `yaml:"notes"`
	PublishedEpsilon []stated         `yaml:"published_epsilon"`

	set  *Set
	path string
}

// Loop repeats what it stands in: for all values of each, later ones innermost.
type Loop struct {
	Each named      `yaml:"each"`
	Let  named      `yaml:"let"`
	If   expression `yaml:"if"`
}

func (l *Loop) loop() *Loop { return l }

// cell is a measurement: a procedure with arguments, under a name that says everything that it depends on.
type cell struct {
	Loop `yaml:",inline"`
	// Key is what the values are called in expressions, v(key...). Cells of one key make one series.
	Key  expressions `yaml:"key"`
	Cell text        `yaml:"cell"`
	Do   string      `yaml:"do"`
	With settings    `yaml:"with"`
	// Value is in place of a procedure: what is computed where the cell is not stored.
	Value expression `yaml:"value"`
}

// then names values after the cells are measured.
type then struct {
	Loop `yaml:",inline"`
	// Key and Value make a series of their own.
	Key   expressions `yaml:"key"`
	Value expression  `yaml:"value"`
}

// row has its fields in the order in which they are evaluated, as the others have (checking.all).
type row struct {
	Loop `yaml:",inline"`
	// Rows are made in turn for each, and the rest is empty.
	Rows      []row      `yaml:"rows"`
	Name      text       `yaml:"name"`
	Data      text       `yaml:"data"`
	Published expression `yaml:"published" gives:"published"`
	// Ours, Honest and Baseline are series, estimates, or numbers that are exact.
	Ours     expression `yaml:"ours" gives:"ours"`
	Honest   expression `yaml:"honest" gives:"honest"`
	Baseline expression `yaml:"baseline" gives:"baseline"`
	// Tolerance judges the row: within it or the interval is reproduced, else “not”, with the reason why. Same then
	// says that the comparison points the same way, and More ends the reason.
	Why       text       `yaml:"why" with:"row"`
	Tolerance expression `yaml:"tolerance"`
	Verdict   expression `yaml:"verdict"`
	Same      expression `yaml:"same" gives:"same"`
	More      text       `yaml:"more"`
}

// claim compares two series run by run: Better is above Than, or at most Within below it; or it is judged by Holds and
// Nearly.
type claim struct {
	Loop `yaml:",inline"`
	// Claims are made in turn for each, and the rest is empty.
	Claims []claim `yaml:"claims"`
	// Use takes the form of that name of the runner.
	Use      string     `yaml:"use"`
	Claim    text       `yaml:"claim"`
	Than     expression `yaml:"than"`
	Within   expression `yaml:"within"`
	Better   expression `yaml:"better" gives:"d"`
	Holds    expression `yaml:"holds"`
	Nearly   expression `yaml:"nearly"`
	Verdict  expression `yaml:"verdict"`
	Evidence text       `yaml:"evidence"`
}

type note struct {
	Loop `yaml:",inline"`
	Note text `yaml:"note"`
}

// stated is an ε that the published procedure states.
type stated struct {
	Loop  `yaml:",inline"`
	Name  text       `yaml:"name"`
	Value expression `yaml:"value"`
}

// All makes replays of all YAML files in the folder tables. It panics where one is wrong: a broken build, which every
// test sees.
func (s *Set) All() *experiments.Registry {
	var all []experiments.Experiment
	names, _ := fs.Glob(s.Files, "tables/*.yaml") // the pattern is one
	for _, name := range names {
		content, err := fs.ReadFile(s.Files, name)
		if err != nil {
			panic(err)
		}
		e, err := s.Decode(path.Base(name), content)
		if err != nil {
			panic(err)
		}
		all = append(all, e)
	}
	return experiments.NewRegistry(all...)
}

// Decode makes a replay of a file. The error is one line: what is wrong, and in which file and line.
func (s *Set) Decode(path string, content []byte) (e experiments.Experiment, err error) {
	f, err := s.decode(path, content)
	if err != nil {
		return e, err
	}
	if f.Name == "" || f.Title == "" || f.Source == "" || f.QuickSeconds <= 0 {
		return e, fmt.Errorf("%s: want a name, title, source and quick_seconds", path)
	}
	for _, runner := range slices.Backward(append([]*node{&f.Runner.node}, f.Runner.list...)) { // parts go before those of the file
		if name, ok := runner.scalar.(string); ok {
			if err := f.join(name); err != nil {
				return e, err
			}
		}
	}
	if f.Unit == "" || len(f.Rows) == 0 {
		return e, fmt.Errorf("%s: want a unit and rows", path)
	}
	if err := f.use(f.Claims); err != nil {
		return e, err
	}
	e = experiments.Experiment{Name: f.Name, Title: f.Title, Source: f.Source, SmokeData: f.SmokeData, Quick: f.QuickSeconds, Clocked: f.Clocked, Run: f.run}
	for _, name := range f.Data {
		if _, ok := dataset.Describe(name); ok {
			e.Data = append(e.Data, name)
			continue
		}
		info, ok := s.Tables(name)
		if !ok {
			return e, fmt.Errorf("%s: no data set %q", path, name)
		}
		e.Files = append(e.Files, info)
	}
	return e, f.check()
}

func (s *Set) decode(path string, content []byte) (*file, error) {
	f := &file{set: s, path: path}
	ctx := context.WithValue(context.Background(), inFile{}, path)
	if err := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict()).DecodeContext(ctx, f); err != nil {
		return nil, placed(path, err)
	}
	for _, c := range f.Cells {
		if _, ok := s.Kinds[c.Do]; ok == c.Value.given {
			return nil, fmt.Errorf("%s: want a value, or in its place a procedure that there is: do is %q", c.Cell.place, c.Do)
		}
	}
	return f, nil
}

// use puts forms in the place of claims that use them.
func (f *file) use(claims []claim) error {
	for i, c := range claims {
		if c.Use != "" {
			form, ok := f.Forms[c.Use]
			if !ok {
				return fmt.Errorf("%s: no form %q", c.Claim.place, c.Use)
			}
			form.Each, form.If = c.Each, c.If
			form.Let.fields = append(slices.Clone(c.Let.fields), form.Let.fields...)
			if c.Claim.given {
				form.Claim = c.Claim
			}
			claims[i] = form
		}
		if err := f.use(c.Claims); err != nil {
			return err
		}
	}
	return nil
}

// join puts a runner's parts into the file.
func (f *file) join(name string) error {
	content, err := fs.ReadFile(f.set.Files, "shared/"+name+".yaml")
	if err != nil {
		return fmt.Errorf("%s: no runner %q", f.path, name)
	}
	r, err := f.set.decode("runners/"+name+".yaml", content)
	if err != nil {
		return err
	}
	f.Unit, f.Guarantee = cmp.Or(f.Unit, r.Unit), cmp.Or(f.Guarantee, r.Guarantee)
	if f.Data == nil {
		f.Data = r.Data
	}
	for _, v := range r.With.fields { // a table's own value takes the place of a runner's
		if !slices.ContainsFunc(f.With.fields, func(own field) bool { return own.name == v.name }) {
			f.With.fields = append(f.With.fields, v)
		}
	}
	f.Cells = append(r.Cells, f.Cells...)
	f.Then = append(r.Then, f.Then...)
	f.Rows = append(r.Rows, f.Rows...)
	f.Claims = append(f.Claims, r.Claims...)
	f.Notes = append(r.Notes, f.Notes...)
	f.PublishedEpsilon = append(r.PublishedEpsilon, f.PublishedEpsilon...)
	if r.Forms != nil {
		f.Forms = r.Forms
	}
	return nil
}

// placed is an error of the decoder in one line.
func placed(path string, err error) error {
	line, _, msg, hint := usage.YAML(errors.New(yaml.FormatError(err, false, false)))
	return usage.Newf(hint, "%s:%d: %s", path, line, strings.TrimPrefix(msg, "YAML: "))
}

// Of makes a kind of a function with its form of arguments. It may fail by experiments.Check.
func Of[Args any](measure func(ctx context.Context, r *experiments.Run, args *Args) []float64) Kind {
	return func() (any, func(ctx context.Context, r *experiments.Run) []float64) {
		args := new(Args)
		return args, func(ctx context.Context, r *experiments.Run) []float64 { return measure(ctx, r, args) }
	}
}
