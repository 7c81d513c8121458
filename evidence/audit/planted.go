package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/noise"
	"pawl/data/schema"
	"pawl/evidence/audit/bound"
)

// NetworkCanaries audits the training of a network as it is, its layers, clipping, noise
// and lots, by canaries whose gradients are planted in the traces that its own layers make:
// each is one number of a weight (the largest one, or of every weight where clipping is by
// weight), far longer than the norm, and another for every canary. Everything behind the
// layers is core's.
type NetworkCanaries struct {
	// Training is what is audited; its rows, targets and update are not used.
	Training gradient.Training
	// Params are its parameters, which stay.
	Params []float32
}

// part is where and how far a canary pushes, in units of the clipping norm.
type part struct {
	at    int
	value float64
}

// weight is a trainable weight of the network as its traces show it.
type weight struct {
	offset, m, n    int
	bias, diagonal  bool
	indexed, pushed bool
}

func (w weight) size() int {
	if w.diagonal {
		return w.n
	}
	return w.m * w.n
}

// place is the input and output of a canary's number.
func (w weight) place(canary int) (m, n int) {
	if w.diagonal {
		return canary % w.n, canary % w.n
	}
	return canary % w.m, canary / w.m % w.n
}

// planted is a network with canaries in place of its examples. An input is the number of
// the canary.
type planted struct {
	inner  gradient.Network
	length float32
	// all plants in every weight, not in the largest alone.
	all bool

	once    sync.Once
	weights []weight
	largest int
}

const plantedInput = 100 // of a weight, beside whose bias it is

func (p *planted) Parameters() int   { return p.inner.Parameters() }
func (p *planted) Inputs() int       { return 1 }
func (p *planted) PerExample() error { return p.inner.PerExample() }

func (p *planted) Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(gradient.Trace)) {
	var traces []gradient.Trace
	p.inner.Backprop(worker, params, make([]float32, len(targets)*p.inner.Inputs()), make([]float32, len(targets)), seeds, func(t gradient.Trace) {
		if t.Form != nil {
			t.Form, t.A = nil, make([]float32, len(t.G)/t.N*t.M)
		}
		traces = append(traces, t)
	})
	p.once.Do(func() { p.survey(traces) })
	done := map[int]bool{}
	for _, t := range traces {
		clear(t.G)
		push := !done[t.Offset] && p.pushes(t.Offset)
		done[t.Offset] = true
		for i := range targets {
			from, to := i*t.T, (i+1)*t.T
			if t.Starts != nil {
				from, to = int(t.Starts[i]), int(t.Starts[i+1])
			}
			if !push || from == to {
				continue
			}
			w := weight{offset: t.Offset, m: t.M, n: t.N, diagonal: t.Diagonal}
			m, n := w.place(int(inputs[i]))
			if t.Index != nil {
				t.Index[from] = int32(m)
				t.G[from*t.N+n] = p.length * plantedInput
				continue
			}
			clear(t.A[from*t.M : to*t.M])
			t.A[from*t.M+m] = plantedInput
			t.G[from*t.N+n] = p.length
		}
	}
	for _, t := range traces {
		record(t)
	}
}

func (p *planted) pushes(offset int) bool {
	for i, w := range p.weights {
		if w.offset == offset {
			return w.pushed && (p.all || i == p.largest)
		}
	}
	return false
}

// survey notes the network's weights at the first microbatch.
func (p *planted) survey(traces []gradient.Trace) {
	seen := map[int]bool{}
	for _, t := range traces {
		if seen[t.Offset] {
			continue
		}
		seen[t.Offset] = true
		rows := t.T
		if t.Starts != nil {
			rows = int(t.Starts[1] - t.Starts[0])
		}
		p.weights = append(p.weights, weight{t.Offset, t.M, t.N, t.Bias, t.Diagonal, t.Index != nil, t.Chain == nil && rows > 0})
		i := len(p.weights) - 1
		if w := p.weights[i]; w.pushed && (!p.weights[p.largest].pushed || w.size() > p.weights[p.largest].size()) {
			p.largest = i
		}
	}
}

// parts are what a canary adds to the clipped sum, and main the first of the largest weight.
func (p *planted) parts(canary int, clipping gradient.Clipping) (out []part, main int) {
	pushed := 0
	for i, w := range p.weights {
		if w.pushed && (p.all || i == p.largest) {
			pushed++
		}
	}
	each := 1 / math.Sqrt(float64(pushed))
	if clipping == gradient.PerLayer {
		each = 1 / math.Sqrt(float64(len(p.weights)))
	}
	for i, w := range p.weights {
		if !w.pushed || !p.all && i != p.largest {
			continue
		}
		m, n := w.place(canary)
		at := w.offset + m*w.n + n
		if w.diagonal {
			at = w.offset + n
		}
		if i == p.largest {
			main = len(out)
		}
		if !w.bias || w.indexed {
			out = append(out, part{at, each})
			continue
		}
		length := math.Hypot(plantedInput, 1)
		out = append(out, part{at, each * plantedInput / length}, part{w.offset + w.size() + n, each / length})
	}
	return out, main
}

