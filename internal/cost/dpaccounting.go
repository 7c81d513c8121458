package cost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/internal/usage"
)

// DPAccounting is a claim in the terms of Google's dp_accounting (0.6): an event for each kind of unit,
// of which the most expensive counts. Each event costs at least what ours costs, by the accountants of that library.
type DPAccounting struct {
	Relation string        `json:"neighboring_relation"`
	Unit     string        `json:"unit"`
	Delta    ledger.Number `json:"delta"`
	Epsilon  ledger.Number `json:"epsilon_pawl"` // at Delta, by our own accountant
	Events   []*dpEvent    `json:"events"`

	relation dp.Relation
}

// dpEvent is one object of dp_accounting.dp_event with its arguments.
type dpEvent struct {
	class string
	args  []dpArgument
	// once says that an accountant of the library prices repeats of this event as one use.
	once bool
}

// dpArgument has a value of type float64, int64, *dpEvent or []*dpEvent.
type dpArgument struct {
	name  string
	value any
}

// dpRelations are their names of our relations.
var dpRelations = map[dp.Relation]string{dp.AddOrRemoveOne: "ADD_OR_REMOVE_ONE", dp.ReplaceOne: "REPLACE_ONE", dp.ZeroOut: "REPLACE_SPECIAL"}

// mostCopies bounds how often an event is written out that cannot be repeated by a count.
const mostCopies = 10000

