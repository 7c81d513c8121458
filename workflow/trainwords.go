package workflow

import (
	"fmt"
	"math"
	"strings"

	"pawl/compute/optim"
	"pawl/core/gradient"
	"pawl/report"
	"pawl/search"
)

// choice states the network and the numbers of its training. norm is the clipping norm of
// the last step, where that follows a quantile and is known, else 0.
func (n *training) choice(norm float64) report.Choice {
	var layers []string
	for _, l := range n.whole.Layers() {
		layers = append(layers, fmt.Sprintf("%s %s", l.Kind, l.Output))
	}
	features, encoding := n.inputWords()
	c := report.Choice{
		Workflow: string(PAW), Model: n.Name, Features: features,
		Encoding: encoding + strings.Join(layers, ", "), Parameters: n.net.Parameters(), UsefulModel: true,
		Search: n.unsearchedWords(), Hyperparameters: map[string]any{
			"batch": n.Batch, "epochs": n.Epochs, "steps": n.steps, "sampling_rate": n.rate,
			"clipping": string(n.Clipping), "optimizer": n.Optimizer,
		},
	}
	if n.coefficients != nil {
		h := c.Hyperparameters
		h["mechanism"], h["bands"], h["groups"], h["coefficients"] = banded, len(n.coefficients), n.groups, n.coefficients
		if n.beside > 0 {
			h["iterate_noise_over_dp_sgd"] = math.Round(n.beside*1000) / 1000
		}
	}
	if n.EMA > 0 {
		c.Hyperparameters["ema"] = n.EMA
	} else {
		c.Hyperparameters["average_of_last"] = n.Average
	}
	if n.Schedule != (optim.Schedule{}) {
		c.Hyperparameters["schedule"], c.Hyperparameters["warmup"] = n.Schedule.Shape, n.Schedule.Warmup
	}
	if a := n.Augment; a.Variants > 1 {
		c.Hyperparameters["augment"], c.Hyperparameters["shift"], c.Hyperparameters["flip"] = a.Variants, a.Shift, a.Flip
	}
	if len(n.ClassWeights) > 0 {
		c.Hyperparameters["class_weights"] = n.ClassWeights
	}
	if n.TrainLast > 0 {
		c.Hyperparameters["train_last"] = n.TrainLast
	}
	if n.PublicSet != nil {
		c.Hyperparameters["public_set"] = n.PublicSet
	}
	if n.Extracted {
		g := n.Layers.Layers[0].Graph
		c.Hyperparameters["extractor"] = map[string]any{"file": g.File, "sha256": g.SHA256, "pixels": g.Pixels}
	}
	if n.FrontEnd != "" {
		c.Hyperparameters["front_end"] = n.FrontEnd
	}
	if n.Clipping != gradient.Unclipped {
		c.Hyperparameters["clipping_norm"] = n.ClippingNorm
	}
	if !n.NonPrivate {
		c.Hyperparameters["noise_multiplier"] = n.noise
	}
	if n.Clipping == gradient.Quantile {
		c.Hyperparameters["unclipped_share"] = n.Quantile
		if norm > 0 {
			c.Hyperparameters["last_clipping_norm"] = norm
		}
	}
	if n.Optimizer == adadp {
		c.Hyperparameters["tolerance"], c.Hyperparameters["learning_rate"] = n.tolerance(), n.firstRate()
		c.Hyperparameters["keep_all"] = n.KeepAll
	} else if rate, err := n.stepSize(); err == nil {
		c.Hyperparameters["learning_rate"] = rate
	}
	return c
}

// unsearchedWords says why a network was not searched for and, where rules chose it,
// what a private search would have left for its training.
func (n *training) unsearchedWords() string {
	p := n.problem
	if len(n.Rules) == 0 || n.NonPrivate {
		return "none: the model was named"
	}
	const words = "none: the rules decide from public facts"
	s, err := search.New(search.PS)
	if err != nil {
		return words
	}
	j := search.Job{
		Trial:  n.family(),
		Scopes: s.Divide(n.scope), Relation: p.relation, Epsilon: p.target(), Delta: p.delta, Accountant: p.Accountant,
	}
	q, err := s.Quote(j)
	if err != nil {
		return words + "; a private search over 20 training runs does not fit"
	}
	return fmt.Sprintf("%s; a private search over 20 training runs would leave epsilon %s of %s for the released model", words, short(q.BaseEpsilon), short(p.target()))
}
