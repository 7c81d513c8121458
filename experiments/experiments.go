// Package experiments replays what the papers measured, beside our own numbers.
//
// One folder holds one table or figure: its settings, the published values with
// their source, and wiring. An experiment prints a Table: the data that were used,
// the published value, ours by the published procedure (which may be no guarantee,
// and then says so), ours by the honest one, and a baseline, each mean with its
// interval and its number of runs. Experiments use the library as everybody else
// does; they never change it.
package experiments

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"pawl/data/dataset"
)

// Scale says how much of the published work is repeated.
type Scale string

const (
	// Smoke shows in seconds that the wiring works; its numbers mean little.
	Smoke Scale = "smoke"
	// Quick takes minutes on two cores.
	Quick Scale = "quick"
	// Paper repeats as often as the paper did.
	Paper Scale = "paper"
)

// Scales are in rising order.
var Scales = []Scale{Smoke, Quick, Paper}

// Pick returns the value for the scale.
func Pick[T any](s Scale, smoke, quick, paper T) T {
	switch s {
	case Smoke:
		return smoke
	case Quick:
		return quick
	}
	return paper
}

// Experiment is one table or figure.
type Experiment struct {
	// Name is what the command line calls it: "table-10".
	Name string
	// Title says what it shows, Source where it stands.
	Title, Source string
	// Data are the built-in data sets that it needs. SmokeData are those of scale smoke, where it takes fewer.
	Data, SmokeData []string
	// Files are tables beside them, which are not part of pawl.
	Files []dataset.Info
	// Quick is about how many seconds the quick scale takes on two cores.
	Quick int
	// Clocked says that its cells are times of this machine, which no second run repeats.
	Clocked bool
	// Run fills the table. It calls Run.Cell for every measurement, so that an
	// interrupted replay goes on where it stopped.
	Run func(ctx context.Context, r *Run) (*Table, error)
}

// Find looks for all data that the scale needs: a *dataset.FileError says how to get what is missing.
func (e Experiment) Find(scale Scale, dataDir string) error {
	if scale == Smoke && e.SmokeData != nil {
		return dataset.FindAll(dataDir, e.SmokeData)
	}
	return dataset.FindAll(dataDir, e.Data, e.Files...)
}

// Estimate is a mean over independent runs with a 95 % interval (Student's t; with
// one run the interval is unbounded).
type Estimate struct {
	Mean, Low, High float64
	Runs            int
}

// Of summarizes the runs; it returns nil for none.
func Of(values []float64) *Estimate {
	n := len(values)
	if n == 0 {
		return nil
	}
	mean, sd := stat.MeanStdDev(values, nil)
	half := math.Inf(1)
	if n > 1 {
		half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975) * sd / math.Sqrt(float64(n))
	}
	return &Estimate{Mean: mean, Low: mean - half, High: mean + half, Runs: n}
}

// Exact is an estimate of a number that is computed rather than measured.
func Exact(v float64) *Estimate { return &Estimate{Mean: v, Low: v, High: v, Runs: 1} }

type estimateView struct {
	Mean     float64     `json:"mean"`
	Interval *[2]float64 `json:"interval"`
	Runs     int         `json:"runs"`
}

// MarshalJSON writes the interval as null where a single run leaves it open.
func (e Estimate) MarshalJSON() ([]byte, error) {
	view := estimateView{Mean: e.Mean, Runs: e.Runs}
	if !math.IsInf(e.Low, 0) && !math.IsInf(e.High, 0) {
		view.Interval = &[2]float64{e.Low, e.High}
	}
	return json.Marshal(view)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	var view estimateView
	if err := json.Unmarshal(b, &view); err != nil {
		return err
	}
	*e = Estimate{Mean: view.Mean, Low: math.Inf(-1), High: math.Inf(1), Runs: view.Runs}
	if view.Interval != nil {
		e.Low, e.High = view.Interval[0], view.Interval[1]
	}
	return nil
}

