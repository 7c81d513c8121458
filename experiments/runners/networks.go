package runners

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/core/accountant"
	"pawl/core/gradient"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

const delta = "0.00001"

// sample names a public set: the first rows of images, or texts as the tokens that a net reads.
type sample struct {
	Data string `json:"data"`
	Rows int    `json:"rows"`
	Test int    `json:"test"`
	// Texts is the net whose tokens texts become; Order decides which texts train (1 where it is 0).
	Texts string `json:"texts"`
	Order uint64 `json:"order"`
	// OnTrain scores on the training images.
	OnTrain bool `json:"on_train"`
	// Sparse keeps every second pixel of every second line. Components are principal ones of the training images, in
	// their place: as published, and paid for by nobody.
	Sparse     bool `json:"sparse"`
	Components int  `json:"components"`
}

func (i sample) open(r *experiments.Run) *lab.Images {
	if i.Texts == "" && i.Components == 0 && i.Data != adultVectors { // images are kept where they are read
		return i.read(r)
	}
	return once(fmt.Sprint(i, r.DataDir), func() *lab.Images { return i.read(r) })
}

func (i sample) read(r *experiments.Run) *lab.Images {
	switch {
	case i.Data == adultVectors:
		return i.adult(r)
	case i.Texts != "":
		reads := must(spec{Net: i.Texts}.make())
		return must(lab.OpenTexts(i.Data, r.DataDir, reads.Input.Size()-1, reads.Network.Layers[0].Vocabulary, i.Rows, i.Test, max(i.Order, 1)))
	}
	s := must(lab.OpenImages(i.Data, r.DataDir, i.Rows, i.Test))
	if i.OnTrain {
		s.Test = s.Train
	}
	if i.Sparse {
		s.Train, s.Test = sparse(s.Train), sparse(s.Test)
	}
	if i.Components > 0 {
		return project(s, i.Components)
	}
	return s
}

// opener opens samples of a run's folder in expressions.
func opener(r *experiments.Run) func(data string, rows, test int, texts string, order int) *lab.Images {
	return func(data string, rows, test int, texts string, order int) *lab.Images {
		return sample{Data: data, Rows: rows, Test: test, Texts: texts, Order: uint64(order)}.open(r)
	}
}

// spec is a network: of the zoo, or “linear”, or hidden layers on frequencies of a cosine transform.
type spec struct {
	Net         string `json:"net"`
	Frequencies int    `json:"frequencies"`
	Hidden      []int  `json:"hidden"`
	// Whole trains every layer, frozen ones included.
	Whole bool `json:"whole"`
	// Activation, bounded at Bound, takes the place of the net's own.
	Activation string  `json:"activation"`
	Bound      float64 `json:"bound"`
	// Default is the form that the library trains: its activation, no dropout.
	Default bool `json:"default"`
	// Named is the name that the plan states, where it is not the net's.
	Named string `json:"named"`
	// Front takes the place of the net's own front end, and its shape is that of the data: “dct” of Frequencies, or
	// “none”.
	Front string `json:"front"`
}

