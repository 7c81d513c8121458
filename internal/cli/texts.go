package cli

import (
	"fmt"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/data/source"
	"pawl/data/text"
	"pawl/model"
	"pawl/reader"
)

// openPictures opens images, built-in texts, or a table with a column of texts, for a network.
func (a *app) openPictures(data string, f *trainFlags) (*source.Images, error) {
	own := f.table.schema != "" || source.IsTable(data) && !source.Absent(data) || source.IsTexts(data) && f.table.tokens != (source.Tokens{})
	if !own {
		if err := f.table.refused(data); err != nil {
			return nil, err
		}
		if !source.IsTexts(data) {
			return source.OpenImages(data, a.dataDir, f.labels, f.classes, f.rows)
		}
	}
	spec, err := findModel(f.model)
	if err != nil {
		return nil, err
	}
	if !own {
		return openTexts(data, a.dataDir, spec, f)
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
	table, err := source.OpenTable(data, f.table.schema, a.dataDir)
	if err != nil {
		return nil, err
	}
	table.PrintKey = f.printKey
	return table.OwnTexts(spec, f.table.tokens, f.target, f.table.test, reader.BadRows(f.table.badRows))
}

// openTexts opens texts as the inputs of the model: the numbers of their tokens, by a
// hash that has seen no data, and how many there are. There is no set for testing, so
// units are held out.
func openTexts(data, dataDir string, spec zoo.Spec, f *trainFlags) (*source.Images, error) {
	vocabulary, ok := source.VocabularyOf(spec.Network.Layers)
	if !ok || spec.Input == (nn.Shape{}) {
		return nil, &usageError{fmt.Sprintf("%s does not take texts", spec.Name), "choose a model that starts with an embedding, such as sms-rnn-simple; without a network: pawl fit " + data}
	}
	if f.augment > 1 || f.flip || f.frontEnd != "" {
		return nil, &usageError{"--augment, --flip and --front-end are for images, and DATA is a set of texts", "leave them out"}
	}
	return source.ReadTexts(data, dataDir, spec.Input.Size(), vocabulary)
}

// predictTexts adds what a network says about every text of FILE, in order.
func predictTexts(file string, m *model.Model, vocabulary int, p *prediction) error {
	texts, err := source.ReadLines(file, m.Schema)
	if err != nil {
		return err
	}
	count := source.Numbering(text.Hasher{Buckets: vocabulary}.Numbers)
	if m.Vocabulary != nil {
		count = m.Vocabulary.Numbers
	}
	p.addSet(m, source.Numbered(texts, m.Net.Inputs(), count))
	return nil
}
