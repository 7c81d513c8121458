package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/ledger/figures"
	"pawl/internal/usage"
)

// Family is a family of plans with one free number.
type Family struct {
	Free   string // as the JSON names it
	Search calibrate.Search
	Price  func(x float64) Plan
}

// DecimalDown is the largest number of six significant digits that is not above x.
func DecimalDown(x float64) float64 {
	d, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if d > x {
		d = nextDecimal(d, -1)
	}
	return d
}

// DecimalUp is the smallest number of six digits that is not below x.
func DecimalUp(x float64) float64 {
	d, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if d < x {
		d = nextDecimal(d, 1)
	}
	return d
}

// nextDecimal is the next number of six digits in a direction.
func nextDecimal(d float64, by int) float64 {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(d, 'e', 5, 64), "e")
	n, _ := strconv.Atoi(strings.Replace(digits, ".", "", 1))
	power, _ := strconv.Atoi(exponent)
	if by < 0 && n == 100000 {
		n, power = 1000000, power-1
	}
	next, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", n+by, power-5), 64)
	return next
}

// Solve finds the number, rounds it to the safe side and prices what is printed.
func (f Family) Solve(target figures.Spend, rel dp.Relation, m accountant.Method) (*Answer, error) {
	epsilon, delta := float64(target.Epsilon), float64(target.Delta)
	x, _, err := calibrate.To(calibrate.Target{Epsilon: epsilon, Delta: delta}, rel, m, f.Search)
	if errors.Is(err, calibrate.ErrUnreachable) {
		return nil, f.unreachable(epsilon, delta)
	}
	if err != nil {
		return nil, relationAdvice(err)
	}
	return f.answer(x, target)
}

// answer prices x after rounding. A rounded number may by chance cost more than x
// where the bounds are not quite monotone; then the next one is tried.
func (f Family) answer(x float64, target figures.Spend) (*Answer, error) {
	step := -1
	if f.Search.Decreasing {
		step = 1
	}
	const same = 1 + 1e-12 // the search goes through logarithms
	switch {
	case f.Search.Integer:
	case f.Search.Decreasing && x <= f.Search.Lower*same:
		x = f.Search.Lower
	case f.Search.Decreasing:
		x = DecimalUp(x)
	case x*same >= f.Search.Upper:
		x = f.Search.Upper
	default:
		x = DecimalDown(x)
	}
	for range 20 {
		r, err := f.Price(x).Epsilon(float64(target.Delta))
		if err != nil {
			return nil, relationAdvice(err)
		}
		if r.Epsilon <= float64(target.Epsilon) {
			ans, err := answerWith(f.Price(x), r)
			if err != nil {
				return nil, err
			}
			ans.Free, ans.Value, ans.Target = f.Free, Pointer(x), &target
			if f.atEnd(x) {
				ans.Warnings = append(ans.Warnings, fmt.Sprintf("the target is not reached: %s %s is the end of the search range", f.Free, Full(x)))
			}
			return ans, nil
		}
		if f.Search.Integer {
			x += float64(step)
		} else {
			x = nextDecimal(x, step)
		}
	}
	return nil, f.unreachable(float64(target.Epsilon), float64(target.Delta))
}

// atEnd reports whether x is the costly end of the range.
func (f Family) atEnd(x float64) bool {
	if f.Search.Decreasing {
		return x <= f.Search.Lower
	}
	return x >= f.Search.Upper
}

// unreachable says what can be reached.
func (f Family) unreachable(epsilon, delta float64) error {
	ends := [2]float64{f.Search.Upper, f.Search.Lower}
	if !f.Search.Decreasing {
		ends = [2]float64{f.Search.Lower, f.Search.Upper}
	}
	text := make([]string, 2)
	for i, x := range ends {
		r, err := f.Price(x).Epsilon(delta)
		if err != nil {
			return relationAdvice(err)
		}
		if i == 0 && math.IsInf(r.Epsilon, 1) {
			return usage.New(fmt.Sprintf("no value of %s gives a finite epsilon at delta %s", f.Free, Full(delta)), "increase --delta, or change the other parameters")
		}
		text[i] = fmt.Sprintf("%s at %s %s", RoundedUp(r.Epsilon), f.Free, Full(x))
	}
	return usage.New(fmt.Sprintf("epsilon %s at delta %s cannot be reached: possible values run from epsilon %s to %s", Full(epsilon), Full(delta), text[0], text[1]),
		"increase epsilon, or change another parameter")

}

