package export

import (
	"encoding/json"
	"fmt"

	"pawl/model"
)

// Safetensors writes the numbers of m: those of a network by layers, "layers.1.weight"
// being of the first, in the layout of PyTorch's modules (nn.Tensor); those of a linear model as weights, one row for each coordinate; those of an
// additive model as one table for each term. The metadata say the claim, what m was
// trained to do, and what its layers or coordinates are.
func Safetensors(m *model.Model, facts Facts) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	properties, err := propertiesOf(m, facts)
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{"format": "pt"}
	for _, p := range properties {
		metadata[p[0]] = p[1]
	}
	add := func(key string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // names, numbers and layers always marshal
		}
		metadata[key] = string(b)
	}
	if m.Task == model.Classification {
		add("classes", m.Classes())
	} else {
		add("target_scale", m.Scale)
	}
	var tensors []model.Tensor
	switch m.Kind {
	case model.Network:
		add("network", m.Layers)
		add("input", m.Net.Input())
		tensors = layerTensors(m)
	case model.Additive:
		add("encoding", m.Encoding.Options)
		tensors = termTensors(m)
	case model.Linear:
		add("encoding", m.Encoding.Options)
		add("coordinates", m.Encoding.Names(m.Schema))
		tensors = []model.Tensor{{Name: "weights", Shape: []int{m.Encoding.Dim, m.Outputs}, Float64s: m.Weights}}
	default:
		tensors = []model.Tensor{{Name: "value", Shape: []int{1}, Float64s: []float64{m.Value}}}
	}
	return model.Safetensors(metadata, tensors...), nil
}

func termTensors(m *model.Model) []model.Tensor {
	list := []model.Tensor{{Name: "intercept", Shape: []int{m.Outputs}, Float64s: m.Intercept}}
	at, seen := 0, map[string]int{}
	for _, t := range m.Terms.List() {
		// A column may be called like a pair of others.
		if seen[t.Name]++; seen[t.Name] > 1 {
			t.Name += fmt.Sprintf(" (%d)", seen[t.Name])
		}
		list = append(list,
			model.Tensor{Name: "terms." + t.Name, Shape: []int{t.Levels, m.Outputs}, Float64s: m.Weights[at*m.Outputs : (at+t.Levels)*m.Outputs]},
			model.Tensor{Name: "counts." + t.Name, Shape: []int{t.Levels}, Float64s: m.Counts[at : at+t.Levels]})
		at += t.Levels
	}
	return list
}

func layerTensors(m *model.Model) []model.Tensor {
	var list []model.Tensor
	for _, t := range m.Net.Tensors(m.Parameters32) {
		list = append(list, model.Tensor{Name: t.Name, Shape: t.Shape, Float32s: t.Values})
	}
	return list
}
