package runners

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"

	"pawl/compute/zoo"
	"pawl/data/dataset"
	"pawl/data/encode"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/search"
	"pawl/search/space"
	"pawl/workflow"
)

// wildTable is a table that is not part of pawl.
type wildTable struct {
	File   string `yaml:"file"`
	Target string `yaml:"target"`
	Source string `yaml:"source"`
	SHA256 string `yaml:"sha256"`
}

// wild are those of wild.yaml by name.
var wild = sync.OnceValue(func() (all map[string]wildTable) {
	text, err := files.ReadFile("wild.yaml")
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &all, yaml.Strict())
	}
	if err != nil {
		panic(fmt.Sprintf("runners: wild.yaml: %v", err)) // a broken build, which every test sees
	}
	return all
})

// describe is what a table that is not part of pawl is, and where it comes from.
func describe(name string) (dataset.Info, bool) {
	w, ok := wild()[name]
	return dataset.Info{Name: name, Licence: "see its source", Source: w.Source, Files: []dataset.File{{Path: w.File, SHA256: w.SHA256}}}, ok
}

// Table opens a table of the comparison of workflows by its name, with its schema and target.
func Table(name, dataDir string) (*lab.Table, error) {
	info, ok := describe(name)
	if !ok {
		return lab.Open(name, dataDir)
	}
	file := "schemas/" + name + ".yaml"
	text, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := schema.Decode(file, text)
	if err != nil {
		return nil, err
	}
	s.Public = true // the file is
	s.SetBuckets(advise.TextBuckets)
	return lab.OpenFile(info, s, wild()[name].Target, dataDir)
}

// rowsOf is the number of rows to train: of a table that is not part of pawl in percent.
func rowsOf(r *experiments.Run) func(data string, train float64) (int, error) {
	return func(data string, train float64) (int, error) {
		if _, ok := wild()[data]; !ok {
			return int(train), nil
		}
		t, err := rows{Data: data, Buckets: advise.TextBuckets}.open(r)
		if err != nil {
			return 0, err
		}
		return int(train * float64(len(t.Rows)) / 100), nil
	}
}

// usual is what people take for a kind of data, with a DP optimizer: a net, numbers of its training, and what is chosen
// between when nobody pays for the choice.
type usual struct {
	ID string `json:"id"`
	// Net is a network of the zoo, Define one in the form of its files.
	Net          string  `json:"net"`
	Define       string  `json:"define"`
	Optimizer    string  `json:"optimizer"`
	LearningRate float64 `json:"learning_rate"`
	ClippingNorm float64 `json:"clipping_norm"`
	Batch        int     `json:"batch"`
	Epochs       float64 `json:"epochs"`
	// Tokens says that the net reads the tokens of texts.
	Tokens bool `json:"tokens"`
	// Space, in the form of a search space, holds the choices. Candidates is how many are tried, when they are paid for in
	// the mean.
	Space      string  `json:"space"`
	Candidates float64 `json:"candidates"`
}

func (u *usual) spec() (zoo.Spec, error) {
	if u.Define != "" {
		return zoo.Decode(u.ID, []byte(u.Define))
	}
	return lab.Net(u.Net)
}

// usualNet is the net of what is usual, as a table has it.
func usualNet(u map[string]any) (zoo.Spec, error) {
	net, _ := u["net"].(string)
	define, _ := u["define"].(string)
	return (&usual{Net: net, Define: define}).spec()
}

// choices is a search space that a table defines.
func choices(text string) (*space.Space, error) { return space.Decode("space", []byte(text)) }

func (u *usual) set(epsilon string) func(*workflow.TrainInput) {
	return func(in *workflow.TrainInput) {
		in.Epsilon, in.Batch, in.Epochs, in.Optimizer, in.ClippingNorm, in.LearningRate = epsilon, u.Batch, u.Epochs, u.Optimizer, u.ClippingNorm, u.LearningRate
	}
}

// working is one workflow on one split of a data set.
type working struct {
	Data string `json:"data"`
	// Metric is accuracy, auroc, error (the share of the mean predictor's absolute error that is removed) or r2.
	Metric string `json:"metric"`
	// How is what `pawl fit` does by its rules (fit), on Public of the rows first (with public rows), the usual net with
	// a DP optimizer (drop-in), or the best of the usual choices: as published every candidate has the whole ε and all
	// scores are read (unpaid), else trainings, scores and the choice cost ε together (paid).
	How     string        `json:"how"`
	Epsilon string        `json:"epsilon"`
	Delta   string        `json:"delta"`
	Preset  advise.Preset `json:"preset"`
	// Rows train; the others test, or the official test rows, at most Test of them.
	Rows int `json:"rows"`
	Test int `json:"test"`
	// Seed is the run's. Split is the seed of one split for all runs, 0 for a split each.
	Seed  uint64 `json:"seed"`
	Split uint64 `json:"split"`
	// Public is the part of the training rows of a table that the private ones leave out.
	Public float64 `json:"public"`
	Usual  usual   `json:"usual"`
}