// trainingFamily frees one number of t, and leaves in t the last that was priced.
func trainingFamily(t *Training, free string, rel dp.Relation, m accountant.Method) Family {
	f := Family{Free: strings.ReplaceAll(free, "-", "_")}
	var set func(x float64)
	switch free {
	case "noise-multiplier":
		f.Search = calibrate.Search{Decreasing: true, Lower: 1e-3, Upper: 1e9}
		set = func(x float64) { t.NoiseMultiplier = x }
	case "steps":
		f.Search = calibrate.Search{Integer: true, Lower: 1, Upper: 1e9}
		set = func(x float64) { t.Steps = int64(x) }
	default:
		f.Search = calibrate.Search{Lower: 1e-9, Upper: 1}
		set = func(x float64) { t.SamplingRate = x }
	}
	f.Search.Event = func(x float64) dp.Event { set(x); return t.Event() }
	f.Price = func(x float64) Plan { set(x); return OfTraining(*t, rel, m) }
	return f
}

// release uses the closed forms where they are exact: n Gaussian releases are one
// with the multiplier divided by √n, and pure epsilons add up.
func (f Family) release(kind string, n float64, target figures.Spend, rel dp.Relation, m accountant.Method) (*Answer, error) {
	switch {
	case m != accountant.MethodMin:
	case kind == "gaussian":
		x, err := accountant.GaussianNoiseMultiplier(float64(target.Epsilon), float64(target.Delta))
		if err != nil {
			return nil, usage.New("--epsilon: "+err.Error(), "")
		}
		f.Search.Lower = 0 // no range was searched
		return f.answer(x*math.Sqrt(n), target)
	case target.Delta == 0:
		if x := n / float64(target.Epsilon); x > 0 && !math.IsInf(x, 1) {
			return f.answer(x, target)
		}
	}
	return f.Solve(target, rel, m)
}

// stdDev turns a multiple of the sensitivity into a standard deviation: of Laplace
// noise of scale b it is √2·b.
func stdDev(kind string, scale float64) float64 {
	if kind == "laplace" {
		return math.Sqrt2 * scale
	}
	return scale
}

// freeNumbers are the fields that may be left open, with the way in which the cost
// moves.
var freeNumbers = map[string]calibrate.Search{
	"noise_multiplier": {Decreasing: true, Lower: 1e-6, Upper: 1e9},
	"steps":            {Integer: true, Lower: 1, Upper: 1e9},
	"count":            {Integer: true, Lower: 1, Upper: 1e9},
	"epochs":           {Integer: true, Lower: 1, Upper: 1e9},
	"rate":             {Lower: 1e-9, Upper: 1},
	"mean":             {Lower: 1.00001, Upper: 1e9}, // a truncated law wants more than 1
	"epsilon":          {Lower: 1e-9, Upper: 1e6},
	"rho":              {Lower: 1e-12, Upper: 1e6},
}

