package cost

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/internal/usage"
	"pawl/report"
)

// ParseReal reads a finite number that a flag was given. Hexadecimal and text around
// the number are refused: "1e-5 " is more often a mistake in a script than a wish.
func ParseReal(flag, text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && strings.Contains(err.Error(), "range"):
		return 0, usage.New(fmt.Sprintf("--%s: %q is out of range", flag, text), "")
	case err != nil || strings.ContainsAny(text, "xX_") || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, usage.New(fmt.Sprintf("--%s: %q is not a finite number", flag, text), "write it like 0.5 or 1e-5, without spaces")
	}
	return x, nil
}

// ParseWhole reads a whole number from 1 up; 3e5 is one.
func ParseWhole(flag, text string) (int64, error) {
	x, err := ParseReal(flag, text)
	if err != nil {
		return 0, err
	}
	if x != math.Trunc(x) || x < 1 || x > MostSteps {
		return 0, usage.New(fmt.Sprintf("--%s: %s is not a whole number from 1 to 2^53", flag, text), "")
	}
	return int64(x), nil
}

// ParseDelta accepts 0 where pure mechanisms may answer.
func ParseDelta(text string, zero bool) (float64, error) {
	d, err := ParseReal("delta", text)
	switch {
	case err != nil:
		return 0, err
	case d == 0 && !zero:
		return 0, usage.New("--delta must be greater than 0: with Gaussian noise, no finite epsilon holds at delta 0",
			"use a delta well below 1/rows, for example 1e-5")

	case d < 0 || d >= 1:
		return 0, usage.New(fmt.Sprintf("--delta: %s is not between 0 and 1", text), "use a delta well below 1/rows, for example 1e-5")
	}
	return d, nil
}

// ParseEpsilon accepts 0 where any epsilon may be asked.
func ParseEpsilon(text string, zero bool) (float64, error) {
	e, err := ParseReal("epsilon", text)
	switch {
	case err != nil:
		return 0, err
	case e < 0 || e == 0 && !zero:
		return 0, usage.New(fmt.Sprintf("--epsilon: %s is not greater than 0", text), "")
	}
	return e, nil
}

// How says how to count.
type How struct {
	Method   accountant.Method
	Relation dp.Relation
	// given says that the relation was asked for, and is no default.
	given bool
}

// ParseHow reads an accountant and a relation; "" stand for min and for add_or_remove_one.
func ParseHow(method, relation string) (h How, err error) {
	if h.Method, err = accountant.ParseMethod(cmp.Or(method, "min")); err != nil {
		return h, usage.New(err.Error(), "")
	}
	h.given = relation != ""
	if h.Relation, err = dp.ParseRelation(cmp.Or(relation, "add_or_remove_one")); err != nil {
		return h, usage.New(err.Error(), "")
	}
	return h, nil
}

// Under is the relation of a file and of what was asked. Numbers that were taken for one
// relation mean nothing under another.
func (h How) Under(name string, stated dp.Relation) (dp.Relation, error) {
	switch {
	case stated == 0:
		return h.Relation, nil
	case h.given && h.Relation != stated:
		return 0, usage.New(fmt.Sprintf("%s: its events are stated under %v, not under %v", name, stated, h.Relation),
			"noise multipliers depend on the relation through the sensitivity: restate them, or leave out --relation")

	}
	return stated, nil
}

// Ask computes epsilon at delta, delta at epsilon, or both; amounts are decimals, "" for not
// asked. pure says that delta may be 0.
func Ask(p Plan, delta, epsilon string, pure bool) (*Answer, error) {
	if delta == "" && epsilon == "" {
		return nil, usage.New("missing --delta", "example: --delta 1e-5")
	}
	var d, e float64
	var err error
	if delta != "" {
		if d, err = ParseDelta(delta, pure); err != nil {
			return nil, err
		}
	}
	if epsilon != "" {
		if e, err = ParseEpsilon(epsilon, true); err != nil {
			return nil, err
		}
	}
	if delta == "" {
		return AtEpsilon(p, e)
	}
	ans, err := AtDelta(p, d)
	if err == nil && epsilon != "" {
		err = ans.AddDelta(p, e)
	}
	return ans, err
}

