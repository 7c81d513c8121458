package crossover

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"pawl/compute/kernel"
	"pawl/evidence/advise"
	"pawl/workflow"
)

// Tuning says how step sizes are chosen for every configuration and ε.
type Tuning string

const (
	// Rule takes those of data-free rules, which know ε.
	Rule Tuning = "rule"
	// Grid takes the best of Factors times the rule's, on rows that score nothing else.
	Grid Tuning = "grid"
	// CommonRate measures each rate of a list for all configurations and all ε beside the
	// rule: what it hides is that the best rates differ.
	CommonRate Tuning = "common-rate"
)

// Tunings are all ways.
var Tunings = []Tuning{Rule, Grid, CommonRate}

// Factors are what Grid multiplies the rule's step size by.
var Factors = []float64{.25, .5, 1, 2, 4}

// tuningSeed is that of the runs that choose a factor; comparisons start at 1.
const tuningSeed = 1_000_001

// leastRows train and leastTests score, or a comparison says nothing.
const leastRows, leastTests = 50, 10

// Cells keeps finished measurements, so that an interrupted study goes on. It may be
// called side by side.
type Cells interface {
	Cell(ctx context.Context, name string, measure func() ([]float64, error)) ([]float64, error)
}

// Study is what is to be compared.
type Study struct {
	Data *Data
	// Specs go from simple to complex.
	Specs []Spec
	// Epsilons rise; Delta is one for all of them.
	Epsilons []float64
	Delta    string
	// Seeds is the number of runs at every ε, Plain of those without noise.
	Seeds, Plain int
	// At is the ε that the answer is for, one of Epsilons, or 0.
	At     float64
	Tuning Tuning
	Rates  []float64 // of CommonRate
	// Rows are sizes at which the crossover is measured too, Reach the accuracy whose price
	// in ε is fitted; 0 takes one that all configurations reach.
	Rows       []int
	Reach      float64
	Confidence float64
	Cells      Cells
}

// Check refuses what has no meaning, before anything is trained. Errors are
// *workflow.UsageError.
func (s *Study) Check() error {
	if len(s.Specs) < 2 {
		return usage("example: --a logistic --b mnist-paw-cnn", "a crossover compares two configurations or more, %d are given", len(s.Specs))
	}
	for i := range s.Specs {
		if err := s.Specs[i].load(); err != nil {
			return err
		}
		c := s.Specs[i]
		for _, earlier := range s.Specs[:i] {
			if earlier.Text == c.Text {
				return usage("two that differ", "%s is compared with itself", c.Text)
			}
		}
		if err := s.Data.Check(c, s.Delta); err != nil {
			return err
		}
	}
	if err := workflow.CheckMetric(s.Data.By, s.Data.task()); err != nil {
		return err
	}
	if err := checkEpsilons(s.Epsilons); err != nil {
		return err
	}
	switch {
	case s.At != 0 && !slices.Contains(s.Epsilons, s.At):
		return usage("add it to --epsilons", "epsilon %s is not measured", number(s.At))
	case !s.Data.Paid() && (s.Data.Rows() < leastRows || s.Data.Tests() < leastTests):
		return usage("use the simple configuration", "%s has %d rows to train and %d to test: too few for a comparison, which needs %d and %d", s.Data.Name, s.Data.Rows(), s.Data.Tests(), leastRows, leastTests)
	case s.Seeds < 2:
		return usage("--seeds 5", "an interval needs at least two seeds")
	case s.Reach != 0 && (s.Data.By == workflow.ByLogLoss || s.Data.By == workflow.ByBrier):
		return usage("leave it out", "--reach is a score to reach, and %s is a loss", s.Data.By)
	case s.Reach > 1 && !s.Data.Numeric():
		return usage("example: --reach 0.85", "--reach %s: accuracy is a fraction of 1", number(s.Reach))
	case s.Plain == 1 || s.Plain < 0:
		return usage("--plain 2, or 0 for none", "the cost of privacy needs two runs without noise or more")
	case !slices.Contains(Tunings, s.Tuning):
		return usage("tuning: rule, grid, common-rate", "unknown tuning %q", s.Tuning)
	case s.Tuning == CommonRate && len(s.Rates) == 0:
		return usage("example: --tune common-rate --rates 0.5,2", "missing --rates")
	case s.Tuning != CommonRate && len(s.Rates) > 0:
		return usage("--tune common-rate", "rates are given for tuning %q", s.Tuning)
	}
	for _, c := range s.Specs {
		if s.Tuning == Rule {
			break
		}
		why := ""
		switch {
		case c.LearningRate > 0:
			why = "its learning rate is given"
		case c.Standard:
			why = "stw chooses its learning rate itself"
		case s.Data.Images == nil && c.ofTable():
			why = "networks on tables are trained with the rule's learning rate"
		case s.Data.Images == nil && c.learner() != "" && c.learner() != advise.Descent:
			why = "its model has no learning rate"
		}
		if why != "" {
			return usage("--tune rule, or linear models and networks on images without lr=", "%s: %s, so that there is nothing to tune", c.Text, why)
		}
	}
	if err := s.checkPaid(); err != nil {
		return err
	}
	if err := s.checkRows(); err != nil {
		return err
	}
	return s.checkPlans()
}

