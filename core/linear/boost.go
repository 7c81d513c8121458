package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/sum"
)

// Term is one public table of a Boost: a map from a row to one of Levels cells, made from the
// schema alone. A row with a value outside 0 … Levels−1 is in no cell and gets nothing from the
// term.
type Term struct {
	Name   string
	Levels int
	// Ordered is the number of leading cells whose order matters (bins of a number); 0 for a table of
	// categories. It does not affect privacy.
	Ordered int
	Level   func(cells []float64) int
}

// Boost trains an additive model Σ_t f_t(cell of the row in term t) by cyclic boosting (the private
// explainable boosting machine of Nori, Caruana, Bu, Shen and Kulkarni, arXiv:2106.09680, with
// public bins instead of private ones). All fields but Progress are required.
//
// It releases the number of rows in every cell once, then Epochs·len(Terms) times
// the sum of clipped residuals in each cell of one term, and moves that term's cells
// by −LearningRate · sum / count.
//
// A run costs Event, one Gaussian of multiplier NoiseMultiplier, whatever the number of epochs and
// terms; sum.Terms has the argument. Steps, smoothing and averaging use released numbers only.
type Boost struct {
	Scope dp.Scope
	// NoiseMultiplier σ is the multiplier of the whole run.
	NoiseMultiplier float64
	// ClippingNorm bounds the L2 norm of one row's residual.
	ClippingNorm float64
	// CountShare in (0, 1) is the share of the precision that goes to counts.
	CountShare float64
	Epochs     int
	Terms      []Term

	Loss Loss
	// Outputs is the number of score columns: the number of classes for Softmax, otherwise 1.
	Outputs int
	// Target maps a row's cells to its target; NaN leaves the row out.
	Target func(cells []float64) float64

	LearningRate float64
	// Floor keeps steps on nearly empty cells short: a count counts as at least Floor standard
	// deviations of the noise on its sum, so that a step carries noise of at most LearningRate/Floor.
	Floor float64
	// Tail is the number of last epochs whose tables are averaged.
	Tail int
	// Progress, if not nil, receives the number of completed epochs, which is public.
	Progress func(done, epochs int)
}

// Boosted is the release of a Boost, by term.
type Boosted struct {
	// Tables holds f_t, Levels×Outputs, row-major.
	Tables [][]float64
	// Counts holds the noisy number of rows in each cell; it may be negative.
	Counts [][]float64
}

// Event returns the cost of a run.
func (b *Boost) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: b.NoiseMultiplier} }

// Validate returns an error for the first invalid parameter. It does not check NoiseMultiplier,
// which TrainBoostPublic does not use.
func (b *Boost) Validate() error {
	if !b.Scope.Valid() {
		return fmt.Errorf("linear: scope %v is not valid", b.Scope)
	}
	if len(b.Terms) == 0 || b.Target == nil {
		return errors.New("linear: boosting needs terms and a target")
	}
	for _, t := range b.Terms {
		if t.Level == nil || t.Levels < 1 || t.Levels >= math.MaxUint16 || t.Ordered < 0 || t.Ordered > t.Levels {
			return fmt.Errorf("linear: term %q needs a map to between 1 and %d cells, of which at most all are ordered", t.Name, math.MaxUint16-1)
		}
	}
	switch {
	case !b.Loss.Known(b.Outputs):
		return fmt.Errorf("linear: there is no loss %q of %d outputs", b.Loss, b.Outputs)
	case !(b.CountShare > 0 && b.CountShare < 1):
		return fmt.Errorf("linear: the share of counts must lie in (0, 1), got %g", b.CountShare)
	case b.Epochs < 1 || b.Tail < 1 || b.Tail > b.Epochs:
		return fmt.Errorf("linear: boosting needs epochs >= tail >= 1, got %d and %d", b.Epochs, b.Tail)
	}
	return errors.Join(sum.Positive("clipping norm", b.ClippingNorm), sum.Positive("learning rate", b.LearningRate), sum.Positive("floor", b.Floor))
}

