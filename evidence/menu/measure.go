package menu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"pawl/evidence/advise"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/workflow"
)

// Job is which cells to measure and how often.
type Job struct {
	Scale   experiments.Scale
	DataDir string
	// Data, Epsilons and Entries narrow the table; nil means all.
	Data     []string
	Epsilons []float64
	Entries  []string
	// Preset is that of images, balanced where it is empty; quick halves the epochs.
	Preset advise.Preset
	// Progress is told of each cell that begins; may be nil.
	Progress func(cell string)
	// Save is called after each cell; may be nil.
	Save func(advise.Menu) error
	// Elsewhere measures a cell in another process, and is called for all of them at once; nil
	// measures here, one after the other.
	Elsewhere func(ctx context.Context, c Cell) (advise.MenuCell, error)
}

// Cell names a cell of the table.
type Cell struct {
	Data    string  `json:"data"`
	Epsilon float64 `json:"epsilon"`
	Entry   string  `json:"entry"`
}

// One measures one cell, as Elsewhere should.
func (j Job) One(ctx context.Context, c Cell) (advise.MenuCell, error) {
	j.Data, j.Epsilons, j.Entries = []string{c.Data}, []float64{c.Epsilon}, []string{c.Entry}
	j.Elsewhere, j.Save, j.Progress = nil, nil, nil
	var table advise.Menu
	if err := Measure(ctx, j, &table); err != nil {
		return advise.MenuCell{}, err
	}
	if len(table) != 1 {
		return advise.MenuCell{}, fmt.Errorf("%s, epsilon %g, %s is no cell of the table", c.Data, c.Epsilon, c.Entry)
	}
	return table[0], nil
}

// runs of a cell.
func (j Job) runs(p Problem) int { return experiments.Pick(j.Scale, 1, p.quick, p.paper) }

// epsilons that the problem is measured at.
func (j Job) epsilons(p Problem) []float64 {
	if j.Epsilons != nil {
		return j.Epsilons
	}
	all := slices.Concat(p.more, Judged)
	slices.Sort(all)
	return all
}

// Measure fills the table with the cells of the job. A cell that has as many runs as
// the scale asks for is kept, so that a measurement that was interrupted goes on.
func Measure(ctx context.Context, j Job, table *advise.Menu) error {
	var far sync.WaitGroup
	var mu sync.Mutex // of the table
	var first error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keep := func(c Cell, m advise.MenuCell, err error) error {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			table.Put(m)
			err = j.save(*table)
		} else {
			err = fmt.Errorf("%s, epsilon %g, %s: %w", c.Data, c.Epsilon, c.Entry, err)
		}
		if first == nil && err != nil {
			first = err
			stop()
		}
		return err
	}
	for _, p := range Problems {
		if j.Data != nil && !slices.Contains(j.Data, p.Name) {
			continue
		}
		if p.Kind == advise.ImageKind && j.Scale == experiments.Smoke {
			p.Train = 600
		}
		pending, err := j.pending(p, table, &mu)
		if err != nil {
			stop()
			far.Wait()
			return err
		}
		b := &bench{problem: p, job: j}
		for _, c := range pending {
			if j.Progress != nil {
				j.Progress(fmt.Sprintf("%s, ε = %g, %s", c.Data, c.Epsilon, c.Entry))
			}
			if j.Elsewhere != nil {
				far.Go(func() {
					m, err := j.Elsewhere(ctx, c)
					_ = keep(c, m, err) // first has it
				})
				continue
			}
			m, err := b.cell(ctx, c.Epsilon, c.Entry, j.runs(p))
			if err := keep(c, m, err); err != nil {
				return err
			}
		}
	}
	far.Wait()
	if first != nil {
		return first
	}
	order(*table)
	return j.save(*table)
}

func (j Job) save(m advise.Menu) error {
	if j.Save == nil {
		return nil
	}
	return j.Save(m)
}

// order sorts a table by data set, ε and entry, so that it does not tell when a cell was
// measured.
func order(m advise.Menu) {
	at := func(data string) int {
		return slices.IndexFunc(Problems, func(p Problem) bool { return p.Name == data })
	}
	slices.SortStableFunc(m, func(a, b advise.MenuCell) int {
		return cmp.Or(cmp.Compare(at(a.Data), at(b.Data)), cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.Entry, b.Entry))
	})
}

