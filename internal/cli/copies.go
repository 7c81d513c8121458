package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/reader"
)

// copyFlags say whose rows a file holds that resembles a sensitive data set.
type copyFlags struct {
	sameAs, reason string
	different      bool
}

func (f *copyFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.sameAs, "same-as", "", "DATA is this data set of the ledger, in another form: its budget is charged (counts as --updated)")
	s.BoolVar(&f.different, "different", false, "DATA, or the test file, resembles a sensitive data set and holds other units: go on (needs --reason)")
	s.StringVar(&f.reason, "reason", "", "why they are different; the ledger and every statement keep it")
}

func (f *copyFlags) check() error {
	switch {
	case f.different && f.sameAs != "":
		return &usageError{"--same-as and --different exclude each other", "leave one of them out"}
	case f.different && strings.TrimSpace(f.reason) == "":
		return &usageError{"--different needs --reason: the ledger and every statement keep it", "example: --different --reason 'patients of another hospital, same questionnaire'"}
	case !f.different && f.reason != "":
		return &usageError{"--reason goes with --different", "add --different, or leave it out"}
	}
	return nil
}

// rename gives DATA the name that --same-as says. The ledger holds it to the terms of that data set.
func (f *copyFlags) rename(ctx context.Context, l *ledger.Ledger, data string, builtin bool, name *string, updated *bool) error {
	if err := f.check(); err != nil || f.sameAs == "" {
		return err
	}
	if builtin {
		return &usageError{fmt.Sprintf("data set %q is built in, and --same-as is for files of your own", data), "leave it out"}
	}
	if _, err := l.Public(ctx, f.sameAs); err != nil {
		if !errors.Is(err, ledger.ErrUnknownDataset) {
			return err
		}
		names, _ := l.Names(ctx)
		return &usageError{fmt.Sprintf("--same-as: the ledger holds no data set %q", f.sameAs), namesOf(names)}
	}
	*name, *updated = f.sameAs, true
	return nil
}

func namesOf(names []string) string {
	if len(names) == 0 {
		return "it holds none; leave out --same-as"
	}
	return "it holds " + strings.Join(names, ", ")
}

// again runs a command, and once more when somebody at the terminal has said which data set DATA is.
func (f *copyFlags) again(run func() error) error {
	err := run()
	var same *sameError
	if errors.As(err, &same) && f.sameAs == "" {
		f.sameAs = same.name
		return run()
	}
	return err
}

// sameError is the answer that DATA is the data set of that name.
type sameError struct {
	name string
	error
}

func (e *sameError) Unwrap() error { return e.error }

// found is what is looked for among the sensitive data sets of the ledger.
type found struct {
	path, name string
	public     bool
	prints     []*identity.Print // of DATA, none of a built-in data set
	tests      []tested
	standsIn   bool // tests are rows that stand in for DATA, and DATA is not looked for
}

// exactly says what is done with the rows of tests, and the way out.
func (d *found) exactly() (why, advice string) {
	if d.standsIn {
		return comparedExactly, otherRows
	}
	return testIsExact, otherTest
}

// tested is a file of test rows, which are scored exactly.
type tested struct {
	path   string
	prints []*identity.Print
}

// recognise refuses what the ledger holds as a sensitive data set of another name, and asks about what resembles
// one: it returns what was said to be different. No message holds a number: how much is shared is private.
func (a *app) recognise(ctx context.Context, l *ledger.Ledger, d found, f *copyFlags) (said []ledger.Difference, err error) {
	var matches []ledger.Match
	if !d.standsIn {
		if matches, err = l.Recognise(ctx, d.name, d.prints...); err != nil {
			return nil, err
		}
	}
	for _, m := range matches {
		if m.Likeness == identity.Similar && m.Accepted {
			continue
		}
		refusal := ledger.RefuseMatch(d.name, m)
		if m.Likeness == identity.Equal {
			return nil, refusal
		}
		reason, err := a.reason(ctx, f, fmt.Sprintf("%s resembles the sensitive data set %q (if they are the same, its budget is charged)", d.path, m.Dataset), refusal)
		if errors.Is(err, errYes) {
			return nil, &sameError{m.Dataset, refusal}
		}
		if err != nil {
			return nil, err
		}
		said = append(said, ledger.Difference{Other: m.Dataset, Reason: reason})
	}
	for _, t := range d.tests {
		more, err := a.recogniseTest(ctx, l, d, t, f)
		if err != nil {
			return nil, err
		}
		said = append(said, more...)
	}
	return said, nil
}

