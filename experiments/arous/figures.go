package arous

import (
	"context"
	"fmt"
	"math"

	"pawl/compute/nn"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/nets"
)

const (
	mnistNet, cifarNet = "arous-cnn", "arous-cifar-cnn"
	source             = "Arous et al., IJCNN 2023, "
)

// figure is a replay of one.
func figure(number, title string, quick int, data []string, run func(context.Context, *experiments.Run) (*experiments.Table, error)) experiments.Experiment {
	return experiments.Experiment{Name: "arous-figure-" + number, Title: title, Source: source + "Figure " + number, Data: data, Quick: quick, Run: run}
}

// sizes of a scale for sets of small and of large images. Plain steps of 0.1 on gradients
// of norm 1 take hundreds of steps to anything: fewer images need smaller lots.
func sizes(s experiments.Scale, name string) (train, test, batch, runs int, epochs float64) {
	if name == "cifar10" {
		return experiments.Pick(s, 40, 3000, 50000), experiments.Pick(s, 20, 2000, 10000), experiments.Pick(s, 20, 100, 256), experiments.Pick(s, 2, 3, 3), float64(experiments.Pick(s, 1, 6, 10))
	}
	return experiments.Pick(s, 100, 20000, 60000), experiments.Pick(s, 40, 5000, 10000), experiments.Pick(s, 50, 128, 256), experiments.Pick(s, 2, 3, 3), float64(experiments.Pick(s, 1, 4, 10))
}

func open(r *experiments.Run, name string) (training, error) {
	train, test, batch, runs, epochs := sizes(r.Scale, name)
	data, err := lab.OpenImages(name, r.DataDir, train, test)
	return training{data: data, batch: batch, runs: runs, epochs: epochs}, err
}

func netOf(data string) string {
	if data == "cifar10" {
		return cifarNet
	}
	return mnistNet
}

func (t training) note() string {
	return fmt.Sprintf("%d images, %d to test; lots of %d (our copy names none), plain steps of 0.1, clipping norm 1, δ = 1e-5, %d runs; without privacy Adam at 0.001", t.data.Train.Len(), t.data.Test.Len(), t.batch, t.runs)
}

const drawn = "the figure's numbers did not survive the transcription: what is judged is its sentence"

// Figure1 compares accuracy with and without privacy.
func Figure1() experiments.Experiment {
	return figure("1", "Accuracy with DP-SGD and without, on three sets of images", 250, []string{"mnist", "fashion-mnist", "cifar10"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		t := &experiments.Table{Unit: "% of test images", Notes: []string{drawn, "nets of Tables 2 and 3 with rectifiers, noise 1"}, PublishedEpsilon: map[string]float64{}}
		for _, name := range []string{"mnist", "fashion-mnist", "cifar10"} {
			one, err := open(r, name)
			if err != nil {
				return nil, err
			}
			if one.net, err = activated(netOf(name), "relu", 2); err != nil {
				return nil, err
			}
			plain, err := one.accuracy(ctx, r)
			if err != nil {
				return nil, err
			}
			one.noise = 1
			private, err := one.accuracy(ctx, r)
			if err != nil {
				return nil, err
			}
			if t.PublishedEpsilon[name], err = one.epsilon(); err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, experiments.Row{Name: name + ", DP-SGD", Data: name, AsPublished: experiments.Of(private), Baseline: experiments.Of(plain)},
				experiments.Row{Name: name + ", no privacy", Data: name, AsPublished: experiments.Of(plain)})
			t.Claims = append(t.Claims, nets.Better("privacy costs accuracy on "+name, plain, private))
			t.Notes = append(t.Notes, name+": "+one.note()+fmt.Sprintf(", %g epochs", one.epochs))
		}
		return t, nil
	})
}

// Figure7 shows the baseline models without privacy.
func Figure7() experiments.Experiment {
	return figure("7", "The baseline models without privacy, on their own images and on new ones", 250, []string{"fashion-mnist", "cifar10"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		t := &experiments.Table{Unit: "% of images", Guarantee: "trained without privacy: no guarantee of any kind", Notes: []string{drawn}}
		for _, name := range []string{"fashion-mnist", "cifar10"} {
			one, err := open(r, name)
			if err != nil {
				return nil, err
			}
			one.epochs *= 4 // until they know their images better than new ones
			if one.net, err = activated(netOf(name), "relu", 2); err != nil {
				return nil, err
			}
			fresh, err := one.accuracy(ctx, r)
			if err != nil {
				return nil, err
			}
			own := one
			own.data = &lab.Images{Name: one.data.Name, Target: one.data.Target, Train: one.data.Train, Test: one.data.Train}
			known, err := own.accuracy(ctx, r)
			if err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, experiments.Row{Name: name + ", images of the training", Data: name, AsPublished: experiments.Of(known)},
				experiments.Row{Name: name + ", test images", Data: name, AsPublished: experiments.Of(fresh)})
			t.Claims = append(t.Claims, nets.Better("on "+name+" a baseline model knows its own images better than new ones: what attacks on membership live from", known, fresh))
			t.Notes = append(t.Notes, name+": "+one.note()+fmt.Sprintf(", %g epochs", one.epochs))
		}
		return t, nil
	})
}

