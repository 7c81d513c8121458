package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/usage"
)

// Answer is what account and calibrate print.
type Answer struct {
	Free            string          `json:"free,omitempty"`
	Value           *ledger.Number  `json:"value,omitempty"`
	NoiseStdDev     *ledger.Number  `json:"noise_std_dev,omitempty"`
	Target          *figures.Spend  `json:"target,omitempty"`
	Training        *Training       `json:"training,omitempty"`
	Privacy         Privacy         `json:"privacy"`
	DeltaAtEpsilon  *AtEpsilonJSON  `json:"delta_at_epsilon,omitempty"`
	PosteriorAtHalf ledger.Number   `json:"posterior_at_half"`
	TradeOff        []TradeOffPoint `json:"trade_off"`
	Warnings        []string        `json:"warnings"`
}

// Privacy is the claim of an answer.
type Privacy struct {
	Epsilon       ledger.Number            `json:"epsilon"`
	Delta         ledger.Number            `json:"delta"`
	Relation      dp.Relation              `json:"relation"`
	Unit          string                   `json:"unit"`
	Accountant    string                   `json:"accountant"`
	Order         float64                  `json:"order,omitzero"`
	EpsilonBounds map[string]ledger.Number `json:"epsilon_bounds,omitzero"`
	EpsilonLower  *ledger.Number           `json:"epsilon_lower,omitempty"`
	DeltaBounds   map[string]ledger.Number `json:"delta_bounds,omitzero"`
	DeltaLower    *ledger.Number           `json:"delta_lower,omitempty"`
	Events        []json.RawMessage        `json:"events"`
}

// AtEpsilonJSON is delta at an epsilon that was asked beside.
type AtEpsilonJSON struct {
	Epsilon     ledger.Number            `json:"epsilon"`
	Delta       ledger.Number            `json:"delta"`
	Accountant  string                   `json:"accountant"`
	DeltaBounds map[string]ledger.Number `json:"delta_bounds"`
}

// TradeOffPoint is the most that any attack finds at a rate of false alarms.
type TradeOffPoint struct {
	FalsePositives ledger.Number `json:"false_positive_rate"`
	TruePositives  ledger.Number `json:"true_positive_rate_at_most"`
}

// NewAnswer begins an answer by one bound.
func NewAnswer(p Plan, r accountant.Result) (*Answer, error) {
	if p.grouped != nil && strings.HasPrefix(r.Method, "group_") {
		p = *p.grouped // the smaller price is that of another event
	}
	raw, err := dp.Stated{Event: p.event, Relation: p.relation, Unit: p.Unit, Group: p.group}.Encode()
	if err != nil {
		return nil, err
	}
	if math.IsNaN(r.Epsilon) || math.IsNaN(r.Delta) || r.Epsilon < 0 || r.Delta < 0 {
		return nil, fmt.Errorf("the accountant returned no finite number, so there is no guarantee")
	}
	return &Answer{
		Privacy: Privacy{
			Epsilon: ledger.Number(r.Epsilon), Delta: ledger.Number(r.Delta), Relation: p.relation, Unit: p.Unit,
			Accountant: r.Method, Order: r.Order, Events: []json.RawMessage{raw},
		},
		PosteriorAtHalf: ledger.Number(meaning.Posterior(r.Epsilon, 0.5)),
		Warnings:        []string{},
	}, nil
}

// Numbers are bounds as JSON has them.
func Numbers(m map[string]float64) map[string]ledger.Number {
	out := map[string]ledger.Number{}
	for name, v := range m {
		out[name] = ledger.Number(v)
	}
	return out
}

// Pointer is a number that may be left out.
func Pointer(x float64) *ledger.Number {
	n := ledger.Number(x)
	return &n
}

// AtDelta is epsilon at delta with all that is said about it.
func AtDelta(p Plan, delta float64) (*Answer, error) {
	r, err := p.Epsilon(delta)
	if err != nil {
		return nil, relationAdvice(err)
	}
	if delta == 0 && math.IsInf(r.Epsilon, 1) {
		return nil, usage.New("--delta: no finite epsilon holds at delta 0, because not every mechanism of the event is pure", "use a delta well below 1/units, for example 1e-5")
	}
	return answerWith(p, r)
}

// answerWith says all about an epsilon that is known.
func answerWith(p Plan, r accountant.Result) (*Answer, error) {
	ans, err := NewAnswer(p, r)
	if err != nil {
		return nil, err
	}
	ans.Privacy.EpsilonBounds, ans.Privacy.EpsilonLower = Numbers(r.Bounds), Pointer(r.Lower)
	return ans, ans.finish(p, r)
}

