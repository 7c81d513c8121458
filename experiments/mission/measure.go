package mission

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/goccy/go-yaml"

	"pawl/data/dataset"
	"pawl/data/encode"
	"pawl/data/images"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// bench holds the data of one problem at a scale.
type bench struct {
	problem
	usual *usual
	run   *experiments.Run

	whole  *lab.Table // nil for images
	images *lab.Images
	rows   int // to train
	test   int // at most
	runs   int
	// choosing is the number of runs of the usual choices, which train many nets.
	choosing int
}

func (p problem) open(f *file, r *experiments.Run) (*bench, error) {
	b := &bench{problem: p, usual: f.usual(p.Usual), run: r, rows: int(p.Train[r.Scale]), test: int(p.Test[r.Scale]), runs: int(p.Runs[r.Scale])}
	b.choosing = b.runs
	if p.Choosing != nil {
		b.choosing = int(p.Choosing[r.Scale])
	}
	var err error
	_, images := dataset.Images(p.Data)
	switch s, e := p.schema(); {
	case p.File != "":
		if e != nil {
			return nil, e
		}
		b.whole, err = lab.OpenFile(p.info(), s, p.Target, r.DataDir)
	case images:
		if b.images, err = lab.OpenImages(p.Data, r.DataDir, b.rows, b.test); err == nil {
			b.images.Reuse = true
		}
	default:
		b.whole, err = lab.Open(p.Data, r.DataDir)
	}
	if err != nil {
		return nil, err
	}
	if p.File != "" {
		b.rows = int(p.Train[r.Scale] * float64(len(b.whole.Rows)) / 100)
	}
	if b.whole != nil {
		b.whole.Schema.SetBuckets(advise.TextBuckets)
	}
	return b, nil
}

// split is the rows of a run: a table to train with its test rows, the official ones where there are any.
func (b *bench) split(seed uint64) *lab.Table {
	t := b.whole
	if b.Split > 0 {
		seed = b.Split
	}
	if t.Test == nil {
		t = t.Split(b.rows, seed)
	} else if len(t.Rows) > b.rows {
		official := t.Test
		t = t.Split(b.rows, seed)
		t.Test = official
	}
	t.Test = t.Test[:min(b.test, len(t.Test))]
	return t
}

// tokens are the texts of the same rows as numbers.
func (b *bench) tokens(seed uint64) (*lab.Images, error) {
	first := b.usual.net.Network.Layers[0]
	return lab.OpenTexts(b.Data, b.run.DataDir, b.usual.net.Input.Size()-1, first.Vocabulary, b.rows, min(b.test, len(b.whole.Rows)-b.rows), seed)
}

// score of a run in points, and that of the majority class or of the mean.
func (b *bench) score(out *workflow.Outcome) ([]float64, error) {
	s := out.Score
	switch b.Metric {
	case "auroc":
		if s.AUROC == nil || s.AUROC.Value == nil {
			return nil, errors.New("no area under the curve")
		}
		return []float64{100 * *s.AUROC.Value, 50}, nil
	case "r2":
		if s.Numbers == nil || s.Numbers.R2.Value == nil {
			return nil, errors.New("no R²")
		}
		return []float64{100 * *s.Numbers.R2.Value, 0}, nil
	case "error":
		return []float64{100 * (1 - *s.Exact / *s.ExactBaseline), 0}, nil
	}
	base := math.NaN()
	if s.ExactBaseline != nil {
		base = 100 * *s.ExactBaseline
	} else if b.images != nil {
		base = 100 * b.images.Majority()
	}
	return []float64{100 * *s.Exact, base}, nil
}

// cell measures an arm on every split, one cell each, and returns scores and baselines.
func (b *bench) cell(ctx context.Context, arm string, one func(seed uint64) ([]float64, error)) (scores, base []float64, err error) {
	for seed := uint64(1); seed <= uint64(b.runs); seed++ {
		v, err := b.run.Cell(ctx, fmt.Sprintf("%s, %s, %s, %d rows, at most %d test, run %d", b.Data, b.Metric, arm, b.rows, b.test, seed), func() ([]float64, error) { return one(seed) })
		if err != nil {
			return nil, nil, err
		}
		scores = append(scores, v[0])
		if len(v) > 1 {
			base = append(base, v[1])
		}
	}
	return scores, base, nil
}

