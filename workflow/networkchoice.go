package workflow

import (
	"fmt"
	"strings"

	"pawl/core/gradient"
	"pawl/optim"
	"pawl/report"
)

// networkChoice states the network and the numbers of its training.
func (plan *Plan) networkChoice() report.Choice {
	n := plan.network
	var layers []string
	for _, l := range n.whole.Layers() {
		layers = append(layers, fmt.Sprintf("%s %s", l.Kind, l.Output))
	}
	c := report.Choice{
		Workflow: string(PAW), Model: n.Name, Features: []string{"input " + n.whole.Input().String()},
		Encoding: strings.Join(layers, ", "), Parameters: n.net.Parameters(), UsefulModel: true,
		Search: "none: the model was named", Hyperparameters: map[string]any{
			"batch": n.Batch, "epochs": n.Epochs, "steps": n.steps, "sampling_rate": n.rate,
			"clipping": string(n.Clipping), "optimizer": n.Optimizer,
		},
	}
	if len(n.Rules) > 0 {
		c.Search = "none: the rule decides from public facts"
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
	if n.TrainLast > 0 {
		c.Hyperparameters["train_last"] = n.TrainLast
	}
	if n.FrontEnd != "" {
		c.Hyperparameters["front_end"] = n.FrontEnd
	}
	if n.Clipping != gradient.Unclipped {
		c.Hyperparameters["clipping_norm"] = n.ClippingNorm
	}
	if !n.NonPrivate {
		c.Hyperparameters["noise_multiplier"] = plan.noise
	}
	if rate, base, err := plan.stepSize(); err == nil {
		c.Hyperparameters["learning_rate"] = rate
		if strings.HasPrefix(n.Optimizer, "adam") {
			c.Hyperparameters["learning_rate"] = base
		}
	}
	return c
}
