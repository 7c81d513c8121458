package sum

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/crew"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// Term maps a row's cells to one of Levels public cells; a row with a value outside 0 … Levels−1 is
// in none.
type Term struct {
	Levels int
	Level  func(cells []float64) int
}

// Terms is a run of sums over the cells of public tables, the terms of an additive model Σ_t
// f_t(cell of the row in term t): the number of rows in every cell once, then Rounds times for each
// term the sum of clipped residuals in each cell, at scores that the caller updates.
//
// # Guarantee
//
// A row is in at most one cell of a term and its residual has norm at most
// ClippingNorm =: C, so a release of residuals moves by at most C for each row in
// which neighbours differ (k = Permit.RowsApart), and the counts of all terms
// together by √len(Terms). With noise of multipliers
//
//	counts     σ_c = σ/√share                          (σ = NoiseMultiplier, share = CountShare)
//	residuals  σ_r = σ·√(Rounds·len(Terms)/(1−share))  each
//
// the precisions add up: 1/σ_c² + Rounds·len(Terms)/σ_r² = 1/σ². Gaussian releases,
// each chosen after the ones before it, are dominated by one Gaussian release of the
// precision of all, so a run costs Event, dp.Gaussian of multiplier σ, whatever the
// number of rounds and terms.
type Terms struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// ClippingNorm bounds the L2 norm of one row's residual.
	ClippingNorm float64
	// CountShare in (0, 1) is the share of the precision that goes to counts.
	CountShare float64
	Rounds     int
	Terms      []Term
	// Outputs is the number of score columns. Target and Loss are those of Linear.
	Outputs int
	Target  func(cells []float64) float64
	Loss    Loss
}

// Event returns the cost of a run.
func (t *Terms) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier} }

// TermsNoise is the noise of a run: standard deviations on every count and on every sum
// of residuals.
type TermsNoise struct{ Counts, Residuals float64 }

// Noise returns the noise of a run if neighbours differ in rowsApart rows.
func (t *Terms) Noise(rowsApart int) TermsNoise {
	terms, k := float64(len(t.Terms)), float64(rowsApart)*rounding
	return TermsNoise{
		Counts:    t.NoiseMultiplier / math.Sqrt(t.CountShare) * math.Sqrt(terms) * k,
		Residuals: t.NoiseMultiplier * math.Sqrt(float64(t.Rounds)*terms/(1-t.CountShare)) * t.ClippingNorm * k,
	}
}

func (t *Terms) check() error {
	if len(t.Terms) == 0 || t.Target == nil || !t.Loss.Known(t.Outputs) || t.Rounds < 1 || !(t.CountShare > 0 && t.CountShare < 1) {
		return errors.New("sum: terms, target, loss, rounds and the share of counts are required")
	}
	for i, term := range t.Terms {
		if term.Level == nil || term.Levels < 1 || term.Levels >= noCell {
			return fmt.Errorf("sum: term %d needs a map to between 1 and %d cells", i, noCell-1)
		}
	}
	return nil
}

// noCell marks a row that is in no cell of a term.
const noCell = math.MaxUint16

// termRows is the number of rows that are summed in one go. Chunks are added in
// order, so results do not depend on the number of workers.
const termRows = 4096

// TermsRun is a Terms with its rows opened: one small integer per row and term, and the
// scores of all rows so far.
type TermsRun struct {
	t             *Terms
	n             int
	noise         TermsNoise
	counts, draws *entropy.Source
	left, counted int        // sums of residuals, and terms counted
	level         [][]uint16 // by term
	target        []float64
	scores        []float64 // n×Outputs
	residual      func(scores []float64, target, weight, norm float64)

	// The last step, which the next pass adds to the scores: cells of term moved.
	move  []float64
	moved int

	term  int         // of the pass under way
	parts [][]float64 // by chunk
	sum   []float64
	crew  *crew.Crew
}

// Open takes the event of a run, which Close ends. Errors, before any row is read: a missing permit
// and invalid parameters.
func (t *Terms) Open(permit *sealed.Permit, rows *sealed.Rows) (run *TermsRun, err error) {
	defer sealed.Contain(&err)
	if err := errors.Join(t.check(), Positive("noise multiplier", t.NoiseMultiplier)); err != nil {
		return nil, err
	}
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	n := t.Noise(permit.RowsApart())
	if err := noise.InRange(n.Counts, n.Residuals); err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, t.Scope, t.Event(), sealed.HasTarget(t.Target))
	if err != nil {
		return nil, err
	}
	return t.On(view, n, view.Noise()), nil
}

