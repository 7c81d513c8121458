package source

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/reader"
)

// Copies say whose rows a file holds that resembles a sensitive data set.
type Copies struct {
	// SameAs names the data set of the ledger that it is, in another form.
	SameAs string
	// Different says that it holds other units; Reason says why.
	Different bool
	Reason    string
	// Ask is asked where neither is given: why the two are different, ErrSame where they are
	// the same, and "" for no answer. nil is no answer.
	Ask func(ctx context.Context, alike string) (reason string, err error) `json:"-"`
}

func (f *Copies) check() error {
	switch {
	case f.Different && f.SameAs != "":
		return usage.New("--same-as and --different exclude each other", "leave out one of them")
	case f.Different && strings.TrimSpace(f.Reason) == "":
		return usage.New("--different needs --reason, which is recorded in the ledger and every statement", "example: --different --reason 'patients of another hospital, same questionnaire'")
	case !f.Different && f.Reason != "":
		return usage.New("--reason needs --different", "add --different, or leave it out")
	}
	return nil
}

// Rename gives DATA the name that --same-as says. The ledger holds it to the terms of that data set.
func (f *Copies) Rename(ctx context.Context, l *ledger.Ledger, data string, builtin bool, name *string, updated *bool) error {
	if err := f.check(); err != nil || f.SameAs == "" {
		return err
	}
	if builtin {
		return usage.New(fmt.Sprintf("--same-as is for your own files, and data set %q is built in", data), "leave it out")
	}
	if _, err := l.Public(ctx, f.SameAs); err != nil {
		if !errors.Is(err, ledger.ErrUnknownDataset) {
			return err
		}
		names, _ := l.Names(ctx)
		return usage.New(fmt.Sprintf("--same-as: the ledger has no data set %q", f.SameAs), namesOf(names))
	}
	*name, *updated = f.SameAs, true
	return nil
}

func namesOf(names []string) string {
	if len(names) == 0 {
		return "the ledger is empty; leave out --same-as"
	}
	return "the ledger has " + strings.Join(names, ", ")
}

// Again runs a command, and once more when somebody at the terminal has said which data set DATA is.
func (f *Copies) Again(run func() error) error {
	err := run()
	var same *SameError
	if errors.As(err, &same) && f.SameAs == "" {
		f.SameAs = same.Name
		return run()
	}
	return err
}

// SameError is the answer that DATA is the data set of that name.
type SameError struct {
	Name string
	error
}

func (e *SameError) Unwrap() error { return e.error }

// Found is what is looked for among the sensitive data sets of the ledger.
type Found struct {
	Path, Name string
	Public     bool
	// Prints are of DATA, none of a built-in data set.
	Prints []*identity.Print
	Tests  []Tested
	// StandsIn says that Tests are rows that stand in for DATA, and DATA is not looked for.
	StandsIn bool
}

// exactly says what is done with the rows of tests, and the way out.
func (d *Found) exactly() (why, advice string) {
	if d.StandsIn {
		return ComparedExactly, OtherRows
	}
	return testIsExact, otherTest
}

// Tested is a file of test rows, which are scored exactly.
type Tested struct {
	Path   string
	Prints []*identity.Print
}

// Recognise refuses what the ledger holds as a sensitive data set of another name, and asks about what resembles
// one: it returns what was said to be different. No message holds a number: how much is shared is private.
func (f *Copies) Recognise(ctx context.Context, l *ledger.Ledger, d Found) (said []ledger.Difference, err error) {
	var matches []ledger.Match
	if !d.StandsIn {
		if matches, err = l.Recognise(ctx, d.Name, d.Prints...); err != nil {
			return nil, err
		}
	}
	for _, m := range matches {
		if m.Likeness == identity.Similar && m.Accepted {
			continue
		}
		refusal := ledger.RefuseMatch(d.Name, m)
		if m.Likeness == identity.Equal {
			return nil, refusal
		}
		reason, err := f.why(ctx, fmt.Sprintf("%s resembles the sensitive data set %q (if they are the same data, its budget is charged)", d.Path, m.Dataset), refusal)
		if errors.Is(err, ErrSame) {
			return nil, &SameError{m.Dataset, refusal}
		}
		if err != nil {
			return nil, err
		}
		said = append(said, ledger.Difference{Other: m.Dataset, Reason: reason})
	}
	for _, t := range d.Tests {
		more, err := f.recogniseTest(ctx, l, d, t)
		if err != nil {
			return nil, err
		}
		said = append(said, more...)
	}
	return said, nil
}

