package cost

import (
	"cmp"

	"pawl/core/dp"
	"pawl/internal/usage"
)

// Account asks what a training or an event costs: one of DPSGD and Event, at Delta or Epsilon or both.
type Account struct {
	DPSGD *Facts
	// Event is JSON, which errors call by Name.
	Event                                []byte
	Name                                 string
	Delta, Epsilon, Relation, Accountant string
}

// Calibrate asks for the one number left open at which a training, an event or Count releases meet a target.
type Calibrate struct {
	DPSGD                                *Facts
	Event                                []byte
	Name, Release                        string
	Count                                int64
	Sensitivity                          float64
	Epsilon, Delta, Relation, Accountant string
}

// Answer computes the
func (a Account) Answer() (*Answer, error) {
	how, err := ParseHow(a.Accountant, a.Relation)
	if err != nil {
		return nil, err
	}
	if (a.DPSGD == nil) == (a.Event == nil) {
		return nil, usage.New("an account is for either a training run or an event", "give one of DPSGD and Event")
	}
	if a.DPSGD != nil {
		t, missing, err := a.DPSGD.Training(true)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			return nil, usage.Newf("give sampling rate, noise multiplier and steps", "missing --%s", missing[0])
		}
		ans, err := Ask(OfTraining(t, how.Relation, how.Method), a.Delta, a.Epsilon, false)
		if err == nil {
			ans.Of(t)
		}
		return ans, err
	}
	stated, delta, err := a.stated(&how)
	if err != nil {
		return nil, err
	}
	plan := OfStated(stated, how.Relation, how.Method)
	if OfJob(a.Event) {
		plan = Unattained(plan)
	}
	return Ask(plan, delta, a.Epsilon, true)
}

// stated is what Event states, and at which delta; it completes the relation.
func (a Account) stated(how *How) (dp.Stated, string, error) {
	s, delta, err := Decode(named(a.Name), a.Event)
	if err != nil {
		return s, "", err
	}
	if how.Relation, err = how.Under(named(a.Name), s.Relation); err != nil {
		return s, "", err
	}
	if a.Delta != "" || a.Epsilon != "" {
		delta = a.Delta
	}
	return s, delta, nil
}

// DPAccounting translates the events at Delta.
func (a Account) DPAccounting() (*DPAccounting, error) {
	how, err := ParseHow(a.Accountant, a.Relation)
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
	case Seeded(a.Event):
		return nil, usage.Newf("its noise can be computed: no epsilon holds for what it released", "%s: the statement is NOT PRIVATE", named(a.Name))
	case text == "":
		return nil, usage.New("missing --delta", "example: --delta 1e-5")
	}
	delta, err := ParseDelta(text, true)
	if err != nil {
		return nil, err
	}
	return ToDPAccounting(named(a.Name), stated, how.Relation, delta)
}

// Answer finds the open number and prices it as rounded.
func (c Calibrate) Answer() (*Answer, error) {
	how, err := ParseHow(c.Accountant, c.Relation)
	if err != nil {
		return nil, err
	}
	target, err := ParseTarget(c.Epsilon, c.Delta, c.DPSGD == nil && c.Release != "gaussian")
	switch {
	case err != nil:
		return nil, err
	case c.DPSGD != nil && c.Event == nil && c.Release == "":
		t, missing, err := c.DPSGD.Training(false)
		if err != nil {
			return nil, err
		}
		return CalibrateTraining(t, missing, target, how)
	case c.Event != nil && c.DPSGD == nil && c.Release == "":
		return CalibrateEvent(named(c.Name), c.Event, target, how)
	case c.Release != "" && c.DPSGD == nil && c.Event == nil && c.Count < 0:
		return nil, usage.Newf("leave it out for one release", "a count of %d releases", c.Count)
	case c.Release != "" && c.DPSGD == nil && c.Event == nil:
		return CalibrateRelease(c.Release, max(c.Count, 1), c.Sensitivity, target, how)
	}
	return nil, usage.New("a calibration is for a training run, an event or a release", "give one of DPSGD, Event and Release")
}

func named(name string) string { return cmp.Or(name, "event") }
