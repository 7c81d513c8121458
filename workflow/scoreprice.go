package workflow

import (
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/release"
	"pawl/evidence/quality"
	"pawl/model"
)

// scoring is what a score on sensitive rows costs: each part's multiplier, and the law of noise.
type scoring struct {
	pure  bool // discrete Laplace noise, else discrete Gaussian
	noise map[string]float64
}

// part is one release of a score with its share of what the score costs: of epsilon where the
// noise is Laplace's, of the precision 1/σ² where it is Gaussian.
type part struct {
	name           string
	pure, gaussian float64
}

// The parts of a score, by what is scored.
var (
	// Two classes: unclassed scores, from which bins follow; scores by class in these, of each half
	// of the units; and labels by class. Labels have the accuracy's interval to keep narrow, and
	// are not counted from bins, whose noise adds up.
	twoClassParts = []part{{"edges", 0.05, 0.05}, {"bins", 0.67, 0.65}, {"labels", 0.28, 0.30}}
	// The same where labels follow a wish: a half is labelled at the threshold that the other one
	// chose, so labels too are counted in halves, each with noise of its own.
	decidedParts = []part{{"edges", 0.05, 0.05}, {"bins", 0.53, 0.40}, {"labels", 0.42, 0.55}}
	// Of two classes in each group: labels by class, and scores by class in fewer bins.
	groupParts = []part{{groupLabels, 0.5, 0.5}, {groupBins, 0.5, 0.5}}
	// More: how confident predictions are, from which bins follow; labels by class and by
	// confidence in these, of each half of the units; and right answers and classes, so that the accuracy's interval stays
	// narrow.
	manyClassParts = []part{{"edges", 0.05, 0.05}, {"bins", 0.45, 0.45}, {"accuracy", 0.5, 0.5}}
	// The same where rows are too few for more than one bin.
	fewAnswersParts = []part{{"bins", 0.5, 0.5}, {"accuracy", 0.5, 0.5}}
	// A number: targets, of which the median and the mean follow, then errors, then the gain over
	// the median.
	numberParts = []part{{"targets", 0.25, 0.2}, {"errors", 0.45, 0.5}, {"gains", 0.30, 0.3}}
	// A calibration alone, on training rows.
	calibrationParts = []part{{"edges", 0.10, 0.10}, {"bins", 0.90, 0.90}}
)

func (p *problem) scoreParts() []part {
	switch {
	case p.task == model.Regression:
		return numberParts
	case p.twoClasses() && p.Decision.Given():
		return decidedParts
	case p.twoClasses():
		return twoClassParts
	}
	return manyClassParts
}

// confidenceBins is the number of bins of confidence of more than two classes, 1 for none. It follows from
// the number of rows, declared or released, and from the noise.
func (plan *Plan) confidenceBins(rows float64) int {
	p := plan.problem
	b := plan.bins("bins", plan.scoreScope)
	b.Size, b.Counted = 1, true
	return quality.ConfidenceBins(rows, len(p.Schema.Columns[p.targetColumn].Levels()), b.StdDev(p.rowsApart()))
}

// withGroups adds the scores by group to parts: losses, or of two classes labels and bins.
func (p *problem) withGroups(parts []part) (all []part) {
	add := func(parts []part, share float64) {
		for _, x := range parts {
			all = append(all, part{x.name, x.pure * share, x.gaussian * share})
		}
	}
	add(parts, 1-groupShare)
	if p.twoClasses() {
		add(groupParts, groupShare)
	} else {
		add([]part{{groupsStage, 1, 1}}, groupShare)
	}
	return all
}

// event is what a part costs.
func (s scoring) event(name string) dp.Event {
	if s.pure {
		return dp.DiscreteLaplace{NoiseMultiplier: s.noise[name]}
	}
	return dp.DiscreteGaussian{NoiseMultiplier: s.noise[name]}
}

// negligible is the share of sampling's deviation, of the area under the ROC curve with a rare
// class of one row in twenty, below which noise does not matter.
const negligible = 0.1

