package runners

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
type wildTable struct{ File, Target, Source, SHA256 string }

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

// Table opens a table by its name, built in or of wild.yaml, with its schema and target.
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
func rowsOf(r *experiments.Run) func(data string, train float64) int {
	return func(data string, train float64) int {
		if _, ok := wild()[data]; !ok {
			return int(train)
		}
		t := rows{Data: data, Buckets: advise.TextBuckets}.open(r)
		return int(train * float64(len(t.Rows)) / 100)
	}
}

// working is one workflow on one split of a data set, or on its official test rows: at most Test of them.
type working struct {
	rows
	// Metric is accuracy, auroc, error (the share of the mean predictor's absolute error that is removed) or r2.
	Metric string `json:"metric"`
	// How is what `pawl fit` does by its rules (fit), on Public of the rows first (with public rows), the usual net with
	// a DP optimizer (drop-in), or the best of the usual choices: as published every candidate has the whole ε and all
	// scores are read (unpaid), else trainings, scores and the choice cost ε together (paid).
	How     string        `json:"how"`
	Epsilon string        `json:"epsilon"`
	Delta   string        `json:"delta"`
	Preset  advise.Preset `json:"preset"`
	// Split is the seed of one split for all runs, 0 for a split each.
	Split uint64 `json:"split"`
	// Public is the part of the training rows of a table that the private ones leave out.
	Public float64 `json:"public"`
	Usual  usual   `json:"usual"`
}

// usual is what people take for a kind of data, with a DP optimizer: a net, numbers of its training, and what is chosen
// between when nobody pays for the choice.
type usual struct {
	ID string `json:"id"`
	training
	// Define is a net in the form of its files, in place of one of the zoo. Tokens says that it reads those of texts.
	Define string `json:"define"`
	Tokens bool   `json:"tokens"`
	// Space, in the form of a search space, holds the choices. Candidates is how many are tried, when they are paid for in
	// the mean.
	Space      string  `json:"space"`
	Candidates float64 `json:"candidates"`
}

func usualNet(define, net string) (zoo.Spec, error) {
	if define != "" {
		return zoo.Decode("usual", []byte(define))
	}
	return lab.Net(net)
}

// choices is a search space that a table defines.
func choices(text string) (*space.Space, error) { return space.Decode("space", []byte(text)) }

// alone says that nothing but `pawl fit` runs.
func (w *working) alone() bool { return w.How == "fit" || w.How == "with public rows" }

// Check says what is missing or contradicts itself.
func (w *working) Check() error {
	e, err := strconv.ParseFloat(w.Epsilon, 64)
	_, images := dataset.Images(w.Data)
	switch u := w.Usual; {
	case err != nil || !(e > 0):
		return fmt.Errorf("epsilon %q: want a number above 0", w.Epsilon)
	case !slices.Contains([]string{"fit", "with public rows", "drop-in", "unpaid", "paid"}, w.How):
		return fmt.Errorf("no workflow is called %q", w.How)
	case !slices.Contains([]string{"accuracy", "auroc", "error", "r2"}, w.Metric):
		return fmt.Errorf("metric %q: want accuracy, auroc, error or r2", w.Metric)
	case w.Preset != "" && (!images || !slices.Contains([]advise.Preset{advise.Quick, advise.Balanced, advise.Thorough}, w.Preset)):
		return fmt.Errorf("preset %q: want quick, balanced or thorough, for images", w.Preset)
	case images && (w.Public != 0 || w.Split != 0):
		return errors.New("public and split are for tables")
	case !(w.Public >= 0 && w.Public < 1):
		return fmt.Errorf("public %v: want a part of the rows, from 0 to below 1", w.Public)
	case w.Rows < 1 || w.Test < 1:
		return errors.New("want rows to train and to test")
	case w.alone():
		return nil
	case u.By == "" || !(u.Rate > 0) || !(u.Clip > 0) || u.Batch < 1 || !(u.Epochs > 0):
		return fmt.Errorf("usual %s: want by, an optimizer, rate, clip, batch and epochs", u.ID)
	}
	if _, err := usualNet(w.Usual.Define, w.Usual.Net); err != nil || w.How == "drop-in" {
		return err
	}
	if !(w.Usual.Candidates > 0) {
		return fmt.Errorf("usual %s: want candidates above 0", w.Usual.ID)
	}
	_, err = choices(w.Usual.Space)
	return err
}

// work returns a workflow's score in points and that of the majority class or of the mean, of choices the score alone.
func work(ctx context.Context, r *experiments.Run, w *working) []float64 {
	set, t := w.open(r)
	var out *workflow.Outcome
	switch {
	case !w.alone():
		out = w.usually(ctx, set, t)
	case set != nil:
		out = w.fitImages(ctx, set)
	default:
		n := int(w.Public * float64(len(t.Rows)))
		if w.How != "fit" {
			t.Open = t.Rows[:n]
		}
		t.Rows = t.Rows[n:]
		if t.Units != nil {
			t.Units = t.Units[n:]
		}
		out = must(t.Fit(ctx, w.Epsilon, w.Delta, w.Seed, nil))
	}
	score := w.points(out.Score)
	if w.How == "unpaid" || w.How == "paid" {
		score = score[:1]
	}
	return score
}