// Computed says that the number is computed rather than measured (Exact).
func (e *Estimate) Computed() bool { return e.Runs == 1 && e.Low == e.High }

// Verdict compares ours with what was published.
type Verdict string

const (
	// Reproduced: the published value lies in our interval or within the tolerance.
	Reproduced Verdict = "reproduced"
	// SameSign: the value differs, the comparison that it stands for points the same
	// way.
	SameSign Verdict = "same sign"
	// Not: neither; the row says why.
	Not Verdict = "not"
	// Unpublished: our number stands alone.
	Unpublished Verdict = "no published value"
)

// Row is one line of a table. Absent values are nil.
type Row struct {
	Name        string    `json:"name"`
	Data        string    `json:"data_used"`
	Published   *float64  `json:"published"`
	AsPublished *Estimate `json:"as_published_ours"`
	Honest      *Estimate `json:"honest_ours"`
	Baseline    *Estimate `json:"baseline"`
	// Tolerance is how far from the published value ours may lie and still be reproduced.
	Tolerance float64 `json:"tolerance,omitempty"`
	Verdict   Verdict `json:"verdict"`
	Why       string  `json:"why,omitempty"`
}

// Judge fills the verdict from the published value and ours by the published
// procedure: reproduced within tolerance or interval, else Not for the given reason.
func (r *Row) Judge(tolerance float64, why string) {
	r.Tolerance = tolerance
	ours := r.AsPublished
	if ours == nil {
		ours = r.Honest
	}
	switch {
	case r.Published == nil || ours == nil:
		r.Verdict = Unpublished
	case math.Abs(ours.Mean-*r.Published) <= tolerance:
		r.Verdict = Reproduced
	case ours.Runs > 1 && ours.Low <= *r.Published && *r.Published <= ours.High:
		r.Verdict = Reproduced
	default:
		r.Verdict, r.Why = Not, why
	}
}

// Claim is a sentence of the paper that the table bears on.
type Claim struct {
	Statement string  `json:"statement"`
	Verdict   Verdict `json:"verdict"`
	Evidence  string  `json:"evidence"`
}

// Table is the outcome of a replay.
type Table struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Source    string   `json:"source"`
	Scale     Scale    `json:"scale"`
	Unit      string   `json:"unit"`
	Rows      []Row    `json:"rows"`
	Claims    []Claim  `json:"claims"`
	Notes     []string `json:"notes"`
	Guarantee string   `json:"guarantee"`
	// PublishedEpsilon is the epsilon that the published procedure would state, by
	// the name of what it is.
	PublishedEpsilon map[string]float64 `json:"published_epsilon_not_a_guarantee,omitempty"`
	Seconds          float64            `json:"seconds"`
}

// NoGuarantee is the words for procedures that leave choices unpaid.
const NoGuarantee = "columns “as published” are replays on public data, NOT a privacy guarantee"

// Registry holds experiments by name.
type Registry struct{ all []Experiment }

// NewRegistry panics when two experiments have one name.
func NewRegistry(all ...Experiment) *Registry {
	slices.SortFunc(all, func(a, b Experiment) int { return CompareNames(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			panic(fmt.Sprintf("experiments: two are called %q", all[i].Name))
		}
	}
	return &Registry{all}
}

// List returns all experiments in the order of their names.
func (r *Registry) List() []Experiment { return slices.Clone(r.all) }

// Lookup finds an experiment.
func (r *Registry) Lookup(name string) (Experiment, bool) {
	i := slices.IndexFunc(r.all, func(e Experiment) bool { return e.Name == name })
	if i < 0 {
		return Experiment{}, false
	}
	return r.all[i], true
}

var digits = regexp.MustCompile(`\d+`)

// CompareNames orders names, with numbers by their value: it puts table-2 before table-10.
func CompareNames(a, b string) int {
	padded := func(name string) string {
		return digits.ReplaceAllStringFunc(name, func(n string) string { return fmt.Sprintf("%9s", n) })
	}
	return cmp.Compare(padded(a), padded(b))
}