func (b *Boost) terms() *sum.Terms {
	t := &sum.Terms{Scope: b.Scope, NoiseMultiplier: b.NoiseMultiplier, ClippingNorm: b.ClippingNorm, CountShare: b.CountShare,
		Rounds: b.Epochs, Outputs: b.Outputs, Target: b.Target, Loss: b.Loss}
	for _, term := range b.Terms {
		t.Terms = append(t.Terms, sum.Term{Levels: term.Levels, Level: term.Level})
	}
	return t
}

// TrainBoost runs b on the rows of its scope. permit must hold b.Event() on b.Scope,
// unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted.
func TrainBoost(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, b Boost) (*Boosted, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	t := b.terms()
	run, err := t.Open(permit, rows)
	if err != nil {
		return nil, err
	}
	return b.run(ctx, run, t.Noise(permit.RowsApart()).Residuals)
}

// TrainBoostPublic runs b without noise, on public data sets only; its result carries no guarantee.
// ClippingNorm still applies.
func TrainBoostPublic(ctx context.Context, rows *sealed.Rows, b Boost) (*Boosted, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	run, err := b.terms().OpenPublic(rows)
	if err != nil {
		return nil, err
	}
	return b.run(ctx, run, 0)
}

// run boosts on sums whose noise has this standard deviation.
func (b *Boost) run(ctx context.Context, run *sum.TermsRun, stdDev float64) (*Boosted, error) {
	defer run.Close()
	out := &Boosted{Tables: make([][]float64, len(b.Terms)), Counts: make([][]float64, len(b.Terms))}
	f, sums, moves := make([][]float64, len(b.Terms)), make([][]float64, len(b.Terms)), make([][]float64, len(b.Terms))
	for t, term := range b.Terms {
		for _, table := range []*[]float64{&f[t], &sums[t], &moves[t], &out.Tables[t]} {
			*table = make([]float64, term.Levels*b.Outputs)
		}
		var err error
		if out.Counts[t], err = run.Count(); err != nil {
			return nil, err
		}
	}
	for epoch := range b.Epochs {
		for t := range b.Terms {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := run.Next(sums[t], t); err != nil {
				return nil, err
			}
			move := moves[t]
			clear(move)
			boostStep(move, sums[t], out.Counts[t], b.Terms[t].Ordered, b.Outputs, b.Floor*stdDev)
			for j := range move {
				move[j] *= -b.LearningRate
				f[t][j] += move[j]
			}
			run.Move(t, move)
		}
		if epoch >= b.Epochs-b.Tail {
			for t := range f {
				for j, v := range f[t] {
					out.Tables[t][j] += v / float64(b.Tail)
				}
			}
		}
		if b.Progress != nil {
			b.Progress(epoch+1, b.Epochs)
		}
	}
	return out, nil
}

// boostStep adds sum/count to move (levels×outputs). Cells without order stand
// alone. Ordered ones are also taken together in runs of 2, 4, 8, … short of all, and
// a cell moves by twice the mean over the widths: a wide run has a large count and little noise, so
// where single cells are too noisy to move the trend still does, and jumps appear
// where the rows are. floor is the least denominator of a single cell; noise of a run
// of w cells is √w times larger.
func boostStep(move, sum, count []float64, ordered, outputs int, floor float64) {
	for j := ordered; j < len(count); j++ {
		d := max(count[j], floor, 1)
		for k := range outputs {
			move[j*outputs+k] += sum[j*outputs+k] / d
		}
	}
	widths := 0
	for w := 1; w == 1 || w < ordered; w *= 2 {
		widths++
	}
	share := 2 / float64(widths)
	if widths == 1 {
		share = 1
	}
	run := make([]float64, outputs)
	for w := 1; w == 1 || w < ordered; w *= 2 {
		for lo := 0; lo < ordered; lo += w {
			hi := min(lo+w, ordered)
			clear(run)
			d := 0.0
			for j := lo; j < hi; j++ {
				d += count[j]
				for k := range run {
					run[k] += sum[j*outputs+k]
				}
			}
			d = max(d, floor*math.Sqrt(float64(hi-lo)), 1)
			for j := lo; j < hi; j++ {
				for k, v := range run {
					move[j*outputs+k] += share * v / d
				}
			}
		}
	}
}