// train runs steps with these canaries in the data and hands every step's sum, in units of
// its clipping norm, to see.
func (c NetworkCanaries) train(ctx context.Context, net *planted, in []bool, sigma float64, steps int, src *entropy.Source, see func(step int, sum []float64, norm float64)) error {
	build := intake.NewBuilder(intake.SimulationKey(dataset, 1), rowsSchema(1))
	for i, ok := range in {
		if !ok {
			continue
		}
		if err := build.AddFloats([]float64{0, 0}, []float32{float32(i)}, schema.Record{}); err != nil {
			return err
		}
	}
	t := c.Training
	t.Network, t.Target, t.Encode, t.Augment, t.Multiplicity = net, target, nil, nil, 1
	t.Scope, t.ExpectedRows, t.NoiseMultiplier, t.Steps = dp.WholeScope, 1/t.SamplingRate, sigma, steps
	t.First, t.FirstNorm, t.Progress = 0, 0, nil
	norm := t.ClippingNorm
	if t.Clipping == gradient.Quantile {
		t.Follow = func(n, _ float64) { norm = n }
	} else {
		t.Follow = nil
	}
	sum := make([]float64, t.Network.Parameters())
	t.Update = func(s int, _, g []float32) {
		for j, v := range g {
			sum[j] = float64(v) / norm // the divisor is 1
		}
		see(s, sum, norm)
	}
	permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), t.Event())
	if err != nil {
		return err
	}
	return c.trainOn(ctx, permit, build.Seal(), t)
}

func (c NetworkCanaries) trainOn(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, t gradient.Training) error {
	params := append([]float32(nil), c.Params...)
	return trainOn(ctx, permit, rows, t, params)
}

// deviation is that of the noise on the sum over the norm.
func (c NetworkCanaries) deviation(sigma float64) float64 {
	if c.Training.Clipping != gradient.Quantile {
		return sigma
	}
	// The divisor is 1 and so is the lot.
	count := max(1./20, sigma)
	x := sigma / (2 * count)
	return sigma / math.Sqrt((1-x)*(1+x))
}