// OpenPublic opens a public data set for sums without noise, and returns an error for any other.
func (t *Terms) OpenPublic(rows *sealed.Rows) (run *TermsRun, err error) {
	defer sealed.Contain(&err)
	if err := t.check(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, t.Scope)
	if err != nil {
		return nil, err
	}
	return t.On(view, TermsNoise{}, nil), nil
}

// On returns a run on opened rows, with noise n from a source; the zero n adds none.
func (t *Terms) On(view *sealed.View, n TermsNoise, src *entropy.Source) *TermsRun {
	widest := 0
	for _, term := range t.Terms {
		widest = max(widest, term.Levels*t.Outputs)
	}
	r := &TermsRun{
		t: t, n: view.Len(), noise: n, left: t.Rounds * len(t.Terms), target: make([]float64, view.Len()), scores: make([]float64, view.Len()*t.Outputs),
		residual: residual(t.Loss, t.ClippingNorm), move: make([]float64, widest), moved: -1, sum: make([]float64, widest),
	}
	if src != nil {
		r.counts, r.draws = src.Split("counts"), src.Split("residuals")
	}
	row := view.Rows()
	for range t.Terms {
		r.level = append(r.level, make([]uint16, r.n))
	}
	for i := range r.target {
		cells := row(i)
		r.target[i] = t.Target(cells)
		for k, level := range r.level {
			level[i] = noCell
			if l := t.Terms[k].Level(cells); l >= 0 && l < t.Terms[k].Levels {
				level[i] = uint16(l)
			}
		}
	}
	chunks := (r.n + termRows - 1) / termRows
	for range chunks {
		r.parts = append(r.parts, make([]float64, widest))
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	jobs := make([]func(), workers)
	for w := range jobs {
		buffer := make([]float64, t.Outputs)
		jobs[w] = func() {
			for c := w; c < chunks; c += workers {
				r.chunk(c, buffer)
			}
		}
	}
	r.crew = crew.New(jobs...)
	return r
}

// Close ends a run.
func (r *TermsRun) Close() { r.crew.End() }

// Count returns the noisy number of rows with a target in each cell of the next term. Call it once
// for each term.
func (r *TermsRun) Count() (counts []float64, err error) {
	defer sealed.Contain(&err)
	if r.counted == len(r.t.Terms) {
		return nil, errors.New("sum: all terms are counted")
	}
	count := make([]float64, r.t.Terms[r.counted].Levels)
	for i, l := range r.level[r.counted] {
		if l != noCell && r.target[i] == r.target[i] {
			count[l]++
		}
	}
	r.counted++
	if r.noise.Counts > 0 { // a missing source is a fault then
		if err := noise.Perturb(r.counts, count, r.noise.Counts); err != nil {
			return nil, err
		}
	}
	return count, nil
}

// Next sets dst (Levels×Outputs) to the noisy sums of clipped residuals in the cells of a term, at
// scores that include all moves. An error leaves dst unchanged.
func (r *TermsRun) Next(dst []float64, term int) (err error) {
	defer sealed.Contain(&err)
	if r.left--; r.left < 0 {
		return errors.New("sum: a run has no more rounds")
	}
	r.term = term
	r.crew.Run()
	r.moved = -1
	sum := r.sum[:r.t.Terms[term].Levels*r.t.Outputs]
	clear(sum)
	for _, part := range r.parts {
		for j := range sum {
			sum[j] += part[j]
		}
	}
	if r.noise.Residuals > 0 {
		if err := noise.Perturb(r.draws, sum, r.noise.Residuals); err != nil {
			return err
		}
	}
	copy(dst, sum)
	return nil
}

// Move adds move (Levels×Outputs) to the scores of the rows in the cells of a term. Call it once
// between two calls of Next.
func (r *TermsRun) Move(term int, move []float64) {
	copy(r.move, move)
	r.moved = term
}

func (r *TermsRun) chunk(c int, buffer []float64) {
	part, k := r.parts[c], r.t.Outputs
	clear(part)
	level := r.level[r.term]
	for i := c * termRows; i < min((c+1)*termRows, r.n); i++ {
		scores := r.scores[i*k : (i+1)*k]
		if r.moved >= 0 {
			if l := int(r.level[r.moved][i]); l != noCell {
				for j := range scores {
					scores[j] += r.move[l*k+j]
				}
			}
		}
		l := int(level[i])
		if l == noCell {
			continue
		}
		copy(buffer, scores)
		r.residual(buffer, r.target[i], 1, 1)
		for j, v := range buffer {
			part[l*k+j] += v
		}
	}
}
