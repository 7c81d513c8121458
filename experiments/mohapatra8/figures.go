// Package mohapatra8 replays Figs. 8 to 11 of the adaptive-optimizers paper: curves of
// DP-Adam against DP-SGD, and against other optimizers that need no learning rate.
package mohapatra8

import (
	"context"
	"fmt"

	"pawl/experiments"
	"pawl/experiments/adaptive"
	"pawl/experiments/nets"
)

// figure is what differs between the four.
type figure struct {
	number int
	noise  float64
	// rival optimizers have 4 candidates each; DP-SGD has 40.
	rivals []string
	quick  int
}

// Figure8 compares DP-Adam with DP-SGD at noise 2.
func Figure8() experiments.Experiment { return figure{8, 2, []string{"adam", "sgd"}, 500}.experiment() }

// Figure9 is Figure8 with noise 8.
func Figure9() experiments.Experiment { return figure{9, 8, []string{"adam", "sgd"}, 500}.experiment() }

// Figure10 compares the optimizers that need no learning rate at noise 2.
func Figure10() experiments.Experiment {
	return figure{10, 2, []string{"adam", "adadp", "adam-wosm"}, 150}.experiment()
}

// Figure11 is Figure10 with noise 8.
func Figure11() experiments.Experiment {
	return figure{11, 8, []string{"adam", "adadp", "adam-wosm"}, 150}.experiment()
}

var names = map[string]string{"adam": "DPAdam", "sgd": "DPSGD", "adadp": "ADADP", "adam-wosm": "DPAdamWOSM"}

func (f figure) experiment() experiments.Experiment {
	title := "DPAdam against DPSGD over their grids"
	if len(f.rivals) > 2 {
		title = "DPAdam, ADADP and DPAdamWOSM"
	}
	return experiments.Experiment{
		Name: fmt.Sprintf("mohapatra-figure-%d", f.number), Title: fmt.Sprintf("%s, noise %g", title, f.noise),
		Source: fmt.Sprintf("Mohapatra et al., AAAI 2022, Fig. %d", f.number), Data: []string{"mnist", "adult"}, Quick: f.quick, Run: f.run,
	}
}

func (f figure) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	g, err := adaptive.Open(r)
	if err != nil {
		return nil, err
	}
	t := &experiments.Table{Unit: "% of test rows", Notes: append(g.Notes(), "our copy is the appendix, whose curves have no numbers and no words: rows stand alone, and claims are what we take the paper to say; ADADP pairs steps, both of which are paid for")}
	last := len(g.Looks) - 1
	for _, data := range g.Sets {
		rule, err := g.Rule(ctx, data, f.noise)
		if err != nil {
			return nil, err
		}
		best := map[string][]float64{}
		var untuned float64
		for _, optimizer := range f.rivals {
			all := g.Thin(adaptive.SGD())
			if optimizer != "sgd" {
				all = adaptive.Own(optimizer)
			}
			curves, err := g.All(ctx, data, f.noise, all)
			if err != nil {
				return nil, err
			}
			for look, steps := range g.Looks {
				b := curves.Best(look)
				row := experiments.Row{
					Name: fmt.Sprintf("%s, best of %d after %d steps", names[optimizer], len(all), steps), Data: data.Name,
					AsPublished: experiments.Of(adaptive.At(curves[b], look)), Honest: experiments.Of(adaptive.At(rule, look)), Baseline: experiments.Exact(100 * data.Majority()),
				}
				t.Rows = append(t.Rows, row)
			}
			best[optimizer] = adaptive.At(curves[curves.Best(last)], last)
			if optimizer == "sgd" {
				untuned = curves.Median(last)
			}
		}
		t.Claims = append(t.Claims, f.claims(data.Name, best, adaptive.At(rule, last), untuned)...)
	}
	return t, nil
}

func (f figure) claims(data string, best map[string][]float64, rule []float64, untuned float64) []experiments.Claim {
	adam := best["adam"]
	if sgd, ok := best["sgd"]; ok {
		middle := make([]float64, len(adam))
		for i := range middle {
			middle[i] = untuned
		}
		return []experiments.Claim{
			nets.Within(data+": DPAdam over 4 candidates is about as good as DPSGD over its grid (we allow a point)", adam, sgd, 1),
			nets.Better(data+": DPAdam is better than the median candidate of DPSGD", adam, middle),
			nets.Within(data+": one training by the library's rule is about as good as DPSGD over its grid (our remark; a point)", rule, sgd, 1),
		}
	}
	return []experiments.Claim{
		nets.Within(data+": DPAdamWOSM is about as good as DPAdam (we allow a point)", best["adam-wosm"], adam, 1),
		nets.Within(data+": DPAdamWOSM is about as good as ADADP or better (we allow a point)", best["adam-wosm"], best["adadp"], 1),
		nets.Within(data+": one training by the library's rule is about as good as DPAdam over its grid (our remark; a point)", rule, adam, 1),
	}
}