func (n spec) make() (s zoo.Spec, err error) {
	switch {
	case n.Net == "linear":
		// What an arm is held against: softmax regression on what the net is given.
		s = zoo.Spec{Name: "linear", Network: nn.Spec{Layers: []nn.Layer{{Kind: "normalize", Scale: 4}, {Kind: "dense"}}},
			Defaults: zoo.Defaults{Kappa: 2, Radius: 4, ClippingNorm: 0.1}}
	case n.Net != "":
		if s, err = lab.Net(n.Net); err != nil {
			return s, err
		}
	default:
		s = zoo.Spec{Name: fmt.Sprintf("fcn %d %v", n.Frequencies, n.Hidden), Defaults: zoo.Defaults{Activation: "tanh", Kappa: 2.4, Radius: 8, ClippingNorm: .5}}
		s.Network.Layers = []nn.Layer{{Kind: "dct", Coefficients: n.Frequencies}}
		for _, units := range n.Hidden {
			s.Network.Layers = append(s.Network.Layers, nn.Layer{Kind: "dense", Units: units}, nn.Layer{Kind: "relu"})
		}
		s.Network.Layers = append(s.Network.Layers, nn.Layer{Kind: "dense", Units: 10})
	}
	if n.Front != "" {
		s.Input, s.Outputs, s.Parameters, s.Trainable = nn.Shape{}, 0, 0, 0
		if n.Front == "dct" {
			s = s.WithFrontEnd(nn.Layer{Kind: "dct", Coefficients: n.Frequencies})
		} else {
			s.Network.Layers, s.Defaults.Radius = s.Network.Layers[1:], 0
		}
	}
	if n.Whole {
		s = s.TrainLast(len(s.Network.Layers))
		s.Name += ", all layers"
	}
	if n.Activation != "" {
		if n.Bound > 0 {
			s.Defaults.Bound = n.Bound
		}
		if s, err = s.WithActivation(n.Activation); err != nil {
			return s, err
		}
	}
	if n.Default {
		s = s.Default()
	}
	if n.Named != "" {
		s.Name = n.Named
	}
	return s, nil
}

// net is one of the zoo, for its name and title.
func net(name string, whole bool) (zoo.Spec, error) { return spec{Net: name, Whole: whole}.make() }

// parameters is the number of those of hidden layers on frequencies, with ten outputs.
func parameters(frequencies int, hidden []float64) (total int) {
	in := frequencies
	for _, units := range append(slices.Clone(hidden), 10) {
		total += (in + 1) * int(units)
		in = int(units)
	}
	return total
}

// training is how a network is trained.
type training struct {
	sample
	spec
	// Epsilon, a text or a number, or Noise, a multiplier, is the price at Delta (1e-5) by Rényi accounting; without
	// both nothing is private, and Clipped clips all the same.
	Epsilon any     `json:"epsilon"`
	Noise   float64 `json:"noise"`
	Clipped bool    `json:"clipped"`
	// By is “rule”, the library's steps; “steps”, plain ones of Rate with clipping norm Clip (1); or an optimizer.
	By     string  `json:"by"`
	Rate   float64 `json:"rate"`
	Clip   float64 `json:"clip"`
	Batch  int     `json:"batch"`
	Epochs float64 `json:"epochs"`
	// Mechanism is DP-SGD, or “banded”: noise that is correlated over the steps.
	Mechanism string `json:"mechanism"`
	// Last scores the last parameters, in place of their average.
	Last bool `json:"last"`
	// Seeds are trainings 1 to Seeds; or Seed is one. Looks are numbers of steps, each a training of that length.
	Seeds int    `json:"seeds"`
	Seed  uint64 `json:"seed"`
	Looks []int  `json:"looks"`
	// Drawn rows of the training rows are drawn with replacement, by the seed.
	Drawn int `json:"drawn"`
	// Kappa is that of the rule, 0 for the net's; OwnAccountant leaves the accountant to the library.
	Kappa         float64 `json:"kappa"`
	OwnAccountant bool    `json:"own_accountant"`
	// Score is the accuracy in percent, or “block norm”, or “price”: ε and the accuracy.
	Score string `json:"score"`
}

// Check says what is wrong before anything is trained.
func (t *training) Check() error {
	_, err := t.spec.make()
	if err == nil && (t.Batch < 0 || !(t.Epochs > 0 || len(t.Looks) > 0) || t.Seeds < 1 && t.Seed < 1) {
		err = fmt.Errorf("want batch, epochs and seeds above 0")
	}
	if err == nil && !slices.Contains([]string{"", "price", "block norm"}, t.Score) {
		err = fmt.Errorf("score %q: want block norm, price or nothing", t.Score)
	}
	return err
}

