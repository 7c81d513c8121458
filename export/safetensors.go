package export

import (
	"encoding/json"
	"fmt"
	"slices"

	"pawl/model"
)

// Safetensors writes the numbers of m: those of a network by layers, "layers.1.weight"
// being of the first, in the layout of PyTorch's modules (rows of a matrix are outputs,
// filters come before channels and stand standardized where they are used so, the gates of
// an lstm are i, f, g, o and those of a gru r, z, n); those of a linear model as weights, one row for each coordinate; those of an
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

// layerTensors leaves out layers that share the parameters of another.
func layerTensors(m *model.Model) []model.Tensor {
	var list []model.Tensor
	layers := layersOf(m)
	for i := range layers {
		l := &layers[i]
		add := func(name string, values []float32, shape ...int) {
			list = append(list, model.Tensor{Name: fmt.Sprintf("layers.%d.%s", l.number, name), Shape: shape, Float32s: values})
		}
		// matrix is a map with the outputs of all gates as rows.
		matrix := func(f affine) []float32 { return f.transposed(0, f.columns) }
		d := l.info.Input.Size()
		switch {
		case l.Share > 0:
		case l.Kind == "dense":
			f := l.groups[0]
			add("weight", matrix(f), f.columns, f.rows)
			add("bias", f.b, f.columns)
		case l.Kind == "conv2d":
			w, b := l.filters()
			add("weight", w, l.Filters, l.info.Input.Channels/l.Groups, l.Kernel, l.Kernel)
			add("bias", b, l.Filters)
		case l.Kind == "embedding":
			add("weight", l.table, l.Vocabulary, l.Units)
		case l.Kind == "lstm" || l.Kind == "gru":
			input, state := l.recurrent()
			add("weight_ih_l0", matrix(input), input.columns, input.rows)
			add("weight_hh_l0", matrix(state), state.columns, state.rows)
			add("bias_ih_l0", slices.Clone(input.b), input.columns)
			add("bias_hh_l0", slices.Clone(state.b), state.columns)
		case l.scale != nil:
			add("weight", l.scale, len(l.scale))
			add("bias", l.shift, len(l.shift))
			if l.mean != nil {
				add("running_mean", l.mean, len(l.mean))
				add("running_var", l.variance, len(l.variance))
			}
		case l.centre != nil:
			add("mean", l.centre, d)
			if l.basis != nil {
				add("components", l.basis, d, l.Coefficients)
			}
		}
	}
	return list
}