// Specify holds the training to its specification: noise of the stated deviation on every
// number of every step, drawn anew; lots; and how far an example can push.
func (c NetworkCanaries) Specify(ctx context.Context, src *entropy.Source) ([]Check, error) {
	if src == nil {
		return nil, errors.New("audit: a source of randomness is required")
	}
	const most = 1000
	steps := max(8, 2*c.Training.Groups) // two turns of every group
	net := func() *planted {
		return &planted{inner: c.Training.Network, length: float32(100 * c.Training.ClippingNorm), all: true}
	}
	size := c.Training.Network.Parameters()
	all := make([]bool, most)
	for i := range all {
		all[i] = true
	}
	// As claimed: numbers that no canary touches are noise.
	var residuals [][]float64
	claimed := net()
	std := c.deviation(c.Training.NoiseMultiplier)
	own := c.fresh(size)
	// One canary alone, whose weights are few.
	if err := c.train(ctx, claimed, all[:1], c.Training.NoiseMultiplier, steps, src.Split("as claimed"), func(_ int, sum []float64, _ float64) {
		z := make([]float64, size)
		for j, v := range own.next(sum) {
			z[j] = v / std
		}
		residuals = append(residuals, z)
	}); err != nil {
		return nil, err
	}
	if claimed.weights != nil {
		parts, _ := claimed.parts(0, c.Training.Clipping)
		for s := range residuals {
			for _, p := range parts {
				residuals[s][p.at] = math.NaN()
			}
		}
	}
	var flat []float64
	for s, z := range residuals {
		kept := z[:0]
		for _, v := range z {
			if v == v {
				kept = append(kept, v)
			}
		}
		residuals[s] = kept
		flat = append(flat, kept...)
	}
	checks := []Check{
		ScaleCheck("noise has the priced standard deviation on every number that no canary touches", flat),
		ReuseCheck("steps and numbers do not share noise", residuals),
	}
	// Nearly without noise: who joined, and how far.
	few := most
	quiet := net()
	quiet.once.Do(func() {})
	quiet.weights, quiet.largest = claimed.weights, claimed.largest
	if len(quiet.weights) == 0 {
		// No lot held the one canary: any network shows its weights in a lot of everybody.
		probe := c.probe()
		seen := net()
		if err := probe.train(ctx, seen, all[:1], 1, 1, src.Split("probe"), func(int, []float64, float64) {}); err != nil {
			return nil, err
		}
		quiet.weights, quiet.largest = seen.weights, seen.largest
	}
	few = min(few, quiet.weights[quiet.largest].size())
	_, main := quiet.parts(0, c.Training.Clipping)
	first, _ := quiet.parts(0, c.Training.Clipping)
	own = c.fresh(size)
	sigma := first[main].value * own.c[0] / 20
	std = c.deviation(sigma)
	var residual, pushes []float64
	joined, again, before, strays := 0, 0, 0, 0
	groups := max(c.Training.Groups, 1)
	last, of := make([][]bool, groups), make([]int, few)
	for i := range of {
		of[i] = -1
	}
	if err := c.train(ctx, quiet, all[:few], sigma, steps, src.Split("nearly without noise"), func(s int, sum []float64, _ float64) {
		z, members := own.next(sum), make([]bool, few)
		for i := range few {
			parts, main := quiet.parts(i, c.Training.Clipping)
			members[i] = z[parts[main].at] > parts[main].value*own.c[0]/2
			if s >= groups && last[s%groups][i] {
				before++
				if members[i] {
					again++
				}
			}
			if !members[i] {
				continue
			}
			joined++
			if of[i] >= 0 && of[i] != s%groups {
				strays++
			}
			of[i] = s % groups
			for _, p := range parts {
				own.take(p.at, p.value)
			}
		}
		last[s%groups] = members
		for i, in := range members {
			if in {
				parts, main := quiet.parts(i, c.Training.Clipping)
				pushes = append(pushes, z[parts[main].at]/std)
			}
		}
		for _, v := range z {
			residual = append(residual, v/std)
		}
	}); err != nil {
		return nil, err
	}
	q := c.Training.SamplingRate
	checks = append(checks,
		ScaleCheck("an example adds the clipping norm over all weights together, as the clipping rule states, and the rest is noise", residual),
		ShareCheck("examples join lots at the sampling rate", joined, few*steps, q))
	if len(pushes) > 0 {
		checks = append(checks, MeanCheck("an example adds its part of the clipping norm to a weight", pushes))
	}
	chance := q * float64(groups)
	switch {
	case before == 0:
	case chance >= 1:
		checks = append(checks, NeverCheck("examples join every lot of their group", before-again, before))
	default:
		checks = append(checks, ShareCheck("lots of different steps are independent", again, before, chance))
	}
	if groups > 1 {
		checks = append(checks, NeverCheck("an example joins the lots of one group only", strays, few))
	}
	return checks, nil
}

func (c NetworkCanaries) banded() bool { return c.Training.Coefficients != nil }

// probe is the audit of a lot of everybody.
func (c NetworkCanaries) probe() NetworkCanaries {
	c.Training.SamplingRate, c.Training.Coefficients, c.Training.Groups = 1, nil, 0
	return c
}

// fresh undoes what bands make of noise: of the sums of a run, step by step, it makes sums with fresh noise of the same
// multiplier (dp.Banded.Rounds, v over ‖c‖). Without bands these are the sums themselves.
type fresh struct {
	c    []float64 // coefficients of norm 1
	past [][]float64
	out  []float64
	step int
}

func (c NetworkCanaries) fresh(size int) *fresh {
	f := &fresh{c: []float64{1}, out: make([]float64, size)}
	if c.banded() {
		f.c = slices.Clone(c.Training.Coefficients)
		norm := noise.Norm(f.c)
		for i := range f.c {
			f.c[i] /= norm
		}
	}
	f.past = make([][]float64, len(f.c))
	return f
}

// next takes the sum of a step. What it returns holds until the next one.
func (f *fresh) next(sum []float64) []float64 {
	f.past[f.step%len(f.past)] = slices.Clone(sum)
	clear(f.out)
	for k, c := range f.c[:min(len(f.c), f.step+1)] {
		for j, v := range f.past[(f.step-k)%len(f.past)] {
			f.out[j] += c * v
		}
	}
	f.step++
	return f.out
}

// take takes what is known to be no noise off the last sum.
func (f *fresh) take(at int, value float64) {
	f.past[(f.step-1)%len(f.past)][at] -= value
	f.out[at] -= f.c[0] * value
}