func (t *training) set(in *workflow.TrainInput) {
	in.Batch, in.Epochs, in.Mechanism = t.Batch, t.Epochs, t.Mechanism
	switch t.By {
	case "rule", "":
		if t.Clip > 0 {
			in.ClippingNorm = t.Clip
		}
	case "steps":
		in.Optimizer, in.LearningRate, in.ClippingNorm = "sgd", t.Rate, max(t.Clip, 1)
	default:
		in.Optimizer, in.LearningRate, in.ClippingNorm = t.By, t.Rate, t.Clip
	}
	if t.Kappa > 0 {
		in.Kappa = t.Kappa
	}
	if t.Last {
		in.Average = 1e-12 // of the steps: the last one
	}
	switch e := t.Epsilon.(type) {
	case string:
		in.Epsilon = e
	case float64:
		in.Epsilon = strconv.FormatFloat(e, 'f', -1, 64)
	}
	in.NoiseMultiplier = t.Noise
	switch {
	case in.Epsilon != "" || t.Noise > 0:
		if in.Delta = delta; !t.OwnAccountant {
			in.Accountant = accountant.MethodRDP
		}
	case t.Clipped:
		in.NonPrivate = true
	default:
		in.NonPrivate, in.Clipping = true, gradient.Unclipped
		if t.By == "" {
			in.Optimizer, in.LearningRate = "adam", 1e-3
		}
	}
}

// train returns one score for each seed.
func train(ctx context.Context, r *experiments.Run, t *training) (out []float64) {
	data, net, looks := t.sample.open(r), must(t.spec.make()), t.Looks
	if len(looks) == 0 {
		looks = []int{0} // after all epochs
	}
	for _, seed := range seeds(t.Seed, t.Seeds) {
		on := data
		if t.Drawn > 0 {
			on = redrawn(data, t.Drawn, seed)
		}
		for _, steps := range looks {
			if steps > 0 {
				t.Epochs = float64(steps*t.Batch) / float64(data.Train.Len())
			}
			o := must(on.Run(ctx, net, seed, t.set))
			switch t.Score {
			case "":
				out = append(out, percent(o))
			case "price":
				out = append(out, o.Plan.Epsilon, percent(o))
			case "block norm":
				out = append(out, blockNorm(o.Model, on.Test))
			}
		}
	}
	return out
}

// percent is a score in percent.
func percent(o *workflow.Outcome) float64 { return 100 * *o.Score.Exact }

// seeds are 1 to n, or one where n is 0.
func seeds(one uint64, n int) (all []uint64) {
	if n == 0 {
		return []uint64{one}
	}
	for i := range n {
		all = append(all, uint64(i+1))
	}
	return all
}

// trained says how the networks of arms were trained, with the sizes of a scale.
func trained(paper bool, z map[string]any) string {
	if paper {
		return fmt.Sprintf("as published: the paper's lots, epochs and learning rates, clipping norm 1, noise such that ε is the printed one by Rényi accounting of Poisson lots at δ = 1e-5; without privacy Adam at 0.001; honest: lots of %v, %v epochs; %v runs", z["batch"], z["epochs"], z["runs"])
	}
	return fmt.Sprintf("%v examples, lots of %v, %v epochs, noise such that ε is the printed one by Rényi accounting of Poisson lots at δ = 1e-5, momentum and the step of the library's rule (the paper trains for 200 to 500 epochs: --scale paper); without privacy Adam at 0.001; %v runs", z["rows"], z["batch"], z["epochs"], z["runs"])
}

// redrawn are so many training rows, with replacement.
func redrawn(s *lab.Images, n int, seed uint64) *lab.Images {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	draw := make([]int, n)
	for i := range draw {
		draw[i] = rng.IntN(s.Train.Len())
	}
	return &lab.Images{Name: s.Name, Target: s.Target, Train: s.Train.Some(draw), Test: s.Test}
}
