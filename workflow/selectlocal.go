package workflow

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/localrows"
	"pawl/search/feature"
)

// Mode says what a selection releases.
type Mode string

const (
	// Central releases the names of the chosen features.
	Central Mode = "central"
	// Local releases a table of them too, in which every row carries noise of its own:
	// any model may be trained on it. Its guarantee is under ReplaceOne.
	Local Mode = "local"
)

// LabelMode says how the classes of a noisy table leave.
type LabelMode string

const (
	// RandomizedLabels replaces a class by a uniform one with a public probability.
	RandomizedLabels LabelMode = "randomized"
	// PublicLabels declares the classes of all rows public.
	PublicLabels LabelMode = "public"
)

// choiceShare is the share of the two Gaussian releases' ρ (1/2σ² each) that chooses the
// features. A sum over all rows needs little of what each row by itself needs: a fifth
// raises the noise on rows by an eighth.
const choiceShare = 0.2

// publishedDelta is that of the paper's experiments.
const publishedDelta = "1e-4"

// NoisyTable is what a selection in mode Local releases.
type NoisyTable struct {
	// Columns name the entries of a row, numbers in [0, 1] before the noise: a numeric
	// column by its public bounds, 0 or 1 for each level of a category.
	Columns []string
	Rows    int
	X       []float64 // Rows×len(Columns), row-major
	Labels  []int     // of Classes; −1 for none
	Classes []string
	Target  string
	// StdDev is the deviation of the noise on every entry, Norm what rows are bounded by.
	StdDev, Norm float64
	// LabelNoise is the probability with which a class is a uniform one; 0 where classes
	// leave as they are.
	LabelNoise float64
}

// local is the job of a selection that releases rows of what it has chosen.
type local struct {
	*choosing
	sums       *classColumns
	rows       float64 // noise multiplier
	labelNoise float64
}

func (in *SelectInput) checkMode() error {
	switch {
	case in.Mode == "":
		in.Mode = Central
	case in.Mode != Central && in.Mode != Local:
		return usage("modes: central (names of features), local (a table of noisy rows too)", "unknown mode %q", in.Mode)
	}
	if in.Mode == Local && in.Method != "dfs" {
		return usage("--method dfs, or leave out --mode", "mode local is that of method dfs, not of %s", in.Method)
	}
	switch {
	case in.Labels == "" && in.Mode == Central:
	case in.Labels == "":
		if in.Labels = RandomizedLabels; in.AsPublished {
			in.Labels = PublicLabels
		}
	case in.Mode != Local:
		return usage("leave out --labels, or give --mode local", "mode central releases no rows, so no labels either")
	case in.Labels != RandomizedLabels && in.Labels != PublicLabels:
		return usage("labels: randomized, public", "unknown treatment of labels %q", in.Labels)
	case in.AsPublished && in.Labels == RandomizedLabels:
		return usage("leave out --labels", "as published, labels are released unchanged")
	}
	return in.checkRelation()
}

// checkRelation holds the relation that was asked for against the one that the mode is
// proven for.
func (in *SelectInput) checkRelation() error {
	own := dp.AddOrRemoveOne
	if in.Mode == Local && !in.AsPublished {
		own = dp.ReplaceOne
	}
	switch in.Relation {
	case 0, own:
		in.Relation = own
		return nil
	}
	if in.Mode == Local && !in.AsPublished {
		return usage("leave out --relation, or give --relation replace_one", "a table of rows shows their number: mode local has no guarantee under %v", in.Relation)
	}
	return usage(fmt.Sprintf("leave out --relation, or give --relation %v", own), "selections in mode %s are charged under %v, not %v", in.Mode, own, in.Relation)
}

// statesEpsilon says that a published procedure has an epsilon of its own.
func (in *SelectInput) statesEpsilon() bool { return in.Mode == Local || in.Method == "pafs" }

func (l *local) price() (err error) {
	plan, p := l.plan, l.plan.problem
	if err := l.ready(); err != nil {
		return err
	}
	if k := p.Schema.Unit.MaxRows; k != 1 {
		return usage("--mode central", "mode local needs one row for each unit, and the schema allows %d", k)
	}
	classes := l.sums.classes
	if l.Labels == RandomizedLabels {
		e := labelEpsilon(p.target(), classes)
		l.labelNoise = float64(classes) / (math.Expm1(e) + float64(classes))
	}
	rows := func(x float64) []dp.Event {
		events := []dp.Event{dp.Gaussian{NoiseMultiplier: x / math.Sqrt(1-choiceShare)}}
		if l.labelNoise > 0 {
			events = append(events, dp.RandomizedResponse{NoiseProbability: l.labelNoise, Categories: classes})
		}
		return events
	}
	choice := func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x / math.Sqrt(choiceShare)} }
	x, err := plan.smallest(func(x float64) dp.Event { return dp.Compose{Events: append([]dp.Event{choice(x)}, rows(x)...)} })
	if err != nil {
		return err
	}
	l.noise, l.rows = x/math.Sqrt(choiceShare), x/math.Sqrt(1-choiceShare)
	if err := l.sums.checkSignal(l.noise); err != nil {
		return err
	}
	if err := l.checkRows(); err != nil {
		return err
	}
	plan.add("select", plan.trainScope, "dfs from noisy class sums", choice(x))
	plan.add("rows", plan.trainScope, fmt.Sprintf("%d rows of the chosen features, each with noise of standard deviation at most %.4g on every entry; classes %s",
		p.Rows, l.mostStdDev(), l.labelsInWords()), rows(x)...)
	return plan.priceAll()
}

