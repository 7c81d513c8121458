package feature

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Measure is what Relevance ranks by.
type Measure string

const (
	MutualInformation Measure = "mutual-information"
	Uncertainty       Measure = "uncertainty" // symmetrical, so that features of many levels have no advantage
)

// Relevance takes the features that say most about the label, each by itself. It needs
// label tables alone, √((m+1)/2) times less noise than all pairs.
type Relevance struct {
	At      Level   // AttributeLevel where empty
	By      Measure // MutualInformation where empty
	Options MatrixOptions
}

func (r Relevance) Name() string {
	if r.By == "" {
		return string(MutualInformation)
	}
	return string(r.By)
}
func (r Relevance) Level() Level { return orAttribute(r.At) }
func (Relevance) Need() Need     { return NeedLabelTables }

// Select ranks by the measure.
func (r Relevance) Select(_ context.Context, s *Statistics, k int) (*Selection, error) {
	if name := Measure(r.Name()); name != MutualInformation && name != Uncertainty {
		return nil, fmt.Errorf("%w: relevance by %q", ErrOption, r.By)
	}
	if err := s.ready(NeedLabelTables, r.Level(), k, false); err != nil {
		return nil, err
	}
	m, err := s.labelMatrix(r.Level(), r.Options)
	if err != nil {
		return nil, err
	}
	scores := m.LabelInformation
	if r.By == Uncertainty {
		scores = m.Label
	}
	return ranked(r.Name(), r.Level(), m.Columns, scores, k, func(i int) string {
		return fmt.Sprintf("%s about the label, uncertainty %.4g", inBits(m.LabelInformation[i]), m.Label[i])
	}), nil
}

// ready checks the domain, k and the statistics, in this order.
func (s *Statistics) ready(need Need, l Level, k int, auto bool) error {
	if err := s.Domain.Check(); err != nil {
		return err
	}
	if err := checkCount(k, len(s.Domain.Columns(l)), auto); err != nil {
		return err
	}
	return s.check(need)
}

// Distance ranks by the distance between class means ([D] Def. 7, DFS).
type Distance struct {
	Combine Combine // Sum where empty
}

func (Distance) Name() string { return "distance" }
func (Distance) Level() Level { return AttributeLevel }
func (Distance) Need() Need   { return NeedClassSums }

// Select ranks by ClassSums.Distances.
func (d Distance) Select(_ context.Context, s *Statistics, k int) (*Selection, error) {
	if err := s.ready(NeedClassSums, AttributeLevel, k, false); err != nil {
		return nil, err
	}
	scores, err := s.Classes.Distances(d.Combine)
	if err != nil {
		return nil, err
	}
	return ranked(d.Name(), AttributeLevel, s.Domain.Columns(AttributeLevel), scores, k, func(i int) string {
		return fmt.Sprintf("class means lie %.4g apart", scores[i])
	}), nil
}

// TStatistic ranks by the t-statistic ([D] Eq. 15).
type TStatistic struct{}

func (TStatistic) Name() string { return "t-statistic" }
func (TStatistic) Level() Level { return AttributeLevel }
func (TStatistic) Need() Need   { return NeedClassMoments }

// Select ranks by ClassSums.TStatistics.
func (t TStatistic) Select(_ context.Context, s *Statistics, k int) (*Selection, error) {
	if err := s.ready(NeedClassMoments, AttributeLevel, k, false); err != nil {
		return nil, err
	}
	scores, err := s.Classes.TStatistics()
	if err != nil {
		return nil, err
	}
	return ranked(t.Name(), AttributeLevel, s.Domain.Columns(AttributeLevel), scores, k, func(i int) string {
		return fmt.Sprintf("t-statistic %.4g", scores[i])
	}), nil
}

// Threshold keeps the features whose distance reaches DistanceThreshold with n the
// domain's rows ([D] Theorem 8): with Auto all of them, else the k largest at most.
type Threshold struct {
	C, Variance, Gamma float64
	Combine            Combine // Sum where empty
}

func (Threshold) Name() string { return "distance-threshold" }
func (Threshold) Level() Level { return AttributeLevel }
func (Threshold) Need() Need   { return NeedClassSums }

// Select keeps what reaches the threshold.
func (t Threshold) Select(ctx context.Context, s *Statistics, k int) (*Selection, error) {
	if err := s.ready(NeedClassSums, AttributeLevel, k, true); err != nil {
		return nil, err
	}
	if !(s.Domain.Rows >= 1) {
		return nil, ErrUnknownRows
	}
	y, err := DistanceThreshold(t.C, t.Variance, s.Domain.Rows, t.Gamma)
	if err != nil {
		return nil, err
	}
	out, err := Distance{t.Combine}.Select(ctx, s, len(s.Domain.Attributes))
	if err != nil {
		return nil, err
	}
	keep := 0
	for keep < len(out.Chosen) && out.Chosen[keep].Score >= y && (k == Auto || keep < k) {
		out.Chosen[keep].Reason += fmt.Sprintf(", threshold %.4g", y)
		keep++
	}
	out.Chosen, out.Selector = out.Chosen[:keep], t.Name()
	if keep == 0 {
		out.Note = fmt.Sprintf("no distance reaches the threshold %.4g", y)
	}
	return out, nil
}

// Random takes k features at random, without looking at data: the baseline of [B] Table X.
type Random struct {
	At   Level // AttributeLevel where empty
	Seed uint64
}

func (Random) Name() string   { return "random" }
func (r Random) Level() Level { return orAttribute(r.At) }
func (Random) Need() Need     { return NeedNothing }

// Select draws a subset of size k.
func (r Random) Select(_ context.Context, s *Statistics, k int) (*Selection, error) {
	if err := s.ready(NeedNothing, r.Level(), k, false); err != nil {
		return nil, err
	}
	columns := s.Domain.Columns(r.Level())
	drawn := drawOfSize(rand.New(rand.NewPCG(r.Seed, 0)), len(columns), k)
	return listed(r.Name(), r.Level(), columns, drawn.Indices(), "drawn at random"), nil
}

// All takes every feature.
type All struct {
	At Level // AttributeLevel where empty
}

func (All) Name() string   { return "all" }
func (a All) Level() Level { return orAttribute(a.At) }
func (All) Need() Need     { return NeedNothing }

// Select takes every feature; k is Auto or their number.
func (a All) Select(_ context.Context, s *Statistics, k int) (*Selection, error) {
	if err := s.ready(NeedNothing, a.Level(), k, true); err != nil {
		return nil, err
	}
	columns := s.Domain.Columns(a.Level())
	if k != Auto && k != len(columns) {
		return nil, &CountError{k, len(columns), true}
	}
	indices := make([]int, len(columns))
	for i := range indices {
		indices[i] = i
	}
	return listed(a.Name(), a.Level(), columns, indices, "all features are used"), nil
}

func listed(name string, l Level, columns []Column, indices []int, reason string) *Selection {
	out := &Selection{Selector: name, Level: l, Merit: math.NaN()}
	for _, i := range indices {
		out.Chosen = append(out.Chosen, Choice{i, columns[i], math.NaN(), reason})
	}
	return out
}