// AtEpsilon is delta at epsilon.
func AtEpsilon(p Plan, epsilon float64) (*Answer, error) {
	r, err := p.Delta(epsilon)
	if err != nil {
		return nil, relationAdvice(err)
	}
	ans, err := NewAnswer(p, r)
	if err != nil {
		return nil, err
	}
	ans.Privacy.DeltaBounds, ans.Privacy.DeltaLower = Numbers(r.Bounds), Pointer(r.Lower)
	return ans, ans.finish(p, r)
}

// AddDelta puts delta at epsilon beside.
func (ans *Answer) AddDelta(p Plan, epsilon float64) error {
	r, err := p.Delta(epsilon)
	if err != nil {
		return relationAdvice(err)
	}
	ans.DeltaAtEpsilon = &AtEpsilonJSON{ledger.Number(epsilon), ledger.Number(r.Delta), r.Method, Numbers(r.Bounds)}
	return nil
}

// finish adds the trade-off curve and what a person should know.
func (ans *Answer) finish(p Plan, r accountant.Result) error {
	curve, err := curveOf(p, r)
	if err != nil {
		return relationAdvice(err)
	}
	for _, fpr := range []float64{0.001, 0.01, 0.05, 0.1} {
		ans.TradeOff = append(ans.TradeOff, TradeOffPoint{ledger.Number(fpr), ledger.Number(truePositives(curve, fpr))})
	}
	switch eps := r.Epsilon; {
	case math.IsInf(eps, 1) || r.Delta >= 1:
		ans.Warnings = append(ans.Warnings, "no privacy: nothing bounds what the output gives away about one "+ans.Privacy.Unit)
	case eps > certain:
		ans.Warnings = append(ans.Warnings, "this is no protection: at this epsilon an attacker can become certain")
	case eps == 0 && curve[len(curve)-1].delta == 0:
		ans.Warnings = append(ans.Warnings, "epsilon 0: the output does not depend on any one "+ans.Privacy.Unit)
	case eps == 0 && ans.Privacy.EpsilonLower != nil:
		ans.Warnings = append(ans.Warnings, fmt.Sprintf("epsilon 0 is correct: the output depends so little on any one %s that delta %s covers it (delta at epsilon 0 is %s)",
			ans.Privacy.Unit, short(r.Delta), short(curve[len(curve)-1].delta)))
	}
	return nil
}

// certain is an epsilon from which on an attacker may be sure to 1 in 10⁸. The points
// of the trade-off curve take long there, and bound nothing.
const certain = 20

type point struct{ epsilon, delta float64 }

// curveOf is a number of (epsilon, delta) that the plan satisfies. The last has
// epsilon 0: delta is then the total variation between neighbours. The others lie
// where the best attacks at false positive rates of 0.1 % to 10 % have theirs.
func curveOf(p Plan, known accountant.Result) ([]point, error) {
	if known.Epsilon > certain {
		return []point{{known.Epsilon, known.Delta}, {0, 1}}, nil
	}
	if p.curve != nil {
		deltas := []float64{1e-3, 5e-3, 0.03, 0.2, 0.5, 0.75}
		epsilons, variation, ok, err := p.curve(deltas)
		if err != nil {
			return nil, err
		}
		if ok {
			points := []point{{known.Epsilon, known.Delta}}
			for i, e := range epsilons {
				points = append(points, point{e, deltas[i]})
			}
			return append(points, point{0, variation}), nil
		}
	}
	variation, err := p.Delta(0)
	if err != nil {
		return nil, err
	}
	points := []point{{known.Epsilon, known.Delta}}
	for _, delta := range []float64{1e-3, 5e-3, 0.03, 0.2, 0.5, 0.75} {
		if delta < variation.Delta {
			points = append(points, point{math.Inf(1), delta})
		}
	}
	errs := make([]error, len(points))
	var wait sync.WaitGroup
	for i := range points[1:] {
		wait.Go(func() {
			r, err := p.Epsilon(points[i+1].delta)
			points[i+1].epsilon, errs[i] = r.Epsilon, err
		})
	}
	wait.Wait()
	return append(points, point{0, variation.Delta}), errors.Join(errs...)
}

// truePositives bounds the true positive rate of every test for one unit at a false
// positive rate: each (ε, δ) gives
//
//	min(e^ε·FPR + δ, 1 − e^(−ε)(1 − δ − FPR))
//
// (Kairouz, Oh and Viswanath, arXiv:1311.0776, Theorem 2.1) and the smallest
// counts. meaning.TruePositiveRate looks for the best ε of one rate; here the
// rates share the points, because each may take a tenth of a second.
func truePositives(curve []point, fpr float64) float64 {
	best := 1.0
	for _, p := range curve {
		best = math.Min(best, math.Min(math.Exp(p.epsilon)*fpr+p.delta, 1-math.Exp(-p.epsilon)*(1-p.delta-fpr)))
	}
	return math.Max(best, fpr)
}