// recogniseTest compares a file of test rows with DATA itself and with every sensitive data set.
func (a *app) recogniseTest(ctx context.Context, l *ledger.Ledger, d found, t tested, f *copyFlags) (said []ledger.Difference, err error) {
	matches, err := l.Recognise(ctx, "", t.prints...)
	if err != nil {
		return nil, err
	}
	own := identity.Different
	for _, p := range d.prints {
		for _, q := range t.prints {
			own = max(own, identity.Compare(p, q).Likeness)
		}
	}
	why, advice := d.exactly()
	switch {
	case own == identity.Equal && d.standsIn:
		return nil, standInIsData(t.path)
	case own == identity.Equal:
		return nil, testIsData(t.path)
	}
	if own == identity.Similar && !d.public && !slices.ContainsFunc(matches, func(m ledger.Match) bool { return m.Dataset == d.name }) {
		matches = append(matches, ledger.Match{Dataset: d.name, Likeness: own})
	}
	for _, m := range matches {
		if m.Likeness == identity.Equal {
			return nil, &usageError{fmt.Sprintf("%s: the ledger holds these rows as the sensitive data set %q, and %s", t.path, m.Dataset, why), advice}
		}
		refusal := &ledger.RefusedError{Dataset: m.Dataset, Reason: fmt.Sprintf("%s resembles it so much that it seems to hold the same units, and %s", t.path, why),
			Advice: advice + "; if it holds other units: --different --reason WHY, which the ledger and every statement keep"}
		reason, err := a.reason(ctx, f, fmt.Sprintf("%s resembles the sensitive data set %q, and %s", t.path, m.Dataset, why), refusal)
		if errors.Is(err, errYes) {
			return nil, refusal
		}
		if err != nil {
			return nil, err
		}
		said = append(said, ledger.Difference{Other: m.Dataset, Reason: reason, Of: "test"})
	}
	return said, nil
}

// testIsData refuses the rows of DATA as its test rows.
func testIsData(path string) error {
	return &usageError{fmt.Sprintf("%s: the test file is DATA itself, whose rows would be scored exactly and for nothing", path),
		"leave out --test: rows that chose nothing are held out; a test file holds other rows, which are public"}
}

// standInIsData refuses the rows of DATA in place of themselves.
func standInIsData(path string) error {
	return &usageError{fmt.Sprintf("%s: holds the rows of DATA itself, and those are sensitive", path), "other rows of the same schema: public ones, or synthetic ones"}
}

// errYes is the answer that they are the same.
var errYes = errors.New("the same")

// reason is why data are different: that of the flags, or what somebody at a terminal answers; without either it
// is the refusal. What is asked is one thing at a time, and no unclear answer opens a budget: errYes where they are
// said to be the same.
func (a *app) reason(ctx context.Context, f *copyFlags, alike string, refusal error) (string, error) {
	if f.different {
		return strings.TrimSpace(f.reason), nil
	}
	if !a.interactive() {
		return "", refusal
	}
	in := bufio.NewReader(a.in)
	question := alike + ".\nDo both hold the same units? same, different or stop: "
	for range 3 {
		answer, err := a.ask(ctx, in, question)
		if err != nil {
			return "", err
		}
		switch strings.ToLower(strings.Trim(answer, " .!\"'")) {
		case "same", "s", "yes", "y":
			return "", errYes
		case "", "stop", "no", "n", "q", "quit":
			return "", refusal
		case "different", "d":
			why, err := a.ask(ctx, in, "Why are they different? The ledger and every statement keep the answer (empty: stop): ")
			if err != nil {
				return "", err
			}
			if len(strings.Fields(why)) < 2 {
				fmt.Fprintln(a.err, "That is no reason in words.")
				return "", refusal
			}
			return why, nil
		}
		question = "Please answer same, different or stop: "
	}
	return "", refusal
}

// ask reads one line.
func (a *app) ask(ctx context.Context, in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(a.err, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := in.ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case text := <-answer:
		return text, nil
	case <-ctx.Done(): // a reader that waits for a terminal does not see that by itself
		fmt.Fprintln(a.err)
		return "", ctx.Err()
	}
}

