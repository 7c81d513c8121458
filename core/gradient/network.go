// Package gradient trains networks by DP-SGD: the sum of clipped per-example gradients over a
// lot, plus Gaussian noise, divided by a public number, step by step.
//
// Guarantee: the weights that Train computes are a post-processing of Steps releases, each of a
// vector of L2 sensitivity ClippingNorm × rows per unit (twice that under ReplaceOne) with Gaussian
// noise of NoiseMultiplier times that, on a lot that every unit joins with all its rows with
// probability SamplingRate (exactly what Training.Event says). With Coefficients the noise is
// correlated over the steps and lots come from groups that take turns; dp.Banded derives the cost.
// The noisy sum is rounded to a public grid as a whole (noise.Grid), whatever the lot.
package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/entropy"
	"pawl/core/internal/crew"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
)

// rounding is the factor by which a network's noise is enlarged: contributions are right to
// 2·10⁻⁶, and added up in float32.
const rounding = 1 + 1e-5

// workers is the number of accumulators, fixed so that results do not depend on
// the number of processors: microbatch k always belongs to accumulator k mod 2.
const workers = 2

// Privacy holds everything on which the guarantee depends.
type Privacy = sum.Privacy

// Training is DP-SGD on a network: at every step each unit joins the lot with probability
// SamplingRate, per-example gradients over all trainable parameters together are clipped to
// ClippingNorm, summed and noised, and the result, divided by the public ExpectedRows·SamplingRate,
// is passed to Update.
type Training struct {
	Privacy
	Clipping Clipping
	Network  Network
	// Target maps a row's cells to its target; NaN leaves the row out.
	Target func(cells []float64) float64
	// Encode, if not nil, fills the input of the network from a row's cells by public facts; otherwise
	// rows have a dense input of their own. It is called concurrently.
	Encode func(input []float32, cells []float64)
	// ExpectedRows is the nominal number of rows in Scope.
	ExpectedRows float64
	// UnclippedShare, in (0, 1), is the share of examples that Quantile leaves unclipped; ClippingNorm
	// is then the norm of the first step. It is 0 for every other Clipping.
	UnclippedShare float64
	// Follow, if not nil, receives before each Update the clipping norm of the step and the noisy
	// share of examples within it (NaN except for Quantile). Both are released numbers.
	Follow func(norm, share float64)
	// Microbatch is the largest number of examples that pass through the network at once. It affects
	// memory, and the result only by rounding. The memory of a run is Microbatch·Multiplicity times
	// what the network stores per example, plus what grows with the parameters.
	Microbatch int
	// Augment, if not nil, fills dst with one of Multiplicity data-free variants of an example's
	// input; it is called concurrently. Gradients of the variants are averaged before clipping, so
	// Multiplicity costs no privacy.
	Augment      func(dst, input []float32, seed uint64)
	Multiplicity int
	// First is the step to begin with: 0, or for a resumed run the number of completed steps. params
	// and the state of Update must then be as the same computation (Training, rows and the event's
	// stream) left them; otherwise two sums would get the noise of one step, and their difference
	// would reveal what it hides.
	First int
	// FirstNorm is the clipping norm of step First of a resumed run under Quantile (NextNorm),
	// otherwise 0.
	FirstNorm float64
	// Update receives the noisy mean gradient of step t (from 0) and changes params. It must not keep
	// the vector after it returns.
	Update func(t int, params, gradient []float32)
	// Progress, if not nil, receives the number of completed steps, which is public.
	Progress func(done, steps int)
	// Alone keeps the run on one goroutine, for callers with several concurrent runs. It does not
	// change the result by a bit.
	Alone bool
}

// Clipping norms lie in this range: beyond it float32 has not the digits, or not the
// range, in which the bound of a contribution was derived.
const LeastNorm, GreatestNorm = 1e-12, 1e12