// checkPlans plans every configuration at every ε: what cannot be priced, such as a δ that
// a learner does not take or a choice that noise hides, is refused before the first run.
func (s *Study) checkPlans() error {
	for _, c := range s.Specs {
		for _, epsilon := range s.Epsilons {
			var err error
			if c.Unpaid {
				_, err = s.Data.plan(c, s.Delta, epsilon)
			} else {
				_, err = s.Data.events(c, s.Delta, epsilon)
			}
			var mistake *workflow.UsageError
			switch {
			case errors.As(err, &mistake):
				return usage(mistake.Advice, "%s at epsilon %s: %v", c.Text, number(epsilon), mistake)
			case err != nil:
				return usage("another configuration, epsilon or delta", "%s at epsilon %s: %v", c.Text, number(epsilon), err)
			}
		}
	}
	return nil
}

func (s *Study) checkRows() error {
	if len(s.Rows) == 1 {
		return usage("example: --rows 2000,5000,10000", "a curve over rows needs two sizes or more")
	}
	for i, n := range s.Rows {
		switch {
		case i > 0 && n <= s.Rows[i-1]:
			return usage("name each size once, in increasing order", "numbers of rows must increase: %d follows %d", n, s.Rows[i-1])
		case n < 100 || n > s.Data.Rows():
			return usage(fmt.Sprintf("sizes from 100 to %d", s.Data.Rows()), "%d rows: %s has %d to train on", n, s.Data.Name, s.Data.Rows())
		}
	}
	return nil
}

func checkEpsilons(all []float64) error {
	if len(all) < 2 {
		return usage("example: --epsilons 0.1,0.3,1,3", "a crossover needs two epsilons or more")
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(all)))
	hint := "--epsilons "
	for i, e := range sorted {
		if i > 0 {
			hint += ","
		}
		hint += number(e)
	}
	for i, e := range all {
		switch {
		case !(e > 0) || math.IsInf(e, 0):
			return usage("example: --epsilons 0.1,0.3,1,3", "epsilons must be finite numbers above 0")
		case i > 0 && e == all[i-1] || i > 1 && slices.Contains(all[:i], e):
			return usage(hint, "epsilon %s is given twice", number(e))
		case i > 0 && e < all[i-1]:
			return usage(hint, "epsilons must increase: %s follows %s", number(e), number(all[i-1]))
		}
	}
	return nil
}

// Trainings is the number of trainings of the whole study.
func (s *Study) Trainings() int {
	n := len(s.Specs) * len(s.Epsilons) * s.Seeds
	total := n + len(s.Specs)*s.Plain
	if s.Tuning == Grid {
		total += len(s.Specs) * len(s.Epsilons) * len(Factors)
	}
	for _, rows := range s.Rows {
		if rows < s.Data.Rows() {
			total += n
		}
	}
	return total + len(s.Rates)*n
}

// Known is the number of those at the rule's step sizes that are kept.
func (s *Study) Known() int {
	keeper, ok := s.Cells.(interface{ Keeps(name string) bool })
	if !ok {
		return 0
	}
	names := map[string]bool{}
	for _, j := range s.jobs() {
		if name := j.name(s.Delta); keeper.Keeps(name) {
			names[name] = true
		}
	}
	return len(names)
}

// jobs are all trainings but those of other step sizes, which tuning finds.
func (s *Study) jobs() (all []job) {
	for _, spec := range s.Specs {
		for seed := range max(s.Seeds, s.Plain) {
			if seed < s.Plain {
				all = append(all, job{s.Data, spec, cell{epsilon: math.Inf(1), rows: s.Data.Rows(), seed: uint64(seed + 1)}, nil})
			}
			if seed >= s.Seeds {
				continue
			}
			for _, rows := range append([]int{s.Data.Rows()}, s.Rows...) {
				for _, epsilon := range s.Epsilons {
					all = append(all, job{s.Data, spec, cell{epsilon: epsilon, rows: rows, seed: uint64(seed + 1)}, nil})
				}
			}
		}
	}
	return all
}

// grid are accuracies by configuration, ε and seed.
type grid [][][]float64

