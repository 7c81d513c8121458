package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Tensor is named numbers of one type, row-major: Float64s or Float32s is set.
type Tensor struct {
	Name     string
	Shape    []int
	Float64s []float64
	Float32s []float32
}

// Safetensors writes tensors, in order, as a file of the format safetensors. Metadata is
// its __metadata__. It panics when a tensor's numbers are not as many as its shape says,
// or two have one name: readers refuse such a file.
func Safetensors(metadata map[string]string, tensors ...Tensor) []byte {
	list, names := make([]tensor, len(tensors)), map[string]bool{}
	for i, t := range tensors {
		list[i] = tensor{name: t.Name, shape: t.Shape, float64s: t.Float64s, float32s: t.Float32s}
		if n := len(t.Float64s) + len(t.Float32s); n != list[i].count() || names[t.Name] {
			panic(fmt.Sprintf("model: tensor %q: %d numbers of shape %v", t.Name, n, t.Shape))
		}
		names[t.Name] = true
	}
	return safetensors(metadata, list...)
}

// Privacy returns what model.json says of the guarantee: the JSON object given to Save,
// nil where there was none.
func Privacy(dir string) (json.RawMessage, error) {
	path := filepath.Join(dir, specFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	privacy, _, err := Claim(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return privacy, nil
}

// Claim is what the text of a model.json says of the guarantee, as Privacy, and whether it is marked NOT PRIVATE.
func Claim(text []byte) (privacy json.RawMessage, unprotected bool, err error) {
	var s spec
	if json.Unmarshal(text, &s) != nil {
		return nil, false, errors.New("not a model description")
	}
	return s.Privacy, s.Claim == notPrivate, nil
}
