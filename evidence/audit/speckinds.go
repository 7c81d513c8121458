package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/linear"
)

// kindsNet hands out one example's long gradients in the ways in which layers do.
type kindsNet struct {
	kinds []string
	seed  uint64
}

const kindM, kindN, kindT = 12, 10, 3

// kindSize holds the largest: a map with its bias.
const kindSize = kindM*kindN + kindN

func (k kindsNet) Parameters() int   { return len(k.kinds) * kindSize }
func (k kindsNet) Inputs() int       { return 1 }
func (k kindsNet) PerExample() error { return nil }
func (k kindsNet) Backprop(_ int, _, _, targets []float32, _ []uint64, record func(gradient.Trace)) {
	for i, kind := range k.kinds {
		rng := rand.New(rand.NewPCG(k.seed, uint64(i)))
		fill := func(n int) []float32 {
			v := make([]float32, n)
			for j := range v {
				// Of one sign mostly, so that rows add up.
				v[j] = float32(20 + 10*rng.NormFloat64())
			}
			return v
		}
		n := len(targets)
		t := gradient.Trace{Offset: i * kindSize, T: kindT, M: kindM, N: kindN}
		switch kind {
		case "one row", "one row with bias":
			t.T, t.Bias = 1, kind != "one row"
		case "bias":
			t.Bias = true
		case "ragged":
			t.Starts = make([]int32, n+1)
			for e := range n {
				t.Starts[e+1] = t.Starts[e] + kindT - 1
			}
		case "tokens":
			t.Index = make([]int32, n*kindT)
			for r := range t.Index {
				t.Index[r] = int32(r % kindT % 2) // one of them twice
			}
		case "diagonal":
			t.M, t.Diagonal, t.Bias = kindN, true, true
		case "chain":
			t.Chain = func(g []float32) {
				for j := range g {
					g[j] *= 3
				}
			}
		case "few rows", "shared":
			t.T = 2
		}
		uses := 1
		if kind == "shared" {
			uses = 2
		}
		for range uses {
			rows := n * t.T
			if t.Starts != nil {
				rows = int(t.Starts[n])
			}
			u := t
			u.G = fill(rows * t.N)
			if t.Index == nil {
				u.A = fill(rows * t.M)
				for j := range u.A {
					if t.Bias {
						u.A[j] /= 1000 // so that the bias is most of the gradient
					}
				}
			}
			record(u)
		}
	}
}

// However a layer shows its gradient, and however many layers there are: an example adds
// the clipping norm at most.
func kindsSpec() Specification {
	const sigma, clip = 1e-5, 0.5
	return Specification{Name: "training, layers", Entry: "gradient.Train", Rows: "one example through every kind of layer, alone and together",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			all := []string{"one row", "one row with bias", "rows", "few rows", "bias", "ragged", "tokens", "diagonal", "chain", "shared"}
			nets := [][]string{all}
			for _, kind := range all {
				nets = append(nets, []string{kind}, []string{"one row", kind})
			}
			rows, err := oneUnit(1, 0, 0).seal(1)
			if err != nil {
				return nil, err
			}
			var checks []Check
			for _, clipping := range []gradient.Clipping{gradient.Flat, gradient.PerLayer, gradient.Automatic} {
				over := 0
				for i, kinds := range nets {
					length := 0.0
					t := gradient.Training{
						Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 1, SamplingRate: 1},
						Clipping: clipping, Network: kindsNet{kinds, uint64(i)}, Encode: encodeDirection, Target: target, ExpectedRows: 1, Microbatch: 2, Multiplicity: 1,
						Update: func(_ int, _, g []float32) {
							for _, v := range g {
								length += float64(v) * float64(v)
							}
						},
					}
					permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), t.Event())
					if err != nil {
						return nil, err
					}
					if err := gradient.Train(ctx, permit, rows, t, make([]float32, t.Network.Parameters())); err != nil {
						return nil, err
					}
					length = math.Sqrt(length) / clip
					if length > 1.001 { // noise is far below
						over++
					}
				}
				checks = append(checks, NeverCheck(fmt.Sprintf("an example adds at most the norm in %d networks, clipping %s", len(nets), clipping), over, len(nets)))
			}
			return checks, nil
		}}
}

// A row's part in a sum of boosting under every loss, nearly without noise.
func boostClipSpec() Specification {
	const clip, sigma, rate = 0.2, 1e-4, 1e-3
	return Specification{Name: "boosting, clipping", Entry: "linear.TrainBoost", Rows: "one row under each loss",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			rows, err := oneUnit(1, 0, 1).seal(1)
			if err != nil {
				return nil, err
			}
			over, tries := 0, 0
			for _, c := range []struct {
				loss    linear.Loss
				outputs int
				target  float64
			}{{linear.Logistic, 1, 1}, {linear.Residual, 1, 9}, {linear.Softmax, 2, 1}} {
				b := linear.Boost{Scope: dp.WholeScope, NoiseMultiplier: sigma, ClippingNorm: clip, CountShare: 0.5, Epochs: 1, Tail: 1, Outputs: c.outputs,
					Terms: []linear.Term{{Name: "a", Levels: 1, Level: func([]float64) int { return 0 }}}, Loss: c.loss,
					Target: func([]float64) float64 { return c.target }, LearningRate: rate, Floor: 1e-9}
				permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), b.Event())
				if err != nil {
					return nil, err
				}
				m, err := linear.TrainBoost(ctx, permit, rows, b)
				if err != nil {
					return nil, err
				}
				square := 0.0
				for _, v := range m.Tables[0] {
					square += v * v
				}
				tries++
				if math.Sqrt(square)*max(m.Counts[0][0], 1)/rate > clip*1.01 {
					over++
				}
			}
			return []Check{NeverCheck("a row adds at most the clipping norm under every loss", over, tries)}, nil
		}}
}

// A row of many coordinates adds the clipping norm at most in descent.
func descentNormSpec() Specification {
	const clip, sigma = 0.2, 1e-6
	return Specification{Name: "descent, norms", Entry: "linear.Descend", Rows: "one row of two hundred coordinates under each loss",
		observe: func(ctx context.Context, src *entropy.Source) ([]Check, error) {
			over, tries := 0, 0
			for _, number := range []int{0, directions / 2, directions} {
				rows, err := oneUnit(1, number, 1).seal(1)
				if err != nil {
					return nil, err
				}
				for _, c := range []struct {
					loss    linear.Loss
					outputs int
					target  float64
				}{{linear.Logistic, 1, 1}, {linear.Residual, 1, 9}, {linear.Softmax, 2, 1}} {
					d := linear.Descent{Privacy: gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 1, SamplingRate: 1},
						Encoding: wide(), Loss: c.loss, Outputs: c.outputs, Target: func([]float64) float64 { return c.target }, ExpectedRows: 1, LearningRate: 1}
					permit, err := permitFor(ctx, dp.AddOrRemoveOne, 1, src.Uint64(), d.Event())
					if err != nil {
						return nil, err
					}
					w, err := linear.Descend(ctx, permit, rows, d)
					if err != nil {
						return nil, err
					}
					square := 0.0
					for _, v := range w {
						square += v * v
					}
					if tries++; math.Sqrt(square) > clip*1.001 {
						over++
					}
				}
			}
			return []Check{NeverCheck("a row adds at most the clipping norm under every loss", over, tries)}, nil
		}}
}
