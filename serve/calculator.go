package serve

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"pawl"
	"pawl/core/ledger"
	"pawl/internal/cost"
	"pawl/internal/usage"
	"pawl/report"
)

// training is DP-SGD as a page or a program names it: numbers as they were typed.
type training struct{ Rate, Noise, Steps, Delta, Epsilon string }

func (v *visit) trainingInQuery() training {
	return training{v.query("sampling_rate"), v.query("noise_multiplier"), v.query("steps"), v.query("delta"), v.query("epsilon")}
}

// answer prices a training, or with an epsilon in place of the noise finds the noise.
func (t training) answer() (*pawl.Answer, *pawl.DPSGD, error) {
	x := &pawl.DPSGD{}
	var err error
	for _, f := range []struct {
		name, text string
		to         *float64
	}{{"sampling-rate", t.Rate, &x.SamplingRate}, {"noise-multiplier", t.Noise, &x.NoiseMultiplier}} {
		if f.text != "" && err == nil {
			*f.to, err = cost.ParseReal(f.name, f.text)
		}
	}
	if err == nil && t.Steps != "" {
		x.Steps, err = cost.ParseWhole("steps", t.Steps)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case x.SamplingRate == 0 || x.Steps == 0 || t.Delta == "":
		return nil, nil, usage.New("give the sampling rate, the number of steps and delta", "example: 0.01, 1000 and 1e-6")
	case (t.Noise == "") == (t.Epsilon == ""):
		return nil, nil, usage.New("give the noise multiplier, or epsilon to find it", "leave one of the two empty")
	case t.Noise == "":
		a, err := pawl.Calibrate{DPSGD: x, Epsilon: t.Epsilon, Delta: t.Delta}.Answer()
		if err == nil {
			x.NoiseMultiplier = a.Value
		}
		return a, x, err
	}
	a, err := pawl.Account{DPSGD: x, Delta: t.Delta}.Answer()
	return a, x, err
}

// bound is a valid bound by one method.
type bound struct{ Method, Epsilon string }

// shownAnswer is an answer in words.
type shownAnswer struct {
	*pawl.Answer
	EpsilonText, DeltaText, LowerText, ValueText, Belief string
	All                                                  []bound
}

