package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/text"
	"pawl/model"
	"pawl/reader"
	"pawl/workflow"
)

// tokenFlags say how texts become numbers.
type tokenFlags struct{ vocabulary, unknown string }

// numbering appends to dst the numbers of the first tokens of s.
type numbering func(dst []int, s string, most int) []int

// read opens the vocabulary; nil stands for the hash.
func (f tokenFlags) read() (*text.Vocabulary, error) {
	rules := "use --unknown-token skip (drop the token) or --unknown-token shared (one number for all unknown tokens)"
	switch {
	case f.vocabulary == "" && f.unknown != "":
		return nil, &usageError{"--unknown-token needs --vocabulary: without one, tokens are hashed and none is unknown", "leave it out, or add --vocabulary FILE"}
	case f.vocabulary == "":
		return nil, nil
	case f.unknown == "":
		return nil, &usageError{"missing --unknown-token: the rule for tokens that are not in the vocabulary", rules}
	case !slices.Contains(text.Unknowns, text.Unknown(f.unknown)):
		return nil, &usageError{fmt.Sprintf("unknown --unknown-token %q", f.unknown), rules}
	}
	content, err := readFile(f.vocabulary)
	if err != nil {
		return nil, err
	}
	v, err := text.ReadVocabulary(bytes.NewReader(content), text.Unknown(f.unknown))
	var fault *text.VocabularyError
	if errors.As(err, &fault) {
		return nil, &usageError{fmt.Sprintf("%s:%d: %s", f.vocabulary, fault.Line, fault.Msg), "write one token per line: free, you, 000 (a number is replaced by as many zeros as it has digits)"}
	}
	return v, err
}

// ownTexts are texts of one's own: a column of a table.
type ownTexts struct {
	column     string
	vocabulary *text.Vocabulary
	test       workflow.TestKind
	tested     []byte // of the test file
	tests      []tested
}

// public refuses a test file whose bytes the ledger holds as sensitive.
func (t *ownTexts) public(ctx context.Context, l *ledger.Ledger, path string) error {
	if t == nil || t.tested == nil {
		return nil
	}
	return notSensitive(ctx, l, path, t.tested, testIsExact, otherTest)
}

// digested is what names the bytes of a data set.
func (p *pictures) digested() io.Reader {
	if p.content != nil {
		return bytes.NewReader(p.content)
	}
	return p.train.Reader()
}

// columns declares the label and, of texts, the column that they came from: nothing of it
// is kept with the rows but the numbers of the tokens.
func (p *pictures) columns() []schema.Column {
	all := []schema.Column{{Name: p.target, Type: schema.Categorical, Categories: p.train.Classes, Missing: schema.MissingRefuse}}
	if p.texts != nil {
		all[0].Missing = schema.MissingUnknown
		all = append(all, schema.Column{Name: p.texts.column, Type: schema.Ignore, Why: "texts"})
	}
	return all
}

// found is the record that an example comes from: of images their values, of texts the
// row of the table, whatever numbers the tokens have.
func (p *pictures) found(i int) schema.Record {
	if p.records != nil {
		return p.records[i]
	}
	return p.train.Found(i)
}

// label is the row of an example in columns.
func (p *pictures) label(i int) []float64 {
	y := math.NaN()
	if k := p.train.Labels[i]; k >= 0 {
		y = float64(k)
	}
	if p.texts != nil {
		return []float64{y, math.NaN()}
	}
	return []float64{y}
}

// openOwnTexts opens a table with a column of texts for a network that begins with an
// embedding.
func (a *app) openOwnTexts(data string, f *trainFlags) (*pictures, error) {
	spec, err := findModel(f.model)
	if err != nil {
		return nil, err
	}
	if err := f.imagesOnly("texts"); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.table.features != "" && f.table.features != "all", "--features"}, {f.table.encoding != "" && f.table.encoding != "thermometer", "--encoding"}, {f.table.scoreBy != "", "--score-by"}} {
		if c.given {
			return nil, &usageError{c.flag + " is for table columns, and this network takes texts", "leave it out"}
		}
	}
	vocabulary, err := f.table.tokens.read()
	if err != nil {
		return nil, err
	}
	count, err := counted(spec, vocabulary)
	if err != nil {
		return nil, err
	}
	src, err := a.openSource(data, f.table.schema)
	if err != nil {
		return nil, err
	}
	p, err := textColumns(src.schema, cmp.Or(f.target, src.target))
	if err != nil {
		return nil, err
	}
	bad := reader.BadRows(f.table.badRows)
	var records []schema.Record // of the file that was read last
	read := func(name string, content []byte, all bool) (*images.Set, []*identity.Print, error) {
		o, w := reader.Options{BadRows: bad}, watcher{}
		if f.printKey != nil {
			w.key, w.uses = *f.printKey, usedBy(src.schema)
			w.watch(&o)
		}
		var texts []string
		var labels []int32
		records = nil
		at := src.schema.Column(p.target)
		err := reader.ReadTexts(name, bytes.NewReader(content), src.schema, o, p.texts.column, func(cells []float64, found schema.Record, s string) error {
			y := int32(-1)
			if v := cells[at]; v == v {
				y = int32(v)
			}
			if all || y >= 0 {
				texts, labels = append(texts, s), append(labels, y)
				found.Cells = slices.Clone(found.Cells)
				records = append(records, found)
			}
			return nil
		})
		set := numbered(texts, spec.Input.Size(), count)
		set.Labels, set.Classes = labels, src.schema.Columns[at].Levels()
		return set, w.end(err), err
	}
	p.name, p.licence, p.unit, p.public, p.content, p.texts.vocabulary = src.name, src.licence, src.schema.Unit.Name, src.schema.Public, src.content, vocabulary
	p.assumed = src.schema.Unit.Assumed
	var prints []*identity.Print
	if p.train, prints, err = read(src.path, src.content, true); err != nil {
		return nil, err
	}
	p.records = records
	if p.mine = src.builtin == nil; p.mine {
		p.prints = prints
	}
	if f.table.test != "" { // public by the operator's word
		content, err := readFile(f.table.test)
		if err != nil {
			return nil, err
		}
		if sameTable(content, src.content) {
			return nil, testIsData(f.table.test)
		}
		if p.test, prints, err = read(f.table.test, content, false); err != nil {
			return nil, err
		}
		if prints != nil {
			p.texts.tests = append(p.texts.tests, tested{f.table.test, prints})
		}
		p.texts.test, p.texts.tested = workflow.TestFile, content
	}
	switch p.rows = src.schema.Rows; p.rows.Kind {
	case schema.RowsPublic:
		p.rows = schema.RowCount{Kind: schema.RowsDeclared, N: int64(p.train.Len())}
	case schema.RowsPrivate:
		return nil, &usageError{"a network needs a public number of rows, which sets its sampling rate and steps", "declare rows: about N in the schema"}
	}
	return p, nil
}

