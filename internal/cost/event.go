// Package cost says what an event costs, with every valid bound, what it means to the people in
// the data, and which noise, steps or sampling rate meets a target.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/internal/usage"
)

// MostSteps keeps every count exact in a float64.
const MostSteps = 1 << 53

// Training is one DP-SGD run by its public facts. Zero stands for what is not known.
type Training struct {
	Sampling        string  `json:"sampling"`
	SamplingRate    float64 `json:"sampling_rate"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Steps           int64   `json:"steps"`
	Rows            int64   `json:"rows,omitempty"`
	Batch           int64   `json:"expected_batch_size,omitempty"`
	Epochs          float64 `json:"epochs,omitempty"`
	// Clip is the clipping norm, 0 where it is not known: it decides no price.
	Clip float64 `json:"-"`
}

// Event is the training under add_or_remove_one.
func (t Training) Event() dp.Event {
	return dp.Repeat{Count: t.Steps, Event: dp.PoissonSampled{Rate: t.SamplingRate, Event: dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier}}}
}

// Passes is the number of whole Passes over the data that the steps make at most.
func (t Training) Passes() float64 {
	if t.Epochs > 0 {
		return math.Ceil(t.Epochs)
	}
	// The rate may be a rounded fraction: 300000 steps at 1/600 are 500 Passes.
	return math.Ceil(float64(t.Steps)*t.SamplingRate - 1e-9*float64(t.Steps)*t.SamplingRate)
}

// Notes are what the operator should know about the numbers given.
func (t Training) Notes(delta float64) []string {
	var out []string
	if t.Clip > 0 {
		out = append(out, fmt.Sprintf("--clipping-norm does not change epsilon. --noise-multiplier is the standard deviation of the noise divided by the clipping norm: "+
			"if %s is a standard deviation, pass %s", short(t.NoiseMultiplier), short(t.NoiseMultiplier/t.Clip)))
	}
	if t.Rows > 0 && delta >= 1/float64(t.Rows) {
		out = append(out, fmt.Sprintf("delta %s is not below 1/rows: a mechanism that publishes a whole row would satisfy it", short(delta)))
	}
	return out
}

// Shortest is the decimal that was typed, or one that reads back as the same number.
func Shortest(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	return r
}

// CeilSteps is the number of updates in so many epochs, in exact arithmetic:
// 30/0.02 in floating point is more than 1500.
func CeilSteps(epochs float64, rate *big.Rat) (int64, error) {
	q := new(big.Rat).Quo(Shortest(epochs), rate)
	n := new(big.Int).Add(q.Num(), q.Denom())
	n.Sub(n, big.NewInt(1)).Quo(n, q.Denom())
	if !n.IsInt64() || n.Int64() > MostSteps {
		return 0, usage.New("--epochs: more than 2^53 steps", "")
	}
	return n.Int64(), nil
}

// short writes a number for a person, six digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// MaxDocument bounds a file that holds events among other things.
const MaxDocument = 16 << 20

// UnknownError is an event of a kind or version that this program does not
// know. What is not understood has no known cost, so a privacy check has failed.
type UnknownError struct{ error }

// Hint says how to go on.
func (UnknownError) Hint() string {
	return "pawl makes no claim about an unknown event: write it like those in examples/events, or use a newer version of pawl"
}

// ExitStatus is 4: a privacy check failed.
func (UnknownError) ExitStatus() int { return 4 }

// Unwrap returns what is wrong with the event.
func (e UnknownError) Unwrap() error { return e.error }

// notUnderstood matches what the event reader says about a kind or version that it
// does not know, before any text of the file.
var notUnderstood = regexp.MustCompile(`^invalid event: (event|runs): (unknown (kind|version) |field "version")`)

// DecodeEvent reads one event with what it says about itself.
func DecodeEvent(name string, text []byte) (dp.Stated, error) {
	s, err := dp.DecodeStated(text)
	switch {
	case err == nil:
		return s, nil
	case notUnderstood.MatchString(err.Error()):
		return s, UnknownError{fmt.Errorf("%s: %w", name, err)}
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
	Entries  []entry           `json:"entries"` // of pawl ledger show
	Total    struct {
		Delta json.RawMessage `json:"delta"`
	} `json:"total"`
}

// entry is what a ledger charged.
type entry struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Event      json.RawMessage `json:"event"`
	Assignment string          `json:"assignment"`
	NotPrivate bool            `json:"not_private"`
}

// Decode reads an event, a list of events, or anything that pawl printed as JSON
// about a claim: a statement, an answer, or its "privacy", or the account of a data set. delta
// is that of the claim, "" where the file has none.
func Decode(name string, text []byte) (plan dp.Stated, delta string, err error) {
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
	_, hasEntries := object["entries"]
	switch {
	case isEvent || list == nil && !hasPrivacy && !hasEvents && !hasEntries:
		plan, err = DecodeEvent(name, text)
		return plan, "", err
	case list != nil:
		plan, err = together(name, list)
		return plan, "", err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return plan, "", usage.New(fmt.Sprintf("%s: relation, unit or events have an unknown form", name), "")
	}
	if d.Privacy != nil {
		d = *d.Privacy
	} else if hasEntries {
		if d.Events, err = charged(name, d.Entries, d.Relation); err != nil {
			return plan, "", err
		}
		d.Delta = d.Total.Delta
	}
	if d.Events == nil {
		return plan, "", usage.New(fmt.Sprintf("%s: there is no list of events", name), "give an event, a list of events, or a privacy claim printed by pawl")
	}
	if plan, err = together(name, d.Events); err != nil {
		return plan, "", err
	}
	if plan.Relation == 0 {
		plan.Relation = d.Relation
	}
	if d.Relation != 0 && plan.Relation != d.Relation {
		return plan, "", usage.New(fmt.Sprintf("%s: the events are stated under %v, the claim under %v", name, plan.Relation, d.Relation), "")
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

// charged lists the events of entries. Scopes of different assignments of units do not fit together:
// a unit has a place in each.
func charged(name string, entries []entry, rel dp.Relation) ([]json.RawMessage, error) {
	events := []json.RawMessage{}
	var scoped *entry
	for _, e := range entries {
		if e.State == "cancelled" {
			continue
		}
		s, err := DecodeEvent(name+", entry "+e.ID, e.Event)
		switch {
		case err != nil:
			return nil, err
		case e.NotPrivate:
			return nil, usage.Newf("its noise can be computed: no epsilon holds for what it released", "%s: the noise of entry %s was seeded", name, e.ID)
		case rel == dp.ReplaceOne || len(dp.Breakpoints(s.Event)) == 1:
		case scoped != nil && (scoped.Assignment == "" || scoped.Assignment != e.Assignment):
			return nil, usage.Newf("take the statements of the jobs one by one, or epsilon from pawl ledger show", "%s: entries %s and %s divide the units differently", name, scoped.ID, e.ID)
		default:
			scoped = &e
		}
		events = append(events, e.Event)
	}
	return events, nil
}

// OfJob reports whether a text is of jobs: a statement, a plan, or the account of a data set.
func OfJob(text []byte) bool {
	var object struct{ Privacy, Command, Entries json.RawMessage }
	return json.Unmarshal(text, &object) == nil && (object.Privacy != nil && object.Command != nil || object.Entries != nil)
}

// Seeded reports whether a statement says that its noise was seeded.
func Seeded(text []byte) bool {
	var object struct {
		NotPrivate bool `json:"not_private"`
	}
	return json.Unmarshal(text, &object) == nil && object.NotPrivate
}

// together composes events that are stated for the same promise.
func together(name string, list []json.RawMessage) (dp.Stated, error) {
	var all dp.Stated
	var events []dp.Event
	for i, raw := range list {
		s, err := DecodeEvent(fmt.Sprintf("%s, event %d", name, i+1), raw)
		if err != nil {
			return all, err
		}
		if i > 0 && (s.Relation != all.Relation || s.Unit != all.Unit || s.Group != all.Group) {
			return all, usage.New(fmt.Sprintf("%s: event %d has another relation, unit or group size than the first", name, i+1), "compose only events with the same relation and unit")
		}
		all = s
		events = append(events, s.Event)
	}
	if len(events) != 1 {
		all.Event = dp.Compose{Events: events}
	}
	return all, nil
}

// OfStated prices what a file states.
func OfStated(s dp.Stated, rel dp.Relation, m accountant.Method) Plan {
	c := Of(s.Event, rel, m)
	if s.Unit != "" {
		c.Unit = s.Unit
	}
	if s.Group > 1 {
		c = Group(c, Of(s.Event, rel, accountant.MethodRDP), s.Group)
	}
	return c
}

// relationAdvice turns a missing theorem into a usage error.
func relationAdvice(err error) error {
	if !errors.Is(err, accountant.ErrRelation) {
		return err
	}
	return usage.New(err.Error(), "name the event's relation with --relation")
}
