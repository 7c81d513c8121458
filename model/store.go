package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"pawl/encode"
	"pawl/schema"
)

// Format is the version of the files Save writes.
const Format = 1

const (
	specFile    = "model.json"
	weightsFile = "model.safetensors"
	schemaFile  = "schema.yaml"

	notPrivate = "NOT PRIVATE"
)

// spec is model.json: everything but the weights and the schema.
type spec struct {
	Version int `json:"version"`
	// Claim is "NOT PRIVATE" or absent.
	Claim    string          `json:"claim,omitempty"`
	Task     Task            `json:"task"`
	Kind     Kind            `json:"kind"`
	Target   string          `json:"target"`
	Classes  []string        `json:"classes,omitempty"`
	Encoding *encode.Options `json:"encoding,omitempty"`
	Outputs  int             `json:"outputs,omitempty"`
	Value    *float64        `json:"value,omitempty"`
	Scale    *TargetScale    `json:"target_scale,omitempty"`
	// Names labels the rows of the weight matrix.
	Names []string `json:"coordinates,omitempty"`
	// Privacy is the claim in force when the model was written.
	Privacy json.RawMessage `json:"privacy,omitempty"`
}

// Save writes the model into dir, which must exist: schema.yaml, model.json and,
// for linear models, model.safetensors with metadata. privacy is a JSON object
// that states the guarantee, metadata the same in short.
func (m *Model) Save(dir string, privacy json.RawMessage, metadata map[string]string) error {
	if err := m.Validate(); err != nil {
		return err
	}
	s := spec{Version: Format, Task: m.Task, Kind: m.Kind, Target: m.Target, Privacy: privacy}
	if m.NotPrivate {
		s.Claim = notPrivate
	}
	if m.Task == Classification {
		s.Classes = m.Classes()
	} else {
		s.Scale = &m.Scale
	}
	if m.Kind == Linear {
		s.Encoding, s.Outputs, s.Names = &m.Encoding.Options, m.Outputs, m.Encoding.Names(m.Schema)
		tensors := safetensors(m.Weights, m.Encoding.Dim, m.Outputs, metadata)
		if err := os.WriteFile(filepath.Join(dir, weightsFile), tensors, 0o644); err != nil {
			return err
		}
	} else {
		s.Value = &m.Value
	}
	declared, err := schema.Encode(m.Schema)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, schemaFile), declared, 0o644); err != nil {
		return err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, specFile), append(b, '\n'), 0o644)
}

// Load reads a model written by Save. Errors name the file.
func Load(dir string) (*Model, error) {
	path := filepath.Join(dir, specFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: not found: this is not a model directory", path)
	}
	if err != nil {
		return nil, err
	}
	var s spec
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%s: not a model description: %w", path, err)
	}
	if s.Version != Format {
		return nil, fmt.Errorf("%s: format version %d is not known here (want %d)", path, s.Version, Format)
	}
	m := &Model{Task: s.Task, Kind: s.Kind, Target: s.Target, Outputs: s.Outputs, NotPrivate: s.Claim == notPrivate}
	if m.Schema, err = schema.Load(filepath.Join(dir, schemaFile)); err != nil {
		return nil, err
	}
	if s.Scale != nil {
		m.Scale = *s.Scale
	}
	if s.Value != nil {
		m.Value = *s.Value
	}
	if m.Kind == Linear {
		if s.Encoding == nil {
			return nil, fmt.Errorf("%s: the encoding is missing", path)
		}
		if m.Encoding, err = encode.New(m.Schema, m.Target, *s.Encoding); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		weights := filepath.Join(dir, weightsFile)
		b, err := os.ReadFile(weights)
		if err != nil {
			return nil, err
		}
		if m.Weights, err = parseSafetensors(b, m.Encoding.Dim, m.Outputs); err != nil {
			return nil, fmt.Errorf("%s: %w", weights, err)
		}
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

type tensorInfo struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// safetensors writes one float64 tensor named "weights": an 8-byte header length,
// a JSON header padded with spaces to 8 bytes, then little-endian values.
func safetensors(w []float64, dim, outputs int, metadata map[string]string) []byte {
	header := map[string]any{"weights": tensorInfo{Type: "F64", Shape: []int{dim, outputs}, Offsets: [2]int{0, 8 * len(w)}}}
	if len(metadata) > 0 {
		header["__metadata__"] = metadata
	}
	head, err := json.Marshal(header)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, uint64(len(head)))
	out.Write(head)
	for _, v := range w {
		_ = binary.Write(&out, binary.LittleEndian, math.Float64bits(v))
	}
	return out.Bytes()
}

func parseSafetensors(b []byte, dim, outputs int) ([]float64, error) {
	if len(b) < 8 {
		return nil, errors.New("cut short")
	}
	size := binary.LittleEndian.Uint64(b)
	if size > uint64(len(b)-8) {
		return nil, errors.New("cut short within its header")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+size], &header); err != nil {
		return nil, errors.New("header is not JSON")
	}
	var info tensorInfo
	if err := json.Unmarshal(header["weights"], &info); err != nil {
		return nil, errors.New(`tensor "weights" is missing`)
	}
	data := b[8+size:]
	want := 8 * dim * outputs
	if info.Type != "F64" || len(info.Shape) != 2 || info.Shape[0] != dim || info.Shape[1] != outputs || info.Offsets != [2]int{0, want} {
		return nil, fmt.Errorf("tensor \"weights\" has type %s and shape %v, the encoding needs F64 [%d %d]", info.Type, info.Shape, dim, outputs)
	}
	if len(data) != want {
		return nil, errors.New("cut short within its values")
	}
	w := make([]float64, dim*outputs)
	for i := range w {
		w[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return w, nil
}
