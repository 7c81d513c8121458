package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"pawl/compute/nn"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/data/text"
)

// Format is the latest version of the files Save writes. A model that version 1 can state is written as
// that; 2 adds the bend of a target's scale, which an earlier reader would pass over.
const Format = 2

const (
	specFile    = "model.json"
	weightsFile = "model.safetensors"
	schemaFile  = "schema.yaml"
	wordsFile   = "vocabulary.txt"

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
	// Input and Network describe a network.
	Input   *shape   `json:"input,omitempty"`
	Network *nn.Spec `json:"network,omitempty"`
	// UnknownToken is the rule of a vocabulary, whose list stands in a file beside.
	UnknownToken text.Unknown `json:"unknown_token,omitempty"`
	// Interactions, InteractionBins and Groups describe an additive model.
	Interactions    [][2]string      `json:"interactions,omitempty"`
	InteractionBins int              `json:"interaction_bins,omitempty"`
	Groups          map[string][]int `json:"groups,omitempty"`
	// Names labels the rows of the weight matrix.
	Names []string `json:"coordinates,omitempty"`
	Operation
	// Privacy is the claim in force when the model was written.
	Privacy json.RawMessage `json:"privacy,omitempty"`
}

// Save writes the model into dir, which must exist: schema.yaml, model.json and,
// for all but constant models, model.safetensors with metadata. privacy is a JSON object
// that states the guarantee, metadata the same in short.
func (m *Model) Save(dir string, privacy json.RawMessage, metadata map[string]string) error {
	if err := m.Validate(); err != nil {
		return err
	}
	s := spec{Version: 1, Task: m.Task, Kind: m.Kind, Target: m.Target, Operation: m.Operation, Privacy: privacy}
	if m.NotPrivate {
		s.Claim = notPrivate
	}
	if s.Names = m.names(); m.Task == Classification {
		s.Classes = m.Classes()
	} else {
		s.Scale = &m.Scale
		if m.Scale.Bend > 0 {
			s.Version = 2
		}
	}
	switch m.Kind {
	case Linear:
		s.Encoding, s.Outputs = &m.Encoding.Options, m.Outputs
		w := tensor{name: "weights", shape: []int{m.Encoding.Dim, m.Outputs}, float64s: m.Weights}
		if err := os.WriteFile(filepath.Join(dir, weightsFile), safetensors(metadata, w), 0o644); err != nil {
			return err
		}
	case Additive:
		s.Encoding, s.Outputs = &m.Encoding.Options, m.Outputs
		s.Interactions, s.InteractionBins, s.Groups = m.Terms.Interactions, m.Terms.InteractionBins, m.Terms.Groups
		if err := os.WriteFile(filepath.Join(dir, weightsFile), safetensors(metadata, m.additiveTensors()...), 0o644); err != nil {
			return err
		}
	case Network:
		in := m.Net.Input()
		s.Input, s.Network, s.Outputs = &shape{in.Height, in.Width, in.Channels}, &m.Layers, m.Net.Outputs()
		if m.Encoding != nil {
			s.Encoding = &m.Encoding.Options
		}
		if m.Vocabulary != nil {
			s.UnknownToken = m.Vocabulary.Unknown
			if err := os.WriteFile(filepath.Join(dir, wordsFile), m.Vocabulary.Bytes(), 0o644); err != nil {
				return err
			}
		}
		trained := tensor{name: "parameters", shape: []int{len(m.Parameters32)}, float32s: m.Parameters32}
		frozen := tensor{name: "frozen", shape: []int{len(m.Net.Frozen())}, float32s: m.Net.Frozen()}
		if err := os.WriteFile(filepath.Join(dir, weightsFile), safetensors(metadata, trained, frozen), 0o644); err != nil {
			return err
		}
	default:
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

// ErrNewer means that a newer program wrote the model.
var ErrNewer = errors.New("a newer pawl wrote the model")

// Load reads a model written by Save. Errors name the file.
func Load(dir string) (*Model, error) {
	path := filepath.Join(dir, specFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: not found: this is not a model directory", path)
	}
	if err != nil {
		return nil, err
	}
	var s spec
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%s: not a model description: %w", path, err)
	}
	if s.Version > Format {
		return nil, fmt.Errorf("%s: %w: format version %d (this one reads 1 to %d)", path, ErrNewer, s.Version, Format)
	}
	if s.Version < 1 {
		return nil, fmt.Errorf("%s: unknown format version %d (want 1 to %d)", path, s.Version, Format)
	}
	m := &Model{Task: s.Task, Kind: s.Kind, Target: s.Target, Outputs: s.Outputs, NotPrivate: s.Claim == notPrivate, Operation: s.Operation}
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
		values, err := readTensors(dir, tensor{name: "weights", shape: []int{m.Encoding.Dim, m.Outputs}, float64s: []float64{}})
		if err != nil {
			return nil, err
		}
		m.Weights = values[0].float64s
	}
	if m.Kind == Additive {
		if err := m.loadAdditive(dir, s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if m.Kind == Network {
		if err := m.loadNetwork(dir, s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Weights belong to levels and bins in their order: under another schema they predict, and wrongly.
	if s.Names != nil && !slices.Equal(s.Names, m.names()) || s.Classes != nil && !slices.Equal(s.Classes, m.Classes()) {
		return nil, fmt.Errorf("%s: was written with another %s: its columns, categories or bounds have changed since", path, schemaFile)
	}
	return m, nil
}

// names label the rows of the weight matrix; nil for a constant and for a network that takes no columns.
func (m *Model) names() []string {
	switch {
	case m.Kind == Additive:
		return m.cellNames()
	case m.Encoding == nil:
		return nil
	case m.Kind == Network:
		return m.Encoding.Names(m.Schema)[m.Encoding.Blocks[0].Dim:]
	}
	return m.Encoding.Names(m.Schema)
}

// additiveTensors are the numbers of an additive model.
func (m *Model) additiveTensors() []tensor {
	return []tensor{
		{name: "weights", shape: []int{len(m.Counts), m.Outputs}, float64s: m.Weights},
		{name: "intercept", shape: []int{m.Outputs}, float64s: m.Intercept},
		{name: "counts", shape: []int{len(m.Counts)}, float64s: m.Counts},
	}
}

func (m *Model) loadAdditive(dir string, s spec) (err error) {
	if s.Encoding == nil {
		return errors.New("the encoding is missing")
	}
	if m.Encoding, err = encode.New(m.Schema, m.Target, *s.Encoding); err != nil {
		return err
	}
	if m.Terms, err = NewTerms(m.Schema, m.Target, m.Encoding, s.Interactions, s.InteractionBins); s.Groups != nil {
		m.Terms, err = NewGrouped(m.Schema, m.Target, m.Encoding, s.Interactions, s.Groups)
	}
	if err != nil {
		return err
	}
	n := m.Terms.cells()
	values, err := readTensors(dir,
		tensor{name: "weights", shape: []int{n, m.Outputs}, float64s: []float64{}},
		tensor{name: "intercept", shape: []int{m.Outputs}, float64s: []float64{}},
		tensor{name: "counts", shape: []int{n}, float64s: []float64{}})
	if err != nil {
		return err
	}
	m.Weights, m.Intercept, m.Counts = values[0].float64s, values[1].float64s, values[2].float64s
	return nil
}

func (m *Model) loadNetwork(dir string, s spec) (err error) {
	if s.Network == nil || s.Input == nil {
		return errors.New("the network is missing")
	}
	m.Layers = *s.Network
	if s.Encoding != nil {
		if m.Encoding, err = encode.New(m.Schema, m.Target, *s.Encoding); err != nil {
			return err
		}
	}
	if s.UnknownToken != "" {
		f, err := os.Open(filepath.Join(dir, wordsFile))
		if err != nil {
			return err
		}
		defer f.Close()
		if m.Vocabulary, err = text.ReadVocabulary(f, s.UnknownToken); err != nil {
			return fmt.Errorf("%s: %w", wordsFile, err)
		}
	}
	if m.Net, err = nn.Compile(m.Layers, s.Input.nn(), s.Outputs); err != nil {
		return err
	}
	values, err := readTensors(dir,
		tensor{name: "parameters", shape: []int{m.Net.Parameters()}, float32s: []float32{}},
		tensor{name: "frozen", shape: []int{len(m.Net.Frozen())}, float32s: []float32{}})
	if err != nil {
		return err
	}
	m.Parameters32 = values[0].float32s
	return m.Net.SetFrozen(values[1].float32s)
}

func readTensors(dir string, want ...tensor) ([]tensor, error) {
	path := filepath.Join(dir, weightsFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	got, err := parseSafetensors(b, want...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return got, nil
}