// ToDPAccounting translates what name states, and refuses events that the library has no equal for.
func ToDPAccounting(name string, s dp.Stated, rel dp.Relation, delta float64) (*DPAccounting, error) {
	d := &DPAccounting{Relation: dpRelations[rel], Unit: cmp.Or(s.Unit, "unit"), Delta: ledger.Number(delta), relation: rel}
	if s.Group > 1 {
		return nil, noEqual(name, "a guarantee for groups")
	}
	events := []dp.Event{dp.Unscoped(s.Event)}
	if rel != dp.ReplaceOne {
		events = nil
		for _, point := range dp.Breakpoints(s.Event) {
			events = append(events, dp.Resolve(s.Event, point))
		}
	}
	seen := map[string]bool{}
	for _, e := range events {
		out, err := d.of(e)
		if err != nil {
			return nil, noEqual(name, err.Error())
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		if !seen[string(text)] {
			d.Events = append(d.Events, out)
		}
		seen[string(text)] = true
	}
	r, err := accountant.Epsilon(s.Event, rel, delta, accountant.MethodMin)
	d.Epsilon = ledger.Number(r.Epsilon)
	return d, relationAdvice(err)
}

func noEqual(name, what string) error {
	return usage.Newf("pawl account event computes its epsilon", "%s: dp_accounting has no equivalent of %s", name, what)
}

// of translates an event without scopes. An error names what has no equal.
func (d *DPAccounting) of(e dp.Event) (*dpEvent, error) {
	switch e := e.(type) {
	case dp.NoOp:
		return dpNoOp(), nil
	case dp.NonPrivate:
		return dpOf("NonPrivateDpEvent"), nil
	case dp.Gaussian:
		// Under REPLACE_ONE the loss distributions there take the noise as relative to half of the
		// sensitivity, and find too much; RDP takes it as we do.
		return dpNoise(e.NoiseMultiplier, "GaussianDpEvent", "noise_multiplier", e.NoiseMultiplier), nil
	case dp.Laplace:
		return dpNoise(e.NoiseMultiplier, "LaplaceDpEvent", "noise_multiplier", e.NoiseMultiplier), nil
	case dp.DiscreteGaussian:
		// DiscreteGaussianDpEvent is younger than 0.6, and asks for the dimension.
		return dpNoise(e.NoiseMultiplier, "ZCDpEvent", "rho", up(0.5/e.NoiseMultiplier/e.NoiseMultiplier)), nil
	case dp.DiscreteLaplace:
		// DiscreteLaplaceDpEvent asks for the sensitivity in whole numbers, which the event does not tell.
		return dpNoise(e.NoiseMultiplier, "EpsilonDeltaDpEvent", "epsilon", up(1/e.NoiseMultiplier), "delta", 0.), nil
	case dp.Pure:
		return dpApproximate(e.Epsilon, 0), nil
	case dp.Approximate:
		return dpApproximate(e.Epsilon, e.Delta), nil
	case dp.ZCDP:
		return dpOf("ZCDpEvent", "rho", e.Rho), nil
	case dp.ExponentialMechanism:
		if e.Epsilon == 0 {
			return dpNoOp(), nil // their formula divides by it
		}
		out := dpOf("ExponentialMechanismDpEvent", "epsilon", e.Epsilon)
		out.once = true
		return out, nil
	case dp.RandomizedResponse:
		out := dpOf("RandomizedResponseDpEvent", "noise_parameter", e.NoiseProbability, "num_buckets", int64(e.Categories))
		out.once = true
		return out, nil
	case dp.PoissonSampled:
		return d.sampled(e)
	case dp.FixedSizeSampled:
		inner, err := d.of(e.Event)
		switch {
		case err != nil, e.SampleSize == e.SourceSize, inner.isNoOp():
			return inner, err
		case e.SampleSize == 0:
			return dpNoOp(), nil
		case !gaussians(e.Event):
			return nil, fmt.Errorf("a sample of fixed size of %s", dp.KindOf(e.Event))
		}
		return dpOf("SampledWithoutReplacementDpEvent", "source_dataset_size", int64(e.SourceSize), "sample_size", int64(e.SampleSize), "event", inner), nil
	case dp.Shuffled:
		return d.repeated(e.Event, int64(e.Epochs)) // every unit meets the event once an epoch
	case dp.Banded:
		return d.of(e.Rounds())
	case dp.Repeat:
		return d.repeated(e.Event, e.Count)
	case dp.Compose:
		var parts []*dpEvent
		for _, c := range e.Events {
			part, err := d.of(c)
			if err != nil {
				return nil, err
			}
			if !part.isNoOp() {
				parts = append(parts, part)
			}
		}
		return dpComposed(parts), nil
	case dp.Select:
		return d.selected(e)
	}
	return nil, fmt.Errorf("%s", dp.KindOf(e))
}

// sampled is a Poisson sample. The library amplifies Gaussian noise and Laplace noise. What it takes for Gaussian
// by its Rényi curve alone (ZCDpEvent) we do not hand to it: no theorem amplifies a curve so.
func (d *DPAccounting) sampled(e dp.PoissonSampled) (*dpEvent, error) {
	if d.relation == dp.ReplaceOne && e.OneSided == nil {
		return d.of(e.Event) // nothing is amplified
	}
	inner, err := d.of(e.Event)
	if err != nil || e.Rate == 1 || inner.isNoOp() || inner.class == "NonPrivateDpEvent" {
		return inner, err
	}
	if e.Rate == 0 {
		return dpNoOp(), nil
	}
	if d.relation == dp.ReplaceOne {
		// Their pair has one norm on either side of zero, in noise relative to that norm.
		one, ok := e.OneSided.(dp.Gaussian)
		both, same := e.Event.(dp.Gaussian)
		if !ok || !same || one.NoiseMultiplier > 2*both.NoiseMultiplier {
			return nil, fmt.Errorf("a Poisson sample of %s under replace_one", dp.KindOf(e.Event))
		}
		if inner, err = d.of(one); err != nil || inner.class != "GaussianDpEvent" {
			return inner, err
		}
	} else if _, laplace := e.Event.(dp.Laplace); !laplace && !gaussians(e.Event) {
		return nil, fmt.Errorf("a Poisson sample of %s", dp.KindOf(e.Event))
	}
	return dpOf("PoissonSampledDpEvent", "sampling_probability", e.Rate, "event", inner), nil
}

// gaussians reports whether an event is Gaussian noise and nothing else.
func gaussians(e dp.Event) bool {
	switch e := e.(type) {
	case dp.Gaussian:
		return true
	case dp.Repeat:
		return gaussians(e.Event)
	case dp.Compose:
		return !slices.ContainsFunc(e.Events, func(c dp.Event) bool { return !gaussians(c) })
	}
	return false
}

func (d *DPAccounting) repeated(e dp.Event, count int64) (*dpEvent, error) {
	inner, err := d.of(e)
	switch {
	case err != nil || count == 1 || inner.isNoOp():
		return inner, err
	case count == 0:
		return dpNoOp(), nil
	case !inner.once:
		return dpOf("SelfComposedDpEvent", "count", count, "event", inner), nil
	case count > mostCopies:
		return nil, fmt.Errorf("%d uses of %s, which it would price as one", count, inner.class)
	}
	return dpComposed(slices.Repeat([]*dpEvent{inner}, int(count))), nil
}

func (d *DPAccounting) selected(e dp.Select) (*dpEvent, error) {
	inner, err := d.of(e.Event)
	if err != nil || inner.isNoOp() {
		return inner, err
	}
	switch r := e.Runs.(type) {
	case dp.TruncatedNegativeBinomial:
		if r.Eta >= 0 {
			return dpOf("RepeatAndSelectDpEvent", "mean", r.Mean, "shape", r.Eta, "event", inner), nil
		}
		return nil, fmt.Errorf("a selection with eta %g", r.Eta)
	case dp.PoissonRuns:
		if r.Mean >= 1 {
			return dpOf("RepeatAndSelectDpEvent", "mean", r.Mean, "shape", math.Inf(1), "event", inner), nil
		}
		return nil, fmt.Errorf("a selection from %g runs on average", r.Mean)
	}
	return nil, fmt.Errorf("a selection with %s", dp.RunsKindOf(e.Runs))
}

// up is the next larger number, for what a division has rounded.
func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// dpOf makes an event of a class; names and values alternate.
func dpOf(class string, arguments ...any) *dpEvent {
	e := &dpEvent{class: class}
	for i := 0; i < len(arguments); i += 2 {
		e.args = append(e.args, dpArgument{arguments[i].(string), arguments[i+1]})
		if inner, ok := arguments[i+1].(*dpEvent); ok {
			e.once = inner.once
		}
	}
	return e
}

// dpNoise is dpOf for noise, and no privacy where there is none or too little for a number.
func dpNoise(multiplier float64, class string, arguments ...any) *dpEvent {
	if x := arguments[1].(float64); multiplier == 0 || math.IsInf(x, 0) {
		return dpOf("NonPrivateDpEvent")
	}
	return dpOf(class, arguments...)
}

func dpApproximate(epsilon, delta float64) *dpEvent {
	if epsilon == 0 && delta == 0 {
		return dpNoOp()
	}
	return dpOf("EpsilonDeltaDpEvent", "epsilon", epsilon, "delta", delta)
}

func dpNoOp() *dpEvent { return dpOf("NoOpDpEvent") }

func (e *dpEvent) isNoOp() bool { return e.class == "NoOpDpEvent" }

func dpComposed(parts []*dpEvent) *dpEvent {
	switch len(parts) {
	case 0:
		return dpNoOp()
	case 1:
		return parts[0]
	}
	out := dpOf("ComposedDpEvent", "events", parts)
	out.once = slices.ContainsFunc(parts, func(p *dpEvent) bool { return p.once })
	return out
}

// MarshalJSON writes the class and the arguments by their names there.
func (e *dpEvent) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"class_name": e.class}
	for _, a := range e.args {
		fields[a.name] = a.value
		if x, ok := a.value.(float64); ok {
			fields[a.name] = ledger.Number(x)
		}
	}
	return json.Marshal(fields)
}

