package feature

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Auto in place of a number of features leaves it to the selector.
const Auto = -1

// Selector chooses features from statistics. What the statistics cost is Need().Quote;
// Select itself is post-processing.
type Selector interface {
	// Name is a short word for reports.
	Name() string
	// Level says what Choice.Column is one of.
	Level() Level
	Need() Need
	// Select chooses k features, or as many as it thinks best for Auto where it can. A
	// k out of range is a *CountError.
	Select(ctx context.Context, s *Statistics, k int) (*Selection, error)
}

// Choice is one chosen feature.
type Choice struct {
	// Index is the position among Domain.Columns of the selector's level.
	Index  int
	Column Column
	// Score is the selector's own measure for the feature.
	Score float64
	// Reason says in words why it was chosen. It repeats the statistics and is as public
	// as they are.
	Reason string
}

// Selection is the outcome. With Auto it may be empty: nothing seemed worth its cost.
type Selection struct {
	Selector string
	Level    Level
	// Chosen is in the order of choice, the most useful first; sets found as a whole are in
	// order of index.
	Chosen []Choice
	// Merit is that of the set where the selector uses one, else NaN.
	Merit float64
	// Note is a remark on the whole, or empty.
	Note string
}

// Indices returns the chosen positions in order of choice.
func (s *Selection) Indices() []int {
	out := make([]int, len(s.Chosen))
	for i, c := range s.Chosen {
		out[i] = c.Index
	}
	return out
}

// Attributes returns the positions of the attributes that hold the chosen columns, in
// rising order and once each.
func (s *Selection) Attributes() []int {
	var out []int
	for _, c := range s.Chosen {
		out = append(out, c.Column.Attribute)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkCount returns a *CountError unless 1 <= k <= features, or k is Auto and allowed.
func checkCount(k, features int, auto bool) error {
	if features < 1 {
		return ErrNoFeatures
	}
	if k >= 1 && k <= features || k == Auto && auto {
		return nil
	}
	return &CountError{k, features, auto}
}

// ranked takes the k best scores; ties go to the lowest index.
func ranked(name string, l Level, columns []Column, scores []float64, k int, reason func(i int) string) *Selection {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	out := &Selection{Selector: name, Level: l, Merit: math.NaN()}
	for _, i := range order[:k] {
		out.Chosen = append(out.Chosen, Choice{i, columns[i], scores[i], reason(i)})
	}
	return out
}

func inBits(x float64) string { return fmt.Sprintf("%.3g bits", x) }
