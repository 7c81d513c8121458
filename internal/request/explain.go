package request

import "pawl/model"

// Explained is what pawl explain --json prints.
type Explained struct {
	Version    int    `json:"version"`
	Command    string `json:"command"`
	NotPrivate bool   `json:"not_private"`
	Target     string `json:"target"`
	Rows       string `json:"rows"`
	*model.Effects
}

// Explain computes the effects of a model's columns, of which no row is read.
func Explain(m *model.Model) (*Explained, error) {
	e, err := m.Explain()
	if err != nil {
		return nil, err
	}
	return &Explained{1, "explain", m.NotPrivate, m.Target, "drawn from the schema", e}, nil
}