// points are a score and that of the majority class or of the mean.
func (w *working) points(s workflow.Score) []float64 {
	switch {
	case w.Metric == "auroc" && s.AUROC != nil && s.AUROC.Value != nil:
		return []float64{100 * *s.AUROC.Value, 50}
	case w.Metric == "r2" && s.Numbers != nil && s.Numbers.R2.Value != nil:
		return []float64{100 * *s.Numbers.R2.Value, 0}
	case w.Metric == "error":
		return []float64{100 * (1 - *s.Exact / *s.ExactBaseline), 0}
	case w.Metric == "accuracy":
		return []float64{100 * *s.Exact, 100 * *s.ExactBaseline}
	}
	experiments.Check(fmt.Errorf("no %s in the score", w.Metric))
	return nil
}

// lastImages are kept for the next run: they hold features that take long (lab.Images).
var lastImages latest[*lab.Images]

// open returns images, or the tokens of the run's texts for a net that reads them, or the rows of a run: a table to train
// with its test rows, the official ones where there are any.
func (w *working) open(r *experiments.Run) (*lab.Images, *lab.Table) {
	if _, ok := dataset.Images(w.Data); ok {
		set := lastImages.open(fmt.Sprint(w.Data, w.Rows, w.Test, r.DataDir), func() *lab.Images {
			return must(lab.OpenImages(w.Data, r.DataDir, w.Rows, w.Test))
		})
		set.Reuse = true
		return set, nil
	}
	w.Buckets = advise.TextBuckets
	t := w.rows.open(r)
	if w.Usual.Tokens && !w.alone() {
		return sample{Data: w.Data, Rows: w.Rows, Test: min(w.Test, len(t.Rows)-w.Rows), Texts: w.Usual.Net, Order: w.Seed}.read(r), nil
	}
	official := t.Test
	if official == nil || len(t.Rows) > w.Rows {
		t = t.Split(w.Rows, cmp.Or(w.Split, w.Seed))
	}
	own := *t
	if official != nil {
		own.Test = official
	}
	own.Test = own.Test[:min(w.Test, len(own.Test))]
	return nil, &own
}

func (w *working) fitImages(ctx context.Context, data *lab.Images) *workflow.Outcome {
	e, rows := must(strconv.ParseFloat(w.Epsilon, 64)), float64(data.Train.Len())
	r, _, err := workflow.SignalRatio(rows, e, w.Delta)
	experiments.Check(err)
	shape := data.Train.Shape
	set, _ := dataset.Images(w.Data)
	recipe := must(advise.ChooseImages(advise.ImageFacts{Height: shape[0], Width: shape[1], Channels: shape[2], Rows: rows, Epsilon: e, Ratio: r,
		Preset: cmp.Or(w.Preset, advise.Balanced), Mirrored: set.Mirrored}))
	return must(data.Run(ctx, must(lab.Net(recipe.Model)).Default(), w.Seed, func(in *workflow.TrainInput) {
		in.Epsilon, in.Delta, in.Batch, in.Epochs, in.Preset = w.Epsilon, w.Delta, recipe.Batch, recipe.Epochs, w.Preset
	}))
}

// usually trains the usual net, or searches among the usual choices.
func (w *working) usually(ctx context.Context, data *lab.Images, t *lab.Table) *workflow.Outcome {
	own := w.Usual.training
	own.Epsilon, own.OwnAccountant = w.Epsilon, true
	by := func(in *workflow.TrainInput) {
		own.set(in)
		in.Delta = "" // the default one
	}
	if w.How == "drop-in" {
		net := must(usualNet(w.Usual.Define, w.Usual.Net))
		if data != nil {
			return must(data.Run(ctx, net, w.Seed, by))
		}
		return must(t.Train(ctx, net, encode.Options{Linear: true}, w.Seed, by))
	}
	kind := search.PS // the number of trainings is secret and the best is a private selection
	if w.How == "unpaid" {
		kind = search.RS
	}
	strategy := must(search.New(kind))
	strategy.Mean = w.Usual.Candidates
	if data == nil {
		data = encoded(t)
	}
	return must(data.Search(ctx, lab.Search{Space: must(choices(w.Usual.Space)), Strategy: strategy, AsPublished: w.How == "unpaid"}, w.Seed, func(in *workflow.TrainInput) {
		by(in)
		in.LearningRate = 0 // step and norm are the points' of the space
	}))
}

// encoded are the rows of a table as a search among networks takes them.
func encoded(t *lab.Table) *lab.Images {
	enc := must(encode.New(t.Schema, t.Target, encode.Options{Linear: true}))
	target, scratch := t.Schema.Column(t.Target), make([]float64, enc.Dim)
	set := func(rows [][]float64) *images.Set {
		s := &images.Set{Shape: [3]int{1, 1, enc.Inputs()}, Classes: t.Schema.Columns[target].Levels()}
		for _, cells := range rows {
			y, input := cells[target], make([]float32, enc.Inputs())
			if !(y >= 0 && y < float64(len(s.Classes))) {
				experiments.Check(fmt.Errorf("a row has no class in %s", t.Target))
			}
			enc.Input(input, cells, scratch)
			s.Floats, s.Labels = append(s.Floats, input...), append(s.Labels, int32(y))
		}
		return s
	}
	return &lab.Images{Name: t.Name, Target: t.Target, Train: set(t.Rows), Test: set(t.Test)}
}
