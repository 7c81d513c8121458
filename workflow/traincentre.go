package workflow

import (
	"context"
	"fmt"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/core/public"
	"pawl/core/release"
)

// A net with a centre layer takes off the mean of its inputs. The mean is one
// Gaussian release on the training rows, beside the training and paid for with it.

// centreShare is how much more noise the mean has than the training as a whole, which
// amounts to one release of multiplier σ/(q√T): at 5 the mean costs a twenty-fifth of
// the training's Rényi divergence. Fashion-MNIST gains 0.6 points by it, CIFAR-10 five.
const centreShare = 5

// centreNoise is the mean's multiplier beside steps of multiplier x.
func (n *training) centreNoise(x float64) float64 {
	return centreShare * n.wholeNoise(x)
}

// event is what the training costs on its scope, with noise x at each step.
func (n *training) event(scope dp.Scope, x float64) dp.Event {
	steps, before := n.privacy(scope, x).Event(), n.componentEvents(x)
	if n.net.Centred() > 0 {
		before = append(before, dp.Gaussian{NoiseMultiplier: n.centreNoise(x)})
	}
	if len(before) == 0 {
		return steps
	}
	return dp.Compose{Events: append(before, steps)}
}

// centre releases the mean of the inputs and puts it into the net. Its inputs are
// rows of norm 1: a centre layer stands behind nothing else.
func (n *training) centre(ctx context.Context, env Env, permit *ledger.Permit, public *entropy.Source) error {
	if n.net.Centred() == 0 {
		return nil
	}
	m := release.InputMean{Scope: n.scope, NoiseMultiplier: n.centreNoise(n.noise), Norm: 1,
		ExpectedRows: n.expectedRows()}
	var mean []float64
	var err error
	if n.simulated {
		mean, err = m.SimulatePublic(env.Rows, public.Split("centre"))
	} else {
		mean, err = m.Release(ctx, permit, env.Rows)
	}
	if err != nil {
		return fmt.Errorf("centring: %w", err)
	}
	single := make([]float32, len(mean))
	for j, v := range mean {
		single[j] = float32(v)
	}
	return n.net.SetCentre(single)
}

// centrePublic is centre without noise, for a training that claims nothing.
func (n *training) centrePublic(env Env) error {
	if n.net.Centred() == 0 {
		return nil
	}
	mean, rows := make([]float32, n.net.Centred()), float32(n.expectedRows())
	err := public.VisitInputs(env.Rows, n.scope, func(_ []float64, input []float32) {
		for j, v := range input {
			mean[j] += v / rows
		}
	})
	if err != nil {
		return err
	}
	return n.net.SetCentre(mean)
}
