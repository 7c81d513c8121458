package audits

import (
	"pawl/data/images"
	"pawl/model"
)

// answers are a model's probabilities of every image, row-major.
func answers(set *images.Set, m *model.Model) []float64 {
	classes := len(set.Classes)
	p, input := make([]float64, set.Len()*classes), make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, input)
		m.InputProbabilities(p[i*classes:(i+1)*classes], input)
	}
	return p
}
