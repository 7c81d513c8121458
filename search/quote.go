package search

import (
	"errors"
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
)

// Quote is the price of a strategy, from public numbers only.
type Quote struct {
	Strategy Strategy
	// Noise is the noise multiplier of each training of the search, ScoreNoise that of
	// its validation score in counts; FinalNoise that of the last training of split and
	// subset, else 0.
	Noise, ScoreNoise, FinalNoise float64
	// BaseEpsilon is what one training of the model that leaves would cost alone: the
	// quality that the total buys.
	BaseEpsilon float64
	// Epsilon is the total at the job's delta, re-accounted from Event.
	Epsilon float64
	Event   dp.Event
	// Expected is the mean number of trainings; Most what is booked one by one, 0 where
	// the number is secret.
	Expected float64
	Most     int
}

// TooDearError is a strategy that no amount of noise brings under the budget.
type TooDearError struct {
	Strategy Strategy
	Epsilon  float64
	Reason   string
	// Fits is the largest number of trainings of the same strategy that the budget
	// holds, 0 if none.
	Fits int
}

func (e *TooDearError) Error() string {
	fits := "no search of this kind fits"
	if e.Fits > 0 {
		fits = fmt.Sprintf("the largest search of this kind that fits has about %d training runs", e.Fits)
	}
	return fmt.Sprintf("strategy %s cannot be paid from epsilon %.6g: %s; %s", e.Strategy.Kind, e.Epsilon, e.Reason, fits)
}

// leastBase is the epsilon below which a training is taken for noise: a model that
// one unit moves by less than a per cent of odds learns nothing from tens of thousands.
const leastBase = 0.01

// Quote solves the noise at which the whole strategy costs the job's epsilon. It
// returns a *TooDearError where that leaves nothing for a training.
func (s Strategy) Quote(j Job) (Quote, error) {
	if err := s.Check(); err != nil {
		return Quote{}, err
	}
	if !(j.Epsilon > 0) || !(j.Delta > 0 && j.Delta < 1) {
		return Quote{}, errors.New("a search is priced at an epsilon above 0 and a delta in (0, 1)")
	}
	q, err := s.solve(j)
	var dear *TooDearError
	if errors.As(err, &dear) {
		dear.Fits = s.fits(j)
	}
	return q, err
}

func (s Strategy) solve(j Job) (Quote, error) {
	q := Quote{Strategy: s}
	q.Expected, q.Most = s.Trainings()
	total := j.target()
	noise, err := s.calibrate(j, func(x float64) (dp.Event, error) { return s.choiceWithin(j, x) })
	if err != nil {
		return q, err
	}
	q.Noise = noise
	if q.ScoreNoise, err = ScoreNoise(j.Train(noise), j.Relation); err != nil && !s.Once() {
		return q, err
	}
	last := noise
	if s.twoSteps() {
		// Where no unit pays for both, calibration looks at the last training alone: the
		// choice has reached the target already and would hide how far the training is.
		if q.FinalNoise, err = s.calibrate(j, func(x float64) (dp.Event, error) {
			if !s.paysTwice(j) {
				return j.finalEvent(x), nil
			}
			return s.Event(j, noise, x)
		}); err != nil {
			return q, err
		}
		last = q.FinalNoise
	}
	if q.Event, err = s.Event(j, q.Noise, q.FinalNoise); err != nil {
		return q, err
	}
	r, err := accountant.Epsilon(q.Event, j.Relation, j.Delta, j.method())
	if err != nil {
		return q, err
	}
	if q.Epsilon = r.Epsilon; !(q.Epsilon <= j.Epsilon) {
		return q, fmt.Errorf("strategy %s: its event costs %g, above the requested %g", s.Kind, r.Epsilon, total)
	}
	one, err := accountant.Epsilon(j.Train(last), j.Relation, j.Delta, j.method())
	if err != nil {
		return q, err
	}
	if q.BaseEpsilon = one.Epsilon; q.BaseEpsilon < leastBase {
		return q, &TooDearError{Strategy: s, Epsilon: j.Epsilon, Reason: fmt.Sprintf("one training run would be left with epsilon %.2g", q.BaseEpsilon)}
	}
	return q, nil
}