// recogniseTest compares a file of test rows with DATA itself and with every sensitive data set.
func (f *Copies) recogniseTest(ctx context.Context, l *ledger.Ledger, d Found, t Tested) (said []ledger.Difference, err error) {
	matches, err := l.Recognise(ctx, "", t.Prints...)
	if err != nil {
		return nil, err
	}
	own := identity.Different
	for _, p := range d.Prints {
		for _, q := range t.Prints {
			own = max(own, identity.Compare(p, q).Likeness)
		}
	}
	why, advice := d.exactly()
	switch {
	case own == identity.Equal && d.StandsIn:
		return nil, StandInIsData(t.Path)
	case own == identity.Equal:
		return nil, TestIsData(t.Path)
	}
	if own == identity.Similar && !d.Public && !slices.ContainsFunc(matches, func(m ledger.Match) bool { return m.Dataset == d.Name }) {
		matches = append(matches, ledger.Match{Dataset: d.Name, Likeness: own})
	}
	for _, m := range matches {
		if m.Likeness == identity.Equal {
			return nil, usage.New(fmt.Sprintf("%s: these rows are those of the sensitive data set %q, and %s", t.Path, m.Dataset, why), advice)
		}
		refusal := &ledger.RefusedError{Dataset: m.Dataset, Reason: fmt.Sprintf("%s resembles it so closely that it seems to hold the same units, and %s", t.Path, why),
			Advice: advice + "; if it holds other units: --different --reason WHY, which is recorded in the ledger and every statement"}
		reason, err := f.why(ctx, fmt.Sprintf("%s resembles the sensitive data set %q, and %s", t.Path, m.Dataset, why), refusal)
		if errors.Is(err, ErrSame) {
			return nil, refusal
		}
		if err != nil {
			return nil, err
		}
		said = append(said, ledger.Difference{Other: m.Dataset, Reason: reason, Of: "test"})
	}
	return said, nil
}

// TestIsData refuses the rows of DATA as its test rows.
func TestIsData(path string) error {
	return usage.New(fmt.Sprintf("%s: the test file is DATA itself, whose rows would be scored exactly and without charge", path),
		"leave out --test to score on held-out rows, or give a file of other, public rows")

}

// StandInIsData refuses the rows of DATA in place of themselves.
func StandInIsData(path string) error {
	return usage.New(fmt.Sprintf("%s holds the rows of DATA itself, which are sensitive", path), "give public or synthetic rows with the same schema")
}

// ErrSame is the answer that they are the same.
var ErrSame = errors.New("the same")

// why is the reason why data are different: that of the operator, or what Ask answers;
// without either it is the refusal.
func (f *Copies) why(ctx context.Context, alike string, refusal error) (string, error) {
	switch {
	case f.Different:
		return strings.TrimSpace(f.Reason), nil
	case f.Ask == nil:
		return "", refusal
	}
	reason, err := f.Ask(ctx, alike)
	if err == nil && strings.TrimSpace(reason) == "" {
		err = refusal
	}
	return strings.TrimSpace(reason), err
}

// Watcher collects the prints of a table while it is read: one of all columns, and where some are not used, one of
// those that are. The second recognises a table that lost or gained a column that nobody uses, such as an
// identifier. A file without a header has a third, under the numbers of its columns: what a schema calls them makes
// no other table of it.
type Watcher struct{ made *made }

// made are the builders of the readers of a table, which read parts of it side by side.
type made struct {
	sync.Mutex
	readers [][]*identity.Builder
}