// counted is how a network's texts become numbers, all of which its embedding knows.
func counted(spec zoo.Spec, v *text.Vocabulary) (numbering, error) {
	known, ok := vocabularyOf(spec.Network.Layers)
	if !ok || spec.Input == (nn.Shape{}) {
		return nil, &usageError{fmt.Sprintf("%s does not take texts", spec.Name), "choose a model that starts with an embedding, such as sms-rnn-simple"}
	}
	if v == nil {
		return text.Hasher{Buckets: known}.Numbers, nil
	}
	if v.Size() > known {
		return nil, &usageError{fmt.Sprintf("the vocabulary has %d entries, and the embedding of %s has %d", v.Size(), spec.Name, known),
			fmt.Sprintf("shorten it, or set vocabulary: %d in a model file (pawl models show %s)", v.Size(), spec.Name)}
	}
	return v.Numbers, nil
}

// textColumns finds the one text and the target of a schema.
func textColumns(s *schema.Schema, target string) (*pictures, error) {
	var texts, classes, others []string
	for i := range s.Columns {
		switch c := &s.Columns[i]; {
		case c.Type == schema.Ignore || c.Name == s.Unit.Column:
		case c.Type == schema.Text:
			texts = append(texts, c.Name)
		default:
			if len(c.Levels()) > 1 {
				classes = append(classes, c.Name)
			}
			if c.Name != target {
				others = append(others, c.Name)
			}
		}
	}
	hint := "columns that can be a target: " + strings.Join(classes, ", ")
	switch {
	case s.Unit.Column != "":
		return nil, &usageError{fmt.Sprintf("the privacy unit is column %q, but a network treats every text as a unit of its own", s.Unit.Column),
			"use pawl fit, which supports units of several rows, or join the texts of each unit into one row"}
	case len(texts) != 1:
		return nil, &usageError{fmt.Sprintf("the schema declares %d columns of type text, and a text network takes one", len(texts)), "declare the others type: ignore"}
	case target == "":
		return nil, &usageError{"missing --target, the column to predict", hint}
	case !slices.Contains(classes, target):
		if near := schema.Nearest(target, classes); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return nil, &usageError{fmt.Sprintf("target %q is not a column of classes", target), hint}
	case len(others) > 0:
		return nil, &usageError{fmt.Sprintf("column %q is neither the text nor the target, and a text network uses only these two", others[0]),
			"declare it type: ignore, or use pawl fit, which combines texts with other columns"}
	}
	return &pictures{target: target, texts: &ownTexts{column: texts[0]}}, nil
}

// numbered are texts as rows of size numbers, which nn.PutTokens writes.
func numbered(texts []string, size int, count numbering) *images.Set {
	set := &images.Set{Shape: [3]int{1, 1, size}, Floats: make([]float32, len(texts)*size)}
	var tokens []int
	for i, s := range texts {
		tokens = count(tokens[:0], s, size-1)
		nn.PutTokens(set.Floats[i*size:(i+1)*size], tokens)
	}
	return set
}

// readLines are the texts of FILE: the model's column of a table, or lines.
func (a *app) readLines(file string, m *model.Model) (texts []string, err error) {
	if i := slices.IndexFunc(m.Schema.Columns, func(c schema.Column) bool { return c.Type == schema.Ignore }); i >= 0 && isTable(file) {
		content, err := readFile(file)
		if err != nil {
			return nil, err
		}
		column := m.Schema.Columns[i].Name
		r, err := reader.NewRecords(file, bytes.NewReader(content), reader.Keys{Names: []string{column}, PassOver: true})
		if err != nil {
			return nil, err
		}
		defer r.Close()
		at := slices.Index(r.Header(), column)
		if at < 0 {
			return nil, r.Absent(column, "which the model needs")
		}
		for {
			row, err := r.Next()
			if err == io.EOF {
				return texts, nil
			}
			if err != nil {
				return nil, err
			}
			texts = append(texts, row[at])
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimRight(line, "\r\n"); len(line) > 1<<20 {
			return nil, fmt.Errorf("%s: a line is longer than 1 MiB", file)
		}
		texts = append(texts, line)
	}
	return texts, nil
}