// Validate returns an error for the first invalid parameter.
func (t *Training) Validate() error {
	lot := float32(t.SamplingRate * t.ExpectedRows)
	switch {
	case !t.Scope.Valid():
		return fmt.Errorf("gradient: scope %v is not valid", t.Scope)
	case t.Steps < 1:
		return fmt.Errorf("gradient: steps must be at least 1, got %d", t.Steps)
	case t.First < 0 || t.First > t.Steps:
		return fmt.Errorf("gradient: a run of %d steps cannot go on after %d", t.Steps, t.First)
	case !(t.SamplingRate > 0 && t.SamplingRate <= 1):
		return fmt.Errorf("gradient: sampling rate must lie in (0, 1], got %g", t.SamplingRate)
	case t.Coefficients != nil && t.Clipping == Quantile:
		return errors.New("gradient: a norm that follows a quantile has no banded noise: the count of a step would need a share of it")
	case t.Network == nil || t.Target == nil || t.Update == nil:
		return errors.New("gradient: network, target and update are required")
	case !t.Clipping.known():
		return fmt.Errorf("gradient: unknown clipping %q", t.Clipping)
	case t.Microbatch < 1:
		return fmt.Errorf("gradient: microbatch must be at least 1, got %d", t.Microbatch)
	case t.Multiplicity < 1 || t.Multiplicity > 1 && t.Augment == nil:
		return errors.New("gradient: multiplicity must be at least 1, and above 1 an augmentation is required")
	case t.Network.Parameters() < 1:
		return errors.New("gradient: the network has no trainable parameter")
	case !(t.ClippingNorm >= LeastNorm && t.ClippingNorm <= GreatestNorm):
		return fmt.Errorf("gradient: clipping norm must lie in [%g, %g], got %g", LeastNorm, GreatestNorm, t.ClippingNorm)
	case !(t.ExpectedRows > 0) || !(lot > 0) || math.IsInf(float64(lot), 0):
		return fmt.Errorf("gradient: expected rows must be a finite number > 0, got %g", t.ExpectedRows)
	}
	if err := t.CheckBands(); err != nil {
		return fmt.Errorf("gradient: %w", err)
	}
	if err := t.checkQuantile(); err != nil || t.Clipping == Unclipped {
		return err
	}
	// Without a gradient of its own, an example has no norm to bound.
	return t.Network.PerExample()
}

// check is Validate with the arguments of a run.
func (t *Training) check(params []float32) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if len(params) != t.Network.Parameters() {
		return fmt.Errorf("gradient: %d parameters for a network of %d", len(params), t.Network.Parameters())
	}
	return nil
}

// Train runs t on the rows of its scope and changes params (Network.Parameters()
// numbers) in place. permit must hold t.Event() on t.Scope, unused.
//
// Guarantee: params is a post-processing of Steps releases of a vector of L2 sensitivity
// ClippingNorm·Permit.RowsApart(), each with noise of NoiseMultiplier times that. A row's
// contribution, as computed, has norm at most ClippingNorm·(1+2e-6); the noise is enlarged by 1e-5.
// Contributions are added in float32, whose rounding is a stated residual risk (core/README.md).
// Noise is added in float64, and the result is rounded to the grid of its deviation (noise.Grid)
// and stored as a float32.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept and params as after the last complete step, ctx.Err() when interrupted and
// sealed.ErrFault if a callback or the network panics.
func Train(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, t Training, params []float32) (err error) {
	defer sealed.Contain(&err)
	if err := t.check(params); err != nil {
		return err
	}
	if t.Clipping == Unclipped {
		return errors.New("gradient: without clipping the sum has no bounded sensitivity")
	}
	std, err := t.StdDev(permit, rounding)
	if err != nil {
		return err
	}
	view, err := sealed.OpenUnless(rows, permit, t.Scope, t.Event(), sealed.HasTarget(t.Target))
	if err != nil {
		return err
	}
	return t.run(ctx, view, params, std, view.Noise())
}

// TrainPublic runs t without noise, with or without clipping. It opens public data
// sets only; its result carries no guarantee.
func TrainPublic(ctx context.Context, rows *sealed.Rows, t Training, params []float32, src *entropy.Source) error {
	t.NoiseMultiplier = 0
	return t.public(ctx, rows, params, src)
}

// SimulatePublic is TrainPublic with t's clipping and noise, for training runs on public data that
// should behave like private ones. Its result carries no guarantee either, since nothing is
// charged.
func SimulatePublic(ctx context.Context, rows *sealed.Rows, t Training, params []float32, src *entropy.Source) error {
	if t.Clipping == Unclipped {
		return errors.New("gradient: noise has a scale only where gradients are clipped")
	}
	if err := sum.Positive("noise multiplier", t.NoiseMultiplier); err != nil {
		return err
	}
	return t.public(ctx, rows, params, src)
}

