// Package arms replays tables of trained networks that are files: which nets are trained under
// which settings, what the paper printed, and what it claims. A new table of this shape is a new
// file in the folder tables.
package arms

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"pawl/compute/zoo"
	"pawl/experiments"
	"pawl/experiments/nets"
)

//go:embed tables/*.yaml
var tables embed.FS

// file is a table. An arm is a net under a setting; it is named SETTING/NET by their ids.
type file struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	Unit   string `yaml:"unit"`
	// QuickSeconds is about how long the quick scale takes on two cores.
	QuickSeconds int             `yaml:"quick_seconds"`
	Data         map[string]data `yaml:"data"`
	Nets         map[string]net  `yaml:"nets"`
	Settings     []setting       `yaml:"settings"`
	Claims       []claim         `yaml:"claims"`
	// Notes may hold {nets DATA}, how nets were trained on these data, {honest} and {base}.
	Notes            []string           `yaml:"notes"`
	PublishedEpsilon map[string]float64 `yaml:"published_epsilon"`
}

// data is a built-in set of images or texts, and how much of it each scale takes.
type data struct {
	// TextsFor names the net whose tokens the texts become; empty for images.
	TextsFor string `yaml:"texts_for"`
	// Majority holds nets against the most frequent class in place of a linear model.
	Majority bool                        `yaml:"majority"`
	Scales   map[experiments.Scale]sizes `yaml:"scales"`
}

type sizes struct {
	Rows   int     `yaml:"rows"`
	Test   int     `yaml:"test"`
	Batch  int     `yaml:"batch"`
	Epochs float64 `yaml:"epochs"`
	Runs   int     `yaml:"runs"`
}

type net struct {
	Name string `yaml:"name"`
	Net  string `yaml:"net"`
	// Whole trains every layer, frozen ones included.
	Whole bool `yaml:"whole"`
}

// setting is how the paper trained some nets. Batch, epochs and rate are its own, for the paper's
// scale.
type setting struct {
	ID   string `yaml:"id"`
	Name string `yaml:"name"`
	Data string `yaml:"data"`
	// Epsilon is empty without noise; Clipped then clips all the same.
	Epsilon string  `yaml:"epsilon"`
	Clipped bool    `yaml:"clipped"`
	Batch   int     `yaml:"batch"`
	Epochs  float64 `yaml:"epochs"`
	Rate    float64 `yaml:"rate"`
	Arms    []arm   `yaml:"arms"`
}

type arm struct {
	Net string `yaml:"net"`
	// Name is that of the row; left out, the names of net and setting.
	Name      string  `yaml:"name"`
	Published float64 `yaml:"published"` // percent, 0 for none
	Against   string  `yaml:"against"`   // the net of the setting that the paper sets beside it
}

// claim says that one arm is better than another, or within so many points of it.
type claim struct {
	Claim string `yaml:"claim"`
	// Each repeats the claim for settings by their ids: Better and Than then name nets, and
	// {setting} in the claim stands for the setting's name.
	Each   []string `yaml:"each"`
	Better string   `yaml:"better"`
	Than   string   `yaml:"than"`
	Within *float64 `yaml:"within"`
	// Honest compares the nets as the library trains them.
	Honest bool `yaml:"honest"`
}

// All are the tables of the folder.
func All() []experiments.Experiment {
	names, err := fs.Glob(tables, "tables/*.yaml")
	if err != nil {
		panic(err) // a pattern that does not parse
	}
	var all []experiments.Experiment
	for _, name := range names {
		content, err := tables.ReadFile(name)
		if err != nil {
			panic(err)
		}
		e, err := Decode(name, content)
		if err != nil {
			panic(err) // a broken build, which every test sees
		}
		all = append(all, e)
	}
	return all
}

// Decode makes a replay of a file. The error says what the file lacks or contradicts.
func Decode(name string, content []byte) (experiments.Experiment, error) {
	f := &file{}
	if err := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict()).Decode(f); err != nil {
		return experiments.Experiment{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.check(); err != nil {
		return experiments.Experiment{}, fmt.Errorf("%s: %w", name, err)
	}
	return experiments.Experiment{Name: f.Name, Title: f.Title, Source: f.Source, Data: slices.Sorted(maps.Keys(f.Data)), Quick: f.QuickSeconds, Run: f.run}, nil
}

func (f *file) check() error {
	if f.Name == "" || f.Title == "" || f.Source == "" || f.Unit == "" || f.QuickSeconds <= 0 || len(f.Settings) == 0 {
		return fmt.Errorf("want a name, title, source, unit, quick_seconds and settings")
	}
	for name, d := range f.Data {
		for _, s := range experiments.Scales {
			if z := d.Scales[s]; z.Rows < 1 || z.Test < 1 || z.Batch < 1 || z.Runs < 1 || !(z.Epochs > 0) {
				return fmt.Errorf("data %s, scale %s: want rows, test, batch, epochs and runs above 0", name, s)
			}
		}
	}
	for id, n := range f.Nets {
		if _, err := nets.Net(n.Net); err != nil {
			return fmt.Errorf("net %s: %w", id, err)
		}
	}
	seen := map[string]bool{}
	for _, s := range f.Settings {
		if _, ok := f.Data[s.Data]; !ok {
			return fmt.Errorf("setting %s: no data %q", s.ID, s.Data)
		}
		for _, a := range s.Arms {
			switch ref := s.ID + "/" + a.Net; {
			case f.Nets[a.Net].Net == "":
				return fmt.Errorf("setting %s: no net %q", s.ID, a.Net)
			case seen[ref]:
				return fmt.Errorf("two arms are called %s", ref)
			case a.Against != "" && !slices.ContainsFunc(s.Arms, func(b arm) bool { return b.Net == a.Against }):
				return fmt.Errorf("%s: no net %q to set beside it", ref, a.Against)
			default:
				seen[ref] = true
			}
		}
	}
	for _, c := range f.claims() {
		if c.Honest && !strings.Contains(c.Claim, "as the library trains them") {
			return fmt.Errorf("claim %q: one of the honest column says “as the library trains them”, as it is not the paper's", c.Claim)
		}
		for _, ref := range []string{c.Better, c.Than} {
			if !seen[ref] {
				return fmt.Errorf("claim %q: no arm %q", c.Claim, ref)
			}
			if id, _, _ := strings.Cut(ref, "/"); c.Honest && f.setting(id).Epsilon == "" {
				return fmt.Errorf("claim %q: %s has no noise, and so no honest column", c.Claim, ref)
			}
		}
	}
	return nil
}

func (f *file) setting(id string) setting {
	i := slices.IndexFunc(f.Settings, func(s setting) bool { return s.ID == id })
	if i < 0 {
		return setting{}
	}
	return f.Settings[i]
}

// claims repeats those that are for each of several settings.
func (f *file) claims() (all []claim) {
	for _, c := range f.Claims {
		if len(c.Each) == 0 {
			all = append(all, c)
		}
		for _, id := range c.Each {
			one := c
			one.Claim = strings.ReplaceAll(c.Claim, "{setting}", f.setting(id).Name)
			one.Better, one.Than = id+"/"+c.Better, id+"/"+c.Than
			all = append(all, one)
		}
	}
	return all
}

// spec is the network of an arm.
func (n net) spec() (zoo.Spec, error) {
	s, err := nets.Net(n.Net)
	if err == nil && n.Whole {
		s = nets.Whole(s)
	}
	return s, err
}
