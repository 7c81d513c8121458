package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/data/text"
	"pawl/internal/usage"
	"pawl/reader"
)

// Tokens say how texts become numbers: by a file of tokens and a rule for those that it does
// not list, or, where both are "", by a hash that needs no list.
type Tokens struct{ Vocabulary, Unknown string }

// Numbering appends to dst the numbers of the first tokens of s.
type Numbering func(dst []int, s string, most int) []int

// Read opens the vocabulary; nil stands for the hash.
func (f Tokens) Read() (*text.Vocabulary, error) {
	rules := "use --unknown-token skip (drop the token) or --unknown-token shared (one number for all unknown tokens)"
	switch {
	case f.Vocabulary == "" && f.Unknown != "":
		return nil, usage.New("--unknown-token needs --vocabulary: without one, tokens are hashed and none is unknown", "leave it out, or add --vocabulary FILE")
	case f.Vocabulary == "":
		return nil, nil
	case f.Unknown == "":
		return nil, usage.New("missing --unknown-token: the rule for tokens that are not in the vocabulary", rules)
	case !slices.Contains(text.Unknowns, text.Unknown(f.Unknown)):
		return nil, usage.New(fmt.Sprintf("unknown --unknown-token %q", f.Unknown), rules)
	}
	content, err := table.ReadFile(f.Vocabulary)
	if err != nil {
		return nil, err
	}
	v, err := text.ReadVocabulary(bytes.NewReader(content), text.Unknown(f.Unknown))
	var fault *text.VocabularyError
	if errors.As(err, &fault) {
		return nil, usage.New(fmt.Sprintf("%s:%d: %s", f.Vocabulary, fault.Line, fault.Msg), "write one token per line: free, you, 000 (a number is replaced by as many zeros as it has digits)")
	}
	return v, err
}

// OwnTexts are texts of one's own: a column of a table.
type OwnTexts struct {
	Column     string
	Vocabulary *text.Vocabulary // nil for the hash
	// Tested is the public test file as read, nil without one.
	Tested *reader.Content
	tests  []Tested
}

// Public refuses a test file whose bytes the ledger holds as sensitive.
func (t *OwnTexts) Public(ctx context.Context, l *ledger.Ledger, path string) error {
	if t == nil || t.Tested == nil {
		return nil
	}
	return NotSensitive(ctx, l, path, t.Tested, testIsExact, otherTest)
}