// public is a run without a permit, which needs a source.
func (t *Training) public(ctx context.Context, rows *sealed.Rows, params []float32, src *entropy.Source) (err error) {
	defer sealed.Contain(&err)
	if src == nil {
		return errors.New("gradient: a source of randomness is required")
	}
	if err := t.check(params); err != nil {
		return err
	}
	view, err := sealed.OpenPublic(rows, t.Scope)
	if err != nil {
		return err
	}
	return t.run(ctx, view, params, t.NoiseMultiplier*t.ClippingNorm, src)
}

func (t *Training) run(ctx context.Context, view *sealed.View, params []float32, noiseStdDev float64, src *entropy.Source) error {
	if t.Encode == nil && view.InputDim() != t.Network.Inputs() {
		return fmt.Errorf("gradient: inputs of %d numbers for a network that takes %d", view.InputDim(), t.Network.Inputs())
	}
	s := newStep(t, view, params, noiseStdDev, src)
	defer s.crew.End()
	s.skip(t.First)
	for i := t.First; i < t.Steps; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.next()
		t.Update(i, params, s.total)
		if t.Progress != nil {
			t.Progress(i+1, t.Steps)
		}
	}
	return nil
}

// step is the working memory of one run and, between calls of next, of one step.
type step struct {
	t       *Training
	view    *sealed.View
	params  []float32
	targets []float64
	seeds   []uint64 // per row
	lots    sum.Lots
	masks   *entropy.Source
	divisor float32
	lot     []int32
	mask    uint64 // the step's seed of masks and variants
	size    int    // of a microbatch of this step
	workers [workers]worker
	total   []float32
	number  uint64 // of the step
	stdDev  float64
	z       [][]float64   // of each noise.Piece of the parameters, its place for noise of deviation 1
	banded  *noise.Banded // nil where steps have noise of their own
	norm    float64       // that gradients are clipped to in this step
	tuner   *quantile     // nil where the norm stays
	crew    *crew.Crew
	// The phases of a step, in order: prepares does once what backprop needs for all microbatches (nil where it needs
	// nothing), sums adds up the clipped gradients, and leaves turns them into the mean, with noise unless rows are public.
	// now is the phase that runs.
	prepares, sums, leaves, now func(worker int)
	backprop                    func(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace))
}

func newStep(t *Training, view *sealed.View, params []float32, noiseStdDev float64, src *entropy.Source) *step {
	s := &step{
		t: t, view: view, params: params, seeds: view.Seeds(), targets: make([]float64, view.Len()),
		lots: sum.NewLotsOf(view, t.Privacy, src.Split("lots")), masks: src.Split("masks"),
		divisor: float32(t.SamplingRate * t.ExpectedRows), lot: make([]int32, 0, view.Len()),
		total: make([]float32, len(params)), stdDev: noiseStdDev, norm: t.ClippingNorm,
	}
	s.sums, s.leaves, s.backprop = s.work, s.plain, t.Network.Backprop
	if p, ok := t.Network.(preparing); ok && len(params) >= worthWaiting {
		s.prepares, s.backprop = func(w int) { p.Prepare(params, w, workers) }, p.BackpropPrepared
	}
	if t.Clipping == Quantile {
		s.tuner = newQuantile(t, noiseStdDev, src.Split("share"))
	}
	if noiseStdDev > 0 && t.Coefficients != nil {
		s.banded = noise.NewBanded(t.Coefficients, len(params))
	}
	apart := worthWaiting // so far, pieces have places of their own
	if len(params) >= worthWaiting {
		apart = workers * noise.Piece // a worker draws one and is done with it
	}
	room := make([]float64, min(apart, len(params)))
	for lo := 0; noiseStdDev > 0 && lo < len(params); lo += noise.Piece {
		s.z = append(s.z, room[lo%apart:][:min(noise.Piece, len(params)-lo)])
	}
	row := view.Rows()
	for i := range s.targets {
		s.targets[i] = t.Target(row(i))
	}
	var jobs []func()
	for w := range s.workers {
		s.workers[w].init(t, w, len(params))
		s.workers[w].rows = view.Rows()
		if noiseStdDev > 0 {
			// Both have one stream, of which each takes pieces of its own.
			s.workers[w].normals, s.leaves = noise.NewNormals(src.Split("noise")), s.perturb
		}
		jobs = append(jobs, func() { s.now(w) })
	}
	if t.Alone {
		jobs = []func(){func() {
			for w := range workers {
				s.now(w)
			}
		}}
	}
	s.crew = crew.New(jobs...)
	return s
}

