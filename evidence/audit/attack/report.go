package attack

import (
	"errors"
	"fmt"
	"slices"

	"pawl/evidence/audit/bound"
)

// Options of an evaluation. Zero values mean what the comments say.
type Options struct {
	// Rates are the false positive rates at which the attack is shown: 0.001 and 0.01.
	Rates []float64
	// Priors are the shares of members: 0.5 (balanced).
	Priors []float64
	// Confidence of intervals: 0.95.
	Confidence float64
	// Claim, when not nil, is what the model was trained under; the report then holds the
	// ceilings that follow.
	Claim *bound.Claim
	// Coins says that a fair coin of its own put every record in or left it out, as an
	// audit in one run needs it. The report then has a lower bound on ε at Claim's δ.
	Coins bool
}

func (o Options) filled() Options {
	if len(o.Rates) == 0 {
		o.Rates = []float64{0.001, 0.01}
	}
	if len(o.Priors) == 0 {
		o.Priors = []float64{0.5}
	}
	if o.Confidence == 0 {
		o.Confidence = bound.Printed
	}
	return o
}

// Report is what an attack achieved.
type Report struct {
	Members    int     `json:"members"`
	NonMembers int     `json:"non_members"`
	Confidence float64 `json:"confidence"`
	// AUC is never below 1/2: see Swapped.
	AUC bound.Interval `json:"auc"`
	// Swapped says that scores are larger for non-members. An attack may be used either
	// way round, so all numbers here are those of the scores with their sign changed; the
	// labels may be swapped too, and somebody should look.
	Swapped bool        `json:"swapped"`
	Success []Success   `json:"success"`
	AtRate  []Operating `json:"at_false_positive_rate"`
	Curve   []Point     `json:"curve"`
	// Bound is the lower bound on ε of an audit in one run, where Options.Coins was set.
	Bound *bound.OneRun `json:"bound,omitempty"`
	// Convicted says that the same bound at bound.Conviction exceeds the claim.
	Convicted bool `json:"convicted"`
	// Notes are for the reader of the report.
	Notes []string `json:"notes"`
}

// ClassReport is the report on the records of one class.
type ClassReport struct {
	Class   int     `json:"class"`
	Report  *Report `json:"report,omitempty"`
	Refusal string  `json:"refusal,omitempty"`
}

// Evaluate reports on an attack.
//
// Errors: those of Scored.Check; fewer than four members or others; a rate, prior or
// confidence out of range. A rate that the number of records cannot show is no error: it
// stands in the report with its refusal.
func Evaluate(s Scored, o Options) (*Report, error) {
	o = o.filled()
	if o.Claim != nil {
		if err := o.Claim.Check(); err != nil {
			return nil, err
		}
	}
	auc, err := s.AUC(o.Confidence)
	if err != nil {
		return nil, err
	}
	r := &Report{Confidence: o.Confidence, AUC: auc, Notes: []string{
		"success is a lower bound on what leaks; an attack that fails proves nothing",
		"these numbers were computed from the records without noise: they are internal unless their cost is charged",
	}}
	for _, m := range s.Member {
		if m {
			r.Members++
		} else {
			r.NonMembers++
		}
	}
	if auc.Estimate < 0.5 {
		r.Swapped = true
		note := "scores are larger for non-members: evaluated with their sign changed; check the labels"
		if auc.Upper >= 0.5 {
			note = "scores are larger for non-members, within what chance gives: evaluated with their sign changed"
		}
		r.Notes = append(r.Notes, note)
		s = s.Reversed()
		if r.AUC, err = s.AUC(o.Confidence); err != nil {
			return nil, err
		}
	}
	for _, prior := range o.Priors {
		v, err := s.Success(prior, o.Confidence)
		if err != nil {
			return nil, err
		}
		if o.Claim != nil {
			v.Ceiling = bound.MaxSuccess(o.Claim.Epsilon, o.Claim.Delta, prior)
			v.Exceeds = v.Rate.Lower > v.Ceiling
		}
		if v.Exceeds {
			r.Notes = append(r.Notes, fmt.Sprintf("at a prior of %g the attack is right more often than (%g, %g)-DP allows", prior, o.Claim.Epsilon, o.Claim.Delta))
		}
		r.Success = append(r.Success, v)
	}
	for _, rate := range o.Rates {
		v, err := s.At(rate, o.Confidence)
		if err != nil {
			return nil, err
		}
		r.AtRate = append(r.AtRate, v)
	}
	if r.Curve, err = s.Curve(); err != nil {
		return nil, err
	}
	if o.Coins {
		if err := r.oneRun(s, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// oneRun reads the attack as an audit in one run.
func (r *Report) oneRun(s Scored, o Options) error {
	canaries, delta := bound.Canaries{Score: s.Score, In: s.Member}, 0.0
	if o.Claim != nil {
		delta = o.Claim.Delta
		sure, err := canaries.Epsilon(delta, bound.Conviction)
		if err != nil {
			return err
		}
		r.Convicted = sure.Epsilon > o.Claim.Epsilon
	}
	b, err := canaries.Epsilon(delta, o.Confidence)
	r.Bound = &b
	return err
}

// ByClass reports on the records of each class by themselves, thresholds included: models
// leak more about rare classes, which a common threshold hides. A class with too few
// records, or with constant scores, has a refusal in place of a report.
func ByClass(s Scored, o Options) ([]ClassReport, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Class == nil {
		return nil, invalid("no classes are known")
	}
	var all []ClassReport
	for class := range slices.Max(s.Class) + 1 {
		r, err := Evaluate(s.only(class), o)
		switch {
		case errors.Is(err, ErrInput) || errors.Is(err, ErrConstant) || errors.Is(err, bound.ErrInput):
			all = append(all, ClassReport{Class: class, Refusal: fmt.Sprintf("not supported: %v", err)})
		case err != nil:
			return nil, err
		default:
			all = append(all, ClassReport{Class: class, Report: r})
		}
	}
	return all, nil
}
