package menu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"pawl/evidence/advise"
	"pawl/experiments"
	"pawl/experiments/lab"
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
	for _, p := range Problems {
		if j.Data != nil && !slices.Contains(j.Data, p.Name) {
			continue
		}
		if err := j.measure(ctx, p, table); err != nil {
			return err
		}
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

func (j Job) measure(ctx context.Context, p Problem, table *advise.Menu) error {
	if p.Kind == advise.ImageKind && j.Scale == experiments.Smoke {
		p.Train = 600
	}
	b := &bench{problem: p, job: j}
	for _, entry := range j.entries(p) {
		for _, epsilon := range j.epsilons(p) {
			offered, err := p.Entries(epsilon)
			if err != nil {
				return err
			}
			if !slices.Contains(offered, entry) {
				continue
			}
			if c, ok := table.Find(p.Name, epsilon, entry); ok && len(c.Scores) >= j.runs(p) {
				continue
			}
			if j.Progress != nil {
				j.Progress(fmt.Sprintf("%s, ε = %g, %s", p.Name, epsilon, entry))
			}
			c, err := b.cell(ctx, epsilon, entry, j.runs(p))
			if err != nil {
				return fmt.Errorf("%s, epsilon %g, %s: %w", p.Name, epsilon, entry, err)
			}
			table.Put(c)
			if err := j.save(*table); err != nil {
				return err
			}
		}
	}
	return nil
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