// skip leaves every stream where the first steps leave it: each takes one lot, one mask and the pieces of noise of its
// number, whatever the parameters. Correlated noise is a function of that of the steps before, which is made again.
func (s *step) skip(steps int) {
	for s.number = range uint64(steps) {
		s.lots.Rows()
		s.masks.Uint64()
		for p := 0; s.banded != nil && p < len(s.z); p++ {
			s.draw(0, p)
		}
	}
	s.number = uint64(steps)
	if s.tuner != nil && steps > 0 {
		s.tuner.step, s.tuner.norm = uint64(steps), s.t.FirstNorm
	}
}

// next fills total with the noisy mean gradient at params.
func (s *step) next() {
	s.collect(s.lots.Rows())
	s.mask = s.masks.Uint64()
	s.size = microbatch(len(s.lot), s.t.Microbatch)
	if s.tuner != nil {
		s.norm, s.stdDev = s.tuner.norm, s.tuner.stdDev*s.tuner.norm
	}
	if s.prepares != nil {
		s.run(s.prepares)
	}
	s.run(s.sums)
	s.follow()
	if len(s.params) < worthWaiting {
		for w := range workers {
			s.leaves(w)
		}
	} else {
		s.run(s.leaves)
	}
	s.number++
}

// run has the workers do their shares of one of them.
func (s *step) run(do func(worker int)) {
	s.now = do
	s.crew.Run()
}

// perturb turns worker w's pieces of the clipped sum into what leaves, whether anybody was
// in the lot or not.
func (s *step) perturb(w int) {
	for p := w; p < len(s.z); p += workers {
		if len(s.params) >= worthWaiting {
			s.draw(w, p)
		}
		lo := p * noise.Piece
		hi := lo + len(s.z[p])
		noise.Release(s.total[lo:hi], s.workers[0].sum[lo:hi], s.workers[1].sum[lo:hi], s.z[p], s.stdDev, s.divisor)
	}
}

// draw sets z of piece p to its noise in this step.
func (s *step) draw(w, p int) {
	number := s.number*uint64(len(s.z)) + uint64(p)
	if s.banded != nil {
		s.banded.Step(s.z[p], s.workers[w].normals, s.number, number, p*noise.Piece)
		return
	}
	s.workers[w].normals.Fill(s.z[p], number)
}

// plain is perturb without noise.
func (s *step) plain(w int) {
	n := len(s.total)
	lo, hi := w*n/workers, (w+1)*n/workers
	a, b := s.workers[0].sum[lo:hi], s.workers[1].sum[lo:hi]
	for j := range a {
		s.total[lo+j] = (a[j] + b[j]) / s.divisor
	}
}

// collect lists the rows of a lot that have a target: those of rows, or all.
func (s *step) collect(rows []int32, all bool) {
	s.lot = s.lot[:0]
	if all {
		for i, y := range s.targets {
			if y == y {
				s.lot = append(s.lot, int32(i))
			}
		}
		return
	}
	for _, i := range rows {
		if y := s.targets[i]; y == y {
			s.lot = append(s.lot, i)
		}
	}
}

// microbatch is the size that shares n rows evenly between the workers, at most
// most.
func microbatch(n, most int) int {
	each := workers * most
	pieces := max(1, (n+each-1)/each) * workers
	return max(1, (n+pieces-1)/pieces)
}

// input fills dst with the input of a row, whose cells rows shows.
func (s *step) input(rows func(i int) []float64, row int, dst []float32) {
	if s.t.Encode != nil {
		s.t.Encode(dst, rows(row))
		return
	}
	s.view.Input(row, dst)
}

// work sums the clipped gradients of worker w's share of the lot.
func (s *step) work(w int) {
	k := &s.workers[w]
	k.bound, k.within, k.begun = s.norm, 0, false
	for lo := w * s.size; lo < len(s.lot); lo += workers * s.size {
		k.microbatch(s, s.params, s.lot[lo:min(lo+s.size, len(s.lot))], s.mask)
	}
	if !k.begun {
		clear(k.sum)
	}
	for p := w; len(s.params) < worthWaiting && p < len(s.z); p += workers {
		s.draw(w, p) // beside the sums, on which it does not depend
	}
}
