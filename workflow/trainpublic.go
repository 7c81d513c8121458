package workflow

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
)

// PublicSet is a public set of the same shape and classes, on which a network is trained without noise
// before the rows are opened: its weights are the first ones of the run.
type PublicSet struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
}

// A run on public rows takes lots of publicBatch examples and looks at publicExamples of them at least, or
// publicPasses times at all of them.
const (
	publicBatch    = 128
	publicPasses   = 10
	publicExamples = 20_000
)

// teach trains params on the public rows of env.Other. It is a function of public rows, of what was released
// before and of src, so it costs nothing.
func (n *training) teach(ctx context.Context, env Env, params []float32, src *entropy.Source) error {
	if n.PublicSet == nil {
		return nil
	}
	if got := env.Other.InputDim(); got != n.net.Inputs() {
		return usage("name images of the same size", "public inputs of %d numbers for a network that takes %d", got, n.net.Inputs())
	}
	m := *n
	m.NonPrivate, m.Clipping, m.Optimizer, m.LearningRate = true, gradient.Unclipped, "momentum", 0
	m.bands, m.Quantile, m.EMA, m.Average = bands{}, 0, 0, 0.25
	m.rows, m.scope = n.PublicSet.Rows, dp.WholeScope
	m.rate = min(1, publicBatch/m.expectedRows())
	m.size()
	m.Epochs = max(publicPasses, publicExamples/m.expectedRows())
	m.steps = max(1, int(math.Ceil(m.Epochs*m.expectedRows()/m.lot)))
	step, err := m.optimizer()
	if err != nil {
		return err
	}
	average, norm := m.averaging(), 0.0
	t := gradient.Training{
		Privacy: m.privacy(m.scope, 0), Clipping: m.Clipping, Network: m.net, Target: m.truth(), ExpectedRows: m.expectedRows(),
		Microbatch: m.microbatch, Multiplicity: m.Augment.Variants, Augment: m.Augment.variant(), Update: m.update(step, average, &norm),
		Progress: func(done, steps int) { env.Progress.step("teach", done, steps) }, Alone: n.alone,
	}
	if err := gradient.TrainPublic(ctx, env.Other, t, params, src); err != nil {
		return err
	}
	copy(params, average.Value())
	for _, w := range params {
		if w-w != 0 {
			return usage("leave out --public, or choose a smaller network", "training on the public set %s diverged", n.PublicSet.Name)
		}
	}
	return nil
}

// taughtWords say what a claim leaves out; of is what the set consists of.
func (s *PublicSet) taughtWords(of string) string {
	return fmt.Sprintf("The public set: %s (%d %s, SHA-256 %.16s…) is declared public (--public); the first weights come from training on it without noise.", s.Name, s.Rows, of, s.SHA256)
}