// WriteText writes an answer in words.
func (ans *Answer) WriteText(w io.Writer) error {
	p := &ans.Privacy
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	if ans.Free != "" {
		fmt.Fprintf(t, "%s\t%s\n", ans.Free, Full(float64(*ans.Value)))
	}
	if ans.NoiseStdDev != nil {
		fmt.Fprintf(t, "noise_std_dev\t%s\n", Full(float64(*ans.NoiseStdDev)))
	}
	fmt.Fprintf(t, "epsilon\t%s\n", shownEpsilon(float64(p.Epsilon)))
	fmt.Fprintf(t, "delta\t%s\n", Full(float64(p.Delta)))
	fmt.Fprintf(t, "method\t%s\n", methodWords(ans))
	if p.EpsilonLower != nil && *p.EpsilonLower > 0 {
		fmt.Fprintf(t, "lower bound\tthe exact epsilon is at least %s\n", short(float64(*p.EpsilonLower)))
	}
	fmt.Fprintf(t, "relation\t%s\n", p.Relation)
	if tr := ans.Training; tr != nil {
		fmt.Fprintf(t, "training\tsteps %d, sampling rate %s, noise multiplier %s\n", tr.Steps, Full(tr.SamplingRate), Full(tr.NoiseMultiplier))
		fmt.Fprintf(t, "valid for\tPoisson sampling: every row joins every batch independently\n")
	}
	if d := ans.DeltaAtEpsilon; d != nil {
		fmt.Fprintf(t, "at epsilon %s\tdelta %s (%s)\n", Full(float64(d.Epsilon)), short(float64(d.Delta)), d.Accountant)
	}
	fmt.Fprintf(t, "in words\t%s\n", BeliefWords(p))
	for _, x := range ans.TradeOff {
		if x.FalsePositives == 0.01 {
			fmt.Fprintf(t, "attacks\tat a false positive rate of 1%%, no attack has a true positive rate above %s%%\n", percentUp(float64(x.TruePositives)))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, warning := range ans.Warnings {
		fmt.Fprintf(w, "note: %s\n", warning)
	}
	return nil
}

// Full writes all digits that are needed to read the number back.
func Full(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return fmt.Sprint(x)
}

// shownEpsilon has three digits or more, rounded up, and the whole number beside it.
func shownEpsilon(epsilon float64) string {
	up := RoundedUp(epsilon)
	if math.IsInf(epsilon, 1) || epsilon == 0 || up == Full(epsilon) {
		return up
	}
	return fmt.Sprintf("%s (rounded up from %s)", up, Full(epsilon))
}

// RoundedUp has three digits or more.
func RoundedUp(epsilon float64) string {
	digits := 2
	if epsilon >= 1e6 && !math.IsInf(epsilon, 1) {
		return Full(DecimalUp(epsilon))
	}
	if epsilon > 0 && epsilon < 1 {
		digits = 3 - int(math.Ceil(math.Log10(epsilon)))
	}
	return meaning.RoundUp(epsilon, digits)
}

func percentUp(x float64) string { return meaning.RoundUp(100*x, 2) }

func methodWords(ans *Answer) string {
	p := &ans.Privacy
	bounds, what := p.EpsilonBounds, "epsilon"
	if bounds == nil {
		bounds, what = p.DeltaBounds, "delta"
	}
	order := func(m string) string {
		if strings.HasSuffix(m, "rdp") && p.Order > 0 {
			return fmt.Sprintf(" (order %s)", short(p.Order))
		}
		return ""
	}
	text := p.Accountant + order(p.Accountant)
	var others []string
	for m, v := range bounds {
		if m != p.Accountant {
			others = append(others, fmt.Sprintf("%s %s%s", m, short(float64(v)), order(m)))
		}
	}
	if len(others) == 0 {
		return text
	}
	slices.Sort(others)
	return fmt.Sprintf("%s; also valid: %s by %s", text, what, strings.Join(others, ", "))
}

// BeliefWords says what epsilon means to somebody who bets at even odds.
func BeliefWords(p *Privacy) string {
	what := fmt.Sprintf("that one %s was in the data", p.Unit)
	if p.Relation == dp.ReplaceOne {
		what = fmt.Sprintf("which of two values one %s had", p.Unit)
	}
	if math.IsInf(float64(p.Epsilon), 1) || p.Delta >= 1 {
		return fmt.Sprintf("somebody who was 50%% sure %s can become 100%% sure", what)
	}
	belief := percentUp(meaning.Posterior(float64(p.Epsilon), 0.5))
	if p.Delta == 0 {
		return fmt.Sprintf("somebody who was 50%% sure %s can become at most %s%% sure", what, belief)
	}
	return fmt.Sprintf("somebody who was 50%% sure %s can become at most %s%% sure, except with probability %s", what, belief, Full(float64(p.Delta)))
}
