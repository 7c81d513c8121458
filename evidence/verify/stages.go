package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/model"
	"pawl/report"
	"pawl/workflow"
)

// stages compares the stages of a statement with those that the ledger charged: by their names, and by their costs, each
// alone. The charged events stand in the order of the stages, but no record says which of them are whose. Each
// stage takes as many as it may by its scope and its stated epsilon, which leaves the fewest to the later ones: if any
// remain, no division of them costs as little as stated.
func stages(p *report.Privacy, charged []string, event dp.Event, rel dp.Relation, unprotected bool) error {
	names := make([]string, 0, len(p.ByStage))
	for name := range p.ByStage {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return p.ByStage[names[i]].Order < p.ByStage[names[j]].Order })
	if !slices.Equal(names, charged) {
		return refuted("the statement has the stages %v, and the ledger charged %v", names, charged)
	}
	if unprotected {
		return nil
	}
	left := []dp.Event{event}
	if all, ok := event.(dp.Compose); ok {
		left = all.Events
	}
	for _, name := range names {
		stage := p.ByStage[name]
		most := slices.IndexFunc(left, func(e dp.Event) bool { return !within(e, stage.Scope) })
		if most < 0 {
			most = len(left)
		}
		var fault error
		// A stage costs the more, the more events it has.
		took := sort.Search(most, func(n int) bool {
			alone, err := accountant.Upper(dp.Compose{Events: left[:n+1]}, rel, float64(p.Delta), accountant.MethodMin)
			if err != nil {
				fault = err
			}
			return err != nil || alone.Epsilon > float64(stage.Epsilon)*(1+1e-9)
		})
		if fault != nil {
			return fault
		}
		left = left[took:]
	}
	if len(left) > 0 {
		return refuted("the stages of the statement claim less than the charged events cost, each stage alone")
	}
	return nil
}

// within reports whether an event uses units of the scope alone that a statement writes, rounded, for a stage.
func within(e dp.Event, scope string) bool {
	var lower, upper float64
	if n, err := fmt.Sscanf(scope, "[%g, %g)", &lower, &upper); n != 2 || err != nil {
		return false // "no sensitive row"
	}
	at := dp.WholeScope
	if part, ok := e.(dp.Scoped); ok {
		at = part.Scope
	}
	const rounding = 1e-4
	return at.Lower >= lower-rounding && at.Upper <= upper+rounding
}

// agree compares what travels with the model, its card and its description, with the statement.
func agree(s *report.Statement, texts map[string][]byte) error {
	if card := texts[workflow.CardFile]; card != nil && !report.CardAgrees(card, s) {
		return refuted("%s disagrees with the statement about the guarantee or the score", workflow.CardFile)
	}
	spec := texts[modelSpec]
	if spec == nil {
		return nil
	}
	claimed, unprotected, err := model.Claim(spec)
	if err != nil {
		return refuted("%s: %v", modelSpec, err)
	}
	var p report.Privacy
	if err := json.Unmarshal(claimed, &p); claimed != nil && (err != nil || !bytes.Equal(plain(p), plain(s.Privacy))) || unprotected != s.NotPrivate {
		return refuted("%s disagrees with the statement about the guarantee", modelSpec)
	}
	return nil
}

// plain writes a claim without the freedoms of JSON: an empty list is null, and no event has blanks.
func plain(p report.Privacy) []byte {
	if len(p.NotCovered) == 0 {
		p.NotCovered = nil
	}
	text, _ := json.Marshal(p) // it was read from JSON
	return text
}