// python writes the constructor, on one line where it fits.
func (e *dpEvent) python(indent string) string {
	const width = 110
	write := func(open, comma, last, inner string) string {
		var b strings.Builder
		b.WriteString("dp_event." + e.class + "(")
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(a.name + "=")
			switch v := a.value.(type) {
			case float64:
				b.WriteString(pythonNumber(v))
			case int64:
				b.WriteString(strconv.FormatInt(v, 10))
			case *dpEvent:
				b.WriteString(open + v.python(inner) + last)
			case []*dpEvent:
				b.WriteString("[")
				for k, part := range v {
					if k == 0 {
						b.WriteString(open)
					} else {
						b.WriteString(comma)
					}
					b.WriteString(part.python(inner))
				}
				b.WriteString(last + "]")
				if v[0] == v[len(v)-1] {
					b.Reset()
					fmt.Fprintf(&b, "dp_event.%s(%s=[%s] * %d", e.class, a.name, v[0].python(inner), len(v))
				}
			}
		}
		return b.String() + ")"
	}
	if flat := write("", ", ", "", ""); len(indent)+len(flat) <= width && !strings.Contains(flat, "\n") {
		return flat
	}
	inner := indent + "    "
	return write("\n"+inner, ",\n"+inner, ",\n"+indent, inner)
}

// WritePython is a program that prints what the accountants of dp_accounting say.
func (d *DPAccounting) WritePython(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`"""The events of a release, for Google's dp_accounting: pip install dp-accounting

An event says what one unit meets. Where units meet different events, each has its own, and the largest
epsilon counts. Noise multipliers are relative to the sensitivity under the neighbouring relation.
"""

from dp_accounting import NeighboringRelation, dp_event, pld, rdp

`)
	fmt.Fprintf(&b, "relation = NeighboringRelation.%s\nunit = %s  # what is added, removed or replaced\ndelta = %s\nepsilon_pawl = %s\n",
		d.Relation, strconv.QuoteToASCII(d.Unit), pythonNumber(float64(d.Delta)), pythonNumber(float64(d.Epsilon)))
	if d.relation == dp.ReplaceOne {
		b.WriteString("# PLDAccountant takes Gaussian noise under REPLACE_ONE as relative to half of the sensitivity: its figure is too high.\n")
	}
	b.WriteString("events = [\n")
	for _, e := range d.Events {
		fmt.Fprintf(&b, "    %s,\n", e.python("    "))
	}
	b.WriteString(`]


def epsilon(make):
    """The largest epsilon over the events; None where the accountant does not know one of them."""
    largest = 0.0
    for event in events:
        accountant = make()
        if not accountant.supports(event):
            return None
        accountant.compose(event)
        largest = max(largest, accountant.get_epsilon(delta))
    return largest


if __name__ == "__main__":
    print(f"pawl           epsilon {epsilon_pawl:.6g} at delta {delta:g}, {relation.name}, unit {unit}")
    for name, make in (("PLDAccountant", lambda: pld.PLDAccountant(relation)), ("RdpAccountant", lambda: rdp.RdpAccountant(neighboring_relation=relation))):
        found = epsilon(make)
        print(name, "", "does not know all of these events" if found is None else f"epsilon {found:.6g}")
`)
	_, err := b.WriteTo(w)
	return err
}

func pythonNumber(x float64) string {
	if math.IsInf(x, 1) {
		return `float("inf")`
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