// paysTwice says that a unit may pay for the choice and for the last training: the
// units are the same, or a replaced one may have been among the first and be among the
// second.
func (s Strategy) paysTwice(j Job) bool {
	return s.Kind == Subset || s.Kind == Split && j.Relation == dp.ReplaceOne
}

// choiceWithin is the choosing part under the budget that it may take: a half, in
// Rényi divergence, where a unit pays for the last training too.
func (s Strategy) choiceWithin(j Job, x float64) (dp.Event, error) {
	choose, err := s.choice(j, x)
	if err != nil || !s.paysTwice(j) {
		return choose, err
	}
	return dp.Compose{Events: []dp.Event{choose, choose}}, nil
}

func (s Strategy) calibrate(j Job, event func(x float64) (dp.Event, error)) (float64, error) {
	var failed error
	x, _, err := calibrate.To(calibrate.Target{Epsilon: j.target(), Delta: j.Delta}, j.Relation, j.method(), calibrate.Search{
		Decreasing: true, Lower: 1e-3, Upper: 1e6,
		Event: func(x float64) dp.Event {
			e, err := event(x)
			if err != nil {
				failed = err
				return dp.NonPrivate{} // fails closed: calibration goes on as if it were too dear
			}
			return e
		},
	})
	switch {
	case errors.Is(err, calibrate.ErrUnreachable) && failed != nil:
		return 0, failed
	case errors.Is(err, calibrate.ErrUnreachable):
		return 0, &TooDearError{Strategy: s, Epsilon: j.Epsilon, Reason: "no amount of noise is enough"}
	}
	return x, err
}

// fits is the largest number of trainings of the same kind that can be paid.
func (s Strategy) fits(j Job) int {
	scaled := func(n int) (Strategy, bool) {
		t := s
		switch s.Kind {
		case PS, PSPoisson, RS, LT, Split, Subset:
			t.Mean = float64(n)
		case Grid:
			t.Candidates = n
		case PAAS, TuneBound:
			t.Generations, t.Population, t.Retain = 1, n, 0
		default:
			return t, false
		}
		return t, t.Check() == nil
	}
	now, _ := s.Trainings()
	low, high := 1, int(math.Ceil(now))
	for low+1 < high {
		mid := (low + high) / 2
		t, ok := scaled(mid)
		if !ok {
			return 0
		}
		if _, err := t.solve(j); err == nil {
			low = mid
		} else {
			high = mid
		}
	}
	if t, ok := scaled(low); ok {
		if _, err := t.solve(j); err == nil {
			return low
		}
	}
	return 0
}

// target is a hair below what was asked, so that rounding never passes it.
func (j Job) target() float64 { return j.Epsilon * (1 - 1e-9) }

func (j Job) method() accountant.Method {
	if j.Accountant == "" {
		return accountant.MethodMin
	}
	return j.Accountant
}

// At is the quote of the strategy when one training alone may cost base: what a search
// around a training of known price adds up to.
func (s Strategy) At(j Job, base float64) (Quote, error) {
	if err := s.Check(); err != nil {
		return Quote{}, err
	}
	q := Quote{Strategy: s, BaseEpsilon: base}
	q.Expected, q.Most = s.Trainings()
	j.Epsilon = base
	var err error
	if q.Noise, err = s.calibrate(j, func(x float64) (dp.Event, error) { return j.Train(x), nil }); err != nil {
		return q, err
	}
	if s.twoSteps() {
		q.FinalNoise = q.Noise
	}
	if q.Event, err = s.Event(j, q.Noise, q.FinalNoise); err != nil {
		return q, err
	}
	r, err := accountant.Epsilon(q.Event, j.Relation, j.Delta, j.method())
	q.Epsilon = r.Epsilon
	return q, err
}