// Figure12 compares normalizations under privacy.
func Figure12() experiments.Experiment {
	return figure("12", "Normalization under DP-SGD, on Fashion-MNIST", 400, []string{"fashion-mnist"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		one, err := open(r, "fashion-mnist")
		if err != nil {
			return nil, err
		}
		t := &experiments.Table{Unit: "% of test images", PublishedEpsilon: map[string]float64{}}
		kinds := []string{"", "-layer-norm", "-group-norm", "-instance-norm", "-batch-norm"}
		values := map[string][]float64{}
		for _, a := range activations[:2] {
			for _, kind := range kinds {
				plain, private := one, one
				if plain.net, err = activated(mnistNet+kind, a.kind, 3); err != nil {
					return nil, err
				}
				row := experiments.Row{Name: a.name + ", " + normalization(kind), Data: "fashion-mnist"}
				without, err := plain.accuracy(ctx, r)
				if err != nil {
					return nil, err
				}
				row.Baseline = experiments.Of(without)
				if kind == "-batch-norm" {
					row.AsPublished, row.Why = row.Baseline, "without privacy: a batch's statistics mix its examples, and there is no gradient of one to clip"
					row.Name += ", no privacy"
					row.Verdict = experiments.Unpublished
					values[a.kind+kind] = without
					t.Rows = append(t.Rows, row)
					continue
				}
				private.net, private.noise = plain.net, 1
				v, err := private.accuracy(ctx, r)
				if err != nil {
					return nil, err
				}
				values[a.kind+kind] = v
				row.AsPublished = experiments.Of(v)
				if t.PublishedEpsilon["every row under privacy"], err = private.epsilon(); err != nil {
					return nil, err
				}
				t.Rows = append(t.Rows, row)
			}
		}
		t.Claims = []experiments.Claim{
			nets.Within("layer normalization brings no improvement (we ask for less than 1 point, ReLU)", values["relu"], values["relu-layer-norm"], 1),
			nets.Better("normalization of each example by groups of channels improves the trade-off with bounded ReLU, where the paper has batch normalization", values["bounded_relu-group-norm"], values["bounded_relu"]),
			nets.Better("the same of each channel by itself", values["bounded_relu-instance-norm"], values["bounded_relu"]),
			{Statement: "batch normalization improves utility at the same privacy", Verdict: experiments.Unpublished, Evidence: "not measured: DP-SGD with batch normalization has no per-example gradients, so that its ε would be a number without a meaning (docs/READING.md, H8)"},
		}
		t.Notes = []string{drawn, one.note() + fmt.Sprintf(", %g epochs, noise 1, bound 3", one.epochs), "baseline: the same net without privacy"}
		return t, nil
	})
}

func normalization(kind string) string {
	return map[string]string{"": "none", "-layer-norm": "layer", "-group-norm": "groups of channels", "-instance-norm": "each channel", "-batch-norm": "batch"}[kind]
}

// Figure13 is accuracy against ε by activation.
func Figure13() experiments.Experiment {
	return figure("13", "Accuracy against ε by activation, on MNIST", 250, []string{"mnist"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		one, err := open(r, "mnist")
		if err != nil {
			return nil, err
		}
		t := &experiments.Table{Unit: "% of test images", PublishedEpsilon: map[string]float64{}}
		noises, last := []float64{1.4, 1.2, 1, 0.8}, float64(experiments.Pick(r.Scale, 1, 6, 10))
		if r.Scale == experiments.Smoke {
			noises = noises[2:]
		}
		one.epochs = experiments.Pick(r.Scale, 1., 3., 4.)
		var at [3][]float64 // of all noises and runs
		for i, noise := range noises {
			one.noise = noise
			if i == len(noises)-1 {
				one.epochs = last
			}
			for k, a := range activations {
				if one.net, err = activated(mnistNet, a.kind, 4); err != nil {
					return nil, err
				}
				v, err := one.accuracy(ctx, r)
				if err != nil {
					return nil, err
				}
				at[k] = append(at[k], v...)
				e, err := one.epsilon()
				if err != nil {
					return nil, err
				}
				t.PublishedEpsilon[fmt.Sprintf("noise %g, %g epochs", noise, one.epochs)] = e
				t.Rows = append(t.Rows, experiments.Row{Name: fmt.Sprintf("%s, noise %g, ε = %.2f", a.name, noise, e), Data: "mnist", AsPublished: experiments.Of(v)})
			}
		}
		t.Claims = []experiments.Claim{
			nets.Better("bounded ReLU is better than ReLU, over all noises", at[1], at[0]), nets.Better("tanh is better than ReLU", at[2], at[0]),
			nets.Better("tanh is best: better than bounded ReLU", at[2], at[1]),
		}
		t.Notes = []string{drawn, one.note() + ", bound 4; the last noise trains longer, as in the paper"}
		return t, nil
	})
}