// calibrateScore finds the noise of what is released on scored rows, all parts together at the
// price of a training.
//
// A row lies in one bin of each part, so parts have the same sensitivity in L1 and in L2, and
// Laplace noise, whose deviation is √2/ε, is nearly always the smaller at one price. In the
// account of a data set, though, pure epsilons add up, while Gaussian noise of many jobs adds
// up by squares: three scores of ε 1 cost 3, or 1.8. So Gaussian noise is taken where the budget
// of the data set has room for other jobs, where Laplace's is not smaller, and where there are
// so many rows that it is negligible anyway. All is public: ε, δ, the budget and the declared number
// of rows decide. Under --accountant pld or rdp it is Gaussian.
func (plan *Plan) calibrateScore(parts []part, fraction float64) (scoring, error) {
	p, widest := plan.problem, "bins"
	if p.task == model.Regression {
		widest = "errors"
	}
	if p.ScoreBy != "" && p.Test == HeldOut {
		parts = p.withGroups(parts)
	}
	of := func(pure bool, x float64) scoring {
		s := scoring{pure, map[string]float64{}}
		for _, each := range parts {
			if s.noise[each.name] = x / math.Sqrt(each.gaussian); pure {
				s.noise[each.name] = 1 / (x * each.pure)
			}
		}
		return s
	}
	laplace := of(true, plan.remaining())
	if p.delta == 0 {
		return laplace, nil
	}
	x, err := plan.smallest(func(x float64) dp.Event {
		s, events := of(false, x), []dp.Event{}
		for _, each := range parts {
			events = append(events, s.event(each.name))
		}
		return dp.Compose{Events: events}
	})
	if err != nil {
		return scoring{}, err
	}
	gaussian := of(false, x)
	// .42·s·√(2·10)/P by noise, of both halves in 10 bins each, against .3/√P by sampling.
	rare := float64(p.Rows) * fraction / 20
	small := p.Rows > 0 && 0.42*math.Sqrt(20)*gaussian.noise[widest]*float64(p.rowsApart())/rare < negligible*0.3/math.Sqrt(rare)
	if small || p.shared() || laplace.noise[widest]*math.Sqrt2 >= gaussian.noise[widest] || !p.bestAccountant() {
		return gaussian, nil
	}
	return laplace, nil
}

// shared reports whether the budget of the data set holds more than this job. A data set without
// a budget gets that of its first job.
func (p *problem) shared() bool {
	total, ok := decimal(p.Schema.GrantedEpsilon)
	return p.Several || ok && p.epsilon != nil && total.Cmp(p.epsilon) > 0
}

// halves are the parts of the scored units that choose for each other: disjoint, so that each
// pays the price of one.
func (plan *Plan) halves() []dp.Scope {
	s := plan.scoreScope
	middle := (s.Lower + s.Upper) / 2
	return []dp.Scope{{Lower: s.Lower, Upper: middle}, {Lower: middle, Upper: s.Upper}}
}

// partScopes are the disjoint scopes that a part is released on: both halves where one chooses for
// the other, else all scored rows at once, with the noise of one release.
func (plan *Plan) partScopes(name string) []dp.Scope {
	p := plan.problem
	if name == "bins" && plan.edged() || p.twoClasses() && (name == "labels" || name == groupLabels) && p.Decision.Given() {
		return plan.halves()
	}
	return []dp.Scope{plan.scoreScope}
}

// parts are those of the score that the plan's noise is of.
func (plan *Plan) parts() []part {
	if plan.problem.moreClasses() && !plan.edged() {
		return fewAnswersParts
	}
	return plan.problem.scoreParts()
}

// edged says that bins of scores are released first: all classifiers have them but those of many classes
// and few rows.
func (plan *Plan) edged() bool { return plan.scoring.noise["edges"] > 0 }