// pending are the cells of a problem that the table lacks.
func (j Job) pending(p Problem, table *advise.Menu, mu *sync.Mutex) (all []Cell, err error) {
	mu.Lock()
	defer mu.Unlock()
	for _, entry := range j.entries(p) {
		for _, epsilon := range j.epsilons(p) {
			offered, err := p.Entries(epsilon)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(offered, entry) {
				continue
			}
			if c, ok := table.Find(p.Name, epsilon, entry); ok && len(c.Scores) >= j.runs(p) {
				continue
			}
			all = append(all, Cell{p.Name, epsilon, entry})
		}
	}
	return all, nil
}

// entries are all that may be offered for a problem, and are asked for.
func (j Job) entries(p Problem) []string {
	all := p.nets
	if p.Kind != advise.ImageKind {
		for _, l := range advise.Learners {
			all = append(all, string(l))
		}
	}
	if j.Entries == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e string) bool { return !slices.Contains(j.Entries, e) })
}

// bench keeps the data of one problem in memory.
type bench struct {
	problem Problem
	job     Job
	table   *lab.Table
	images  *lab.Images
}

// cell measures one entry at one ε.
func (b *bench) cell(ctx context.Context, epsilon float64, entry string, runs int) (advise.MenuCell, error) {
	p := b.problem
	c := advise.MenuCell{Data: p.Name, Kind: p.Kind, Epsilon: epsilon, Delta: p.Delta(), Entry: entry, Rows: p.Train, Command: command(p, epsilon, entry, b.job)}
	if delta(entry) == "0" {
		c.Delta = 0
	}
	var err error
	if c.Ratio, err = p.Ratio(epsilon); err != nil {
		return c, err
	}
	for seed := range runs {
		run := b.fit
		if p.Kind == advise.ImageKind {
			run = b.train
		}
		s, err := run(ctx, epsilon, entry, uint64(seed))
		if err != nil {
			return c, err
		}
		c.Task, c.Tested = s.task, s.tested
		c.Scores = append(c.Scores, s.value)
		c.Baseline += s.baseline / float64(runs)
	}
	return c, nil
}

// score is one run's, in points.
type score struct {
	value, baseline float64
	tested          int
	task            string
}

// fit trains a learner on a table of the split that the seed makes.
func (b *bench) fit(ctx context.Context, epsilon float64, learner string, seed uint64) (score, error) {
	if b.table == nil {
		t, err := lab.Open(b.problem.Name, b.job.DataDir)
		if err != nil {
			return score{}, err
		}
		b.table = t
	}
	t := b.table
	if t.Test == nil {
		t = t.Split(b.problem.Train, seed)
	}
	out, err := t.Fit(ctx, number(epsilon), delta(learner), seed, func(in *workflow.Input) { in.Model = learner })
	if err != nil {
		return score{}, err
	}
	s := score{value: 100 * *out.Score.Exact, baseline: 100 * *out.Score.ExactBaseline, tested: len(t.Test), task: string(out.Model.Task)}
	if s.task == "regression" {
		s.value, s.baseline = 100*(1-s.value/s.baseline), 0
	}
	return s, nil
}

// train trains a network on images, by the numbers that fit or train takes by itself.
func (b *bench) train(ctx context.Context, epsilon float64, net string, seed uint64) (score, error) {
	p := b.problem
	if b.images == nil {
		test := 10000
		if b.job.Scale == experiments.Smoke {
			test = 200
		}
		s, err := lab.OpenImages(p.Name, b.job.DataDir, p.Train, test)
		if err != nil {
			return score{}, err
		}
		s.Reuse, b.images = true, s
	}
	net1, err := spec(net)
	if err != nil {
		return score{}, err
	}
	recipe, err := advise.ChooseImages(imageFacts(b.images.Train.Shape, p.Train, epsilon, b.job.Preset))
	if err != nil {
		return score{}, err
	}
	value, err := b.images.Fit(ctx, net1, seed, func(in *workflow.TrainInput) {
		in.Epsilon = number(epsilon)
		switch {
		case net == recipe.Model || net == "features-linear":
			in.Batch, in.Epochs = recipe.Batch, recipe.Epochs
		default: // networks take the time of preset quick
			in.Preset = advise.Quick
		}
	})
	if err != nil {
		return score{}, err
	}
	return score{value: 100 * value, baseline: 100 * b.images.Majority(), tested: b.images.Test.Len(), task: "classification"}, nil
}
