package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// maxDocument bounds a file that holds events among other things.
const maxDocument = 16 << 20

// readEventFile reads a file or stdin, no more than a document may have.
func (a *app) readEventFile(path string) (text []byte, name string, err error) {
	in, name := io.Reader(a.in), "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, path, err
		}
		defer f.Close()
		in, name = f, path
	}
	text, err = io.ReadAll(io.LimitReader(in, maxDocument+1))
	return text, name, err
}

// unknownEventError is an event of a kind or version that this program does not
// know. What is not understood has no known cost, so a privacy check has failed.
type unknownEventError struct{ error }

func (unknownEventError) Hint() string {
	return "pawl makes no claim about an event that it does not fully understand: write it like those in examples/events, or use a newer pawl"
}

func (e unknownEventError) Unwrap() error { return e.error }

// notUnderstood matches what the event reader says about a kind or version that it
// does not know, before any text of the file.
var notUnderstood = regexp.MustCompile(`^invalid event: (event|runs): (unknown (kind|version) |field "version")`)

// decodeStated reads one event with what it says about itself.
func decodeStated(name string, text []byte) (dp.Stated, error) {
	s, err := dp.DecodeStated(text)
	switch {
	case err == nil:
		return s, nil
	case notUnderstood.MatchString(err.Error()):
		return s, unknownEventError{fmt.Errorf("%s: %w", name, err)}
	}
	return s, fmt.Errorf("%s: %w", name, err)
}

// document is what pawl prints about a claim: its events with what they are for.
type document struct {
	Privacy  *document         `json:"privacy"` // of a statement, or of an answer
	Relation dp.Relation       `json:"relation"`
	Unit     string            `json:"unit"`
	Delta    json.RawMessage   `json:"delta"`
	Events   []json.RawMessage `json:"events"`
}

// decodePlan reads an event, a list of events, or anything that pawl printed as JSON
// about a claim: a statement, an answer, or its "privacy". delta is that of the claim,
// "" where the file has none.
func decodePlan(name string, text []byte) (plan dp.Stated, delta string, err error) {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	_, isEvent := object["kind"]
	if json.Unmarshal(text, &object) == nil {
		_, isEvent = object["kind"]
	} else if json.Unmarshal(text, &list) != nil {
		isEvent = true // whatever it is, the reader of events says what is wrong
	}
	_, hasPrivacy := object["privacy"]
	_, hasEvents := object["events"]
	switch {
	case isEvent || list == nil && !hasPrivacy && !hasEvents:
		plan, err = decodeStated(name, text)
		return plan, "", err
	case list != nil:
		plan, err = together(name, list)
		return plan, "", err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return plan, "", &usageError{fmt.Sprintf("%s: relation, unit or events have an unknown form", name), ""}
	}
	if d.Privacy != nil {
		d = *d.Privacy
	}
	if d.Events == nil {
		return plan, "", &usageError{fmt.Sprintf("%s: there is no list of events", name), "give an event, a list of events, or a privacy claim printed by pawl"}
	}
	if plan, err = together(name, d.Events); err != nil {
		return plan, "", err
	}
	if plan.Relation == 0 {
		plan.Relation = d.Relation
	}
	if d.Relation != 0 && plan.Relation != d.Relation {
		return plan, "", &usageError{fmt.Sprintf("%s: the events are stated under %v, the claim under %v", name, plan.Relation, d.Relation), ""}
	}
	if plan.Unit == "" {
		plan.Unit = d.Unit
	}
	var number json.Number
	if json.Unmarshal(d.Delta, &number) == nil {
		delta = number.String()
	}
	return plan, delta, nil
}

// together composes events that are stated for the same promise.
func together(name string, list []json.RawMessage) (dp.Stated, error) {
	var all dp.Stated
	var events []dp.Event
	for i, raw := range list {
		s, err := decodeStated(fmt.Sprintf("%s, event %d", name, i+1), raw)
		if err != nil {
			return all, err
		}
		if i > 0 && (s.Relation != all.Relation || s.Unit != all.Unit || s.Group != all.Group) {
			return all, &usageError{fmt.Sprintf("%s: event %d has another relation, unit or group size than the first", name, i+1), "compose only events with the same relation and unit"}
		}
		all = s
		events = append(events, s.Event)
	}
	if len(events) != 1 {
		all.Event = dp.Compose{Events: events}
	}
	return all, nil
}

// under is the relation of a file and of --relation. Numbers that were taken for one
// relation mean nothing under another.
func (f *howFlags) under(c *cobra.Command, name string, stated, asked dp.Relation) (dp.Relation, error) {
	switch {
	case stated == 0:
		return asked, nil
	case c.Flags().Changed("relation") && asked != stated:
		return 0, &usageError{fmt.Sprintf("%s: its events are stated under %v, not under %v", name, stated, asked),
			"noise multipliers depend on the relation through the sensitivity: restate them, or leave out --relation"}
	}
	return stated, nil
}

// statedCost prices what a file states.
func statedCost(s dp.Stated, rel dp.Relation, m accountant.Method) cost {
	c := costOf(s.Event, rel, m)
	if s.Unit != "" {
		c.unit = s.Unit
	}
	if s.Group > 1 {
		c = groupCost(c, costOf(s.Event, rel, accountant.MethodRDP), s.Group)
	}
	return c
}

// relationAdvice turns a missing theorem into a usage error.
func relationAdvice(err error) error {
	if !errors.Is(err, accountant.ErrRelation) {
		return err
	}
	return &usageError{err.Error(), "name the event's relation with --relation"}
}