// FreeNames are the names of the fields that may be left open.
func FreeNames() []string {
	var names []string
	for n := range freeNumbers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// fileFamily is the family of events of a file with one "?", with the relation that the
// file states, or 0.
func fileFamily(name string, text []byte, rel dp.Relation, m accountant.Method) (Family, dp.Relation, error) {
	field, before, after, err := OpenField(text)
	if err != nil {
		return Family{}, 0, usage.New(fmt.Sprintf("%s: %v", name, err), `write "?" in place of exactly one number; pawl account event computes the epsilon of a complete event`)
	}
	search, ok := freeNumbers[field]
	if !ok {
		return Family{}, 0, usage.New(fmt.Sprintf("%s: %q cannot be solved for", name, field), "numbers that can: "+strings.Join(FreeNames(), ", "))
	}
	decode := func(x float64) (dp.Stated, error) {
		return DecodeEvent(name, slices.Concat(before, []byte(strconv.FormatFloat(x, 'f', -1, 64)), after))
	}
	// What is wrong elsewhere in the file is said once, here.
	var stated dp.Stated
	for _, x := range []float64{search.Lower, search.Upper} {
		if stated, err = decode(x); err != nil {
			return Family{}, 0, err
		}
	}
	if stated.Group > 1 {
		return Family{}, 0, usage.New(fmt.Sprintf("%s: calibration for groups is not supported", name), "remove \"group\"")
	}
	if stated.Relation != 0 {
		rel = stated.Relation
	}
	event := func(x float64) dp.Stated {
		s, err := decode(x)
		if err != nil {
			return dp.Stated{Event: dp.NonPrivate{}} // costs +Inf, so it meets no target
		}
		return s
	}
	search.Event = func(x float64) dp.Event { return event(x).Event }
	return Family{Free: field, Search: search, Price: func(x float64) Plan { return OfStated(event(x), rel, m) }}, stated.Relation, nil
}

// OpenField finds the single value "?" and returns the name of its field and the
// text around it.
func OpenField(text []byte) (field string, before, after []byte, err error) {
	type level struct {
		object bool
		key    string
		isKey  bool // the next token is a name
	}
	var (
		stack []level
		found int
	)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		start := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			break // the end; what is no JSON is refused by the event reader
		}
		top := len(stack) - 1
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:top]
			continue
		}
		if top >= 0 && stack[top].object && stack[top].isKey {
			stack[top].key, stack[top].isKey = token.(string), false
			continue
		}
		if top >= 0 {
			stack[top].isKey = true
		}
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{object: delim == '{', isKey: true})
			continue
		}
		if token == "?" && top >= 0 && stack[top].object {
			found++
			field = stack[top].key
			// Between the tokens are a colon and space.
			at := int(start) + bytes.IndexByte(text[start:], '"')
			before, after = text[:at], text[d.InputOffset():]
		}
	}
	switch found {
	case 0:
		return "", nil, nil, errors.New(`no number is "?"`)
	case 1:
		return field, before, after, nil
	}
	return "", nil, nil, fmt.Errorf(`%d numbers are "?"`, found)
}

// CalibrateTraining finds what is missing of a training.
func CalibrateTraining(t Training, missing []string, target figures.Spend, how How) (*Answer, error) {
	if how.Relation == dp.ReplaceOne {
		return nil, usage.New("calibrate dpsgd supports add_or_remove_one and zero_out only", "pawl account dpsgd --relation replace_one computes the epsilon of a given noise multiplier")
	}
	if len(missing) != 1 {
		return nil, usage.Newf("the missing one is computed", "leave out exactly one of --noise-multiplier, --steps and --sampling-rate (%d are missing)", len(missing))
	}
	ans, err := trainingFamily(&t, missing[0], how.Relation, how.Method).Solve(target, how.Relation, how.Method)
	if err == nil {
		ans.Of(t)
	}
	return ans, err
}

// CalibrateEvent finds the number of an event that is written as "?".
func CalibrateEvent(name string, text []byte, target figures.Spend, how How) (*Answer, error) {
	f, stated, err := fileFamily(name, text, how.Relation, how.Method)
	if err != nil {
		return nil, err
	}
	if how.Relation, err = how.Under(name, stated); err != nil {
		return nil, err
	}
	return f.Solve(target, how.Relation, how.Method)
}

// CalibrateRelease finds the noise multiplier of so many releases with gaussian or laplace
// noise. With a sensitivity above 0 the answer has the standard deviation too.
func CalibrateRelease(kind string, count int64, sensitivity float64, target figures.Spend, how How) (*Answer, error) {
	var noise func(x float64) dp.Event
	switch kind {
	case "gaussian":
		noise = func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }
	case "laplace":
		noise = func(x float64) dp.Event { return dp.Laplace{NoiseMultiplier: x} }
	default:
		return nil, usage.Newf("use gaussian or laplace", "unknown noise %q", kind)
	}
	if count < 1 {
		return nil, usage.Newf("", "--count: %d is not a whole number from 1 to 2^53", count)
	}
	if sensitivity < 0 || math.IsNaN(sensitivity) || math.IsInf(sensitivity, 0) {
		return nil, usage.Newf("", "--sensitivity: %s is not greater than 0", short(sensitivity))
	}
	event := func(x float64) dp.Event {
		if count == 1 {
			return noise(x)
		}
		return dp.Repeat{Count: count, Event: noise(x)}
	}
	f := Family{
		Free:   "noise_multiplier",
		Search: calibrate.Search{Event: event, Decreasing: true, Lower: 1e-6, Upper: 1e9},
		Price:  func(x float64) Plan { return Of(event(x), how.Relation, how.Method) },
	}
	ans, err := f.release(kind, float64(count), target, how.Relation, how.Method)
	if err == nil && sensitivity > 0 {
		ans.NoiseStdDev = Pointer(stdDev(kind, float64(*ans.Value)*sensitivity))
	}
	return ans, err
}