// OwnTexts makes of a table's one column of texts what a network takes that begins with an
// embedding. test is a public file of the same columns, or "".
func (src *Table) OwnTexts(spec zoo.Spec, tokens Tokens, target, test string, bad reader.BadRows) (*Images, error) {
	vocabulary, err := tokens.Read()
	if err != nil {
		return nil, err
	}
	count, err := Counted(spec, vocabulary)
	if err != nil {
		return nil, err
	}
	p, err := textColumns(src.Schema, cmp.Or(target, src.Target))
	if err != nil {
		return nil, err
	}
	var records []schema.Record // of the file that was read last
	read := func(name string, content *reader.Content, all bool) (*images.Set, []*identity.Print, error) {
		o, w := reader.Options{BadRows: bad}, Watcher{}
		if src.PrintKey != nil {
			w = NewWatcher(*src.PrintKey, src.Schema, &o)
		}
		var texts []string
		var labels []int32
		records = nil
		at := src.Schema.Column(p.Target)
		err := reader.ReadTexts(name, content.Reader(), src.Schema, o, p.Texts.Column, func(cells []float64, found schema.Record, s string) error {
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
		set := Numbered(texts, spec.Input.Size(), count)
		set.Labels, set.Classes = labels, src.Schema.Columns[at].Levels()
		return set, w.End(err), err
	}
	p.Name, p.Licence, p.Unit, p.Public, p.content, p.Texts.Vocabulary = src.Name, src.Licence, src.Schema.Unit.Name, src.Schema.Public, src.Content, vocabulary
	p.Assumed = src.Schema.Unit.Assumed
	var prints []*identity.Print
	if p.Train, prints, err = read(src.Path, src.Content, true); err != nil {
		return nil, err
	}
	p.records = records
	if p.Mine = src.Builtin == nil; p.Mine {
		p.Prints = prints
	}
	if test != "" { // public by the operator's word
		content, err := table.Read(test)
		if err != nil {
			return nil, err
		}
		test = content.Name()
		if SameTable(content, src.Content) {
			return nil, TestIsData(test)
		}
		if p.Test, prints, err = read(test, content, false); err != nil {
			return nil, err
		}
		if prints != nil {
			p.Texts.tests = append(p.Texts.tests, Tested{test, prints})
		}
		p.Texts.Tested = content
	}
	switch p.Rows = src.Schema.Rows; p.Rows.Kind {
	case schema.RowsPublic:
		p.Rows = schema.RowCount{Kind: schema.RowsDeclared, N: int64(p.Train.Len())}
	case schema.RowsPrivate:
		return nil, usage.New("a network needs a public number of rows, which sets its sampling rate and steps", "declare rows: about N in the schema")
	}
	return p, nil
}

// Counted is how a network's texts become numbers, all of which its embedding knows.
func Counted(spec zoo.Spec, v *text.Vocabulary) (Numbering, error) {
	known, ok := VocabularyOf(spec.Network.Layers)
	if !ok || spec.Input == (nn.Shape{}) {
		return nil, usage.New(cmp.Or(spec.Name, "the network")+" does not take texts", "choose a model that starts with an embedding, such as sms-rnn-simple")
	}
	if v == nil {
		return text.Hasher{Buckets: known}.Numbers, nil
	}
	if v.Size() > known {
		return nil, usage.New(fmt.Sprintf("the vocabulary has %d entries, and the embedding of %s has %d", v.Size(), spec.Name, known),
			fmt.Sprintf("shorten it, or set vocabulary: %d in a model file (pawl models show %s)", v.Size(), spec.Name))

	}
	return v.Numbers, nil
}

// textColumns finds the one text and the target of a schema.
func textColumns(s *schema.Schema, target string) (*Images, error) {
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
		return nil, usage.New(fmt.Sprintf("the privacy unit is column %q, but a network treats every text as a separate unit", s.Unit.Column),
			"use pawl fit, which supports units of several rows, or join the texts of each unit into one row")

	case len(texts) != 1:
		return nil, usage.New(fmt.Sprintf("the schema declares %d columns of type text, and a text network takes one", len(texts)), "declare the others type: ignore")
	case target == "":
		return nil, usage.New("missing --target, the column to predict", hint)
	case !slices.Contains(classes, target):
		return nil, usage.New(fmt.Sprintf("target %q is not a column of classes", target), schema.Meant(target, classes, hint))
	case len(others) > 0:
		return nil, usage.New(fmt.Sprintf("column %q is neither the text nor the target, and a text network uses only these two", others[0]),
			"declare it type: ignore, or use pawl fit, which combines texts with other columns")

	}
	return &Images{Target: target, Texts: &OwnTexts{Column: texts[0]}}, nil
}

// Numbered are texts as rows of size numbers, which nn.PutTokens writes.
func Numbered(texts []string, size int, count Numbering) *images.Set {
	set := &images.Set{Shape: [3]int{1, 1, size}, Floats: make([]float32, len(texts)*size)}
	var tokens []int
	for i, s := range texts {
		tokens = count(tokens[:0], s, size-1)
		nn.PutTokens(set.Floats[i*size:(i+1)*size], tokens)
	}
	return set
}

// ReadLines are the texts of a file: of a table the column that s ignores, else lines.
func ReadLines(file string, s *schema.Schema) (texts []string, err error) {
	if i := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Type == schema.Ignore }); i >= 0 && table.Named(file) {
		content, err := table.Read(file)
		if err != nil {
			return nil, err
		}
		content = content.AsGiven()
		column := s.Columns[i].Name
		r, err := reader.NewRecords(content.Name(), content.Reader(), reader.Keys{Names: []string{column}, PassOver: true, File: s.File})
		if err != nil {
			return nil, err
		}
		defer r.Close()
		at := slices.Index(r.Header(), column)
		if at < 0 {
			return nil, r.Absent(s, column)
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

// ReadTexts are built-in texts as so many numbers each.
func ReadTexts(data, dataDir string, size, vocabulary int) (*Images, error) {
	b, _ := dataset.Lookup(data) // isTexts has asked
	t, err := dataset.LoadText(b.Name, dataDir)
	if err != nil {
		return nil, err
	}
	p := &Images{Name: b.Name, Target: b.Target, Licence: b.Licence, Public: b.Schema().Public, Unit: b.Schema().Unit.Name}
	// The same bytes as in a fit: a data set is one to the ledger, whatever is made of it.
	file, err := b.TrainCSV(dataDir)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	p.content = reader.NewContent(b.Name, reader.Part{Name: b.Name, Bytes: content})
	p.Train = sequences(t.Texts, size, vocabulary)
	p.Train.Labels, p.Train.Classes = t.Labels, t.Classes
	p.Rows = schema.RowCount{Kind: schema.RowsDeclared, N: int64(len(t.Texts))}
	return p, nil
}

// VocabularyOf is the number of tokens that a network knows, if it takes texts.
func VocabularyOf(layers []nn.Layer) (int, bool) {
	if len(layers) == 0 || layers[0].Kind != "embedding" {
		return 0, false
	}
	return layers[0].Vocabulary, true
}

// sequences are texts as rows of size numbers, by a hash that has seen no data.
func sequences(texts []string, size, vocabulary int) *images.Set {
	return Numbered(texts, size, text.Hasher{Buckets: vocabulary}.Numbers)
}