// interactive says that a person can be asked.
func (a *app) interactive() bool {
	if a.asked != nil {
		return a.asked()
	}
	in, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// watcher collects the prints of a table while it is read: one of all columns, and where some are not used, one of
// those that are. The second recognises a table that lost or gained a column that nobody uses, such as an
// identifier.
type watcher struct {
	key  [32]byte
	uses func(column string) bool // nil: all are used
	feed *identity.Feed
	used *identity.Feed
}

// watch makes o hand on the records as found.
func (w *watcher) watch(o *reader.Options) {
	o.Watch = func(names []string) func([]string) {
		w.feed = identity.NewFeed(w.key, names)
		var at []int
		var columns []string
		for i, name := range names {
			if w.uses != nil && w.uses(name) {
				at, columns = append(at, i), append(columns, name)
			}
		}
		if len(at) == 0 || len(at) == len(names) {
			return w.feed.Add
		}
		w.used = identity.NewRecordsFeed(w.key, columns)
		part := make([]string, len(at))
		return func(texts []string) {
			w.feed.Add(texts)
			for k, i := range at {
				part[k] = texts[i]
			}
			w.used.Add(part)
		}
	}
}

// usedBy says which columns a schema uses, beside the one that names the unit.
func usedBy(s *schema.Schema) func(column string) bool {
	return func(column string) bool {
		i := s.Column(column)
		return i >= 0 && s.Columns[i].Type != schema.Ignore && column != s.Unit.Column
	}
}

// end returns the prints, none where no record was read.
func (w *watcher) end(err error) (prints []*identity.Print) {
	for _, feed := range []*identity.Feed{w.feed, w.used} {
		if feed == nil {
			continue
		}
		if feed.Stop(); err == nil {
			prints = append(prints, feed.Print())
		}
	}
	return prints
}

// owned names DATA as --same-as says, and has it compared with the sensitive data sets of the ledger.
func (s *source) owned(ctx context.Context, l *ledger.Ledger, data string, f *copyFlags, updated *bool) error {
	if err := f.rename(ctx, l, data, s.builtin != nil, &s.name, updated); err != nil {
		return err
	}
	key, err := l.PrintKey(ctx)
	s.printKey = &key
	return err
}

// printed is each, and makes the prints of a file of one's own. They are compared before anything is charged.
func (s *source) printed(bad reader.BadRows, row reader.Row) error {
	if s.builtin != nil || s.printKey == nil {
		return s.each(bad, row)
	}
	o, w := reader.Options{BadRows: bad, Note: s.note}, watcher{key: *s.printKey, uses: usedBy(s.schema)}
	w.watch(&o)
	err := s.eachWith(o, row)
	if s.prints = nil; err != nil {
		w.end(err)
		return err
	}
	s.prints = append(s.prints, w.end(nil)...)
	if s.vectors != nil {
		b := identity.NewVectors(*s.printKey)
		s.vectors.Each(b.AddVector)
		s.prints = append(s.prints, b.Print())
	}
	return nil
}

// found is what is looked for in the ledger.
func (s *source) found() found {
	return found{path: s.path, name: s.name, public: s.schema.Public, prints: s.prints, tests: s.tests}
}

// printPictures makes the print of images of one's own; of texts it was made while they were read.
func (p *pictures) printPictures(ctx context.Context, l *ledger.Ledger) error {
	if !p.mine || p.prints != nil || p.content != nil {
		return nil
	}
	key, err := l.PrintKey(ctx)
	if err != nil {
		return err
	}
	b, size := identity.NewVectors(key), p.train.Size()
	for i := range p.train.Len() {
		label := ""
		if k := p.train.Labels[i]; k >= 0 {
			label = p.train.Classes[k]
		}
		if p.train.Bytes != nil {
			b.AddBytes(label, p.train.Bytes[i*size:(i+1)*size])
		} else {
			b.AddVector(label, p.train.Floats[i*size:(i+1)*size])
		}
	}
	p.prints = []*identity.Print{b.Print()}
	return nil
}

// recognisePictures is recognise for images, and for texts of one's own.
func (a *app) recognisePictures(ctx context.Context, l *ledger.Ledger, data string, p *pictures, public bool, f *copyFlags) ([]ledger.Difference, error) {
	if err := p.printPictures(ctx, l); err != nil {
		return nil, err
	}
	d := found{path: data, name: p.name, public: public, prints: p.prints}
	if p.texts != nil {
		d.tests = p.texts.tests
	}
	return a.recognise(ctx, l, d, f)
}
