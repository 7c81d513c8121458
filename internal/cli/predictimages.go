package cli

import (
	"fmt"
	"os"
	"strings"

	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/source"
	"pawl/model"
)

// predictImages adds what a network says about every image of FILE, in order.
func (a *app) predictImages(file string, m *model.Model, p *prediction) error {
	if vocabulary, ok := source.VocabularyOf(m.Layers.Layers); ok {
		return predictTexts(file, m, vocabulary, p)
	}
	set, err := a.openUnlabelled(file)
	if err != nil {
		return err
	}
	if set.Size() != m.Net.Inputs() {
		return &usageError{fmt.Sprintf("%s: the images are %d×%d×%d, and the model takes %s", file, set.Shape[0], set.Shape[1], set.Shape[2], m.Net.Input()), ""}
	}
	p.addSet(m, set)
	return nil
}

// addSet adds what a network says about every row of a set.
func (p *prediction) addSet(m *model.Model, set *images.Set) {
	predict, input := m.InputPredictor(), make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, input)
		p.values = append(p.values, predict(input))
		if n := len(p.classes); n > 0 {
			at := len(p.probs)
			p.probs = append(p.probs, make([]float64, n)...)
			m.InputProbabilities(p.probs[at:], input)
		}
	}
}

func (a *app) openUnlabelled(file string) (*images.Set, error) {
	info, err := os.Stat(file)
	if b, ok := dataset.Images(file); ok && err != nil {
		return b.Test(a.dataDir)
	}
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return images.OpenFolder(file, nil)
	case strings.HasSuffix(file, ".npy"):
		return images.OpenNPY(images.Pair{Images: file}, nil)
	}
	return images.OpenIDX(images.Pair{Images: file}, nil)
}