// NewWatcher makes o hand on the records as found, to be printed under the ledger's key. The
// columns that s uses count; with nil all do. Several readers may ask for it.
func NewWatcher(key [32]byte, s *schema.Schema, o *reader.Options) Watcher {
	w := &made{}
	used := map[string]bool{} // without the column that names the unit; none where there is no schema: nothing is printed apart
	if s != nil {
		for i := range s.Columns {
			source := s.Columns[i].Source()
			used[source] = used[source] || s.Columns[i].Type != schema.Ignore
		}
		delete(used, s.Unit.Column)
	}
	o.Watch = func(names []string) func([]string) {
		builders := []*identity.Builder{identity.New(key, names)}
		var at []int
		var columns []string
		for i, name := range names {
			if used[name] {
				at, columns = append(at, i), append(columns, name)
			}
		}
		if len(at) > 0 && len(at) < len(names) {
			builders = append(builders, identity.NewRecords(key, columns, at))
		}
		if s != nil && s.File.NoHeader && len(s.File.Names) > 0 {
			numbers := make([]string, len(names))
			for i := range names {
				numbers[i] = schema.NumberedName(i)
			}
			builders = append(builders, identity.NewRecords(key, numbers, nil))
		}
		w.Lock()
		w.readers = append(w.readers, builders)
		w.Unlock()
		return func(texts []string) {
			for _, b := range builders {
				b.Add(texts)
			}
		}
	}
	return Watcher{w}
}

// End returns the prints, none where no record was read.
func (w Watcher) End(err error) (prints []*identity.Print) {
	if w.made == nil || err != nil || len(w.made.readers) == 0 {
		return nil
	}
	first := w.made.readers[0]
	for _, other := range w.made.readers[1:] {
		for k, b := range first {
			b.Join(other[k])
		}
	}
	for _, b := range first {
		prints = append(prints, b.Print())
	}
	return prints
}

// Owned names DATA as --same-as says, and has it compared with the sensitive data sets of the ledger.
func (s *Table) Owned(ctx context.Context, l *ledger.Ledger, data string, f *Copies, updated *bool) error {
	if err := f.Rename(ctx, l, data, s.Builtin != nil, &s.Name, updated); err != nil {
		return err
	}
	key, err := l.PrintKey(ctx)
	s.PrintKey = &key
	return err
}

// Printed visits every row, and makes the prints of a file of one's own. They are compared before anything is charged.
func (s *Table) Printed(bad reader.BadRows, begin func() reader.Stretch) error {
	o := reader.Options{BadRows: bad, Note: s.Note}
	if s.Builtin != nil || s.PrintKey == nil {
		return s.beside(o, begin)
	}
	w := NewWatcher(*s.PrintKey, s.Schema, &o)
	err := s.beside(o, begin)
	if s.Prints = nil; err != nil {
		w.End(err)
		return err
	}
	s.Prints = append(s.Prints, w.End(nil)...)
	if s.vectors != nil {
		b := identity.NewVectors(*s.PrintKey)
		s.vectors.Each(b.AddVector)
		s.Prints = append(s.Prints, b.Print())
	}
	return nil
}

// Found is what is looked for in the ledger.
func (s *Table) Found() Found {
	return Found{Path: s.Path, Name: s.Name, Public: s.Schema.Public, Prints: s.Prints, Tests: s.Tests}
}

// print makes the print of images of one's own; of texts it was made while they were read.
func (p *Images) print(ctx context.Context, l *ledger.Ledger) error {
	if !p.Mine || p.Prints != nil || p.content != nil {
		return nil
	}
	key, err := l.PrintKey(ctx)
	if err != nil {
		return err
	}
	b, size := identity.NewVectors(key), p.Train.Size()
	for i := range p.Train.Len() {
		label := ""
		if k := p.Train.Labels[i]; k >= 0 {
			label = p.Train.Classes[k]
		}
		if p.Train.Bytes != nil {
			b.AddBytes(label, p.Train.Bytes[i*size:(i+1)*size])
		} else {
			b.AddVector(label, p.Train.Floats[i*size:(i+1)*size])
		}
	}
	p.Prints = []*identity.Print{b.Print()}
	if pixels := asPixels(p.Train.Floats, size); pixels != nil {
		// The same images in another type of number have the same pixels of one byte.
		c := identity.NewVectors(key)
		for i := range p.Train.Len() {
			c.AddBytes("", pixels[i*size:(i+1)*size])
		}
		p.Prints = append(p.Prints, c.Print())
	}
	return nil
}

