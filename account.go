package pawl

import (
	"cmp"
	"io"

	"pawl/internal/cost"
	"pawl/internal/usage"
)

// DPSGD is one training by DP-SGD, or by any optimizer that sees nothing but its noisy sums,
// under Poisson sampling: every row joins the lot of every step on its own.
type DPSGD struct {
	// SamplingRate is the chance of a row to join a lot, in (0, 1]; in its place Batch, the
	// expected lot, with Rows.
	SamplingRate float64
	Rows, Batch  int64
	// NoiseMultiplier is the standard deviation of the noise over the clipping norm; 0 is no
	// noise, at epsilon +Inf, or the number that Calibrate finds.
	NoiseMultiplier float64
	// Steps is the number of noisy updates; in its place Epochs, ceil(Epochs/SamplingRate) steps.
	Steps  int64
	Epochs float64
	// ClippingNorm has no effect on the cost; with it a warning says so.
	ClippingNorm float64
}

// Account asks what a training or an event costs. Exactly one of DPSGD and Event is given, and
// Delta or Epsilon or both.
type Account struct {
	DPSGD *DPSGD
	// Event is JSON: an event, a list of events, or anything that pawl printed about a claim. Name
	// is what errors call it, "" for event.
	Event []byte
	Name  string
	// Delta asks for epsilon at that delta: a decimal in [0, 1), "0" for pure epsilon only. Epsilon
	// asks for delta at that epsilon.
	Delta, Epsilon string
	// Relation is "add_or_remove_one" (the default), "replace_one" or "zero_out"; an Event that
	// states its own must not be contradicted. Accountant is as in Budget.
	Relation, Accountant string
}

// Calibrate asks for the one number that was left open, such that the target is used up and
// never exceeded: noise is rounded up, everything else down, to six digits.
type Calibrate struct {
	// DPSGD leaves exactly one of NoiseMultiplier, Steps and the sampling rate at 0. Event has
	// the text "?" in place of one number. Release is "gaussian" or "laplace": Count releases
	// (0 for one) of that noise. One of the three is given.
	DPSGD   *DPSGD
	Event   []byte
	Name    string // as in Account
	Release string
	Count   int64
	// Sensitivity of a release, L2 for Gaussian and L1 for Laplace noise, adds the standard
	// deviation of the noise to the answer; 0 for none.
	Sensitivity float64
	// Epsilon and Delta are the target; Delta "" is 0 where pure epsilon can be met.
	Epsilon, Delta       string
	Relation, Accountant string
}

// Answer is an upper bound with a proof, with what it means.
type Answer struct {
	// Epsilon and Delta hold together; +Inf is no privacy.
	Epsilon, Delta float64
	// Lower is a lower bound on the exact epsilon, 0 where none is known.
	Lower float64
	// Method found the smallest bound; Bounds are all valid ones on epsilon by method.
	Method string
	Bounds map[string]float64
	// Free names the number that Calibrate found, and Value is it.
	Free  string
	Value float64
	// Posterior is the most that an attacker believes afterwards who gave even odds.
	Posterior float64
	// Warnings say what an operator should know.
	Warnings []string

	answer *cost.Answer
}

// WriteText writes the answer for a person.
func (a *Answer) WriteText(w io.Writer) error { return a.answer.WriteText(w) }

// WriteJSON writes one object, the same as MarshalJSON gives.
func (a *Answer) WriteJSON(w io.Writer) error {
	text, err := a.answer.JSON()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// MarshalJSON writes it as pawl account --json does, with the events and the trade-off curve.
func (a *Answer) MarshalJSON() ([]byte, error) { return a.answer.JSON() }

func (t *DPSGD) facts(noise bool) cost.Facts {
	return cost.Facts{Rate: t.SamplingRate, Noise: t.NoiseMultiplier, Epochs: t.Epochs, Rows: t.Rows, Batch: t.Batch, Steps: t.Steps, Clip: t.ClippingNorm, NoNoise: noise}
}

// Answer computes the cost. Nothing is booked.
//
// Errors: [ErrUsage] for numbers out of range; an event that is not understood has no known
// cost and exit status 4.
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
	stated, delta, err := cost.Decode(eventName(a.Name), a.Event)
	if err != nil {
		return nil, err
	}
	if how.Relation, err = how.Under(eventName(a.Name), stated.Relation); err != nil {
		return nil, err
	}
	if a.Delta != "" || a.Epsilon != "" {
		delta = a.Delta
	}
	plan := cost.OfStated(stated, how.Relation, how.Method)
	if cost.OfJob(a.Event) {
		plan = cost.Unattained(plan)
	}
	return cost.Ask(plan, delta, a.Epsilon, true)
}

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