// Most is the largest number of canaries with a number of their own.
func (c NetworkCanaries) Most(ctx context.Context) (int, error) {
	net := &planted{inner: c.Training.Network, length: float32(100 * c.Training.ClippingNorm), all: true}
	probe := c.probe()
	err := probe.train(ctx, net, []bool{true}, 1, 1, entropy.Seeded(1), func(int, []float64, float64) {})
	if err != nil || len(net.weights) == 0 {
		return 0, errors.Join(err, errors.New("audit: the network has no weight to plant canaries in"))
	}
	return net.weights[net.largest].size(), nil
}

// Score trains once with canaries, each in by a fair coin, and returns what the run did
// along the direction of each; with banded noise, how likely that is for one that is in.
func (c NetworkCanaries) Score(ctx context.Context, canaries int, src *entropy.Source) (bound.Canaries, error) {
	most, err := c.Most(ctx)
	if err != nil {
		return bound.Canaries{}, err
	}
	if canaries < 1 || canaries > most {
		return bound.Canaries{}, fmt.Errorf("audit: %d canaries; the network has room for %d", canaries, most)
	}
	coins := src.Split("coins")
	out := bound.Canaries{Score: make([]float64, canaries), In: make([]bool, canaries)}
	for i := range out.In {
		out.In[i] = coins.Bernoulli(0.5)
	}
	net := &planted{inner: c.Training.Network, length: float32(100 * c.Training.ClippingNorm), all: c.Training.Clipping == gradient.PerLayer}
	if c.banded() {
		err = c.scoreBanded(ctx, net, &out, src.Split("training"))
		return out, err
	}
	var total []float64
	err = c.train(ctx, net, out.In, c.Training.NoiseMultiplier, c.Training.Steps, src.Split("training"), func(_ int, sum []float64, _ float64) {
		if total == nil {
			total = make([]float64, len(sum))
		}
		for j, v := range sum {
			total[j] += v
		}
	})
	if err != nil {
		return out, err
	}
	for i := range out.Score {
		parts, _ := net.parts(i, c.Training.Clipping)
		for _, p := range parts {
			out.Score[i] += p.value * total[p.at]
		}
	}
	return out, nil
}

// scoreBanded scores canaries under banded noise by the logarithm of the ratio of likelihoods, in against out, of
// the whole run. A canary joins the lots of one group, which nobody knows, each with chance p; what it adds to a
// step stands in the b steps from there on in sums with fresh noise, and its product with the coefficients is a
// Gaussian release of its own (dp.Banded.Rounds, steps 3 and 4).
func (c NetworkCanaries) scoreBanded(ctx context.Context, net *planted, out *bound.Canaries, src *entropy.Source) error {
	t := c.Training
	own, canaries, chance := c.fresh(t.Network.Parameters()), len(out.Score), min(1, t.SamplingRate*float64(t.Groups))
	b := len(own.c)
	likelihood := make([][]float64, canaries) // of each group
	seen := make([][]float64, canaries)       // along the canary's direction, of the last b steps
	for i := range seen {
		likelihood[i], seen[i] = make([]float64, t.Groups), make([]float64, b)
	}
	// release adds the likelihood of step s, of which the following count−1 steps are known too.
	release := func(s, count int) {
		part := 0.0 // of the column's squared norm that these steps hold
		for _, v := range own.c[:count] {
			part += v * v
		}
		for i := range seen {
			parts, _ := net.parts(i, t.Clipping)
			size, x := 0.0, 0.0
			for _, p := range parts {
				size += p.value * p.value
			}
			for k, v := range own.c[:count] {
				x += v * seen[i][(s+k)%b]
			}
			ratio := (x - part*size/2) / (t.NoiseMultiplier * t.NoiseMultiplier)
			// log(1 − p + p·e^ratio)
			most := max(0, ratio)
			likelihood[i][s%t.Groups] += most + math.Log((1-chance)*math.Exp(-most)+chance*math.Exp(ratio-most))
		}
	}
	err := c.train(ctx, net, out.In, t.NoiseMultiplier, t.Steps, src, func(s int, sum []float64, _ float64) {
		z := own.next(sum)
		for i := range seen {
			parts, _ := net.parts(i, t.Clipping)
			x := 0.0
			for _, p := range parts {
				x += p.value * z[p.at]
			}
			seen[i][s%b] = x
		}
		if s+1 >= b {
			release(s+1-b, b)
		}
	})
	if err != nil {
		return err
	}
	for s := max(t.Steps-b+1, 0); s < t.Steps; s++ {
		release(s, t.Steps-s)
	}
	for i, l := range likelihood {
		most, sum := slices.Max(l), 0.0
		for _, v := range l {
			sum += math.Exp(v - most)
		}
		out.Score[i] = most + math.Log(sum/float64(len(l)))
	}
	return nil
}