// fit is what `pawl fit` does by its rules. A part of the training rows of a table that Public leaves out of
// the private ones is trained on first where public says so.
func (b *bench) fit(ctx context.Context, epsilon string, public float64) (scores, base []float64, err error) {
	arm := "fit by its rules, ε = " + epsilon
	if b.Delta != "" {
		arm += ", δ = " + b.Delta
	}
	if b.Preset != "" {
		arm += ", preset " + string(b.Preset)
	}
	if b.Split > 0 {
		arm += ", one split"
	}
	if b.Public > 0 {
		arm += fmt.Sprintf(", %g of the rows left out", b.Public)
	}
	if public > 0 {
		arm += " and public"
	}
	return b.cell(ctx, arm, func(seed uint64) ([]float64, error) {
		if b.images != nil {
			return b.fitImages(ctx, epsilon, seed)
		}
		t := *b.split(seed)
		n := int(b.Public * float64(len(t.Rows)))
		if public > 0 {
			t.Open = t.Rows[:n]
		}
		t.Rows = t.Rows[n:]
		if t.Units != nil {
			t.Units = t.Units[n:]
		}
		out, err := t.Fit(ctx, epsilon, b.Delta, seed, nil)
		if err != nil {
			return nil, err
		}
		return b.score(out)
	})
}

func (b *bench) fitImages(ctx context.Context, epsilon string, seed uint64) ([]float64, error) {
	e, err := strconv.ParseFloat(epsilon, 64)
	if err != nil {
		return nil, err
	}
	rows := b.images.Train.Len()
	r, _, err := workflow.SignalRatio(float64(rows), e, b.Delta)
	if err != nil {
		return nil, err
	}
	preset := b.Preset
	if preset == "" {
		preset = advise.Balanced
	}
	shape := b.images.Train.Shape
	facts := advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: float64(rows), Epsilon: e, Ratio: r, Preset: preset}
	if set, ok := dataset.Images(b.Data); ok {
		facts.Mirrored = set.Mirrored
	}
	recipe, err := advise.ChooseImages(facts)
	if err != nil {
		return nil, err
	}
	net, err := lab.Net(recipe.Model)
	if err != nil {
		return nil, err
	}
	out, err := b.images.Run(ctx, net.Default(), seed, func(in *workflow.TrainInput) {
		in.Epsilon, in.Delta, in.Batch, in.Epochs, in.Preset = epsilon, b.Delta, recipe.Batch, recipe.Epochs, b.Preset
	})
	if err != nil {
		return nil, err
	}
	return b.score(out)
}

// usually sets the numbers that people take, with a DP optimizer.
func (u *usual) usually(epsilon string, scale experiments.Scale) func(*workflow.TrainInput) {
	return func(in *workflow.TrainInput) {
		in.Epsilon, in.Batch, in.Epochs, in.Optimizer, in.ClippingNorm = epsilon, u.Batch, u.Epochs[scale], u.Optimizer, u.ClippingNorm
		in.LearningRate = u.LearningRate
	}
}

func (u *usual) String() string {
	return fmt.Sprintf("%s, %s at %g, clipping norm %g, lots of %d", u.ID, u.Optimizer, u.LearningRate, u.ClippingNorm, u.Batch)
}