// job is one training and where its score goes.
type job struct {
	data *Data
	spec Spec
	cell cell
	to   *float64
}

// measure trains at every ε with every seed. factors, where not nil, multiply the rule's
// step sizes; a rate above 0 replaces them.
func (s *Study) measure(ctx context.Context, rows int, factors [][]float64, rate float64) (grid, error) {
	out := make(grid, len(s.Specs))
	var jobs []job
	for k, epsilon := range s.Epsilons {
		for i, spec := range s.Specs {
			if k == 0 {
				out[i] = make([][]float64, len(s.Epsilons))
			}
			out[i][k] = make([]float64, s.Seeds)
			for seed := range s.Seeds {
				c := cell{epsilon: epsilon, rows: rows, seed: uint64(seed + 1), rate: rate}
				if factors != nil {
					c.factor = factors[i][k]
				}
				jobs = append(jobs, job{s.Data, spec, c, &out[i][k][seed]})
			}
		}
	}
	return out, s.train(ctx, jobs)
}

// plain trains without noise.
func (s *Study) plain(ctx context.Context) ([][]float64, error) {
	out := make([][]float64, len(s.Specs))
	var jobs []job
	for i, spec := range s.Specs {
		out[i] = make([]float64, s.Plain)
		for seed := range s.Plain {
			jobs = append(jobs, job{s.Data, spec, cell{epsilon: math.Inf(1), rows: s.Data.Rows(), seed: uint64(seed + 1)}, &out[i][seed]})
		}
	}
	return out, s.train(ctx, jobs)
}

// tune returns the best factor by configuration and ε.
func (s *Study) tune(ctx context.Context) ([][]float64, error) {
	if s.Tuning != Grid {
		return nil, nil
	}
	data := s.Data.validation(tuningSeed)
	data.Key += ", validation"
	scores := make([][][]float64, len(s.Specs))
	best := make([][]float64, len(s.Specs))
	var jobs []job
	for i, spec := range s.Specs {
		scores[i], best[i] = make([][]float64, len(s.Epsilons)), make([]float64, len(s.Epsilons))
		for k, epsilon := range s.Epsilons {
			scores[i][k] = make([]float64, len(Factors))
			for f, factor := range Factors {
				jobs = append(jobs, job{data, spec, cell{epsilon: epsilon, rows: data.Rows(), seed: tuningSeed, factor: factor}, &scores[i][k][f]})
			}
		}
	}
	if err := s.train(ctx, jobs); err != nil {
		return nil, err
	}
	for i := range best {
		for k := range best[i] {
			best[i][k] = Factors[slices.Index(scores[i][k], slices.Max(scores[i][k]))]
		}
	}
	return best, nil
}

// train runs jobs whose scores are not kept. Tables are fitted side by side; a network
// uses all cores itself, and runs that are paid for are booked one after another.
func (s *Study) train(ctx context.Context, jobs []job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := 1
	if s.Data.Images == nil && !s.Data.Paid() {
		workers = min(runtime.GOMAXPROCS(0), len(jobs))
	}
	if len(jobs) == 0 {
		return nil
	}
	var once sync.Once
	kernel.Parallel(workers, len(jobs), func(i int) {
		if ctx.Err() != nil {
			return
		}
		j := jobs[i]
		v, err := s.Cells.Cell(ctx, j.name(s.Delta), func() ([]float64, error) {
			v, err := j.data.score(ctx, j.spec, s.Delta, j.cell)
			return []float64{v}, err
		})
		if err != nil {
			once.Do(func() { cancel(err) })
			return
		}
		*j.to = v[0]
	})
	return context.Cause(ctx)
}

// name says everything that a score depends on.
func (j job) name(delta string) string {
	c := j.cell
	if d := deltaOf(delta); !math.IsNaN(d) {
		delta = number(d) // one δ has many spellings
	}
	name := fmt.Sprintf("%s, %d rows, %s, ", j.data.Key, c.rows, j.spec.key())
	if math.IsInf(c.epsilon, 1) {
		name += "without noise"
	} else {
		name += fmt.Sprintf("ε %s, δ %s", number(c.epsilon), delta)
	}
	if c.rate > 0 {
		name += ", step size " + number(c.rate)
	}
	if c.factor > 0 {
		name += fmt.Sprintf(", %s × the step size", number(c.factor))
	}
	if by := j.data.By; by != "" && by != workflow.Metrics(j.data.task())[0] {
		name += ", by " + string(j.data.By)
	}
	if j.data.Paid() {
		return name + fmt.Sprintf(", %s, run %d", j.data.label(j.spec, delta, c.epsilon), c.seed)
	}
	return name + fmt.Sprintf(", seed %d", c.seed)
}