// scoreEvents are what the score alone costs, in the order in which the parts are released.
func (plan *Plan) scoreEvents() (events []dp.Event) {
	for _, each := range plan.parts() {
		for _, s := range plan.partScopes(each.name) {
			events = append(events, dp.Scoped{Scope: s, Event: plan.scoring.event(each.name)})
		}
	}
	return events
}

func (plan *Plan) planScore() (err error) {
	p := plan.problem
	if p.Test != HeldOut {
		what := "exact score on a public test file"
		if p.Test == Official {
			what = "exact score on the official public test set"
		}
		if err := plan.planCalibration(); err != nil {
			return err
		}
		plan.add("score", dp.Scope{}, what)
		return plan.planGroups()
	}
	if plan.scoring, err = plan.calibrateScore(p.scoreParts(), plan.scoreScope.Fraction()); err != nil {
		return err
	}
	if p.moreClasses() && p.Rows > 0 && plan.confidenceBins(float64(p.Rows)*plan.scoreScope.Fraction()) == 1 {
		if plan.scoring, err = plan.calibrateScore(fewAnswersParts, plan.scoreScope.Fraction()); err != nil {
			return err
		}
	}
	what := "score and baseline on held-out rows, from noisy tables of counts"
	switch {
	case p.twoClasses():
		what = "score, baseline, calibration and thresholds on held-out rows, from noisy tables of counts: in two halves, each scored with the choices made on the other"
	case plan.edged():
		what = "score, baseline and calibration on held-out rows, from noisy tables of counts: in two halves, each scored with the choices made on the other"
	}
	plan.add("score", plan.scoreScope, what, plan.scoreEvents()...)
	return plan.planGroups()
}

// Of the training rows, calibrationRows calibrate where the scored rows are public, within these
// shares. In simulations at epsilon 1, a calibration by 400 rows leaves .03 of log-loss above the best
// one, by 1,000 rows .012, and by 3,000 rows .003, with a slope of .5 to 1; training on four fifths of
// the rows instead of nine tenths has noise that is an eighth larger.
const (
	calibrationRows  = 1000
	leastCalibration = 0.1
	mostCalibration  = 0.2
	// Of more than two classes no threshold is chosen.
	leastOfMany = 0.02
)

// calibrationShare follows from the declared number of rows.
func (p *problem) calibrationShare() float64 {
	if p.Rows == 0 {
		return leastCalibration
	}
	least := leastCalibration
	if p.moreClasses() {
		least = leastOfMany
	}
	return min(max(calibrationRows/float64(p.Rows), least), mostCalibration)
}

// keepCalibration keeps training rows apart for a calibration, where the scored rows are public
// and so may not choose one. What they pay is not paid by the rest.
func (plan *Plan) keepCalibration() {
	p := plan.problem
	if !p.Calibrate || p.Test == HeldOut || p.task != model.Classification || p.Workflow != PAW || p.AsPublished {
		return
	}
	cut := plan.trainScope.Upper * (1 - p.calibrationShare())
	plan.calibration = dp.Scope{Lower: cut, Upper: plan.trainScope.Upper}
	plan.trainScope.Upper = cut
}

// planCalibration books it.
func (plan *Plan) planCalibration() (err error) {
	if !plan.calibration.Valid() {
		return nil
	}
	if plan.scoring, err = plan.calibrateScore(calibrationParts, plan.calibration.Fraction()); err != nil {
		return err
	}
	what := "calibration and advised threshold"
	if plan.problem.moreClasses() {
		what = "calibration"
	}
	plan.add("calibrate", plan.calibration, fmt.Sprintf("%s, on %.0f%% of the rows, from noisy tables of counts", what, 100*plan.problem.calibrationShare()),
		plan.scoring.event("edges"), plan.scoring.event("bins"))
	return nil
}

// bins is the release of a part on a scope.
func (plan *Plan) bins(name string, scope dp.Scope) release.Bins {
	return release.Bins{Scope: scope, NoiseMultiplier: plan.scoring.noise[name], Pure: plan.scoring.pure}
}