// ways are those of How by what they do.
var ways = map[string]func(*working, context.Context, *experiments.Run) (*workflow.Outcome, error){
	"fit": (*working).fit, "with public rows": (*working).fit, "drop-in": (*working).dropIn, "unpaid": (*working).choose, "paid": (*working).choose,
}

// Check says what is missing or contradicts itself.
func (w *working) Check() error {
	_, images := dataset.Images(w.Data)
	alone, e := w.How == "fit" || w.How == "with public rows", 0.0
	var err error
	switch e, err = strconv.ParseFloat(w.Epsilon, 64); {
	case err != nil || !(e > 0):
		return fmt.Errorf("epsilon %q: want a number above 0", w.Epsilon)
	case ways[w.How] == nil:
		return fmt.Errorf("no workflow is called %q", w.How)
	case !slices.Contains([]string{"accuracy", "auroc", "error", "r2"}, w.Metric):
		return fmt.Errorf("metric %q: want accuracy, auroc, error or r2", w.Metric)
	case !alone && (w.Public != 0 || w.Delta != "" || w.Preset != "" || w.Split != 0):
		return errors.New("public, delta, preset and split are for fit alone: leave out usual")
	case w.Preset != "" && (!images || !slices.Contains([]advise.Preset{advise.Quick, advise.Balanced, advise.Thorough}, w.Preset)):
		return fmt.Errorf("preset %q: want quick, balanced or thorough, for images", w.Preset)
	case images && (w.Public != 0 || w.Split != 0):
		return errors.New("public and split are for tables")
	case !(w.Public >= 0 && w.Public < 1):
		return fmt.Errorf("public %v: want a part of the rows, from 0 to below 1", w.Public)
	case w.Rows < 1 || w.Test < 1:
		return errors.New("want rows to train and to test")
	case alone:
		return nil
	}
	if u := &w.Usual; u.Optimizer == "" || !(u.LearningRate > 0) || !(u.ClippingNorm > 0) || u.Batch < 1 || !(u.Epochs > 0) {
		return fmt.Errorf("usual %s: want an optimizer, learning_rate, clipping_norm, batch and epochs", u.ID)
	}
	if _, err := w.Usual.spec(); err != nil || w.How == "drop-in" {
		return err
	}
	if !(w.Usual.Candidates > 0) {
		return fmt.Errorf("usual %s: want candidates above 0", w.Usual.ID)
	}
	_, err = choices(w.Usual.Space)
	return err
}

// work returns a workflow's score in points and that of the majority class or of the mean, of choices the score alone.
func work(ctx context.Context, r *experiments.Run, w *working) ([]float64, error) {
	out, err := ways[w.How](w, ctx, r)
	if err != nil {
		return nil, err
	}
	s, base := out.Score, 0.0
	var score float64
	switch w.Metric {
	case "auroc":
		if s.AUROC == nil || s.AUROC.Value == nil {
			return nil, errors.New("no area under the curve")
		}
		score, base = *s.AUROC.Value, 50
	case "r2":
		if s.Numbers == nil || s.Numbers.R2.Value == nil {
			return nil, errors.New("no R²")
		}
		score = *s.Numbers.R2.Value
	case "error":
		score = 1 - *s.Exact / *s.ExactBaseline
	default:
		score, base = *s.Exact, math.NaN()
		if data, err := w.images(r); s.ExactBaseline != nil {
			base = 100 * *s.ExactBaseline
		} else if err == nil && data != nil {
			base = 100 * data.Majority()
		}
	}
	if w.How == "unpaid" || w.How == "paid" {
		return []float64{100 * score}, nil
	}
	return []float64{100 * score, base}, nil
}

// lastImages are kept for the next run: they hold features that take long (lab.Images).
var lastImages struct {
	sync.Mutex
	what string
	data *lab.Images
}

// images are those of the data set, nil where it is a table.
func (w *working) images(r *experiments.Run) (*lab.Images, error) {
	if _, ok := dataset.Images(w.Data); !ok {
		return nil, nil
	}
	lastImages.Lock()
	defer lastImages.Unlock()
	what := fmt.Sprint(w.Data, w.Rows, w.Test, r.DataDir)
	if lastImages.what != what {
		data, err := lab.OpenImages(w.Data, r.DataDir, w.Rows, w.Test)
		if err != nil {
			return nil, err
		}
		data.Reuse = true
		lastImages.what, lastImages.data = what, data
	}
	return lastImages.data, nil
}