// asPixels rounds numbers in [0, 1] or [0, 255] to bytes; nil where they are no pixels: outside of
// both, or so few to an image that other images could have the same.
func asPixels(floats []float32, size int) []byte {
	if len(floats) == 0 || size < 16 {
		return nil
	}
	low, high := slices.Min(floats), slices.Max(floats)
	scale := float32(1)
	switch {
	case !(low >= 0 && high <= 255):
		return nil
	case high <= 1:
		scale = 255
	}
	pixels := make([]byte, len(floats))
	for i, x := range floats {
		pixels[i] = byte(x*scale + 0.5)
	}
	return pixels
}

// PublicBeside refuses public images, given by a flag and used without noise, that are those of p or of a
// sensitive data set of the ledger, or resemble them; and those that hold public test images of p, whose exact
// score would be one of images that were learned. p has its prints where it is not public.
func (p *Images) PublicBeside(ctx context.Context, l *ledger.Ledger, given string, o *Images, public bool) error {
	if p.Test != nil && knows(o.Train, p.Test) {
		return usage.New(fmt.Sprintf("%s holds public test images of %s, so the score would be of images that were used without noise", given, p.Name), "remove them, or name other, public images")
	}
	printed := *o
	printed.Mine = true // built-in ones too: a sensitive file may hold their images
	if err := printed.print(ctx, l); err != nil {
		return err
	}
	const why, advice = "training on them without noise would release them", "name other, public images"
	matches, err := l.Recognise(ctx, "", printed.Prints...)
	if err != nil {
		return err
	}
	for _, m := range matches {
		return usage.New(fmt.Sprintf("%s: the ledger lists these images as the sensitive data set %q, or they resemble it closely, and %s", given, m.Dataset, why), advice)
	}
	for _, a := range p.Prints {
		for _, b := range printed.Prints {
			if !public && identity.Compare(a, b).Likeness != identity.Different {
				return usage.New(fmt.Sprintf("%s holds images of DATA itself, which are sensitive, and %s", given, why), advice)
			}
		}
	}
	return nil
}

// knows reports whether a set holds a hundredth or more of the images of a test set: a few images occur twice by
// nature. Pixels are compared, whatever the type of number.
func knows(set, test *images.Set) bool {
	if set.Size() != test.Size() || test.Len() == 0 {
		return false
	}
	held := map[[sha256.Size]byte]bool{}
	for image := range values(set) {
		held[sha256.Sum256(image)] = true
	}
	found := 0
	for image := range values(test) {
		if held[sha256.Sum256(image)] {
			found++
		}
	}
	return 100*found >= test.Len()
}

// values visits the images of a set as bytes: pixels, or numbers that are none as they are.
func values(s *images.Set) iter.Seq[[]byte] {
	size, pixels := s.Size(), s.Bytes
	if pixels == nil {
		pixels = asPixels(s.Floats, size)
	}
	if pixels == nil {
		size *= 4
		for _, v := range s.Floats {
			pixels = binary.LittleEndian.AppendUint32(pixels, math.Float32bits(v))
		}
	}
	return slices.Chunk(pixels, size)
}

// RecogniseImages is Recognise for images, and for texts of one's own.
func (f *Copies) RecogniseImages(ctx context.Context, l *ledger.Ledger, data string, p *Images, public bool) ([]ledger.Difference, error) {
	if err := p.print(ctx, l); err != nil {
		return nil, err
	}
	d := Found{Path: data, Name: p.Name, Public: public, Prints: p.Prints}
	if p.Texts != nil {
		d.Tests = p.Texts.tests
	}
	return f.Recognise(ctx, l, d)
}