// FreeWords name the number that was found.
func (s shownAnswer) FreeWords() string {
	text := strings.ReplaceAll(s.Free, "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

func showAnswer(a *pawl.Answer) shownAnswer {
	s := shownAnswer{Answer: a, EpsilonText: cost.RoundedUp(a.Epsilon), DeltaText: report.Delta(a.Delta), Belief: belief(a.Epsilon)}
	if a.Lower > 0 {
		s.LowerText = report.Down(a.Lower)
	}
	if a.Free != "" {
		s.ValueText = cost.Full(a.Value)
	}
	for _, m := range slices.Sorted(maps.Keys(a.Bounds)) {
		s.All = append(s.All, bound{m, cost.RoundedUp(a.Bounds[m])})
	}
	return s
}

const curvePoints = 25

// curveOf prices a training at several values of one number, by the quick bound.
func curveOf(low, high float64, delta string, at func(x float64) pawl.DPSGD) (s series) {
	for i := range curvePoints {
		x := low * math.Pow(high/low, float64(i)/(curvePoints-1))
		t := at(x)
		e := math.NaN()
		if a, err := (pawl.Account{DPSGD: &t, Delta: delta, Accountant: "rdp"}).Answer(); err == nil {
			e = a.Epsilon
		}
		s.X, s.Y = append(s.X, x), append(s.Y, e)
	}
	return s
}

// curves are epsilon against noise and steps around a training.
func curves(x *pawl.DPSGD, delta string) (noise, steps, rate *chart) {
	one := func(name string, low, high, at float64, set func(t *pawl.DPSGD, x float64)) *chart {
		s := curveOf(low, high, delta, func(v float64) pawl.DPSGD { t := *x; set(&t, v); return t })
		s.Name = "RDP bound"
		a := axes{x: name, y: "epsilon", logX: true, logY: true}
		return newChart(a, s).mark(a, low, high, at, "yours")
	}
	if z := x.NoiseMultiplier; z > 0 {
		noise = one("noise multiplier", z/4, z*4, z, func(t *pawl.DPSGD, v float64) { t.NoiseMultiplier = v })
	}
	n := float64(x.Steps)
	steps = one("steps", math.Max(1, n/10), n*10, n, func(t *pawl.DPSGD, v float64) { t.Steps = int64(math.Round(v)) })
	q := x.SamplingRate
	rate = one("sampling rate", q/10, math.Min(1, q*10), q, func(t *pawl.DPSGD, v float64) { t.SamplingRate = math.Min(v, 1) })
	return noise, steps, rate
}

func (v *visit) calculator() error {
	t := v.trainingInQuery()
	view := map[string]any{"T": t}
	if t == (training{}) {
		view["T"] = training{Rate: "0.01", Noise: "1", Steps: "1000", Delta: "1e-6"}
		return v.page("calculator", "Calculator", view)
	}
	return v.compute(func() error {
		a, x, err := t.answer()
		if err != nil {
			return v.fault("calculator", "Calculator", view, err)
		}
		view["A"] = showAnswer(a)
		noise, steps, rate := curves(x, t.Delta)
		view["Charts"] = []*chart{noise, steps, rate}
		return v.page("calculator", "Calculator", view)
	})
}

// fault shows a form again with what is wrong with it.
func (v *visit) fault(name, title string, view map[string]any, err error) error {
	p := v.s.problemOf(err)
	if p.Status >= 500 {
		return err
	}
	view["Fault"] = p
	return v.write(p.Status, name, &frame{Title: title, Data: view})
}

// event prices what was typed into the page.
func (v *visit) event() error {
	text, delta := v.field("event"), v.field("delta")
	view := map[string]any{"T": training{Rate: "0.01", Noise: "1", Steps: "1000", Delta: "1e-6"}, "Event": text, "EventDelta": delta}
	return v.compute(func() error {
		a, err := pawl.Account{Event: []byte(text), Delta: delta}.Answer()
		if err != nil {
			return v.fault("calculator", "Calculator", view, err)
		}
		view["EventAnswer"] = showAnswer(a)
		return v.page("calculator", "Calculator", view)
	})
}

func (v *visit) apiAccount() error {
	return v.compute(func() error {
		a, _, err := v.trainingInQuery().answer()
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, a)
	})
}

// eventBody is what a program sends to have an event priced.
type eventBody struct {
	Event   any    `json:"event"`
	Delta   string `json:"delta,omitempty"`
	Epsilon string `json:"epsilon,omitempty"`
}

// accountView describes the answer about an event or a training; more fields come with it.
type accountView struct {
	Privacy struct {
		Epsilon    ledger.Number `json:"epsilon"`
		Delta      ledger.Number `json:"delta"`
		Relation   string        `json:"relation"`
		Accountant string        `json:"accountant"`
	} `json:"privacy"`
	Posterior ledger.Number `json:"posterior_at_half"`
}

func (v *visit) apiEvent() error {
	var b struct {
		Event   json.RawMessage `json:"event"`
		Delta   string          `json:"delta"`
		Epsilon string          `json:"epsilon"`
	}
	if err := v.body(&b); err != nil {
		return err
	}
	if b.Event == nil {
		return refuse(http.StatusBadRequest, "The JSON is not valid", "The field event is missing.", "openapi.json lists the fields.")
	}
	return v.compute(func() error {
		a, err := pawl.Account{Event: b.Event, Delta: b.Delta, Epsilon: b.Epsilon}.Answer()
		if err != nil {
			return err
		}
		return v.json(http.StatusOK, a)
	})
}