// Figure14 is the mean accuracy over the epochs by noise and activation.
func Figure14() experiments.Experiment {
	return figure("14", "Mean accuracy over the epochs by noise and activation, on MNIST", 300, []string{"mnist"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		one, err := open(r, "mnist")
		if err != nil {
			return nil, err
		}
		one.last = true // a longer run passes through the parameters of a shorter one
		t := &experiments.Table{Unit: "% of test images, mean over the epochs", PublishedEpsilon: map[string]float64{}}
		noises, epochs := []float64{1.8, 1.6, 1.4, 1.2, 1, 0.8}, experiments.Pick(r.Scale, 2, 3, 10)
		switch r.Scale {
		case experiments.Smoke:
			noises = noises[5:]
		case experiments.Quick:
			noises = []float64{1.8, 1.2, 0.8}
		}
		var at [3][]float64
		for _, noise := range noises {
			one.noise = noise
			for k, a := range activations {
				if one.net, err = activated(mnistNet, a.kind, 2); err != nil {
					return nil, err
				}
				mean := make([]float64, one.runs)
				for e := 1; e <= epochs; e++ {
					one.epochs = float64(e)
					v, err := one.accuracy(ctx, r)
					if err != nil {
						return nil, err
					}
					for i := range v {
						mean[i] += v[i] / float64(epochs)
					}
				}
				at[k] = append(at[k], mean...)
				t.Rows = append(t.Rows, experiments.Row{Name: fmt.Sprintf("%s, noise %g", a.name, noise), Data: "mnist", AsPublished: experiments.Of(mean)})
			}
			if t.PublishedEpsilon[fmt.Sprintf("noise %g, the last epoch", noise)], err = one.epsilon(); err != nil {
				return nil, err
			}
		}
		t.Claims = []experiments.Claim{
			nets.Better("bounded ReLU is better than ReLU, over all noises", at[1], at[0]), nets.Better("tanh is better than ReLU", at[2], at[0]),
		}
		t.Notes = []string{drawn, one.note() + fmt.Sprintf(", bound 2, %d epochs (the paper: 10)", epochs)}
		return t, nil
	})
}

// Figure15 is the norm of what the first block of convolution puts out.
func Figure15() experiments.Experiment {
	return figure("15", "Norm of the first block's output, ReLU against bounded ReLU, on Fashion-MNIST", 60, []string{"fashion-mnist"}, func(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
		one, err := open(r, "fashion-mnist")
		if err != nil {
			return nil, err
		}
		one.noise = 1
		t := &experiments.Table{Unit: "L2 norm, mean over the test images"}
		var at [2][]float64
		for k, a := range activations[:2] {
			if one.net, err = activated(mnistNet, a.kind, 3); err != nil {
				return nil, err
			}
			if at[k], err = r.Cell(ctx, one.name("norm of the first block"), func() (out []float64, err error) {
				for seed := range one.runs {
					o, err := one.run(ctx, uint64(seed+1))
					if err != nil {
						return nil, err
					}
					m := o.Model
					v, err := blockNorm(m.Layers, m.Net.Input(), m.Parameters32, one.data.Test)
					if err != nil {
						return nil, err
					}
					out = append(out, v)
				}
				return out, nil
			}); err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, experiments.Row{Name: a.name, Data: "fashion-mnist", AsPublished: experiments.Of(at[k])})
		}
		c := nets.Better("the norm is larger with ReLU than with bounded ReLU", at[0], at[1])
		d := experiments.Of(nets.Difference(at[0], at[1]))
		c.Evidence = fmt.Sprintf("difference of mean norms %s, seed by seed", d)
		t.Claims = []experiments.Claim{c}
		t.Notes = []string{drawn + "; its caption says CIFAR-10 and the text Fashion-MNIST, which we take", one.note() + fmt.Sprintf(", %g epochs, noise 1, bound 3", one.epochs)}
		return t, nil
	})
}

// blockNorm is the mean norm of what a net's first convolution, pool and activation make
// of images.
func blockNorm(layers nn.Spec, input nn.Shape, params []float32, set *images.Set) (float64, error) {
	first := nn.Spec{Layers: append([]nn.Layer{}, layers.Layers[:3]...)}
	first.Layers = append(first.Layers, nn.Layer{Kind: "flatten"})
	probe, err := nn.Compile(nn.Spec{Layers: layers.Layers}, input, len(set.Classes))
	if err != nil {
		return 0, err
	}
	net, err := nn.Compile(first, input, probe.Layers()[2].Output.Size())
	if err != nil {
		return 0, err
	}
	total, x := 0.0, make([]float32, set.Size())
	for i := range set.Len() {
		set.At(i, x)
		square := 0.0
		for _, v := range net.Predict(0, params[:net.Parameters()], x) {
			square += float64(v) * float64(v)
		}
		total += math.Sqrt(square)
	}
	return total / float64(set.Len()), nil
}