// split is the rows of a run: a table to train with its test rows, the official ones where there are any.
func (w *working) split(r *experiments.Run) (*lab.Table, error) {
	t, err := rows{Data: w.Data, Buckets: advise.TextBuckets}.open(r)
	if err != nil {
		return nil, err
	}
	seed := w.Seed
	if w.Split > 0 {
		seed = w.Split
	}
	official := t.Test
	if official == nil || len(t.Rows) > w.Rows {
		t = t.Split(w.Rows, seed)
	}
	out := *t
	if official != nil {
		out.Test = official
	}
	out.Test = out.Test[:min(w.Test, len(out.Test))]
	return &out, nil
}

func (w *working) fit(ctx context.Context, r *experiments.Run) (*workflow.Outcome, error) {
	data, err := w.images(r)
	if err != nil {
		return nil, err
	}
	if data != nil {
		return w.fitImages(ctx, data)
	}
	t, err := w.split(r)
	if err != nil {
		return nil, err
	}
	n := int(w.Public * float64(len(t.Rows)))
	if w.How != "fit" {
		t.Open = t.Rows[:n]
	}
	t.Rows = t.Rows[n:]
	if t.Units != nil {
		t.Units = t.Units[n:]
	}
	return t.Fit(ctx, w.Epsilon, w.Delta, w.Seed, nil)
}

func (w *working) fitImages(ctx context.Context, data *lab.Images) (*workflow.Outcome, error) {
	e, err := strconv.ParseFloat(w.Epsilon, 64)
	if err != nil {
		return nil, err
	}
	rows := float64(data.Train.Len())
	r, _, err := workflow.SignalRatio(rows, e, w.Delta)
	if err != nil {
		return nil, err
	}
	shape, set := data.Train.Shape, w.Preset
	if set == "" {
		set = advise.Balanced
	}
	facts := advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: rows, Epsilon: e, Ratio: r, Preset: set}
	if known, ok := dataset.Images(w.Data); ok {
		facts.Mirrored = known.Mirrored
	}
	recipe, err := advise.ChooseImages(facts)
	if err != nil {
		return nil, err
	}
	net, err := lab.Net(recipe.Model)
	if err != nil {
		return nil, err
	}
	return data.Run(ctx, net.Default(), w.Seed, func(in *workflow.TrainInput) {
		in.Epsilon, in.Delta, in.Batch, in.Epochs, in.Preset = w.Epsilon, w.Delta, recipe.Batch, recipe.Epochs, w.Preset
	})
}

func (w *working) dropIn(ctx context.Context, r *experiments.Run) (*workflow.Outcome, error) {
	net, err := w.Usual.spec()
	if err != nil {
		return nil, err
	}
	if data, err := w.inputs(r); err != nil || data != nil {
		if err != nil {
			return nil, err
		}
		return data.Run(ctx, net, w.Seed, w.Usual.set(w.Epsilon))
	}
	t, err := w.split(r)
	if err != nil {
		return nil, err
	}
	return t.Train(ctx, net, encode.Options{Linear: true}, w.Seed, w.Usual.set(w.Epsilon))
}

// inputs are images, or the tokens of the run's texts; nil for other tables.
func (w *working) inputs(r *experiments.Run) (*lab.Images, error) {
	if !w.Usual.Tokens {
		return w.images(r)
	}
	net, err := w.Usual.spec()
	if err != nil {
		return nil, err
	}
	t, err := rows{Data: w.Data, Buckets: advise.TextBuckets}.open(r)
	if err != nil {
		return nil, err
	}
	return lab.OpenTexts(w.Data, r.DataDir, net.Input.Size()-1, net.Network.Layers[0].Vocabulary, w.Rows, min(w.Test, len(t.Rows)-w.Rows), w.Seed)
}

func (w *working) choose(ctx context.Context, r *experiments.Run) (*workflow.Outcome, error) {
	among, err := choices(w.Usual.Space)
	if err != nil {
		return nil, err
	}
	kind := search.PS // the number of trainings is secret and the best is a private selection
	if w.How == "unpaid" {
		kind = search.RS
	}
	strategy, err := search.New(kind)
	if err != nil {
		return nil, err
	}
	strategy.Mean = w.Usual.Candidates
	data, err := w.inputs(r)
	if err == nil && data == nil {
		data, err = w.encoded(r)
	}
	if err != nil {
		return nil, err
	}
	return data.Search(ctx, lab.Search{Space: among, Strategy: strategy, AsPublished: w.How == "unpaid"}, w.Seed, func(in *workflow.TrainInput) {
		w.Usual.set(w.Epsilon)(in)
		in.LearningRate = 0 // step and norm are the points' of the space
	})
}

// encoded are the rows of a run as a search among networks takes them.
func (w *working) encoded(r *experiments.Run) (*lab.Images, error) {
	t, err := w.split(r)
	if err != nil {
		return nil, err
	}
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
