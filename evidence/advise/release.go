package advise

import (
	"encoding/json"
	"strconv"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
)

// Release is the one Gaussian release whose noise multiplier decides, as a claim of its
// own: its events cost its epsilon.
type Release struct {
	Epsilon    float64           `json:"epsilon"` // rounded up
	Delta      float64           `json:"delta"`
	Relation   string            `json:"relation"`
	Unit       string            `json:"unit"`
	Accountant string            `json:"accountant"`
	Events     []json.RawMessage `json:"events"`
}

// release is nil at delta 0, where no Gaussian release has a cost.
func (q *Question) release() *Release {
	if !(q.NoiseMultiplier > 0) || !(q.Delta > 0) {
		return nil
	}
	stated := dp.Stated{Event: dp.Gaussian{NoiseMultiplier: q.NoiseMultiplier}, Relation: dp.AddOrRemoveOne, Unit: "unit"}
	price, err := accountant.Epsilon(stated.Event, stated.Relation, q.Delta, accountant.MethodMin)
	if err != nil {
		return nil
	}
	event, err := stated.Encode()
	if err != nil {
		return nil
	}
	shown, err := strconv.ParseFloat(meaning.RoundUp(price.Epsilon, 6), 64)
	if err != nil {
		return nil
	}
	return &Release{Epsilon: shown, Delta: q.Delta, Relation: stated.Relation.String(), Unit: stated.Unit, Accountant: string(price.Method), Events: []json.RawMessage{event}}
}