// dropIn trains the usual net.
func (b *bench) dropIn(ctx context.Context, epsilon string) (scores, base []float64, err error) {
	u := b.usual
	arm := fmt.Sprintf("drop-in %s, %g epochs, ε = %s", u, u.Epochs[b.run.Scale], epsilon)
	return b.cell(ctx, arm, func(seed uint64) ([]float64, error) {
		var out *workflow.Outcome
		var err error
		switch {
		case b.images != nil:
			out, err = b.images.Run(ctx, u.net, seed, u.usually(epsilon, b.run.Scale))
		case b.Text:
			var t *lab.Images
			if t, err = b.tokens(seed); err == nil {
				out, err = t.Run(ctx, u.net, seed, u.usually(epsilon, b.run.Scale))
			}
		default:
			out, err = b.split(seed).Train(ctx, u.net, encode.Options{Linear: true}, seed, u.usually(epsilon, b.run.Scale))
		}
		if err != nil {
			return nil, err
		}
		return b.score(out)
	})
}

// chosen is the best of the usual choices. As published every candidate has the whole ε and all scores
// are read; else trainings, scores and the choice cost ε together.
func (b *bench) chosen(ctx context.Context, epsilon string, published bool) (scores []float64, err error) {
	u := b.usual
	strategy, err := u.strategy(b.run.Scale, published)
	if err != nil {
		return nil, err
	}
	how := "paid"
	if published {
		how = "unpaid"
	}
	arm := fmt.Sprintf("choices %s, %g of space %s, %s, %g epochs, ε = %s", how, strategy.Mean, u.space.Name(), u, u.Epochs[b.run.Scale], epsilon)
	scores, _, err = b.cell(ctx, arm, func(seed uint64) ([]float64, error) {
		on, err := b.vectors(seed)
		if err != nil {
			return nil, err
		}
		out, err := on.Search(ctx, lab.Search{Space: u.space, Strategy: strategy, AsPublished: published}, seed, func(in *workflow.TrainInput) {
			u.usually(epsilon, b.run.Scale)(in)
			in.LearningRate = 0 // step and norm are the points' of the space
		})
		if err != nil {
			return nil, err
		}
		v, err := b.score(out)
		return v[:min(1, len(v))], err
	})
	return scores, err
}

// vectors are the rows of a run as a search among networks takes them.
func (b *bench) vectors(seed uint64) (*lab.Images, error) {
	switch {
	case b.images != nil:
		return b.images, nil
	case b.Text:
		return b.tokens(seed)
	}
	t := b.split(seed)
	enc, err := encode.New(t.Schema, t.Target, encode.Options{Linear: true})
	if err != nil {
		return nil, err
	}
	s := &lab.Images{Name: t.Name, Target: t.Target}
	if s.Train, err = vectors(enc, t, t.Rows); err == nil {
		s.Test, err = vectors(enc, t, t.Test)
	}
	return s, err
}

func vectors(enc *encode.Encoding, t *lab.Table, rows [][]float64) (*images.Set, error) {
	column := t.Schema.Column(t.Target)
	set := &images.Set{Shape: [3]int{1, 1, enc.Inputs()}, Classes: t.Schema.Columns[column].Levels()}
	input, scratch := make([]float32, enc.Inputs()), make([]float64, enc.Dim)
	for _, cells := range rows {
		y := cells[column]
		if !(y >= 0 && y < float64(len(set.Classes))) {
			return nil, fmt.Errorf("a row has no class in %s", t.Target)
		}
		enc.Input(input, cells, scratch)
		set.Floats, set.Labels = append(set.Floats, input...), append(set.Labels, int32(y))
	}
	return set, nil
}

// Table opens a table of the comparison on tables by its name, with its schema and target.
func Table(name, dataDir string) (*lab.Table, error) {
	content, err := files.ReadFile("tables/mission-tables.yaml")
	if err != nil {
		return nil, err
	}
	f := &file{}
	if err := yaml.Unmarshal(content, f); err != nil {
		return nil, err
	}
	for _, p := range f.Problems {
		if p.Data != name || p.File == "" {
			continue
		}
		s, err := p.schema()
		if err != nil {
			return nil, err
		}
		s.SetBuckets(advise.TextBuckets)
		return lab.OpenFile(p.info(), s, p.Target, dataDir)
	}
	return lab.Open(name, dataDir)
}
