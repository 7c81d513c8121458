package arms

import (
	"context"
	"slices"
	"strings"

	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/nets"
)

// measured are accuracies of an arm, run by run; honest is nil without noise.
type measured struct{ published, honest []float64 }

func (f *file) run(ctx context.Context, r *experiments.Run) (*experiments.Table, error) {
	t := &experiments.Table{Unit: f.Unit, PublishedEpsilon: f.PublishedEpsilon}
	on, err := f.open(r)
	if err != nil {
		return nil, err
	}
	values := map[string]measured{}
	for _, s := range f.Settings {
		all, err := f.arms(s, on[s.Data].images)
		if err != nil {
			return nil, err
		}
		rows, v, err := on[s.Data].Rows(ctx, all, on[s.Data].majority)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, rows...)
		for i, a := range s.Arms {
			values[s.ID+"/"+a.Net] = measured{v.Published[i], v.Honest[i]}
		}
	}
	for _, c := range f.claims() {
		t.Claims = append(t.Claims, c.judge(values))
	}
	for _, note := range f.Notes {
		note = strings.NewReplacer("{honest}", nets.Honest, "{base}", nets.Base).Replace(note)
		for name, d := range on {
			note = strings.ReplaceAll(note, "{nets "+name+"}", d.Note())
		}
		t.Notes = append(t.Notes, note)
	}
	return t, nil
}

// opened are data at a scale.
type opened struct {
	nets.Replay
	images   *lab.Images
	majority *float64
}

func (f *file) open(r *experiments.Run) (map[string]*opened, error) {
	all := map[string]*opened{}
	for name, d := range f.Data {
		z := d.Scales[r.Scale]
		o := &opened{Replay: nets.Replay{Run: r, Settings: nets.Settings{
			Rows: z.Rows, Test: z.Test, Batch: z.Batch, Runs: z.Runs, Epochs: z.Epochs, Paper: r.Scale == experiments.Paper,
		}}}
		var err error
		if d.TextsFor == "" {
			o.images, err = lab.OpenImages(name, r.DataDir, z.Rows, z.Test)
		} else {
			reader, e := nets.Net(d.TextsFor)
			if e != nil {
				return nil, e
			}
			o.images, err = lab.OpenTexts(name, r.DataDir, reader.Input.Size()-1, reader.Network.Layers[0].Vocabulary, z.Rows, z.Test, 1)
		}
		if err != nil {
			return nil, err
		}
		if d.Majority {
			o.majority = experiments.Value(100 * o.images.Majority())
		}
		all[name] = o
	}
	return all, nil
}

func (f *file) arms(s setting, on *lab.Images) ([]nets.Arm, error) {
	var all []nets.Arm
	for i, a := range s.Arms {
		spec, err := f.Nets[a.Net].spec()
		if err != nil {
			return nil, err
		}
		against := slices.IndexFunc(s.Arms, func(b arm) bool { return b.Net == a.Against })
		if against < 0 {
			against = i
		}
		name := a.Name
		if name == "" {
			name = strings.Trim(f.Nets[a.Net].Name+", "+s.Name, ", ")
		}
		all = append(all, nets.Arm{Name: name, Net: spec, Data: on, Epsilon: s.Epsilon, Clipped: s.Clipped,
			Batch: s.Batch, Epochs: s.Epochs, LearningRate: s.Rate, Published: a.Published, Against: against})
	}
	return all, nil
}

func (c claim) judge(values map[string]measured) experiments.Claim {
	a, b := values[c.Better], values[c.Than]
	x, y := a.published, b.published
	if c.Honest {
		x, y = a.honest, b.honest
	}
	if c.Within != nil {
		return nets.Within(c.Claim, x, y, *c.Within)
	}
	return nets.Better(c.Claim, x, y)
}
