package pawl

import (
	"encoding/json"
	"io"

	"pawl/internal/cost"
)

// DPSGD is one training run by DP-SGD, or by any optimizer that uses only its noisy sums,
// with Poisson sampling: each row joins each step's batch independently.
type DPSGD struct {
	// SamplingRate, in (0, 1], is the probability that a row joins a batch. Alternatively give Batch,
	// the expected batch size, and Rows.
	SamplingRate float64
	Rows, Batch  int64
	// NoiseMultiplier is the standard deviation of the noise divided by the clipping norm. 0 is no
	// noise, at epsilon +Inf; for Calibrate it may be the number to find.
	NoiseMultiplier float64
	// Steps is the number of noisy updates. Alternatively give Epochs, for ceil(Epochs/SamplingRate) steps.
	Steps  int64
	Epochs float64
	// ClippingNorm does not change the cost; if it is given, a warning says so.
	ClippingNorm float64
}

// Account computes the cost of a training run or an event. Give exactly one of DPSGD and Event, and
// Delta or Epsilon or both.
type Account struct {
	DPSGD *DPSGD
	// Event is JSON: an event, a list of events, or anything that pawl printed about a claim. Errors
	// refer to it by Name; "" means "event".
	Event []byte
	Name  string
	// Delta, a decimal in [0, 1), requests epsilon at that delta; "0" is pure epsilon. Epsilon
	// requests delta at that epsilon.
	Delta, Epsilon string
	// Relation is "add_or_remove_one" (the default), "replace_one" or "zero_out". It must not
	// contradict the relation that an Event states. Accountant is as in Budget.
	Relation, Accountant string
}

// Calibrate computes the one number left open so that the cost comes as close to the target as
// possible without exceeding it: noise is rounded up, everything else down, to six digits.
type Calibrate struct {
	// Give one of the three. DPSGD has exactly one of NoiseMultiplier, Steps and SamplingRate at 0. Event has
	// "?" in place of one number. Release is "gaussian" or "laplace", for Count releases
	// (0 for one) with that noise.
	DPSGD   *DPSGD
	Event   []byte
	Name    string // as in Account
	Release string
	Count   int64
	// Sensitivity is the sensitivity of a release, L2 for Gaussian and L1 for Laplace noise. If it is
	// not 0, the answer includes the standard deviation of the noise.
	Sensitivity float64
	// Epsilon and Delta are the target. Delta "" is 0 if the noise can meet pure epsilon.
	Epsilon, Delta       string
	Relation, Accountant string
}

// Answer is a proven upper bound on the cost, with its meaning.
type Answer struct {
	// Epsilon and Delta hold together. An Epsilon of +Inf means no privacy.
	Epsilon, Delta float64
	// Lower is a lower bound on the exact epsilon, 0 if none is known.
	Lower float64
	// Method is the method of the smallest bound. Bounds holds all valid bounds on epsilon, by method.
	Method string
	Bounds map[string]float64
	// Free names the number that Calibrate found; Value is its value.
	Free  string
	Value float64
	// Posterior is the highest probability, after the release, that an attacker with even odds before it
	// can assign to a person's presence in the data.
	Posterior float64
	// Warnings are for the operator.
	Warnings []string

	answer *cost.Answer
}

// WriteText writes the answer for a person.
func (a *Answer) WriteText(w io.Writer) error { return a.answer.WriteText(w) }

// WriteJSON writes the object of MarshalJSON.
func (a *Answer) WriteJSON(w io.Writer) error { return a.answer.WriteJSON(w) }

// MarshalJSON returns the object that pawl account --json prints, with events and trade-off curve.
func (a *Answer) MarshalJSON() ([]byte, error) { return a.answer.JSON() }

// Answer computes the cost and charges nothing.
//
// Errors: [ErrUsage] for numbers out of range. An unknown event has no known cost: its error has exit
// status 4.
func (a Account) Answer() (*Answer, error) { return answerOf(a.asked().Answer()) }

func (a Account) asked() cost.Account {
	return cost.Account{DPSGD: (*cost.Facts)(a.DPSGD), Event: a.Event, Name: a.Name, Delta: a.Delta, Epsilon: a.Epsilon, Relation: a.Relation, Accountant: a.Accountant}
}

// DPAccounting holds the events of an account in the terms of dp_accounting, Google's library
// in Python, for a second opinion.
type DPAccounting struct{ export *cost.DPAccounting }

// DPAccounting translates Event at Delta; Accountant and Epsilon are not used.
//
// Errors: [ErrUsage] for an event without an equivalent in the library, and for a release with seeded noise,
// which no epsilon bounds.
func (a Account) DPAccounting() (*DPAccounting, error) {
	d, err := a.asked().DPAccounting()
	return handle(&DPAccounting{d}, err)
}

// WritePython writes a program that prints epsilon by the accountants of dp_accounting.
func (d *DPAccounting) WritePython(w io.Writer) error { return d.export.WritePython(w) }

// MarshalJSON returns relation, unit, delta and the events by the names of their classes and arguments.
func (d *DPAccounting) MarshalJSON() ([]byte, error) { return json.Marshal(d.export) }

// Answer finds the open number and prices it as rounded.
//
// Errors: [ErrUsage] for numbers out of range and a target that no value of the number meets.
func (c Calibrate) Answer() (*Answer, error) {
	return answerOf(cost.Calibrate{DPSGD: (*cost.Facts)(c.DPSGD), Event: c.Event, Name: c.Name, Release: c.Release, Count: c.Count, Sensitivity: c.Sensitivity,
		Epsilon: c.Epsilon, Delta: c.Delta, Relation: c.Relation, Accountant: c.Accountant}.Answer())
}

func answerOf(a *cost.Answer, err error) (*Answer, error) {
	if err != nil {
		return nil, fail(err)
	}
	p := a.Privacy
	out := &Answer{Epsilon: float64(p.Epsilon), Delta: float64(p.Delta), Method: p.Accountant, Bounds: map[string]float64{}, Free: a.Free,
		Posterior: float64(a.PosteriorAtHalf), Warnings: a.Warnings, answer: a}
	for name, v := range p.EpsilonBounds {
		out.Bounds[name] = float64(v)
	}
	if p.EpsilonLower != nil {
		out.Lower = float64(*p.EpsilonLower)
	}
	if a.Value != nil {
		out.Value = float64(*a.Value)
	}
	return out, nil
}
