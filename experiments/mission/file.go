// Package mission compares whole workflows at one total (ε, δ), every choice paid: `pawl fit` by its
// rules, a usual net with a DP optimizer in place of its own, and the choices of the usual workflow
// made by a private search. It also measures `pawl fit` alone, against scores that were set as aims,
// and with public rows beside the private ones. A replay is a file in the folder tables.
package mission

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"

	"pawl/compute/zoo"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/experiments"
	"pawl/experiments/replay"
	"pawl/search"
	"pawl/search/space"
)

//go:embed tables/*.yaml schemas/*.yaml
var files embed.FS

// file is a replay: problems that share ε and what is usual for their kind of data.
type file struct {
	Name         string    `yaml:"name"`
	Title        string    `yaml:"title"`
	Source       string    `yaml:"source"`
	QuickSeconds int       `yaml:"quick_seconds"`
	Epsilons     []string  `yaml:"epsilons"`
	Usual        []usual   `yaml:"usual"`
	Problems     []problem `yaml:"problems"`
	Notes        []string  `yaml:"notes"`
}

// usual is what people take for a kind of data, with a DP optimizer: a net, numbers of its training,
// and what is chosen between when nobody pays for the choice.
type usual struct {
	ID string `yaml:"id"`
	// Net is a network of the zoo, or one in the form of its files.
	Net          string  `yaml:"net"`
	Define       string  `yaml:"define"`
	Optimizer    string  `yaml:"optimizer"`
	LearningRate float64 `yaml:"learning_rate"`
	ClippingNorm float64 `yaml:"clipping_norm"`
	Batch        int     `yaml:"batch"`
	Epochs       scaled  `yaml:"epochs"`
	// Space, in the form of a search space, holds the choices; empty for none. Candidates is how many
	// are tried, when they are paid for in the mean.
	Space      string `yaml:"space"`
	Candidates scaled `yaml:"candidates"`

	net   zoo.Spec
	space *space.Space
}

// scaled is a number by scale.
type scaled map[experiments.Scale]float64

type problem struct {
	Data string `yaml:"data"`
	// Usual is what fit is held against, empty for nothing.
	Usual string `yaml:"usual"`
	// Epsilons are in place of those of the file. Aims, in their order, are the scores that fit is to reach.
	Epsilons []string  `yaml:"epsilons"`
	Aims     []float64 `yaml:"aims"`
	// Delta is in place of the default, Preset in place of balanced, which is the only one for tables.
	Delta  string        `yaml:"delta"`
	Preset advise.Preset `yaml:"preset"`
	// Split is the seed of one split for all runs; 0 for a split each.
	Split uint64 `yaml:"split"`
	// Public is the part of the training rows of a table that is taken as public and trained on first; the
	// row then stands beside one of the same private rows alone.
	Public float64 `yaml:"public"`
	// File, with its checksum and where it comes from, is a table that is not built in; Schema is in the
	// folder schemas.
	File   string `yaml:"file"`
	SHA256 string `yaml:"sha256"`
	Source string `yaml:"source"`
	Schema string `yaml:"schema"`
	Target string `yaml:"target"`
	// Metric is accuracy, auroc, error (the share of the mean predictor's absolute error that is
	// removed) or r2.
	Metric string `yaml:"metric"`
	// Train is the number of rows to train by scale, for a file in percent; the others test, or the
	// official test rows, at most Test of them.
	Train scaled `yaml:"train"`
	Test  scaled `yaml:"test"`
	Runs  scaled `yaml:"runs"`
	// Choosing is the number of runs of the usual choices, where it is not Runs.
	Choosing scaled `yaml:"choosing"`
	// Text says that the usual net reads the tokens of texts.
	Text bool `yaml:"text"`
}

// info describes a table that is not built in.
func (p problem) info() dataset.Info {
	return dataset.Info{Name: p.Data, Licence: "see its source", Source: p.Source, Files: []dataset.File{{Path: p.File, SHA256: p.SHA256}}}
}

// All are the replays of the folder.
func All() []experiments.Experiment { return replay.Load(files, Decode) }

// Decode makes a replay of a file. The error says what the file lacks or contradicts.
func Decode(name string, content []byte) (experiments.Experiment, error) {
	f := &file{}
	err := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict()).Decode(f)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return experiments.Experiment{}, fmt.Errorf("%s: %w", name, err)
	}
	e := experiments.Experiment{Name: f.Name, Title: f.Title, Source: f.Source, Quick: f.QuickSeconds, Run: f.run}
	for _, p := range f.Problems {
		if p.File != "" {
			e.Files = append(e.Files, p.info())
		} else if !slices.Contains(e.Data, p.Data) {
			e.Data = append(e.Data, p.Data)
		}
	}
	slices.Sort(e.Data)
	return e, nil
}

