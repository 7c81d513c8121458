// Package crossings replays figures of accuracy over ε that are files: which nets are drawn on which
// data, where their curves cross, and what the paper says of them. A new figure of this shape is a
// new file in the folder figures.
package crossings

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"github.com/goccy/go-yaml"

	"pawl/experiments"
	"pawl/experiments/curves"
	"pawl/experiments/nets"
)

//go:embed figures/*.yaml
var figures embed.FS

type file struct {
	Name         string                      `yaml:"name"`
	Title        string                      `yaml:"title"`
	Source       string                      `yaml:"source"`
	Unit         string                      `yaml:"unit"`
	QuickSeconds int                         `yaml:"quick_seconds"`
	Scales       map[experiments.Scale]scale `yaml:"scales"`
	Groups       []group                     `yaml:"groups"`
	// Notes may hold {study N}, how group N was trained, and {beside}, how its arms were.
	Notes []string `yaml:"notes"`
}

type scale struct {
	Epsilons []float64 `yaml:"epsilons"` // rising
	Seeds    int       `yaml:"seeds"`
	Batch    int       `yaml:"batch"`
	Lots     int       `yaml:"lots"` // as published, where they are others
	Epochs   float64   `yaml:"epochs"`
}

// group is a set of curves on one data set.
type group struct {
	Data string                    `yaml:"data"`
	Rows map[experiments.Scale]int `yaml:"rows"`
	Test map[experiments.Scale]int `yaml:"test"`
	// OneRate gives each published curve one step size for all ε, the best at the largest.
	OneRate   bool    `yaml:"one_rate"`
	Curves    []curve `yaml:"curves"`
	Crossings []cross `yaml:"crossings"`
	Claims    []claim `yaml:"claims"`
	// Beside are trainings at one ε that the text sets beside the figure, the first against the second.
	Beside []arm  `yaml:"beside"`
	Beats  string `yaml:"beats"`
}

type curve struct {
	Name  string    `yaml:"name"`
	Net   string    `yaml:"net"` // of the zoo, or linear
	Whole bool      `yaml:"whole"`
	Rates []float64 `yaml:"rates"`
}

// cross is where two curves cross. Low and High are what is printed, or Around with a factor of 1.5.
type cross struct {
	Row     string  `yaml:"row"`
	Simple  string  `yaml:"simple"`
	Complex string  `yaml:"complex"`
	Low     float64 `yaml:"low"`
	High    float64 `yaml:"high"`
	Around  float64 `yaml:"around"`
	// OneRate takes one step size for all ε, and has no honest column.
	OneRate bool `yaml:"one_rate"`
}

// claim compares two curves at the smallest, the largest or the first ε of at least so much; {ε} in it
// is that ε.
type claim struct {
	Claim  string  `yaml:"claim"`
	Better string  `yaml:"better"`
	Than   string  `yaml:"than"`
	At     string  `yaml:"at"` // smallest or largest
	From   float64 `yaml:"from"`
	Honest bool    `yaml:"honest"`
}

type arm struct {
	Name      string  `yaml:"name"`
	Net       string  `yaml:"net"`
	Epsilon   string  `yaml:"epsilon"`
	Batch     int     `yaml:"batch"`
	Epochs    float64 `yaml:"epochs"`
	Rate      float64 `yaml:"rate"`
	Published float64 `yaml:"published"`
}

// All are the figures of the folder.
func All() []experiments.Experiment {
	names, err := fs.Glob(figures, "figures/*.yaml")
	if err != nil {
		panic(err) // a pattern that does not parse
	}
	var all []experiments.Experiment
	for _, name := range names {
		content, err := figures.ReadFile(name)
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
	err := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict()).Decode(f)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return experiments.Experiment{}, fmt.Errorf("%s: %w", name, err)
	}
	e := experiments.Experiment{Name: f.Name, Title: f.Title, Source: f.Source, Quick: f.QuickSeconds, Run: f.run}
	for _, g := range f.Groups {
		if !slices.Contains(e.Data, g.Data) {
			e.Data = append(e.Data, g.Data)
		}
	}
	return e, nil
}

func (f *file) check() error {
	if f.Name == "" || f.Title == "" || f.Source == "" || f.Unit == "" || f.QuickSeconds <= 0 || len(f.Groups) == 0 {
		return fmt.Errorf("want a name, title, source, unit, quick_seconds and groups")
	}
	for _, s := range experiments.Scales {
		if z := f.Scales[s]; len(z.Epsilons) == 0 || !slices.IsSorted(z.Epsilons) || z.Seeds < 1 || z.Batch < 1 || !(z.Epochs > 0) {
			return fmt.Errorf("scale %s: want rising epsilons, seeds, a batch and epochs", s)
		}
		for _, g := range f.Groups {
			if g.Rows[s] < 1 || g.Test[s] < 1 {
				return fmt.Errorf("data %s, scale %s: want rows and test", g.Data, s)
			}
		}
	}
	for _, g := range f.Groups {
		if err := g.check(); err != nil {
			return fmt.Errorf("data %s: %w", g.Data, err)
		}
	}
	return nil
}

func (g group) check() error {
	for _, c := range g.Curves {
		if _, err := c.model(); err != nil {
			return fmt.Errorf("curve %s: %w", c.Name, err)
		}
	}
	var asked []string
	for _, x := range g.Crossings {
		asked = append(asked, x.Simple, x.Complex)
	}
	for _, c := range g.Claims {
		if asked = append(asked, c.Better, c.Than); c.At != "smallest" && c.At != "largest" && !(c.From > 0) {
			return fmt.Errorf("claim %q: want at: smallest, at: largest, or from", c.Claim)
		}
	}
	for _, name := range asked {
		if g.place(name) < 0 {
			return fmt.Errorf("no curve %q", name)
		}
	}
	for _, a := range g.Beside {
		if _, err := nets.Net(a.Net); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	if n := len(g.Beside); n != 0 && n != 2 || (n == 2) != (g.Beats != "") {
		return fmt.Errorf("want two arms in beside, and what the first beats")
	}
	return nil
}

// place is the index of a curve, −1 for none.
func (g group) place(name string) int {
	return slices.IndexFunc(g.Curves, func(c curve) bool { return c.Name == name })
}

func (c curve) model() (curves.Model, error) {
	m := curves.Model{Name: c.Name, Rates: c.Rates}
	if len(c.Rates) == 0 {
		return m, fmt.Errorf("want rates")
	}
	if c.Net == "linear" {
		m.Net = nets.Linear()
		m.Net.Name = "logistic"
		return m, nil
	}
	var err error
	if m.Net, err = nets.Net(c.Net); err == nil && c.Whole {
		m.Net = nets.Whole(m.Net)
	}
	return m, err
}