// ParseTarget reads the target of a calibration. pure says that delta may be 0 or left out.
func ParseTarget(epsilon, delta string, pure bool) (s figures.Spend, err error) {
	if epsilon == "" {
		return s, usage.New("missing --epsilon", "example: --epsilon 1")
	}
	e, err := ParseEpsilon(epsilon, false)
	if err != nil {
		return s, err
	}
	if delta == "" && !pure {
		return s, usage.New("missing --delta", "example: --delta 1e-5")
	}
	d := 0.0
	if delta != "" {
		if d, err = ParseDelta(delta, pure); err != nil {
			return s, err
		}
	}
	return figures.Spend{Epsilon: ledger.Number(e), Delta: ledger.Number(d)}, nil
}

// Facts are what is known of a training; 0 stands for what was not given.
type Facts struct {
	SamplingRate    float64
	Rows, Batch     int64
	NoiseMultiplier float64
	Steps           int64
	Epochs          float64
	ClippingNorm    float64
}

// Training completes the facts, and names those of sampling-rate, noise-multiplier and steps
// that were left out. noNoise says that a NoiseMultiplier of 0 is given.
func (f Facts) Training(noNoise bool) (t Training, missing []string, err error) {
	t.Sampling = "poisson"
	for _, n := range []struct {
		flag  string
		value int64
	}{{"rows", f.Rows}, {"batch", f.Batch}, {"steps", f.Steps}} {
		if n.value < 0 {
			return t, nil, usage.Newf("", "--%s: %d is negative", n.flag, n.value)
		}
	}
	if f.SamplingRate != 0 && f.Batch != 0 {
		return t, nil, usage.New("--sampling-rate and --batch exclude each other", "give one of them")
	}
	if f.Steps != 0 && f.Epochs != 0 {
		return t, nil, usage.New("--steps and --epochs exclude each other", "give one of them")
	}
	t.Rows, t.Batch, t.Steps, t.Epochs, t.Clip = f.Rows, f.Batch, f.Steps, f.Epochs, f.ClippingNorm
	rate := new(big.Rat)
	switch {
	case f.SamplingRate != 0:
		q := f.SamplingRate
		if !(q > 0 && q <= 1) {
			return t, nil, usage.New(fmt.Sprintf("--sampling-rate: %s is not in (0, 1]", short(q)),
				"it is the expected batch size divided by the number of rows; 1 means full batch")

		}
		t.SamplingRate = q
		rate = Shortest(q)
	case f.Batch != 0:
		if t.Rows == 0 {
			return t, nil, usage.New("--batch needs --rows", "add --rows, or give --sampling-rate instead")
		}
		if t.Batch > t.Rows {
			return t, nil, usage.New(fmt.Sprintf("--batch %d is larger than the number of rows, %d", t.Batch, t.Rows), "")
		}
		rate.SetFrac64(t.Batch, t.Rows)
		t.SamplingRate = float64(t.Batch) / float64(t.Rows)
	default:
		missing = append(missing, "sampling-rate")
	}
	switch t.NoiseMultiplier = f.NoiseMultiplier; {
	case f.NoiseMultiplier < 0 || math.IsNaN(f.NoiseMultiplier):
		return t, nil, usage.New(fmt.Sprintf("--noise-multiplier: %s is negative", short(f.NoiseMultiplier)), "")
	case f.NoiseMultiplier == 0 && !noNoise:
		missing = append(missing, "noise-multiplier")
	}
	switch {
	case f.Steps != 0:
	case f.Epochs != 0:
		if !(t.Epochs > 0) {
			return t, nil, usage.New(fmt.Sprintf("--epochs: %s is not greater than 0", short(f.Epochs)), "")
		}
		if t.SamplingRate == 0 {
			return t, nil, usage.New("--epochs needs a sampling rate", "give --steps, or --rows and --batch")
		}
		if t.Steps, err = CeilSteps(t.Epochs, rate); err != nil {
			return t, nil, err
		}
	default:
		missing = append(missing, "steps")
	}
	if f.ClippingNorm < 0 {
		return t, nil, usage.New(fmt.Sprintf("--clipping-norm: %s is not greater than 0", short(f.ClippingNorm)), "")
	}
	return t, missing, nil
}

// Of says for which training the answer is.
func (ans *Answer) Of(t Training) {
	ans.Training = &t
	ans.Warnings = append(ans.Warnings, t.Notes(float64(ans.Privacy.Delta))...)
}

// JSON is the answer as one object, in which nothing is escaped for HTML.
func (ans *Answer) JSON() ([]byte, error) {
	var b bytes.Buffer
	err := ans.WriteJSON(&b)
	return b.Bytes(), err
}

// WriteJSON writes that object.
func (ans *Answer) WriteJSON(w io.Writer) error { return report.Encode(w, ans) }
