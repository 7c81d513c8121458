package crossings

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/curves"
	"pawl/experiments/nets"
)

func (f *file) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	z := f.Scales[r.Scale]
	t := &experiments.Table{Unit: f.Unit}
	opened := map[string]*lab.Images{}
	var notes []string
	for i, g := range f.Groups {
		s := &curves.Study{Run: r, Epsilons: z.Epsilons, Seeds: z.Seeds, Batch: z.Batch, Lots: z.Lots, Epochs: z.Epochs}
		var err error
		key := fmt.Sprint(g.Data, g.Rows[r.Scale], g.Test[r.Scale])
		if s.Data = opened[key]; s.Data == nil {
			if s.Data, err = lab.OpenImages(g.Data, r.DataDir, g.Rows[r.Scale], g.Test[r.Scale]); err != nil {
				return nil, err
			}
			opened[key] = s.Data
		}
		beside, err := g.add(ctx, s, t)
		if err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("{study %d}", i+1), s.Note(), "{beside}", beside)
	}
	for _, n := range f.Notes {
		t.Notes = append(t.Notes, strings.NewReplacer(append(notes, "{base}", nets.Base, "{published}", curves.Notes[0], "{honest}", curves.Notes[1], "{zero}", curves.Notes[2])...).Replace(n))
	}
	return t, nil
}

// drawn are the curves of a group.
type drawn struct{ published, honest []curves.Curve }

func (g group) measure(ctx context.Context, s *curves.Study) (d drawn, err error) {
	for i, c := range g.Curves {
		m, err := c.model()
		if err != nil {
			return d, err
		}
		s.Models = append(s.Models, m)
		published := func() (curves.Curve, error) { return s.Measure(ctx, curves.Published, i) }
		if g.OneRate {
			published = func() (curves.Curve, error) { return s.One(ctx, i) }
		}
		p, err := published()
		if err != nil {
			return d, err
		}
		h, err := s.Measure(ctx, curves.Honest, i)
		if err != nil {
			return d, err
		}
		d.published, d.honest = append(d.published, p), append(d.honest, h)
	}
	return d, nil
}

// add measures a group and adds its rows and claims. It returns how the arms beside it were trained.
func (g group) add(ctx context.Context, s *curves.Study, t *experiments.Table) (beside string, err error) {
	d, err := g.measure(ctx, s)
	if err != nil {
		return "", err
	}
	for _, x := range g.Crossings {
		row, err := g.cross(ctx, s, d, x)
		if err != nil {
			return "", err
		}
		t.Rows = append(t.Rows, row)
	}
	majority := 100 * s.Data.Majority()
	for i := range g.Curves {
		t.Rows = append(t.Rows, s.Rows(i, d.published[i], d.honest[i], &majority)...)
	}
	for _, c := range g.Claims {
		from := d.published
		if c.Honest {
			from = d.honest
		}
		k := c.point(s.Epsilons)
		words := strings.ReplaceAll(c.Claim, "{ε}", strconv.FormatFloat(s.Epsilons[k], 'g', -1, 64))
		t.Claims = append(t.Claims, nets.Better(words, from[g.place(c.Better)][k], from[g.place(c.Than)][k]))
	}
	if len(g.Beside) == 0 {
		return "", nil
	}
	return g.besides(ctx, s, t)
}

// point is the index of the ε at which a claim compares.
func (c claim) point(epsilons []float64) int {
	switch c.At {
	case "smallest":
		return 0
	case "largest":
		return len(epsilons) - 1
	}
	for k, e := range epsilons {
		if e >= c.From {
			return k
		}
	}
	return len(epsilons) - 1
}

func (g group) cross(ctx context.Context, s *curves.Study, d drawn, x cross) (experiments.Row, error) {
	i, j := g.place(x.Simple), g.place(x.Complex)
	row := curves.Row{Name: x.Row, Data: g.Data, Low: x.Low, High: x.High, Runs: s.Seeds}
	if x.Around > 0 {
		row.Low, row.High = x.Around/1.5, x.Around*1.5
	}
	simple, complex := d.published[i], d.published[j]
	var err error
	if x.OneRate {
		if simple, err = s.One(ctx, i); err != nil {
			return experiments.Row{}, err
		}
		if complex, err = s.One(ctx, j); err != nil {
			return experiments.Row{}, err
		}
	} else if row.Honest, err = s.Cross(d.honest[i], d.honest[j]); err != nil {
		return experiments.Row{}, err
	}
	if row.Published, err = s.Cross(simple, complex); err != nil {
		return experiments.Row{}, err
	}
	return row.Row(), nil
}

// besides trains the two arms, each with the other beside it.
func (g group) besides(ctx context.Context, s *curves.Study, t *experiments.Table) (string, error) {
	p := nets.Replay{Run: s.Run, Settings: nets.Settings{Rows: s.Data.Train.Len(), Test: s.Data.Test.Len(), Batch: s.Batch, Runs: s.Seeds, Epochs: s.Epochs, Paper: s.Run.Scale == experiments.Paper}}
	var arms []nets.Arm
	for i, a := range g.Beside {
		net, err := nets.Net(a.Net)
		if err != nil {
			return "", err
		}
		arms = append(arms, nets.Arm{Name: a.Name, Net: net, Data: s.Data, Epsilon: a.Epsilon, Batch: a.Batch, Epochs: a.Epochs, LearningRate: a.Rate, Published: a.Published, Against: 1 - i})
	}
	rows, v, err := p.Rows(ctx, arms, nil)
	if err != nil {
		return "", err
	}
	t.Rows = append(t.Rows, rows...)
	t.Claims = append(t.Claims, nets.Better(g.Beats, v.Published[0], v.Published[1]))
	return p.Note(), nil
}
