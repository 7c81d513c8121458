package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"pawl/compute/nn"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/data/text"
	"pawl/model"
)

// isTexts says whether DATA is a built-in set of texts. A file of that name in the
// working directory comes first, as it does for every built-in name.
func isTexts(data string) bool {
	b, ok := dataset.Lookup(data)
	if !ok {
		return false
	}
	_, err := os.Stat(data)
	return err != nil && slices.ContainsFunc(b.Schema().Columns, func(c schema.Column) bool { return c.Type == schema.Text })
}

// openTexts opens texts as the inputs of the model: the numbers of their tokens, by a
// hash that has seen no data, and how many there are. There is no set for testing, so
// units are held out.
func openTexts(data, dataDir string, f *trainFlags) (*pictures, error) {
	spec, err := findModel(f.model)
	if err != nil {
		return nil, err
	}
	vocabulary, ok := vocabularyOf(spec.Network.Layers)
	if !ok || spec.Input == (nn.Shape{}) {
		return nil, &usageError{fmt.Sprintf("%s does not take texts", spec.Name), "choose a model that starts with an embedding, such as sms-rnn-simple; without a network: pawl fit " + data}
	}
	if f.augment > 1 || f.flip || f.frontEnd != "" {
		return nil, &usageError{"--augment, --flip and --front-end are for images, and these are texts", "leave them out"}
	}
	return readTexts(data, dataDir, spec.Input.Size(), vocabulary)
}

// readTexts are built-in texts as so many numbers each.
func readTexts(data, dataDir string, size, vocabulary int) (*pictures, error) {
	b, _ := dataset.Lookup(data) // isTexts has asked
	t, err := dataset.LoadText(b.Name, dataDir)
	if err != nil {
		return nil, err
	}
	p := &pictures{name: b.Name, target: b.Target, licence: b.Licence, public: b.Schema().Public, unit: b.Schema().Unit.Name}
	// The same bytes as in a fit: a data set is one to the ledger, whatever is made of it.
	file, err := b.TrainCSV(dataDir)
	if err != nil {
		return nil, err
	}
	if p.content, err = io.ReadAll(file); err != nil {
		return nil, err
	}
	p.train = sequences(t.Texts, size, vocabulary)
	p.train.Labels, p.train.Classes = t.Labels, t.Classes
	p.rows = schema.RowCount{Kind: schema.RowsDeclared, N: int64(len(t.Texts))}
	return p, nil
}

// vocabularyOf is the number of tokens that a network knows, if it takes texts.
func vocabularyOf(layers []nn.Layer) (int, bool) {
	if len(layers) == 0 || layers[0].Kind != "embedding" {
		return 0, false
	}
	return layers[0].Vocabulary, true
}

// sequences are texts as rows of size numbers, by a hash that has seen no data.
func sequences(texts []string, size, vocabulary int) *images.Set {
	return numbered(texts, size, text.Hasher{Buckets: vocabulary}.Numbers)
}

// predictTexts adds what a network says about every text of FILE, in order.
func (a *app) predictTexts(file string, m *model.Model, vocabulary int, p *prediction) error {
	texts, err := a.readLines(file, m)
	if err != nil {
		return err
	}
	count := numbering(text.Hasher{Buckets: vocabulary}.Numbers)
	if m.Vocabulary != nil {
		count = m.Vocabulary.Numbers
	}
	p.addSet(m, numbered(texts, m.Net.Inputs(), count))
	return nil
}