func (f *file) check() (err error) {
	if f.Name == "" || f.Title == "" || f.Source == "" || f.QuickSeconds <= 0 || len(f.Problems) == 0 {
		return fmt.Errorf("want a name, title, source, quick_seconds and problems")
	}
	for i := range f.Usual {
		if err := f.Usual[i].check(); err != nil {
			return fmt.Errorf("usual %s: %w", f.Usual[i].ID, err)
		}
	}
	for _, p := range f.Problems {
		if err := p.check(f); err != nil {
			return fmt.Errorf("problem %s: %w", p.Data, err)
		}
	}
	return nil
}

func (u *usual) check() (err error) {
	if u.Define != "" {
		u.net, err = zoo.Decode(u.ID, []byte(u.Define))
	} else if n, ok := zoo.Lookup(u.Net); ok {
		u.net = n
	} else {
		err = fmt.Errorf("no net %q", u.Net)
	}
	if err != nil {
		return err
	}
	if u.Optimizer == "" || !(u.LearningRate > 0) || !(u.ClippingNorm > 0) || u.Batch < 1 {
		return fmt.Errorf("want an optimizer, learning_rate, clipping_norm and batch")
	}
	if err := u.Epochs.check("epochs"); err != nil || u.Space == "" {
		return err
	}
	if u.space, err = space.Decode(u.ID, []byte(u.Space)); err != nil {
		return err
	}
	return u.Candidates.check("candidates")
}

// strategy tries candidates: as published all scores are read for nothing, else the number of
// trainings is secret and the best is a private selection.
func (u *usual) strategy(s experiments.Scale, published bool) (search.Strategy, error) {
	kind := search.PS
	if published {
		kind = search.RS
	}
	h, err := search.New(kind)
	h.Mean = u.Candidates[s]
	return h, err
}

func (s scaled) check(what string) error {
	for _, at := range experiments.Scales {
		if !(s[at] > 0) {
			return fmt.Errorf("want %s above 0 at scale %s", what, at)
		}
	}
	return nil
}

func (p problem) check(f *file) error {
	if p.Usual != "" && f.usual(p.Usual) == nil {
		return fmt.Errorf("no usual %q", p.Usual)
	}
	if _, known := metrics[p.Metric]; !known {
		return fmt.Errorf("metric %q: want accuracy, auroc, error or r2", p.Metric)
	}
	epsilons := p.at(f)
	if len(epsilons) == 0 {
		return fmt.Errorf("want epsilons, here or for the file")
	}
	for _, e := range epsilons {
		if x, err := strconv.ParseFloat(e, 64); err != nil || !(x > 0) {
			return fmt.Errorf("epsilon %q: want a number above 0", e)
		}
	}
	if p.Aims != nil && len(p.Aims) != len(epsilons) {
		return fmt.Errorf("%d aims for %d epsilons", len(p.Aims), len(epsilons))
	}
	_, images := dataset.Images(p.Data)
	switch {
	case p.Usual != "" && (p.Aims != nil || p.Public != 0 || p.Delta != "" || p.Preset != "" || p.Split != 0):
		return fmt.Errorf("aims, public, delta, preset and split are for fit alone: leave out usual")
	case p.Preset != "" && (!images || !slices.Contains([]advise.Preset{advise.Quick, advise.Balanced, advise.Thorough}, p.Preset)):
		return fmt.Errorf("preset %q: want quick, balanced or thorough, for images", p.Preset)
	case images && (p.Public != 0 || p.Split != 0):
		return fmt.Errorf("public and split are for tables")
	case !(p.Public >= 0 && p.Public < 1):
		return fmt.Errorf("public %v: want a part of the rows, from 0 to below 1", p.Public)
	}
	for what, s := range map[string]scaled{"train": p.Train, "test": p.Test, "runs": p.Runs} {
		if err := s.check(what); err != nil {
			return err
		}
	}
	if p.Choosing != nil {
		if err := p.Choosing.check("choosing"); err != nil {
			return err
		}
	}
	if p.File == "" {
		if _, ok := dataset.Describe(p.Data); !ok {
			return fmt.Errorf("not built in: want its file")
		}
		return nil
	}
	if len(p.SHA256) != 64 || p.Source == "" || p.Target == "" {
		return fmt.Errorf("%s: want its sha256, source and target", p.File)
	}
	_, err := p.schema()
	return err
}

// metrics are how rows of each metric begin their description.
var metrics = map[string]string{"accuracy": "", "auroc": " (area under the ROC curve)", "error": " (% of the error removed)", "r2": " (R² in %)"}

// at are the epsilons of a problem.
func (p problem) at(f *file) []string {
	if p.Epsilons != nil {
		return p.Epsilons
	}
	return f.Epsilons
}

func (p problem) schema() (*schema.Schema, error) {
	text, err := files.ReadFile("schemas/" + p.Schema)
	if err != nil {
		return nil, err
	}
	s, err := schema.Decode(p.Schema, text)
	if err == nil {
		s.Public = true // the file is
	}
	return s, err
}

func (f *file) usual(id string) *usual {
	i := slices.IndexFunc(f.Usual, func(u usual) bool { return u.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Usual[i]
}