// labelEpsilon is the part of epsilon that randomised response takes: it maximises the
// product of what is left for the rows, whose noise falls as its inverse, and of the share
// 1−q of classes that are not replaced, by which distances of means shrink.
func labelEpsilon(epsilon float64, classes int) float64 {
	best, at := 0.0, epsilon/2
	for i := 1; i < 100; i++ {
		e := epsilon * float64(i) / 100
		kept := 1 / (1 + float64(classes)/math.Expm1(e))
		if v := (epsilon - e) * kept; v > best {
			best, at = v, e
		}
	}
	return at
}

// mostStdDev bounds the noise on an entry before it is known which features are chosen.
func (l *local) mostStdDev() float64 { return l.rows * 2 * math.Sqrt(float64(l.Count)) }

// checkRows refuses, by public facts alone, to pay for a table that shows nothing: the
// distance of two class means in it is at most 1−labelNoise, and noise moves it.
func (l *local) checkRows() error {
	mean := l.sums.meanClass()
	// A row of Count entries that are alone in their attribute is the shortest.
	entry := l.rows * 2 * math.Sqrt(float64(l.Count)/4)
	noise := entry * math.Sqrt(2/mean) / (1 - l.labelNoise)
	if !(noise*math.Sqrt(2*math.Log(2*float64(l.Count))) <= 1) {
		return usage("a larger epsilon, fewer features (--k), --labels public if they are, or --mode central, which adds noise to sums rather than to rows",
			"epsilon is too small for any table of rows: noise of standard deviation %.3g or more on an entry hides class means that differ by at most 1 (%.6g rows in a mean class)", entry, mean)
	}
	return nil
}

func (l *local) labelsInWords() string {
	if l.Labels == PublicLabels {
		return "public, unchanged"
	}
	return fmt.Sprintf("replaced by a uniform one with probability %.4g", l.labelNoise)
}

// entries are the columns of the sums that the chosen features consist of.
func (c *classColumns) entries(chosen []feature.Choice) (entries []int) {
	for _, choice := range chosen {
		for j, col := range c.columns {
			if col.Attribute == choice.Column.Attribute && (choice.Column.Level < 0 || choice.Column.Level == col.Level) {
				entries = append(entries, j)
			}
		}
	}
	return entries
}

// centered returns the public point that entries are measured from, and the norm that no
// row exceeds then. A number of an attribute by itself lies within 1/2 of 1/2. Of q levels of one
// attribute a row has one or none: from 1/q the distance is √(1−1/q), or √(1/q).
func (c *classColumns) centered(entries []int) (center []float64, norm float64) {
	count := map[int]int{}
	for _, j := range entries {
		count[c.columns[j].Attribute]++
	}
	center = make([]float64, len(entries))
	squares := 0.0
	for i, j := range entries {
		q := float64(count[c.columns[j].Attribute])
		if q == 1 {
			center[i], squares = 0.5, squares+0.25
			continue
		}
		center[i], squares = 1/q, squares+(1-1/q)/q
	}
	return center, math.Sqrt(squares)
}

// rowsOf is the release of entries measured from center. A number that is not known lies at
// its center.
func (c *classColumns) rowsOf(entries []int, center []float64, norm float64) localrows.Table {
	all := make([]float64, len(c.columns))
	codes := make([]uint16, len(c.layout.Domain.Attributes)+1)
	return localrows.Table{
		Scope: dp.WholeScope, Features: len(entries), Norm: norm, Classes: c.classes,
		Row: func(x, cells []float64) {
			clear(all)
			for i, j := range entries {
				if c.columns[j].Level < 0 {
					all[j] = center[i]
				}
			}
			c.layout.Codes(codes, cells)
			for i, j := range entries {
				c.fill[j](all, cells, codes)
				x[i] = all[j] - center[i]
			}
		},
		Label: func(cells []float64) int {
			if y := cells[c.label]; y == y {
				return int(y)
			}
			return -1
		},
	}
}

func (l *local) choose(ctx context.Context, env Env, permit *ledger.Permit, out *Selected) (err error) {
	if err := l.choosing.choose(ctx, env, permit, out); err != nil {
		return err
	}
	env.Progress.step("rows", 0, 0)
	out.Table, err = l.releaseRows(ctx, env.Rows, permit, out.Selection.Chosen)
	return err
}

// releaseRows releases the noisy table of the chosen features.
func (l *local) releaseRows(ctx context.Context, rows *intake.Rows, permit *ledger.Permit, chosen []feature.Choice) (*NoisyTable, error) {
	entries := l.sums.entries(chosen)
	center, norm := l.sums.centered(entries)
	r := l.sums.rowsOf(entries, center, norm)
	r.NoiseMultiplier, r.Rows = l.rows, int(l.plan.problem.Rows)
	r.LabelNoise, r.PublicLabels = l.labelNoise, l.Labels == PublicLabels
	noisy, err := r.Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	t := l.sums.table(entries, noisy)
	t.Norm, t.StdDev, t.LabelNoise = norm, noisy.StdDev, l.labelNoise
	for i := range t.X {
		t.X[i] += center[i%len(center)]
	}
	return t, nil
}

func (c *classColumns) table(entries []int, rows *localrows.Noisy) *NoisyTable {
	p := c.problem
	t := &NoisyTable{Target: p.Target, Rows: rows.Rows, X: rows.X, Labels: rows.Labels, Classes: p.Schema.Columns[p.targetColumn].Levels()}
	for _, j := range entries {
		t.Columns = append(t.Columns, c.columns[j].Name)
	}
	return t
}

func (l *local) describe() description {
	d := l.described("none: one release of sums chooses, one of rows is the table")
	if l.Labels == PublicLabels {
		d.uncovered = []string{"The classes of the rows: they are declared public (--labels public) and released unchanged."}
	}
	return d
}
