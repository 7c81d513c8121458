package pawl

import (
	"cmp"
	"encoding/json"
	"io"

	"pawl/core/dp"
	"pawl/internal/cost"
	"pawl/internal/usage"
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
	// call it by Name; "" is event.
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
	// Sensitivity is that of a release, L2 for Gaussian and L1 for Laplace noise. If it is not 0, the
	// answer includes the standard deviation of the noise.
	Sensitivity float64
	// Epsilon and Delta are the target. Delta "" is 0 if the noise can meet pure epsilon.
	Epsilon, Delta       string
	Relation, Accountant string
}

// Answer is a proven upper bound on the cost, with its meaning.
type Answer struct {
	// Epsilon and Delta hold together. An Epsilon of +Inf is no privacy.
	Epsilon, Delta float64
	// Lower is a lower bound on the exact epsilon, 0 if none is known.
	Lower float64
	// Method is the one with the smallest bound. Bounds holds all valid bounds on epsilon, by method.
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
func (a *Answer) WriteJSON(w io.Writer) error {
	text, err := a.answer.JSON()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// MarshalJSON returns the object that pawl account --json prints, with events and trade-off curve.
func (a *Answer) MarshalJSON() ([]byte, error) { return a.answer.JSON() }

func (t *DPSGD) facts(noise bool) cost.Facts {
	return cost.Facts{Rate: t.SamplingRate, Noise: t.NoiseMultiplier, Epochs: t.Epochs, Rows: t.Rows, Batch: t.Batch, Steps: t.Steps, Clip: t.ClippingNorm, NoNoise: noise}
}

// Answer computes the cost and charges nothing.
//
// Errors: [ErrUsage] for numbers out of range. An unknown event has no known cost: its error has exit
// status 4.
func (a Account) Answer() (*Answer, error) {
	ans, err := a.answer()
	return answerOf(ans, err)
}

func (a Account) answer() (*cost.Answer, error) {
	how, err := cost.ParseHow(a.Accountant, a.Relation)
	if err != nil {
		return nil, err
	}
	if (a.DPSGD == nil) == (a.Event == nil) {
		return nil, usage.New("an account is of a training or of an event", "give one of DPSGD and Event")
	}
	if a.DPSGD != nil {
		t, missing, err := a.DPSGD.facts(true).Training()
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			return nil, usage.Newf("give sampling rate, noise multiplier and steps", "missing --%s", missing[0])
		}
		ans, err := cost.Ask(cost.OfTraining(t, how.Relation, how.Method), a.Delta, a.Epsilon, false)
		if err == nil {
			ans.Of(t)
		}
		return ans, err
	}
	stated, delta, err := a.stated(&how)
	if err != nil {
		return nil, err
	}
	plan := cost.OfStated(stated, how.Relation, how.Method)
	if cost.OfJob(a.Event) {
		plan = cost.Unattained(plan)
	}
	return cost.Ask(plan, delta, a.Epsilon, true)
}

// stated is what Event states, and at which delta; it completes the relation.
func (a Account) stated(how *cost.How) (dp.Stated, string, error) {
	s, delta, err := cost.Decode(eventName(a.Name), a.Event)
	if err != nil {
		return s, "", err
	}
	if how.Relation, err = how.Under(eventName(a.Name), s.Relation); err != nil {
		return s, "", err
	}
	if a.Delta != "" || a.Epsilon != "" {
		delta = a.Delta
	}
	return s, delta, nil
}

// DPAccounting holds the events of an account in the terms of dp_accounting, Google's library
// in Python, for a second opinion.
type DPAccounting struct{ export *cost.DPAccounting }

// DPAccounting translates Event at Delta; Accountant and Epsilon are not used.
//
// Errors: [ErrUsage] for an event that the library has no equivalent of, and for a release with seeded noise,
// which no epsilon bounds.
func (a Account) DPAccounting() (*DPAccounting, error) {
	d, err := a.dpAccounting()
	if err != nil {
		return nil, fail(err)
	}
	return &DPAccounting{d}, nil
}

func (a Account) dpAccounting() (*cost.DPAccounting, error) {
	how, err := cost.ParseHow(a.Accountant, a.Relation)
	if err != nil {
		return nil, err
	}
	if a.Event == nil || a.DPSGD != nil {
		return nil, usage.New("only events can be exported", "give Event")
	}
	stated, text, err := a.stated(&how)
	switch {
	case err != nil:
		return nil, err
	case cost.Seeded(a.Event):
		return nil, usage.Newf("its noise can be computed: no epsilon holds for what it released", "%s: the statement is NOT PRIVATE", eventName(a.Name))
	case text == "":
		return nil, usage.New("missing --delta", "example: --delta 1e-5")
	}
	delta, err := cost.ParseDelta(text, true)
	if err != nil {
		return nil, err
	}
	return cost.ToDPAccounting(eventName(a.Name), stated, how.Relation, delta)
}

// WritePython writes a program that prints epsilon by the accountants of dp_accounting.
func (d *DPAccounting) WritePython(w io.Writer) error {
	_, err := w.Write(d.export.Python())
	return err
}

// MarshalJSON returns relation, unit, delta and the events by the names of their classes and arguments.
func (d *DPAccounting) MarshalJSON() ([]byte, error) { return json.Marshal(d.export) }

// Answer finds the open number and prices it as rounded.
//
// Errors: [ErrUsage] for numbers out of range and a target that no value of the number meets.
func (c Calibrate) Answer() (*Answer, error) {
	ans, err := c.answer()
	return answerOf(ans, err)
}

func (c Calibrate) answer() (*cost.Answer, error) {
	how, err := cost.ParseHow(c.Accountant, c.Relation)
	if err != nil {
		return nil, err
	}
	target, err := cost.ParseTarget(c.Epsilon, c.Delta, c.DPSGD == nil && c.Release != "gaussian")
	switch {
	case err != nil:
		return nil, err
	case c.DPSGD != nil && c.Event == nil && c.Release == "":
		t, missing, err := c.DPSGD.facts(false).Training()
		if err != nil {
			return nil, err
		}
		return cost.CalibrateTraining(t, missing, target, how)
	case c.Event != nil && c.DPSGD == nil && c.Release == "":
		return cost.CalibrateEvent(eventName(c.Name), c.Event, target, how)
	case c.Release != "" && c.DPSGD == nil && c.Event == nil && c.Count < 0:
		return nil, usage.Newf("leave it out for one release", "a count of %d releases", c.Count)
	case c.Release != "" && c.DPSGD == nil && c.Event == nil:
		return cost.CalibrateRelease(c.Release, max(c.Count, 1), c.Sensitivity, target, how)
	}
	return nil, usage.New("a calibration is of a training, of an event or of a release", "give one of DPSGD, Event and Release")
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

func eventName(name string) string { return cmp.Or(name, "event") }
