package zoo

import (
	"pawl/compute/nn"

	"github.com/goccy/go-yaml"
)

// Encode writes s as a file that Decode reads back.
func Encode(s Spec) ([]byte, error) {
	d := document{Version: Version, Name: s.Name, Title: s.Title, Source: s.Source, Note: s.Note, Outputs: s.Outputs,
		Loss: s.Network.Loss.Kind, HuberThreshold: s.Network.Loss.Threshold, Layers: s.Network.Layers,
		Parameters: s.Parameters, Trainable: s.Trainable, Defaults: fileDefaults(s.Defaults)}
	if s.Input != (nn.Shape{}) {
		d.Input = shape{s.Input.Height, s.Input.Width, s.Input.Channels}
	}
	return yaml.Marshal(d)
}
